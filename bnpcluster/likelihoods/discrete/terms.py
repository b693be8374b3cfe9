"""Scores of items that are lists of terms: the predictive is a bias plus one weight per term.

The decorator `sums_terms` registers these predictives for a class of bound data with the fields:

- ``start``, ``terms``: item i has the terms ``terms[start[i]:start[i + 1]]``;
- ``bias[k]``, ``weight[term, k]``: their sum is log f(item | slot k). The slot is the last axis, so
  that a few rows of the table give the scores of all slots at once;
- ``bias_without[k]``, ``weight_without[k, term]``: the same for a member of slot k, given the other
  members.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import (
    log_predictive,
    log_predictive_all,
    log_predictive_without,
    log_weights,
    log_weights_from_scores,
    padded,
)


def sums_terms(cls: type) -> type:
    """Register the predictives of a class of bound data whose items are lists of terms."""
    log_predictive.register(cls)(_log_predictive)
    log_predictive_without.register(cls)(_log_predictive_without)
    log_predictive_all.register(cls)(_log_predictive_all)
    log_weights.register(cls)(_log_weights)
    return cls


def term_lists(mask: NDArray) -> tuple[NDArray, NDArray]:
    """`start` and `terms` of items whose terms are the columns in which they are true.

    Terms are unsigned, because the compiler guards a signed index against being negative.
    """
    row, column = np.nonzero(mask)
    start = np.zeros(len(mask) + 1, np.intp)
    np.cumsum(np.bincount(row, minlength=len(mask)), out=start[1:])
    return start, column.astype(np.uint32)


def _log_predictive(lik, k, i):
    total = lik.bias[k]
    for p in range(lik.start[i], lik.start[i + 1]):
        total += lik.weight[lik.terms[p], k]
    return total


def _log_predictive_without(lik, k, i):
    total, weight = lik.bias_without[k], lik.weight_without[k]
    for p in range(lik.start[i], lik.start[i + 1]):
        total += weight[lik.terms[p]]
    return total


@kernel(inline=True)
def sum_terms(lik, i, start, stop, out):
    """Write log f(item i | slot k) to out[k] for k = start .. stop-1.

    The compiler vectorises the inner loop over slots, which is faster with four terms at a time.
    """
    bias, weight, terms = lik.bias, lik.weight, lik.terms
    p, end = lik.start[i], lik.start[i + 1]
    for k in range(start, stop):
        out[k] = bias[k]
    while p + 4 <= end:
        w0, w1 = weight[terms[p]], weight[terms[p + 1]]
        w2, w3 = weight[terms[p + 2]], weight[terms[p + 3]]
        for k in range(start, stop):
            out[k] += (w0[k] + w1[k]) + (w2[k] + w3[k])
        p += 4
    while p < end:
        w0 = weight[terms[p]]
        for k in range(start, stop):
            out[k] += w0[k]
        p += 1


def _log_predictive_all(lik, i, start, stop, out):
    sum_terms(lik, i, start, stop, out)


def _log_weights(lik, i, own, beta, slack, partition):
    width = padded(partition.n_blocks[0] + 1)
    sum_terms(lik, i, 0, width, partition.scores)
    return log_weights_from_scores(lik, i, own, beta, slack, width, partition)
