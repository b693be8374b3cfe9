"""Densities and sums of the rows of a tile in many columns, for blocks with means and covariances.

Some rows are evaluated at a time: values of a column stand side by side, so that the compiler
vectorises over rows. |R (x - mean)|^2 is summed row by row of R. The partial sum is a lower bound,
and a block is left as soon as it cannot matter to any of these rows. So it pays that the rows of a
tile are near one another.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bnpcluster._core.jit import kernel
from bnpcluster._core.parameter_operations import (
    TILE,
    add_log_densities,
    add_row,
    add_rows,
    gather,
    new_scratch,
)
from bnpcluster.likelihoods.gaussian.nearby import by_nearest_pivot
from bnpcluster.likelihoods.gaussian.niw_general import GeneralNIW

LANES = 64  # rows that are evaluated at a time
STEP = 8  # columns between two looks at the partial sums
WIDE = 16  # columns from which on four rows are added to sums at a time
FEW = 16  # columns up to which searching for near rows is not worth while


@gather.register(GeneralNIW)
def _gather(lik, items):
    return by_nearest_pivot(lik.X, items) if lik.X.shape[1] > FEW else items


class WideScratch(NamedTuple):
    """Scratch space, with the rows that are evaluated at a time as the last axis."""

    columns: np.ndarray  # (D, LANES)
    gaps: np.ndarray  # (D, LANES)
    product: np.ndarray
    total: np.ndarray
    best: np.ndarray
    floor: np.ndarray
    is_first: np.ndarray  # by block
    four: np.ndarray  # (4, D): differences of four rows


@new_scratch.register(GeneralNIW)
def _new_scratch(lik, n_blocks):
    d = lik.X.shape[1]
    lanes = np.zeros((4, LANES))
    return WideScratch(*np.zeros((2, d, LANES)), *lanes, np.zeros(n_blocks, bool), np.zeros((4, d)))


@add_log_densities.register(GeneralNIW)
def _add_log_densities(lik, parameters, tile, blocks, slack, scratch, scores):
    X, columns = lik.X, scratch.columns
    for start in range(0, TILE, LANES):
        for r in range(LANES):
            i = tile[start + r]
            for a in range(X.shape[1]):
                columns[a, r] = X[i, a]
        add_some(parameters, blocks, slack, scratch, scores, start)


@kernel
def add_some(parameters, blocks, slack, scratch, scores, start):
    """Add log densities to the scores of LANES rows from `start` on.

    First come the blocks that are the best one of some row after STEP columns. They raise the bar
    for the others.
    """
    mean, root, const = parameters.mean, parameters.root, parameters.const
    total, best, floor, is_first = scratch.total, scratch.best, scratch.floor, scratch.is_first
    stop = min(STEP, len(scratch.columns))
    for r in range(LANES):
        best[r], floor[r] = -math.inf, -math.inf
    for c in range(len(blocks)):
        k, own = blocks[c], scores[c][start : start + LANES]
        add_steps(mean[k], root[k], 0, stop, scratch)
        for r in range(LANES):
            own[r] += const[k] - 0.5 * total[r]
            best[r] = max(best[r], own[r])
    if stop == len(scratch.columns):
        return
    for c in range(len(blocks)):
        is_first[c] = is_best(scores[c][start : start + LANES], best)
    for turn in range(2):
        for c in range(len(blocks)):
            if is_first[c] == (turn == 0):
                k, own = blocks[c], scores[c][start : start + LANES]
                finish(mean[k], root[k], slack, scratch, own, floor)


@kernel(inline=True)
def is_best(scores, best):
    """Whether a block is the best one of some row."""
    found = False
    for r in range(LANES):
        found |= scores[r] == best[r]
    return found


@kernel
def finish(mean, root, slack, scratch, scores, floor):
    """Complete the scores of a block, or set them to -inf once all are too low to matter."""
    total, d = scratch.total, len(scratch.columns)
    for a in range(STEP):
        fill_gap(scratch, a, mean)
    for start in range(STEP, d, STEP):
        matters = False
        for r in range(LANES):
            matters |= (scores[r] >= floor[r] - slack) & (scores[r] > -math.inf)
        if not matters:
            for r in range(LANES):
                scores[r] = -math.inf
            return
        add_steps(mean, root, start, min(start + STEP, d), scratch)
        for r in range(LANES):
            scores[r] -= 0.5 * total[r]
    for r in range(LANES):
        floor[r] = max(floor[r], scores[r])


@kernel(inline=True)
def fill_gap(scratch, a, mean):
    """The differences of a column from the mean."""
    column, gap, centre = scratch.columns[a], scratch.gaps[a], mean[a]
    for r in range(LANES):
        gap[r] = column[r] - centre


@kernel
def add_steps(mean, root, start, stop, scratch):
    """The share of rows start .. stop-1 of R in |R (x - mean)|^2; earlier gaps are known."""
    gaps, total, z = scratch.gaps, scratch.total, scratch.product
    for r in range(LANES):
        total[r] = 0.0
    for a in range(start, stop):
        fill_gap(scratch, a, mean)
    for a in range(start, stop):
        row, whole = root[a], (a + 1) // 4 * 4
        for r in range(LANES):
            z[r] = 0.0
        for b in range(0, whole, 4):
            add_four_products(row, b, gaps, z)
        for b in range(whole, a + 1):
            add_product(row[b], gaps[b], z)
        for r in range(LANES):
            total[r] += z[r] * z[r]


@kernel(inline=True, reassociate=True)
def add_product(weight, gap, z):
    """Add the product of an entry of a row and a gap."""
    for r in range(LANES):
        z[r] += weight * gap[r]


@kernel(inline=True, reassociate=True)
def add_four_products(row, b, gaps, z):
    """Add four products of entries of a row and gaps."""
    w0, w1, w2, w3 = row[b], row[b + 1], row[b + 2], row[b + 3]
    g0, g1, g2, g3 = gaps[b], gaps[b + 1], gaps[b + 2], gaps[b + 3]
    for r in range(LANES):
        z[r] += (w0 * g0[r] + w1 * g1[r]) + (w2 * g2[r] + w3 * g3[r])


@add_rows.register(GeneralNIW)
def _add_rows(lik, parameters, sums, tile, labels, scratch):
    # Four rows of a block at a time, so that its sums are read and written once for all four.
    X, d, gaps = lik.X, lik.X.shape[1], scratch.four
    if d < WIDE:
        for r in range(TILE):
            if labels[r] >= 0:
                add_row(lik, parameters, sums, labels[r], tile[r])
        return
    for k in range(len(sums.first)):
        waiting = 0
        for r in range(TILE):
            if labels[r] != k:
                continue
            gap = gaps[waiting]
            for a in range(d):
                gap[a] = X[tile[r], a] - parameters.mean[k, a]
            waiting += 1
            if waiting == 4:
                add_four(gaps, sums.first[k], sums.second[k])
                waiting = 0
        if waiting > 0:
            gaps[waiting:] = 0.0
            add_four(gaps, sums.first[k], sums.second[k])


@kernel(reassociate=True)
def add_four(gaps, first, second):
    """Add four rows, some of which may be zero, to the sums of a block."""
    g0, g1, g2, g3 = gaps[0], gaps[1], gaps[2], gaps[3]
    for a in range(len(first)):
        row = second[a]
        w0, w1, w2, w3 = g0[a], g1[a], g2[a], g3[a]
        first[a] += (w0 + w1) + (w2 + w3)
        for b in range(a + 1):
            row[b] += (w0 * g0[b] + w1 * g1[b]) + (w2 * g2[b] + w3 * g3[b])
