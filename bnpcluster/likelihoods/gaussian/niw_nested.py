"""Kernels of the normal-inverse-Wishart likelihood of rows with nested patterns of missing entries.

Patterns are nested if, in some order of the columns, every row is observed up to some column and
missing after it. Level l has the columns from `ends[l]` up to `ends[l + 1]`, and a row has either
all or none of them observed. Under an inverse-Wishart prior, the columns of a level given the
earlier columns follow a regression whose parameters are independent of those of all other levels.
So missing entries are integrated out, and the marginal of a block is

    prod_l  m_l(columns before ends[l + 1]) / m_l(columns before ends[l]),

where m_l is the marginal of the leading columns over the rows that are observed in level l. The
predictive has the same form. Each level of a slot has the statistics of a slot of `GeneralNIW`;
numerator and denominator share the rows of one product.

Rows are not points here (`n_coordinates` is 0). Launches by distances, with column means for
missing entries, did not find clusters faster than launches by densities.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bnpcluster._core import operations as ops
from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import padded
from bnpcluster.likelihoods.gaussian.extremes import LOST
from bnpcluster.likelihoods.gaussian.learned_covariance import CovariancePrior, scale_matrix
from bnpcluster.likelihoods.gaussian.niw_general import (
    GeneralNIW,
    fill_log_empty,
    inverse_factor,
    pool_sums,
)
from bnpcluster.likelihoods.gaussian.niw_general_weights import (
    log_weight_above,
    log_weight_bound,
    no_bound,
    partial_square,
)
from bnpcluster.likelihoods.gaussian.niw_learned import owned
from bnpcluster.likelihoods.gaussian.niw_normalisers import normalisers_by_level

LEVELS = "size mean scatter inv_chol log_det log_pivots".split()  # by level and slot


class NestedNIW(NamedTuple):
    """The fields of `GeneralNIW`, with slots for each level, and the columns of the levels.

    All fields except `centre` and `unit` have the columns in the order of the levels.
    """

    X: np.ndarray  # NaN: missing
    centre: np.ndarray
    unit: np.ndarray
    prior_mean: np.ndarray
    prior_scale: np.ndarray
    prior_inv_chol: np.ndarray
    prior: np.ndarray
    hyper: CovariancePrior
    log_empty: np.ndarray
    norm_predictive: np.ndarray  # by level and size
    norm_marginal: np.ndarray  # by level and size
    size: np.ndarray
    mean: np.ndarray
    scatter: np.ndarray
    inv_chol: np.ndarray
    log_det: np.ndarray
    work: np.ndarray
    log_pivots: np.ndarray  # sum of log L[a, a] over the level's own columns a
    order: np.ndarray  # the columns
    ends: np.ndarray  # 0, then the end of the columns of each level
    n_levels: np.ndarray  # by row

    @property
    def slot_axis(self):
        """The arrays a chain owns, and the axis of the slots in each."""
        own = owned(self, "prior_inv_chol", "log_empty")
        return {**dict.fromkeys(LEVELS, 1), "work": (), **own}


class Nesting(NamedTuple):
    """An order of the columns in which every row is observed up to one of the ends."""

    order: np.ndarray
    ends: np.ndarray


def find_nesting(Z):
    """The smallest number of levels of nested patterns; None if they are not nested."""
    missing = np.isnan(Z)
    order = np.argsort(missing.sum(axis=0), kind="stable")
    found = Nesting(order, np.unique([0, *(~missing).sum(axis=1), Z.shape[1]]))
    return None if levels_of_rows(Z, found) is None else found


def levels_of_rows(Z, nested):
    """The number of levels in which each row is observed; None if a row ends elsewhere."""
    seen = ~np.isnan(Z[:, nested.order])
    n_seen = seen.sum(axis=1)
    found = np.searchsorted(nested.ends, n_seen)
    first = np.arange(Z.shape[1]) < n_seen[:, None]
    return found if (seen == first).all() and (nested.ends[found] == n_seen).all() else None


def bind_nested(Z, unit, mean, kappa, nu, scale, hyper, nested, capacity):
    """Rows in internal units and `capacity` slots."""
    n, d = Z.shape
    order, shape = nested.order, (len(nested.ends) - 1, padded(capacity))
    scale, log_units = scale[np.ix_(order, order)], np.log(unit.scale)[order]
    tables = normalisers_by_level(n, kappa, nu, scale, log_units, nested.ends)
    bound = NestedNIW(
        np.ascontiguousarray(Z[:, order]),
        *unit,
        mean[order],
        scale,
        inverse_factor(scale),
        np.array([kappa, nu]),
        hyper.ordered(order),
        np.zeros(n),
        *tables,
        size=np.zeros(shape, np.intp),
        mean=np.zeros((*shape, d)),
        scatter=np.zeros((*shape, d, d)),
        inv_chol=np.zeros((*shape, d, d)),
        log_det=np.zeros(shape),
        work=np.zeros((3, d)),
        log_pivots=np.zeros(shape),
        order=order,
        ends=nested.ends,
        n_levels=levels_of_rows(Z, nested),
    )
    fill_log_empty(bound, 0)
    return bound


def nested_rows(bound, Z):
    """The same slots with other rows, which may have the patterns of the rows of the fit."""
    n_levels = levels_of_rows(Z, Nesting(bound.order, bound.ends))
    if n_levels is None:
        raise ValueError(
            "New rows have patterns of missing entries that do not occur in the fit: fit with "
            "NormalInverseWishart(missing='impute')."
        )
    rows = np.ascontiguousarray(Z[:, bound.order])
    other = bound._replace(X=rows, n_levels=n_levels, log_empty=np.zeros(len(Z)))
    fill_log_empty_aside(other)
    return other


@ops.renew_rows.register(NestedNIW)
def fill_log_empty_aside(bound):
    """Fill `log_empty` and leave the slots as they are."""
    work = bound.work.copy()
    spare = {name: getattr(bound, name)[:, :1].copy() for name in LEVELS}
    fill_log_empty(bound._replace(**spare, work=work), 0)


def put_values(lik, values):
    """Write the values of learned hyper-parameters into bound data."""
    scale = scale_matrix(lik.hyper, values)
    lik.hyper.expected[:], lik.prior_scale[:] = values.expected, scale
    lik.prior_inv_chol[:] = inverse_factor(scale)
    lik.prior[:] = values.kappa, values.nu
    log_units, n = np.log(lik.unit)[lik.order], lik.norm_marginal.shape[1] - 2
    tables = normalisers_by_level(n, values.kappa, values.nu, scale, log_units, lik.ends)
    lik.norm_predictive[:], lik.norm_marginal[:] = tables
    fill_log_empty_aside(lik)


ops.log_weights.register(NestedNIW)(ops.log_weights.implementations[GeneralNIW])
log_weight_bound.register(NestedNIW)(no_bound)

_clear_level, _add_level, _remove_level, _copy_level = (
    kernel(operation.implementations[GeneralNIW])
    for operation in (ops.clear, ops.add, ops.remove, ops.copy)
)


@kernel(inline=True)
def one_level(lik, level):
    """One level of all slots."""
    return GeneralNIW(
        lik.X,
        lik.centre,
        lik.unit,
        lik.prior_mean[: lik.ends[level + 1]],
        lik.prior_scale,
        lik.prior_inv_chol,
        lik.prior,
        lik.hyper,
        lik.log_empty,
        lik.norm_predictive[level],
        lik.norm_marginal[level],
        lik.size[level],
        lik.mean[level],
        lik.scatter[level],
        lik.inv_chol[level],
        lik.log_det[level],
        lik.work,
    )


@kernel(inline=True)
def refresh(lik, level, k):
    """Recompute the terms of the predictive of a level from its Cholesky factor."""
    total = 0.0
    for a in range(lik.ends[level], lik.ends[level + 1]):
        total -= math.log(lik.inv_chol[level, k, a, a])
    lik.log_pivots[level, k] = total


@kernel
def clear_levels(lik, k):
    """Make all levels of slot k empty."""
    for level in range(len(lik.size)):
        _clear_level(one_level(lik, level), k)
        refresh(lik, level, k)


@kernel
def shift_levels(lik, k, i, sign):
    """Add (sign 1) or remove (sign -1) row i in the levels where it is observed."""
    for level in range(lik.n_levels[i]):
        if sign > 0:
            _add_level(one_level(lik, level), k, i)
        else:
            _remove_level(one_level(lik, level), k, i)
        refresh(lik, level, k)


@kernel
def copy_levels(lik, to, source):
    """Copy all levels of slot `source` to slot `to`."""
    for level in range(len(lik.size)):
        _copy_level(one_level(lik, level), to, source)
        lik.log_pivots[level, to] = lik.log_pivots[level, source]


@kernel
def pool_levels(lik, to, one, two, labels):
    """Fill all levels of slot `to` with the rows of slots `one` and `two`."""
    flat = False
    for level in range(len(lik.size)):
        flat |= pool_sums(one_level(lik, level), to, one, two)
        refresh(lik, level, to)
    if flat:
        copy_levels(lik, to, one)
        for i in range(len(labels)):
            if labels[i] == two:
                shift_levels(lik, to, i, 1)


# Separate kernels, because a kernel cannot return the result of `one_level` to Python.
@ops.clear.register(NestedNIW)
def _clear(lik, k):
    clear_levels(lik, k)


@ops.add.register(NestedNIW)
def _add(lik, k, i):
    shift_levels(lik, k, i, 1)


@ops.remove.register(NestedNIW)
def _remove(lik, k, i):
    shift_levels(lik, k, i, -1)


@ops.copy.register(NestedNIW)
def _copy(lik, to, source):
    copy_levels(lik, to, source)


@ops.pool.register(NestedNIW)
def _pool(lik, to, one, two, labels):
    pool_levels(lik, to, one, two, labels)


@kernel(inline=True)
def quadratics(lik, level, k, i):
    """(x - mean)' S^-1 (x - mean) of row i: of the columns before a level, and up to its end."""
    mean, inv_chol, gap, before = lik.mean[level], lik.inv_chol[level], lik.work[1], 0.0
    start, stop = lik.ends[level], lik.ends[level + 1]
    if start > 0:
        before = partial_square(lik.X, i, mean, inv_chol, k, gap, 0, start)
    return before, before + partial_square(lik.X, i, mean, inv_chol, k, gap, start, stop)


@log_weight_above.register(NestedNIW)
def _log_weight_above(lik, k, i, log_prior, beta, floor):
    total = 0.0
    for level in range(lik.n_levels[i]):
        total += lik.norm_predictive[level, lik.size[level, k]] - lik.log_pivots[level, k]
    for level in range(lik.n_levels[i]):
        m = lik.size[level, k]
        r = lik.prior[0] + m
        df = lik.prior[1] + m + 1.0 - lik.X.shape[1]
        before, after = quadratics(lik, level, k, i)
        scale = r / (r + 1.0)
        # `after` is at least `before`, so this can only decrease the total.
        if level > 0:
            total += 0.5 * (df + lik.ends[level]) * math.log(1.0 + before * scale)
        total -= 0.5 * (df + lik.ends[level + 1]) * math.log(1.0 + after * scale)
        if log_prior + beta * total < floor:
            return -math.inf
    return log_prior + beta * total


@ops.log_predictive.register(NestedNIW)
def _log_predictive(lik, k, i):
    return log_weight_above(lik, k, i, 0.0, 1.0, -math.inf)


@ops.log_predictive_without.register(NestedNIW)
def _log_predictive_without(lik, k, i):
    # As in `GeneralNIW` for each level, with |S'| = |S| (1 - r/(r-1) q) for both blocks of columns.
    total = 0.0
    for level in range(lik.n_levels[i]):
        m = lik.size[level, k]
        r = lik.prior[0] + m
        df = lik.prior[1] + m - 1.0 - lik.X.shape[1]
        before, after = quadratics(lik, level, k, i)
        total += lik.norm_predictive[level, m - 1] - lik.log_pivots[level, k]
        rest = 1.0 - after * r / (r - 1.0)
        if rest < LOST:
            return -math.inf
        if level > 0:  # `before` is at most `after`, so that it leaves more
            total -= 0.5 * (df + lik.ends[level]) * math.log(1.0 - before * r / (r - 1.0))
        total += 0.5 * (df + lik.ends[level + 1]) * math.log(rest)
    return total


@ops.outweighs.register(NestedNIW)
def _outweighs(lik, k, i):
    for level in range(lik.n_levels[i]):
        r = lik.prior[0] + lik.size[level, k]
        if 1.0 - quadratics(lik, level, k, i)[1] * r / (r - 1.0) < LOST:
            return True
    return False


@ops.log_marginal.register(NestedNIW)
def _log_marginal(lik, k):
    total = 0.0
    for level in range(len(lik.size)):
        m, after = lik.size[level, k], 0.5 * lik.log_det[level, k]
        df = lik.prior[1] + m - lik.X.shape[1]
        total += lik.norm_marginal[level, m] - (df + lik.ends[level + 1]) * after
        total += (df + lik.ends[level]) * (after - lik.log_pivots[level, k])
    return total
