"""Kernels of independent Gaussian columns with missing entries (NaN).

A missing entry adds nothing to the statistics of its column and has factor 1 in the predictive.
This integrates it out, because columns are independent given the partition. Each column of a slot
has its own size, and so its own degrees of freedom. The rest is as in `nig_columns`.
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
from bnpcluster.likelihoods.gaussian.extremes import LOST
from bnpcluster.likelihoods.gaussian.learned_variances import (
    VariancePrior,
    owned,
    prior_rate,
    register_learned,
)
from bnpcluster.likelihoods.gaussian.nig_columns import normalisers


class ObservedColumns(NamedTuple):
    """Columns in internal units, the prior, and per slot the posterior of every column.

    The log predictive of x in column d is `const - half_df * log(1 + t)`, `t` being `precision`
    times the squared distance from the mean.
    """

    X: np.ndarray  # NaN: missing
    centre: np.ndarray
    unit: np.ndarray
    prior_mean: np.ndarray
    prior_scale: np.ndarray  # b0 by column
    prior: np.ndarray  # kappa, shape
    hyper: VariancePrior
    log_unit: np.ndarray  # by column
    norm_predictive: np.ndarray  # of one column, by size
    norm_marginal: np.ndarray  # of one column, by size
    size: np.ndarray  # all by column and slot
    mean: np.ndarray
    rate: np.ndarray
    precision: np.ndarray
    const: np.ndarray
    half_df: np.ndarray

    @property
    def slot_axis(self):
        """The arrays a chain owns, and the axis of the slots in each."""
        slots = dict.fromkeys("size mean rate precision const half_df".split(), 1)
        return {**slots, **owned(self)}


def bind_observed_columns(Z, unit, mean, kappa, shape, rate, hyper, capacity):
    """Columns in internal units and `capacity` slots; all columns share kappa and shape."""
    n, d = Z.shape
    width = padded(capacity)
    return ObservedColumns(
        Z,
        *unit,
        mean,
        rate,
        np.array([kappa, shape]),
        hyper,
        np.log(unit.scale),
        *normalisers(n, kappa, shape),
        np.zeros((d, width), np.intp),
        *np.zeros((5, d, width)),
    )


def put_values(lik, values):
    """Write the values of learned hyper-parameters into bound data."""
    lik.hyper.expected[:], lik.prior_scale[:] = values.expected, prior_rate(lik.hyper, values)
    lik.prior[:] = values.kappa, values.shape
    tables = normalisers(len(lik.norm_marginal) - 2, values.kappa, values.shape)
    lik.norm_predictive[:], lik.norm_marginal[:] = tables


register_learned(ObservedColumns, put_values)


@kernel
def refresh(lik, k, d):
    """Recompute the terms of the predictive of column d in slot k from its mean and rate."""
    m, rate = lik.size[d, k], lik.rate[d, k]
    r = lik.prior[0] + m
    lik.precision[d, k] = r / (2.0 * (r + 1.0) * rate)
    lik.const[d, k] = lik.norm_predictive[m] - 0.5 * math.log(rate) - lik.log_unit[d]
    lik.half_df[d, k] = lik.prior[1] + 0.5 * m + 0.5


@kernel
def reset(lik, k, d):
    """Make column d of slot k empty."""
    lik.size[d, k] = 0
    lik.mean[d, k] = lik.prior_mean[d]
    lik.rate[d, k] = lik.prior_scale[d]
    refresh(lik, k, d)


@kernel
def shift(lik, k, i, sign):
    """Add (sign 1) or remove (sign -1) the observed entries of row i."""
    for d in range(len(lik.mean)):
        x = lik.X[i, d]
        if math.isnan(x):
            continue
        if lik.size[d, k] + sign == 0:
            reset(lik, k, d)
            continue
        r = lik.prior[0] + lik.size[d, k]
        gap = x - lik.mean[d, k]
        lik.mean[d, k] += sign * gap / (r + sign)
        rate = lik.rate[d, k] + 0.5 * sign * r / (r + sign) * gap * gap
        lik.rate[d, k] = max(rate, lik.prior_scale[d])
        lik.size[d, k] += sign
        refresh(lik, k, d)


@clear.register(ObservedColumns)
def _clear(lik, k):
    for d in range(len(lik.mean)):
        reset(lik, k, d)


@add.register(ObservedColumns)
def _add(lik, k, i):
    shift(lik, k, i, 1)


@remove.register(ObservedColumns)
def _remove(lik, k, i):
    shift(lik, k, i, -1)


@copy.register(ObservedColumns)
def _copy(lik, to, source):
    for d in range(len(lik.mean)):
        lik.size[d, to] = lik.size[d, source]
        lik.mean[d, to] = lik.mean[d, source]
        lik.rate[d, to] = lik.rate[d, source]
        refresh(lik, to, d)


@pool.register(ObservedColumns)
def _pool(lik, to, one, two, labels):
    # Relative to the mean of `one`. Both slots contain the prior, which counts once.
    r0 = lik.prior[0]
    for d in range(len(lik.mean)):
        r2 = r0 + lik.size[d, two]
        r = r2 + lik.size[d, one]
        u0 = lik.prior_mean[d] - lik.mean[d, one]
        u2 = lik.mean[d, two] - lik.mean[d, one]
        u = (r2 * u2 - r0 * u0) / r
        rate = lik.rate[d, one] + lik.rate[d, two] - lik.prior_scale[d]
        rate += 0.5 * (r2 * u2 * u2 - r0 * u0 * u0 - r * u * u)
        lik.rate[d, to] = max(rate, lik.prior_scale[d])
        lik.mean[d, to] = lik.mean[d, one] + u
        lik.size[d, to] = lik.size[d, one] + lik.size[d, two]
        refresh(lik, to, d)


@n_coordinates.register(ObservedColumns)
def _n_coordinates(lik):
    return len(lik.mean)


@coordinate.register(ObservedColumns)
def _coordinate(lik, i, d):
    # Distances only guide proposals, where a missing entry counts as the mean of its column.
    return 0.0 if math.isnan(lik.X[i, d]) else lik.X[i, d]


@whiten.register(ObservedColumns)
def _whiten(lik, k, v):
    for d in range(len(v)):
        v[d] /= lik.rate[d, k]


@log_predictive.register(ObservedColumns)
def _log_predictive(lik, k, i):
    total = 0.0
    for d in range(len(lik.mean)):
        gap = lik.X[i, d] - lik.mean[d, k]
        if not math.isnan(gap):
            t = lik.precision[d, k] * gap * gap
            total += lik.const[d, k] - lik.half_df[d, k] * math.log(1.0 + t)
    return total


@log_predictive_without.register(ObservedColumns)
def _log_predictive_without(lik, k, i):
    # As in `nig_columns` for each column, with b = b' + r/(2 (r-1)) gap^2.
    total = 0.0
    for d in range(len(lik.mean)):
        gap = lik.X[i, d] - lik.mean[d, k]
        if not math.isnan(gap):
            m, rate = lik.size[d, k], lik.rate[d, k]
            r = lik.prior[0] + m
            rest = 1.0 - r / (2.0 * (r - 1.0) * rate) * gap * gap
            if rest < LOST:
                return -math.inf
            total += lik.norm_predictive[m - 1] - lik.log_unit[d] - 0.5 * math.log(rate)
            total += (lik.half_df[d, k] - 1.0) * math.log(rest)
    return total


@outweighs.register(ObservedColumns)
def _outweighs(lik, k, i):
    for d in range(len(lik.mean)):
        gap = lik.X[i, d] - lik.mean[d, k]
        r = lik.prior[0] + lik.size[d, k]
        if 1.0 - r / (2.0 * (r - 1.0) * lik.rate[d, k]) * gap * gap < LOST:
            return True
    return False


@log_marginal.register(ObservedColumns)
def _log_marginal(lik, k):
    total, shape = 0.0, lik.prior[1]
    for d in range(len(lik.mean)):
        m = lik.size[d, k]
        total += lik.norm_marginal[m] + shape * math.log(lik.prior_scale[d])
        total -= m * lik.log_unit[d] + (shape + 0.5 * m) * math.log(lik.rate[d, k])
    return total


@kernel
def fill_bounds(lik, i, beta, log_prior, n_slots, bound):
    """Upper bounds of all weights, by log(1 + t) >= 2t / (2 + t)."""
    width = padded(n_slots)
    for k in range(width):
        bound[k] = 0.0
    for d in range(len(lik.mean)):
        x = lik.X[i, d]
        if math.isnan(x):
            continue
        mean, precision = lik.mean[d], lik.precision[d]
        const, half_df = lik.const[d], lik.half_df[d]
        for k in range(width):
            gap = x - mean[k]
            t = precision[k] * gap * gap
            bound[k] += const[k] - half_df[k] * (2.0 * t / (2.0 + t))
    for k in range(width):
        bound[k] = log_prior[k] + beta * bound[k]


@log_weights.register(ObservedColumns)
def _log_weights(lik, i, own, beta, slack, partition):
    fill_bounds(lik, i, beta, partition.log_prior, partition.n_blocks[0] + 1, partition.scores)
    return log_weights_from_bounds(lik, i, own, beta, slack, partition)
