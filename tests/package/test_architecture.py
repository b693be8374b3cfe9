"""The house rules: where code stands, what may import what, who writes fitted state."""

import ast
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import bnpcluster
from bnpcluster import DPMixture, InfiniteRelationalModel
from bnpcluster._core import arguments
from bnpcluster.likelihoods.network import adjacency

PACKAGE = Path(bnpcluster.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
# Each folder may import those above it.
ORDER = [
    {"_version"},
    {"_core"},
    {"priors", "likelihoods", "samplers", "partitions"},
    {"posterior"},
    {"diagnostics"},
    {"_fitting"},
    {"_predict"},
    {"comparison", "densities", "evidence"},
    {"plotting"},
    {"_estimators"},
    {"mixtures", "relational", "pyclone"},
    {"extending", "testing"},
    {"cli"},
    {"__init__", "__main__"},
]
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
WITH_KERNELS = {"_core", "likelihoods", "samplers", "partitions", "_predict"}
TWICE = {"__init__", "base", "kernel", "kernels", "registry"}


def folder(path):
    """The folder below the package that a file belongs to, or the module at the top."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def family(path):
    """The family folder inside `likelihoods` or `samplers`; empty for shared files."""
    parts = path.relative_to(PACKAGE).parts
    return parts[1] if len(parts) == 3 else ""


def imported(path):
    """Dotted names that a file imports from the package, at any place."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            if node.module and node.module.split(".")[0] == "bnpcluster":
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            yield from (name for name in names if name.split(".")[0] == "bnpcluster")


def parametrised(check):
    return pytest.mark.parametrize(
        "path", FILES, ids=lambda path: str(path.relative_to(PACKAGE).with_suffix(""))
    )(check)


@parametrised
def test_folders_point_one_way(path):
    """No exemption: not for annotations, and not for the version."""
    own = folder(path)
    assert own in RANK, f"{own} has no place in the picture: give it one"
    for name in imported(path):
        target = name.split(".")[1] if "." in name else ""
        assert target in RANK, f"{path.name} imports {name} from the package's __init__"
        if target != own:
            assert RANK[target] < RANK[own], f"{own} must not import {target}"


@parametrised
def test_families_do_not_see_one_another(path):
    own, group = family(path), folder(path)
    if group not in ("likelihoods", "samplers") or not own:
        return
    shared = {p.stem for p in (PACKAGE / group).glob("*.py")} - {"__init__"}
    for name in imported(path):
        parts = name.split(".")
        if parts[1] == group:
            assert parts[2] in {own, *shared}, f"{path.name} imports {name}"


@parametrised
def test_numba_is_imported_in_one_place(path):
    numba = [
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if (isinstance(node, ast.Import) and any(a.name.startswith("numba") for a in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("numba"))
    ]
    assert bool(numba) == (path == PACKAGE / "_core" / "jit.py")


@parametrised
def test_kernels_stand_where_kernels_belong(path):
    tree = ast.parse(path.read_text())
    kernels = [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if getattr(getattr(decorator, "func", decorator), "id", "") == "kernel"
    ]
    assert not kernels or folder(path) in WITH_KERNELS
    if kernels:
        lazy = [
            node
            for function in ast.walk(tree)
            if isinstance(function, ast.FunctionDef)
            for node in ast.walk(function)
            if isinstance(node, (ast.Import, ast.ImportFrom))
        ]
        assert not lazy, "the closure of a module with kernels is read from its first lines"


def test_no_name_of_a_module_twice():
    names = Counter(path.stem for path in FILES if path.stem not in TWICE)
    assert [name for name, times in names.items() if times > 1] == []


def test_few_files_stand_at_the_top():
    assert len(list(PACKAGE.glob("*.py"))) <= 15


def assigned(path):
    """Attributes that are assigned, with the function and the object: (function, object, name)."""
    for function in ast.walk(ast.parse(path.read_text())):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            targets = getattr(node, "targets", [getattr(node, "target", None)])
            for target in targets if isinstance(node, (ast.Assign, ast.AnnAssign)) else ():
                for leaf in ast.walk(target):
                    if isinstance(leaf, ast.Attribute) and isinstance(leaf.value, ast.Name):
                        yield function.name, leaf.value.id, leaf.attr


@parametrised
def test_fitted_state_has_one_writer(path):
    """Models are written by their own `_adopt`, `align`, `_named` and `_carried` alone."""
    models = ("_estimators/base", "_estimators/mixture", "mixtures", "relational")
    if str(path.relative_to(PACKAGE).with_suffix("")) in models:
        for function, _, name in assigned(path):
            assert function in ("_adopt", "align", "_named", "_carried", "__sklearn_tags__"), (
                f"{function} writes {name}"
            )
        return
    for function, what, name in assigned(path):
        if what not in ("self", "cls"):
            is_private = name.startswith("_") and not name.startswith("__")
            is_fitted = name.endswith("_") and not name.startswith("__")
            is_fitted = is_fitted and folder(path) != "plotting"
            allowed = path.name == "jit.py" or name == "_is_resolved"
            assert allowed or not (is_private or is_fitted), f"{function} writes {what}.{name}"


QUICK = {"n_draws": 4, "n_warmup": 4, "n_chains": 2, "random_state": 0}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"likelihood": "nig"}, {"likelihood": 1, "sampler": 1}),
        ({"likelihood": {0: "nig", 1: "bernoulli"}}, {"likelihood": 3, "sampler": 1}),
        ({"likelihood": "nig", "sampler": "urn_smc"}, {"likelihood": 1, "sampler": 1}),
    ],
)
def test_a_component_is_resolved_once_per_fit(parameters, expected, monkeypatch):
    """Mixed columns resolve themselves, and each of their parts."""
    seen = Counter()
    component = arguments.component

    def counted(parameter, *rest):
        seen[parameter] += 1
        return component(parameter, *rest)

    monkeypatch.setattr(arguments, "component", counted)
    X = np.column_stack([np.repeat([-2.0, 2.0], 5) + np.arange(10) / 10, np.arange(10) % 2])
    model = DPMixture(**parameters, **QUICK).fit(X)
    assert seen == expected
    model.predict(X)
    model.report()
    assert seen == expected


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_network_is_parsed_once_per_fit(monkeypatch):
    times = []
    parse = adjacency._sparse
    monkeypatch.setattr(adjacency, "_sparse", lambda *given: times.append(1) or parse(*given))
    A = np.kron(np.eye(2), np.ones((4, 4))) - np.eye(8)
    model = InfiniteRelationalModel(**QUICK).fit(A)
    model.predict_links([[0, 1]])
    model.report()
    assert len(times) == 1
