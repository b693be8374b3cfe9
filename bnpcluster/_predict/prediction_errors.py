"""Monte Carlo errors of predictions, by the jackknife over parts of the draws.

Consecutive draws of a chain depend on each other. Long parts of a chain hardly do, so parts are
left out as a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from bnpcluster._fitting.fitted import Fitted
from bnpcluster._predict.kernels import Sums
from bnpcluster._predict.predictive import n_components, subset, sums_of

PARTS = 20
MOST_ENTRIES = 1_000_000  # memberships in memory at a time, over all parts


class PredictionErrors(NamedTuple):
    """Monte Carlo standard errors of predictions.

    Attributes
    ----------
    log_density : ndarray, shape (n_rows,)
    novelty : ndarray, shape (n_rows,)
    probabilities : ndarray, shape (n_rows, n_clusters)
    """

    log_density: np.ndarray
    novelty: np.ndarray
    probabilities: np.ndarray


def errors_of(
    fitted: Fitted, X: np.ndarray, of_clusters: Callable[[np.ndarray], np.ndarray]
) -> PredictionErrors:
    """The errors at each row of `X`; `of_clusters` turns memberships of components into theirs."""
    weights = fitted.posterior.weights.ravel()
    draws = np.flatnonzero(weights)
    parts = [
        subset(fitted, some, weights[some])
        for some in np.array_split(draws, min(PARTS, len(draws)))
    ]
    size = max(1, MOST_ENTRIES // (PARTS * (n_components(fitted) + 1)))
    found = [_errors(parts, X[a : a + size], of_clusters) for a in range(0, len(X), size)]
    return PredictionErrors(*(np.concatenate(columns) for columns in zip(*found, strict=True)))


def _errors(
    parts: list[Fitted], X: np.ndarray, of_clusters: Callable[[np.ndarray], np.ndarray]
) -> PredictionErrors:
    """The errors at some rows."""
    sums = [sums_of(part, X, n_components(part)) for part in parts]
    if len(sums) == 1:
        shape = (len(X), of_clusters(sums[0].membership).shape[1])
        return PredictionErrors(*(np.full(s, np.nan) for s in (shape[:1], shape[:1], shape)))
    all_but_one = [_estimates(sums[:b] + sums[b + 1 :], of_clusters) for b in range(len(sums))]
    return PredictionErrors(*(_jackknife(np.array(own)) for own in zip(*all_but_one, strict=True)))


def _estimates(
    sums: list[Sums], of_clusters: Callable[[np.ndarray], np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log density, novelty and memberships from the sums over several parts of the draws."""
    top, scale = (_stacked(sums, name) for name in ("top", "scale"))
    relative = np.exp(top - _finite(top.max(axis=0)))
    relative[:, top.max(axis=0) == -np.inf] = 1.0  # such sums are of the weights of the draws
    total = np.sum(relative * _stacked(sums, "total"), axis=0)
    novelty = np.sum(relative * _stacked(sums, "novelty"), axis=0) / total
    shares = np.exp(scale - _finite(scale.max(axis=0)))
    shares[:, scale.max(axis=0) == -np.inf] = 1.0
    membership = np.sum(shares[:, :, None] * _stacked(sums, "membership"), axis=0)
    membership /= membership.sum(axis=1, keepdims=True)
    log_density = logsumexp(top + np.log(_stacked(sums, "total")), axis=0)
    return log_density, novelty, of_clusters(membership)


def _stacked(sums: list[Sums], name: str) -> np.ndarray:
    """One of the sums, with the parts of the draws first."""
    return np.array([getattr(own, name) for own in sums])


def _finite(values: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(values), values, 0.0)


def _jackknife(estimates: np.ndarray) -> np.ndarray:
    """Standard error from estimates without one of the parts, which are the first axis."""
    n = len(estimates)
    with np.errstate(invalid="ignore"):  # densities of zero have no error
        centred = estimates - estimates.mean(axis=0)
    return np.sqrt((n - 1) / n * np.sum(np.where(np.isnan(centred), 0.0, centred) ** 2, axis=0))
