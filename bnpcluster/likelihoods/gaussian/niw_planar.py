"""Kernels of the normal-inverse-Wishart likelihood in two dimensions: all slots at once.

The slot is the last axis of every array, and the 2 x 2 inverse is written out, so that the compiler
vectorises the evaluation of one item against all blocks.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import (
    add,
    clear,
    coordinate,
    copy,
    log_marginal,
    log_predictive,
    log_predictive_all,
    log_predictive_without,
    log_weights,
    log_weights_from_bounds,
    n_coordinates,
    outweighs,
    padded,
    pool,
    remove,
    whiten,
)
from bnpcluster.likelihoods.gaussian.extremes import FLAT, LOST
from bnpcluster.likelihoods.gaussian.learned_covariance import (
    Blocks,
    CovariancePrior,
    scale_matrix,
)
from bnpcluster.likelihoods.gaussian.niw_learned import owned, register_learned
from bnpcluster.likelihoods.gaussian.niw_normalisers import normalisers
from bnpcluster.likelihoods.gaussian.niw_sizes import marginal_normaliser, predictive_normaliser


class PlanarNIW(NamedTuple):
    """Two columns in internal units, the prior, and per slot the posterior of mean and covariance.

    S is stored as its upper left entry, the slope of column 1 on column 0, and the residual scatter
    of column 1. This S = L D L' keeps all digits of the determinant, which S itself would lose.

    The predictive of a slot at x is `const - half_df * log1p(t)`, t a quadratic form in x - mean.
    """

    X: np.ndarray
    centre: np.ndarray
    unit: np.ndarray
    prior_mean: np.ndarray
    prior_scale: np.ndarray
    prior: np.ndarray  # r0, nu0
    hyper: CovariancePrior
    norm_predictive: np.ndarray  # by size
    norm_marginal: np.ndarray  # by size
    size: np.ndarray
    mean0: np.ndarray
    mean1: np.ndarray
    s00: np.ndarray
    slope: np.ndarray
    rest: np.ndarray
    log_det: np.ndarray
    p00: np.ndarray
    p11: np.ndarray
    const: np.ndarray
    half_df: np.ndarray

    @property
    def slot_axis(self):
        """The arrays a chain owns, and the axis of the slots in each."""
        slots = "size mean0 mean1 s00 slope rest log_det p00 p11 const half_df".split()
        return {**dict.fromkeys(slots, 0), **owned(self)}


def bind_planar(Z, unit, mean, kappa, nu, scale, hyper, capacity):
    """Two columns in internal units and `capacity` slots."""
    width = padded(capacity)
    tables = normalisers(len(Z), kappa, nu, scale, np.log(unit.scale).sum())
    return PlanarNIW(
        Z,
        *unit,
        mean,
        scale,
        np.array([kappa, nu]),
        hyper,
        *tables,
        np.zeros(width, np.intp),
        *np.zeros((10, width)),
    )


def planar_moments(bound, k):
    """Posterior mean and Cholesky factor of S of slot k, in internal units."""
    root, rest = np.sqrt(bound.s00[k]), np.sqrt(bound.rest[k])
    chol = np.array([[root, 0.0], [root * bound.slope[k], rest]])
    return np.array([bound.mean0[k], bound.mean1[k]]), chol


def put_values(lik, values):
    """Write the values of learned hyper-parameters into bound data."""
    scale = scale_matrix(lik.hyper, values)
    lik.hyper.expected[:], lik.prior_scale[:] = values.expected, scale
    lik.prior[:] = values.kappa, values.nu
    log_unit, n = np.log(lik.unit).sum(), len(lik.norm_marginal) - 2
    tables = normalisers(n, values.kappa, values.nu, scale, log_unit)
    lik.norm_predictive[:], lik.norm_marginal[:] = tables


def slots_in_use(lik, labels, rng):
    """The blocks, with the inverse factors that keep all digits of S."""
    k = slice(labels.max() + 1)
    inv_chol = np.zeros((k.stop, 2, 2))
    inv_chol[:, 0, 0] = 1.0 / np.sqrt(lik.s00[k])
    inv_chol[:, 1, 1] = 1.0 / np.sqrt(lik.rest[k])
    inv_chol[:, 1, 0] = -lik.slope[k] * inv_chol[:, 1, 1]
    mean = np.empty((k.stop, 2))
    mean[:, 0], mean[:, 1] = lik.mean0[k], lik.mean1[k]
    return Blocks.of(lik.size[k], mean, inv_chol, lik.log_det[k])


register_learned(PlanarNIW, put_values, slots_in_use)


@kernel(inline=True)
def least_rest(lik):
    """The `rest` of the prior's scale matrix, which data can only increase."""
    scale = lik.prior_scale
    return scale[1, 1] - scale[0, 1] * scale[0, 1] / scale[0, 0]


@kernel(inline=True)
def refresh(lik, k):
    """Recompute the terms of the predictive of slot k from its mean and S."""
    m = lik.size[k]
    r = lik.prior[0] + m
    scale = r / (r + 1.0)
    lik.p00[k] = scale / lik.s00[k]
    lik.p11[k] = scale / lik.rest[k]
    lik.log_det[k] = math.log(lik.s00[k]) + math.log(lik.rest[k])
    lik.const[k] = predictive_normaliser(lik, m) - 0.5 * lik.log_det[k]
    lik.half_df[k] = 0.5 * (lik.prior[1] + m + 1.0)


@kernel(inline=True)
def shift(lik, k, i, sign):
    """Add (sign 1) or remove (sign -1) row i: a rank-one change of S, relative to the mean."""
    a = lik.X[i, 0] - lik.mean0[k]
    b = lik.X[i, 1] - lik.mean1[k]
    r = lik.prior[0] + lik.size[k]
    w = sign * r / (r + sign)
    old = lik.s00[k]
    new = max(old + w * a * a, lik.prior_scale[0, 0])
    across = b - lik.slope[k] * a
    lik.s00[k] = new
    lik.slope[k] += w * a * across / new
    lik.rest[k] = max(lik.rest[k] + w * old / new * across * across, least_rest(lik))
    lik.mean0[k] += sign * a / (r + sign)
    lik.mean1[k] += sign * b / (r + sign)
    lik.size[k] += sign


@clear.register(PlanarNIW)
def _clear(lik, k):
    scale = lik.prior_scale
    lik.size[k] = 0
    lik.mean0[k], lik.mean1[k] = lik.prior_mean[0], lik.prior_mean[1]
    lik.s00[k], lik.slope[k], lik.rest[k] = scale[0, 0], scale[0, 1] / scale[0, 0], least_rest(lik)
    refresh(lik, k)


@add.register(PlanarNIW)
def _add(lik, k, i):
    shift(lik, k, i, 1)
    refresh(lik, k)


@remove.register(PlanarNIW)
def _remove(lik, k, i):
    if lik.size[k] == 1:
        _clear_slot(lik, k)
        return
    shift(lik, k, i, -1)
    refresh(lik, k)


_clear_slot = kernel(_clear)


@copy.register(PlanarNIW)
def _copy(lik, to, source):
    lik.size[to] = lik.size[source]
    lik.mean0[to], lik.mean1[to] = lik.mean0[source], lik.mean1[source]
    lik.s00[to], lik.slope[to], lik.rest[to] = lik.s00[source], lik.slope[source], lik.rest[source]
    refresh(lik, to)


@pool.register(PlanarNIW)
def _pool(lik, to, one, two, labels):
    # Relative to the mean of `one`. Both slots contain the prior, which counts once.
    r0, prior_scale = lik.prior[0], lik.prior_scale
    r1, r2 = r0 + lik.size[one], r0 + lik.size[two]
    r = r1 + r2 - r0
    a0, b0 = lik.prior_mean[0] - lik.mean0[one], lik.prior_mean[1] - lik.mean1[one]
    a2, b2 = lik.mean0[two] - lik.mean0[one], lik.mean1[two] - lik.mean1[one]
    a, b = (r2 * a2 - r0 * a0) / r, (r2 * b2 - r0 * b0) / r
    s00 = lik.s00[one] + lik.s00[two] - prior_scale[0, 0] + r2 * a2 * a2 - r0 * a0 * a0 - r * a * a
    s01 = lik.slope[one] * lik.s00[one] + lik.slope[two] * lik.s00[two] - prior_scale[0, 1]
    s01 += r2 * a2 * b2 - r0 * a0 * b0 - r * a * b
    s11 = lik.rest[one] + lik.slope[one] ** 2 * lik.s00[one] - prior_scale[1, 1]
    s11 += lik.rest[two] + lik.slope[two] ** 2 * lik.s00[two]
    s11 += r2 * b2 * b2 - r0 * b0 * b0 - r * b * b
    rest = s11 - s01 * s01 / max(s00, prior_scale[0, 0])
    if rest < FLAT * s11:
        pool_by_row(lik, to, one, two, labels)
        return
    lik.s00[to] = max(s00, prior_scale[0, 0])
    lik.slope[to] = s01 / lik.s00[to]
    lik.rest[to] = max(rest, least_rest(lik))
    lik.mean0[to], lik.mean1[to] = lik.mean0[one] + a, lik.mean1[one] + b
    lik.size[to] = lik.size[one] + lik.size[two]
    refresh(lik, to)


@kernel
def pool_by_row(lik, to, one, two, labels):
    """Make slot `to` hold the rows of both slots, for columns that are nearly collinear."""
    copy(lik, to, one)
    for i in range(len(labels)):
        if labels[i] == two:
            add(lik, to, i)


@n_coordinates.register(PlanarNIW)
def _n_coordinates(lik):
    return 2


@coordinate.register(PlanarNIW)
def _coordinate(lik, i, d):
    return lik.X[i, d]


@whiten.register(PlanarNIW)
def _whiten(lik, k, v):
    across = (v[1] - lik.slope[k] * v[0]) / lik.rest[k]
    v[0] = v[0] / lik.s00[k] - lik.slope[k] * across
    v[1] = across


@kernel(inline=True)
def quadratic(lik, k, i):
    """The t of the predictive of slot k at row i."""
    a = lik.X[i, 0] - lik.mean0[k]
    b = lik.X[i, 1] - lik.mean1[k]
    across = b - lik.slope[k] * a
    return lik.p00[k] * a * a + lik.p11[k] * across * across


@log_predictive.register(PlanarNIW)
def _log_predictive(lik, k, i):
    return lik.const[k] - lik.half_df[k] * math.log(1.0 + quadratic(lik, k, i))


@kernel(inline=True)
def determinant_without(lik, k, i):
    """|S'| / |S|, where S' is that of slot k without its row i.

    With S = S' + (r-1)/r (x-u')(x-u')' and x - u' = r/(r-1) (x - u), |S'| = |S| (1 - r/(r-1) q).
    """
    r = lik.prior[0] + lik.size[k]
    return 1.0 - quadratic(lik, k, i) * (r + 1.0) / (r - 1.0)


@log_predictive_without.register(PlanarNIW)
def _log_predictive_without(lik, k, i):
    m, rest = lik.size[k], determinant_without(lik, k, i)
    if rest < LOST:
        return -math.inf
    const = predictive_normaliser(lik, m - 1) - 0.5 * lik.log_det[k]
    return const + (lik.half_df[k] - 1.0) * math.log(rest)


@outweighs.register(PlanarNIW)
def _outweighs(lik, k, i):
    return determinant_without(lik, k, i) < LOST


@log_predictive_all.register(PlanarNIW)
def _log_predictive_all(lik, i, start, stop, out):
    for k in range(start, stop):
        out[k] = lik.const[k] - lik.half_df[k] * math.log(1.0 + quadratic(lik, k, i))


@log_marginal.register(PlanarNIW)
def _log_marginal(lik, k):
    m = lik.size[k]
    return marginal_normaliser(lik, m) - 0.5 * (lik.prior[1] + m) * lik.log_det[k]


@log_weights.register(PlanarNIW)
def _log_weights(lik, i, own, beta, slack, partition):
    x, y = lik.X[i, 0], lik.X[i, 1]
    mean0, mean1, p00, p11, slope = lik.mean0, lik.mean1, lik.p00, lik.p11, lik.slope
    const, half_df, log_prior, bound = lik.const, lik.half_df, partition.log_prior, partition.scores
    # Upper bounds of all weights, by log1p(t) >= 2t / (2 + t): vectorised, without logarithms.
    for k in range(padded(partition.n_blocks[0] + 1)):
        a = x - mean0[k]
        b = y - mean1[k]
        across = b - slope[k] * a
        t = p00[k] * a * a + p11[k] * across * across
        bound[k] = log_prior[k] + beta * (const[k] - half_df[k] * (2.0 * t / (2.0 + t)))
    return log_weights_from_bounds(lik, i, own, beta, slack, partition)
