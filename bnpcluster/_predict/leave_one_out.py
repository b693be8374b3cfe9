"""Densities of the rows of a fit, each given all the others, and how strange rows are.

In a draw, a row has chosen a block. Here this choice is forgotten: given the other rows and their
blocks, the row has the density of a new one. A draw from the posterior given the other rows alone
would weigh in inverse proportion to this density. So the density of the row given the others is a
harmonic mean over draws.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from bnpcluster._fitting.fitted import Fitted, prior_of
from bnpcluster._predict.kernels import write_left_out
from bnpcluster._predict.predictive import (
    draw_log_densities,
    load,
    new_workspace,
    predict,
    sample,
    served,
)
from bnpcluster.priors import Prior

REFERENCE = 1000  # draws of new rows that densities are compared with
OTHERS = 200  # of them for each further pattern of missing entries


def left_out(fitted: Fitted, draws: NDArray[np.intp]) -> NDArray[np.float64]:
    """Log density of every row given the others, by draw (rows of the result) and row.

    Where chains sampled missing entries of a row, it stays among the rows that it is judged by.
    """
    bound, partition = new_workspace(fitted)
    result = np.empty((len(draws), fitted.posterior.n_items))
    for row, r in zip(result, draws, strict=True):
        load(fitted, bound, partition, r)
        prior = prior_of(fitted.prior, fitted.posterior, r)
        write_left_out(bound, partition, weights_without(prior, fitted.sizes(r)), row)
    if fitted.latent is not None:
        holes = np.flatnonzero(np.isnan(fitted.X).any(axis=1))
        rows = fitted.X[holes]
        result[:, holes] = draw_log_densities(served(fitted, rows), rows, draws)
    return result


def weights_without(prior: Prior, sizes: NDArray[np.intp]) -> NDArray[np.float64]:
    """Log urn weights after an item of a block was taken out, with the blocks as rows."""
    n_blocks = len(sizes)
    result = np.full((n_blocks, n_blocks + 1), -np.inf)
    for b, size in enumerate(sizes):
        fewer = sizes - (np.arange(n_blocks) == b)
        others = fewer > 0
        weights = prior.predictive(fewer[others])
        result[b, np.flatnonzero(others)] = weights[: others.sum()]
        if len(weights) > others.sum():
            result[b, n_blocks] = weights[-1]
        assert others[b] == (size > 1)
    return result


def given_others(fitted: Fitted, draws: NDArray[np.intp]) -> NDArray[np.float64]:
    """Log density of every row given all others, by the harmonic mean over some draws."""
    weights = fitted.posterior.weights.ravel()[draws]
    logs = left_out(fitted, draws)
    return np.log(weights.sum()) - logsumexp(-logs, b=weights[:, None], axis=0)


def strangeness(fitted: Fitted, X: NDArray, log_density: NDArray) -> NDArray[np.float64]:
    """The probability that a new row has a higher density than each of some rows.

    A row with missing entries is compared with new rows that lack the same entries. A row without
    any value has NaN: nothing is known about it.
    """
    rng = np.random.default_rng(0)
    new = sample(fitted, REFERENCE, rng)
    patterns, kind = np.unique(np.isnan(X), axis=0, return_inverse=True)
    result = np.empty(len(X))
    for p, missing in enumerate(patterns):
        rows = new if not missing.any() else new[:OTHERS].copy()
        rows[:, missing] = np.nan
        own = np.flatnonzero(kind.ravel() == p)
        if missing.all():
            result[own] = np.nan
            continue
        heights = np.sort(predict(served(fitted, rows), rows).log_density)
        result[own] = 1.0 - np.searchsorted(heights, log_density[own], side="right") / len(rows)
    return result
