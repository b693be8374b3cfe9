"""Imports point one way, and every family's registry is the one place to add to."""

from pathlib import Path

import bnpcluster
from tests.mutants import edited
from tests.mutants.__main__ import MUTANTS

PACKAGE = Path(bnpcluster.__file__).parent


def test_numba_is_configured_in_one_place():
    for path in PACKAGE.rglob("*.py"):
        if path != PACKAGE / "_core" / "jit.py":
            assert "import numba" not in path.read_text(), path
            assert "from numba" not in path.read_text(), path


def test_mutants_are_of_the_code_as_it_is():
    """A mutant whose text is gone would show nothing, however often it is run."""
    stale = [m for m in MUTANTS if edited((PACKAGE / m.file).read_text(), m) is None]
    assert not stale
