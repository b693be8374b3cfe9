"""Few items: all their partitions, and the one with the least expected loss.

Target: the exact expected loss of `search`, which is a sum over the clusters of the candidate, up
to a constant. So it is computed once for each set of items (bit i of a number stands for item i),
and that of every partition is the sum over its blocks.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from bnpcluster.partitions import label_draws
from bnpcluster.partitions.search import Objective

FEW_ITEMS = 10  # they have 115,975 partitions; one item more, and a search takes less time
ROUNDING = 1e-12  # of an expected loss, as a share of what all items in one cluster gain


def all_partitions(n: int) -> np.ndarray:
    """All partitions of n items, one per row, clusters numbered in order of appearance.

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


def least(
    draws: NDArray[np.int32], weights: NDArray[np.float64], objective: Objective
) -> NDArray[np.int32]:
    """Labels of the partition with the least expected loss; of equally good ones, the first."""
    n = draws.shape[1]
    partitions, blocks = _listed(n)
    added = _added_loss(draws, weights, objective)
    allowed = partitions.max(axis=1) < objective.max_clusters
    losses = np.where(allowed, added[blocks].sum(axis=1), np.inf)
    rounding = ROUNDING * n * label_draws.block_gain(objective.loss, n)[-1]
    return partitions[np.argmax(losses <= losses.min() + rounding)].astype(np.int32)


@cache
def _listed(n: int) -> tuple[NDArray[np.int8], NDArray[np.int16]]:
    """All partitions and their blocks."""
    partitions = all_partitions(n).astype(np.int8)
    return partitions, _blocks(partitions).astype(np.int16)


def _blocks(partitions: NDArray) -> NDArray[np.int64]:
    """The blocks of each partition as sets of items; the empty set where there are fewer than n."""
    n = partitions.shape[1]
    bits = 1 << np.arange(n)
    return np.stack([(partitions == b) @ bits for b in range(n)], axis=1)


def _added_loss(
    draws: NDArray[np.int32], weights: NDArray[np.float64], objective: Objective
) -> NDArray[np.float64]:
    """(2 - c) f(m) - 2 sum_r w_r sum_b f(m_rb) of every set, of whose m items m_rb are in block b.

    The same block of many draws counts once, with the weight of all of them.
    """
    n, blocks = draws.shape[1], _blocks(draws)
    sets = np.arange(2**n)
    sizes = ((sets[:, None] >> np.arange(n)) & 1).sum(axis=1)
    f = (sizes * label_draws.block_gain(objective.loss, n)[sizes]).astype(float)
    shares = np.broadcast_to((weights / weights.sum())[:, None], blocks.shape)
    share = np.bincount(blocks.ravel(), shares.ravel(), minlength=len(sets))
    result = (2.0 - objective.cost) * f
    for block in np.flatnonzero(share[1:]) + 1:
        result -= 2.0 * share[block] * f[sets & block]
    return result
