"""Moves that split the block of two anchors, or merge their two blocks.

A split proposes a division of the items of the block between the anchors, with probability Q. A
merge has one outcome. Its reverse is the split whose proposal retraces the labels (the forced
pass). With rho = q(split) / q(merged), a split is accepted with probability min(1, rho / Q), and a
merge with min(1, Q / rho). If the distribution of the anchors depends on the state, the ratio of
their probabilities is another factor inside the minimum. Everything that precedes the recorded pass
(launch, order, intermediate scans) is a function of the union, the anchors and fresh randomness.
So it is the same for a move and its reverse.

Merges are lazy: the uniform is drawn first and Q is at most one. So most merges are rejected before
any computation on the data, and others in the middle of the forced pass.

Proposed blocks use slots above the empty slot K: K+1 and K+2 for the two sides, K+3 for the union,
K+4 as a spare.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import (
    add,
    clear,
    log_marginal,
    log_marginal_pair,
    log_marginal_union,
    log_predictive,
    log_predictive_without,
    n_coordinates,
    remove,
    rename,
    restore,
    withdraw,
)
from bnpcluster._core.partition import change_size, close_slot
from bnpcluster.samplers.launches import SEQUENTIAL, launch
from bnpcluster.samplers.split_merge.anchors import draw_anchors, log_anchor_probability
from bnpcluster.samplers.split_merge.orders import arrange

ROOM = 6  # slots: the empty one, two sides, their union, one to spare, and what it costs to open
TALLY = ("splits", "splits_accepted", "merges", "merges_accepted", "lazy_merges", "work", "large")
# An accepted move is large if it moves at least so many items to another block, and at least the
# square root of the number of all.
LARGE = 10


class Plan(NamedTuple):
    """How moves propose: codes of the order and of launches.

    `n_restricted` scans precede the recorded one. With -1 there is no scan and the launch is the
    proposal, which is only possible for coins.
    """

    order: int
    launches: np.ndarray
    n_restricted: int


class Work(NamedTuple):
    """Scratch space of moves, with room for all items."""

    anchors: np.ndarray
    items: np.ndarray  # of the anchors' blocks: the anchors themselves, then the others
    sides: np.ndarray  # 0 or 1 for each of them
    keys: np.ndarray  # their sort keys
    old: np.ndarray  # slots of the blocks that a changed state lacks
    new: np.ndarray  # slots of the blocks that it has instead
    numbers: np.ndarray  # entries of old, of new, items placed, a spare slot, a coin
    blocks: np.ndarray  # blocks of the anchors that are being drawn
    refinement: np.ndarray  # by item: its block in the partition that a launch follows
    centres: np.ndarray
    direction: np.ndarray
    tally: np.ndarray


def new_work(bound: Any, n_items: int, n_anchors: int = 2) -> Work:
    """Scratch space for moves of `n_items` items."""
    n_dims = n_coordinates(bound)
    return Work(
        anchors=np.zeros(n_anchors, np.intp),
        items=np.zeros(n_items + 1, np.intp),
        sides=np.zeros(n_items + 1, np.int8),
        keys=np.zeros(n_items + 1),
        old=np.zeros(n_anchors, np.intp),
        new=np.zeros(n_anchors, np.intp),
        numbers=np.zeros(5, np.intp),
        blocks=np.zeros(2, np.intp),
        refinement=np.zeros(n_items, np.intp),
        centres=np.zeros((2, n_dims)),
        direction=np.zeros(n_dims),
        tally=np.zeros(len(TALLY), np.int64),
    )


@kernel
def pair_moves(problem, partition, work, distribution, plan, rng, start, stop):
    """Make moves start .. stop-1; return the first one without room, or stop."""
    lik, sizes, labels = problem.likelihood, partition.sizes, partition.labels
    anchors, tally = work.anchors, work.tally
    least = max(float(LARGE), math.sqrt(len(problem.items)))
    for number in range(start, stop):
        k = partition.n_blocks[0]
        if k + ROOM > len(sizes):
            return number
        work.numbers[3] = k + 4
        log_u = -rng.standard_exponential()
        draw_anchors(distribution, problem, partition, work, rng)
        c_1, c_2 = labels[anchors[0]], labels[anchors[1]]
        splitting = int(c_1 == c_2)
        tally[0 if splitting else 2] += 1
        work.numbers[0] = 0
        work.numbers[1] = 0
        log_h = log_anchor_probability(distribution, problem, partition, work, c_1, c_2)
        describe_change(work, k, c_1, c_2, splitting)
        floor, union_slot = -math.inf, c_1
        if splitting:
            if problem.log_v[k + 1] == -math.inf:
                continue  # the prior allows no more blocks
            union = log_marginal(lik, c_1)
        else:
            union_slot = k + 3
            pair = log_marginal_pair(lik, c_1, c_2)
            union = log_marginal_union(lik, c_1, c_2, union_slot, labels)
            sizes[union_slot] = sizes[c_1] + sizes[c_2]
            merged = log_anchor_probability(
                distribution, problem, partition, work, union_slot, union_slot
            )
            bound = merged - log_h - log_rho(problem, k - 1, sizes[c_1], sizes[c_2], pair, union)
            sizes[union_slot] = 0
            floor = log_u - bound
            if floor >= 0.0:
                tally[4] += 1
                continue
        n = gather(problem.items, labels, anchors, work.items)
        log_q = propose(problem, partition, work, plan, n, union_slot, splitting, floor, rng)
        accepted = log_q > floor
        if splitting:
            pair = log_marginal_pair(lik, k + 1, k + 2)
            ratio = log_rho(problem, k, sizes[k + 1], sizes[k + 2], pair, union) - log_q - log_h
            label_sides(labels, work.items, work.sides, n, k + 1, k + 2)
            ratio += log_anchor_probability(distribution, problem, partition, work, k + 1, k + 2)
            accepted = log_u < ratio
            label_sides(labels, work.items, work.sides, n, c_1, c_1)
        tally[1 if splitting else 3] += int(accepted)
        tally[6] += int(accepted and min(sizes[k + 1], sizes[k + 2]) >= least)
        finish_move(problem, partition, work, n, splitting, accepted)
    return stop


@kernel(inline=True)
def log_rho(problem, n_blocks, m_1, m_2, pair, union):
    """log q(split) - log q(merged), for n_blocks blocks before the split."""
    log_v, log_w = problem.log_v, problem.log_w
    value = log_v[n_blocks + 1] - log_v[n_blocks] + log_w[m_1] + log_w[m_2] - log_w[m_1 + m_2]
    return value + problem.beta * (pair - union)


@kernel(inline=True)
def describe_change(work, k, c_1, c_2, splitting):
    """Note in `work` which blocks a split or a merge would replace, and by which."""
    work.old[0] = c_1
    work.old[1] = c_2
    work.new[0] = k + 1 if splitting else k + 3
    work.new[1] = k + 2
    work.numbers[0] = 2 - splitting
    work.numbers[1] = 1 + splitting


@kernel
def gather(items, labels, anchors, out):
    """List the anchors, then the other items of their blocks; return how many items there are."""
    i, j = anchors[0], anchors[1]
    c_1, c_2 = labels[i], labels[j]
    out[0], out[1] = i, j
    n = 2
    for t in range(len(items)):
        h = items[t]
        c = labels[h]
        # Without a branch, which would be unpredictable: labels of neighbours are unrelated.
        out[n] = h
        n += int((c == c_1 or c == c_2) and h != i and h != j)
    return n


@kernel
def label_sides(labels, items, sides, n, one, two):
    """Label the items of both sides."""
    for t in range(n):
        labels[items[t]] = two if sides[t] else one


@kernel
def finish_move(problem, partition, work, n, splitting, accepted):
    """Apply the proposal if it is accepted, else undo it."""
    lik, sizes, labels, k = (
        problem.likelihood,
        partition.sizes,
        partition.labels,
        partition.n_blocks[0],
    )
    items, sides = work.items, work.sides
    c_1, c_2 = labels[items[0]], labels[items[1]]
    m_1, m_2 = sizes[k + 1], sizes[k + 2]
    sizes[k + 1] = 0
    sizes[k + 2] = 0
    if accepted and splitting:
        rename(lik, c_1, k + 1)
        rename(lik, k, k + 2)
        label_sides(labels, items, sides, n, c_1, k)
        partition.n_blocks[0] = k + 1
        change_size(partition, problem.log_w, c_1, m_1 - sizes[c_1])
        change_size(partition, problem.log_w, k, m_2)
        return
    for t in range(work.numbers[2]):
        withdraw(lik, k + 1 + sides[t], items[t])
    if not accepted:
        for t in range(n):
            restore(lik, labels[items[t]], items[t])
        return
    clear(lik, c_1)
    for t in range(n):
        add(lik, c_1, items[t])
    change_size(partition, problem.log_w, c_1, sizes[c_2])
    sizes[c_2] = 0
    label_sides(labels, items, sides, n, c_1, c_1)
    close_slot(problem, partition, c_2)


@kernel
def propose(problem, partition, work, plan, n, union, splitting, floor, rng):
    """Divide the items between the anchors; return log Q, or stop early at a value below `floor`.

    The proposal of a merge is forced to retrace the labels of the state.
    """
    lik, sizes, k = problem.likelihood, partition.sizes, partition.n_blocks[0]
    items, sides, labels = work.items, work.sides, partition.labels
    for t in range(n):
        withdraw(lik, labels[items[t]], items[t])
    for t in range(2):
        clear(lik, k + 1 + t)
        add(lik, k + 1 + t, items[t])
        sides[t] = t
        sizes[k + 1 + t] = 1
    work.numbers[2] = 2
    work.tally[5] += n
    kind = plan.launches[int(rng.random() * len(plan.launches))]
    placing, n_before = kind == SEQUENTIAL, plan.n_restricted
    if placing:
        arrange(lik, work, plan.order, 2, n, k + 1, rng)
        n_before = 0
    else:
        launch(lik, work, kind, n, union, k + 1, rng)
        for t in range(2, n):
            side = k + 1 + sides[t]
            add(lik, side, items[t])
            sizes[side] += 1
        work.numbers[2] = n
    log_q = (2 - n) * math.log(2.0)  # of the coins, if no scan follows
    for left in range(n_before, -1, -1):
        least = floor if left == 0 else -math.inf
        log_q = scan(problem, partition, work, n, placing, splitting or left > 0, least, rng)
        work.tally[5] += n
    return log_q


@kernel
def score_of_extreme(lik, work, n, t, slot):
    """log f(item t | the other items on its side), which is filled again."""
    refill_side(lik, work, n, t, slot)
    value = log_predictive(lik, slot, work.items[t])
    add(lik, slot, work.items[t])
    return value


@kernel
def refill_side(lik, work, n, t, slot):
    """Fill the slot of the side of item t again, without item t; see `outweighs`."""
    clear(lik, slot)
    for s in range(n):
        if s != t and work.sides[s] == work.sides[t]:
            add(lik, slot, work.items[s])


@kernel
def scan(problem, partition, work, n, placing, free, floor, rng):
    """Make a restricted Gibbs scan, or a sequential allocation; return its log probability.

    Unless it is `free`, it is forced to retrace the labels of the state.
    """
    lik, sizes, log_w, beta = problem.likelihood, partition.sizes, problem.log_w, problem.beta
    one, labels, sides, log_q = partition.n_blocks[0] + 1, partition.labels, work.sides, 0.0
    second, extreme = labels[work.items[1]], False
    for t in range(2, n):
        h = work.items[t]
        own = one if placing else one + sides[t]
        other = one + one + 1 - own
        m_own, m_other = sizes[own], sizes[other]
        # Log odds of the other side.
        if placing:
            odds = log_w[m_own] - log_w[m_own + 1] - beta * log_predictive(lik, own, h)
        else:
            score = log_predictive_without(lik, own, h)
            extreme = score == -math.inf
            if extreme:
                score = score_of_extreme(lik, work, n, t, own)
            odds = log_w[m_own - 1] - log_w[m_own] - beta * score
        odds += log_w[m_other + 1] - log_w[m_other] + beta * log_predictive(lik, other, h)
        small = math.exp(-abs(odds))
        if free:
            rarer = rng.random() < small / (1.0 + small)
        else:
            rarer = (odds > 0.0) != (other == one + int(labels[h] == second))
        log_q -= math.log1p(small) + (abs(odds) if rarer else 0.0)
        if log_q <= floor:
            return log_q
        to = other if (odds > 0.0) != rarer else own
        if placing:
            work.numbers[2] = t + 1
        elif to != own:
            if extreme:
                refill_side(lik, work, n, t, own)
            else:
                remove(lik, own, h)
            sizes[own] -= 1
        if placing or to != own:
            add(lik, to, h)
            sizes[to] += 1
            sides[t] = to - one
    return log_q
