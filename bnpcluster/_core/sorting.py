"""Sorting: inside kernels, which cannot allocate, and for quantiles of weighted values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core.jit import kernel


@kernel
def heap_sort(keys, items):
    """Sort items by their keys, in place."""
    n = len(keys)
    for step in range(n // 2 + n):
        # First sift every inner node down, then move the largest entry to the end, step by step.
        root, end = n // 2 - 1 - step, n
        if root < 0:
            root, end = 0, n + n // 2 - 1 - step
            keys[0], keys[end] = keys[end], keys[0]
            items[0], items[end] = items[end], items[0]
        while 2 * root + 1 < end:
            child = 2 * root + 1
            if child + 1 < end and keys[child + 1] > keys[child]:
                child += 1
            if keys[root] >= keys[child]:
                break
            keys[root], keys[child] = keys[child], keys[root]
            items[root], items[child] = items[child], items[root]
            root = child


def weighted_quantile(
    values: NDArray[np.float64], weights: NDArray[np.float64], share: float
) -> NDArray[np.float64]:
    """Along the first axis, the smallest value with at least a `share` of the weight up to it."""
    order = values.argsort(axis=0)
    reached = np.cumsum(weights[order], axis=0)
    # Slightly less than the share, so that rounding does not skip a value that reaches it exactly.
    row = (reached < (share - 1e-12) * reached[-1]).sum(axis=0)
    return np.take_along_axis(values, np.take_along_axis(order, row[None], axis=0), axis=0)[0]
