"""Anchors informed by the state: the cluster-informed and the threshold-informed distribution."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import (
    log_marginal,
    log_marginal_union,
    log_predictive,
    log_predictive_of_member,
)
from bnpcluster.samplers.split_merge.anchors import (
    Balanced,
    Mixed,
    Uniform,
    draw_anchors,
    log_anchor_probability,
    member,
)

LEAST = 0.01  # threshold-informed anchors come from blocks of at least this probability


class Cluster(NamedTuple):
    """The second item comes from a block that might merge with that of the first.

    With probability 1 / K it comes from the same block. (This follows the authors' Algorithm 4;
    their text says 1 / (K - 1).)
    """


class Threshold(NamedTuple):
    """The second item comes from a block that might contain the first: of probability >= 0.01."""


ANCHOR_DISTRIBUTIONS: dict[str, Any] = {
    "uniform": Uniform,
    "balanced": Balanced,
    "mixed": Mixed,
    "cluster": Cluster,
    "threshold": Threshold,
}
INFORMED = ("cluster", "threshold")


@kernel
def in_view(partition, work, position):
    """Slot at a position 0 .. K + n_new - 1 of the changed state; -1 for a removed block."""
    n_blocks = partition.n_blocks[0]
    if position >= n_blocks:
        return work.new[position - n_blocks]
    for t in range(work.numbers[0]):
        if work.old[t] == position:
            return -1
    return position


@kernel
def position_of(partition, work, slot):
    """Position of a slot in the changed state; -1 if it has none."""
    for position in range(partition.n_blocks[0] + work.numbers[1]):
        if in_view(partition, work, position) == slot:
            return position
    return -1


@kernel
def normalise(log_weights, count):
    """Turn log weights into probabilities."""
    top, total = -math.inf, 0.0
    for c in range(count):
        top = max(top, log_weights[c])
    for c in range(count):
        log_weights[c] = math.exp(log_weights[c] - top)
        total += log_weights[c]
    for c in range(count):
        log_weights[c] /= total


@kernel
def score_unions(problem, partition, work, own):
    """Compute cluster-informed probabilities of the other blocks, by position.

    Up to a constant each is m(own and other) / m(other). Returns the number of blocks.
    """
    lik, out = problem.likelihood, partition.weights
    n_positions, blocks, spare = partition.n_blocks[0] + work.numbers[1], 0, work.numbers[3]
    for position in range(n_positions):
        k = in_view(partition, work, position)
        out[position] = -math.inf
        blocks += int(k >= 0)
        if k >= 0 and k != own:
            union = log_marginal_union(lik, own, k, spare, partition.labels)
            out[position] = problem.beta * (union - log_marginal(lik, k))
    if blocks > 1:
        normalise(out, n_positions)
    return blocks


@kernel
def score_attachments(problem, partition, work, own):
    """Mark blocks that pass the threshold for the first anchor by 1; return how many pass."""
    lik, out, log_w, i = problem.likelihood, partition.weights, problem.log_w, work.anchors[0]
    n_positions = partition.n_blocks[0] + work.numbers[1]
    for position in range(n_positions):
        k = in_view(partition, work, position)
        out[position] = -math.inf
        if k < 0 or (k == own and partition.sizes[k] == 1):
            continue
        m = partition.sizes[k]
        if k == own:
            out[position] = log_w[m] - log_w[m - 1]
            score = log_predictive_of_member(lik, k, i, partition.labels, k)
            out[position] += problem.beta * score
        else:
            out[position] = log_w[m + 1] - log_w[m] + problem.beta * log_predictive(lik, k, i)
    normalise(out, n_positions)
    top, passed = 0.0, 0
    for position in range(n_positions):
        top = max(top, out[position])
    for position in range(n_positions):
        passes = out[position] >= min(LEAST, top)  # only the best if none reaches it
        out[position] = 1.0 if passes else 0.0
        passed += int(passes)
    return passed


@log_anchor_probability.register(Cluster)
def _log_cluster(distribution, problem, partition, work, own, other):
    """log h of cluster-informed anchors, without the uniform first anchor."""
    m = partition.sizes[own]
    if own == other:
        blocks = partition.n_blocks[0] + work.numbers[1] - work.numbers[0]
        return -math.log(blocks * (m - 1.0))
    blocks = score_unions(problem, partition, work, own)
    share = 1.0 if m == 1 else 1.0 - 1.0 / blocks
    p = partition.weights[position_of(partition, work, other)]
    return math.log(share * p / partition.sizes[other])


@log_anchor_probability.register(Threshold)
def _log_threshold(distribution, problem, partition, work, own, other):
    """log h of threshold-informed anchors, without the uniform first anchor."""
    passed = score_attachments(problem, partition, work, own)
    if partition.weights[position_of(partition, work, other)] == 0.0:
        return -math.inf
    return -math.log(passed * (partition.sizes[other] - (1.0 if own == other else 0.0)))


@kernel
def chosen(weights, count, u):
    """Draw an index with probability proportional to its weight, by inversion of u."""
    total, last = 0.0, 0
    for c in range(count):
        total += weights[c]
    u *= total
    for c in range(count):
        if weights[c] > 0.0:
            last = c
            u -= weights[c]
            if u < 0.0:
                return c
    return last


@kernel(inline=True)
def unchanged(work):
    """Use the state itself as the changed state."""
    work.numbers[0] = 0
    work.numbers[1] = 0


@draw_anchors.register(Cluster)
def _draw_cluster(distribution, problem, partition, work, rng):
    items, labels, sizes = problem.items, partition.labels, partition.sizes
    n_blocks = partition.n_blocks[0]
    unchanged(work)
    i = items[int(rng.random() * len(items))]
    k = labels[i]
    if n_blocks > 1 and (sizes[k] == 1 or rng.random() >= 1.0 / n_blocks):
        score_unions(problem, partition, work, k)
        k = chosen(partition.weights, n_blocks, rng.random())
    work.anchors[0] = i
    work.anchors[1] = member(items, labels, sizes[k], k, i, rng)


@draw_anchors.register(Threshold)
def _draw_threshold(distribution, problem, partition, work, rng):
    items, labels = problem.items, partition.labels
    unchanged(work)
    work.anchors[0] = items[int(rng.random() * len(items))]
    score_attachments(problem, partition, work, labels[work.anchors[0]])
    k = chosen(partition.weights, partition.n_blocks[0], rng.random())
    work.anchors[1] = member(items, labels, partition.sizes[k], k, work.anchors[0], rng)
