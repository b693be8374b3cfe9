"""Learned hyper-parameters of discrete data: updates leave the joint posterior invariant."""

import itertools

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import chisquare, gamma

from bnpcluster import DPMixture
from bnpcluster._core.state import State
from bnpcluster.likelihoods import Bernoulli, Categorical, Poisson
from bnpcluster.partitions.exhaustive import all_partitions
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import Gibbs
from bnpcluster.testing.enumeration import log_eppf
from tests.tools.learned_categories import joint_of_categories, log_dirichlet_multinomial

BITS = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
CODES = np.array([[0.0, 1.0], [2.0, 1.0], [2.0, 0.0], [1.0, 1.0]])
COUNTS = np.array([[0.0], [1.0], [4.0], [6.0]])
PRIOR = DirichletProcess(1.0)


def with_hole(X):
    X = X.copy()
    X[2, 0] = np.nan
    return X


CATEGORIES = {
    "bernoulli": (Bernoulli, BITS),
    "bernoulli_missing": (Bernoulli, with_hole(BITS)),
    "categorical": (Categorical, CODES),
    "categorical_missing": (Categorical, with_hole(CODES)),
}


def p_value(found, expected):
    counts = np.bincount(found, minlength=len(expected)).astype(float)
    rare = expected * len(found) < 10
    counts = np.append(counts[~rare], counts[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    filled = expected > 0
    return chisquare(counts[filled], len(found) * expected[filled]).pvalue


def partition_number(partitions, labels):
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    own = np.argsort(np.argsort(first))[inverse]
    return int(np.flatnonzero((partitions == own).all(axis=1))[0])


@pytest.mark.parametrize("beta", [1.0, 0.4])
@pytest.mark.parametrize("name", list(CATEGORIES))
def test_categories(name, beta, n=2500):
    cls, X = CATEGORIES[name]
    bound, rng = cls().bind(X, 8), np.random.default_rng(1)
    grid = bound.hyper.grid
    partitions, p, *_ = joint_of_categories(X, grid, PRIOR, beta)
    found = []
    for cell in rng.choice(p.size, n, p=p.ravel()):
        z, *g = np.unravel_index(cell, p.shape)
        state = State(bound, PRIOR, partitions[z], beta=beta, capacity=8)
        state.set_learned(grid[g])
        Gibbs().step(state, rng)
        state.move_learned(rng)
        after = np.searchsorted(grid, state.learned)
        found.append((partition_number(partitions, state.labels), *after))
    found = np.array(found)
    assert p_value(found[:, 0], p.sum(axis=(1, 2))) > 1e-4
    assert p_value(found[:, 1], p.sum(axis=(0, 2))) > 1e-4
    assert p_value(found[:, 2], p.sum(axis=(0, 1))) > 1e-4
    together = partitions[found[:, 0], 0] == partitions[found[:, 0], 1]
    pair = together * len(grid) + found[:, 1]
    expected = [p[(partitions[:, 0] == partitions[:, 1]) == t].sum(axis=(0, 2)) for t in (0, 1)]
    assert p_value(pair, np.concatenate(expected)) > 1e-4


@pytest.mark.parametrize("name", list(CATEGORIES))
def test_predictive_of_categories(name):
    cls, X = CATEGORIES[name]
    grid = cls().bind(X, 8).hyper.grid
    partitions, p, ones, _ = joint_of_categories(X, grid, PRIOR)
    new = X[[0, 1, 3]]
    expected = np.zeros(len(new))
    for z, labels in enumerate(partitions):
        urn = np.exp(PRIOR.predictive(np.bincount(labels)))
        for k, weight in enumerate(urn):
            block = X[labels == k]
            for i, row in enumerate(new):
                ratio = np.ones((2, len(grid)))
                for j, g in itertools.product(range(2), range(len(grid))):
                    prior = grid[g] * ones[j]
                    joint = log_dirichlet_multinomial(np.append(block[:, j], row[j]), prior)
                    ratio[j, g] = np.exp(joint - log_dirichlet_multinomial(block[:, j], prior))
                expected[i] += weight * (p[z] * ratio[0][:, None] * ratio[1]).sum()
    model = DPMixture(
        alpha=1.0,
        likelihood=cls(),
        sampler="gibbs",
        n_draws=4000,
        n_warmup=100,
        thin=5,
        n_chains=1,
        random_state=0,
    ).fit(X)
    np.testing.assert_allclose(np.exp(model.score_samples(new)), expected, rtol=0.03)


@pytest.mark.parametrize("beta", [1.0, 0.4])
@pytest.mark.parametrize("missing", [False, True])
def test_counts(missing, beta, n=2500):
    X = np.column_stack([COUNTS, [2.0, 1.0, 0.0, 3.0]])
    if missing:
        X = with_hole(X)
    bound, rng = Poisson().bind(X, 8), np.random.default_rng(2)
    hyper, partitions = bound.hyper, all_partitions(len(X))
    log_rho = np.linspace(-9, 5, 300)
    by_column = []
    for j in range(2):
        value = np.zeros((len(partitions), len(hyper.grid), len(log_rho)))
        value += gamma(1.0, scale=hyper.guess[j]).logpdf(np.exp(log_rho)) + log_rho
        value -= 2.0 * np.log(hyper.grid)[:, None]
        for row, labels in zip(value, partitions, strict=True):
            for k in range(labels.max() + 1):
                y = X[labels == k, j]
                y, a = y[~np.isnan(y)], hyper.grid[:, None]
                rate = a * np.exp(log_rho)
                row += beta * (
                    a * np.log(rate)
                    - gammaln(a)
                    + gammaln(a + y.sum())
                    - (a + y.sum()) * np.log(rate + len(y))
                )
        by_column.append(value)
    weight = [np.exp(value - value.max()) for value in by_column]
    p = (
        weight[0].sum(axis=(1, 2))
        * weight[1].sum(axis=(1, 2))
        * np.exp(log_eppf(PRIOR, partitions))
    )
    p /= p.sum()
    found, width = [], log_rho[1] - log_rho[0]
    for z in rng.choice(len(partitions), n, p=p):
        values = np.zeros((2, 2))
        for j in range(2):
            cell = rng.choice(weight[j][z].size, p=(weight[j][z] / weight[j][z].sum()).ravel())
            a, r = np.unravel_index(cell, weight[j][z].shape)
            values[:, j] = hyper.grid[a], np.exp(log_rho[r] + width * (rng.random() - 0.5))
        state = State(bound, PRIOR, partitions[z], beta=beta, capacity=8)
        state.set_learned(values.ravel())
        Gibbs().step(state, rng)
        state.move_learned(rng)
        shape, rho = state.learned.reshape(2, 2)
        cell = np.rint((np.log(rho[0]) - log_rho[0]) / width).astype(int)
        number = partition_number(partitions, state.labels)
        found.append((number, np.searchsorted(hyper.grid, shape[0]), cell))
    found = np.array(found)
    assert p_value(found[:, 0], p) > 1e-4
    shares = weight[0] / weight[0].sum(axis=(1, 2), keepdims=True) * p[:, None, None]
    assert p_value(found[:, 1], shares.sum(axis=(0, 2))) > 1e-4
    cells = shares.sum(axis=(0, 1))
    group = np.minimum((12 * cells.cumsum()).astype(int), 11)
    expected = np.bincount(group, weights=cells, minlength=12)
    assert p_value(group[np.clip(found[:, 2], 0, len(cells) - 1)], expected) > 1e-4


def test_clear_columns_get_a_small_concentration():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    X = (rng.random((200, 8)) < np.where(y[:, None] == np.arange(8) % 2, 0.99, 0.01)).astype(float)
    X[:, 4:] = rng.random((200, 4)) < 0.5
    model = DPMixture(likelihood="bernoulli", n_draws=1500, random_state=0).fit(X)
    concentration = np.median(model.hyper_parameters_["a"], axis=(0, 1))
    assert concentration[:4].max() < concentration[4:].min()
    assert model.n_clusters_ == 2


@pytest.mark.parametrize("start", ["one", "singletons"])
def test_a_cloud_of_zeros_and_ones_stays_whole(start):
    rng = np.random.default_rng(1)
    X = (rng.random((150, 6)) < rng.beta(0.7, 0.7, size=6)).astype(float)
    fit = DPMixture(likelihood="bernoulli", init=start, n_draws=1000, random_state=0).fit(X)
    assert fit.n_clusters_ == 1
