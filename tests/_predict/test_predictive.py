"""The posterior predictive, exact against enumeration."""

from typing import NamedTuple

import numpy as np
import pytest

from bnpcluster._fitting.fitted import Fitted, urn_weights
from bnpcluster._predict.predictive import (
    _batches,
    draw_log_densities,
    predict,
    sample,
    sample_by_draw,
)
from bnpcluster.likelihoods import LIKELIHOODS, NormalInverseGamma, NormalInverseWishart
from bnpcluster.posterior import Posterior
from bnpcluster.priors import PRIORS, DirichletProcess
from bnpcluster.testing.enumeration import enumerated

LIKELIHOOD_EXAMPLES = [
    pytest.param(likelihood, X, id=f"{name}-{j}")
    for name, cls in LIKELIHOODS.items()
    for j, (likelihood, X) in enumerate(cls.examples(np.random.default_rng(7)))
]
PRIOR_EXAMPLES = [
    pytest.param(prior, id=f"{name}-{j}")
    for name, cls in PRIORS.items()
    for j, prior in enumerate(cls.examples())
]


def exactly_fitted(likelihood, prior, X, n):
    """A fit of the first n rows whose draws are all partitions, weighted by the posterior."""
    bound = likelihood.bind(X[:n])
    exact = enumerated(bound, prior, n)
    traces = {
        name: np.full((1, len(exact.partitions)), prior.values[name]) for name in prior.sampled
    }
    posterior = Posterior(exact.partitions[None], weights=exact.probabilities[None], traces=traces)
    estimate = exact.partitions[np.argmax(exact.probabilities)]
    log_urn = urn_weights(prior, posterior)
    return Fitted(likelihood, bound, posterior, log_urn, estimate), exact


class Enumerated(NamedTuple):
    """Where a new row is, by the posterior of all partitions of the data and the row."""

    log_density: float
    novelty: float
    membership: np.ndarray
    ess: float
    plain: np.ndarray  # novelty and membership, if draws forgot what they say of the row


def enumerated_row(likelihood, prior, X, estimate):
    """The prediction of the last row of `X`, the others being the data of the fit."""
    n = len(X) - 1
    exact = enumerated(likelihood.bind(X[:n]), prior, n)
    longer = enumerated(likelihood.rows(likelihood.bind(X[:n]), X), prior, n + 1)
    # By partition of all rows: whether the last one is alone, or which clusters it is with.
    place = np.zeros((len(longer.partitions), estimate.max() + 2))
    for row, labels in zip(place, longer.partitions, strict=True):
        mates = estimate[labels[:n] == labels[n]]
        row[:] = np.bincount(mates + 1, minlength=len(row)) / max(len(mates), 1)
        row[0] = len(mates) == 0
    novelty, *members = longer.probabilities @ place
    # By partition of the data: its posterior given the row, too, and where the row is then.
    given, plain = np.zeros(len(exact.partitions)), np.zeros(place.shape[1])
    for j, labels in enumerate(exact.partitions):
        same = np.all(longer.partitions[:, :n] == labels, axis=1)
        given[j] = longer.probabilities[same].sum()
        if given[j] > 0:
            plain += exact.probabilities[j] * longer.probabilities[same] @ place[same] / given[j]
    plain[1:] /= plain[1:].sum()
    log_density = longer.log_evidence - exact.log_evidence
    ess = 1.0 / (given**2).sum()
    return Enumerated(log_density, novelty, np.array(members) / np.sum(members), ess, plain)


def against_enumeration(likelihood, prior, X, n=4):
    """Predict every row after the first n; return the enumerated predictions, too."""
    fitted, _ = exactly_fitted(likelihood, prior, X, n)
    found = predict(fitted, X[n:])
    rows = [[*range(n), i] for i in range(n, len(X))]
    expected = [enumerated_row(likelihood, prior, X[some], fitted.estimate) for some in rows]
    for name in ("log_density", "novelty", "membership"):
        told = [getattr(row, name) for row in expected]
        np.testing.assert_allclose(getattr(found, name), told, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.ess, [row.ess for row in expected], rtol=1e-10)
    return expected


@pytest.mark.parametrize(("likelihood", "X"), LIKELIHOOD_EXAMPLES)
def test_exact_for_every_likelihood(likelihood, X):
    against_enumeration(likelihood, DirichletProcess(0.8), X)


@pytest.mark.parametrize("prior", PRIOR_EXAMPLES)
def test_exact_for_every_prior(prior):
    X = np.array([[-1.0], [-0.7], [1.2], [0.9], [0.3], [8.0]])
    likelihood = NormalInverseGamma(mean=0.0, kappa=0.1, shape=1.5, scale=0.2)  # two clusters
    against_enumeration(likelihood, prior, X)


@pytest.mark.parametrize(
    ("likelihood", "d"),
    [
        (NormalInverseGamma(mean=0.0, kappa=0.3, shape=2.0, scale=0.3), 1),
        (NormalInverseWishart(mean=[0.0, 0.0], kappa=0.3, nu=4.0, scale=[[0.6, 0], [0, 0.6]]), 2),
    ],
    ids=["nig", "niw"],
)
def test_a_new_row_bears_on_the_partition_of_the_data(likelihood, d):
    """Six rows, and new ones in a cluster, between clusters, beside them and far away."""
    columns = [[-1.3, -1.0, -0.6, 0.4, 0.9, 1.3], [0.1, -0.2, 0.0, 0.3, 0.1, -0.4]]
    rows = [[-1.1, 0.0], [-0.1, 0.2], [4.0, -0.5], [40.0, -1.0]]
    X = np.vstack([np.transpose(columns), rows])[:, :d]
    expected = against_enumeration(likelihood, DirichletProcess(0.5), X, n=6)
    # Averages that forget the row differ by much more, so the comparison is worth something.
    off = np.array([row.plain - [row.novelty, *row.membership] for row in expected])
    assert (abs(off).max(axis=0) > 0.02).all()


def test_every_draw_has_its_own_hyper_parameters():
    X = np.array([[-1.0], [-0.7], [1.2], [0.9], [0.3]])
    bound = NormalInverseGamma().bind(X[:4])
    labels = np.array([[[0, 0, 1, 1], [0, 0, 1, 1]]])
    alphas = np.array([[0.1, 9.0]])

    def predicted(prior, posterior):
        log_urn = urn_weights(prior, posterior)
        return predict(Fitted(NormalInverseGamma(), bound, posterior, log_urn, labels[0, 0]), X[4:])

    both = predicted(DirichletProcess(), Posterior(labels, traces={"alpha": alphas}))
    single = [predicted(DirichletProcess(a), Posterior(labels[:, :1])) for a in alphas[0]]
    density = np.array([np.exp(p.log_density) for p in single])
    np.testing.assert_allclose(np.exp(both.log_density), density.mean(axis=0))
    novelty = np.average([p.novelty for p in single], axis=0, weights=density)
    np.testing.assert_allclose(both.novelty, novelty)
    np.testing.assert_allclose(both.ess, density.sum(axis=0) ** 2 / (density**2).sum(axis=0))


def test_rows_are_predicted_one_by_one_and_in_chunks(monkeypatch):
    X = np.random.default_rng(0).normal(size=(12, 2))
    fitted, _ = exactly_fitted(LIKELIHOODS["niw"](), DirichletProcess(1.0), X, 5)
    whole = predict(fitted, X)
    monkeypatch.setattr("bnpcluster._predict.predictive.CHUNK", 5)
    for one, other in zip(predict(fitted, X), whole, strict=True):
        np.testing.assert_array_equal(one, other)


def test_densities_of_single_draws_average_to_the_predictive():
    X = np.random.default_rng(5).normal(size=(9, 2))
    fitted, exact = exactly_fitted(NormalInverseGamma(), DirichletProcess(1.0), X, 5)
    draws = np.arange(len(exact.partitions))
    by_draw = draw_log_densities(fitted, X, draws)
    density = np.log(fitted.posterior.weights.ravel() @ np.exp(by_draw))
    np.testing.assert_allclose(predict(fitted, X).log_density, density)
    np.testing.assert_allclose(draw_log_densities(fitted, X, draws[[7, 3]]), by_draw[[7, 3]])
    # One at a time, a draw does not depend on those before it.
    alone = Posterior(exact.partitions[None, [3]])
    one = fitted._replace(posterior=alone, log_urn=fitted.log_urn[[3]])
    np.testing.assert_allclose(predict(one, X).log_density, by_draw[3])


def test_kernel_calls_take_every_draw_once():
    for n_draws, work in ((1, 0), (10, 10**9), (10, 600_000), (7, 999_999)):
        draws = [list(range(n_draws))[some] for some in _batches(n_draws, work)]
        assert [r for call in draws for r in call] == list(range(n_draws))
    assert len(_batches(10, 10**9)) == 10


def test_samples_come_from_the_predictive():
    X = np.array([[-3.0], [-2.9], [-3.1], [2.0], [2.1]])
    fitted, _ = exactly_fitted(NormalInverseGamma(), DirichletProcess(1.0), X, 5)
    draws = sample(fitted, 4000, np.random.default_rng(0))[:, 0]
    grid = np.linspace(-30, 30, 6001)
    density = np.exp(predict(fitted, grid[:, None]).log_density)
    cells = np.add.reduceat(density[:-1] * np.diff(grid), np.arange(0, 6000, 200))
    counts = np.histogram(draws, grid[::200])[0]
    large = cells * 4000 > 5
    statistic = ((counts - 4000 * cells)[large] ** 2 / (4000 * cells[large])).sum()
    assert statistic < 3 * large.sum() + 10


def test_samples_by_draw_come_from_the_predictive_of_their_draw():
    X = np.array([[-3.0], [3.0]])
    likelihood = NormalInverseGamma(mean=0.0, kappa=1.0, shape=30.0, scale=30.0)
    fitted, exact = exactly_fitted(likelihood, DirichletProcess(1e-3), X, 2)
    rows = sample_by_draw(fitted, 3000, np.random.default_rng(0)).reshape(2, 3000)
    grid = np.linspace(-30, 30, 6001)
    densities = np.exp(draw_log_densities(fitted, grid[:, None], np.arange(2)))
    near = np.abs(grid) < 1.0
    expected = densities[:, near].sum(axis=1) * 0.01
    assert np.ptp(expected) > 0.05  # together or apart, the rows say something else
    np.testing.assert_allclose((np.abs(rows) < 1.0).mean(axis=1), expected, atol=0.03)
    assert len(exact.partitions) == 2


def test_far_rows_keep_the_ratios_of_their_clusters():
    """Where the new block outweighs every cluster by far, the nearer cluster still wins."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(400, 8)), rng.normal(size=(80, 8)) + 12.0])
    labels = np.repeat([0, 1], [400, 80])
    bound = LIKELIHOODS["niw"]().bind(X)
    posterior = Posterior(labels[None, None])
    prior = DirichletProcess(1.0)
    fitted = Fitted(LIKELIHOODS["niw"](), bound, posterior, urn_weights(prior, posterior), labels)
    for distance in (20.0, 60.0, 1e4, 1e90):
        prediction = predict(fitted, np.full((1, 8), distance))
        assert np.isfinite(prediction.log_density[0])
        assert np.isfinite(prediction.membership).all()
        assert prediction.membership.sum() == pytest.approx(1.0)
    assert predict(fitted, np.full((1, 8), 20.0)).membership.argmax() == 1


def test_binary_rows_far_from_all_clusters():
    """Against the posterior worked out by hand, for one partition of two clusters."""
    rng = np.random.default_rng(1)
    centres = rng.integers(2, size=(2, 200))
    labels = np.repeat([0, 1], [40, 20])
    X = np.abs(centres[labels] - (rng.random((60, 200)) < 0.02)) * 1.0
    row = centres[1].copy() * 1.0
    row[:60] = 1.0 - row[:60]
    likelihood, posterior = LIKELIHOODS["bernoulli"](), Posterior(labels[None, None])
    urn = urn_weights(DirichletProcess(1.0), posterior)
    found = predict(Fitted(likelihood, likelihood.bind(X), posterior, urn, labels), row[None])
    log_p = []
    for k, m in ((0, 40), (1, 20)):
        ones = X[labels == k].sum(axis=0)
        chance = (1.0 + np.where(row == 1, ones, m - ones)) / (2.0 + m)
        log_p.append(np.log(m) + np.log(chance).sum())
    expected = np.exp(np.array(log_p) - np.logaddexp(*log_p))
    np.testing.assert_allclose(found.membership[0], expected, atol=1e-12)
