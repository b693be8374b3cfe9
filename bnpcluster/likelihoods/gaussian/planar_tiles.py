"""Densities of the rows of a tile in two columns, for blocks with means and covariances.

Values of a column stand side by side, so that the compiler vectorises over rows. The rows of a tile
are near one another. Bounds over the rectangle that holds them leave few blocks to evaluate.
"""

from __future__ import annotations

import numpy as np

from bnpcluster._core.jit import kernel
from bnpcluster._core.parameter_operations import (
    TILE,
    add_log_densities,
    bound_log_densities,
    gather,
    new_scratch,
)
from bnpcluster.likelihoods.gaussian.nearby import in_curve_order
from bnpcluster.likelihoods.gaussian.niw_planar import PlanarNIW


@kernel
def load_columns(X, tile, columns):
    """Copy the columns of the rows of a tile."""
    for d in range(2):
        column = columns[d]
        for r in range(TILE):
            column[r] = X[tile[r], d]


@add_log_densities.register(PlanarNIW)
def _add_planar(lik, parameters, tile, blocks, slack, scratch, scores):
    mean, root, const = parameters.mean, parameters.root, parameters.const
    load_columns(lik.X, tile, scratch)
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
    load_columns(lik.X, tile, scratch)
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


@new_scratch.register(PlanarNIW)
def _new_scratch(lik, n_blocks):
    return np.zeros((2, TILE))
