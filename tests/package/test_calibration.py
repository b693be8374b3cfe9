"""Simulation-based calibration: data from the prior, then ranks of the truth among the draws."""

import numpy as np
import pytest
from scipy.stats import chisquare

from bnpcluster import BNPMixture
from bnpcluster._core import operations
from bnpcluster.likelihoods import Bernoulli, NormalInverseGamma, NormalInverseWishart, Poisson
from bnpcluster.priors import MFM, NGG, DirichletProcess, FiniteDirichlet, PitmanYor

N, BINS, FITS = 12, 10, 400
CASES = [
    (NormalInverseGamma(mean=0.0, kappa=0.3, shape=2.0, scale=1.0), 1),
    (NormalInverseWishart(mean=0.0, kappa=0.3, nu=5.0, scale=1.0), 2),
    (Bernoulli(a=0.5, b=0.7), 6),
    (Poisson(shape=1.5, rate=0.5), 2),
]


def simulate(likelihood, d, labels, rng):
    """Rows given labels: each from the predictive given the earlier rows of its cluster."""
    X = rng.integers(2, size=(N, d)) * 1.0
    X[0], X[1] = 0.0, 1.0  # some data to begin with: no constant column
    members = {}
    for i, label in enumerate(labels):
        bound = likelihood.bind(X, 2)
        operations.clear(bound, 0)
        for j in members.setdefault(label, []):
            operations.add(bound, 0, j)
        X[i] = likelihood.sample(bound, 0, rng)
        members[label].append(i)
    return X


NIG = CASES[0][0]
PRIORS = [
    PitmanYor((2.0, 1.0), (1.0, 2.0)),
    FiniteDirichlet(5, (2.0, 1.0)),
    MFM((2.0, 1.0), ("poisson", 2.0)),
    NGG((2.0, 1.0), (1.0, 2.0)),
]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


@pytest.mark.parametrize(("likelihood", "d"), CASES, ids=lambda c: type(c).__name__)
def test_every_likelihood(likelihood, d):
    check_ranks(likelihood, d, DirichletProcess((2.0, 1.0)))


@pytest.mark.parametrize("prior", PRIORS, ids=lambda p: type(p).__name__)
def test_every_prior(prior):
    check_ranks(NIG, 1, prior)


def check_ranks(likelihood, d, prior):
    """Ranks of the sampled parameters, of K and of the largest cluster's size are uniform."""
    ranks = []
    for fit in range(FITS):
        rng = np.random.default_rng(fit)
        at = prior.at(**prior.draw(rng))
        labels = at.sample(N, rng)
        X = simulate(likelihood, d, labels, rng)
        if (np.ptp(X, axis=0) == 0).any():
            continue  # refused by design; does not depend on what is ranked but through X
        thin = max(10, 4 * prior.update_every)
        model = BNPMixture(
            prior=prior,
            likelihood=likelihood,
            n_chains=1,
            n_draws=99,
            n_warmup=10 * thin,
            thin=thin,
            random_state=fit,
            init="one",
        ).fit(X)
        draws = model.posterior_
        largest = [np.bincount(row).max() for row in draws.labels[0]]
        ranks.append(
            [
                rank(len(set(labels)), draws.n_clusters[0], rng),
                rank(np.bincount(labels).max(), largest, rng),
                *(rank(at.values[name], draws.traces[name][0], rng) for name in prior.sampled),
            ]
        )
    for column in np.array(ranks).T:
        counts = np.bincount((column * BINS).astype(int), minlength=BINS)
        assert chisquare(counts).pvalue > 1e-4


def rank(truth, draws, rng):
    """Where the truth stands among the draws, as a fraction; ties broken at random."""
    below, ties = np.sum(np.asarray(draws) < truth), np.sum(np.asarray(draws) == truth)
    return (below + rng.integers(ties + 1)) / (len(draws) + 1)
