"""Kernels of the normal-inverse-Wishart likelihood in three or more dimensions.

Each slot stores the inverse of the Cholesky factor of its S, with rank-one updates. The factor
itself would need a triangular solve, where every step depends on the previous one. The inverse only
needs products, whose rows are independent of one another. Predictive densities and the weights of a
sweep are in `niw_general_weights`.
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
    log_predictive,
    n_coordinates,
    padded,
    pool,
    remove,
    renew_rows,
    whiten,
)
from bnpcluster.likelihoods.gaussian.covariance_kernels import (
    divide,
    invert_factor,
    log_det_change,
    multiplier,
    set_change,
)
from bnpcluster.likelihoods.gaussian.extremes import FLAT
from bnpcluster.likelihoods.gaussian.learned_covariance import (
    Blocks,
    CovariancePrior,
    scale_matrix,
)
from bnpcluster.likelihoods.gaussian.niw_learned import owned, register_learned
from bnpcluster.likelihoods.gaussian.niw_normalisers import normalisers

SLOTS = "size mean scatter inv_chol log_det".split()  # by slot


class GeneralNIW(NamedTuple):
    """Columns in internal units, the prior, and per slot the posterior of mean and covariance."""

    X: np.ndarray
    centre: np.ndarray
    unit: np.ndarray
    prior_mean: np.ndarray
    prior_scale: np.ndarray
    prior_inv_chol: np.ndarray
    prior: np.ndarray  # r0, nu0
    hyper: CovariancePrior
    log_empty: np.ndarray  # log predictive of each row in an empty slot
    norm_predictive: np.ndarray  # by size
    norm_marginal: np.ndarray  # by size
    size: np.ndarray
    mean: np.ndarray
    scatter: np.ndarray  # lower triangle of S, one per slot
    inv_chol: np.ndarray  # inverse of its Cholesky factor, lower triangular
    log_det: np.ndarray
    work: np.ndarray  # scratch, (3, D)

    @property
    def slot_axis(self):
        """The arrays a chain owns, and the axis of the slots in each."""
        slots = dict.fromkeys(SLOTS, 0)
        return {**slots, "work": (), **owned(self, "prior_inv_chol", "log_empty")}


def bind_general(Z, unit, mean, kappa, nu, scale, hyper, capacity):
    """Three or more columns in internal units and `capacity` slots."""
    n, d = Z.shape
    width = padded(capacity)
    tables = normalisers(n, kappa, nu, scale, np.log(unit.scale).sum())
    bound = GeneralNIW(
        Z,
        *unit,
        mean,
        scale,
        inverse_factor(scale),
        np.array([kappa, nu]),
        hyper,
        np.zeros(n),
        *tables,
        size=np.zeros(width, np.intp),
        mean=np.zeros((width, d)),
        scatter=np.zeros((width, d, d)),
        inv_chol=np.zeros((width, d, d)),
        log_det=np.zeros(width),
        work=np.zeros((3, d)),
    )
    fill_log_empty(bound, 0)
    return bound


def inverse_factor(scale):
    """The inverse of the Cholesky factor of a matrix."""
    factor, inverse = np.zeros(scale.shape), np.eye(len(scale))
    invert_factor(scale, factor, inverse)
    return inverse


def general_rows(bound, Z):
    """The same slots with other rows; an empty slot gives their `log_empty`."""
    other = bound._replace(X=Z, log_empty=np.zeros(len(Z)))
    fill_log_empty_aside(other)
    return other


def fill_log_empty_aside(bound):
    """Fill `log_empty` and leave the slots as they are."""
    work = bound.work.copy()
    spare = {name: getattr(bound, name)[:2].copy() for name in SLOTS}
    fill_log_empty(bound._replace(**spare, work=work), 0)


def put_values(lik, values):
    """Write the values of learned hyper-parameters into bound data."""
    scale = scale_matrix(lik.hyper, values)
    lik.hyper.expected[:], lik.prior_scale[:] = values.expected, scale
    lik.prior_inv_chol[:] = inverse_factor(scale)
    lik.prior[:] = values.kappa, values.nu
    log_unit, n = np.log(lik.unit).sum(), len(lik.norm_marginal) - 2
    tables = normalisers(n, values.kappa, values.nu, scale, log_unit)
    lik.norm_predictive[:], lik.norm_marginal[:] = tables
    fill_log_empty_aside(lik)


def slots_in_use(lik, labels, rng):
    """The blocks."""
    k = slice(labels.max() + 1)
    return Blocks.of(lik.size[k], lik.mean[k], lik.inv_chol[k], lik.log_det[k])


@kernel
def renew_slots(lik, n_blocks):
    """Make the slots those of the new scale matrix, without a pass over the rows."""
    set_change(lik.hyper, multiplier(lik.prior[1], len(lik.prior_mean)), lik.hyper.expected)
    for k in range(n_blocks):
        lik.log_det[k] += log_det_change(lik.hyper, lik.inv_chol[k])
        divide(lik.hyper.factor, lik.inv_chol[k], lik.inv_chol[k])
        for a in range(len(lik.prior_mean)):
            for b in range(a + 1):
                lik.scatter[k, a, b] += lik.hyper.change[a, b]
    for k in range(n_blocks, len(lik.size)):
        clear_slot(lik, k)


register_learned(GeneralNIW, put_values, slots_in_use, renew=renew_slots)


@renew_rows.register(GeneralNIW)
def _renew_rows(lik):
    fill_log_empty_aside(lik)


@clear.register(GeneralNIW)
def _clear(lik, k):
    lik.size[k] = 0
    log_det = 0.0
    for a in range(len(lik.prior_mean)):
        lik.mean[k, a] = lik.prior_mean[a]
        for b in range(a + 1):
            lik.scatter[k, a, b] = lik.prior_scale[a, b]
            lik.inv_chol[k, a, b] = lik.prior_inv_chol[a, b]
        log_det -= 2.0 * math.log(lik.prior_inv_chol[a, a])
    lik.log_det[k] = log_det


clear_slot = kernel(_clear)


@kernel
def rank_one_update(lik, k, v, sign):
    """Replace S by S +- v v'.

    With z = L^-1 v, s_a = 1 +- (z_0^2 + ... + z_a^2) and p_a the sum of z_b L^-1[b] over b < a, row
    a of L^-1 becomes sqrt(s_(a-1) / s_a) (L^-1[a] -+ z_a p_a / s_(a-1)); |S| grows by the last s.
    """
    inv_chol, p, d, before = lik.inv_chol, lik.work[2], len(v), 1.0
    for a in range(d):
        p[a] = 0.0
        step = sign * v[a]
        for b in range(a + 1):
            lik.scatter[k, a, b] += step * v[b]
    for a in range(d):
        z = row_dot(inv_chol, k, a, a + 1, v)
        # Rounding in a downdate must not make S indefinite; statistics are rebuilt regularly.
        after = max(before + sign * z * z, 1e-16 * before)
        shrink, along = math.sqrt(before / after), sign * z / before
        for b in range(a + 1):
            old = inv_chol[k, a, b]
            inv_chol[k, a, b] = shrink * (old - along * p[b])
            p[b] += z * old
        before = after
    lik.log_det[k] += math.log(before)


@kernel
def shift(lik, k, i, sign):
    """Add (sign 1) or remove (sign -1) row i."""
    v = lik.work[0, : len(lik.prior_mean)]
    r = lik.prior[0] + lik.size[k]
    w = math.sqrt(r / (r + sign))
    for a in range(len(v)):
        gap = lik.X[i, a] - lik.mean[k, a]
        lik.mean[k, a] += sign * gap / (r + sign)
        v[a] = w * gap
    lik.size[k] += sign
    rank_one_update(lik, k, v, sign)


@add.register(GeneralNIW)
def _add(lik, k, i):
    shift(lik, k, i, 1)


@remove.register(GeneralNIW)
def _remove(lik, k, i):
    if lik.size[k] == 1:
        clear_slot(lik, k)
    else:
        shift(lik, k, i, -1)


@copy.register(GeneralNIW)
def _copy(lik, to, source):
    lik.size[to] = lik.size[source]
    lik.log_det[to] = lik.log_det[source]
    for a in range(len(lik.prior_mean)):
        lik.mean[to, a] = lik.mean[source, a]
        for b in range(a + 1):
            lik.scatter[to, a, b] = lik.scatter[source, a, b]
            lik.inv_chol[to, a, b] = lik.inv_chol[source, a, b]


_copy_slot = kernel(_copy)


@kernel(inline=True, reassociate=True)
def row_dot(matrix, k, a, stop, y):
    """matrix[k, a, :stop] . y[:stop]"""
    total = 0.0
    for b in range(stop):
        total += matrix[k, a, b] * y[b]
    return total


@kernel
def factorise(lik, k):
    """Recompute inv_chol and log_det of slot k from S, row by row; return whether it is flat.

    With l = L^-1 S[:a, a] of the rows so far, the next pivot is sqrt(S[a, a] - |l|^2), and the next
    row of L^-1 is (-l' L^-1, 1) divided by it. Data can only increase the pivots of the prior.
    S is flat if the square of a pivot is a tiny share of S[a, a].
    """
    scatter, inv_chol, row, log_det = lik.scatter, lik.inv_chol, lik.work[0], 0.0
    flat = False
    for a in range(len(lik.prior_mean)):
        square = scatter[k, a, a]
        for b in range(a):
            row[b] = 0.0
        for b in range(a):
            factor = row_dot(inv_chol, k, b, b + 1, scatter[k, a])
            square -= factor * factor
            for c in range(b + 1):
                row[c] -= factor * inv_chol[k, b, c]
        flat |= square < FLAT * scatter[k, a, a]
        inverse = min(1.0 / math.sqrt(max(square, 1e-300)), lik.prior_inv_chol[a, a])
        for b in range(a):
            inv_chol[k, a, b] = inverse * row[b]
        inv_chol[k, a, a] = inverse
        log_det -= 2.0 * math.log(inverse)
    lik.log_det[k] = log_det
    return flat


@kernel
def pool_sums(lik, to, one, two):
    """Add up the statistics of two slots in slot `to`; return whether S is flat."""
    # Relative to the mean of `one`. Both slots contain the prior, which counts once.
    d = len(lik.prior_mean)
    u0, u2, u = lik.work[0], lik.work[1], lik.work[2]
    r0 = lik.prior[0]
    r2 = r0 + lik.size[two]
    r = r0 + lik.size[one] + lik.size[two]
    for a in range(d):
        u0[a] = lik.prior_mean[a] - lik.mean[one, a]
        u2[a] = lik.mean[two, a] - lik.mean[one, a]
        u[a] = (r2 * u2[a] - r0 * u0[a]) / r
        lik.mean[to, a] = lik.mean[one, a] + u[a]
        for b in range(a + 1):
            total = lik.scatter[one, a, b] + lik.scatter[two, a, b] - lik.prior_scale[a, b]
            total += r2 * u2[a] * u2[b] - r0 * u0[a] * u0[b] - r * u[a] * u[b]
            lik.scatter[to, a, b] = total
    lik.size[to] = lik.size[one] + lik.size[two]
    return factorise(lik, to)


@pool.register(GeneralNIW)
def _pool(lik, to, one, two, labels):
    if pool_sums(lik, to, one, two):
        _copy_slot(lik, to, one)
        for i in range(len(labels)):
            if labels[i] == two:
                shift(lik, to, i, 1)


@n_coordinates.register(GeneralNIW)
def _n_coordinates(lik):
    return lik.X.shape[1]


@coordinate.register(GeneralNIW)
def _coordinate(lik, i, d):
    return lik.X[i, d]


@whiten.register(GeneralNIW)
def _whiten(lik, k, v):
    out = lik.work[0]
    for a in range(len(v)):
        out[a] = 0.0
        z = row_dot(lik.inv_chol, k, a, a + 1, v)
        for b in range(a + 1):
            out[b] += z * lik.inv_chol[k, a, b]
    for a in range(len(v)):
        v[a] = out[a]


@kernel
def fill_log_empty(lik, k):
    """Fill `log_empty`: clear slot k, and compute the predictive of every row in it."""
    clear(lik, k)
    for i in range(len(lik.X)):
        lik.log_empty[i] = log_predictive(lik, k, i)
