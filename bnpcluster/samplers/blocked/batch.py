"""A batch of splits and merges, on disjoint sets of blocks, with one pass over their rows.

First a skeleton is drawn: which blocks try to split, and which pairs try to merge. Its moves are
Metropolis-Hastings updates of the product of the posterior and the probability of the skeleton,
which names unions and anchors, but not whether a union is divided. All divisions are proposed in
one pass by threads; then the moves are decided one after the other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core.operations import n_coordinates
from bnpcluster._core.parameter_operations import draw_parameters
from bnpcluster._core.state import State
from bnpcluster.samplers.blocked.assignment import LAST
from bnpcluster.samplers.blocked.counters import draw_key
from bnpcluster.samplers.blocked.decisions import SLACK, Rule, settle
from bnpcluster.samplers.blocked.division import Moves, Pass, divide_all, new_moves
from bnpcluster.samplers.blocked.proposals import (
    draw_anchors,
    draw_kinds,
    draw_log_shares,
    fill_rests,
    gather_members,
    launch_all,
)
from bnpcluster.samplers.blocked.skeleton import (
    Matching,
    draw_matching,
    draw_odd,
    draw_roles,
    fill_gains,
    find_firsts,
    new_matching,
)

TALLY = ("splits", "splits_accepted", "merges", "merges_accepted", "lazy_merges")


class Batch(NamedTuple):
    """How a batch is drawn: the probability that a block tries to split, and of drawn launches."""

    p_split: float
    p_drawn: float


MERGES = Batch(0.2, 1.0)
SPLITS = Batch(0.8, 0.0)
"""Drawn launches find merges, and fixed ones splits, so these have batches of their own."""

SPLITTING = 0.5
"""How many batches of splits there are to one of merges. With more, clusters that were cut in two
are cut again before they can merge."""


def make_batches(
    state: State, n_batches: int, n_jobs: int | None, rng: np.random.Generator
) -> dict[str, int]:
    """Make batches of merges, with batches of splits after some of them; return the counts."""
    counts = dict.fromkeys(TALLY, 0)
    for _ in range(n_batches):
        for batch in (MERGES, SPLITS) if rng.random() < SPLITTING else (MERGES,):
            for name, count in split_and_merge(state, batch, n_jobs, rng).items():
                counts[name] += count
    return counts


def split_and_merge(
    state: State, batch: Batch, n_jobs: int | None, rng: np.random.Generator
) -> dict[str, int]:
    """Make a batch of moves; return how many were tried and accepted."""
    odd, firsts = draw_odd(rng), np.full(state.n_blocks, LAST)
    find_firsts(odd, state.problem.items, state.labels, firsts)
    drawn = draw_skeleton(state, firsts, batch, rng)
    if not len(drawn.blocks):
        return drawn.counts
    moves = new_moves(drawn.blocks, state.sizes)
    moves.nodes[:] = drawn.nodes
    proposed = propose(state, moves, batch, odd, n_jobs, rng)
    rule = Rule(batch.p_split, drawn.n_candidates, state.prior.sigma_now)
    settle(state.problem, state.partition, moves, drawn.matching, rule, *proposed, rng)
    return counted(drawn, moves)


class Skeleton(NamedTuple):
    """What a batch tries.

    Attributes
    ----------
    matching : Matching
        Who is paired with whom.
    blocks, nodes : ndarray of intp, shape (moves, 2)
        The blocks of every move, and their nodes of the matching.
    n_candidates : int
        The number of candidates to merge.
    counts : dict
        How many moves are tried, and how many merges were refused at once.
    """

    matching: Matching
    blocks: NDArray[np.intp]
    nodes: NDArray[np.intp]
    n_candidates: int
    counts: dict[str, int]


def draw_skeleton(state: State, firsts: NDArray, batch: Batch, rng: Any) -> Skeleton:
    """Draw what a batch tries, given the first items of all blocks."""
    n_blocks = state.n_blocks
    splits, candidates, n_candidates = draw_roles(state.sizes, firsts, batch.p_split, rng)
    while n_blocks + 2 * n_blocks + 2 > len(state.partition.sizes):
        state.enlarge()
    matching = pair_up(state, candidates, firsts, len(splits), rng)
    blocks, nodes, n_refused = draw_moves(splits, candidates, matching, rng)
    n_merges = len(blocks) - len(splits) + n_refused
    counts = {"splits": len(splits), "merges": n_merges, "lazy_merges": n_refused}
    return Skeleton(matching, blocks, nodes, n_candidates, counts)


def counted(drawn: Skeleton, moves: Moves) -> dict[str, int]:
    """The counts of a batch, with the moves that were accepted."""
    return drawn.counts | {
        "splits_accepted": int((moves.accepted & ~moves.merging).sum()),
        "merges_accepted": int((moves.accepted & moves.merging).sum()),
    }


def pair_up(
    state: State, candidates: list[int], firsts: NDArray, n_splits: int, rng: Any
) -> Matching:
    """Draw the pairs that try to merge."""
    n = len(candidates)
    matching = new_matching(n, n_splits)
    matching.slots[:n] = candidates
    matching.sizes[:n], matching.firsts[:n] = state.sizes[candidates], firsts[candidates]
    spare = state.n_blocks + 1  # the slot before it stays empty
    fill_gains(state.problem, state.labels, spare, n, matching)
    draw_matching(matching, n, rng)
    return matching


def draw_moves(
    splits: list[int], candidates: list[int], matching: Matching, rng: Any
) -> tuple[NDArray, NDArray, int]:
    """The blocks and nodes of the moves, in a random order, and how many merges were refused.

    A merge that loses much is refused here (delayed acceptance).
    """
    n = len(candidates)
    moves = [((k, k), (n + 2 * t, n + 2 * t + 1)) for t, k in enumerate(splits)]
    for a in range(n):
        b = int(matching.partner[a])
        if b < a:
            continue
        if -rng.standard_exponential() < min(0.0, matching.gains[a, b] + SLACK):
            one, two = (a, b) if rng.random() < 0.5 else (b, a)
            moves.append(((candidates[one], candidates[two]), (one, two)))
    for t in range(len(moves) - 1, 0, -1):
        u = int((t + 1) * rng.random())
        moves[t], moves[u] = moves[u], moves[t]
    blocks, nodes = np.array(moves, np.intp).reshape(-1, 2, 2).transpose(1, 0, 2)
    return np.ascontiguousarray(blocks), nodes, n // 2 + len(splits) - len(moves)


def propose(
    state: State, moves: Moves, batch: Batch, odd: np.uint64, n_jobs: int | None, rng: Any
) -> tuple[Any, Any, Any]:
    """Divide the items of all moves; return both draws of parameters, and the sums of the pass."""
    list_members(state, moves)
    draw_anchors(moves, rng)
    one, other, n_slots = draw_proposals(state, moves, batch, rng)
    rule = Pass(draw_key(rng), odd, state.labels)
    found = divide_all(state, moves, (one, other), rule, n_slots, n_jobs)
    splitting = ~moves.merging
    moves.sizes[splitting] = found.sizes[splitting]
    moves.firsts[:], moves.log_q[:] = found.firsts, found.log_q
    return one, other, found.sums


def draw_proposals(state: State, moves: Moves, batch: Batch, rng: Any) -> tuple[Any, Any, int]:
    """Draw launches, shares and parameters of all moves; the number of parameters is the last."""
    lik, base = state.problem.likelihood, state.n_blocks
    n_slots = base + 2 * len(moves.blocks)
    draw_kinds(lik, moves, batch.p_drawn, rng)
    n_dims = n_coordinates(lik)
    centres, direction = np.zeros((2, n_dims)), np.zeros(n_dims)
    launch_all(lik, state.labels, moves, base, n_slots, centres, direction, rng)
    sides = base + np.arange(n_slots - base).reshape(-1, 2)
    moves.parameters[:] = np.where(own_blocks(moves), moves.blocks, sides)
    draw_shares(moves, state.prior.sigma_now, rng)
    one = draw_parameters(lik, n_slots, rng)
    fill_rests(lik, state.labels, moves, one, base, n_slots, rng)
    return one, draw_parameters(lik, n_slots, rng), n_slots


def list_members(state: State, moves: Moves) -> None:
    """List the items of all moves, block by block."""
    place = np.full(state.n_blocks, len(moves.members) - 1)
    place[moves.blocks[:, 1]] = moves.offset[:-1] + moves.sizes[:, 0]
    place[moves.blocks[:, 0]] = moves.offset[:-1]
    steps = np.zeros(state.n_blocks, np.intp)
    steps[moves.blocks] = 1
    gather_members(state.problem.items, state.labels, place, steps, moves.members)


def own_blocks(moves: Moves) -> NDArray[np.bool_]:
    """Which moves draw parameters given their blocks, not given a launch: drawn merges."""
    return (moves.merging & moves.drawn)[:, None]


def draw_shares(moves: Moves, sigma: float, rng: Any) -> None:
    """Draw the shares of both sides: from the launch, or given the blocks of a drawn merge."""
    own = own_blocks(moves)
    shapes = np.where(own, moves.sizes, moves.launched) - sigma
    moves.log_shares[:] = draw_log_shares(shapes[:, 0], shapes[:, 1], rng)
