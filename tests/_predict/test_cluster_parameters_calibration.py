"""Do intervals of the parameters of clusters hold the truth as often as they say?"""

import numpy as np
import pytest

from bnpcluster import DPMixture
from bnpcluster.likelihoods import NormalInverseGamma, Poisson
from bnpcluster.priors import DirichletProcess

N_ROWS, LEVEL = 40, 0.9
NIG = NormalInverseGamma(mean=0.0, kappa=0.05, shape=3.0, scale=2.0)
COUNTS = Poisson(shape=1.5, rate=0.1)


def normal(rng):
    variance = 2.0 / rng.gamma(3.0)
    return {"means": rng.normal(0.0, np.sqrt(variance / 0.05)), "variances": variance}


def count(rng):
    return {"rates": rng.gamma(1.5) / 0.1}


def simulated(kind, rng):
    """Data from the prior, and the parameters of every row."""
    z = DirichletProcess(1.0).sample(N_ROWS, rng)
    blocks = [(normal if kind == "normal" else count)(rng) for _ in range(z.max() + 1)]
    truth = {name: np.array([block[name] for block in blocks])[z] for name in blocks[0]}
    if kind == "normal":
        X = rng.normal(truth["means"], np.sqrt(truth["variances"]))
    else:
        X = rng.poisson(truth["rates"]).astype(float)
    return X[:, None], truth


def covered(kind, seed):
    """For a random row, whether the intervals of its cluster hold the averages of the truth."""
    rng = np.random.default_rng(seed)
    X, truth = simulated(kind, rng)
    model = DPMixture(
        alpha=1.0,
        likelihood=NIG if kind == "normal" else COUNTS,
        n_chains=1,
        n_draws=300,
        n_warmup=100,
        random_state=seed,
    ).fit(X)
    found, c = model.posterior_.parameters(), model.labels_[rng.integers(N_ROWS)]
    inside = model.labels_ == c
    means = {name: values[inside].mean() for name, values in truth.items()}
    if "variances" in means:
        means["variances"] += truth["means"][inside].var()  # between rows, too
    result = []
    for name, value in means.items():
        low, high = found.interval(name, LEVEL)
        result.append(low[c, 0] <= value <= high[c, 0])
    return result


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["normal", "count"])
def test_intervals_hold_the_truth_as_often_as_they_say(kind, n_sets=400):
    """The cluster is that of a row chosen beforehand: large clusters are chosen more often."""
    share = np.mean([covered(kind, seed) for seed in range(n_sets)], axis=0)
    assert (share >= 0.86).all() and (share <= 0.94).all(), share
