"""Kernels of the beta-Bernoulli likelihood: an item is a short list, and adds rows of a table.

Only the columns in which an item departs from the more common value are listed. With s of the m
items of a block departing in column d, the log predictive of a listed column is that of an
unlisted one plus `weight[d, k] = log(a + s) - log(b + m - s)`: a bias per slot and a few
rows of a table with the slot last give the scores of all slots at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bnpcluster._jit import kernel
from bnpcluster._ops import (
    add,
    clear,
    copy,
    listed,
    log_marginal,
    log_predictive,
    log_predictive_all,
    log_predictive_without,
    log_weights,
    padded,
    remove,
)
from bnpcluster.likelihoods._counts import Table, log_at, log_gamma_at, sum_log_at

INF = np.inf


class BernoulliSlots(NamedTuple):
    """Lists of departures, tables of the prior, and per slot the counts and the predictive.

    The leave-one-out twins `*_without` are the predictive of a member given the other members.
    """

    start: np.ndarray  # item i departs in columns[start[i]:start[i + 1]]
    columns: np.ndarray
    common: np.ndarray  # the more common value of every column, 0 or 1
    a: Table  # of the departure
    b: Table  # of the common value
    ab: Table  # a + b
    size: np.ndarray
    count: np.ndarray  # departures by slot and column
    weight: np.ndarray  # by column and slot
    bias: np.ndarray
    weight_without: np.ndarray  # by slot and column
    bias_without: np.ndarray

    slot_axis = {
        **dict.fromkeys("size count bias weight_without bias_without".split(), 0),
        "weight": 1,
    }


@kernel(inline=True)
def refresh(lik, k):
    """Recompute the predictive of slot k from its counts."""
    m, count, weight, weight_without = lik.size[k], lik.count[k], lik.weight, lik.weight_without[k]
    inside = m < min(lik.a.length, lik.b.length)
    bias = bias_without = 0.0
    for d in range(len(count)):
        s = count[d]
        log_b = log_at(lik.b, d, m - s, inside)
        log_b_without = log_at(lik.b, d, m - s - 1, inside)
        weight[d, k] = log_at(lik.a, d, s, inside) - log_b
        weight_without[d] = log_at(lik.a, d, s - 1, inside) - log_b_without
        bias += log_b
        bias_without += log_b_without
    lik.bias[k] = bias - sum_log_at(lik.ab, m)
    lik.bias_without[k] = bias_without - sum_log_at(lik.ab, m - 1)


@kernel(inline=True)
def shift(lik, k, i, sign):
    """Add (sign 1) or remove (sign -1) item i."""
    count = lik.count[k]
    for p in range(lik.start[i], lik.start[i + 1]):
        count[lik.columns[p]] += sign
    lik.size[k] += sign
    refresh(lik, k)


@clear.register(BernoulliSlots)
def _clear(lik, k):
    lik.size[k] = 0
    lik.count[k, :] = 0
    refresh(lik, k)


@add.register(BernoulliSlots)
def _add(lik, k, i):
    shift(lik, k, i, 1)


@remove.register(BernoulliSlots)
def _remove(lik, k, i):
    shift(lik, k, i, -1)


@copy.register(BernoulliSlots)
def _copy(lik, to, source):
    lik.size[to] = lik.size[source]
    for d in range(lik.count.shape[1]):
        lik.count[to, d] = lik.count[source, d]
    refresh(lik, to)


@log_predictive.register(BernoulliSlots)
def _log_predictive(lik, k, i):
    total = lik.bias[k]
    for p in range(lik.start[i], lik.start[i + 1]):
        total += lik.weight[lik.columns[p], k]
    return total


@log_predictive_without.register(BernoulliSlots)
def _log_predictive_without(lik, k, i):
    total, weight = lik.bias_without[k], lik.weight_without[k]
    for p in range(lik.start[i], lik.start[i + 1]):
        total += weight[lik.columns[p]]
    return total


@log_marginal.register(BernoulliSlots)
def _log_marginal(lik, k):
    m, count, total = lik.size[k], lik.count[k], 0.0
    inside = m < min(lik.a.length, lik.b.length, lik.ab.length)
    for d in range(len(count)):
        s = count[d]
        total += log_gamma_at(lik.a, d, s, inside) - log_gamma_at(lik.a, d, 0, inside)
        total += log_gamma_at(lik.b, d, m - s, inside) - log_gamma_at(lik.b, d, 0, inside)
        total += log_gamma_at(lik.ab, d, 0, inside) - log_gamma_at(lik.ab, d, m, inside)
    return total


@kernel(inline=True)
def fill_scores(lik, i, start, stop, out):
    """Write log f(item i | slot k) to out[k] for k = start .. stop-1, four columns at a time."""
    bias, weight, columns = lik.bias, lik.weight, lik.columns
    for k in range(start, stop):
        out[k] = bias[k]
    p, end = lik.start[i], lik.start[i + 1]
    while p + 4 <= end:
        w0, w1 = weight[columns[p]], weight[columns[p + 1]]
        w2, w3 = weight[columns[p + 2]], weight[columns[p + 3]]
        for k in range(start, stop):
            out[k] += (w0[k] + w1[k]) + (w2[k] + w3[k])
        p += 4
    while p < end:
        w0 = weight[columns[p]]
        for k in range(start, stop):
            out[k] += w0[k]
        p += 1


@log_predictive_all.register(BernoulliSlots)
def _log_predictive_all(lik, i, start, stop, out):
    fill_scores(lik, i, start, stop, out)


@log_weights.register(BernoulliSlots)
def _log_weights(lik, i, own, beta, slack, partition):
    log_prior, scores, empty = partition.log_prior, partition.scores, partition.count[0]
    width = padded(empty + 1)
    fill_scores(lik, i, 0, width, scores)
    for k in range(width):
        scores[k] = log_prior[k] + beta * scores[k]
    count, floor, first = 0, -INF, empty
    if own >= 0 and log_prior[own] > -INF:
        first = own
        scores[own] = log_prior[own] + beta * log_predictive_without(lik, own, i)
    if log_prior[first] > -INF:
        count, floor = listed(partition, count, first, scores[first]), scores[first] - slack
    for k in range(empty + 1):
        if scores[k] > floor and k != first:
            count = listed(partition, count, k, scores[k])
    return count
