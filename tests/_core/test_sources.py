"""Which files a source depends on."""

from pathlib import Path

import pytest

import bnpcluster
from bnpcluster._core import sources
from bnpcluster._core.jit import KERNELS, reach, sources_of_class
from bnpcluster._fitting.checkpoint import digest_of_code
from bnpcluster.likelihoods import Bernoulli, NormalInverseGamma
from bnpcluster.likelihoods.gaussian.nig_columns import InverseGammaColumns
from bnpcluster.priors import DirichletProcess, PitmanYor
from bnpcluster.samplers import Gibbs, SplitMerge
from tests.tools import compilations

PACKAGE = Path(bnpcluster.__file__).parent


def names(files):
    """Files by their paths below the package."""
    return {str(file.relative_to(PACKAGE)) for file in files}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A package whose `__init__` passes on what its modules define."""
    contents = {
        "__init__.py": "from lib.registry import *\nfrom lib.one import first\nown = 1\n",
        "registry.py": "from lib.one import first\nfrom lib.two import second\nALL = [first]\n",
        "one.py": "import numpy\nfirst: int = 1\n",
        "two.py": "from lib.deep import thing as other\ndef second(): import lib.lazy\n",
        "deep.py": "class thing: pass\n",
        "lazy.py": "",
    }
    (tmp_path / "lib").mkdir()
    for name, text in contents.items():
        (tmp_path / "lib" / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    compilations.forget()
    yield tmp_path
    compilations.forget()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from lib import first", {"one"}),
        ("from lib import second", {"two", "deep", "lazy"}),
        ("from lib.registry import second", {"two", "deep", "lazy"}),
        ("from lib import ALL", {"registry", "one", "two", "deep", "lazy"}),
        ("from lib import own", {"__init__", "registry", "one", "two", "deep", "lazy"}),
        ("from lib import two as x", {"two", "deep", "lazy"}),
        ("import lib.deep as x", {"deep"}),
        ("def f():\n    from lib.deep import thing", {"deep"}),
        ("import numpy, os.path", set()),
        ("from lib import nothing", {"__init__", "registry", "one", "two", "deep", "lazy"}),
    ],
)
def test_names_lead_to_the_files_that_define_them(files, text, expected):
    script = files / "script.py"
    script.write_text(text)
    found = sources.closure(script, "script")
    assert {file.stem for file in found} == {"script", *expected}


def test_the_order_of_files_changes_no_digest(files):
    some = sorted((files / "lib").glob("*.py"))
    assert sources.digest(some) == sources.digest(some[::-1] + some[:1])
    assert sources.digest(some) != sources.digest(some[1:])


def test_a_class_brings_the_files_that_register_its_operations():
    found = names(sources_of_class(InverseGammaColumns))
    assert {"likelihoods/gaussian/nig_columns.py", "_core/operations.py"} <= found
    assert "likelihoods/discrete/terms.py" not in found


def test_kernels_reach_little():
    """No kernel of a sampler depends on a likelihood, nor any kernel on estimators or plots."""
    for kernel in KERNELS:
        file = Path(kernel.py_func.__code__.co_filename)
        if not file.is_relative_to(PACKAGE):
            continue  # of a test
        found = names(reach(file, kernel.py_func.__module__, ()))
        folders = {name.split("/")[0] for name in found}
        above = {"plotting", "cli", "_estimators", "_fitting", "testing", "mixtures.py"}
        assert not folders & above, file
        if file.relative_to(PACKAGE).parts[0] in ("samplers", "partitions", "_predict"):
            assert not folders & {"likelihoods", "priors", "posterior.py"}, file


def test_the_digest_of_a_fit_follows_its_components():
    X = [[0.0], [1.0]]
    nig, coins = NormalInverseGamma(), Bernoulli()
    bound = nig.bind(__import__("numpy").array(X))
    digests = {
        digest_of_code(bound, (likelihood, prior, sampler))
        for likelihood in (nig, coins)
        for prior in (DirichletProcess(), PitmanYor())
        for sampler in (Gibbs(), SplitMerge())
    }
    assert len(digests) == 8
