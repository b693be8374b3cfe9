"""Proposals of a batch: launches that take some of the rows."""

from tests.tools.proofs import run_as_plain_python


def test_launches_of_some_rows_are_exact():
    run_as_plain_python("tests/samplers/blocked/exact_proposals.py")
