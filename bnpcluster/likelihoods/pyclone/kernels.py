"""Kernels of PyClone's likelihood: the prevalence of a block, integrated on a grid.

An item has, per sample, a row of log terms l[j], one per point of the grid. With S = sum of l over
the items of a block, and its prevalence uniform on the grid, per sample

    log m(block) = log sum_j exp S[j] - log M,    log f(i | block) = log sum_j p[j] exp l_i[j],

where p is the posterior exp S / sum exp S. Posteriors and terms are also stored without logarithms,
so that a predictive is a dot product over the few points where the posterior is not negligible. If
the two hardly overlap, the sum uses logarithms. Samples without data for an item are skipped.

Rows are padded to a multiple of eight points, with posterior zero, and spans of points begin and
end at multiples of eight, so that the compiler vectorises eight sums at a time.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import (
    LANES,
    NEGLIGIBLE,
    add,
    append_candidate,
    clear,
    copy,
    log_marginal,
    log_marginal_union,
    log_predictive,
    log_predictive_without,
    log_weights,
    padded,
    pool,
    remove,
)

LOG_LEAST = -230.0  # posteriors below this are set to zero
LOG_SMALL = -180.0  # dot products above this have full double precision
SMALL = math.exp(LOG_SMALL)
LOWEST = -450.0  # terms below this are zero; the product with a posterior is a normal number
PADDING = -1e300  # sums where rows are padded: no probability, and 0 times it is 0


class Reads(NamedTuple):
    """Items, with the terms of each item in each sample."""

    distinct: np.ndarray  # the distinct observations, as rows
    kind: np.ndarray  # by item and sample: its row of `distinct`; -1: missing
    log_terms: np.ndarray  # by kind and point of the grid
    terms: np.ndarray  # exp(log_terms - top)
    top: np.ndarray  # by kind
    most: np.ndarray  # by item: the sum of `top` over its samples
    log_alone: np.ndarray  # by item: the log predictive of an empty slot


class GridSlots(NamedTuple):
    """The items, and per slot and sample the sum of log terms and the posterior on the grid."""

    distinct: np.ndarray
    kind: np.ndarray
    log_terms: np.ndarray
    terms: np.ndarray
    top: np.ndarray
    most: np.ndarray
    log_alone: np.ndarray
    n_grid: int
    size: np.ndarray
    sums: np.ndarray  # by slot, sample and point
    posterior: np.ndarray  # by slot, sample and point
    span: np.ndarray  # by slot and sample: the points where the posterior is not zero
    log_total: np.ndarray  # by slot and sample: log sum_j exp(sums[j])

    @property
    def slot_axis(self) -> dict[str, int]:
        """The arrays that a chain owns, and the axis of their slots."""
        return dict.fromkeys(("size", "sums", "posterior", "span", "log_total"), 0)

    @property
    def n_items(self) -> int:
        """The number of items."""
        return len(self.kind)


def reads_of(distinct, kind, log_terms):
    """Items in the form that the kernels use."""
    top = log_terms.max(axis=1)
    relative = log_terms - top[:, None]
    terms = np.where(relative > LOWEST, np.exp(np.maximum(relative, LOWEST)), 0.0)
    log_mean = np.log(terms.mean(axis=1))
    most, log_alone = (
        np.where(kind >= 0, np.append(by_kind, 0.0)[kind], 0.0).sum(axis=1)
        for by_kind in (top, top + log_mean)
    )
    to_lanes = (0, 0), (0, -log_terms.shape[1] % LANES)
    log_terms, terms = np.pad(log_terms, to_lanes), np.pad(terms, to_lanes)
    return Reads(distinct, kind, log_terms, terms, top, most, log_alone)


def bind_reads(reads, n_grid, capacity):
    """Items and `capacity` slots."""
    shape = padded(capacity), reads.kind.shape[1]
    return GridSlots(
        *reads,
        n_grid,
        size=np.zeros(shape[0], np.intp),
        sums=np.zeros((*shape, padded(n_grid))),
        posterior=np.zeros((*shape, padded(n_grid))),
        span=np.zeros((*shape, 2), np.intp),
        log_total=np.zeros(shape),
    )


@kernel(inline=True)
def span_dot(p, q, start, stop):
    """The sum of p[j] q[j] for j = start .. stop-1."""
    a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = 0.0
    for j in range(start, stop, LANES):
        a0 += p[j] * q[j]
        a1 += p[j + 1] * q[j + 1]
        a2 += p[j + 2] * q[j + 2]
        a3 += p[j + 3] * q[j + 3]
        a4 += p[j + 4] * q[j + 4]
        a5 += p[j + 5] * q[j + 5]
        a6 += p[j + 6] * q[j + 6]
        a7 += p[j + 7] * q[j + 7]
    return ((a0 + a1) + (a2 + a3)) + ((a4 + a5) + (a6 + a7))


@kernel(inline=True)
def largest(p, q, sign):
    """The largest of all p[j] + sign q[j]."""
    m0 = m1 = m2 = m3 = m4 = m5 = m6 = m7 = -math.inf
    for j in range(0, len(p), LANES):
        m0 = max(m0, p[j] + sign * q[j])
        m1 = max(m1, p[j + 1] + sign * q[j + 1])
        m2 = max(m2, p[j + 2] + sign * q[j + 2])
        m3 = max(m3, p[j + 3] + sign * q[j + 3])
        m4 = max(m4, p[j + 4] + sign * q[j + 4])
        m5 = max(m5, p[j + 5] + sign * q[j + 5])
        m6 = max(m6, p[j + 6] + sign * q[j + 6])
        m7 = max(m7, p[j + 7] + sign * q[j + 7])
    return max(max(max(m0, m1), max(m2, m3)), max(max(m4, m5), max(m6, m7)))


@kernel
def log_sum(p, q, sign):
    """log sum_j exp(p[j] + sign q[j])"""
    top, total = largest(p, q, sign), 0.0
    for j in range(len(p)):
        log_term = p[j] + sign * q[j] - top
        if log_term > -NEGLIGIBLE:
            total += math.exp(log_term)
    return top + math.log(total)


@kernel
def refresh(lik, k, s):
    """Recompute the posterior of slot k in sample s from its sums."""
    sums, posterior, span = lik.sums[k, s], lik.posterior[k, s], lik.span[k, s]
    top, total, first, last = largest(sums, sums, 0.0), 0.0, len(sums), 0
    for j in range(len(sums)):
        value = sums[j] - top
        posterior[j] = 0.0
        if value > LOG_LEAST:
            posterior[j] = math.exp(value)
            total += posterior[j]
            first = min(first, j)
            last = j
    for j in range(first, last + 1):
        posterior[j] /= total
    span[0] = first // LANES * LANES
    span[1] = padded(last + 1)
    lik.log_total[k, s] = top + math.log(total)


@kernel
def shift(lik, k, i, sign):
    """Add (sign 1.0) or remove (sign -1.0) item i."""
    for s in range(lik.kind.shape[1]):
        r = lik.kind[i, s]
        if r >= 0:
            sums, log_terms = lik.sums[k, s], lik.log_terms[r]
            for j in range(len(sums)):
                sums[j] += sign * log_terms[j]
            refresh(lik, k, s)


@clear.register(GridSlots)
def _clear(lik, k):
    lik.size[k] = 0
    for s in range(lik.sums.shape[1]):
        lik.log_total[k, s] = math.log(lik.n_grid)
        lik.span[k, s, 0] = 0
        lik.span[k, s, 1] = lik.sums.shape[2]
        for j in range(lik.sums.shape[2]):
            lik.sums[k, s, j] = 0.0 if j < lik.n_grid else PADDING
            lik.posterior[k, s, j] = 1.0 / lik.n_grid if j < lik.n_grid else 0.0


@add.register(GridSlots)
def _add(lik, k, i):
    lik.size[k] += 1
    shift(lik, k, i, 1.0)


@remove.register(GridSlots)
def _remove(lik, k, i):
    lik.size[k] -= 1
    if lik.size[k] == 0:
        clear(lik, k)
    else:
        shift(lik, k, i, -1.0)


@copy.register(GridSlots)
def _copy(lik, to, source):
    lik.size[to] = lik.size[source]
    for s in range(lik.sums.shape[1]):
        lik.log_total[to, s] = lik.log_total[source, s]
        lik.span[to, s, 0] = lik.span[source, s, 0]
        lik.span[to, s, 1] = lik.span[source, s, 1]
        for j in range(lik.sums.shape[2]):
            lik.sums[to, s, j] = lik.sums[source, s, j]
            lik.posterior[to, s, j] = lik.posterior[source, s, j]


@pool.register(GridSlots)
def _pool(lik, to, one, two, labels):
    lik.size[to] = lik.size[one] + lik.size[two]
    for s in range(lik.sums.shape[1]):
        for j in range(lik.sums.shape[2]):
            lik.sums[to, s, j] = lik.sums[one, s, j] + lik.sums[two, s, j]
        refresh(lik, to, s)


@kernel(inline=True)
def log_predictive_above(lik, k, i, least):
    """log f(item i | slot k) if it is greater than `least`, else -inf.

    The term of each sample is at most its `top`, so most slots are ruled out after few samples.
    """
    if lik.size[k] == 0:
        return lik.log_alone[i] if lik.log_alone[i] > least else -math.inf
    total = lik.most[i]
    for s in range(lik.kind.shape[1]):
        r = lik.kind[i, s]
        if r < 0:
            continue
        value = span_dot(lik.posterior[k, s], lik.terms[r], lik.span[k, s, 0], lik.span[k, s, 1])
        if value > SMALL:
            total += math.log(value)
        elif total + LOG_SMALL + 1.0 > least:
            total += log_sum(lik.sums[k, s], lik.log_terms[r], 1.0) - lik.log_total[k, s]
            total -= lik.top[r]
        else:
            return -math.inf
        if not total > least:
            return -math.inf
    return total


@log_predictive.register(GridSlots)
def _log_predictive(lik, k, i):
    return log_predictive_above(lik, k, i, -math.inf)


@log_predictive_without.register(GridSlots)
def _log_predictive_without(lik, k, i):
    # One over the mean of 1 / f(item i | prevalence) under the posterior with the item.
    if lik.size[k] == 1:
        return lik.log_alone[i]
    total = 0.0
    for s in range(lik.kind.shape[1]):
        r = lik.kind[i, s]
        if r >= 0:
            total += lik.log_total[k, s] - log_sum(lik.sums[k, s], lik.log_terms[r], -1.0)
    return total


@log_marginal.register(GridSlots)
def _log_marginal(lik, k):
    total = 0.0
    for s in range(lik.sums.shape[1]):
        total += lik.log_total[k, s] - math.log(lik.n_grid)
    return total


@log_marginal_union.register(GridSlots)
def _log_marginal_union(lik, one, two, spare, labels):
    total = 0.0
    for s in range(lik.sums.shape[1]):
        start = max(lik.span[one, s, 0], lik.span[two, s, 0])
        stop = min(lik.span[one, s, 1], lik.span[two, s, 1])
        value = span_dot(lik.posterior[one, s], lik.posterior[two, s], start, stop)
        if value > SMALL:
            total += math.log(value) + lik.log_total[one, s] + lik.log_total[two, s]
        else:
            total += log_sum(lik.sums[one, s], lik.sums[two, s], 1.0)
        total -= math.log(lik.n_grid)
    return total


@log_weights.register(GridSlots)
def _log_weights(lik, i, own, beta, slack, partition):
    log_prior, empty = partition.log_prior, partition.n_blocks[0]
    count, floor, first = 0, -math.inf, empty
    if own >= 0 and log_prior[own] > -math.inf:
        first = own
        weight = log_prior[own] + beta * log_predictive_without(lik, own, i)
        count, floor = append_candidate(partition, count, own, weight), weight - slack
    elif log_prior[empty] > -math.inf:
        weight = log_prior[empty] + beta * lik.log_alone[i]
        count, floor = append_candidate(partition, count, empty, weight), weight - slack
    for k in range(empty + 1):
        if k != first and log_prior[k] > -math.inf:
            least = (floor - log_prior[k]) / beta if beta > 0.0 else -math.inf
            weight = log_prior[k] + beta * log_predictive_above(lik, k, i, least)
            if weight > floor:
                count = append_candidate(partition, count, k, weight)
    return count
