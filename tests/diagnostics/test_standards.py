"""When chains are long enough, held against the figures that the verdict reads."""

import numpy as np

from bnpcluster.diagnostics.autocorrelation import autocorrelation_time
from bnpcluster.diagnostics.standards import ESS_WANTED, RHAT_LIMIT, ess_of, rhat_of, shortfall


def slow_with_spikes(rng, n_draws=420, carried=0.7):
    """Four slow chains. Rare large values hide from plain variances that they are slow."""
    x = rng.normal(size=(4, n_draws))
    for t in range(1, n_draws):
        x[:, t] += carried * x[:, t - 1]
    return x + 300.0 * (rng.random(x.shape) < 0.06)


def test_chains_are_long_enough_by_the_effective_draws_of_the_verdict():
    rng, seen = np.random.default_rng(0), 0
    for _ in range(20):
        x = slow_with_spikes(rng)
        ess, rhat = float(ess_of(x[None])[0]), float(rhat_of(x[None])[0])
        if ess < ESS_WANTED and rhat < RHAT_LIMIT and x.size / autocorrelation_time(x) > ESS_WANTED:
            seen += 1
            assert 1 < shortfall(x, [], np.zeros((*x.shape, 1))) < 2
    assert seen > 3
