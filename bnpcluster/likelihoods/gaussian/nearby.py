"""Orders of rows in which neighbours are near one another. They are functions of the data alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core.jit import kernel

BITS = 20  # of a column
PIVOTS, SHARE = 64, 256  # pivots, but at most one in so many rows


def in_curve_order(X: NDArray[np.float64], items: NDArray[np.intp]) -> NDArray[np.intp]:
    """Rows `items` of one, two or three columns along a Morton curve.

    Cells divide the range of nearly all values, so that one far from all others changes nothing.
    """
    codes = np.zeros(len(items), np.uint64)
    for d in range(X.shape[1]):
        column = X[items, d]
        low, high = np.quantile(column, [0.001, 0.999]) if len(column) else (0.0, 0.0)
        width = max(high - low, 1e-300)
        cells = np.clip((column - low) * ((2.0**BITS - 1) / width), 0, 2.0**BITS - 1)
        interleave(cells.astype(np.uint64), np.uint64(X.shape[1]), np.uint64(d), codes)
    return items[np.argsort(codes, kind="stable")]


@kernel
def interleave(cells, n_columns, d, codes):
    """Write bit b of the cells to bit b * n_columns + d of the codes."""
    one = np.uint64(1)
    for i in range(len(cells)):
        cell, code, shift = cells[i], codes[i], d
        for _ in range(BITS):
            code |= (cell & one) << shift
            cell >>= one
            shift += n_columns
        codes[i] = code


def by_nearest_pivot(X: NDArray[np.float64], items: NDArray[np.intp]) -> NDArray[np.intp]:
    """Rows `items` ordered by the nearest of a few of them."""
    n_pivots = min(PIVOTS, len(items) // SHARE)
    if n_pivots < 2:
        return items
    pivots = np.ascontiguousarray(X[items[:: len(items) // n_pivots][:n_pivots]])
    nearest = np.zeros(len(items), np.intp)
    find_nearest(X, items, pivots, nearest)
    return items[np.argsort(nearest, kind="stable")]


@kernel
def find_nearest(X, items, pivots, nearest):
    """The nearest pivot of every row."""
    for j in range(len(items)):
        least = np.inf
        for p in range(len(pivots)):
            distance = squared_distance(X[items[j]], pivots[p])
            if distance < least:
                least, nearest[j] = distance, p


@kernel(reassociate=True)
def squared_distance(x, y):
    """|x - y|^2"""
    total = 0.0
    for d in range(len(x)):
        total += (x[d] - y[d]) ** 2
    return total
