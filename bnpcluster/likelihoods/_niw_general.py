"""Kernels of the normal-inverse-Wishart likelihood in three or more dimensions.

Each slot keeps the Cholesky factor of its S, changed by rank-one updates. One item is compared
with a slot by a forward solve that stops as soon as the partial sum of squares, a lower bound of
the quadratic form, shows that the slot cannot matter.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bnpcluster._jit import generic, kernel
from bnpcluster._ops import (
    add,
    clear,
    coordinate,
    copy,
    listed,
    log_marginal,
    log_predictive,
    log_predictive_without,
    log_weights,
    n_coordinates,
    padded,
    pool,
    remove,
    whiten,
)


class GeneralNIW(NamedTuple):
    """Columns in internal units, the prior, and per slot the posterior of mean and covariance."""

    X: np.ndarray
    centre: np.ndarray
    unit: np.ndarray
    prior_mean: np.ndarray
    prior_scale: np.ndarray
    prior_chol: np.ndarray
    prior: np.ndarray  # r0, nu0
    log_empty: np.ndarray  # log predictive of each row in an empty slot
    norm_predictive: np.ndarray  # by size
    norm_marginal: np.ndarray  # by size
    size: np.ndarray
    mean: np.ndarray
    chol: np.ndarray  # lower triangular, one per slot
    inv_diag: np.ndarray  # 1 / diagonal of chol
    log_det: np.ndarray
    work: np.ndarray  # scratch, (3, D)

    @property
    def slot_axis(self):
        """The arrays a chain owns, and the axis of the slots in each."""
        return {"size": 0, "mean": 0, "chol": 0, "inv_diag": 0, "log_det": 0, "work": ()}


def bind_general(Z, unit, mean, kappa, nu, scale, tables, capacity):
    """Three or more columns in internal units and `capacity` slots."""
    n, d = Z.shape
    width = padded(capacity)
    bound = GeneralNIW(
        Z,
        *unit,
        mean,
        scale,
        np.linalg.cholesky(scale),
        np.array([kappa, nu]),
        np.zeros(n),
        *tables,
        size=np.zeros(width, np.intp),
        mean=np.zeros((width, d)),
        chol=np.zeros((width, d, d)),
        inv_diag=np.zeros((width, d)),
        log_det=np.zeros(width),
        work=np.zeros((3, d)),
    )
    fill_empty(bound, 0)
    return bound


def with_rows(bound, Z):
    """The same slots with other rows; log_empty is found with the help of an empty slot."""
    other = bound._replace(X=Z, log_empty=np.zeros(len(Z)))
    spare = other._replace(**{name: getattr(bound, name)[:2].copy() for name in bound.slot_axis})
    fill_empty(spare, 0)
    return other


@clear.register(GeneralNIW)
def _clear(lik, k):
    d = len(lik.prior_mean)
    lik.size[k] = 0
    half_log_det = 0.0
    for a in range(d):
        lik.mean[k, a] = lik.prior_mean[a]
        for b in range(a + 1):
            lik.chol[k, a, b] = lik.prior_chol[a, b]
        lik.inv_diag[k, a] = 1.0 / lik.prior_chol[a, a]
        half_log_det += math.log(lik.prior_chol[a, a])
    lik.log_det[k] = 2.0 * half_log_det


_clear_slot = kernel(_clear)


@kernel
def rank_one(lik, k, v, sign):
    """chol chol' +- v v' in place of chol chol'; v is overwritten."""
    d = len(v)
    half_log_det = 0.0
    for a in range(d):
        pivot = lik.chol[k, a, a]
        square = pivot * pivot + sign * v[a] * v[a]
        # A downdate of rounding size must not leave the cone; statistics are rebuilt regularly.
        new = math.sqrt(max(square, 1e-16 * pivot * pivot))
        c, s = new / pivot, v[a] / pivot
        lik.chol[k, a, a] = new
        lik.inv_diag[k, a] = 1.0 / new
        half_log_det += math.log(new)
        for b in range(a + 1, d):
            changed = (lik.chol[k, b, a] + sign * s * v[b]) / c
            v[b] = c * v[b] - s * changed
            lik.chol[k, b, a] = changed
    lik.log_det[k] = 2.0 * half_log_det


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
    rank_one(lik, k, v, sign)


@add.register(GeneralNIW)
def _add(lik, k, i):
    shift(lik, k, i, 1)


@remove.register(GeneralNIW)
def _remove(lik, k, i):
    if lik.size[k] == 1:
        _clear_slot(lik, k)
    else:
        shift(lik, k, i, -1)


@copy.register(GeneralNIW)
def _copy(lik, to, source):
    lik.size[to] = lik.size[source]
    lik.log_det[to] = lik.log_det[source]
    for a in range(len(lik.prior_mean)):
        lik.mean[to, a] = lik.mean[source, a]
        lik.inv_diag[to, a] = lik.inv_diag[source, a]
        for b in range(a + 1):
            lik.chol[to, a, b] = lik.chol[source, a, b]


@kernel(inline=True, reassociate=True)
def dot(matrix, k, a, y):
    """chol[k, a, :a] . y[:a]"""
    total = 0.0
    for b in range(a):
        total += matrix[k, a, b] * y[b]
    return total


@kernel(inline=True, reassociate=True)
def product(chol, k, a, b):
    """Entry (a, b), b <= a, of chol chol'."""
    total = 0.0
    for c in range(b + 1):
        total += chol[k, a, c] * chol[k, b, c]
    return total


@kernel
def factorise(lik, k):
    """Replace the lower triangle of a scatter matrix in chol[k] by its Cholesky factor.

    Its pivots are at least those of the prior, to which data only add.
    """
    chol, half_log_det, d = lik.chol, 0.0, len(lik.prior_mean)
    for b in range(d):
        square = chol[k, b, b] - dot_rows(chol, k, b, b)
        pivot = max(math.sqrt(max(square, 0.0)), lik.prior_chol[b, b])
        chol[k, b, b] = pivot
        lik.inv_diag[k, b] = 1.0 / pivot
        half_log_det += math.log(pivot)
        for a in range(b + 1, d):
            chol[k, a, b] = (chol[k, a, b] - dot_rows(chol, k, a, b)) / pivot
    lik.log_det[k] = 2.0 * half_log_det


@kernel(inline=True, reassociate=True)
def dot_rows(chol, k, a, b):
    """chol[k, a, :b] . chol[k, b, :b]"""
    total = 0.0
    for c in range(b):
        total += chol[k, a, c] * chol[k, b, c]
    return total


@pool.register(GeneralNIW)
def _pool(lik, to, one, two, labels):
    # Relative to the mean of `one`; the prior is in both and must be counted once.
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
            total = product(lik.chol, one, a, b) + product(lik.chol, two, a, b)
            total += r2 * u2[a] * u2[b] - r0 * u0[a] * u0[b] - r * u[a] * u[b]
            lik.chol[to, a, b] = total - lik.prior_scale[a, b]
    lik.size[to] = lik.size[one] + lik.size[two]
    factorise(lik, to)


@n_coordinates.register(GeneralNIW)
def _n_coordinates(lik):
    return lik.X.shape[1]


@coordinate.register(GeneralNIW)
def _coordinate(lik, i, d):
    return lik.X[i, d]


@whiten.register(GeneralNIW)
def _whiten(lik, k, v):
    d = len(v)
    for a in range(d):
        v[a] = (v[a] - dot(lik.chol, k, a, v)) * lik.inv_diag[k, a]
    for a in range(d - 1, -1, -1):
        v[a] *= lik.inv_diag[k, a]
        for b in range(a):
            v[b] -= lik.chol[k, a, b] * v[a]


@kernel
def squared(X, i, mean, chol, inv_diag, k, y, start, stop):
    """Part of |chol^-1 (x_i - mean)|^2: rows start .. stop-1 of the solve, given y[:start]."""
    total = 0.0
    for a in range(start, stop):
        y[a] = (X[i, a] - mean[k, a] - dot(chol, k, a, y)) * inv_diag[k, a]
        total += y[a] * y[a]
    return total


@kernel(inline=True)
def quadratic(lik, k, i):
    """(x_i - mean)' S^-1 (x_i - mean)"""
    d = lik.X.shape[1]
    return squared(lik.X, i, lik.mean, lik.chol, lik.inv_diag, k, lik.work[1], 0, d)


@log_predictive.register(GeneralNIW)
def _log_predictive(lik, k, i):
    m = lik.size[k]
    r = lik.prior[0] + m
    t = quadratic(lik, k, i) * r / (r + 1.0)
    const = lik.norm_predictive[m] - 0.5 * lik.log_det[k]
    return const - 0.5 * (lik.prior[1] + m + 1.0) * math.log(1.0 + t)


@log_predictive_without.register(GeneralNIW)
def _log_predictive_without(lik, k, i):
    # With S = S' + (r-1)/r (x-u')(x-u')' and x - u' = r/(r-1) (x - u), |S'| = |S| (1 - r/(r-1) q).
    m = lik.size[k]
    r = lik.prior[0] + m
    rest = max(1.0 - quadratic(lik, k, i) * r / (r - 1.0), 1e-300)
    const = lik.norm_predictive[m - 1] - 0.5 * lik.log_det[k]
    return const + 0.5 * (lik.prior[1] + m - 1.0) * math.log(rest)


@log_marginal.register(GeneralNIW)
def _log_marginal(lik, k):
    m = lik.size[k]
    return lik.norm_marginal[m] - 0.5 * (lik.prior[1] + m) * lik.log_det[k]


@generic
def at_least(lik, k, i, log_prior, beta, floor):
    """The log weight of slot k, or -inf as soon as it is seen to lie below `floor`."""


@at_least.register(GeneralNIW)
def _at_least(lik, k, i, log_prior, beta, floor):
    m, d, start = lik.size[k], lik.X.shape[1], 0
    r = lik.prior[0] + m
    scale, half_df = r / (r + 1.0), 0.5 * (lik.prior[1] + m + 1.0)
    const = lik.norm_predictive[m] - 0.5 * lik.log_det[k]
    total, weight, stop = 0.0, 0.0, min(4, d)
    while True:
        total += squared(lik.X, i, lik.mean, lik.chol, lik.inv_diag, k, lik.work[1], start, stop)
        weight = log_prior + beta * (const - half_df * math.log(1.0 + scale * total))
        if weight < floor:
            return -math.inf
        if stop == d:
            return weight
        start, stop = stop, min(2 * stop, d)


@kernel
def _without(lik, k, i):
    return log_predictive_without(lik, k, i)


@log_weights.register(GeneralNIW)
def _log_weights(lik, i, own, beta, slack, partition):
    log_prior, empty = partition.log_prior, partition.n_blocks[0]
    count, floor, first = 0, -math.inf, empty
    fresh = log_prior[empty] + beta * lik.log_empty[i]
    if own >= 0 and log_prior[own] > -math.inf:
        first = own
        weight = log_prior[own] + beta * _without(lik, own, i)
        count, floor = listed(partition, count, own, weight), weight - slack
    elif fresh > -math.inf:
        count, floor = listed(partition, count, empty, fresh), fresh - slack
    for k in range(empty):
        if k != first and log_prior[k] > -math.inf:
            weight = at_least(lik, k, i, log_prior[k], beta, floor)
            if weight > floor:
                count = listed(partition, count, k, weight)
    if first != empty and fresh > floor:
        count = listed(partition, count, empty, fresh)
    return count


@kernel
def fill_empty(lik, k):
    """Fill log_empty: the predictive of slot k after it was cleared."""
    clear(lik, k)
    for i in range(len(lik.X)):
        lik.log_empty[i] = log_predictive(lik, k, i)
