"""Losses between partitions, on plain label arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnpcluster.partitions import label_draws


def relabel(labels: ArrayLike) -> NDArray[np.int64]:
    """Number clusters from 0, the largest first; ties are in order of the first item.

    Parameters
    ----------
    labels : array-like of shape (n_items,)
        Integer labels.

    Returns
    -------
    ndarray of shape (n_items,)
        The same partition with labels 0, 1, ..., K - 1.

    Examples
    --------
    >>> from bnpcluster.partitions import relabel
    >>> relabel([7, 3, 3, -1, 7, 3]).tolist()
    [1, 0, 0, 2, 1, 0]
    """
    _, first, inverse, sizes = np.unique(
        label_draws.as_labels(labels), return_index=True, return_inverse=True, return_counts=True
    )
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return rank[inverse]


def binder_loss(a: ArrayLike, b: ArrayLike) -> float:
    """Binder's loss: the number of pairs of items on which two partitions disagree.

    Parameters
    ----------
    a, b : array-like of shape (n_items,)
        Integer labels.

    Returns
    -------
    float
        Number of pairs that are together in one partition and apart in the other. This number
        divided by n (n - 1) / 2 is one minus the Rand index.

    References
    ----------
    Binder (1978), Bayesian cluster analysis, Biometrika 65, 31-38.

    Examples
    --------
    >>> from bnpcluster.partitions import binder_loss
    >>> binder_loss([0, 0, 1, 1], [0, 0, 0, 1])
    3.0
    """
    return _loss(a, b, "binder")


def variation_of_information(a: ArrayLike, b: ArrayLike) -> float:
    """Variation of information H(a | b) + H(b | a) between two partitions, in nats.

    Parameters
    ----------
    a, b : array-like of shape (n_items,)
        Integer labels.

    Returns
    -------
    float
        A metric between 0 and log(n_items). Divide by log(2) for bits.

    References
    ----------
    Meila (2007), Comparing clusterings: an information based distance, Journal of Multivariate
    Analysis 98, 873-895.

    Examples
    --------
    >>> from bnpcluster.partitions import variation_of_information
    >>> round(variation_of_information([0, 0, 1, 1], [0, 1, 0, 1]), 6)
    1.386294
    """
    return _loss(a, b, "vi")


def _loss(a: ArrayLike, b: ArrayLike, loss: str) -> float:
    first = label_draws.as_labels(a)
    second = label_draws.as_labels(b, len(first))
    return float(label_draws.distances(first, second[None], loss)[0])


def expected_loss(
    draws: ArrayLike,
    estimate: ArrayLike,
    loss: str = "vi",
    weights: ArrayLike | None = None,
    *,
    cost: float = 1.0,
) -> float:
    """Posterior expected loss of a partition: its mean loss over the draws.

    Parameters
    ----------
    draws : array-like of shape (n_draws, n_items) or (n_chains, n_draws, n_items)
        Integer labels.
    estimate : array-like of shape (n_items,)
        Integer labels of the partition to judge.
    loss : {"vi", "binder"}, default="vi"
        `variation_of_information` or `binder_loss`.
    weights : array-like, optional
        Weight of each draw; equal by default. They need not sum to one.
    cost : float, default=1.0
        Cost of separating two items that are together in a draw. Joining others costs 2 - `cost`.
        Binder's loss multiplies the numbers of such pairs by these costs. The variation of
        information becomes cost H(estimate | draw) + (2 - cost) H(draw | estimate).

    Returns
    -------
    float
        The weighted mean of the losses.

    Examples
    --------
    >>> from bnpcluster.partitions import expected_loss
    >>> expected_loss([[0, 0, 1], [0, 0, 0]], [0, 0, 0], loss="binder")
    1.0
    """
    matrix = label_draws.as_draws(draws)
    labels = label_draws.as_labels(estimate, matrix.shape[1])
    losses = label_draws.distances(labels, matrix, loss, cost)
    return float(np.average(losses, weights=label_draws.as_weights(weights, len(matrix))))
