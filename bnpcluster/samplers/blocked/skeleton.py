"""The skeleton of a batch of moves: which blocks try to split, and which pairs try to merge.

Every block is, independently, a candidate to split or to merge. Candidates to merge stand in the
order of their first items, in an order of the items that does not depend on the partition. If their
number is odd, one of them stays single. Then the first free one picks its partner among the free
ones, and so on. A pair that loses little by a merge is picked more often.

The probability of a skeleton depends on the partition, so it is part of the acceptance ratio.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import log_marginal, log_marginal_union
from bnpcluster.samplers.blocked.counters import LOW

ONE = np.uint64(1)
HALVES = 2.0**31  # half the number of ranks


class Matching(NamedTuple):
    """Who may be paired with whom: candidates to merge, then both sides of every split.

    Attributes
    ----------
    slots, sizes : ndarray of intp, one per node
    log_marginals : ndarray, one per node
    firsts : ndarray of uint64: the rank of the first item
    gains : ndarray, of candidates by candidates: what a merge adds to the log posterior, but V
    weights : ndarray, of nodes by nodes: how eagerly two are paired
    order, keys : ndarray of intp and of uint64: the nodes by `firsts`, and scratch
    partner : ndarray of intp: the node that each is paired with
    present, taken : ndarray of bool: which nodes stand in the matching, and scratch
    """

    slots: np.ndarray
    sizes: np.ndarray
    log_marginals: np.ndarray
    firsts: np.ndarray
    gains: np.ndarray
    weights: np.ndarray
    order: np.ndarray
    keys: np.ndarray
    partner: np.ndarray
    present: np.ndarray
    taken: np.ndarray


def new_matching(n_candidates: int, n_splits: int) -> Matching:
    """A matching in which nobody stands yet."""
    n_nodes = n_candidates + 2 * n_splits
    return Matching(
        slots=np.zeros(n_nodes, np.intp),
        sizes=np.zeros(n_nodes, np.intp),
        log_marginals=np.zeros(n_nodes),
        firsts=np.zeros(n_nodes, np.uint64),
        gains=np.zeros((n_candidates, n_candidates)),
        weights=np.zeros((n_nodes, n_nodes)),
        order=np.zeros(n_nodes, np.intp),
        keys=np.zeros(n_nodes, np.uint64),
        partner=np.full(n_nodes, -1, np.intp),
        present=np.arange(n_nodes) < n_candidates,
        taken=np.zeros(n_nodes, bool),
    )


def draw_odd(rng: Any) -> np.uint64:
    """A factor that orders the items: an odd number of 32 bits."""
    return np.uint64(2 * int(HALVES * rng.random()) + 1)


@kernel(inline=True)
def rank_of(odd, i):
    """The rank of item i: a multiple of an odd number modulo 2^32, so no two are equal."""
    return (odd * (np.uint64(i) + ONE)) & LOW


@kernel
def find_firsts(odd, items, labels, firsts):
    """Lower firsts[k] to the least rank of the items of block k."""
    for t in range(len(items)):
        k = labels[items[t]]
        rank = rank_of(odd, items[t])
        if rank < firsts[k]:
            firsts[k] = rank


def draw_roles(
    sizes: np.ndarray, firsts: np.ndarray, p_split: float, rng: Any
) -> tuple[list[int], list[int], int]:
    """The blocks to split, those to pair up, and the number of all candidates to merge.

    They stand in the order of their first items. If their number is odd, one of them stays single.
    """
    splits, candidates = [], []
    for k, m in enumerate(sizes):
        if not rng.random() < p_split:
            candidates.append(k)
        elif m > 1:
            splits.append(k)
    candidates.sort(key=firsts.__getitem__)
    n_candidates = len(candidates)
    if n_candidates % 2:
        candidates.pop(int(n_candidates * rng.random()))
    return splits, candidates, n_candidates


@kernel
def fill_gains(problem, labels, spare, n_candidates, matching):
    """The gains and the weights of all pairs of candidates."""
    lik, slots, log_marginals = problem.likelihood, matching.slots, matching.log_marginals
    for a in range(n_candidates):
        log_marginals[a] = log_marginal(lik, slots[a])
        for b in range(a):
            gain = log_gain(problem, labels, spare, matching, a, b)
            matching.gains[a, b] = matching.gains[b, a] = gain
            matching.weights[a, b] = matching.weights[b, a] = eagerness(gain)


@kernel
def log_gain(problem, labels, spare, matching, a, b):
    """log of W L of the union of two nodes over W L of both; uses the slot `spare`."""
    lik, log_w, one, two = problem.likelihood, problem.log_w, matching.slots[a], matching.slots[b]
    m_1, m_2 = matching.sizes[a], matching.sizes[b]
    gain = log_marginal_union(lik, one, two, spare, labels)
    gain -= matching.log_marginals[a] + matching.log_marginals[b]
    return gain + log_w[m_1 + m_2] - log_w[m_1] - log_w[m_2]


@kernel(inline=True)
def eagerness(gain):
    """The weight of a pair. It has a heavy tail: a loss of hundreds is not out of the question."""
    return 1.0 / (1.0 + max(0.0, -gain))


@kernel
def draw_matching(matching, n_candidates, rng):
    """Draw partners: the first free candidate picks one of the others that are free."""
    partner, weights = matching.partner, matching.weights
    for a in range(n_candidates):
        if partner[a] >= 0:
            continue
        total, chosen = 0.0, -1
        for b in range(a + 1, n_candidates):
            total += weights[a, b] if partner[b] < 0 else 0.0
        goal = total * rng.random()
        for b in range(a + 1, n_candidates):
            if partner[b] < 0:
                chosen = b
                goal -= weights[a, b]
                if goal < 0.0:
                    break
        partner[a], partner[chosen] = chosen, a


@kernel
def log_matching_probability(matching):
    """Log probability of the partners of the nodes that are present."""
    order, present, taken = matching.order, matching.present, matching.taken
    total = 0.0
    taken[:] = False
    for a in order:
        if taken[a] or not present[a]:
            continue
        weights, b, among = matching.weights[a], matching.partner[a], 0.0
        taken[a] = True
        for c in range(len(order)):
            among += weights[c] if present[c] and not taken[c] else 0.0
        taken[b] = True
        total += math.log(weights[b] / among)
    return total
