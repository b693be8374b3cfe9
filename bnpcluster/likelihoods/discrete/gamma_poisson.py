"""Kernels of the gamma-Poisson likelihood: bounds for all slots at once, then exact values.

With s the sum over the m items of a block, A = shape + s and b = rate + m, the log predictive of y:

    log Gamma(A + y) - log Gamma(A) - y log(b + 1) - A log((b + 1) / b) - log y!

The fourth term does not depend on y and is in a bias per slot. An item is the list of its columns
with y > 0. The first two terms are a sum of concave logarithms, which is at most the sum of their
tangents at any c:

    sum_{j<y} log(A + j) <= y log(A + c) + (y (y - 1) / 2 - c y) / (A + c),

linear in y and y^2. So two rows of tables per column show which slots can matter.
"""

from __future__ import annotations

import math
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
    log_weights,
    log_weights_from_bounds,
    padded,
    pool,
    remove,
    renew_rows,
)
from bnpcluster.likelihoods.discrete.learned_rates import RatePrior, owned, register_learned
from bnpcluster.likelihoods.discrete.terms import term_lists
from bnpcluster.likelihoods.log_tables import (
    ENTRIES,
    Table,
    log_at,
    point_to,
    tabulate,
    tabulate_grid,
)

LARGE = 4096.0  # above this, Stirling's series is exact, and log Gamma(A) - log Gamma(B) is not


class CountLists(NamedTuple):
    """Rows of counts as lists of the columns with y > 0."""

    start: np.ndarray
    terms: np.ndarray  # columns
    values: np.ndarray  # their counts
    log_base: np.ndarray  # by item: minus the sum of log y!
    log_alone: np.ndarray  # by item: the log predictive of an empty slot


class PoissonSlots(NamedTuple):
    """The rows, the prior, and per slot the sums, the predictive and its upper bound.

    The bound of y > 0 in column d is `y slope[d, k] + y^2 bend[d, k]`.
    """

    start: np.ndarray
    terms: np.ndarray
    values: np.ndarray
    log_base: np.ndarray
    log_alone: np.ndarray
    hyper: RatePrior
    shape: Table
    rate: np.ndarray  # by column
    log_rate: np.ndarray  # log(rate + m) by size and column
    log_step: np.ndarray  # log((rate + m + 1) / (rate + m)) by size and column
    centre: np.ndarray  # by column: c of the tangents
    size: np.ndarray
    total: np.ndarray  # by slot and column
    sum_log_base: np.ndarray
    bias: np.ndarray
    bias_without: np.ndarray  # for a member, given the other members
    slope: np.ndarray  # by column and slot
    bend: np.ndarray  # by column and slot

    @property
    def slot_axis(self) -> dict[str, Any]:
        """The arrays that a chain owns, and the axis of their slots."""
        first = ("size", "total", "sum_log_base", "bias", "bias_without")
        return {**dict.fromkeys(first, 0), "slope": 1, "bend": 1, **owned(self, "log_alone")}

    @property
    def n_items(self) -> int:
        """The number of rows."""
        return len(self.start) - 1


def count_lists(X, shape, rate):
    """Rows of counts in the form that the kernels use."""
    log_base = -gammaln(X + 1).sum(axis=1)
    alone = gammaln(shape + X) - gammaln(shape) - X * np.log(rate + 1) - shape * np.log1p(1 / rate)
    values = X[X > 0].astype(np.int64)
    return CountLists(*term_lists(X > 0), values, log_base, alone.sum(axis=1) + log_base)


def bind_counts(X, hyper, capacity):
    """Rows of counts and `capacity` slots."""
    n, d = X.shape
    width, sums, shape, rate = padded(capacity), X.sum(axis=0), hyper.shape, hyper.shape * hyper.rho
    # The mean of the counts, weighted by themselves: the typical count that separates slots.
    typical = (X * (X / np.maximum(sums, 1))).sum(axis=0)
    return PoissonSlots(
        *count_lists(X, shape, rate),
        hyper,
        shape_table(hyper, sums.max()),
        rate,
        *rate_tables(rate, n),
        np.rint(np.maximum(typical - 1, 0) / 2).astype(np.int64),
        size=np.zeros(width, np.intp),
        total=np.zeros((width, d), np.int64),
        sum_log_base=np.zeros(width),
        bias=np.zeros(width),
        bias_without=np.zeros(width),
        slope=np.zeros((d, width)),
        bend=np.zeros((d, width)),
    )


def shape_table(hyper, largest_sum):
    """The table of the shapes, or of all shapes on the grid."""
    length = int(min(largest_sum, ENTRIES)) + 2
    if hyper.grid.size:
        return tabulate_grid(hyper.shape, hyper.grid, length)
    return tabulate(hyper.shape, length)


def rate_tables(rate, n):
    """`log_rate` and `log_step`."""
    by_size = rate + np.arange(min(n + 3, max(ENTRIES // len(rate), 1)))[:, None]
    return np.log(by_size), np.log1p(1 / by_size)


def put_rates(lik):
    """Make the tables those of the current hyper-parameters."""
    if lik.hyper.grid.size:
        point_to(lik.shape, lik.hyper.grid, lik.hyper.shape)
    lik.rate[:] = lik.hyper.shape * lik.hyper.rho
    by_size = lik.rate + np.arange(len(lik.log_rate))[:, None]
    lik.log_rate[:], lik.log_step[:] = np.log(by_size), np.log1p(1 / by_size)


def put(lik):
    """Make the tables and `log_alone` those of the current hyper-parameters."""
    put_rates(lik)
    fill_log_alone(lik)


register_learned(PoissonSlots, put)


@renew_rows.register(PoissonSlots)
def _renew_rows(lik):
    fill_log_alone(lik)


@kernel
def fill_log_alone(lik):
    """Recompute the log predictive of an empty slot at every row."""
    zeros = 0.0
    for d in range(len(lik.rate)):
        zeros -= lik.shape.base[d] * math.log1p(1.0 / lik.rate[d])
    for i in range(len(lik.log_alone)):
        value = zeros + lik.log_base[i]
        for p in range(lik.start[i], lik.start[i + 1]):
            d, y = lik.terms[p], lik.values[p]
            value += log_rising_at(lik.shape, d, 0, y) - y * math.log(lik.rate[d] + 1.0)
        lik.log_alone[i] = value


@kernel(inline=True)
def log_rate_at(lik, d, m):
    """log(rate[d] + m)."""
    return lik.log_rate[m, d] if m < len(lik.log_rate) else math.log(lik.rate[d] + m)


@kernel(inline=True)
def log_step_at(lik, d, m):
    """log((rate[d] + m + 1) / (rate[d] + m)), for m >= 0."""
    return lik.log_step[m, d] if m < len(lik.log_step) else math.log1p(1.0 / (lik.rate[d] + m))


@kernel(inline=True)
def log_rising_at(shape, d, s, y):
    """lgamma(A + y) - lgamma(A) at A = shape[d] + s, without loss of digits for large A."""
    if s + y < shape.length:
        first = shape.first[d] + s
        return shape.log_gamma[first + y] - shape.log_gamma[first]
    low = shape.base[d] + s
    if low < LARGE:
        return math.lgamma(low + y) - math.lgamma(low)
    high = low + y
    series = (1.0 / high - 1.0 / low) / 12.0
    return (low - 0.5) * math.log1p(y / low) + y * (math.log(high) - 1.0) + series


@kernel
def refresh(lik, k):
    """Recompute the predictive of slot k and its bound from its sums."""
    m, total = lik.size[k], lik.total[k]
    bias = bias_without = 0.0
    for d in range(len(total)):
        s = total[d]
        bias -= (lik.shape.base[d] + s) * log_step_at(lik, d, m)
        if m > 0:
            bias_without -= (lik.shape.base[d] + s) * log_step_at(lik, d, m - 1)
        c = lik.centre[d]
        inverse = 1.0 / (lik.shape.base[d] + s + c)
        log_mean = log_at(lik.shape, d, s + c, s + c < lik.shape.length)
        lik.slope[d, k] = log_mean - (c + 0.5) * inverse - log_rate_at(lik, d, m + 1)
        lik.bend[d, k] = 0.5 * inverse
    lik.bias[k] = bias
    lik.bias_without[k] = bias_without


@kernel
def shift(lik, k, i, sign):
    """Add (sign 1) or remove (sign -1) item i."""
    for p in range(lik.start[i], lik.start[i + 1]):
        lik.total[k, lik.terms[p]] += sign * lik.values[p]
    lik.size[k] += sign
    lik.sum_log_base[k] += sign * lik.log_base[i]
    refresh(lik, k)


@clear.register(PoissonSlots)
def _clear(lik, k):
    lik.size[k] = 0
    lik.sum_log_base[k] = 0.0
    lik.total[k, :] = 0
    refresh(lik, k)


@add.register(PoissonSlots)
def _add(lik, k, i):
    shift(lik, k, i, 1)


@remove.register(PoissonSlots)
def _remove(lik, k, i):
    shift(lik, k, i, -1)
    if lik.size[k] == 0:
        lik.sum_log_base[k] = 0.0


@copy.register(PoissonSlots)
def _copy(lik, to, source):
    lik.size[to] = lik.size[source]
    lik.sum_log_base[to] = lik.sum_log_base[source]
    for d in range(lik.total.shape[1]):
        lik.total[to, d] = lik.total[source, d]
    refresh(lik, to)


@pool.register(PoissonSlots)
def _pool(lik, to, one, two, labels):
    lik.size[to] = lik.size[one] + lik.size[two]
    lik.sum_log_base[to] = lik.sum_log_base[one] + lik.sum_log_base[two]
    for d in range(lik.total.shape[1]):
        lik.total[to, d] = lik.total[one, d] + lik.total[two, d]
    refresh(lik, to)


@log_predictive.register(PoissonSlots)
def _log_predictive(lik, k, i):
    m, total = lik.size[k], lik.total[k]
    if m == 0:
        return lik.log_alone[i]
    value = lik.bias[k] + lik.log_base[i]
    for p in range(lik.start[i], lik.start[i + 1]):
        d, y = lik.terms[p], lik.values[p]
        value += log_rising_at(lik.shape, d, total[d], y) - y * log_rate_at(lik, d, m + 1)
    return value


@log_predictive_without.register(PoissonSlots)
def _log_predictive_without(lik, k, i):
    # The bias uses the sums with item i. Their excess changes log(b) to log(b - 1) below.
    m, total = lik.size[k], lik.total[k]
    if m == 1:
        return lik.log_alone[i]
    value = lik.bias_without[k] + lik.log_base[i]
    for p in range(lik.start[i], lik.start[i + 1]):
        d, y = lik.terms[p], lik.values[p]
        value += log_rising_at(lik.shape, d, total[d] - y, y) - y * log_rate_at(lik, d, m - 1)
    return value


@log_marginal.register(PoissonSlots)
def _log_marginal(lik, k):
    m, value = lik.size[k], lik.sum_log_base[k]
    for d in range(lik.total.shape[1]):
        s = lik.total[k, d]
        value += log_rising_at(lik.shape, d, 0, s)
        value -= lik.shape.base[d] * (log_rate_at(lik, d, m) - log_rate_at(lik, d, 0))
        value -= s * log_rate_at(lik, d, m)
    return value


@kernel(inline=True)
def fill_bounds(lik, i, beta, log_prior, empty, bound):
    """Upper bounds of all weights, two columns at a time; the empty slot has its exact weight."""
    width = padded(empty + 1)
    bias, log_base = lik.bias, lik.log_base[i]
    for k in range(width):
        bound[k] = bias[k] + log_base
    p, end = lik.start[i], lik.start[i + 1]
    while p + 2 <= end:
        y0, y1 = float(lik.values[p]), float(lik.values[p + 1])
        slope0, slope1 = lik.slope[lik.terms[p]], lik.slope[lik.terms[p + 1]]
        bend0, bend1 = lik.bend[lik.terms[p]], lik.bend[lik.terms[p + 1]]
        for k in range(width):
            bound[k] += y0 * (slope0[k] + y0 * bend0[k]) + y1 * (slope1[k] + y1 * bend1[k])
        p += 2
    if p < end:
        y0, slope0, bend0 = float(lik.values[p]), lik.slope[lik.terms[p]], lik.bend[lik.terms[p]]
        for k in range(width):
            bound[k] += y0 * (slope0[k] + y0 * bend0[k])
    for k in range(width):
        bound[k] = log_prior[k] + beta * bound[k]
    bound[empty] = log_prior[empty] + beta * lik.log_alone[i]


@log_weights.register(PoissonSlots)
def _log_weights(lik, i, own, beta, slack, partition):
    fill_bounds(lik, i, beta, partition.log_prior, partition.n_blocks[0], partition.scores)
    return log_weights_from_bounds(lik, i, own, beta, slack, partition)
