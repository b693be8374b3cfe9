"""When the blocked sampler is the better choice: effective draws per second of two samplers.

The chains start at the truth of simulated Gaussian clusters. Effective draws are those of the log
predictive density; the seconds are those of the iterations.
"""

import warnings

import numpy as np

from bnpcluster import DPMixture
from bnpcluster.diagnostics import autocorrelation_time

# columns, the standard deviation of the centres, clusters, rows
CASES = [
    (d, spread, k, n)
    for d, spread in ((2, 6.0), (10, 1.3), (30, 0.8))
    for k, rows in ((10, (2_000, 10_000, 50_000)), (50, (10_000, 50_000)))
    for n in rows
    if d * k <= 500
]
WARMUP, DRAWS = 60, 150
SEEDS = 3


def measure(arguments):
    """Print the ratio of effective draws per second for sizes of rows, columns and clusters."""
    for d, spread, k, n in CASES:
        rates = [rates_of(d, spread, k, n, seed) for seed in range(SEEDS)]
        ratios = sorted(new / old for old, new in rates)
        print(
            f"{n:,} rows, {d} columns, {k} clusters ({n // k:,} rows per cluster): blocked gives "
            f"{np.median(ratios):.2f} times the effective draws per second of split_merge "
            f"({ratios[0]:.2f} to {ratios[-1]:.2f}; {', '.join(f'{r[0]:.1f}' for r in rates)} of "
            "split_merge per second)",
            flush=True,
        )


def rates_of(d, spread, k, n, seed):
    """Effective draws per second of the default and of the blocked sampler."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    X = spread * rng.normal(size=(k, d))[y] + rng.normal(size=(n, d))
    return [rate(sampler, X, y, seed) for sampler in ("split_merge", "blocked")]


def rate(sampler, X, y, seed):
    """Effective draws of the log predictive density per second of iterations."""
    settings = {"sampler": sampler, "n_chains": 1, "init": y, "point_estimate": "map"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # chains are short
        DPMixture(n_draws=2, n_warmup=2, **settings).fit(X)  # compiles
        model = DPMixture(n_draws=DRAWS, n_warmup=WARMUP, random_state=seed, **settings).fit(X)
    each = model.sampler_stats_["seconds"][0] / (DRAWS + WARMUP)
    density = model.posterior_.traces["log_density"][0]
    return 1.0 / (autocorrelation_time(density) * each)
