"""Passes over rows that stay where they are: parameters go out, and statistics come back.

All rows are divided into chunks, which may be on other machines. What a pass over a chunk returns
is a function of the chunk and of what was sent. So no result depends on who makes the pass, and a
pass that is lost is made again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core.jit import kernel
from bnpcluster._core.parameter_operations import TILE, gather
from bnpcluster.samplers.blocked.assignment import (
    CHUNK,
    LAST,
    Message,
    Numbering,
    Part,
    assign,
    new_part,
    number_of,
)
from bnpcluster.samplers.blocked.counters import LOW, fill_orders, fill_ranks
from bnpcluster.samplers.blocked.restricted_sweep import add_up, in_threads
from bnpcluster.samplers.blocked.skeleton import rank_of


class Chunk(NamedTuple):
    """Rows, as they were given but in an order in which those of a tile are near one another."""

    rows: np.ndarray
    numbering: Numbering

    @property
    def places(self) -> NDArray[np.integer]:
        """Where the rows were in the chunk that was given."""
        places = self.numbering.places
        return places if len(places) else np.arange(len(self.rows))

    def part(self, start: int) -> Numbering:
        """The numbers of the rows from `start` on."""
        first, places = self.numbering
        return Numbering(first if len(places) else first + start, places[start : start + CHUNK])


class Sent(NamedTuple):
    """What a pass needs besides the rows.

    Attributes
    ----------
    message : Message
        It determines the labels.
    next_key : ndarray of uint64, shape (2,)
        Names the order of the items in the next iteration.
    below : uint64
        Rows of smaller rank in that order come back with their labels.
    odd : uint64
        Names another order of the items, for moves.
    some_below : ndarray of uint64, one per block
        Rows of smaller rank in that order come back, too, as a sample of their block.
    """

    message: Message
    next_key: np.ndarray
    below: np.uint64
    odd: np.uint64
    some_below: np.ndarray


class Returned(NamedTuple):
    """Rows that come back from a pass."""

    numbers: np.ndarray
    rows: np.ndarray
    labels: np.ndarray

    @classmethod
    def joined(cls, parts: Sequence[Returned]) -> Returned:
        """Rows of several passes."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))


class Anchors(NamedTuple):
    """Two random rows of every block, or one if it has no more.

    They are the first ones in an order of their own. A block without a second row has the draw
    LAST there.
    """

    draws: np.ndarray  # (blocks, 2), and so on
    numbers: np.ndarray
    rows: np.ndarray

    @classmethod
    def joined(cls, parts: Sequence[Anchors]) -> Anchors:
        """The first ones of several passes."""
        draws, numbers, rows = (np.concatenate(x, axis=1) for x in zip(*parts, strict=True))
        order = np.argsort(draws, axis=1, kind="stable")[:, :2]
        block = np.arange(len(draws))[:, None]
        return cls(draws[block, order], numbers[block, order], rows[block, order])


class Found(NamedTuple):
    """What comes back from a pass.

    Attributes
    ----------
    sizes : ndarray of intp, one per block
    sums : NamedTuple of arrays
        Sums over the rows of every block, as of `new_sums`.
    leaders : ndarray of uint64, one per block
        The least rank, in the next order, of the rows that do not come back for a scan.
    firsts : ndarray of uint64, one per block
        The least rank in the order for moves.
    scanned : Returned
        The rows for the next scan.
    some : Returned
        A sample of every block, for moves.
    anchors : Anchors
        For moves, too.
    """

    sizes: np.ndarray
    sums: Any
    leaders: np.ndarray
    firsts: np.ndarray
    scanned: Returned
    some: Returned
    anchors: Anchors


def new_chunk(likelihood: Any, bound: Any, rows: NDArray, first: int) -> Chunk:
    """A chunk of rows, of which row i has the number ``first + i``."""
    near = gather(likelihood.passed(bound, rows.astype(np.float64)), np.arange(len(rows)))
    if np.array_equal(near, np.arange(len(rows))):
        return Chunk(rows, Numbering(first, np.zeros(0, np.uint32)))
    return Chunk(rows[near], Numbering(first, near.astype(np.uint32)))


def pass_over(
    likelihood: Any, bound: Any, sent: Sequence[Sent], chunk: Chunk, n_threads: int | None = None
) -> tuple[list[Found], list[NDArray[np.int32]]]:
    """Draw the labels of a chunk, for every chain; what is found, and the labels.

    The chains take turns on some rows after the others, which are converted once. The labels are in
    the order of the rows of the chunk.
    """
    labels = [leaders_in(one.message, chunk) for one in sent]
    run = partial(_pass_over_some, likelihood, bound, sent, labels, chunk)
    parts = in_threads(run, starts_of(chunk), n_threads)
    return [total(found) for found in zip(*parts, strict=True)], labels


def labels_in(
    likelihood: Any, bound: Any, message: Message, chunk: Chunk, n_threads: int | None = None
) -> NDArray[np.int32]:
    """The labels of a chunk, in the order of its rows."""
    labels = leaders_in(message, chunk)
    run = partial(_label_some, likelihood, bound, message, labels, chunk)
    for _ in in_threads(run, starts_of(chunk), n_threads):
        pass
    return labels


def labels_of(
    likelihood: Any, bound: Any, message: Message, chunk: Chunk, n_threads: int | None = None
) -> NDArray[np.int32]:
    """The labels of a chunk, in the order in which its rows were given."""
    found = labels_in(likelihood, bound, message, chunk, n_threads)
    labels = np.empty_like(found)
    labels[chunk.places] = found
    return labels


def labels_of_rows(
    likelihood: Any, bound: Any, message: Message, rows: NDArray, numbers: NDArray[np.int64]
) -> NDArray[np.int32]:
    """The labels of some rows with these numbers."""
    numbering, labels = Numbering(0, numbers.astype(np.uint32)), np.full(len(rows), -1, np.int32)
    leaders = (message.leaders & LOW).astype(np.int64)
    place = {number: r for r, number in enumerate(numbers.tolist())}
    for k, number in enumerate(leaders.tolist()):
        if number in place:
            labels[place[number]] = k
    lik, part = likelihood.passed(bound, rows), new_part(bound, len(leaders))
    assign(lik, message, numbering, np.arange(len(rows)), labels, part)
    return labels


def least_ranks(
    key: NDArray, below: np.uint64, rows: NDArray, first: int
) -> tuple[NDArray[np.uint64], NDArray]:
    """The ranks, in the order that `key` names, of the rows that are below a rank; and the rows."""
    ranks = np.zeros(len(rows), np.uint64)
    fill_ranks(key, np.arange(first, first + len(rows), dtype=np.uint64), ranks)
    chosen = np.flatnonzero(ranks < below)
    return ranks[chosen], np.asarray(rows[chosen])


def total(parts: Iterable[Found]) -> Found:
    """What several passes found together; sums are added in the order of the parts."""
    first, *others = parts = list(parts)
    sizes, sums = first.sizes.copy(), _copied(first.sums)
    for part in others:
        add_up(sizes, part.sizes)
        add_up(sums, part.sums)
    return Found(
        sizes,
        sums,
        np.minimum.reduce([part.leaders for part in parts]),
        np.minimum.reduce([part.firsts for part in parts]),
        Returned.joined([part.scanned for part in parts]),
        Returned.joined([part.some for part in parts]),
        Anchors.joined([part.anchors for part in parts]),
    )


def _copied(sums: Any) -> Any:
    """A copy of an array, or of a named tuple of arrays."""
    return type(sums)(*map(_copied, sums)) if isinstance(sums, tuple) else sums.copy()


def starts_of(chunk: Chunk) -> range:
    """Where the parts of a chunk begin. Sums depend on them in their last digits."""
    return range(0, len(chunk.rows), CHUNK)


def _pass_over_some(
    likelihood: Any,
    bound: Any,
    sent: Sequence[Sent],
    kept: Sequence[NDArray[np.int32]],
    chunk: Chunk,
    start: int,
) -> list[Found]:
    """Fill in the labels of the rows from `start` on; what is found, for every chain."""
    rows = chunk.rows[start : start + CHUNK]
    lik, numbering = likelihood.passed(bound, rows.astype(np.float64)), chunk.part(start)
    result = []
    for one, own in zip(sent, kept, strict=True):
        labels = own[start : start + CHUNK]
        part = new_part(lik, len(one.message.leaders))
        assign(lik, one.message, numbering, np.arange(len(rows)), labels, part)
        result.append(_found(one, numbering, rows, labels, part))
    return result


def _found(
    sent: Sent, numbering: Numbering, rows: NDArray, labels: NDArray[np.int32], part: Part
) -> Found:
    """What is found in labelled rows."""
    n_blocks = len(part.sizes)
    ahead = Ahead(
        np.full(n_blocks, LAST),
        np.full(n_blocks, LAST),
        np.full((n_blocks, 2), LAST),
        np.zeros((n_blocks, 2), np.intp),
        np.empty(len(rows), np.intp),
        np.empty(len(rows), np.intp),
        np.zeros(TILE, np.uint64),
    )
    n_scanned, n_some = look_ahead(sent, numbering, labels, ahead, part.numbers, part.ranks)

    def returned(chosen: NDArray[np.intp]) -> Returned:
        return Returned(numbers_of(numbering, chosen), rows[chosen], labels[chosen])

    anchors = Anchors(ahead.draws, numbers_of(numbering, ahead.anchors), rows[ahead.anchors])
    return Found(
        part.sizes,
        part.sums,
        ahead.leaders,
        ahead.firsts,
        returned(ahead.scanned[:n_scanned]),
        returned(ahead.some[:n_some]),
        anchors,
    )


def numbers_of(numbering: Numbering, items: NDArray[np.intp]) -> NDArray[np.int64]:
    """The numbers of some items among all rows."""
    places = numbering.places[items] if len(numbering.places) else items
    return numbering.first + places.astype(np.int64)


def _label_some(
    likelihood: Any, bound: Any, message: Message, kept: NDArray, chunk: Chunk, start: int
) -> None:
    """Fill in the labels of the rows from `start` on."""
    rows, labels = chunk.rows[start : start + CHUNK], kept[start : start + CHUNK]
    lik = likelihood.passed(bound, rows.astype(np.float64))
    part = new_part(lik, len(message.leaders))
    assign(lik, message, chunk.part(start), np.arange(len(rows)), labels, part)


def leaders_in(message: Message, chunk: Chunk) -> NDArray[np.int32]:
    """The labels of the leaders in a chunk, and -1 for all other rows."""
    n, (first, places) = len(chunk.rows), chunk.numbering
    labels = np.full(n, -1, np.int32)
    numbers = (message.leaders & LOW).astype(np.int64) - first
    own = np.flatnonzero((message.leaders > 0) & (numbers >= 0) & (numbers < n))
    labels[numbers[own]] = own
    return labels[places] if len(places) else labels


class Ahead(NamedTuple):
    """What a pass looks for in labelled rows, for the next iteration."""

    leaders: np.ndarray  # by block, as the next three
    firsts: np.ndarray
    draws: np.ndarray
    anchors: np.ndarray
    scanned: np.ndarray
    some: np.ndarray
    scratch: np.ndarray  # by row of a tile


@kernel
def look_ahead(sent, numbering, labels, ahead, numbers, ranks):
    """Fill `ahead`; return how many items are listed for the scan, and for moves."""
    key, below, odd, some_below = sent.next_key, sent.below, sent.odd, sent.some_below
    n_scanned, n_some, draws = 0, 0, ahead.scratch
    for start in range(0, len(labels), TILE):
        width = min(TILE, len(labels) - start)
        for r in range(width):
            numbers[r] = number_of(numbering, start + r)
        fill_orders(key, numbers[:width], ranks, draws)
        for r in range(width):
            i, k = start + r, labels[start + r]
            if ranks[r] < below:
                ahead.scanned[n_scanned] = i
                n_scanned += 1
            elif ranks[r] < ahead.leaders[k]:
                ahead.leaders[k] = ranks[r]
            rank = rank_of(odd, numbers[r])
            if rank < some_below[k]:
                ahead.some[n_some] = i
                n_some += 1
            if rank < ahead.firsts[k]:
                ahead.firsts[k] = rank
            note_anchor(ahead.draws[k], ahead.anchors[k], draws[r], i)
    return n_scanned, n_some


@kernel(inline=True)
def note_anchor(draws, anchors, draw, i):
    """Keep the two least draws."""
    if draw < draws[0]:
        draws[1], anchors[1] = draws[0], anchors[0]
        draws[0], anchors[0] = draw, i
    elif draw < draws[1]:
        draws[1], anchors[1] = draw, i
