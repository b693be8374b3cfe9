"""The skeleton of a batch: exact where it couples decisions."""

from tests.tools.proofs import run_as_plain_python


def test_the_skeleton_is_exact_for_five_items():
    run_as_plain_python("tests/samplers/blocked/exact_skeleton.py")
