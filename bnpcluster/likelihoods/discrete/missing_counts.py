"""Kernels of the gamma-Poisson likelihood of counts with missing entries (NaN).

A missing entry adds nothing to the sums of its column and has factor 1 in the predictive. This
integrates it out. With s the sum over the m items observed in a column, A = shape + s and
b = rate + m, the log predictive of y is

    log Gamma(A + y) - log Gamma(A) - y log(b + 1) - A log((b + 1) / b) - log y!

An item is the list of its observed columns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import (
    add,
    clear,
    copy,
    log_marginal,
    log_predictive,
    log_predictive_without,
    padded,
    pool,
    remove,
)
from bnpcluster.likelihoods.discrete.gamma_poisson import (
    log_rate_at,
    log_rising_at,
    log_step_at,
    put_rates,
    rate_tables,
    shape_table,
)
from bnpcluster.likelihoods.discrete.learned_rates import RatePrior, owned, register_learned
from bnpcluster.likelihoods.discrete.terms import term_lists
from bnpcluster.likelihoods.log_tables import Table


class ObservedCounts(NamedTuple):
    """The rows, the prior, and per slot the sums and sizes of the columns."""

    start: np.ndarray
    terms: np.ndarray  # the observed columns of an item
    values: np.ndarray  # their counts
    log_base: np.ndarray  # by item: minus the sum of log y!
    hyper: RatePrior
    shape: Table
    rate: np.ndarray  # by column
    log_rate: np.ndarray  # log(rate + m) by size and column
    log_step: np.ndarray  # log((rate + m + 1) / (rate + m)) by size and column
    size: np.ndarray  # by slot and column
    total: np.ndarray  # by slot and column
    sum_log_base: np.ndarray

    @property
    def slot_axis(self) -> dict[str, Any]:
        """The arrays that a chain owns, and the axis of their slots."""
        return {**dict.fromkeys(("size", "total", "sum_log_base"), 0), **owned(self)}

    @property
    def n_items(self) -> int:
        """The number of rows."""
        return len(self.start) - 1


def observed_count_lists(X):
    """`start`, `terms`, `values` and `log_base` of rows of counts with NaN for missing entries."""
    observed = ~np.isnan(X)
    log_base = -gammaln(np.where(observed, X, 0.0) + 1).sum(axis=1)
    return *term_lists(observed), X[observed].astype(np.int64), log_base


def bind_observed_counts(X, hyper, capacity):
    """Rows of counts and `capacity` slots."""
    n, d = X.shape
    width, rate = padded(capacity), hyper.shape * hyper.rho
    return ObservedCounts(
        *observed_count_lists(X),
        hyper,
        shape_table(hyper, np.nansum(X, axis=0).max()),
        rate,
        *rate_tables(rate, n),
        size=np.zeros((width, d), np.intp),
        total=np.zeros((width, d), np.int64),
        sum_log_base=np.zeros(width),
    )


register_learned(ObservedCounts, put_rates)


@kernel
def shift(lik, k, i, sign):
    """Add (sign 1) or remove (sign -1) item i."""
    for p in range(lik.start[i], lik.start[i + 1]):
        lik.total[k, lik.terms[p]] += sign * lik.values[p]
        lik.size[k, lik.terms[p]] += sign
    lik.sum_log_base[k] += sign * lik.log_base[i]


@clear.register(ObservedCounts)
def _clear(lik, k):
    lik.sum_log_base[k] = 0.0
    lik.size[k, :] = 0
    lik.total[k, :] = 0


@add.register(ObservedCounts)
def _add(lik, k, i):
    shift(lik, k, i, 1)


@remove.register(ObservedCounts)
def _remove(lik, k, i):
    shift(lik, k, i, -1)


@copy.register(ObservedCounts)
def _copy(lik, to, source):
    lik.sum_log_base[to] = lik.sum_log_base[source]
    for d in range(lik.total.shape[1]):
        lik.size[to, d] = lik.size[source, d]
        lik.total[to, d] = lik.total[source, d]


@pool.register(ObservedCounts)
def _pool(lik, to, one, two, labels):
    lik.sum_log_base[to] = lik.sum_log_base[one] + lik.sum_log_base[two]
    for d in range(lik.total.shape[1]):
        lik.size[to, d] = lik.size[one, d] + lik.size[two, d]
        lik.total[to, d] = lik.total[one, d] + lik.total[two, d]


@kernel(inline=True)
def log_count(lik, d, m, s, y):
    """The log predictive of y, without log y!, in a column of m items that sum to s."""
    value = log_rising_at(lik.shape, d, s, y) - y * log_rate_at(lik, d, m + 1)
    return value - (lik.shape.base[d] + s) * log_step_at(lik, d, m)


@log_predictive.register(ObservedCounts)
def _log_predictive(lik, k, i):
    value, size, total = lik.log_base[i], lik.size[k], lik.total[k]
    for p in range(lik.start[i], lik.start[i + 1]):
        d, y = lik.terms[p], lik.values[p]
        value += log_count(lik, d, size[d], total[d], y)
    return value


@log_predictive_without.register(ObservedCounts)
def _log_predictive_without(lik, k, i):
    value, size, total = lik.log_base[i], lik.size[k], lik.total[k]
    for p in range(lik.start[i], lik.start[i + 1]):
        d, y = lik.terms[p], lik.values[p]
        value += log_count(lik, d, size[d] - 1, total[d] - y, y)
    return value


@log_marginal.register(ObservedCounts)
def _log_marginal(lik, k):
    value = lik.sum_log_base[k]
    for d in range(lik.total.shape[1]):
        m, s = lik.size[k, d], lik.total[k, d]
        value += log_rising_at(lik.shape, d, 0, s)
        value -= lik.shape.base[d] * (log_rate_at(lik, d, m) - log_rate_at(lik, d, 0))
        value -= s * log_rate_at(lik, d, m)
    return value
