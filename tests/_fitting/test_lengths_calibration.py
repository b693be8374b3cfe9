"""Calibration of fits of automatic and of fixed length: stopping on good draws biases nothing."""

import numpy as np
import pytest
from scipy.stats import chisquare, ks_2samp

from bnpcluster import DPMixture
from bnpcluster.likelihoods import NormalInverseGamma
from bnpcluster.priors import DirichletProcess

KAPPA, SHAPE, SCALE, ALPHA = 0.1, 2.0, 1.0, 1.0
N, RUNS, BINS = 15, 400, 10
LENGTHS = {"automatic": {}, "fixed": {"n_warmup": 200, "n_draws": 400}}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def simulated(rng):
    """A partition from the prior and rows from the model."""
    labels = DirichletProcess(ALPHA).sample(N, rng)
    variance = SCALE / rng.gamma(SHAPE, size=labels.max() + 1)
    mean = rng.normal(0.0, np.sqrt(variance / KAPPA))
    return labels, rng.normal(mean[labels], np.sqrt(variance[labels]))[:, None]


def numbers(labels):
    """K, the share of the largest cluster, and the pairs that are together."""
    sizes = np.bincount(labels)
    sizes = sizes[sizes > 0]
    return [len(sizes), sizes.max(), (sizes * (sizes - 1)).sum()]


def places(lengths, seed):
    """Where the truth stands in the posterior, from 0 to 1; ties at random."""
    rng = np.random.default_rng(seed)
    labels, X = simulated(rng)
    likelihood = NormalInverseGamma(mean=0.0, kappa=KAPPA, shape=SHAPE, scale=SCALE)
    model = DPMixture(likelihood=likelihood, alpha=ALPHA, random_state=seed, **lengths).fit(X)
    draws = np.array([numbers(row) for row in model.posterior_.labels.reshape(-1, N)])
    truth = np.array(numbers(labels))
    return (draws < truth).mean(axis=0) + rng.random() * (draws == truth).mean(axis=0)


@pytest.mark.slow
def test_truths_are_uniform_in_posteriors_of_both_lengths():
    found = {
        name: np.array([places(lengths, seed) for seed in range(RUNS)])
        for name, lengths in LENGTHS.items()
    }
    for values in found.values():
        for column in values.T:
            # A truth above all draws is at 1.
            bins = np.minimum((column * BINS).astype(int), BINS - 1)
            counts = np.bincount(bins, minlength=BINS)
            assert chisquare(counts).pvalue > 1e-4, counts
    for automatic, fixed in zip(found["automatic"].T, found["fixed"].T, strict=True):
        assert ks_2samp(automatic, fixed).pvalue > 1e-3
        assert np.abs(automatic - fixed).mean() < 0.03  # the same data: Monte Carlo error is left
