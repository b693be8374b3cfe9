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
from bnpcluster._core.vectors import ROWS, QuadraticForms, add_steps, fill_gap, new_forms
from bnpcluster.likelihoods.gaussian.nearby import by_nearest_pivot
from bnpcluster.likelihoods.gaussian.niw_general import GeneralNIW

STEP = 8  # columns between two looks at the partial sums
WIDE = 16  # columns from which on four rows are added to sums at a time
FEW = 16  # columns up to which searching for near rows is not worth while


@gather.register(GeneralNIW)
def _gather(lik, items):
    return by_nearest_pivot(lik.X, items) if lik.X.shape[1] > FEW else items


class WideScratch(NamedTuple):
    """Scratch space, with the rows that are evaluated at a time as the last axis."""

    forms: QuadraticForms
    best: np.ndarray
    floor: np.ndarray
    is_first: np.ndarray  # by block
    four: np.ndarray  # (4, D): differences of four rows


@new_scratch.register(GeneralNIW)
def _new_scratch(lik, n_blocks):
    d = lik.X.shape[1]
    of_rows = np.zeros((2, ROWS))
    return WideScratch(new_forms(d), *of_rows, np.zeros(n_blocks, bool), np.zeros((4, d)))


@add_log_densities.register(GeneralNIW)
def _add_log_densities(lik, parameters, tile, blocks, slack, scratch, scores):
    X, columns = lik.X, scratch.forms.columns
    for start in range(0, TILE, ROWS):
        for r in range(ROWS):
            i = tile[start + r]
            for a in range(X.shape[1]):
                columns[a, r] = X[i, a]
        add_some(parameters, blocks, slack, scratch, scores, start)


@kernel
def add_some(parameters, blocks, slack, scratch, scores, start):
    """Add log densities to the scores of ROWS rows from `start` on.

    First come the blocks that are the best one of some row after STEP columns. They raise the bar
    for the others.
    """
    mean, root, const = parameters.mean, parameters.root, parameters.const
    forms, best, floor, is_first = scratch.forms, scratch.best, scratch.floor, scratch.is_first
    total, stop = forms.total, min(STEP, len(forms.columns))
    for r in range(ROWS):
        best[r], floor[r] = -math.inf, -math.inf
    for c in range(len(blocks)):
        k, own = blocks[c], scores[c][start : start + ROWS]
        add_steps(mean[k], root[k], 0, stop, forms)
        for r in range(ROWS):
            own[r] += const[k] - 0.5 * total[r]
            best[r] = max(best[r], own[r])
    if stop == len(forms.columns):
        return
    for c in range(len(blocks)):
        is_first[c] = is_best(scores[c][start : start + ROWS], best)
    for turn in range(2):
        for c in range(len(blocks)):
            if is_first[c] == (turn == 0):
                k, own = blocks[c], scores[c][start : start + ROWS]
                finish(mean[k], root[k], slack, scratch, own, floor)


@kernel(inline=True)
def is_best(scores, best):
    """Whether a block is the best one of some row."""
    found = False
    for r in range(ROWS):
        found |= scores[r] == best[r]
    return found


@kernel
def finish(mean, root, slack, scratch, scores, floor):
    """Complete the scores of a block, or set them to -inf once all are too low to matter."""
    forms = scratch.forms
    total, d = forms.total, len(forms.columns)
    for a in range(STEP):
        fill_gap(forms, a, mean)
    for start in range(STEP, d, STEP):
        matters = False
        for r in range(ROWS):
            matters |= (scores[r] >= floor[r] - slack) & (scores[r] > -math.inf)
        if not matters:
            for r in range(ROWS):
                scores[r] = -math.inf
            return
        add_steps(mean, root, start, min(start + STEP, d), forms)
        for r in range(ROWS):
            scores[r] -= 0.5 * total[r]
    for r in range(ROWS):
        floor[r] = max(floor[r], scores[r])


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
