"""How certain the cluster of each item is, on plain label arrays."""

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
        Integer labels of the partition to judge, for example from `point_estimate`.
    loss : {"vi", "binder"} or None, default=None
        None: the share of the item's companions that differ. With a loss: the item's part in the
        expected loss.
    weights : array-like, optional
        Weight of each draw; equal by default. They need not sum to one.

    Returns
    -------
    ndarray of shape (n_items,)
        With `loss=None`, the mean over the draws of ``1 - both / either``, from 0 to 1. Let A be
        the item's cluster in the estimate and B its cluster in the draw: `both` items are in A and
        B, and `either` items are in at least one of them. It is 0 if the item has the same
        companions in all draws, and does not depend on the number of other items. With a loss, the
        values sum to `expected_loss`. For "vi" a value is the mean of
        ``log(size of A / both) + log(size of B / both)``, over n_items; it is at most
        ``2 log(n_items) / n_items``. For "binder" it is half the expected number of other items on
        which estimate and draw disagree; it is at most ``(n_items - 1) / 2``.

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
