"""One pass over the items of all moves of a batch: each is put on one of two sides.

As in `assignment`, items are treated by the tile, and a chunk of them has sums of its own, so
nothing depends on the number of threads.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import NEGLIGIBLE
from bnpcluster._core.parameter_operations import (
    TILE,
    add_log_densities,
    add_rows,
    new_scratch,
    new_sums,
)
from bnpcluster._core.state import State, Stopped
from bnpcluster.samplers.blocked.assignment import (
    CHUNK,
    IDENTITY,
    LAST,
    Numbering,
    exp_of_negative,
    number_of,
)
from bnpcluster.samplers.blocked.counters import fill_random
from bnpcluster.samplers.blocked.restricted_sweep import add_up, in_threads
from bnpcluster.samplers.blocked.skeleton import rank_of


class Moves(NamedTuple):
    """The moves of a batch, in the order of their decisions.

    The items of move g are members[offset[g] : offset[g + 1]], both anchors first. Its two sides
    have slots K + 2 g and K + 2 g + 1, for K blocks before the batch.

    Attributes
    ----------
    blocks : ndarray of intp, (moves, 2): the block to split, twice, or the two to merge
    merging : ndarray of bool
    nodes : ndarray of intp, (moves, 2): both sides in the matching
    drawn : ndarray of bool: whether the parameters are part of the state while it is divided
    kinds, most : ndarray of intp: the launch, and how many rows it takes at most
    anchors, offset, members : ndarray of intp; the last member is in no move
    sides : ndarray of int8, one per member
    launched, sizes : ndarray of intp, (moves, 2): items on the sides of the launch, and in the end
    parameters : ndarray of intp, (moves, 2): the parameters by which items are divided
    log_shares : ndarray, (moves, 2)
    log_q, log_drawn, gains : ndarray: the log probability of the division, that of the parameters
        given the division over that given the launch, and what a merge gains
    firsts : ndarray of uint64, (moves, 2): the ranks of the first items of the sides
    accepted : ndarray of bool
    """

    blocks: np.ndarray
    merging: np.ndarray
    nodes: np.ndarray
    drawn: np.ndarray
    kinds: np.ndarray
    most: np.ndarray
    anchors: np.ndarray
    offset: np.ndarray
    members: np.ndarray
    sides: np.ndarray
    launched: np.ndarray
    sizes: np.ndarray
    parameters: np.ndarray
    log_shares: np.ndarray
    log_q: np.ndarray
    log_drawn: np.ndarray
    gains: np.ndarray
    firsts: np.ndarray
    accepted: np.ndarray


def new_moves(blocks: NDArray, sizes: NDArray) -> Moves:
    """Moves of pairs of blocks, of which the second is the first one for a split."""
    n_moves = len(blocks)
    merging = blocks[:, 0] != blocks[:, 1]
    offset = np.zeros(n_moves + 1, np.intp)
    np.cumsum(sizes[blocks[:, 0]] + merging * sizes[blocks[:, 1]], out=offset[1:])
    return Moves(
        blocks=blocks,
        merging=merging,
        nodes=np.zeros((n_moves, 2), np.intp),
        drawn=np.zeros(n_moves, bool),
        kinds=np.zeros(n_moves, np.intp),
        most=np.zeros(n_moves, np.intp),
        anchors=np.zeros((n_moves, 2), np.intp),
        offset=offset,
        members=np.zeros(offset[-1] + 1, np.intp),
        sides=np.zeros(offset[-1], np.int8),
        launched=np.zeros((n_moves, 2), np.intp),
        sizes=np.where(merging[:, None], sizes[blocks], 0),
        parameters=np.zeros((n_moves, 2), np.intp),
        log_shares=np.zeros((n_moves, 2)),
        log_q=np.zeros(n_moves),
        log_drawn=np.zeros(n_moves),
        gains=np.zeros(n_moves),
        firsts=np.full((n_moves, 2), LAST),
        accepted=np.zeros(n_moves, bool),
    )


class Division(NamedTuple):
    """What a pass over a chunk of members returns, and its scratch space."""

    sizes: np.ndarray  # by move and side, as all that follows up to the sums
    firsts: np.ndarray
    log_q: np.ndarray  # by move
    sums: Any  # by parameters
    tile: np.ndarray
    numbers: np.ndarray
    labels: np.ndarray
    uniforms: np.ndarray
    ranks: np.ndarray
    smaller: np.ndarray
    blocks: np.ndarray
    scores: np.ndarray
    scratch: Any


def new_division(lik: Any, n_moves: int, n_parameters: int) -> Division:
    """The result and the scratch space of one chunk."""
    tile, labels = np.zeros((2, TILE), np.intp)
    uniforms, smaller = np.zeros((2, TILE))
    return Division(
        sizes=np.zeros((n_moves, 2), np.intp),
        firsts=np.full((n_moves, 2), LAST),
        log_q=np.zeros(n_moves),
        sums=new_sums(lik, n_parameters),
        tile=tile,
        numbers=np.zeros(TILE, np.uint64),
        labels=labels,
        uniforms=uniforms,
        ranks=np.zeros(TILE, np.uint64),
        smaller=smaller,
        blocks=np.zeros(2, np.intp),
        scores=np.zeros((2, TILE)),
        scratch=new_scratch(lik, n_parameters),
    )


class Pass(NamedTuple):
    """What all chunks of a pass share.

    Sides are drawn by the numbers of `key`, or those of the state for a merge. `odd` orders the
    items. `numbering` has their numbers, which `moves.anchors` are, too.
    """

    key: np.ndarray
    odd: np.uint64
    labels: np.ndarray
    numbering: Numbering = IDENTITY


def divide_all(
    state: State, moves: Moves, parameters: Any, rule: Pass, n_parameters: int, n_jobs: int | None
) -> Division:
    """Divide the members of all moves; what was found in all chunks."""
    lik, n = state.problem.likelihood, moves.offset[-1]
    chunks = [(start, min(start + CHUNK, n)) for start in range(0, n, CHUNK)]
    total = new_division(lik, len(moves.blocks), n_parameters)
    run = partial(divide_chunk, lik, moves, parameters, rule, n_parameters)
    for part in in_threads(run, chunks, n_jobs):
        if state.should_stop():
            raise Stopped  # the state is unchanged
        for name in ("sizes", "log_q", "sums"):
            add_up(getattr(total, name), getattr(part, name))
        np.minimum(total.firsts, part.firsts, out=total.firsts)
    return total


def divide_chunk(
    lik: Any, moves: Moves, parameters: Any, rule: Pass, n_parameters: int, chunk: tuple[int, int]
) -> Division:
    """Divide the members from one position to another."""
    part = new_division(lik, len(moves.blocks), n_parameters)
    divide(lik, moves, parameters, rule, chunk[0], chunk[1], part)
    return part


@kernel
def divide(lik, moves, parameters, rule, start, stop, part):
    """Write the sides of members start .. stop-1, and add up what is recorded of them."""
    offset, g, p = moves.offset, 0, start
    while p < stop:
        while offset[g + 1] <= p:
            g += 1
        count = min(TILE, offset[g + 1] - p, stop - p)
        divide_tile(lik, moves, parameters, rule, g, p, count, part)
        p += count


@kernel
def divide_tile(lik, moves, parameters, rule, g, p, count, part):
    """Divide some members of move g, from position p on."""
    tile, scores, blocks, sides = part.tile, part.scores, part.blocks, moves.sides
    for r in range(TILE):
        tile[r] = moves.members[p + (r if r < count else 0)]
        part.numbers[r] = number_of(rule.numbering, tile[r])
        scores[0, r], scores[1, r] = moves.log_shares[g, 0], moves.log_shares[g, 1]
    blocks[0], blocks[1] = moves.parameters[g, 0], moves.parameters[g, 1]
    one, other = parameters
    add_log_densities(lik, one, tile, blocks[:1], math.inf, part.scratch, scores[:1])
    add_log_densities(lik, other, tile, blocks[1:], math.inf, part.scratch, scores[1:])
    if not moves.merging[g]:
        fill_random(rule.key, part.numbers, part.uniforms, part.ranks)
    part.log_q[g] += choose_sides(moves, rule, g, p, count, part)
    if moves.merging[g]:
        return
    for r in range(TILE):
        part.labels[r] = -1
        if r < count:
            side = sides[p + r]
            part.labels[r] = blocks[side]
            part.sizes[g, side] += 1
            rank = rank_of(rule.odd, part.numbers[r])
            if rank < part.firsts[g, side]:
                part.firsts[g, side] = rank
    add_rows(lik, one, part.sums, tile, part.labels, part.scratch)


@kernel
def choose_sides(moves, rule, g, p, count, part):
    """Write the sides of a tile; return their log probability. Anchors have theirs."""
    scores, smaller, uniforms, sides = part.scores, part.smaller, part.uniforms, moves.sides
    for r in range(TILE):
        smaller[r] = exp_of_negative(max(-abs(scores[1, r] - scores[0, r]), -NEGLIGIBLE))
    second, product, log_q = moves.blocks[g, 1], 1.0, 0.0
    anchor, other = np.uint64(moves.anchors[g, 0]), np.uint64(moves.anchors[g, 1])
    for r in range(count):
        odds = scores[1, r] - scores[0, r]
        likelier = int(odds > 0.0)
        if part.numbers[r] == anchor or part.numbers[r] == other:
            sides[p + r] = int(part.numbers[r] == other)
            continue
        if moves.merging[g]:
            rarer = int(rule.labels[part.tile[r]] == second) != likelier
        else:
            rarer = uniforms[r] * (1.0 + smaller[r]) < smaller[r]
        sides[p + r] = 1 - likelier if rarer else likelier
        product *= 1.0 + smaller[r]  # at most 2^128
        log_q -= abs(odds) if rarer else 0.0
    return log_q - math.log(product)
