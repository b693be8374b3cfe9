"""Chains from one cluster, from singletons and from k-means: do they reach the same log posterior?

The level of a chain is the mean log posterior of its last draws. It is reached if it is within two
standard deviations (of the log posterior within chains) of the highest level.
"""

import numpy as np

from benchmarks.defaults import split
from benchmarks.yardstick import load, workshop
from bnpcluster import DPMixture

STARTS = ("one", "singletons", "kmeans")
SEEDS = 8
N_WARMUP, N_DRAWS = 300, 100


def measure(arguments):
    """Every set and start, eight seeds each."""
    with workshop(arguments.yardstick) as folder:
        for name, X, likelihood in _sets(folder, arguments.data):
            _compare(name, X, likelihood)


def _sets(folder, data):
    """Sets of all kinds of columns."""
    if folder is not None:
        yield "s1like", load(folder, "s1like").X, "niw"
        yield "bern50", load(folder, "bern50").X, "bernoulli"
    path = data / "defaults_dev" / "seeds.csv.gz"
    if path.exists():
        X = split("seeds", path).X
        yield "seeds", X, "niw"
        yield "seeds", X, "nig"
    rng = np.random.default_rng(0)
    labels = rng.integers(6, size=600)
    yield "categories", _categories(labels, rng), "categorical"
    yield "counts", rng.poisson(rng.gamma(1.0, 4.0, (6, 6))[labels]).astype(float), "poisson"


def _categories(labels, rng, n_columns=8, n_categories=4):
    p = rng.dirichlet(np.full(n_categories, 0.5), (labels.max() + 1, n_columns))
    above = rng.random((len(labels), n_columns, 1)) > p.cumsum(axis=2)[labels]
    return above.sum(axis=2).astype(float)


def _compare(name, X, likelihood):
    lengths = {"n_warmup": N_WARMUP, "n_draws": N_DRAWS, "n_chains": 1}
    traces = {
        start: np.array(
            [
                DPMixture(likelihood=likelihood, init=start, random_state=seed, **lengths)
                .fit(X)
                .posterior_.log_posterior.ravel()
                for seed in range(SEEDS)
            ]
        )
        for start in STARTS
    }
    noise = np.mean([trace.std(axis=1).mean() for trace in traces.values()])
    best = max(trace.mean(axis=1).max() for trace in traces.values())
    for start, trace in traces.items():
        levels = trace.mean(axis=1)
        reached = int((levels >= best - 2.0 * noise).sum())
        print(
            f"{name} {X.shape} {likelihood}, from {start}: {reached} of {SEEDS} reach {best:.0f} "
            f"(noise {noise:.1f}); {levels.min():.1f} to {levels.max():.1f}",
            flush=True,
        )
