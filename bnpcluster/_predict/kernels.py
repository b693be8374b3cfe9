"""Kernels of the posterior predictive: load draws into slots, and weight new rows by the slots."""

from __future__ import annotations

import math

import numpy as np

from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import NEGLIGIBLE, add, clear, log_weights, remove


@kernel
def add_draws(bound, new, partition, draws, estimate, overlap, sums):
    """Add draws of positive weight to the sums of every row."""
    labels, log_urn, weights = draws
    for r in range(len(weights)):
        if weights[r] > 0.0:
            load_draw(bound, partition, labels[r], log_urn[r])
            set_overlap(labels[r], estimate, overlap, partition.sizes)
            add_to_sums(new, partition, overlap, weights[r], sums)


@kernel
def load_draw(bound, partition, labels, log_urn):
    """Put all items into the slots of a draw, and the urn weights into `partition.log_prior`.

    Successive draws of a chain differ in few items. If most items keep their slots, only the
    others move.
    """
    current, n_blocks, moved = partition.labels, 0, 0
    for i in range(len(labels)):
        n_blocks = max(n_blocks, np.intp(labels[i]) + 1)
        if current[i] != labels[i]:
            moved += 1
    for k in range(len(log_urn)):
        partition.log_prior[k] = log_urn[k]
    if 3 * moved > len(labels):
        current[:] = -1
        for k in range(len(log_urn)):
            clear(bound, k)
            partition.sizes[k] = 0
    for i in range(len(labels)):
        k, old = np.intp(labels[i]), current[i]
        if k != old:
            if old >= 0:
                remove(bound, old, i)
                partition.sizes[old] -= 1
            add(bound, k, i)
            partition.sizes[k] += 1
            current[i] = k
    partition.n_blocks[0] = n_blocks


@kernel
def set_overlap(labels, estimate, overlap, sizes):
    """Set overlap[b, c] to the share of block b's items that are in cluster c of the estimate."""
    overlap[:] = 0.0
    for i in range(len(labels)):
        b = labels[i]
        overlap[b, estimate[i]] += 1.0 / sizes[b]


@kernel
def add_to_sums(new, partition, overlap, draw_weight, sums):
    """Add one draw to the sums of every row.

    `total` and `membership` are relative to exp(top) and exp(scale). So rows far from all data
    keep their density and the ratios of their clusters.
    """
    top, total, novelty, membership, scale = sums
    weights, scores, empty = partition.weights, partition.scores, partition.n_blocks[0]
    for i in range(len(top)):
        count = log_weights(new, i, -1, 1.0, math.inf, partition)
        # The empty slot comes first, the blocks follow.
        nearest = -math.inf
        for c in range(count):
            scores[c] = weights[c]
            if partition.slots[c] != empty:
                nearest = max(nearest, weights[c])
        largest = max(nearest, weights[0])
        evidence = 0.0
        for c in range(count):
            evidence += math.exp(scores[c] - largest)
        if partition.slots[0] == empty:
            novelty[i] += draw_weight * math.exp(weights[0] - largest) / evidence
        add_scaled(top, total, i, largest, draw_weight * evidence)
        level = nearest - largest - math.log(evidence)
        factor = math.exp(min(scale[i] - level, 0.0))
        if level > scale[i]:
            scale[i] = level
            for cluster in range(membership.shape[1]):
                membership[i, cluster] *= factor
        share = draw_weight * math.exp(level - scale[i])
        for c in range(count):
            k = partition.slots[c]
            if k != empty and scores[c] > nearest - NEGLIGIBLE:
                part = share * math.exp(scores[c] - nearest)
                for cluster in range(membership.shape[1]):
                    membership[i, cluster] += part * overlap[k, cluster]


@kernel
def add_scaled(top, total, i, log_term, factor):
    """Add factor * exp(log_term) to the sum total * exp(top)."""
    if log_term > top[i]:
        total[i] *= math.exp(top[i] - log_term)
        top[i] = log_term
    total[i] += factor * math.exp(log_term - top[i])


@kernel
def write_log_weights(new, partition, out):
    """Write the log weights of the slots at every new row to the rows of `out`."""
    for i in range(len(out)):
        count = log_weights(new, i, -1, 1.0, math.inf, partition)
        for c in range(count):
            out[i, partition.slots[c]] = partition.weights[c]


@kernel
def add_posteriors(bound, labels, weight, total):
    """Add `weight` times the posterior of every item's slot."""
    for i in range(len(labels)):
        k = labels[i]
        for s in range(total.shape[1]):
            for j in range(bound.span[k, s, 0], bound.span[k, s, 1]):
                total[i, s, j] += weight * bound.posterior[k, s, j]
