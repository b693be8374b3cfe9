"""Batches of splits and merges of rows that are elsewhere.

Launches are made at the root, on the rows of a union that come first in an order of the items. One
pass over all rows divides the unions. Then the root decides.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core.jit import kernel
from bnpcluster._core.parameter_operations import TILE
from bnpcluster.samplers.blocked.assignment import CHUNK, LAST, Message, Numbering, number_of
from bnpcluster.samplers.blocked.batch import (
    MERGES,
    SPLITS,
    SPLITTING,
    Skeleton,
    counted,
    draw_proposals,
    draw_skeleton,
)
from bnpcluster.samplers.blocked.counters import draw_key, fill_ranks
from bnpcluster.samplers.blocked.decisions import Rule, settle
from bnpcluster.samplers.blocked.division import (
    Division,
    Moves,
    Pass,
    divide,
    new_division,
    new_moves,
)
from bnpcluster.samplers.blocked.elsewhere import Chunk, Found, Returned, Sent, starts_of
from bnpcluster.samplers.blocked.restricted_sweep import add_up, in_threads

N_LAUNCHED = 256
"""Rows of a union that a launch may use, besides the anchors."""

P_SPLITS = SPLITTING / (1.0 + SPLITTING)
"""The share of batches of splits. A batch takes a pass, so an iteration has one at most."""


class Plan(NamedTuple):
    """What a pass needs to divide unions, besides the rows.

    Attributes
    ----------
    message : Message
        It determines the labels.
    moves : Moves
        The moves, without members. Their anchors are numbers of rows.
    one, other : NamedTuple of arrays
        Parameters by which rows are divided.
    n_parameters : int
    key : ndarray of uint64, shape (2,)
        Names the uniforms of the sides.
    odd : uint64
        Names the order of the items for moves.
    next_key : ndarray of uint64, shape (2,)
        Names the order of the items in the next iteration.
    below : uint64
        Rows of smaller rank in that order are left out of `leaders`.
    """

    message: Message
    moves: Moves
    one: Any
    other: Any
    n_parameters: int
    key: np.ndarray
    odd: np.uint64
    next_key: np.ndarray
    below: np.uint64


class Divided(NamedTuple):
    """What comes back from a pass that divides unions.

    Attributes
    ----------
    sizes, firsts, leaders : ndarray, shape (moves, 2)
        By side of a split: the number of rows, and the least ranks in both orders.
    log_q : ndarray, one per move
        The log probability of the division.
    sums : NamedTuple of arrays
        Sums over the rows of all sides of splits, by parameters.
    """

    sizes: np.ndarray
    firsts: np.ndarray
    leaders: np.ndarray
    log_q: np.ndarray
    sums: Any


def joined(parts: list[Divided]) -> Divided:
    """What several passes found together, added in their order."""
    result = parts[0]
    for part in parts[1:]:
        for name in ("sizes", "log_q", "sums"):
            add_up(getattr(result, name), getattr(part, name))
        np.minimum(result.firsts, part.firsts, out=result.firsts)
        np.minimum(result.leaders, part.leaders, out=result.leaders)
    return result


def divide_over(
    likelihood: Any,
    bound: Any,
    plan: Plan,
    labels: NDArray[np.int32],
    chunk: Chunk,
    n_threads: int | None = None,
) -> Divided:
    """Divide the unions of a plan in a chunk whose rows have these labels."""
    run = partial(_divide_some, likelihood, bound, plan, labels, chunk)
    return joined(list(in_threads(run, starts_of(chunk), n_threads)))


def _divide_some(
    likelihood: Any, bound: Any, plan: Plan, labels: NDArray[np.int32], chunk: Chunk, start: int
) -> Divided:
    """Divide the rows from `start` on."""
    rows, own = chunk.rows[start : start + CHUNK], labels[start : start + CHUNK]
    numbering = chunk.part(start)
    result, moves, part = _divide(likelihood, bound, plan, rows, own, numbering)
    find_leaders_of_sides(plan.next_key, plan.below, numbering, moves, result.leaders, part)
    return result


def _divide(
    likelihood: Any,
    bound: Any,
    plan: Plan,
    rows: NDArray,
    labels: NDArray[np.int32],
    numbering: Numbering,
) -> tuple[Divided, Moves, Division]:
    """What dividing some rows gives, but for leaders; the moves with these rows; scratch space."""
    lik = likelihood.passed(bound, rows.astype(np.float64))
    n_moves = len(plan.moves.blocks)
    move_of = np.full(len(plan.message.leaders), -1)
    move_of[plan.moves.blocks] = np.arange(n_moves)[:, None]
    offset, members = np.zeros(n_moves + 1, np.intp), np.zeros(len(rows), np.intp)
    list_by_move(move_of, labels, offset, np.zeros(n_moves, np.intp), members)
    sides = np.zeros(len(rows), np.int8)
    moves = plan.moves._replace(offset=offset, members=members, sides=sides)
    part = new_division(lik, n_moves, plan.n_parameters)
    rule = Pass(plan.key, plan.odd, labels, numbering)
    divide(lik, moves, (plan.one, plan.other), rule, 0, offset[-1], part)
    leaders = np.full((n_moves, 2), LAST)
    return Divided(part.sizes, part.firsts, leaders, part.log_q, part.sums), moves, part


@kernel
def list_by_move(move_of, labels, offset, place, members):
    """List the items move by move: those of move g are members[offset[g] : offset[g + 1]]."""
    n_moves = len(offset) - 1
    for i in range(len(labels)):
        g = move_of[labels[i]]
        if g >= 0:
            offset[g + 1] += 1
    for g in range(n_moves):
        place[g] = offset[g]
        offset[g + 1] += offset[g]
    for i in range(len(labels)):
        g = move_of[labels[i]]
        if g >= 0:
            members[place[g]] = i
            place[g] += 1


@kernel
def find_leaders_of_sides(key, below, numbering, moves, leaders, part):
    """Lower leaders[g, s] to the ranks of the rows on side s of split g, from `below` on."""
    numbers, ranks = part.numbers, part.ranks
    for g in range(len(moves.blocks)):
        if moves.merging[g]:
            continue
        for start in range(moves.offset[g], moves.offset[g + 1], TILE):
            width = min(TILE, moves.offset[g + 1] - start)
            for r in range(width):
                numbers[r] = number_of(numbering, moves.members[start + r])
            fill_ranks(key, numbers[:width], ranks)
            for r in range(width):
                s = moves.sides[start + r]
                if ranks[r] >= below and ranks[r] < leaders[g, s]:
                    leaders[g, s] = ranks[r]


class Table(NamedTuple):
    """The rows at the root, in the order of their numbers: samples of all blocks, and anchors."""

    numbers: np.ndarray
    rows: np.ndarray
    labels: np.ndarray
    ranks: np.ndarray  # in the order for moves

    @classmethod
    def of(cls, found: Found, odd: np.uint64) -> Table:
        """The rows that a pass found."""
        anchors, some = found.anchors, found.some
        block, which = np.nonzero(anchors.draws != LAST)
        more = Returned(anchors.numbers[block, which], anchors.rows[block, which], block)
        both = Returned.joined([some, more])
        numbers, first = np.unique(both.numbers, return_index=True)
        ranks = rank_of_numbers(odd, numbers)
        return cls(numbers, both.rows[first], both.labels[first], ranks)

    def place(self, numbers: NDArray) -> NDArray[np.intp]:
        """Where rows with these numbers stand."""
        return np.searchsorted(self.numbers, numbers)


def rank_of_numbers(odd: np.uint64, numbers: NDArray) -> NDArray[np.uint64]:
    """The ranks in the order for moves."""
    return (odd * (numbers.astype(np.uint64) + np.uint64(1))) & np.uint64(0xFFFFFFFF)


class Batch(NamedTuple):
    """A batch between its proposal and its decision."""

    drawn: Skeleton
    plan: Plan
    table: Table
    p_split: float


class Last(NamedTuple):
    """The last pass: what was found, for what was sent."""

    found: Found
    sent: Sent


def propose(state: Any, found: Found, sent: Sent, rng: Any) -> Batch | None:
    """Draw a batch, and the launches of its moves. None: there is nothing to divide.

    The state has the statistics of what was found.
    """
    kind = SPLITS if rng.random() < P_SPLITS else MERGES
    drawn = draw_skeleton(state, found.firsts, kind, rng)
    if not len(drawn.blocks):
        return None
    table = Table.of(found, sent.odd)
    state.show(table.rows, table.labels)
    moves = launched_moves(state, drawn, found, table, rng)
    one, other, n_parameters = draw_proposals(state, moves, kind, rng)
    none = {"members": moves.members[:0], "sides": moves.sides[:0], "offset": moves.offset[:0]}
    light = moves._replace(anchors=table.numbers[moves.anchors], **none)
    plan = Plan(
        sent.message,
        light,
        one,
        other,
        n_parameters,
        draw_key(rng),
        sent.odd,
        sent.next_key,
        sent.below,
    )
    return Batch(drawn, plan, table, kind.p_split)


def launched_moves(state: Any, drawn: Skeleton, found: Found, table: Table, rng: Any) -> Moves:
    """The moves, with the rows that their launches may use as members, both anchors first."""
    order = np.lexsort((table.ranks, table.labels))
    ends = np.searchsorted(table.labels[order], np.arange(state.n_blocks + 1))
    of_block = [order[ends[k] : ends[k + 1]] for k in range(state.n_blocks)]
    lists = []
    for one, two in drawn.blocks:
        own = found.anchors.numbers[one] if one == two else found.anchors.numbers[[one, two], 0]
        if one == two and rng.random() < 0.5:
            own = own[::-1]
        anchors = table.place(own)
        union = of_block[one] if one == two else np.concatenate([of_block[one], of_block[two]])
        union = union[~np.isin(union, anchors)]
        union = union[np.argsort(table.ranks[union], kind="stable")][:N_LAUNCHED]
        lists.append(np.concatenate([anchors, union]))
    moves = new_moves(drawn.blocks, np.zeros(state.n_blocks, np.intp))
    offset = np.cumsum([0, *map(len, lists)])
    members = np.concatenate([*lists, [0]]).astype(np.intp)
    sides = np.zeros(len(members) - 1, np.int8)
    moves = moves._replace(offset=offset, members=members, sides=sides)
    moves.nodes[:], moves.anchors[:] = drawn.nodes, members[offset[:-1, None] + np.arange(2)]
    moves.sizes[moves.merging] = state.sizes[drawn.blocks][moves.merging]
    return moves


def decide(
    state: Any,
    likelihood: Any,
    batch: Batch,
    divided: Divided,
    scanned: Returned,
    leaders: NDArray[np.uint64],
    rng: Any,
) -> tuple[dict[str, int], NDArray[np.intp], NDArray[np.uint64], NDArray[np.intp]]:
    """Decide all moves; what becomes of the rows of the next scan and of the leaders.

    Returns the counts, the labels of these rows, the leaders of the rows that are elsewhere, and
    the blocks of these.
    """
    plan, table, n_blocks = batch.plan, batch.table, state.n_blocks
    numbering = Numbering(0, scanned.numbers.astype(np.uint32))
    labels = scanned.labels.astype(np.int32)
    _, own, _ = _divide(likelihood, state.problem.likelihood, plan, scanned.rows, labels, numbering)
    # At the root stand the table, the rows of the scan, a ghost for every block, and two ghosts for
    # every split, which stand for all rows of a side elsewhere.
    n_table, n_moves = len(table.rows), len(own.blocks)
    first_ghost = n_table + len(scanned.rows)
    of_sides = first_ghost + n_blocks + np.arange(2 * n_moves).reshape(-1, 2)
    ghosts = np.where(own.merging[:, None], first_ghost + own.blocks, of_sides)
    rows = np.concatenate([table.rows, scanned.rows])
    dummies = np.repeat(rows[:1], n_blocks + 2 * n_moves, axis=0)
    blocks_of_ghosts = np.concatenate([np.arange(n_blocks), np.repeat(own.blocks[:, 0], 2)])
    state.show(
        np.concatenate([rows, dummies]),
        np.concatenate([table.labels, scanned.labels, blocks_of_ghosts]),
    )
    moves = _with_ghosts(own, ghosts, n_table)._replace(anchors=table.place(plan.moves.anchors))
    splitting = ~moves.merging
    moves.sizes[splitting] = divided.sizes[splitting]
    moves.firsts[:], moves.log_q[:] = divided.firsts, divided.log_q
    rule = Rule(batch.p_split, batch.drawn.n_candidates, state.prior.sigma_now)
    proposed = (plan.one, plan.other, divided.sums)
    settle(state.problem, state.partition, moves, batch.drawn.matching, rule, *proposed, rng)
    found = state.labels[n_table:first_ghost].copy()
    kept = np.full(n_blocks, True)
    kept[moves.blocks[splitting]] = False
    chosen = np.concatenate([first_ghost + np.flatnonzero(kept), ghosts[splitting].ravel()])
    after = np.concatenate([leaders[kept], divided.leaders[splitting].ravel()])
    return counted(batch.drawn, moves), found, after, state.labels[chosen].copy()


def _with_ghosts(own: Moves, ghosts: NDArray[np.intp], n_table: int) -> Moves:
    """Moves of rows of the scan, which stand after a table, with two ghosts added to each."""
    lists, sides = [], []
    for g, pair in enumerate(ghosts):
        some = slice(own.offset[g], own.offset[g + 1])
        lists += [n_table + own.members[some], pair]
        sides += [own.sides[some], np.arange(2, dtype=np.int8)]
    members = np.concatenate([*lists, [0]]).astype(np.intp)
    offset = own.offset + 2 * np.arange(len(own.offset))
    return own._replace(offset=offset, members=members, sides=np.concatenate(sides))
