"""Draws of partitions as plain arrays: canonical labels, merging, thinning, losses, co-clustering.

It computes exact sums over draws of pairwise quantities in memory that never grows with n^2.
The package `partitions` has the public functions, `search` the search for a point estimate.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnpcluster._core.containers import as_array
from bnpcluster._core.jit import kernel
from bnpcluster._core.messages import shown

CHUNK_CELLS = 1 << 23  # labels in memory as 32-bit integers at one time
COLUMN_TILE = 1024


def as_draws(draws: ArrayLike) -> NDArray:
    """The draws as an integer matrix (draws, items); leading axes (chains, draws) are joined."""
    array = as_array(draws)
    if array.dtype.kind not in "iub":
        raise ValueError(f"Labels must be integers, got an array of dtype {array.dtype}.")
    if array.ndim not in (2, 3):
        raise ValueError(
            f"Draws must be (draws, items) or (chains, draws, items), got shape {array.shape}."
        )
    if array.size == 0:
        raise ValueError(f"draws must not be empty, got shape {array.shape}.")
    return array.reshape(-1, array.shape[-1])


def as_labels(labels: ArrayLike, n_items: int | None = None) -> NDArray:
    """One labelling as a one-dimensional integer array, of `n_items` items if given."""
    array = as_array(labels)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iub":
        raise ValueError(
            "A labelling must be a non-empty one-dimensional array of integers, "
            f"got shape {array.shape} and dtype {array.dtype}."
        )
    if n_items is not None and len(array) != n_items:
        raise ValueError(f"The labelling must have {n_items} items, got {len(array)}.")
    return array


def as_weights(weights: ArrayLike | None, n_draws: int) -> NDArray[np.float64]:
    """Non-negative weights of the draws, one per draw in the order of `as_draws`.

    They are not normalised. Equal weights become ones, so that counts stay exact.
    """
    if weights is None:
        return np.ones(n_draws)
    array = np.asarray(weights, dtype=float).ravel()
    if len(array) != n_draws:
        raise ValueError(f"There must be one weight per draw, got {len(array)} for {n_draws}.")
    if not np.all(np.isfinite(array)) or array.min() < 0 or array.max() == 0:
        raise ValueError("Weights must be finite, non-negative and not all zero.")
    return np.ones(n_draws) if array.min() == array.max() else array


@kernel
def _canonicalise(draws, seen, code, n_blocks):
    """Number the blocks of each draw by first item, in place; labels must be < len(seen)."""
    for r in range(draws.shape[0]):
        k = 0
        for i in range(draws.shape[1]):
            label = draws[r, i]
            if seen[label] != r:
                seen[label] = r
                code[label] = k
                k += 1
            draws[r, i] = code[label]
        n_blocks[r] = k


def canonical(draws: NDArray) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Labels in order of first appearance (a new array), and the number of blocks of each draw."""
    low, high = int(draws.min()), int(draws.max())
    if high - low < max(4 * draws.size, 1024) and high < 2**31 and low >= -(2**31):
        shifted = np.array(draws, dtype=np.int64) - low if low < 0 else draws
        n_labels = high - min(low, 0) + 1
    else:
        values, shifted = np.unique(draws, return_inverse=True)
        n_labels = len(values)
    result = np.array(shifted, dtype=np.int32, order="C").reshape(draws.shape)
    n_blocks = np.empty(len(draws), dtype=np.int32)
    seen, code = np.full(n_labels, -1, dtype=np.int32), np.empty(n_labels, dtype=np.int32)
    _canonicalise(result, seen, code, n_blocks)
    return result, n_blocks


def chunks(draws: NDArray) -> Iterator[tuple[slice, NDArray[np.int32], NDArray[np.int32]]]:
    """Slices of the draws with their canonical labels and numbers of blocks."""
    step = max(1, CHUNK_CELLS // draws.shape[1])
    for start in range(0, len(draws), step):
        part = slice(start, min(start + step, len(draws)))
        yield part, *canonical(draws[part])


def count_blocks(draws: NDArray) -> NDArray[np.int32]:
    """Number of clusters of each draw."""
    return np.concatenate([n_blocks for _, _, n_blocks in chunks(draws)])


@kernel
def _largest_shares(labels, sizes, out):
    """out[r, t] = share of the items of draw r that are in its t + 1 largest clusters."""
    n = labels.shape[1]
    for r in range(labels.shape[0]):
        for i in range(n):
            sizes[labels[r, i]] += 1
        n_blocks = 0
        while n_blocks < n and sizes[n_blocks] > 0:
            n_blocks += 1
        total = 0
        for t in range(out.shape[1]):
            largest = 0
            for b in range(n_blocks):
                if sizes[b] > sizes[largest]:
                    largest = b
            total += sizes[largest]
            sizes[largest] = 0
            out[r, t] = total / n
        for b in range(n_blocks):
            sizes[b] = 0


def largest_shares(draws: NDArray, n_shares: int) -> NDArray[np.float64]:
    """The shares of the items that are in the 1, 2, .., n_shares largest clusters, by draw."""
    shares = np.empty((len(draws), n_shares))
    sizes = np.zeros(draws.shape[1], dtype=np.int64)
    for part, labels, _ in chunks(draws):
        _largest_shares(labels, sizes, shares[part])
    return shares


def merge(draws: NDArray, weights: NDArray[np.float64]) -> tuple[NDArray, NDArray[np.float64]]:
    """First row and total weight of every distinct partition of positive weight, in order."""
    totals: dict[bytes, float] = {}
    first: dict[bytes, int] = {}
    for part, labels, n_blocks in chunks(draws):
        for r, row in enumerate(labels, start=part.start):
            if weights[r] > 0:
                # Equal rows have equal numbers of blocks, so they get the same type.
                row = row.astype(np.uint8) if n_blocks[r - part.start] <= 256 else row
                key = blake2b(row, digest_size=16).digest()
                totals[key] = totals.get(key, 0.0) + weights[r]
                first.setdefault(key, r)
    return np.array(list(first.values())), np.array(list(totals.values()))


def thin(weights: NDArray[np.float64], size: int) -> tuple[NDArray, NDArray[np.float64]]:
    """Systematic sample of about `size` draws in proportion to weight: rows and multiplicities.

    With equal weights the draws are evenly spaced.
    """
    if len(weights) <= size:
        return np.arange(len(weights)), weights
    edges = np.cumsum(weights)
    points = (np.arange(size) + 0.5) * (edges[-1] / size)
    rows, times = np.unique(np.searchsorted(edges, points), return_counts=True)
    return rows, times.astype(float)


def block_gain(loss: str, n_items: int, largest: int | None = None) -> NDArray[np.float64]:
    """g[m] such that a loss is the sum over cells of m_ab (g[m_a] + g[m_b] - 2 g[m_ab]).

    m_ab is the number of items in block a of one partition and b of the other. g[0] = 0 is unused.
    The last entry is g[largest], by default that of all items.
    """
    sizes = np.arange(1, (largest or n_items) + 1, dtype=float)
    if not isinstance(loss, str):
        raise ValueError(f"A loss is named 'vi' or 'binder', got {shown(loss)}.")
    if loss == "vi":
        gains = np.log(sizes) / n_items
    elif loss == "binder":
        gains = (sizes - 1) / 2
    else:
        raise ValueError(f"Unknown loss {loss!r}; available: 'vi', 'binder'.")
    return np.concatenate([[0.0], gains])


@kernel
def _distances(order, starts, draws, gain, cost, sizes, joint, out):
    """Loss between one partition (items `order`, blocks at `starts`) and every draw.

    Every term m_ab ((2 - cost) (g_a - g_ab) + cost (g_b - g_ab)) is non-negative, and exactly zero
    where blocks agree.
    """
    for r in range(draws.shape[0]):
        labels = draws[r]
        for i in range(len(labels)):
            sizes[labels[i]] += 1
        total = 0.0
        for a in range(len(starts) - 1):
            gain_a = gain[starts[a + 1] - starts[a]]
            for p in range(starts[a], starts[a + 1]):
                joint[labels[order[p]]] += 1
            for p in range(starts[a], starts[a + 1]):
                b = labels[order[p]]
                m = joint[b]
                if m > 0:
                    joined, separated = gain_a - gain[m], gain[sizes[b]] - gain[m]
                    total += m * ((2.0 - cost) * joined + cost * separated)
                    joint[b] = 0
        for i in range(len(labels)):
            sizes[labels[i]] = 0
        out[r] = total


def distances_canonical(
    labels: NDArray[np.int32],
    draws: NDArray[np.int32],
    gain: NDArray[np.float64],
    cost: float = 1.0,
) -> NDArray[np.float64]:
    """Loss between a labelling and every draw, if all are canonical."""
    n = len(labels)
    order, starts = _by_block(labels)
    out = np.empty(len(draws))
    sizes, joint = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int32)
    _distances(order, starts, draws, gain, cost, sizes, joint, out)
    return out


def _by_block(labels: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The items in order of their block, and the start of each block."""
    order = np.argsort(labels, kind="stable").astype(np.int32)
    return order, np.concatenate([[0], np.cumsum(np.bincount(labels))]).astype(np.int32)


def distances(
    estimate: NDArray, draws: NDArray, loss: str, cost: float = 1.0
) -> NDArray[np.float64]:
    """Loss between a labelling and every draw: O(n) each, memory O(n).

    Separating items that a draw joins costs `cost`. Joining others costs 2 - `cost`.
    """
    gain = block_gain(loss, draws.shape[1])
    labels = canonical(estimate[None])[0][0]
    losses = [distances_canonical(labels, rows, gain, cost) for _, rows, _ in chunks(draws)]
    return np.concatenate(losses)


def all_distances(draws: NDArray, loss: str) -> NDArray[np.float64]:
    """Loss between every two draws; for few draws."""
    rows, _ = canonical(draws)
    gain, out = block_gain(loss, draws.shape[1]), np.zeros((len(rows), len(rows)))
    for r in range(1, len(rows)):
        out[r, :r] = out[:r, r] = distances_canonical(rows[r], rows[:r], gain)
    return out


@kernel
def _item_terms(order, starts, draws, weights, gain, sizes, joint, out):
    """Add up each item's part in the loss, as in `_distances`; without gains, 1 - both / either."""
    for r in range(draws.shape[0]):
        labels = draws[r]
        for i in range(len(labels)):
            sizes[labels[i]] += 1
        for a in range(len(starts) - 1):
            size = starts[a + 1] - starts[a]
            for p in range(starts[a], starts[a + 1]):
                joint[labels[order[p]]] += 1
            for p in range(starts[a], starts[a + 1]):
                b = labels[order[p]]
                m = joint[b]
                if len(gain) > 0:
                    term = (gain[size] - gain[m]) + (gain[sizes[b]] - gain[m])
                else:
                    term = 1.0 - m / (size + sizes[b] - m)
                out[order[p]] += weights[r] * term
            for p in range(starts[a], starts[a + 1]):
                joint[labels[order[p]]] = 0
        for i in range(len(labels)):
            sizes[labels[i]] = 0


def item_terms(
    estimate: NDArray, draws: NDArray, weights: NDArray[np.float64], loss: str | None
) -> NDArray[np.float64]:
    """Weighted sum over the draws of each item's disagreement with a labelling."""
    n = draws.shape[1]
    gain = np.zeros(0) if loss is None else block_gain(loss, n)
    order, starts = _by_block(canonical(estimate[None])[0][0])
    sizes, joint = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int32)
    out = np.zeros(n)
    for part, rows, _ in chunks(draws):
        _item_terms(order, starts, rows, weights[part], gain, sizes, joint, out)
    return out


@kernel
def _pair_agreements(draws, left, right, weights, out):
    """out[p] += weight of the draws in which items left[p] and right[p] are together."""
    for r in range(draws.shape[0]):
        labels, weight = draws[r], weights[r]
        for p in range(len(left)):
            out[p] += weight if labels[left[p]] == labels[right[p]] else 0.0


def pair_agreements(
    draws: NDArray, weights: NDArray[np.float64], left: NDArray, right: NDArray
) -> NDArray[np.float64]:
    """Weighted shares of the draws in which two items are together, for each pair."""
    items, places = np.unique(np.concatenate([left, right]), return_inverse=True)
    out = np.zeros(len(left))
    if len(left):
        labels = np.ascontiguousarray(_comparable(_columns_of(draws, items)))
        _pair_agreements(labels, places[: len(left)], places[len(left) :], weights, out)
    return out / np.cumsum(weights)[-1]  # sums in the same order as the kernel, see below


@kernel
def _agreements(left, right, weights, first, width, out):
    """out[i, j] += weight of the draws in which item i of `left` and j of `right` are together.

    It fills columns from `first` on, in tiles, so that sums and labels stay in the cache.
    """
    for start in range(first, out.shape[1], width):
        stop = min(start + width, out.shape[1])
        for i in range(out.shape[0]):
            sums = out[i, start:stop]
            for r in range(len(weights)):
                label, weight, others = left[i, r], weights[r], right[r, start:stop]
                for j in range(len(sums)):
                    sums[j] += weight if others[j] == label else 0.0


def smallest_integers(labels: NDArray) -> NDArray:
    """The labels in the smallest integer type, unsigned if possible."""
    low, high = int(labels.min()), int(labels.max())
    extremes = (high, high) if low >= 0 else (low, -1 - high)
    kind = np.result_type(*map(np.min_scalar_type, extremes))
    return labels.astype(kind, copy=False)


def _comparable(draws: NDArray) -> NDArray:
    """The draws in one of the three types for which `_agreements` is compiled."""
    small = smallest_integers(draws)
    return small if small.dtype in (np.uint8, np.uint16) else canonical(draws)[0]


def _columns_of(draws: NDArray, items: NDArray) -> NDArray:
    """The draws of some items; not a copy if these are all items in order."""
    n = draws.shape[1]
    if len(items) == n and np.array_equal(items, np.arange(n)):
        return draws
    return draws[:, items]


def agreement_strips(
    draws: NDArray,
    weights: NDArray[np.float64],
    rows: NDArray,
    columns: NDArray,
    symmetric: bool = False,
    height: int | None = None,
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Weighted shares of the draws in which items are together, one strip of rows at a time.

    With `symmetric`, columns before the first row of a strip stay zero.
    """
    items, places = np.unique(np.concatenate([rows, columns]), return_inverse=True)
    labels = _comparable(_columns_of(draws, items))
    right = np.ascontiguousarray(_columns_of(labels, places[len(rows) :]))
    height = height or max(1, CHUNK_CELLS // max(1, len(columns)))
    for start in range(0, len(rows), height):
        part = slice(start, min(start + height, len(rows)))
        left = np.ascontiguousarray(labels[:, places[part]].T)
        strip = np.zeros((len(left), len(columns)))
        first = start if symmetric else 0
        _agreements(left, right, weights, first, COLUMN_TILE, strip)
        # Both sums have the same order, so that the diagonal is exactly one.
        strip /= np.cumsum(weights)[-1]
        yield part, strip
