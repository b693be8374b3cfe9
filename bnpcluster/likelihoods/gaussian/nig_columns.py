"""Kernels of independent Gaussian columns with normal-inverse-gamma priors: all slots at once.

All columns share kappa and the shape a, so the predictive of a slot is
`const - half_df * log(prod_d (1 + t_d))`: one logarithm per slot instead of one per column.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

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
from bnpcluster.likelihoods.gaussian.block_distributions import ColumnBlocks
from bnpcluster.likelihoods.gaussian.extremes import LOST
from bnpcluster.likelihoods.gaussian.learned_variances import (
    VariancePrior,
    owned,
    prior_rate,
    register_learned,
)
from bnpcluster.likelihoods.gaussian.nig_sizes import marginal_normaliser, predictive_normaliser

HUGE = 1e150  # take the log of a product above this, before it overflows


class InverseGammaColumns(NamedTuple):
    """Columns in internal units, the prior, and per slot the posterior of every column.

    `precision[d, k]` times the squared distance from the mean is the t of column d.
    """

    X: np.ndarray
    centre: np.ndarray
    unit: np.ndarray
    prior_mean: np.ndarray
    prior_scale: np.ndarray  # b0 by column
    prior: np.ndarray  # kappa, shape
    hyper: VariancePrior
    norm_predictive: np.ndarray  # by size
    norm_marginal: np.ndarray  # by size
    size: np.ndarray
    mean: np.ndarray
    rate: np.ndarray  # b by column and slot
    precision: np.ndarray
    log_rate: np.ndarray  # sum over columns of log b
    const: np.ndarray
    half_df: np.ndarray

    @property
    def slot_axis(self):
        """The arrays a chain owns, and the axis of the slots in each."""
        return {
            **dict.fromkeys("size log_rate const half_df".split(), 0),
            **dict.fromkeys("mean rate precision".split(), 1),
            **owned(self),
        }


def normalisers(n, kappa, shape):
    """Normalisers of the predictive and of the marginal likelihood of one column, by size."""
    m = np.arange(n + 2)
    k, a = kappa + m, shape + m / 2
    # t_d = k (x - mean)^2 / (2 (k+1) b), so the Student density's scale is sqrt(2 pi b (k+1)/k).
    predictive = gammaln(a + 0.5) - gammaln(a) + 0.5 * np.log(k / ((k + 1) * 2 * np.pi))
    marginal = 0.5 * np.log(kappa / k) + gammaln(a) - gammaln(shape)
    return predictive, marginal - 0.5 * m * np.log(2 * np.pi)


def normalisers_of_all(n, kappa, shape, rate, unit):
    """Normalisers of all columns together, by size."""
    predictive, marginal = (len(rate) * table for table in normalisers(n, kappa, shape))
    log_unit = np.log(unit).sum()
    marginal += shape * np.log(rate).sum() - np.arange(n + 2) * log_unit
    return predictive - log_unit, marginal


def bind_columns(Z, unit, mean, kappa, shape, rate, hyper, capacity):
    """Columns in internal units and `capacity` slots; all columns share kappa and shape."""
    n, d = Z.shape
    width = padded(capacity)
    return InverseGammaColumns(
        Z,
        *unit,
        mean,
        rate,
        np.array([kappa, shape]),
        hyper,
        *normalisers_of_all(n, kappa, shape, rate, unit.scale),
        size=np.zeros(width, np.intp),
        mean=np.zeros((d, width)),
        rate=np.zeros((d, width)),
        precision=np.zeros((d, width)),
        log_rate=np.zeros(width),
        const=np.zeros(width),
        half_df=np.zeros(width),
    )


def put_values(lik, values):
    """Write the values of learned hyper-parameters into bound data."""
    rate, n = prior_rate(lik.hyper, values), len(lik.norm_marginal) - 2
    lik.hyper.expected[:], lik.prior_scale[:] = values.expected, rate
    lik.prior[:] = values.kappa, values.shape
    tables = normalisers_of_all(n, values.kappa, values.shape, rate, lik.unit)
    lik.norm_predictive[:], lik.norm_marginal[:] = tables


register_learned(InverseGammaColumns, put_values)


def sample_columns(bound, k, rng):
    """One row from the posterior predictive of slot k: a Student t per column."""
    size = bound.size[..., k]  # of the slot, or of each of its columns
    kappa, shape = bound.prior[0] + size, bound.prior[1] + size / 2
    scale = np.sqrt(bound.rate[:, k] * (kappa + 1) / (shape * kappa))
    row = bound.mean[:, k] + scale * rng.standard_t(2 * shape, len(scale))
    return bound.centre + bound.unit * row


def column_blocks(bound, slots):
    """Predictive distributions of some slots; sizes are by slot, or by column and slot."""
    mean = bound.mean[:, slots].T
    m = np.broadcast_to(bound.size[..., slots], mean.T.shape).T
    root = np.sqrt(2.0 * bound.rate[:, slots].T)
    return ColumnBlocks(bound.prior[0] + m, 2.0 * bound.prior[1] + m, mean, root)


@kernel
def refresh(lik, k):
    """Recompute the terms of the predictive of slot k from its means and rates."""
    m = lik.size[k]
    r, shape = lik.prior[0] + m, lik.prior[1] + 0.5 * m
    total = 0.0
    for d in range(len(lik.mean)):
        lik.precision[d, k] = r / (2.0 * (r + 1.0) * lik.rate[d, k])
        total += math.log(lik.rate[d, k])
    lik.log_rate[k] = total
    lik.const[k] = predictive_normaliser(lik, m) - 0.5 * total
    lik.half_df[k] = shape + 0.5


@kernel
def shift(lik, k, i, sign):
    """Add (sign 1) or remove (sign -1) row i."""
    r = lik.prior[0] + lik.size[k]
    for d in range(len(lik.mean)):
        gap = lik.X[i, d] - lik.mean[d, k]
        lik.mean[d, k] += sign * gap / (r + sign)
        rate = lik.rate[d, k] + 0.5 * sign * r / (r + sign) * gap * gap
        lik.rate[d, k] = max(rate, lik.prior_scale[d])
    lik.size[k] += sign
    refresh(lik, k)


@clear.register(InverseGammaColumns)
def _clear(lik, k):
    lik.size[k] = 0
    for d in range(len(lik.mean)):
        lik.mean[d, k] = lik.prior_mean[d]
        lik.rate[d, k] = lik.prior_scale[d]
    refresh(lik, k)


_clear_slot = kernel(_clear)


@add.register(InverseGammaColumns)
def _add(lik, k, i):
    shift(lik, k, i, 1)


@remove.register(InverseGammaColumns)
def _remove(lik, k, i):
    if lik.size[k] == 1:
        _clear_slot(lik, k)
    else:
        shift(lik, k, i, -1)


@copy.register(InverseGammaColumns)
def _copy(lik, to, source):
    lik.size[to] = lik.size[source]
    for d in range(len(lik.mean)):
        lik.mean[d, to] = lik.mean[d, source]
        lik.rate[d, to] = lik.rate[d, source]
    refresh(lik, to)


@pool.register(InverseGammaColumns)
def _pool(lik, to, one, two, labels):
    # Relative to the mean of `one`. Both slots contain the prior, which counts once.
    r0 = lik.prior[0]
    r2 = r0 + lik.size[two]
    r = r0 + lik.size[one] + lik.size[two]
    for d in range(len(lik.mean)):
        u0 = lik.prior_mean[d] - lik.mean[d, one]
        u2 = lik.mean[d, two] - lik.mean[d, one]
        u = (r2 * u2 - r0 * u0) / r
        rate = lik.rate[d, one] + lik.rate[d, two] - lik.prior_scale[d]
        rate += 0.5 * (r2 * u2 * u2 - r0 * u0 * u0 - r * u * u)
        lik.rate[d, to] = max(rate, lik.prior_scale[d])
        lik.mean[d, to] = lik.mean[d, one] + u
    lik.size[to] = lik.size[one] + lik.size[two]
    refresh(lik, to)


@n_coordinates.register(InverseGammaColumns)
def _n_coordinates(lik):
    return len(lik.mean)


@coordinate.register(InverseGammaColumns)
def _coordinate(lik, i, d):
    return lik.X[i, d]


@whiten.register(InverseGammaColumns)
def _whiten(lik, k, v):
    for d in range(len(v)):
        v[d] /= lik.rate[d, k]


@kernel
def log_product(lik, k, i):
    """sum_d log(1 + t_d) of slot k at row i."""
    total, product = 0.0, 1.0
    for d in range(len(lik.mean)):
        gap = lik.X[i, d] - lik.mean[d, k]
        product *= 1.0 + lik.precision[d, k] * gap * gap
        if product > HUGE:
            total += math.log(product)
            product = 1.0
    return total + math.log(product)


@log_predictive.register(InverseGammaColumns)
def _log_predictive(lik, k, i):
    return lik.const[k] - lik.half_df[k] * log_product(lik, k, i)


@log_predictive_without.register(InverseGammaColumns)
def _log_predictive_without(lik, k, i):
    # b = b' + k/(2 (k-1)) gap^2 with gap from the mean with item i; see `niw_planar`.
    m = lik.size[k]
    r = lik.prior[0] + m
    back = (r + 1.0) / (r - 1.0)
    total, product = 0.0, 1.0
    for d in range(len(lik.mean)):
        gap = lik.X[i, d] - lik.mean[d, k]
        rest = 1.0 - back * lik.precision[d, k] * gap * gap
        if rest < LOST:
            return -math.inf
        product *= rest
        if product < 1.0 / HUGE:
            total += math.log(product)
            product = 1.0
    total += math.log(product)
    const = predictive_normaliser(lik, m - 1) - 0.5 * lik.log_rate[k]
    return const + (lik.half_df[k] - 1.0) * total


@outweighs.register(InverseGammaColumns)
def _outweighs(lik, k, i):
    r = lik.prior[0] + lik.size[k]
    back = (r + 1.0) / (r - 1.0)
    for d in range(len(lik.mean)):
        gap = lik.X[i, d] - lik.mean[d, k]
        if 1.0 - back * lik.precision[d, k] * gap * gap < LOST:
            return True
    return False


@log_marginal.register(InverseGammaColumns)
def _log_marginal(lik, k):
    m = lik.size[k]
    return marginal_normaliser(lik, m) - (lik.prior[1] + 0.5 * m) * lik.log_rate[k]


@kernel
def fill_bounds(lik, i, beta, log_prior, n_slots, bound):
    """Upper bounds of all weights: log prod (1 + t_d) >= log(1 + t) >= 2t/(2+t), t = sum t_d."""
    width = padded(n_slots)
    for k in range(width):
        bound[k] = 0.0
    for d in range(len(lik.mean)):
        x = lik.X[i, d]
        mean, precision = lik.mean[d], lik.precision[d]
        for k in range(width):
            gap = x - mean[k]
            bound[k] += precision[k] * gap * gap
    const, half_df = lik.const, lik.half_df
    for k in range(width):
        t = bound[k]
        bound[k] = log_prior[k] + beta * (const[k] - half_df[k] * (2.0 * t / (2.0 + t)))


@log_weights.register(InverseGammaColumns)
def _log_weights(lik, i, own, beta, slack, partition):
    fill_bounds(lik, i, beta, partition.log_prior, partition.n_blocks[0] + 1, partition.scores)
    return log_weights_from_bounds(lik, i, own, beta, slack, partition)
