"""How the time of a sweep grows with the number of items and of clusters."""

import time

import numpy as np

from bnpcluster._core.state import State
from bnpcluster.likelihoods import NormalInverseWishart
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import Gibbs


def blobs(n, n_clusters, seed=0):
    """Rows in the plane, in well-separated clusters on a jittered grid, and their labels."""
    rng = np.random.default_rng(seed)
    side = int(np.ceil(np.sqrt(n_clusters)))
    grid = np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 2)
    labels = rng.integers(n_clusters, size=n)
    return 1.0 * grid[labels] + 0.12 * rng.normal(size=(n, 2)), labels


def measure(arguments):
    """Sweep times over n at K = 100 and over K at n = 100,000, and the exponents of a power law."""
    sizes = [10_000, 30_000, 100_000, 300_000, 1_000_000]
    _print("n", sizes, [sweep_seconds(n, 100) for n in sizes], "K = 100")
    clusters = [25, 50, 100, 200, 400]
    _print("K", clusters, [sweep_seconds(100_000, k) for k in clusters], "n = 100,000")


def sweep_seconds(n, n_clusters):
    """Median seconds of a sweep that starts at the true labels."""
    X, labels = blobs(n, n_clusters)
    state = State(NormalInverseWishart().bind(X), DirichletProcess(1.0), labels)
    rng, gibbs, times = np.random.default_rng(0), Gibbs(), []
    for _ in range(7):
        begin = time.perf_counter()
        gibbs.step(state, rng)
        times.append(time.perf_counter() - begin)
    return float(np.median(times[2:]))


def _print(name, values, seconds, fixed):
    exponent = np.polyfit(np.log(values), np.log(seconds), 1)[0]
    table = ", ".join(f"{v:,}: {1e3 * s:.1f} ms" for v, s in zip(values, seconds, strict=True))
    print(f"sweep over {name} ({fixed}): {table}; exponent {exponent:.2f}", flush=True)
