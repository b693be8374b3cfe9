"""The blocked sampler: a pass beside a collapsed Gibbs sweep, two threads, moves, and recovery.

Processor time of one thread where nothing else is said, so that other programs matter less. The
sweep and the pass take turns.
"""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from benchmarks import recovery
from bnpcluster._core.jit import kernel
from bnpcluster._core.state import State
from bnpcluster.likelihoods import Bernoulli, NormalInverseWishart
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import Blocked
from bnpcluster.samplers.blocked.restricted_sweep import restricted_sweep
from bnpcluster.samplers.gibbs import sweep

# name, rows, columns, clusters, standard deviation of their centres, targets
CASES = [
    ("plane", 1_000_000, 2, 100, 10.0, "at most 0.4 of the sweep"),
    ("plane, 6 clusters", 1_000_000, 2, 6, 10.0, ""),
    ("16 columns", 200_000, 16, 30, 2.0, ""),
    ("64 columns", 100_000, 64, 16, 1.0, "at most 1500 ns"),
]
TURNS = 3


def measure(arguments):
    """Print nanoseconds per row of a pass and of a sweep, and what threads gain."""
    for name, n, d, k, spread, target in CASES:
        state = start(n, d, k, spread)
        compare(name, state, target)
        if d == 2:
            threads(state)
            iterations(state)
    compare("bernoulli, 50 columns", coins(200_000, 50, 16), "")
    recovery.measure(arguments)


def start(n, d, k, spread):
    """Gaussian clusters, from the truth."""
    rng = np.random.default_rng(0)
    centres, y = spread * rng.normal(size=(k, d)), rng.integers(k, size=n)
    X = centres[y] + rng.normal(size=(n, d))
    likelihood = NormalInverseWishart(mean=0.0, kappa=0.01, nu=d + 2.0, scale=1.0)
    return State(likelihood.bind(X), DirichletProcess(1.0), y)


def coins(n, d, k):
    """Clusters of 0/1 rows, from the truth."""
    rng = np.random.default_rng(0)
    y = rng.integers(k, size=n)
    X = (rng.random((n, d)) < rng.random((k, d))[y]).astype(float)
    return State(Bernoulli(a=1.0, b=1.0).bind(X), DirichletProcess(1.0), y)


def compare(name, state, target):
    """Sweeps and passes in turn."""
    rng, n = np.random.default_rng(1), state.n_items
    of_pass, of_sweep = [], []
    for turn in range(TURNS + 1):  # the first one compiles
        for times, run in ((of_pass, once), (of_sweep, collapsed)):
            begin = time.process_time()
            run(state, rng)
            if turn:
                times.append(1e9 * (time.process_time() - begin) / n)
    ours, theirs = np.median(of_pass), np.median(of_sweep)
    print(
        f"{name}, {n:,} rows, {state.n_blocks} clusters: pass {ours:.0f} ns a row "
        f"({min(of_pass):.0f} to {max(of_pass):.0f}), collapsed sweep {theirs:.0f} "
        f"({min(of_sweep):.0f} to {max(of_sweep):.0f}), ratio {ours / theirs:.2f}"
        + (f"; target {target}" if target else ""),
        flush=True,
    )


def once(state, rng):
    """A pass with one thread."""
    restricted_sweep(state, 1, rng)


def collapsed(state, rng):
    """A collapsed Gibbs sweep."""
    state.visit(sweep, rng)


@kernel
def spin(values):
    """Arithmetic that needs no memory."""
    for _ in range(2000):
        for i in range(len(values)):
            values[i] = 1.0 + 0.5 * values[i] * values[i]


def gain(run):
    """How much faster two threads are than one, by the clock: medians of five alternations."""
    seconds = {1: [], 2: []}
    for _ in range(5):
        for n_threads, times in seconds.items():
            begin = time.perf_counter()
            run(n_threads)
            times.append(time.perf_counter() - begin)
    return np.median(seconds[1]) / np.median(seconds[2])


def threads(state):
    """What two threads gain, beside two threads of a bare loop."""
    rng, parts = np.random.default_rng(2), np.full((8, 4096), 0.1)
    spin(parts[0])

    def bare(n_threads):
        with ThreadPoolExecutor(n_threads) as pool:
            list(pool.map(spin, parts))

    ours, theirs = gain(lambda n: restricted_sweep(state, n, rng)), gain(bare)
    print(f"  two threads: a pass gains {ours:.2f}, a bare loop {theirs:.2f}", flush=True)


def iterations(state):
    """Whole iterations, with moves and without: the scan of one row in twenty, and the pass."""
    for n_batches in (0, 1):
        rng, sampler = np.random.default_rng(3), Blocked(n_batches=n_batches)
        sampler.step(state, rng)
        begin, n_blocks = time.process_time(), state.n_blocks
        for _ in range(20):
            sampler.step(state, rng)
        each = (time.process_time() - begin) / 20
        what = "with moves" if n_batches else "without moves"
        goal = "; target at most 8 s" if n_batches and n_blocks < 20 else ""
        print(f"  100 iterations {what}: {100 * each:.1f} s of one core{goal}", flush=True)
