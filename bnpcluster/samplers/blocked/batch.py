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

from bnpcluster._core.operations import clear, n_coordinates
from bnpcluster._core.parameter_operations import draw_parameters
from bnpcluster._core.state import State
from bnpcluster.samplers.blocked.assignment import LAST
from bnpcluster.samplers.blocked.counters import draw_key
from bnpcluster.samplers.blocked.decisions import (
    SLACK,
    apply_all,
    decide,
    describe_halves,
    label_halves,
)
from bnpcluster.samplers.blocked.division import Division, Moves, Pass, divide_all, new_moves
from bnpcluster.samplers.blocked.proposals import (
    add_log_drawn,
    choose_parameters,
    draw_anchors,
    draw_kinds,
    draw_log_shares,
    fill_rests,
    fill_sides,
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
    n_blocks, odd = state.n_blocks, draw_odd(rng)
    firsts = np.full(n_blocks, LAST)
    find_firsts(odd, state.problem.items, state.labels, firsts)
    splits, candidates, n_candidates = draw_roles(state.sizes, firsts, batch.p_split, rng)
    while n_blocks + 2 * n_blocks + 2 > len(state.partition.sizes):
        state.enlarge()
    matching = pair_up(state, candidates, firsts, len(splits), rng)
    blocks, nodes, n_refused = draw_moves(splits, candidates, matching, rng)
    counts = {
        "splits": len(splits),
        "merges": len(blocks) - len(splits) + n_refused,
        "lazy_merges": n_refused,
    }
    if not len(blocks):
        return counts
    moves = new_moves(blocks, state.sizes)
    moves.nodes[:] = nodes
    propose(state, moves, batch, odd, n_jobs, rng)
    settle(state, moves, matching, n_candidates, batch.p_split, rng)
    counts["splits_accepted"] = int((moves.accepted & ~moves.merging).sum())
    counts["merges_accepted"] = int((moves.accepted & moves.merging).sum())
    return counts


def pair_up(
    state: State, candidates: list[int], firsts: NDArray, n_splits: int, rng: Any
) -> Matching:
    """Draw the pairs that try to merge."""
    n = len(candidates)
    matching = new_matching(n, n_splits)
    matching.slots[:n] = candidates
    matching.sizes[:n], matching.firsts[:n] = state.sizes[candidates], firsts[candidates]
    spare = state.n_blocks
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
) -> None:
    """Divide the items of all moves; the slots of the sides of splits are filled."""
    lik, base = state.problem.likelihood, state.n_blocks
    n_slots, sigma = base + 2 * len(moves.blocks), state.prior.sigma_now
    list_members(state, moves)
    draw_anchors(moves, rng)
    draw_kinds(lik, moves, batch.p_drawn, rng)
    n_dims = n_coordinates(lik)
    centres, direction = np.zeros((2, n_dims)), np.zeros(n_dims)
    launch_all(lik, state.labels, moves, base, n_slots, centres, direction, rng)
    choose_parameters(moves, base)
    rule = Pass(draw_key(rng), odd, state.labels)
    draw_shares(moves, sigma, rng)
    one = draw_parameters(lik, n_slots, rng)
    clear(lik, n_slots)
    fill_rests(lik, state.labels, moves, one, base, n_slots, rng)
    other = draw_parameters(lik, n_slots, rng)
    add_log_drawn(lik, moves, one, other, moves.launched, base, sigma, -1.0)
    found = divide_all(state, moves, (one, other), rule, n_slots, n_jobs)
    note_division(lik, moves, one, found, base)
    add_log_drawn(lik, moves, one, other, moves.sizes, base, sigma, 1.0)


def list_members(state: State, moves: Moves) -> None:
    """List the items of all moves, block by block."""
    place = np.full(state.n_blocks, len(moves.members) - 1)
    place[moves.blocks[:, 1]] = moves.offset[:-1] + moves.sizes[:, 0]
    place[moves.blocks[:, 0]] = moves.offset[:-1]
    steps = np.zeros(state.n_blocks, np.intp)
    steps[moves.blocks] = 1
    gather_members(state.problem.items, state.labels, place, steps, moves.members)


def draw_shares(moves: Moves, sigma: float, rng: Any) -> None:
    """Draw the shares of both sides: from the launch, or given the blocks of a drawn merge."""
    own = (moves.merging & moves.drawn)[:, None]
    shapes = np.where(own, moves.sizes, moves.launched) - sigma
    moves.log_shares[:] = draw_log_shares(shapes[:, 0], shapes[:, 1], rng)


def note_division(lik: Any, moves: Moves, parameters: Any, found: Division, base: int) -> None:
    """Keep what the pass found, and fill the slots of the sides of splits."""
    splitting = ~moves.merging
    moves.sizes[splitting] = found.sizes[splitting]
    moves.firsts[:], moves.log_q[:] = found.firsts, found.log_q
    fill_sides(lik, moves, parameters, found.sums, base)


def settle(
    state: State,
    moves: Moves,
    matching: Matching,
    n_candidates: int,
    p_split: float,
    rng: Any,
) -> None:
    """Decide all moves and apply those that are accepted."""
    problem, partition, base = state.problem, state.partition, state.n_blocks
    spare = base + 2 * len(moves.blocks)
    clear(problem.likelihood, spare)
    label_halves(moves, partition.labels, base)
    describe_halves(problem.likelihood, moves, matching, base)
    matching.order[:] = np.argsort(matching.firsts, kind="stable")
    decide(problem, partition, moves, matching, n_candidates, p_split, spare, rng)
    apply_all(problem, partition, moves, spare)
