"""Adaptive reconfiguration: a move takes the blocks of two items apart and rebuilds them.

The input of a move is a plan: two items i and j, a partition r, and an order of the items. None of
them depends on the state. Let B_i and B_j be the blocks of i and j in the state, and U their union.
Let c_i and c_j be the members of B_i and B_j that are in one block of r with i and with j.

1. If B_i = B_j, c_i and c_j become two blocks, else one. The other members of U are taken out.
2. r divides what was taken out into parts. Each part is placed as a whole, in a block or in a new
   one. The largest part comes first.
3. Every item except i, j and the first item of each part is placed once more, on its own. An item
   of U may go anywhere. Any other item may join i or j or stay. It has to stay if it is the last
   item of its block that never left it and other items have joined.

Every choice has probability proportional to the target of what is placed so far. There is only one
way to each partition. So the probability T(z*|z) of the choices is that of the outcome, and the
move is accepted with probability min(1, q(z*) T(z|z*) / (q(z) T(z*|z))). T(z|z*) comes from a
second pass, from z*, that is forced to end at z.

The passes may use any weights as long as both use the same. `passing` is the problem with a prior
that allows any number of blocks, even if the prior of the target does not.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import (
    NEGLIGIBLE,
    add,
    clear,
    log_marginal_pair,
    log_marginal_union,
    log_predictive,
    log_predictive_of_member,
    log_weights,
    remove,
    rename,
)
from bnpcluster._core.partition import change_size, move_item, remove_item
from bnpcluster._core.sorting import heap_sort
from bnpcluster._core.state import State
from bnpcluster.samplers.gibbs import leave_out

ROOM = 4  # slots: a new block, the empty one after it, a part that is being placed, its union
FULL = 1.0  # instead of a log probability: there was no room


class MovePlan(NamedTuple):
    """The input of a move, which must not depend on the state."""

    anchors: np.ndarray  # i and j
    refinement: np.ndarray  # r, with blocks numbered from 0
    order: np.ndarray  # the items that are present
    whole_parts: bool  # whether to make step 2


class Scratch(NamedTuple):
    """Scratch space with room for all items."""

    goal: np.ndarray  # labels that a forced pass retraces
    origin: np.ndarray  # slot of each item at the start of a pass
    at_home: np.ndarray  # number of items that never left their slot, by slot
    kin: np.ndarray  # the next item of the same part, or -1
    heads: np.ndarray  # first item of each part
    lengths: np.ndarray  # number of items of each part, by its first item; 0 for other items
    first: np.ndarray  # by key of a part: its first item, or -1
    last: np.ndarray  # by key of a part: its last item so far
    keys: np.ndarray  # sort keys of the parts
    settled: np.ndarray  # by block of the goal: an item with its final slot, or -1
    outsider: np.ndarray  # by block of the goal: an item that is not of U, or -1
    log_t: np.ndarray  # log probability of the choices so far


def new_scratch(n_items: int) -> Scratch:
    """Allocate scratch space for moves of `n_items` items."""
    by_key = {name: np.zeros(2 * n_items, np.intp) for name in ("first", "last")}
    by_slot = {name: np.zeros(n_items + 2, np.intp) for name in ("at_home", "settled", "outsider")}
    by_item = {
        name: np.zeros(n_items, np.intp) for name in ("goal", "origin", "kin", "heads", "lengths")
    }
    return Scratch(**by_key, **by_slot, **by_item, keys=np.zeros(n_items), log_t=np.zeros(1))


def reconfigure(
    state: State, plan: MovePlan, work: Scratch, uniforms: np.ndarray, log_u: float
) -> bool:
    """Make one move; return whether it was accepted.

    There are two uniforms for each item: for the parts, and for the items. This is not a kernel:
    two calls of one cost less than another compilation of all the code below.
    """
    while True:
        state.rebuild()  # renumbers the slots, so that a second attempt repeats the first
        start, before = state.labels.copy(), state.log_joint()
        passing = state.problem._replace(log_v=unbounded(state.problem.log_v))
        arguments = (passing, state.partition, plan, work, uniforms)
        work.goal[:] = start
        log_t = make_pass(*arguments, False, -math.inf)
        if log_t != FULL:
            end = state.labels.copy()
            # The move is accepted if the probability of the way back exceeds exp(floor).
            floor = log_u - state.log_joint() + before + log_t
            back = make_pass(*arguments, True, floor) if floor < 0.0 else -math.inf
            if back != FULL:
                accepted = bool(back > floor)
                state.labels[:] = end if accepted else start
                state.rebuild()
                return accepted
        state.labels[:] = start
        state.enlarge()


def unbounded(log_v: np.ndarray) -> np.ndarray:
    """Continue the table of a prior by factors of 1/10 beyond its largest number of blocks.

    A move may need more blocks in between than the prior allows.
    """
    if np.isfinite(log_v[-1]):
        return log_v
    k = np.arange(len(log_v))
    most = k[np.isfinite(log_v)].max()
    return np.where(k > most, log_v[most] - (k - most) * math.log(10.0), log_v)


@kernel
def make_pass(problem, partition, plan, work, uniforms, forced, floor):
    """Make all steps of a move; return the log probability of the choices.

    It returns FULL if there was no room, which leaves the state incomplete. A forced pass retraces
    work.goal. It returns -inf if it cannot, or as soon as the value is not above `floor`.
    """
    labels, order, goal, log_t = partition.labels, plan.order, work.goal, work.log_t
    i, j = plan.anchors[0], plan.anchors[1]
    splitting = labels[i] == labels[j]
    b_i, b_j = labels[i], labels[j]
    log_t[0] = 0.0
    if forced and (goal[i] == goal[j]) == splitting:
        return -math.inf
    if forced:
        set_goal(labels, order, work, b_i, b_j)
        work.settled[goal[i]] = i
        work.settled[goal[j]] = j
    if not take_apart(problem, partition, plan, work):
        return FULL
    n_parts = list_parts(partition, plan, work, b_j) if plan.whole_parts else 0
    for t in range(n_parts):
        if partition.n_blocks[0] + ROOM > len(partition.sizes):
            return FULL
        place_part(problem, partition, work, work.heads[t], forced, uniforms[t])
        if log_t[0] <= floor:
            return -math.inf
    for t in range(len(order)):
        h = order[t]
        if h == i or h == j or (plan.whole_parts and work.lengths[h] > 0):
            continue
        if partition.n_blocks[0] + ROOM > len(partition.sizes):
            return FULL
        u = uniforms[len(labels) + t]
        if work.origin[h] == b_i or work.origin[h] == b_j:
            place_member(problem, partition, work, h, forced, u)
        else:
            place_other(problem, partition, work, h, i, j, forced, u)
        if log_t[0] <= floor:
            return -math.inf
    if forced and not reached_goal(partition, order, work):
        return -math.inf
    return log_t[0]


@kernel
def set_goal(labels, order, work, b_i, b_j):
    """Find an item that is not in U for each block of the goal."""
    goal = work.goal
    for t in range(len(order)):
        work.settled[goal[order[t]]] = -1
        work.outsider[goal[order[t]]] = -1
    for t in range(len(order)):
        h = order[t]
        if labels[h] != b_i and labels[h] != b_j:
            work.outsider[goal[h]] = h


@kernel
def reached_goal(partition, order, work):
    """Whether the partition is the goal."""
    labels, goal, n_blocks = partition.labels, work.goal, 0
    for t in range(len(order)):
        h = order[t]
        n_blocks = max(n_blocks, goal[h] + 1)
        if labels[h] != labels[work.settled[goal[h]]]:
            return False
    return n_blocks == partition.n_blocks[0]


@kernel
def take_apart(problem, partition, plan, work):
    """Make step 1; return False if there is no room to open a block."""
    labels, sizes, r = partition.labels, partition.sizes, plan.refinement
    i, j = plan.anchors[0], plan.anchors[1]
    b_i, b_j = labels[i], labels[j]
    if partition.n_blocks[0] + ROOM > len(sizes):
        return False
    for k in range(partition.n_blocks[0]):
        work.at_home[k] = sizes[k]
    for t in range(len(plan.order)):
        work.origin[plan.order[t]] = labels[plan.order[t]]
    for t in range(len(plan.order)):
        h = plan.order[t]
        own = work.origin[h]
        with_i = own == b_i and r[h] == r[i]
        with_j = own == b_j and r[h] == r[j]
        if (own == b_i or own == b_j) and not with_i and not with_j:
            remove_item(problem, partition, h)
    if b_i == b_j:
        move_item(problem, partition, j, partition.n_blocks[0])
        i = j
    for t in range(len(plan.order)):
        h = plan.order[t]
        if h != i and work.origin[h] == b_j and r[h] == r[j]:
            move_item(problem, partition, h, labels[i])
    return True


@kernel
def list_parts(partition, plan, work, b_j):
    """List the parts of what was taken out, the largest first; return their number."""
    labels, order, r = partition.labels, plan.order, plan.refinement
    for t in range(len(order)):
        h = order[t]
        work.lengths[h] = 0
        work.first[2 * r[h]] = -1
        work.first[2 * r[h] + 1] = -1
    count = 0
    for t in range(len(order)):
        h = order[t]
        if labels[h] >= 0:
            continue
        key = 2 * r[h] + int(work.origin[h] == b_j)
        work.kin[h] = -1
        if work.first[key] < 0:
            work.first[key] = h
            work.heads[count] = h
            count += 1
        else:
            work.kin[work.last[key]] = h
        work.last[key] = h
        work.lengths[work.first[key]] += 1
    for t in range(count):
        work.keys[t] = t - float(work.lengths[work.heads[t]]) * (len(order) + 1)
    heap_sort(work.keys[:count], work.heads[:count])
    return count


@kernel
def place_part(problem, partition, work, head, forced, u):
    """Make step 2 for the part that begins with item `head`."""
    lik, labels, sizes, log_w = problem.likelihood, partition.labels, partition.sizes, problem.log_w
    slots, weights, kin, m = partition.slots, partition.weights, work.kin, work.lengths[head]
    n_blocks = partition.n_blocks[0]
    part = n_blocks + 1  # slot n_blocks is the empty one
    clear(lik, part)
    h = head
    while h >= 0:
        add(lik, part, h)
        labels[h] = part
        h = kin[h]
    for k in range(n_blocks):
        gain = log_marginal_union(lik, k, part, part + 1, labels) - log_marginal_pair(lik, k, part)
        slots[k] = k
        weights[k] = log_w[sizes[k] + m] - log_w[sizes[k]] + problem.beta * gain
    slots[n_blocks] = n_blocks
    weights[n_blocks] = log_w[m] + problem.log_v[n_blocks + 1] - problem.log_v[n_blocks]
    to = choose_slot(partition, work, n_blocks + 1, destination(partition, work, head, forced), u)
    if to < 0:
        return
    if to == n_blocks:
        rename(lik, to, part)
        partition.n_blocks[0] += 1
    h = head
    while h >= 0:
        if to < n_blocks:
            remove(lik, part, h)
            add(lik, to, h)
        labels[h] = to
        h = kin[h]
    change_size(partition, log_w, to, m)
    mark_placed(work, head, forced)


@kernel
def place_member(problem, partition, work, h, forced, u):
    """Make step 3 for an item of U."""
    own, n_blocks = partition.labels[h], partition.n_blocks[0]
    alone = own >= 0 and partition.sizes[own] == 1
    kept = leave_out(problem, partition, own)
    count = log_weights(problem.likelihood, h, own, problem.beta, NEGLIGIBLE, partition)
    if own >= 0:
        partition.log_prior[own] = kept
    to = choose_slot(partition, work, count, destination(partition, work, h, forced), u)
    if to >= 0:
        to = own if alone and to == n_blocks else to
        if to != own:
            move_item(problem, partition, h, to)
        mark_placed(work, h, forced)


@kernel
def place_other(problem, partition, work, h, i, j, forced, u):
    """Make step 3 for an item that is not in U."""
    lik, labels, sizes, log_w = problem.likelihood, partition.labels, partition.sizes, problem.log_w
    slots, weights, goal, own = partition.slots, partition.weights, work.goal, labels[h]
    m, home, n_blocks = sizes[own], work.origin[h], partition.n_blocks[0]
    to = own
    if m == 1 or work.at_home[home] > 1:
        slots[0] = own
        weights[0] = log_w[m] - log_w[m - 1] if m > 1 else log_w[1]
        weights[0] += problem.beta * log_predictive_of_member(lik, own, h, labels, own)
        if m == 1:
            weights[0] += problem.log_v[n_blocks] - problem.log_v[n_blocks - 1]
        count = 1
        for a in range(2):
            k = labels[i] if a == 0 else labels[j]
            if a == 0 or k != labels[i]:
                slots[count] = k
                weights[count] = partition.log_prior[k] + problem.beta * log_predictive(lik, k, h)
                count += 1
        wanted = -1
        if forced:
            wanted = own
            if goal[h] == goal[i]:
                wanted = labels[i]
            elif goal[h] == goal[j]:
                wanted = labels[j]
        to = choose_slot(partition, work, count, wanted, u)
    elif forced and (goal[h] == goal[i] or goal[h] == goal[j]):
        work.log_t[0] = -math.inf
    if to >= 0:
        if to != own:
            work.at_home[home] -= 1
            move_item(problem, partition, h, to)
        mark_placed(work, h, forced)


@kernel
def destination(partition, work, h, forced):
    """Slot where a forced pass puts an item of U, or the part it begins; -1 if not forced."""
    if not forced:
        return -1
    block = work.goal[h]
    guide = work.settled[block] if work.settled[block] >= 0 else work.outsider[block]
    return partition.labels[guide] if guide >= 0 else partition.n_blocks[0]


@kernel(inline=True)
def mark_placed(work, h, forced):
    """In a forced pass, note that item h is in the final slot of its block of the goal."""
    if forced:
        work.settled[work.goal[h]] = h


@kernel
def choose_slot(partition, work, count, wanted, u):
    """Choose among the first `count` listed slots: the wanted one, or if -1 one drawn by u.

    Adds the log probability of the choice to work.log_t. If the wanted slot is not listed, this is
    -inf and the result is -1.
    """
    slots, weights = partition.slots, partition.weights
    top, total = -math.inf, 0.0
    for c in range(count):
        top = max(top, weights[c])
    for c in range(count):
        weights[c] = math.exp(weights[c] - top)
        total += weights[c]
    chosen, rest = -1, u * total
    for c in range(count):
        if wanted < 0:
            if weights[c] > 0.0:
                chosen = c
            rest -= weights[c]
            if rest < 0.0:
                break
        elif slots[c] == wanted:
            chosen = c
    if chosen < 0 or weights[chosen] == 0.0:
        work.log_t[0] = -math.inf
        return -1
    work.log_t[0] += math.log(weights[chosen] / total)
    return slots[chosen]
