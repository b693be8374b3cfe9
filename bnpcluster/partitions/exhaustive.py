"""Few items: all their partitions, and the one with the smallest expected loss.

Up to a constant, the exact expected loss of `search` is a sum over the clusters of the candidate.
So each term is computed once for each set of items (bit i of a number represents item i), and the
loss of every partition is the sum over its blocks.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from bnpcluster.partitions import label_draws
from bnpcluster.partitions.search import Objective

FEW_ITEMS = 10  # they have 115,975 partitions; with one item more, a search is faster
ROUNDING = 1e-12  # rounding of an expected loss, relative to the gain of one cluster of all items


def all_partitions(n: int) -> np.ndarray:
    """List all partitions of n items, one per row, with clusters in order of appearance.

    Parameters
    ----------
    n : int
        The number of items.

    Returns
    -------
    partitions : ndarray of shape (n_partitions, n)

    Examples
    --------
    >>> from bnpcluster.testing import all_partitions
    >>> all_partitions(3).tolist()
    [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 1, 2]]
    """
    rows = np.zeros((1, 1), dtype=np.intp)
    for _ in range(n - 1):
        choices = rows.max(axis=1) + 2
        first = np.repeat(np.cumsum(choices) - choices, choices)
        last = np.arange(len(first)) - first  # 0, 1, .., one above the largest label of the row
        rows = np.column_stack([np.repeat(rows, choices, axis=0), last])
    return rows


def best_of_all(
    draws: NDArray[np.int32], weights: NDArray[np.float64], objective: Objective
) -> NDArray[np.int32]:
    """Labels of the partition with the smallest expected loss; the first one if several tie."""
    n = draws.shape[1]
    partitions, blocks = _partitions_and_blocks(n)
    added = _added_loss(draws, weights, objective)
    allowed = partitions.max(axis=1) < objective.max_clusters
    losses = np.where(allowed, added[blocks].sum(axis=1), np.inf)
    rounding = ROUNDING * n * label_draws.block_gain(objective.loss, n)[-1]
    return partitions[np.argmax(losses <= losses.min() + rounding)].astype(np.int32)


@cache
def _partitions_and_blocks(n: int) -> tuple[NDArray[np.int8], NDArray[np.int16]]:
    """All partitions and their blocks."""
    partitions = all_partitions(n).astype(np.int8)
    return partitions, _block_sets(partitions).astype(np.int16)


def _block_sets(partitions: NDArray) -> NDArray[np.int64]:
    """The blocks of each partition as sets of items, padded with empty sets to n blocks."""
    n = partitions.shape[1]
    bits = 1 << np.arange(n)
    return np.stack([(partitions == b) @ bits for b in range(n)], axis=1)


def _added_loss(
    draws: NDArray[np.int32], weights: NDArray[np.float64], objective: Objective
) -> NDArray[np.float64]:
    """(2 - c) f(m) - 2 sum_r w_r sum_b f(m_rb) of every set of m items, with m_rb in block b.

    A block that many draws share is handled once, with the weight of all of them.
    """
    n, blocks = draws.shape[1], _block_sets(draws)
    sets = np.arange(2**n)
    sizes = ((sets[:, None] >> np.arange(n)) & 1).sum(axis=1)
    f = (sizes * label_draws.block_gain(objective.loss, n)[sizes]).astype(float)
    shares = np.broadcast_to((weights / weights.sum())[:, None], blocks.shape)
    share = np.bincount(blocks.ravel(), shares.ravel(), minlength=len(sets))
    result = (2.0 - objective.cost) * f
    for block in np.flatnonzero(share[1:]) + 1:
        result -= 2.0 * share[block] * f[sets & block]
    return result
