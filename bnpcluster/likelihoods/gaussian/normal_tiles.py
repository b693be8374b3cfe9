"""Densities and sums of the rows of a tile, for blocks with means and covariances.

Values of a column stand side by side, so that the compiler vectorises over rows. The leading rows
of a root give a lower bound of |R (x - mean)|^2. With many columns, only blocks that may matter
after that are evaluated in full.
"""

from __future__ import annotations

import math

from bnpcluster._core.jit import kernel
from bnpcluster._core.parameter_operations import (
    TILE,
    add_log_densities,
    add_row,
    add_rows,
    bound_log_densities,
    gather,
    scratch_shape,
)
from bnpcluster.likelihoods.gaussian.nearby import in_curve_order
from bnpcluster.likelihoods.gaussian.niw_general import GeneralNIW
from bnpcluster.likelihoods.gaussian.niw_general_weights import partial_square
from bnpcluster.likelihoods.gaussian.niw_planar import PlanarNIW

LEADING = 8  # columns of the first lower bound
STEP = 8  # columns between two further ones
WIDE = 16  # columns from which on four rows are added to sums at a time


@kernel
def load_columns(X, tile, n_columns, columns):
    """Copy the leading columns of the rows of a tile."""
    for d in range(n_columns):
        column = columns[d]
        for r in range(TILE):
            column[r] = X[tile[r], d]


@add_log_densities.register(PlanarNIW)
def _add_planar(lik, parameters, tile, blocks, slack, scratch, scores):
    mean, root, const = parameters.mean, parameters.root, parameters.const
    load_columns(lik.X, tile, 2, scratch)
    for c in range(len(blocks)):
        k = blocks[c]
        add_planar(scratch, mean[k], root[k], const[k], scores[c])


@kernel
def add_planar(columns, mean, root, const, scores):
    """Add the log density of a block to the scores of all rows."""
    x, y, mean0, mean1 = columns[0], columns[1], mean[0], mean[1]
    r00, r10, r11 = root[0, 0], root[1, 0], root[1, 1]
    for r in range(TILE):
        a, b = x[r] - mean0, y[r] - mean1
        u, v = r00 * a, r10 * a + r11 * b
        scores[r] += const - 0.5 * (u * u + v * v)


@bound_log_densities.register(PlanarNIW)
def _bound_planar(lik, parameters, tile, scratch, low, high):
    load_columns(lik.X, tile, 2, scratch)
    x, x_half = middle(scratch[0])
    y, y_half = middle(scratch[1])
    mean, root, const = parameters.mean, parameters.root, parameters.const
    for k in range(len(const)):
        a, b = x - mean[k, 0], y - mean[k, 1]
        r00, r10, r11 = root[k, 0, 0], root[k, 1, 0], root[k, 1, 1]
        u, v = abs(r00 * a), abs(r10 * a + r11 * b)
        u_half, v_half = r00 * x_half, abs(r10) * x_half + r11 * y_half
        nearest_u, nearest_v = max(u - u_half, 0.0), max(v - v_half, 0.0)
        low[k] = const[k] - 0.5 * ((u + u_half) ** 2 + (v + v_half) ** 2)
        high[k] = const[k] - 0.5 * (nearest_u**2 + nearest_v**2)
    return True


@kernel(inline=True)
def middle(column):
    """The middle of the range of a column of a tile, and half its length."""
    least = most = column[0]
    for r in range(TILE):
        least, most = min(least, column[r]), max(most, column[r])
    return 0.5 * (least + most), 0.5 * (most - least)


@gather.register(PlanarNIW)
def _gather_planar(lik, items):
    return in_curve_order(lik.X, items)


@scratch_shape.register(PlanarNIW)
def _planar_scratch(lik, n_blocks):
    return 2, TILE


@scratch_shape.register(GeneralNIW)
def _general_scratch(lik, n_blocks):
    return 2 * LEADING + 4, max(TILE, lik.X.shape[1])


@add_log_densities.register(GeneralNIW)
def _add_general(lik, parameters, tile, blocks, slack, scratch, scores):
    X, d = lik.X, lik.X.shape[1]
    leading = min(d, LEADING)
    columns, gaps, best = scratch[:LEADING], scratch[LEADING : 2 * LEADING], scratch[-1]
    load_columns(X, tile, leading, columns)
    for r in range(TILE):
        best[r] = -math.inf
    for c in range(len(blocks)):
        k = blocks[c]
        add_leading(columns, parameters.mean[k], parameters.root[k], leading, gaps, scratch[-2])
        finish_leading(parameters.const[k], scratch[-2], scores[c], best)
    if d > leading:
        for r in range(TILE):
            add_trailing(X, tile[r], parameters, blocks, slack, scratch, scores, r)


@kernel(reassociate=True)
def add_leading(columns, mean, root, leading, gaps, total):
    """The leading part of |R (x - mean)|^2 of all rows."""
    for d in range(leading):
        column, gap, centre = columns[d], gaps[d], mean[d]
        for r in range(TILE):
            gap[r] = column[r] - centre
    for r in range(TILE):
        total[r] = 0.0
    for a in range(leading):
        add_square(root[a], a + 1, gaps, total)


@kernel(reassociate=True)
def add_square(row, stop, gaps, total):
    """Add the square of row . gap of all rows."""
    w0, g0 = row[0], gaps[0]
    w1, g1 = (row[1], gaps[1]) if stop > 1 else (0.0, g0)
    w2, g2 = (row[2], gaps[2]) if stop > 2 else (0.0, g0)
    w3, g3 = (row[3], gaps[3]) if stop > 3 else (0.0, g0)
    w4, g4 = (row[4], gaps[4]) if stop > 4 else (0.0, g0)
    w5, g5 = (row[5], gaps[5]) if stop > 5 else (0.0, g0)
    w6, g6 = (row[6], gaps[6]) if stop > 6 else (0.0, g0)
    w7, g7 = (row[7], gaps[7]) if stop > 7 else (0.0, g0)
    for r in range(TILE):
        z = (w0 * g0[r] + w1 * g1[r]) + (w2 * g2[r] + w3 * g3[r])
        z += (w4 * g4[r] + w5 * g5[r]) + (w6 * g6[r] + w7 * g7[r])
        total[r] += z * z


@kernel
def finish_leading(const, total, scores, best):
    """Turn the leading parts into upper bounds of the scores; keep the largest of each row."""
    for r in range(TILE):
        scores[r] += const - 0.5 * total[r]
        best[r] = max(best[r], scores[r])


@kernel
def add_trailing(X, i, parameters, blocks, slack, scratch, scores, r):
    """Evaluate the blocks that may matter to a row in full: first the one with the best bound."""
    gap, top, first = scratch[-3], scratch[-1, r], 0
    for c in range(len(blocks)):
        if scores[c, r] == top:
            first = c
    if top == -math.inf:
        return
    none = -math.inf
    floor = evaluate(X, i, parameters, blocks[first], gap, scores[first, r], none)
    scores[first, r] = floor
    for c in range(len(blocks)):
        if c != first:
            k, score = blocks[c], scores[c, r]
            scores[c, r] = evaluate(X, i, parameters, k, gap, score, floor - slack)
            floor = max(floor, scores[c, r])


@kernel
def evaluate(X, i, parameters, k, gap, score, least):
    """The score of a row, given its bound from the leading columns; -inf if it is below `least`."""
    mean, d = parameters.mean, X.shape[1]
    if score < least:
        return -math.inf
    for a in range(LEADING):
        gap[a] = X[i, a] - mean[k, a]
    for start in range(LEADING, d, STEP):
        stop = min(start + STEP, d)
        score -= 0.5 * partial_square(X, i, mean, parameters.root, k, gap, start, stop)
        if score < least:
            return -math.inf
    return score


@add_rows.register(GeneralNIW)
def _add_rows(lik, parameters, sums, tile, labels, scratch):
    # Four rows of a block at a time, so that its sums are read and written once for all four.
    X, d, gaps = lik.X, lik.X.shape[1], scratch[:4]
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
            gaps[waiting:, :d] = 0.0
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
