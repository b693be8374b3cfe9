"""A second process compiles nothing; an edit of any file that matters does recompile."""

import gc
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from numba.core.caching import NullCache

import bnpcluster
from bnpcluster._core import jit
from tests.tools import compilations

SCRIPT = """
import json, sys
from collections import Counter
from pathlib import Path
import numpy as np
{imports}
from bnpcluster import DPMixture
from bnpcluster._core import jit
X = np.random.default_rng(0).integers(2, size=(12, 2)) * 1.0
model = DPMixture(
    sampler="gibbs", likelihood={likelihood}, n_draws=5, n_warmup=5, n_chains=2, random_state=0,
    point_estimate="map",  # compiles less
    checkpoint={checkpoint},
)
model.fit(X).predict(X)
missed, hits = Counter(), 0
for kernel in jit.KERNELS:
    stem = Path(kernel.py_func.__code__.co_filename).stem
    missed[stem] += sum(kernel.stats.cache_misses.values())
    hits += sum(kernel.stats.cache_hits.values())
print(json.dumps([+missed, hits, float(model.posterior_.log_posterior.sum())]))
"""

OUTSIDE = '''
from typing import NamedTuple
import numpy as np
from bnpcluster._core import operations as ops
from bnpcluster.likelihoods import Likelihood
from bnpcluster._core.jit import kernel

class Bound(NamedTuple):
    X: np.ndarray
    size: np.ndarray
    slot_axis = {"size": 0}

@ops.clear.register(Bound)
def clear(lik, k):
    lik.size[k] = 0

@ops.add.register(Bound)
def add(lik, k, i):
    lik.size[k] += 1

@ops.remove.register(Bound)
def remove(lik, k, i):
    lik.size[k] -= 1

@ops.copy.register(Bound)
def copy(lik, to, source):
    lik.size[to] = lik.size[source]

@ops.log_predictive.register(Bound)
def log_predictive(lik, k, i):
    return -1.0

@ops.log_marginal.register(Bound)
def log_marginal(lik, k):
    return -1.0 * lik.size[k]

class Constant(Likelihood):
    """The data say nothing."""
    def bind(self, X, capacity=16):
        return Bound(X, np.zeros(capacity, np.intp))
    def rows(self, bound, X):
        return bound._replace(X=X)
'''

pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="there is nothing to cache"
)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A copy of the package beside an outside likelihood, with a cache of its own."""
    root = tmp_path_factory.mktemp("cache")
    shutil.copytree(
        Path(bnpcluster.__file__).parent,
        root / "bnpcluster",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    (root / "outside.py").write_text(OUTSIDE)
    return root


def run(root, likelihood="'nig'", imports="", checkpoint=None, **environment):
    """What was compiled, by file; how many compilations were read; a number made of the draws."""
    script = SCRIPT.format(likelihood=likelihood, imports=imports, checkpoint=checkpoint)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env={
            **os.environ,
            "PYTHONPATH": str(root),
            "NUMBA_CACHE_DIR": str(root / "cache"),
            **environment,
        },
        cwd=root,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def edit(file, old, new):
    """Replace a text that is there once; what the file held before."""
    text = file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))
    return text


def test_package_edits_and_second_processes(place):
    missed, _, value = run(place)
    assert missed
    missed, hits, again = run(place)
    assert (missed, again) == ({}, value)
    assert hits > 0
    # An edit in another file than those of the kernels that run it: the marginal of the likelihood.
    file = place / "bnpcluster" / "likelihoods" / "gaussian" / "nig_columns.py"
    text = edit(file, "    return marginal_normaliser(lik, m) - ", "    return 1e3 - ")
    missed, _, edited = run(place)
    assert missed
    assert edited != value
    file.write_text(text)


def test_what_a_kernel_cannot_reach_recompiles_nothing(place):
    run(place)
    package = place / "bnpcluster"
    for name in ("plotting/density_display.py", "cli/results.py", "priors/ngg.py", "relational.py"):
        (package / name).write_text((package / name).read_text() + "\n# edited\n")
    (package / "_estimators" / "another.py").write_text("")
    assert run(place)[0] == {}


def test_an_edit_recompiles_what_can_reach_it_and_removes_what_is_stale(place):
    run(place)
    run(place, "'bernoulli'")
    before = sorted((place / "cache").rglob("*.nb?"))
    known = next(path for path in before if path.name.startswith("partition."))
    gone = [
        known.with_name(f"{stem}-{'0' * 16}-{'0' * 16}-1.py311.nbi")
        for stem in ("partition.no_such_function", "no_such_file.add")
    ]
    for path in gone:
        path.write_bytes(b"")
    file = place / "bnpcluster" / "likelihoods" / "gaussian" / "nig_columns.py"
    file.write_text(file.read_text() + "\n# edited\n")
    assert run(place, "'bernoulli'")[0] == {}
    missed = run(place)[0]
    # Kernels of other files handle the data of this class, too; those of draws never do.
    assert {"gibbs", "nig_columns", "partition"} <= set(missed)
    assert "label_draws" not in missed
    after = sorted((place / "cache").rglob("*.nb?"))
    assert len(after) == len(before)
    assert after != before
    assert not any(path.exists() for path in gone)


REGISTERS = """
from bnpcluster._core import operations as ops
from bnpcluster.likelihoods.gaussian.nig_columns import InverseGammaColumns

@ops.log_marginal.register(InverseGammaColumns)
def log_marginal(lik, k):
    return -1.0
"""


def test_a_file_that_registers_an_operation_for_another_class_counts(place):
    """The class and the kernels are the package's; only the operation is not."""
    plain = run(place)[2]
    (place / "registers.py").write_text(REGISTERS)
    missed, _, value = run(place, imports="import registers")
    assert missed
    assert value != plain
    assert run(place, imports="import registers")[0::2] == [{}, value]
    (place / "registers.py").write_text(REGISTERS.replace("-1.0", "-2.0"))
    missed, _, edited = run(place, imports="import registers")
    assert missed
    assert edited not in (plain, value)
    assert run(place)[0::2] == [{}, plain]


def test_checkpoints_depend_on_what_can_change_the_draws(place):
    folder = place / "checkpoints"
    value = run(place, checkpoint=repr(str(folder)))[2]
    (saved,) = folder.glob("*.npz")
    written = saved.stat().st_mtime_ns
    package = place / "bnpcluster"
    for name in ("plotting/density_display.py", "cli/results.py", "_estimators/report.py"):
        (package / name).write_text((package / name).read_text() + "\n# edited again\n")
    assert run(place, checkpoint=repr(str(folder)))[2] == value
    assert [file.name for file in folder.glob("*.npz")] == [saved.name]
    assert saved.stat().st_mtime_ns >= written
    (package / "priors" / "base.py").write_text((package / "priors" / "base.py").read_text() + "\n")
    run(place, checkpoint=repr(str(folder)))
    assert len(list(folder.glob("*.npz"))) == 2


def test_compilations_share_no_file(place):
    """Two programs that compile one kernel for different data at once cannot mix them up."""
    run(place)
    run(place, "'bernoulli'")
    indices = list((place / "cache").rglob("*.nbi"))
    code = {file.with_suffix("").with_suffix("") for file in (place / "cache").rglob("*.nbc")}
    assert {file.with_suffix("") for file in indices} == code
    assert len(list((place / "cache").rglob("*.nbc"))) == len(indices)
    assert sum("sweep" in file.name for file in indices) >= 2


def test_outside_likelihoods_are_cached_until_their_file_changes(place):
    arguments = {"likelihood": "outside.Constant()", "imports": "import outside"}
    assert run(place, **arguments)[0]
    missed, _, value = run(place, **arguments)
    assert missed == {}
    (place / "outside.py").write_text(OUTSIDE.replace("-1.0 * lik.size", "-3.0 * lik.size"))
    missed, _, edited = run(place, **arguments)
    assert missed
    assert edited != value
    # A program that cannot import the outside class is not disturbed by what it left in the cache.
    (place / "outside.py").rename(place / "elsewhere.txt")
    run(place)


@pytest.mark.slow
def test_the_cache_can_be_turned_off(place):
    off = place / "off"
    run(place, NUMBA_CACHE_DIR=str(off), BNPCLUSTER_NUMBA_CACHE="0")
    assert not list(off.rglob("*.nbi"))


def test_importing_compiles_nothing(place):
    script = (
        "import bnpcluster.testing, bnpcluster._core.jit as j;"
        "print(sum(len(k.signatures) for k in j.KERNELS), len(j.KERNELS))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    compiled, kernels = map(int, done.stdout.split())
    assert compiled == 0
    assert kernels > 10


def test_no_garbage_is_collected_during_a_compilation():
    def compile(sig):
        assert not gc.isenabled()
        if sig == "wrong":
            raise TypeError(sig)
        return sig

    dispatcher = SimpleNamespace(compile=compile)
    jit._collect_later(dispatcher)
    assert dispatcher.compile("right") == "right"
    assert gc.isenabled()
    with pytest.raises(TypeError, match="wrong"):
        dispatcher.compile("wrong")
    assert gc.isenabled()


@jit.kernel
def inner(x):
    """Called by another kernel."""
    return x + 1.0


@jit.kernel
def outer(x):
    """Calls another kernel."""
    return 2.0 * inner(x)


def test_what_enters_a_compilation_is_recorded(monkeypatch):
    """The suite holds every entry against the closure that names the compiled file."""
    entered = set()
    monkeypatch.setattr(jit, "ENTERED", entered)
    outer.entry._cache = inner._cache = NullCache()  # nothing is read from disk
    assert outer(1.0) == 4.0
    file = Path(__file__).resolve()
    assert (file, (), file) in entered


def test_what_only_kernels_call_has_no_machine_code():
    outer.entry._cache = inner._cache = NullCache()
    assert outer(np.float32(1.0)) == 4.0
    (signature,) = [s for s in inner.overloads if s[0] == numba.float32]
    library = inner.overloads[signature].library
    assert isinstance(library, jit.InnerLibrary)
    name = inner.overloads[signature].fndesc.mangled_name
    assert not library._codegen._engine.is_symbol_defined(name)


MIXED = """
import json
from pathlib import Path
import numpy as np
from bnpcluster._core import jit, vectors
from bnpcluster._core.jit import kernel
import outer
outer.logs(np.ones(64), np.ones(64), np.ones(64))
print(json.dumps([
    sum(vectors.set_logs.stats.cache_hits.values()),
    [type(each.library).__name__ for each in vectors.set_logs.overloads.values()],
]))
"""
OUTER = """
from bnpcluster._core.jit import kernel
from bnpcluster._core.vectors import set_logs

@kernel
def logs(values, work, out):
    set_logs(values, work, out)
"""


def test_inner_code_from_the_disk_has_no_machine_code_either(tmp_path):
    """New callers of code from the disk run their own optimised copies."""
    settings = {"PYTHONPATH": f"{Path(bnpcluster.__file__).parents[1]}{os.pathsep}{tmp_path}"}
    settings["NUMBA_CACHE_DIR"] = str(tmp_path / "cache")
    for text, hits in ((OUTER, 0), (f"{OUTER}\n# edited\n", 1)):
        (tmp_path / "outer.py").write_text(text)
        done = subprocess.run(
            [sys.executable, "-c", MIXED],
            env={**os.environ, **settings},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == [hits, ["InnerLibrary"]]


def test_a_file_outside_the_closure_is_reported(monkeypatch):
    kernel = next(k for k in jit.KERNELS if k.py_func.__module__.endswith("samplers.gibbs"))
    file = Path(kernel.py_func.__code__.co_filename).resolve()
    monkeypatch.setattr(jit, "ENTERED", {(file, (), file)})
    assert compilations.unreached() == []
    monkeypatch.setattr(jit, "ENTERED", {(file, (), file.with_name("archive.py"))})
    assert len(compilations.unreached()) == 1
