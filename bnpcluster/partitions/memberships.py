"""How surely items belong to the clusters of a point estimate, over the draws of a posterior."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnpcluster.partitions import label_draws


def certainty(posterior: Any, labels: NDArray[np.intp]) -> NDArray[np.float64]:
    """The mean probability that an item shares a block with the items of its own cluster.

    Each draw counts the items of the cluster in the block of the item. Nothing of size n x n is
    computed.
    """
    flat, weights = label_draws.as_draws(posterior.labels), posterior.weights.ravel()
    n_clusters, result = int(labels.max()) + 1, np.zeros(len(labels))
    for part, rows, _ in label_draws.chunks(flat):
        for row, weight in zip(rows, weights[part], strict=True):
            cell = row.astype(np.intp) * n_clusters + labels
            result += weight * np.bincount(cell)[cell]
    return np.minimum(result / np.bincount(labels)[labels], 1.0)  # up to rounding it is no more


def membership(posterior: Any, labels: NDArray[np.intp]) -> NDArray[np.float64]:
    """Probability of each cluster of the point estimate for each clustered item.

    In each draw, an item belongs to a block. The probability of a cluster is the share of that
    block's items that are in the cluster, averaged over draws. The draws already know the item, so
    their weights stay as they are. For new rows, `predict_proba` weights each draw by the density
    that it gives to the row, too.
    """
    n_clusters, result = int(labels.max()) + 1, np.zeros((len(labels), int(labels.max()) + 1))
    flat, weights = label_draws.as_draws(posterior.labels), posterior.weights.ravel()
    for part, some, n_blocks in label_draws.chunks(flat):
        for row, size, weight in zip(some, n_blocks, weights[part], strict=True):
            cell = row.astype(np.intp) * n_clusters + labels
            counts = np.bincount(cell, minlength=size * n_clusters).reshape(size, n_clusters)
            result += (weight * counts / counts.sum(axis=1, keepdims=True))[row]
    return np.minimum(result, 1.0)  # up to rounding it is no more


def own_membership(posterior: Any, labels: NDArray[np.intp]) -> NDArray[np.float64]:
    """The probability of each row's own cluster; rows in none are a cluster of their own here."""
    own = np.where(labels < 0, labels.max() + 1, labels)
    return membership(posterior, own)[np.arange(len(own)), own]
