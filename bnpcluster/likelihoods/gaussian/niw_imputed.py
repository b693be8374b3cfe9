"""The normal-inverse-Wishart likelihood of rows with missing entries (NaN), imputed by the chains.

In general, the marginal of a block with missing entries has no closed form, so a chain samples the
entries, too. Given the partition, the missing entries of one row at a time are drawn from their
conditional Student t distribution given everything else, an exact Gibbs step (`move_latent`). Rows
that are only compared with blocks need no imputation: the marginal of their observed entries is a
Student t (`ObservedRows`).

Both use C, the Cholesky factor of a slot's S with the observed columns first. With y the solution
of C_oo y = x_o - mean_o, r = kappa + m and nu the degrees of freedom of the slot of m rows,

    x_m | x_o = mean_m + C_mo y + C_mm z sqrt(((r + 1) / r + |y|^2) / chi^2_{nu - d + 1 + p})

for p observed entries and standard normal z.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bnpcluster._core import operations as ops
from bnpcluster._core.jit import kernel
from bnpcluster.likelihoods.gaussian.learned_covariance import CovariancePrior
from bnpcluster.likelihoods.gaussian.niw_general import (
    SLOTS,
    GeneralNIW,
    bind_general,
    fill_log_empty,
    general_rows,
    put_values,
    renew_slots,
    slots_in_use,
)
from bnpcluster.likelihoods.gaussian.niw_general_weights import (
    log_weight_above,
    log_weight_bound,
    no_bound,
)
from bnpcluster.likelihoods.gaussian.niw_learned import owned, register_learned


class ImputedNIW(NamedTuple):
    """The fields of `GeneralNIW` with missing entries imputed, and the positions of these."""

    X: np.ndarray
    centre: np.ndarray
    unit: np.ndarray
    prior_mean: np.ndarray
    prior_scale: np.ndarray
    prior_inv_chol: np.ndarray
    prior: np.ndarray
    hyper: CovariancePrior
    log_empty: np.ndarray
    norm_predictive: np.ndarray
    norm_marginal: np.ndarray
    size: np.ndarray
    mean: np.ndarray
    scatter: np.ndarray
    inv_chol: np.ndarray
    log_det: np.ndarray
    work: np.ndarray
    missing: np.ndarray  # which entries were NaN
    incomplete: np.ndarray  # the rows with missing entries
    order: np.ndarray  # by incomplete row: its columns, the observed ones first
    n_observed: np.ndarray  # by incomplete row
    factor: np.ndarray  # scratch: C

    @property
    def slot_axis(self):
        """The arrays a chain owns, with its own values of the missing entries."""
        own = {"X": (), "log_empty": (), "factor": ()}
        slots = dict.fromkeys(SLOTS, 0)
        return {**slots, "work": (), **owned(self, "prior_inv_chol"), **own}


class ObservedRows(NamedTuple):
    """Rows with missing entries (NaN) and the slots of `ImputedNIW`; the rows are in no slot."""

    X: np.ndarray
    centre: np.ndarray
    unit: np.ndarray
    log_unit: np.ndarray  # by row: the log scales of its observed columns
    prior: np.ndarray
    size: np.ndarray
    mean: np.ndarray
    scatter: np.ndarray
    incomplete: np.ndarray
    order: np.ndarray
    n_observed: np.ndarray
    factor: np.ndarray
    work: np.ndarray


for _operation in (
    *(ops.clear, ops.add, ops.remove, ops.copy, ops.pool, ops.n_coordinates, ops.coordinate),
    *(ops.whiten, ops.log_predictive, ops.log_predictive_without, ops.log_marginal),
    *(ops.outweighs, ops.log_weights, log_weight_above),
):
    _operation.register(ImputedNIW)(_operation.implementations[GeneralNIW])
log_weight_bound.register(ImputedNIW)(no_bound)  # there may be two columns
register_learned(ImputedNIW, put_values, slots_in_use, renew=renew_slots)

_add, _predictive = (
    kernel(operation.implementations[GeneralNIW]) for operation in (ops.add, ops.log_predictive)
)


@kernel
def _take_out(lik, k, i, labels):
    ops.take_out(lik, k, i, labels, k)


def observed_first(Z):
    """The columns of every row, observed ones first, and the number of observed ones."""
    missing = np.isnan(Z)
    return np.argsort(missing, axis=1, kind="stable"), (~missing).sum(axis=1)


def bind_imputed(Z, unit, mean, kappa, nu, scale, hyper, capacity):
    """Rows in internal units and `capacity` slots; missing entries start at the prior mean."""
    missing = np.isnan(Z)
    incomplete = np.flatnonzero(missing.any(axis=1))
    filled = np.where(missing, mean, Z)
    d = Z.shape[1]
    return ImputedNIW(
        *bind_general(filled, unit, mean, kappa, nu, scale, hyper, capacity),
        missing,
        incomplete,
        *observed_first(Z[incomplete]),
        np.zeros((d, d)),
    )


def imputed_rows(bound, Z):
    """The same slots with other rows in internal units, which may contain NaN."""
    if not np.isnan(Z).any():
        return general_rows(GeneralNIW(*bound[: len(GeneralNIW._fields)]), Z)
    log_unit = np.where(np.isnan(Z), 0.0, np.log(bound.unit)).sum(axis=1)
    shared = (bound.prior, bound.size, bound.mean, bound.scatter, np.arange(len(Z)))
    scratch = (np.zeros_like(bound.factor), np.zeros_like(bound.work))
    return ObservedRows(
        Z, bound.centre, bound.unit, log_unit, *shared, *observed_first(Z), *scratch
    )


@ops.latent.register(ImputedNIW)
def _latent(lik):
    return lik.X[lik.missing]


@ops.set_latent.register(ImputedNIW)
def _set_latent(lik, values):
    lik.X[lik.missing] = values
    fill_log_empty(lik, 0)


@ops.move_latent.register(ImputedNIW)
def _move_latent(lik, labels, rng):
    d = lik.X.shape[1]
    own = labels[lik.incomplete]
    others = np.bincount(labels[labels >= 0])[own] - 1
    df = lik.prior[1] + others - d + 1 + lik.n_observed
    redraw(lik, labels, labels.max() + 1, rng.standard_normal(lik.order.shape), rng.chisquare(df))


@kernel
def condition_on_observed(lik, k, h):
    """Compute C of slot k for incomplete row h, and y in work[0]; return |y|^2."""
    order, C, y, d = lik.order[h], lik.factor, lik.work[0], lik.mean.shape[1]
    for a in range(d):
        for b in range(a + 1):
            high, low = max(order[a], order[b]), min(order[a], order[b])
            C[a, b] = lik.scatter[k, high, low]
    for b in range(d):
        square = C[b, b]
        for c in range(b):
            square -= C[b, c] * C[b, c]
        C[b, b] = math.sqrt(max(square, 1e-300))
        for a in range(b + 1, d):
            for c in range(b):
                C[a, b] -= C[a, c] * C[b, c]
            C[a, b] /= C[b, b]
    i, total = lik.incomplete[h], 0.0
    for a in range(lik.n_observed[h]):
        y[a] = lik.X[i, order[a]] - lik.mean[k, order[a]]
        for b in range(a):
            y[a] -= C[a, b] * y[b]
        y[a] /= C[a, a]
        total += y[a] * y[a]
    return total


@kernel
def redraw(lik, labels, empty, normals, chi_squares):
    """Draw the missing entries of one row after another, given everything else."""
    d = lik.mean.shape[1]
    for h in range(len(lik.incomplete)):
        i = lik.incomplete[h]
        k, p, order, C, y = labels[i], lik.n_observed[h], lik.order[h], lik.factor, lik.work[0]
        if k < 0:
            continue
        _take_out(lik, k, i, labels)
        r = lik.prior[0] + lik.size[k]
        scale = math.sqrt(((r + 1.0) / r + condition_on_observed(lik, k, h)) / chi_squares[h])
        for a in range(p, d):
            y[a] = scale * normals[h, a]
        for a in range(p, d):
            x = lik.mean[k, order[a]]
            for b in range(a + 1):
                x += C[a, b] * y[b]
            lik.X[i, order[a]] = x
        _add(lik, k, i)
        lik.log_empty[i] = _predictive(lik, empty, i)


@ops.log_predictive.register(ObservedRows)
def _log_predictive(lik, k, i):
    m, p, d = lik.size[k], lik.n_observed[i], lik.mean.shape[1]
    r, df = lik.prior[0] + m, lik.prior[1] + m - d + 1.0
    t = condition_on_observed(lik, k, i) * r / (r + 1.0)
    value = math.lgamma(0.5 * (df + p)) - math.lgamma(0.5 * df) - lik.log_unit[i]
    value += 0.5 * p * math.log(r / ((r + 1.0) * math.pi)) - 0.5 * (df + p) * math.log(1.0 + t)
    for a in range(p):
        value -= math.log(lik.factor[a, a])
    return value


@ops.renew_rows.register(ObservedRows)
def _renew_rows(lik):
    """Nothing: these rows keep no values that depend on the hyper-parameters."""


@ops.log_predictive_of_member.register(ObservedRows)
def _log_predictive_of_member(lik, k, i, labels, own):
    return ops.log_predictive(lik, k, i)  # these rows are in no slot


@kernel
def add_conditional_means(lik, k, weights, out):
    """Add to out weights[i] times the means of the missing entries of row i in slot k."""
    d = lik.mean.shape[1]
    for i in range(len(lik.X)):
        if weights[i] == 0.0:
            continue
        condition_on_observed(lik, k, i)
        for a in range(lik.n_observed[i], d):
            x = lik.mean[k, lik.order[i, a]]
            for b in range(lik.n_observed[i]):
                x += lik.factor[a, b] * lik.work[0, b]
            out[i, lik.order[i, a]] += weights[i] * x
