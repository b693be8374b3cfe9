"""Imports point one way, and every family's registry is the one place to add to."""

import ast
from pathlib import Path

import pytest

import bnpcluster
from tests.mutants.__main__ import MUTANTS

PACKAGE = Path(bnpcluster.__file__).parent
# Each module may import those of lower rank; priors, likelihoods and samplers not one another.
RANKS = [
    {"_jit", "_parcel", "_stop", "_resolve", "_frames"},
    {"_ops"},
    {"_partition"},
    {"_state", "_draws"},
    {"_population", "_stable"},
    {"_search"},
    {"_listed"},
    {"_estimate"},
    {"priors", "likelihoods", "samplers", "partitions"},
    {"_lazy"},
    {"posterior", "chains", "_starts"},
    {"_verdict", "_contract"},
    {
        "prediction",
        "diagnostics",
        "_checkpoint",
        "_progress",
        "_docs",
        "_advice",
        "_tables",
        "testing",
        "_smc_diagnostics",
        "evidence",
    },
    {"_report", "densities"},
    {"_smc_fit", "_impute"},
    {"_sampling"},
    {"_mixture"},
    {"mixtures", "relational", "pyclone"},
    {"plotting"},
    {"_page"},
    {"_results"},
    {"cli"},
    {"__main__"},
    {"__init__"},
]
RANK = {name: rank for rank, names in enumerate(RANKS) for name in names}


def room(path):
    """The module, or the subpackage, a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path):
    """Rooms of the package that a file imports at any place."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "bnpcluster" and len(parts) > 1:
                yield parts[1] if parts[1] in RANK else "__init__"


def type_checking_only(path, target):
    """Whether a file imports a room only for annotations."""
    text = path.read_text()
    return "if TYPE_CHECKING:" in text and f"    from bnpcluster.{target}" in text


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: p.stem)
def test_imports_point_down(path):
    own = room(path)
    assert own in RANK, f"{own} has no place in the picture: give it one"
    for other in set(imported(path)) - {own}:
        if other == "__init__":
            allowed = own in {"_sampling", "_page", "cli"}  # for the version alone
        else:
            allowed = RANK[other] < RANK[own] or type_checking_only(path, other)
        assert allowed, f"{own} must not import {other}"


def test_numba_is_configured_in_one_place():
    for path in PACKAGE.rglob("*.py"):
        if room(path) != "_jit":
            assert "import numba" not in path.read_text(), path
            assert "from numba" not in path.read_text(), path


def test_mutants_are_of_the_code_as_it_is():
    """A mutant whose text is gone would show nothing, however often it is run."""
    stale = [m for m in MUTANTS if (PACKAGE / m.file).read_text().count(m.old) != 1]
    assert not stale
