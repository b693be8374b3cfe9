"""Sums over draws keep their digits, and have values where densities are zero."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import logsumexp

from bnpcluster._fitting.fitted import Fitted, urn_weights
from bnpcluster._predict.predictive import draw_log_densities, predict
from bnpcluster.extending import Likelihood, add, clear, log_predictive, remove
from bnpcluster.likelihoods import Bernoulli
from bnpcluster.posterior import Posterior
from bnpcluster.priors import DirichletProcess, FiniteDirichlet

ORDERS = pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 0, 2]])


def fit_of(likelihood, prior, X, draws, weights, estimate):
    posterior = Posterior(np.array(draws)[None], weights=np.array(weights)[None])
    urn = urn_weights(prior, posterior)
    return Fitted(likelihood, likelihood.bind(X), posterior, urn, np.array(estimate))


def shares_of(labels, estimate):
    """By block: the share of its items that is in each cluster of the estimate."""
    blocks = [estimate[labels == b] for b in range(labels.max() + 1)]
    return np.array([np.bincount(b, minlength=estimate.max() + 1) / len(b) for b in blocks])


def predicted_by_hand(X, row, draws, weights, estimate):
    """The prediction of a 0/1 row, with logarithms of every sum; Beta(1, 1), alpha = 1."""
    n, d = X.shape
    log_p, log_new, log_members = [], [], []
    for labels, weight in zip(draws, weights, strict=True):
        sizes = np.bincount(labels)
        matches = np.array([(X[labels == b] == row).sum(axis=0) for b in range(len(sizes))])
        log_blocks = np.log((1.0 + matches) / (2.0 + sizes[:, None])).sum(axis=1)
        log_blocks += np.log(weight * sizes / (n + 1.0))
        log_new.append(np.log(weight / (n + 1.0)) - d * np.log(2.0))
        log_p.append(logsumexp([*log_blocks, log_new[-1]]))
        shares = shares_of(labels, estimate)
        log_members.append(logsumexp(log_blocks[:, None], axis=0, b=shares))
    log_p, log_membership = np.array(log_p), logsumexp(log_members, axis=0)
    return (
        logsumexp(log_p),
        np.exp(logsumexp(log_new) - logsumexp(log_p)),
        np.exp(log_membership - logsumexp(log_membership)),
        np.exp(2.0 * logsumexp(log_p) - logsumexp(2.0 * log_p)),
    )


@ORDERS
@pytest.mark.parametrize("weights", [[0.5, 0.3, 0.2], [1.0, 1e-200, 3e-170]])
@pytest.mark.parametrize("n_flipped", [0, 500, 1000, 2000])
def test_rows_far_from_all_clusters_keep_their_digits(n_flipped, weights, order):
    """Densities of e^-1400, of which all clusters together have a share of down to e^-4800."""
    rng = np.random.default_rng(1)
    d, estimate = 2000, np.repeat([0, 1], [40, 20])
    centres = rng.integers(2, size=(2, d))
    X = np.abs(centres[estimate] - (rng.random((60, d)) < 0.02)) * 1.0
    row = centres[1] * 1.0
    row[:n_flipped] = 1.0 - row[:n_flipped]
    draws = np.array([estimate, estimate, estimate])
    draws[1, 40:45] = 0
    draws[2, [3, 41, 50]] = 2
    draws, weights = draws[order], np.array(weights)[order]
    fitted = fit_of(Bernoulli(a=1.0, b=1.0), DirichletProcess(1.0), X, draws, weights, estimate)
    expected = predicted_by_hand(X, row, draws, weights / weights.sum(), estimate)
    for found, value in zip(predict(fitted, row[None]), expected, strict=True):
        np.testing.assert_allclose(found[0], value, rtol=1e-9, atol=1e-15)


class Cells(Likelihood):
    """A row is the number of a cell. A block has density 1 if all its items are in the cell.

    A new block has density 1 in the first `n_open` cells. These are no distributions, but every
    density is zero somewhere.
    """

    def __init__(self, n_cells=4, n_open=3):
        self.n_cells, self.n_open = n_cells, n_open

    def bind(self, X, capacity=16):
        counts = np.zeros((capacity, self.n_cells))
        return self.rows(CellSlots(X, np.array([self.n_open]), counts), X)

    def rows(self, bound, X):
        return bound._replace(cells=X[:, 0].astype(np.intp))


class CellSlots(NamedTuple):
    cells: np.ndarray  # by item
    n_open: np.ndarray
    counts: np.ndarray  # by slot and cell
    slot_axis = {"counts": 0}


@clear.register(CellSlots)
def _clear(lik, k):
    lik.counts[k, :] = 0.0


@add.register(CellSlots)
def _add(lik, k, i):
    lik.counts[k, lik.cells[i]] += 1.0


@remove.register(CellSlots)
def _remove(lik, k, i):
    lik.counts[k, lik.cells[i]] -= 1.0


@log_predictive.register(CellSlots)
def _log_predictive(lik, k, i):
    total = 0.0
    for cell in range(lik.counts.shape[1]):
        total += lik.counts[k, cell]
    if total == 0.0:
        return 0.0 if lik.cells[i] < lik.n_open[0] else -np.inf
    return 0.0 if lik.counts[k, lik.cells[i]] == total else -np.inf


DATA, EVERY_CELL = np.array([[0.0], [0.0], [1.0], [1.0]]), np.arange(4.0)[:, None]
DRAWS = np.array([[0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 0, 1]])
WEIGHTS = np.array([0.5, 0.3, 0.2])
ESTIMATE = np.array([0, 0, 0, 1])


@ORDERS
def test_rows_that_are_impossible_in_some_or_all_blocks(order):
    """In cell 2 only a new block is possible, and in cell 3 nothing."""
    fitted = fit_of(Cells(), DirichletProcess(1.0), DATA, DRAWS[order], WEIGHTS[order], ESTIMATE)
    found = predict(fitted, EVERY_CELL)
    density = np.array([WEIGHTS @ [0.6, 0.2, 0.2], WEIGHTS @ [0.6, 0.2, 0.4], 0.2, 0.0])
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(found.log_density, np.log(density))
    np.testing.assert_allclose(found.novelty, [0.2 / density[0], 0.2 / density[1], 1.0, 1.0])
    # Where no cluster is possible, their weights before the row remain: here their sizes.
    second = 0.5 * 0.4 * np.array([0.5, 0.5]) + 0.2 * 0.2 * np.array([0.0, 1.0])
    expected = [[1.0, 0.0], second / second.sum(), [0.75, 0.25], [0.75, 0.25]]
    np.testing.assert_allclose(found.membership, expected)
    terms = np.array([[0.3, 0.06, 0.04], [0.3, 0.06, 0.08], WEIGHTS, WEIGHTS])
    np.testing.assert_allclose(found.ess, terms.sum(axis=1) ** 2 / (terms**2).sum(axis=1))
    by_draw = draw_log_densities(fitted, EVERY_CELL, np.arange(3))
    with np.errstate(divide="ignore"):
        expected = np.log([[0.6, 0.6, 0.2, 0], [0.2, 0.2, 0.2, 0], [0.2, 0.4, 0.2, 0]])
    np.testing.assert_allclose(by_draw, expected[order])


@ORDERS
def test_rows_that_are_impossible_under_some_draws(order):
    """With two components at most, only the second draw has a new block."""
    prior = FiniteDirichlet(n_components=2, concentration=1.0)
    fitted = fit_of(Cells(), prior, DATA, DRAWS[order], WEIGHTS[order], ESTIMATE)
    found = predict(fitted, EVERY_CELL)
    urn = np.exp(urn_weights(prior, Posterior(DRAWS[None])))
    new = urn[1, 1]
    assert 0.05 < new < 0.5
    assert urn[0, 2] == urn[2, 2] == 0.0
    terms = WEIGHTS * [
        [urn[0, 0], new, 0.0],
        [urn[0, 1], new, urn[2, 1]],
        [0.0, new, 0.0],
    ]
    density = terms.sum(axis=1)
    np.testing.assert_allclose(np.exp(found.log_density), [*density, 0.0])
    expected = [*terms[:2, 1] / density[:2], 1.0, WEIGHTS[1]]
    np.testing.assert_allclose(found.novelty, expected)
    ess = density**2 / (terms**2).sum(axis=1)
    np.testing.assert_allclose(found.ess, [*ess, 1.0 / (WEIGHTS**2).sum()])
    second = terms[1, 0] * np.array([0.5, 0.5]) + terms[1, 2] * np.array([0.0, 1.0])
    none = WEIGHTS @ [urn[s, :k] @ shares_of(DRAWS[s], ESTIMATE) for s, k in enumerate((2, 1, 2))]
    expected = [[1.0, 0.0], second / second.sum(), none / none.sum(), none / none.sum()]
    np.testing.assert_allclose(found.membership, expected)
