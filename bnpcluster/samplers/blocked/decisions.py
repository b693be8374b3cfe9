"""The decisions of a batch, one move after the other, and what they change."""

from __future__ import annotations

import math
from typing import NamedTuple

from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import clear, log_marginal, pool, rename
from bnpcluster._core.partition import change_size, close_slot
from bnpcluster._core.sorting import heap_sort
from bnpcluster.samplers.blocked.proposals import add_log_drawn, fill_sides
from bnpcluster.samplers.blocked.skeleton import eagerness, log_gain, log_matching_probability

SLACK = 12.0
"""A merge that loses more than this in log posterior is mostly refused before any pass."""


class Rule(NamedTuple):
    """The probability that a block tries to split, the number of candidates to merge, and sigma."""

    p_split: float
    n_candidates: int
    sigma: float


@kernel
def settle(problem, partition, moves, matching, rule, one, other, sums, rng):
    """Decide all moves, given the parameters and the sums of the pass, and apply the accepted ones.

    Until then, the slots of the sides have the launches.
    """
    lik, base, sizes = problem.likelihood, partition.n_blocks[0], moves.sizes
    spare = base + 2 * len(moves.blocks)
    add_log_drawn(lik, moves, one, other, moves.launched, base, rule.sigma, -1.0)
    fill_sides(lik, moves, one, sums, base)
    add_log_drawn(lik, moves, one, other, sizes, base, rule.sigma, 1.0)
    label_halves(moves, partition.labels, base)
    describe_halves(lik, moves, matching, base)
    order_nodes(matching)
    decide(problem, partition, moves, matching, rule.n_candidates, rule.p_split, spare, rng)
    apply_all(problem, partition, moves, spare)


@kernel
def label_halves(moves, labels, base):
    """Label the items of splits by the slots of their sides."""
    for g in range(len(moves.blocks)):
        if not moves.merging[g]:
            for p in range(moves.offset[g], moves.offset[g + 1]):
                labels[moves.members[p]] = base + 2 * g + moves.sides[p]


@kernel
def describe_halves(lik, moves, matching, base):
    """Make the sides of splits nodes of the matching, and note what a merge of both would gain."""
    for g in range(len(moves.blocks)):
        if moves.merging[g]:
            moves.gains[g] = matching.gains[moves.nodes[g, 0], moves.nodes[g, 1]]
            continue
        for s in range(2):
            node, slot = moves.nodes[g, s], base + 2 * g + s
            matching.slots[node] = slot
            matching.sizes[node] = moves.sizes[g, s]
            matching.firsts[node] = moves.firsts[g, s]
            matching.log_marginals[node] = log_marginal(lik, slot)
            matching.partner[node] = moves.nodes[g, 1 - s]


@kernel
def order_nodes(matching):
    """Sort the nodes by their first items."""
    keys, order = matching.keys, matching.order
    for a in range(len(order)):
        keys[a], order[a] = matching.firsts[a], a
    heap_sort(keys, order)


@kernel
def decide(problem, partition, moves, matching, n_candidates, p_split, spare, rng):
    """Accept or reject the moves in their order.

    The number of blocks, that of candidates and the matching couple the decisions.
    """
    k, m = partition.n_blocks[0], n_candidates
    for g in range(len(moves.blocks)):
        log_u = -rng.standard_exponential()
        if moves.merging[g]:
            ratio = log_split_ratio(problem, moves, g, k - 1, m - 2, p_split)
            ratio += log_matching_probability(matching)
            set_present(moves, matching, g, False)
            ratio -= log_matching_probability(matching)
            moves.accepted[g] = log_u < -ratio
            set_present(moves, matching, g, not moves.accepted[g])
        else:
            note_gain(problem, moves, matching, g)
            ratio = log_split_ratio(problem, moves, g, k, m, p_split)
            moves.accepted[g] = log_u < ratio
            if moves.accepted[g]:  # so far: more partners to choose from can only lower the ratio
                weigh(problem, partition, moves, matching, g, spare)
                ratio -= log_matching_probability(matching)
                set_present(moves, matching, g, True)
                ratio += log_matching_probability(matching)
                moves.accepted[g] = log_u < ratio
                set_present(moves, matching, g, moves.accepted[g])
        if moves.accepted[g]:
            change = -1 if moves.merging[g] else 1
            k, m = k + change, m + 2 * change


@kernel
def log_split_ratio(problem, moves, g, k, m, p_split):
    """The log acceptance ratio of a split, but for the matching.

    There are k blocks and m candidates to merge without the two sides.
    """
    log_v, n_1, n_2, gain = problem.log_v, moves.sizes[g, 0], moves.sizes[g, 1], moves.gains[g]
    n = n_1 + n_2
    ratio = log_v[k + 1] - log_v[k] - gain - moves.log_q[g] + moves.log_drawn[g]
    ratio += min(0.0, gain + SLACK)  # so often a merge passes the screen
    # The skeleton: the roles, who stays single, and the anchors.
    ratio += 2.0 * math.log(1.0 - p_split) - math.log(p_split)
    ratio += math.log(m / (m + 2.0)) if m % 2 == 1 else 0.0
    return ratio + math.log(n) + math.log(n - 1.0) - math.log(2.0 * n_1) - math.log(n_2)


@kernel
def note_gain(problem, moves, matching, g):
    """What a merge of the two sides of a split would gain."""
    log_w, n_1, n_2, z = problem.log_w, moves.sizes[g, 0], moves.sizes[g, 1], moves.blocks[g, 0]
    a, b = moves.nodes[g, 0], moves.nodes[g, 1]
    gain = log_marginal(problem.likelihood, z)
    gain -= matching.log_marginals[a] + matching.log_marginals[b]
    moves.gains[g] = gain + log_w[n_1 + n_2] - log_w[n_1] - log_w[n_2]
    matching.weights[a, b] = matching.weights[b, a] = eagerness(moves.gains[g])


@kernel
def weigh(problem, partition, moves, matching, g, spare):
    """The weights of both sides of a split and of all nodes that are present."""
    for s in range(2):
        a = moves.nodes[g, s]
        for b in range(len(matching.present)):
            if matching.present[b]:
                gain = log_gain(problem, partition.labels, spare, matching, a, b)
                matching.weights[a, b] = matching.weights[b, a] = eagerness(gain)


@kernel(inline=True)
def set_present(moves, matching, g, present):
    """Put both sides of a move into the matching, or take them out."""
    matching.present[moves.nodes[g, 0]] = present
    matching.present[moves.nodes[g, 1]] = present


@kernel
def apply_all(problem, partition, moves, spare):
    """Make the partition what was decided: first the splits, then the merges."""
    lik, labels, base = problem.likelihood, partition.labels, partition.n_blocks[0]
    for g in range(len(moves.blocks)):
        if not moves.merging[g]:
            apply_split(problem, partition, moves, g, base)
    for g in range(len(moves.blocks)):
        if moves.merging[g] and moves.accepted[g]:
            # A block may have moved when another one was closed.
            a, b = labels[moves.anchors[g, 0]], labels[moves.anchors[g, 1]]
            pool(lik, spare, a, b, labels)
            rename(lik, a, spare)
            for p in range(moves.offset[g], moves.offset[g + 1]):
                labels[moves.members[p]] = a
            change_size(partition, problem.log_w, a, partition.sizes[b])
            partition.sizes[b] = 0
            close_slot(problem, partition, b)
    for k in range(partition.n_blocks[0], spare + 1):
        clear(lik, k)


@kernel
def apply_split(problem, partition, moves, g, base):
    """Move the sides of a split to its block and to a new one; or label them as before."""
    lik, labels, one, two = problem.likelihood, partition.labels, moves.blocks[g, 0], base + 2 * g
    new = partition.n_blocks[0] if moves.accepted[g] else one
    for p in range(moves.offset[g], moves.offset[g + 1]):
        labels[moves.members[p]] = new if moves.sides[p] else one
    if moves.accepted[g]:
        rename(lik, one, two)
        rename(lik, new, two + 1)  # not the slot of a later side, of which there are more
        partition.n_blocks[0] = new + 1
        change_size(partition, problem.log_w, one, moves.sizes[g, 0] - partition.sizes[one])
        change_size(partition, problem.log_w, new, moves.sizes[g, 1] - partition.sizes[new])
