"""The posterior means of missing entries, averaged over the draws of a posterior.

For rows of the fit, each draw uses the block of the row. For new rows, the distribution of the
missing entries given the observed ones is the ratio of two posterior predictive densities. So a
draw counts in proportion to the density that it gives to the observed entries.
"""

from __future__ import annotations

import numpy as np

from bnpcluster._fitting.fitted import Fitted
from bnpcluster._predict.kernels import write_log_weights
from bnpcluster._predict.predictive import load, new_workspace


def impute(fitted: Fitted, X: np.ndarray, members: np.ndarray | None = None) -> np.ndarray:
    """`X` with every NaN replaced; `members`: the items of the fit, if the rows are such items."""
    incomplete = np.flatnonzero(np.isnan(X).any(axis=1))
    result = X.copy()
    if len(incomplete):
        items = None if members is None else members[incomplete]
        expected = _expected(fitted, X[incomplete], items)
        result[incomplete] = fitted.likelihood.filled(fitted.bound, X[incomplete], expected)
    return result


def _expected(fitted: Fitted, X: np.ndarray, items: np.ndarray | None) -> np.ndarray:
    """The expectations of the likelihood at each row, averaged over the draws."""
    bound, partition = new_workspace(fitted)
    new = fitted.likelihood.rows(bound, X)
    labels = fitted.posterior.labels.reshape(-1, fitted.posterior.n_items)
    weights = fitted.posterior.weights.ravel()
    # Running log-sum-exp over draws, as in predictions.
    top, total, sums = np.full(len(X), -np.inf), np.zeros((len(X), 1)), np.zeros((len(X), 1))
    for r in np.flatnonzero(weights):
        load(fitted, bound, partition, r, new)
        if items is None:
            share = np.full((len(X), fitted.log_urn.shape[1]), -np.inf)
            write_log_weights(new, partition, share)
        else:
            own = labels[r, items][:, None] == np.arange(fitted.log_urn.shape[1])
            share = np.where(own, 0.0, -np.inf)
        level = share.max(axis=1)
        higher = np.maximum(top, level)
        old = np.exp(top - higher)[:, None]
        share = weights[r] * np.exp(share - higher[:, None])
        total = total * old + share.sum(axis=1, keepdims=True)
        sums = sums * old + fitted.likelihood.expected(bound, new, share, items)
        top = higher
    return sums / total
