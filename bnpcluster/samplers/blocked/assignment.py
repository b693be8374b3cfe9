"""One pass over the rows: labels given weights, parameters and leaders; then statistics.

Rows are treated by the tile, so that the compiler vectorises over rows. A chunk of rows has sums of
its own; they are added in the order of the chunks. So nothing depends on how chunks are computed.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import NEGLIGIBLE, add, clear
from bnpcluster._core.parameter_operations import (
    TILE,
    add_log_densities,
    add_rows,
    bound_log_densities,
    new_scratch,
    new_sums,
    put_sums,
)
from bnpcluster._core.partition import change_size
from bnpcluster.samplers.blocked.counters import fill_random, fill_ranks

CHUNK = 128 * TILE
"""Rows of a chunk. The sums depend on it in their last digits."""

FIRST_SLACK = 12.0
"""Weights are left out at first that add up to at most e^-12 times the largest of a row. Where that
could change a label, the tile is labelled again, and only what is lost to rounding is left out."""

ROUNDING = 1e-12  # of sums of weights, relative to the largest
BOUND_ROUNDING = 1.0  # of bounds of log densities
LOWEST = -1e300  # instead of -inf, for a row that may join no block: the first leader
LAST = np.uint64(0xFFFFFFFFFFFFFFFF)


class Message(NamedTuple):
    """What determines all labels, given the rows.

    Attributes
    ----------
    key : ndarray of uint64, shape (2,)
        Names the random order of the items and their uniforms.
    leaders : ndarray of uint64, one per block
        The rank of the first item of the block, whose number is in the lower 32 bits.
    log_weights : ndarray, one per block
    parameters : NamedTuple of arrays
    """

    key: np.ndarray
    leaders: np.ndarray
    log_weights: np.ndarray
    parameters: Any


class Numbering(NamedTuple):
    """The numbers of items among all rows, of which these may be some.

    Item i has the number ``first + places[i]``, or ``first + i`` if `places` is empty.
    """

    first: int
    places: np.ndarray


IDENTITY = Numbering(0, np.zeros(0, np.uint32))


class Part(NamedTuple):
    """What a pass over a chunk returns, and its scratch space."""

    sizes: np.ndarray  # by block
    sums: Any
    low: np.ndarray  # by block
    high: np.ndarray
    blocks: np.ndarray  # those that a tile may join
    tile: np.ndarray  # by row of a tile
    numbers: np.ndarray
    uniforms: np.ndarray
    ranks: np.ndarray
    tops: np.ndarray
    totals: np.ndarray
    labels: np.ndarray
    last: np.ndarray
    before: np.ndarray
    scores: np.ndarray  # by block and row of a tile
    scratch: Any


def new_part(lik: Any, n_blocks: int) -> Part:
    """The result and the scratch space of one chunk."""
    low, high = np.zeros((2, n_blocks))
    tile, labels, last = np.zeros((3, TILE), np.intp)
    uniforms, tops, totals, before = np.zeros((4, TILE))
    return Part(
        sizes=np.zeros(n_blocks, np.intp),
        sums=new_sums(lik, n_blocks),
        low=low,
        high=high,
        blocks=np.zeros(n_blocks, np.intp),
        tile=tile,
        numbers=np.zeros(TILE, np.uint64),
        uniforms=uniforms,
        ranks=np.zeros(TILE, np.uint64),
        tops=tops,
        totals=totals,
        labels=labels,
        last=last,
        before=before,
        scores=np.zeros((n_blocks, TILE)),
        scratch=new_scratch(lik, n_blocks),
    )


@kernel
def find_leaders(key, items, labels, leaders, ranks):
    """Lower leaders[k] to the least rank of the items of block k."""
    for start in range(0, len(items), TILE):
        tile = items[start : start + TILE]
        fill_ranks(key, tile, ranks)
        for r in range(len(tile)):
            k = labels[tile[r]]
            if ranks[r] < leaders[k]:
                leaders[k] = ranks[r]


@kernel(inline=True)
def number_of(numbering, i):
    """The number of item i among all rows."""
    place = np.uint64(numbering.places[i]) if len(numbering.places) else np.uint64(i)
    return np.uint64(numbering.first) + place


@kernel
def assign(lik, message, numbering, items, labels, part):
    """Draw the labels of a chunk of items, and add up its statistics.

    labels[i] >= 0 is the label of a leader, which stays. All others are -1 before the pass.
    """
    parameters, tile, scratch = message.parameters, part.tile, part.scratch
    first_slack = min(FIRST_SLACK + math.log(len(message.leaders)), NEGLIGIBLE)
    for start in range(0, len(items), TILE):
        count = min(TILE, len(items) - start)
        for r in range(TILE):
            tile[r] = items[start + (r if r < count else 0)]
            part.numbers[r] = number_of(numbering, tile[r])
        fill_random(message.key, part.numbers, part.uniforms, part.ranks)
        if not label_tile(lik, message, first_slack, part):
            label_tile(lik, message, NEGLIGIBLE, part)
        for r in range(TILE):
            if r >= count:
                part.labels[r] = -1
                continue
            if labels[tile[r]] < 0:
                labels[tile[r]] = part.labels[r]
            else:
                part.labels[r] = labels[tile[r]]
            part.sizes[part.labels[r]] += 1
        add_rows(lik, parameters, part.sums, tile, part.labels, scratch)


@kernel
def label_tile(lik, message, slack, part):
    """Draw labels of all rows of a tile; return whether they are sure.

    Weights may be left out that are at least `slack` below the largest of their row. A label is
    sure if these weights, wherever they are, could not change it.
    """
    blocks = part.blocks[: screen(lik, message, slack, part)]
    fill_weights(message, blocks, part)
    tile, scores = part.tile, part.scores
    add_log_densities(lik, message.parameters, tile, blocks, slack, part.scratch, scores)
    left_out = len(message.leaders) * math.exp(-slack) + ROUNDING
    return draw_labels(blocks, left_out, part) or slack == NEGLIGIBLE


@kernel
def screen(lik, message, slack, part):
    """List the blocks that an item of the tile may join; return how many.

    A block is left out if, for every item, a block that is open to all of them is so much heavier.
    """
    leaders, log_weights, low, high = message.leaders, message.log_weights, part.low, part.high
    bounded = bound_log_densities(lik, message.parameters, part.tile, part.scratch, low, high)
    earliest, floor, count = part.ranks[0], -math.inf, 0
    for r in range(TILE):
        earliest = min(earliest, part.ranks[r])
    for k in range(len(leaders)):
        if bounded and leaders[k] < earliest:
            floor = max(floor, log_weights[k] + low[k])
    for k in range(len(leaders)):
        if not bounded or log_weights[k] + high[k] > floor - slack - BOUND_ROUNDING:
            part.blocks[count] = k
            count += 1
    return count


@kernel
def fill_weights(message, blocks, part):
    """Log weights; -inf where the leader of the block does not precede the item."""
    for c in range(len(blocks)):
        leader, weight = message.leaders[blocks[c]], message.log_weights[blocks[c]]
        scores = part.scores[c]
        for r in range(TILE):
            scores[r] = weight if part.ranks[r] > leader else -math.inf


@kernel
def draw_labels(blocks, left_out, part):
    """Draw a label per row by inversion; return whether all are sure.

    The weights that were left out add up to at most `left_out`, relative to the largest of a row.
    """
    scores, tops, totals = part.scores, part.tops, part.totals
    for r in range(TILE):
        tops[r], totals[r] = max(scores[0, r], LOWEST), 0.0
    for c in range(1, len(blocks)):
        for r in range(TILE):
            tops[r] = max(tops[r], scores[c, r])
    for c in range(len(blocks)):
        to_weights(scores[c], tops, totals)
    return invert(blocks, left_out, part)


@kernel
def invert(blocks, left_out, part):
    """Draw a label per row, given the weights and their totals; return whether all are sure."""
    scores, totals, uniforms, reached = part.scores, part.totals, part.uniforms, part.tops
    before, chosen, last = part.before, part.labels, part.last
    for r in range(TILE):
        reached[r], before[r], chosen[r], last[r] = 0.0, 0.0, 0, 0
    for c in range(len(blocks)):
        for r in range(TILE):
            goal = uniforms[r] * totals[r]
            reached[r] += scores[c, r]
            passed = reached[r] <= goal
            before[r] = reached[r] if passed else before[r]
            chosen[r] += int(passed)
            last[r] = c if scores[c, r] > 0.0 else last[r]
    doubts = 0
    for r in range(TILE):
        k = min(chosen[r], last[r])
        goal, after = uniforms[r] * totals[r], before[r] + scores[k, r]
        doubts += int(goal < before[r] + left_out)
        doubts += int(goal + uniforms[r] * left_out >= after - ROUNDING)
        chosen[r] = blocks[k]
    return doubts == 0


@kernel
def to_weights(scores, tops, totals):
    """Replace log weights by weights relative to the largest, and add them up."""
    nearest = -math.inf
    for r in range(TILE):
        nearest = max(nearest, scores[r] - tops[r])
    if nearest <= -NEGLIGIBLE:
        for r in range(TILE):
            scores[r] = 0.0
        return
    for r in range(TILE):
        below = scores[r] - tops[r]
        scores[r] = exp_of_negative(max(below, -NEGLIGIBLE)) if below > -NEGLIGIBLE else 0.0
        totals[r] += scores[r]


@kernel(inline=True)
def exp_of_negative(x):
    """exp(x) for -40 <= x <= 0 to 14 digits, without a branch: the 128th power of a series."""
    y, e = x * (1.0 / 128.0), 1.0 / 479001600.0
    e = 1.0 / 39916800.0 + y * e
    e = 1.0 / 3628800.0 + y * e
    e = 1.0 / 362880.0 + y * e
    e = 1.0 / 40320.0 + y * e
    e = 1.0 / 5040.0 + y * e
    e = 1.0 / 720.0 + y * e
    e = 1.0 / 120.0 + y * e
    e = 1.0 / 24.0 + y * e
    e = 1.0 / 6.0 + y * e
    e = 0.5 + y * e
    e = 1.0 + y * e
    e = 1.0 + y * e
    for _ in range(7):
        e *= e
    return e


@kernel
def fill_blocks(problem, partition, labels, message, part, lossy):
    """Make the partition that of the labels, with statistics from the sums of all chunks."""
    lik, any_lossy = problem.likelihood, False
    for k in range(len(message.leaders)):
        m = part.sizes[k]
        partition.sizes[k] = m
        change_size(partition, problem.log_w, k, 0)
        lossy[k] = not put_sums(lik, k, message.parameters, part.sums, k, m)
        if lossy[k]:
            any_lossy = True
            clear(lik, k)
    for i in problem.items:
        k = labels[i]
        partition.labels[i] = k
        if any_lossy and lossy[k]:
            add(lik, k, i)
