"""A second process compiles nothing; an edit of any file that matters does recompile."""

import gc
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import bnpcluster
from bnpcluster._core import jit

SCRIPT = """
import json, sys
import numpy as np
{imports}
from bnpcluster import DPMixture
from bnpcluster._core import jit
import bnpcluster, pathlib
loaded = [m for m in list(sys.modules.values()) if getattr(m, "__name__", "").startswith("bnp")]
X = np.random.default_rng(0).integers(2, size=(12, 2)) * 1.0
model = DPMixture(
    sampler="gibbs", likelihood={likelihood}, n_draws=5, n_warmup=5, n_chains=2, random_state=0,
    point_estimate="map",  # compiles less
)
model.fit(X).predict(X)
misses = hits = 0
for kernel in jit.KERNELS:
    misses += sum(kernel.stats.cache_misses.values())
    hits += sum(kernel.stats.cache_hits.values())
print(json.dumps([misses, hits, float(model.posterior_.log_posterior.sum())]))
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


def run(root, likelihood="'nig'", imports="", **environment):
    script = SCRIPT.format(likelihood=likelihood, imports=imports)
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


def test_package_edits_and_second_processes(place):
    misses, _, value = run(place)
    assert misses > 0
    misses, hits, again = run(place)
    assert (misses, again) == (0, value)
    assert hits > 0
    # An edit in another file than those of the kernels that run it: the marginal of the likelihood.
    file = place / "bnpcluster" / "likelihoods" / "_inverse_gamma.py"
    text = file.read_text()
    assert "    return lik.norm_marginal[m] - " in text
    file.write_text(text.replace("    return lik.norm_marginal[m] - ", "    return 1e3 - "))
    misses, _, edited = run(place)
    assert misses > 0
    assert edited != value
    file.write_text(text)
    assert run(place)[2] == value


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
    assert run(place, **arguments)[0] > 0
    misses, _, value = run(place, **arguments)
    assert misses == 0
    (place / "outside.py").write_text(OUTSIDE.replace("-1.0 * lik.size", "-3.0 * lik.size"))
    misses, _, edited = run(place, **arguments)
    assert misses > 0
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
