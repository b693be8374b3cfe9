"""How sure the place of each item is, on plain label arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnpcluster.partitions import label_draws


def item_uncertainty(
    draws: ArrayLike,
    estimate: ArrayLike,
    loss: str | None = None,
    *,
    weights: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Expected disagreement of each item between an estimate and the draws.

    Parameters
    ----------
    draws : array-like of shape (n_draws, n_items) or (n_chains, n_draws, n_items)
        Integer labels.
    estimate : array-like of shape (n_items,)
        Integer labels of the partition to judge, for instance from `point_estimate`.
    loss : {"vi", "binder"} or None, default=None
        None for the share of the item's companions that differ; a loss for the item's part in the
        expected loss.
    weights : array-like, optional
        Weight of each draw; equal by default. They need not sum to one.

    Returns
    -------
    ndarray of shape (n_items,)
        With `loss=None` between 0 and 1: the mean over the draws of ``1 - both / either``. Of the
        items in the item's cluster A of the estimate and in its cluster B of the draw, `both` are
        in both and `either` in at least one. It is 0 if the item has the same companions in all
        draws, and does not depend on the number of items beyond them. With a loss the values sum
        to `expected_loss`: for "vi" the mean of ``log(size of A / both) + log(size of B / both)``,
        over n_items, at most ``2 log(n_items) / n_items``; for "binder" half the expected number of
        other items about which the two disagree, at most ``(n_items - 1) / 2``.

    Examples
    --------
    >>> from bnpcluster.partitions import item_uncertainty
    >>> draws = [[0, 0, 0, 1], [0, 0, 1, 1]]
    >>> item_uncertainty(draws, [0, 0, 0, 1]).round(3).tolist()
    [0.167, 0.167, 0.375, 0.25]
    >>> item_uncertainty(draws, [0, 0, 0, 1], "binder").tolist()
    [0.25, 0.25, 0.75, 0.25]
    """
    matrix = label_draws.as_draws(draws)
    labels = label_draws.as_labels(estimate, matrix.shape[1])
    mass = label_draws.as_weights(weights, len(matrix))
    return label_draws.item_terms(labels, matrix, mass / mass.sum(), loss)
