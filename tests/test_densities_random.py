"""Densities drawn from their posterior: moments against the predictive of two rows, calibration."""

import numpy as np
import pytest
from scipy.stats import binom, norm

from bnpcluster import densities
from bnpcluster._core.operations import add, clear
from bnpcluster._core.state import grown_bound
from bnpcluster._fitting.fitted import Fitted, urn_weights
from bnpcluster._predict.predictive import draw_log_densities
from bnpcluster.densities import random_log_densities
from bnpcluster.likelihoods import NormalInverseGamma
from bnpcluster.posterior import Posterior
from bnpcluster.priors import DirichletProcess, FiniteDirichlet
from tests._predict.test_predictive import PRIOR_EXAMPLES
from tests.test_densities import CASES, GAUSSIAN, exact, new_rows

MANY = 40_000


def assert_mean(values, expected):
    """The mean of random values is what it should be, within five standard errors."""
    error = np.std(values) / np.sqrt(len(values))
    assert np.mean(values) == pytest.approx(expected, abs=5 * error + 1e-12)


def blocks_of(likelihood, X, *blocks):
    """What blocks of some rows say of a new row."""
    bound = grown_bound(likelihood.bind(X), len(blocks))
    for k, rows in enumerate(blocks):
        clear(bound, k)
        for i in rows:
            add(bound, k, i)
    return likelihood.blocks(bound, np.arange(len(blocks)))


@pytest.mark.parametrize(("name", "d"), CASES)
def test_drawn_parameters_have_the_law_that_two_new_rows_reveal(name, d):
    """E f(x) is the predictive of x, and E f(x) f(y) that of x and then y."""
    X = exact(name, d)[1]
    X[3:] = X[:3].mean(axis=0) + X[:3].std(axis=0) * [[0.5], [-0.2]]
    likelihood = GAUSSIAN[name]()
    bound = likelihood.bind(X)
    blocks = blocks_of(likelihood, X, [0, 1, 2], [0, 1, 2, 3])
    V = (X[3:] - bound.centre) / bound.unit
    once = blocks.log_density(V)
    many = blocks.select(np.zeros(MANY, int))
    f, g = np.exp(many.log_density_drawn(V, np.random.default_rng(d)))
    assert_mean(f, np.exp(once[0, 0]))
    assert_mean(g, np.exp(once[1, 0]))
    assert_mean(f * g, np.exp(once[0, 0] + once[1, 1]))


@pytest.mark.parametrize("prior", PRIOR_EXAMPLES)
def test_drawn_weights_have_the_moments_of_the_urn(prior):
    sizes, rng = np.array([4, 1]), np.random.default_rng(0)
    weights = np.array([prior.draw_weights(sizes, rng) for _ in range(4000)])
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    urn = np.exp(prior.predictive(sizes))
    first, second = (np.exp(prior.predictive(sizes + at)) for at in ([1, 0], [0, 1]))
    for k in range(3):
        assert_mean(weights[:, k], urn[k])
        assert_mean(weights[:, 0] * weights[:, k], urn[0] * first[k])
        assert_mean(weights[:, 1] * weights[:, k], urn[1] * second[k])


def test_a_full_mixture_leaves_nothing_for_other_clusters():
    weights = FiniteDirichlet(2, 1.0).draw_weights(np.array([4, 1]), np.random.default_rng(0))
    assert weights[2] == 0.0


@pytest.mark.parametrize("name", GAUSSIAN)
@pytest.mark.parametrize("prior", [DirichletProcess(), FiniteDirichlet(2, 0.7)])
def test_random_densities_average_to_those_of_their_draw(name, prior):
    fitted, X = exact(name, 2, prior)
    rows = np.vstack([new_rows(X, 4), X.mean(axis=0) + 30 * X.std(axis=0)])
    for r in np.flatnonzero(fitted.posterior.weights[0] > 0)[[0, 3, 7]]:
        draws = np.full(2000, r)
        found = random_log_densities(fitted, prior, rows, draws, np.random.default_rng(r))
        expected = np.exp(draw_log_densities(fitted, rows, np.array([r]))[0])
        for values, value in zip(np.exp(found).T, expected, strict=True):
            assert_mean(values, value)


@pytest.mark.parametrize("name", GAUSSIAN)
def test_random_densities_of_a_column_are_those_of_all_without_the_others(name):
    """Mean and mean square of the random density of column 1, by a sum over column 0."""
    prior = DirichletProcess(1.0)
    fitted, X = exact(name, 2, prior)
    r = int(np.argmax(fitted.posterior.weights[0]))
    centre, spread = X.mean(axis=0), X.std(axis=0)
    step, width = spread[0] / 4, np.arange(-100, 101)
    at = [np.column_stack([centre[0] + width * step, np.full(201, x)]) for x in X[:2, 1]]
    draws = np.full(4000, r)
    whole = random_log_densities(fitted, prior, np.vstack(at), draws, np.random.default_rng(0))
    summed = np.exp(whole).reshape(4000, 2, 201).sum(axis=2) * step
    alone = np.exp(
        random_log_densities(fitted, prior, X[:2, 1:], draws, np.random.default_rng(1), [1])
    )
    expected = densities.draw_log_densities(fitted, X[:2, 1:], draws[:1], [1])
    for a, b, mean in zip(summed.T, alone.T, np.exp(expected[0]), strict=True):
        assert_mean(b, mean)
        error = np.hypot(np.std(a**2), np.std(b**2)) / np.sqrt(4000)
        assert np.mean(a**2) == pytest.approx(np.mean(b**2), abs=5 * error)


@pytest.mark.parametrize("name", GAUSSIAN)
def test_densities_of_columns_by_draw_average_to_the_marginal_density(name):
    fitted, X = exact(name, 3)
    weights = fitted.posterior.weights[0]
    used = np.flatnonzero(weights > 0)
    for columns in ([1], [2, 0]):
        found = densities.draw_log_densities(fitted, X[:4, columns], used, columns)
        density = densities.marginal(fitted, columns, None)
        np.testing.assert_allclose(
            weights[used] @ np.exp(found), np.exp(density.score_samples(X[:4, columns]))
        )
    whole = densities.draw_log_densities(fitted, X[:4], used, [0, 1, 2])
    np.testing.assert_allclose(whole, draw_log_densities(fitted, X[:4], used))


def test_bands_hold_the_truth_as_often_as_they_say():
    """Over data from the model itself, for one cluster that is known to be one."""
    rng, repetitions, covered = np.random.default_rng(0), 100, 0
    likelihood = NormalInverseGamma(mean=0.0, kappa=0.5, shape=2.0, scale=1.0)
    prior, labels = DirichletProcess(1e-9), np.zeros(8, int)
    one = Posterior(labels[None, None])
    urn = urn_weights(prior, one)
    for _ in range(repetitions):
        variance = 1.0 / rng.gamma(2.0)
        mean = np.sqrt(variance / 0.5) * rng.standard_normal()
        X = mean + np.sqrt(variance) * rng.standard_normal((8, 1))
        fitted = Fitted(likelihood, likelihood.bind(X), one, urn, labels)
        drawn = random_log_densities(fitted, prior, np.array([[0.3]]), np.zeros(100, int), rng)
        low, high = np.quantile(drawn, [0.05, 0.95])
        covered += low < norm.logpdf(0.3, mean, np.sqrt(variance)) < high
    low, high = binom.ppf([1e-4, 1 - 1e-4], repetitions, 0.9)
    assert low <= covered <= high


def two_alphas():
    """One cluster of four rows, with a small alpha and a large one."""
    X = np.array([[-1.0], [-0.7], [1.2], [0.9]])
    likelihood, labels = NormalInverseGamma(), np.zeros((1, 2, 4), int)
    posterior = Posterior(labels, traces={"alpha": np.array([[0.2, 100.0]])})
    urn = urn_weights(DirichletProcess(), posterior)
    return Fitted(likelihood, likelihood.bind(X), posterior, urn, labels[0, 0])


def test_random_weights_have_the_parameters_of_their_draw():
    """Far from all rows the density is that of other clusters, times their weight."""
    fitted, prior = two_alphas(), DirichletProcess()
    far, rng = np.array([[1e3]]), np.random.default_rng(0)
    few, many = (
        np.exp(random_log_densities(fitted, prior, far, np.full(500, r), rng)) for r in (0, 1)
    )
    assert many.mean() / few.mean() == pytest.approx((100 / 104) / (0.2 / 4.2), rel=0.2)


def test_rows_of_other_clusters_enter_by_their_mean():
    fitted, far = two_alphas(), np.array([[30.0]])
    rng = np.random.default_rng(0)
    found = random_log_densities(fitted, DirichletProcess(), far, np.ones(300, int), rng)
    assert np.std(found) < 0.1  # as little as their weight varies
