"""The contract of the operations on parameters, for every likelihood that has them."""

import math

import numpy as np
import pytest
from scipy.stats import invgamma, invwishart, multivariate_normal, norm

from bnpcluster._core import operations as ops
from bnpcluster._core.jit import kernel
from bnpcluster._core.parameter_operations import (
    TILE,
    add_log_densities,
    add_row,
    add_rows,
    bound_log_densities,
    draw_parameters,
    gather,
    log_density,
    log_density_of_parameters,
    new_scratch,
    new_sums,
    put_sums,
)
from bnpcluster._core.state import State
from bnpcluster.likelihoods import (
    LIKELIHOODS,
    Bernoulli,
    Categorical,
    Columns,
    NormalInverseGamma,
    NormalInverseWishart,
    Poisson,
)
from bnpcluster.likelihoods.gaussian.niw_planar import planar_moments
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import Blocked
from bnpcluster.samplers.base import can_sample

N, K = 700, 3  # rows and blocks: six tiles, the last of which is not full


def rows(likelihood, d):
    """Rows that a likelihood takes, with clusters that overlap."""
    rng = np.random.default_rng(d)
    centre = rng.normal(size=(N, 1)) + np.arange(N)[:, None] % K
    if isinstance(likelihood, (Bernoulli, Categorical)):
        return np.clip(np.rint(centre + rng.normal(size=(N, d))), 0, 1)
    if isinstance(likelihood, Poisson):
        return rng.poisson(np.exp(0.5 * centre), size=(N, d)).astype(float)
    X = 0.5 * centre + rng.normal(size=(N, d)) @ rng.normal(size=(d, d))
    if d == 24:
        X += 30.0 * (np.arange(N)[:, None] % K)
    if isinstance(likelihood, Columns):
        X[:, 1] = rng.random(N) < 0.5
    return X


CASES = {
    "planar": (NormalInverseWishart(), 2),
    "niw-1": (NormalInverseWishart(), 1),
    "niw-3": (NormalInverseWishart(), 3),
    "niw-8": (NormalInverseWishart(), 8),
    "niw-19": (NormalInverseWishart(), 19),
    "apart": (NormalInverseWishart(), 24),
    "nig": (NormalInverseGamma(), 4),
    "bernoulli": (Bernoulli(), 5),
    "categorical": (Categorical(), 5),
    "poisson": (Poisson(), 3),
    "columns": (Columns([("niw", [0, 2]), ("bernoulli", 1)]), 3),
}


def filled(name):
    """A state whose first K slots have rows, and parameters drawn from them."""
    likelihood, d = CASES[name]
    bound = likelihood.bind(rows(likelihood, d))
    state = State(bound, DirichletProcess(1.0), np.arange(N) % K)
    return state, draw_parameters(state.problem.likelihood, K, np.random.default_rng(1))


@kernel
def densities(lik, parameters, i, out):
    for k in range(len(out)):
        out[k] = log_density(lik, parameters, k, i)


@kernel
def score_tile(lik, parameters, tile, blocks, slack, scratch, scores):
    add_log_densities(lik, parameters, tile, blocks, slack, scratch, scores)


@kernel
def bound_tile(lik, parameters, tile, scratch, low, high):
    return bound_log_densities(lik, parameters, tile, scratch, low, high)


@kernel
def sum_row(lik, parameters, sums, k, i):
    add_row(lik, parameters, sums, k, i)


@kernel
def sum_tile(lik, parameters, sums, tile, labels, scratch):
    add_rows(lik, parameters, sums, tile, labels, scratch)


@kernel
def fill_slot(lik, slot, parameters, sums, k, m):
    return put_sums(lik, slot, parameters, sums, k, m)


def tiles(lik):
    """Tiles of all rows in the order of the likelihood; the last one repeats its first row."""
    items = gather(lik, np.arange(N))
    assert sorted(items) == list(range(N))
    for start in range(0, N, TILE):
        tile = items[start : start + TILE]
        yield np.concatenate([tile, np.full(TILE - len(tile), tile[0])]), len(tile)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("slack", [math.inf, 5.0])
def test_tiles_have_the_densities_of_their_rows(name, slack):
    """What is left out is far below the largest; -inf stays."""
    state, drawn = filled(name)
    lik, expected, n_left = state.problem.likelihood, np.zeros(K), 0
    scratch = new_scratch(lik, K)
    weights = np.array([0.0, -1.0, 3.0])
    for tile, _ in tiles(lik):
        blocks, scores = np.array([2, 0, 1]), np.zeros((3, TILE))
        scores[:] = weights[blocks][:, None]
        scores[0, ::3] = -math.inf
        before = scores.copy()
        score_tile(lik, drawn, tile, blocks, slack, scratch, scores)
        for r, i in enumerate(tile):
            densities(lik, drawn, i, expected)
            found, exact = scores[:, r], before[:, r] + expected[blocks]
            gone = np.isneginf(found)
            gone &= np.isfinite(exact)  # the others were left out before
            n_left += gone.sum()
            np.testing.assert_allclose(found[~gone], exact[~gone], rtol=1e-11, atol=1e-11)
            assert (exact[gone] < exact.max() - slack).all()
    assert bool(n_left) == (name == "apart" and slack == 5.0)


@pytest.mark.parametrize("name", CASES)
def test_bounds_hold_for_all_rows_of_a_tile(name):
    state, drawn = filled(name)
    lik, expected, bounds = state.problem.likelihood, np.zeros(K), np.zeros((2, K))
    for tile, _ in tiles(lik):
        bounded = bound_tile(lik, drawn, tile, new_scratch(lik, K), *bounds)
        assert bounded == (name == "planar")
        for i in tile if bounded else ():
            densities(lik, drawn, i, expected)
            assert (bounds[0] <= expected + 1e-9).all()
            assert (expected <= bounds[1] + 1e-9).all()
    if name == "planar":
        assert (bounds[1] - bounds[0]).min() < 50  # of use


@pytest.mark.parametrize("name", CASES)
def test_sums_fill_the_slots_that_rows_fill(name):
    """Row by row and by the tile; in a slot that was used before."""
    state, drawn = filled(name)
    lik = state.problem.likelihood
    by_row, by_tile = new_sums(lik, K), new_sums(lik, K)
    scratch = new_scratch(lik, K)
    for tile, count in tiles(lik):
        labels = np.where(np.arange(TILE) < count, tile % K, -1)
        sum_tile(lik, drawn, by_tile, tile, labels, scratch)
    for i in range(N):
        sum_row(lik, drawn, by_row, i % K, i)
    sizes = np.bincount(np.arange(N) % K)
    items = range(0, N, 7)
    for k, sums in ((0, by_row), (2, by_tile), (1, by_tile)):
        expected = [ops.log_predictive(lik, k, i) for i in items]
        marginal = ops.log_marginal(lik, k)
        assert fill_slot(lik, K + 1, drawn, sums, k, sizes[k])
        found = [ops.log_predictive(lik, K + 1, i) for i in items]
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        assert ops.log_marginal(lik, K + 1) == pytest.approx(marginal, rel=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_parameters_are_drawn_from_the_density_of_parameters(name):
    """By Bayes, p(theta | block) m(block) = p(theta) prod f: for each draw, from each slot."""
    state, drawn = filled(name)
    lik, labels = state.problem.likelihood, state.labels
    for k in range(K):
        density = sum(log_density(lik, drawn, k, i) for i in np.flatnonzero(labels == k))
        prior = log_density_of_parameters(lik, K, drawn, k)
        posterior = log_density_of_parameters(lik, k, drawn, k)
        marginal = ops.log_marginal(lik, k)
        assert posterior + marginal == pytest.approx(prior + density, rel=1e-9)


@pytest.mark.parametrize("name", ["planar", "niw-3", "nig"])
def test_densities_of_gaussian_parameters_are_the_closed_forms(name):
    """Of a mean and a covariance, or of means and variances, in internal units."""
    state, drawn = filled(name)
    lik, k = state.problem.likelihood, 1
    m = lik.size[k]
    r, shape = lik.prior + np.array([1.0, 0.5 if name == "nig" else 1.0]) * m
    if name == "nig":
        variance = drawn.root[k] ** -2
        expected = invgamma(shape, scale=lik.rate[:, k]).logpdf(variance).sum()
        expected += norm(lik.mean[:, k], np.sqrt(variance / r)).logpdf(drawn.mean[k]).sum()
    else:
        covariance = np.linalg.inv(drawn.root[k].T @ drawn.root[k])
        if name == "planar":
            mean, chol = planar_moments(lik, k)
            scale = chol @ chol.T
        else:
            mean, scale = lik.mean[k], np.tril(lik.scatter[k]) + np.tril(lik.scatter[k], -1).T
        expected = invwishart(shape, scale).logpdf(covariance)
        expected += multivariate_normal(mean, covariance / r).logpdf(drawn.mean[k])
    assert log_density_of_parameters(lik, k, drawn, k) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["planar", "niw-3", "nig", "bernoulli", "categorical", "poisson"])
def test_the_mean_density_of_a_row_is_its_predictive(name):
    """Over draws of the parameters, from a slot of few rows and from an empty one."""
    likelihood, d = CASES[name]
    X = rows(likelihood, d)[:12]
    state = State(likelihood.guessed().bind(X), DirichletProcess(1.0), np.arange(12) // 6)
    lik, rng = state.problem.likelihood, np.random.default_rng(4)
    found = np.zeros((3000, 12))
    for values in found:
        drawn = draw_parameters(lik, 2, rng)
        values[:] = [math.exp(log_density(lik, drawn, 1 - (i // 6), i)) for i in range(12)]
    expected = [math.exp(ops.log_predictive(lik, 1 - (i // 6), i)) for i in range(12)]
    error = found.std(axis=0) / math.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - expected) < 5 * error + 1e-12).all()


def test_sums_that_lose_digits_say_so():
    """Columns that are copies of one another up to 1e-9, under a tiny scale."""
    rng = np.random.default_rng(0)
    for d in (2, 3):
        likelihood = NormalInverseWishart(mean=0.0, kappa=1.0, nu=d + 2.0, scale=1e-18)
        X = rng.normal(size=(50, 1)) + 1e-9 * rng.normal(size=(50, d))
        state = State(likelihood.bind(X), DirichletProcess(1.0), np.zeros(50, int))
        lik = state.problem.likelihood
        drawn, sums = draw_parameters(lik, 1, rng), new_sums(lik, 1)
        for i in range(50):
            sum_row(lik, drawn, sums, 0, i)
        assert not fill_slot(lik, 1, drawn, sums, 0, 50)


def test_a_part_that_lost_its_digits_is_heard():
    rng = np.random.default_rng(0)
    tiny = NormalInverseWishart(mean=0.0, kappa=1.0, nu=4.0, scale=1e-18)
    X = rng.normal(size=(50, 1)) + 1e-9 * rng.normal(size=(50, 3))
    for parts in ([(tiny, [0, 1]), ("nig", 2)], [("nig", 2), (tiny, [0, 1])]):
        state = State(Columns(parts).bind(X), DirichletProcess(1.0), np.zeros(50, int))
        lik = state.problem.likelihood
        drawn, sums = draw_parameters(lik, 1, rng), new_sums(lik, 1)
        for i in range(50):
            sum_row(lik, drawn, sums, 0, i)
        assert not fill_slot(lik, 1, drawn, sums, 0, 50)


def test_every_likelihood_without_missing_entries_is_served():
    served = {
        name
        for name, cls in LIKELIHOODS.items()
        for likelihood, X in cls.examples(np.random.default_rng(1))
        if can_sample(Blocked, likelihood.bind(X))
    }
    assert served == {*LIKELIHOODS} - {"pyclone"}
