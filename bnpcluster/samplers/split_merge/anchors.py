"""Distributions of the anchors, the items whose blocks a move splits or merges.

A distribution h(anchors | z) may depend on the partition z: a move is exact if its acceptance
probability includes the ratio h(anchors | z*) / h(anchors | z). A distribution is a class, so each
kernel is compiled for the one it uses. It registers how to draw two ordered anchors
(`draw_anchors`), and h itself (`log_anchor_probability`).

h is evaluated at the state or at a changed state. A changed state has the slots in `work.new` as
blocks instead of those in `work.old`, with their sizes in `partition.sizes`. `work.numbers` counts
the entries of both. Without entries it is the state itself.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bnpcluster._core.jit import generic, kernel

SCANNED = 256  # up to this number of items, members of a block are drawn without rejection
RARE = 24  # beyond it, they are if the block has at most 1 in 24 of all items


class Uniform(NamedTuple):
    """Two items, all pairs with equal probability."""


class Balanced(NamedTuple):
    """Two items of one block or of two, with probability 1/2 each; then uniform pairs."""


class Mixed(NamedTuple):
    """Balanced, or the same with pairs of blocks instead of pairs of items; a coin decides.

    Pairs of items hardly ever come from two small blocks. The coin is tossed before the state is
    looked at, so h is that of the chosen distribution.
    """


class Given(NamedTuple):
    """Two items that do not depend on the state."""

    anchors: np.ndarray


@generic
def draw_anchors(distribution, problem, partition, work, rng):
    """Draw two ordered anchors given the state; write them to work.anchors."""


@generic
def log_anchor_probability(distribution, problem, partition, work, own, other):
    """log h(anchors | state or changed state) up to a constant, for anchors in slots own, other."""


@kernel
def member(items, labels, size, k, excluded, rng):
    """Draw an item of slot k, which has `size` items, uniformly among those not `excluded`."""
    if excluded >= 0 and labels[excluded] == k:
        size -= 1
    if len(items) > SCANNED and size * RARE > len(items):
        while True:
            i = items[int(rng.random() * len(items))]
            if labels[i] == k and i != excluded:
                return i
    rank = int(rng.random() * size)
    for t in range(len(items)):
        i = items[t]
        if labels[i] == k and i != excluded:
            if rank == 0:
                return i
            rank -= 1
    return -1


@draw_anchors.register(Uniform)
def _draw_uniform(distribution, problem, partition, work, rng):
    items = problem.items
    i = int(rng.random() * len(items))
    j = int(rng.random() * (len(items) - 1))
    work.anchors[0] = items[i]
    work.anchors[1] = items[len(items) - 1] if j == i else items[j]


@log_anchor_probability.register(Uniform)
def _log_uniform(distribution, problem, partition, work, own, other):
    return 0.0


@draw_anchors.register(Given)
def _draw_given(distribution, problem, partition, work, rng):
    work.anchors[0] = distribution.anchors[0]
    work.anchors[1] = distribution.anchors[1]


log_anchor_probability.register(Given)(_log_uniform)


@kernel
def pairs_together(sizes, n_blocks):
    """Number of ordered pairs of items that share a block."""
    total = 0.0
    for k in range(n_blocks):
        total += sizes[k] * (sizes[k] - 1.0)
    return total


@kernel
def balanced_pair(sizes, n_blocks, n_items, out, rng):
    """Draw the blocks of both anchors into out[0] and out[1]."""
    pairs = pairs_together(sizes, n_blocks)
    apart = pairs == 0.0 or (n_blocks > 1 and rng.random() < 0.5)
    u = rng.random() * (n_items * (n_items - 1.0) - pairs if apart else pairs)
    for k in range(n_blocks):
        weight = float(sizes[k]) * (n_items - sizes[k] if apart else sizes[k] - 1)
        if weight > 0.0:
            out[0] = k
            u -= weight
            if u < 0.0:
                break
    out[1] = out[0]
    if apart:
        u = rng.random() * (n_items - sizes[out[0]])
        for k in range(n_blocks):
            if k != out[0]:
                out[1] = k
                u -= sizes[k]
                if u < 0.0:
                    break


@draw_anchors.register(Balanced)
def _draw_balanced(distribution, problem, partition, work, rng):
    items, labels, sizes, blocks = problem.items, partition.labels, partition.sizes, work.blocks
    balanced_pair(sizes, partition.n_blocks[0], len(items), blocks, rng)
    work.anchors[0] = -1
    for a in range(2):
        k = blocks[a]
        work.anchors[a] = member(items, labels, sizes[k], k, work.anchors[0], rng)


@log_anchor_probability.register(Balanced)
def _log_balanced(distribution, problem, partition, work, own, other):
    n, sizes, n_blocks = len(problem.items), partition.sizes, partition.n_blocks[0]
    pairs = pairs_together(sizes, n_blocks)
    for t in range(work.numbers[0]):
        pairs -= sizes[work.old[t]] * (sizes[work.old[t]] - 1.0)
    for t in range(work.numbers[1]):
        pairs += sizes[work.new[t]] * (sizes[work.new[t]] - 1.0)
    n_blocks += work.numbers[1] - work.numbers[0]
    p = 0.0 if pairs == 0.0 else (1.0 if n_blocks == 1 else 0.5)
    if own == other:
        return math.log(p / pairs)
    return math.log((1.0 - p) / (n * (n - 1.0) - pairs))


@kernel
def n_divisible(sizes, n_blocks):
    """Number of blocks of two items or more."""
    count = 0
    for k in range(n_blocks):
        count += int(sizes[k] > 1)
    return count


@kernel
def pair_of_blocks(sizes, n_blocks, out, rng):
    """Draw the blocks of both anchors into out[0] and out[1], all blocks alike."""
    divisible = n_divisible(sizes, n_blocks)
    if divisible == 0 or (n_blocks > 1 and rng.random() < 0.5):
        out[0] = int(rng.random() * n_blocks)
        out[1] = int(rng.random() * (n_blocks - 1))
        out[1] += int(out[1] >= out[0])
        return
    rank = int(rng.random() * divisible)
    for k in range(n_blocks):
        if sizes[k] > 1:
            if rank == 0:
                out[0] = k
                out[1] = k
            rank -= 1


@draw_anchors.register(Mixed)
def _draw_mixed(distribution, problem, partition, work, rng):
    items, labels, sizes, blocks = problem.items, partition.labels, partition.sizes, work.blocks
    work.numbers[4] = int(rng.random() < 0.5)
    if work.numbers[4]:
        pair_of_blocks(sizes, partition.n_blocks[0], blocks, rng)
    else:
        balanced_pair(sizes, partition.n_blocks[0], len(items), blocks, rng)
    work.anchors[0] = -1
    for a in range(2):
        k = blocks[a]
        work.anchors[a] = member(items, labels, sizes[k], k, work.anchors[0], rng)


_log_balanced_pair = kernel(_log_balanced)


@log_anchor_probability.register(Mixed)
def _log_mixed(distribution, problem, partition, work, own, other):
    if not work.numbers[4]:
        return _log_balanced_pair(distribution, problem, partition, work, own, other)
    sizes, n_blocks = partition.sizes, partition.n_blocks[0]
    divisible = n_divisible(sizes, n_blocks)
    for t in range(work.numbers[0]):
        divisible -= int(sizes[work.old[t]] > 1)
    for t in range(work.numbers[1]):
        divisible += int(sizes[work.new[t]] > 1)
    n_blocks += work.numbers[1] - work.numbers[0]
    p = 0.0 if divisible == 0 else (1.0 if n_blocks == 1 else 0.5)
    if own == other:
        return math.log(p / divisible / (sizes[own] * (sizes[own] - 1.0)))
    pairs = float(sizes[own]) * sizes[other]
    return math.log((1.0 - p) / (n_blocks * (n_blocks - 1.0)) / pairs)
