"""Proposals of a batch: launches, and the parameters by which items are divided.

A launch fills the slots of both sides. It is a function of the union, the anchors and fresh
randomness, never of how the union is divided: so it is the same for a split and its reverse. Some
launches run 2-means, or hard assignment, on some rows. In others, the first side is like the whole
union, with the certainty of a few rows, and the second side gets the *rest*: rows that parameters
and share drawn for the first side leave over. So the sides differ as they like, but together they
are like the union.

Of a *fixed* launch, the parameters are drawn from the launch for a split and a merge alike. Of a
*drawn* one they are part of the state while the union is divided: for a merge they are drawn given
its two blocks. Large fragments of one cluster can merge only so, since no fixed parameters
reproduce the sides of many rows.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import (
    add,
    clear,
    copy,
    log_predictive,
    n_coordinates,
    pool,
)
from bnpcluster._core.parameter_operations import (
    log_density,
    log_density_of_parameters,
    put_sums,
)
from bnpcluster._core.sorting import heap_sort
from bnpcluster.samplers.blocked.division import Moves
from bnpcluster.samplers.launches import HARD, TWO_MEANS, WHITENED, hard, two_means

REST = 100  # beside the launches of the other samplers
RESTS = 0.9  # of drawn launches
SIZES_OF_RESTS = (8, 16, 32, 64, 128)  # few rows, so that the parameters spread
SIZES_OF_DRAWN = (8, 32, 128)
SIZES_OF_FIXED = (1024,)
MOST_LEFT = 4096  # rows of which the first side leaves some


class LaunchWork(NamedTuple):
    """What 2-means works on."""

    items: np.ndarray
    sides: np.ndarray
    centres: np.ndarray
    direction: np.ndarray


def draw_kinds(lik: Any, moves: Moves, p_drawn: float, rng: Any) -> None:
    """Draw which launch each move has; nothing depends on the state."""
    kinds = (TWO_MEANS, WHITENED, HARD) if n_coordinates(lik) else (HARD,)
    for g in range(len(moves.blocks)):
        moves.drawn[g] = rng.random() < p_drawn
        sizes: tuple[int, ...] = SIZES_OF_DRAWN if moves.drawn[g] else SIZES_OF_FIXED
        if moves.drawn[g] and rng.random() < RESTS:
            moves.kinds[g], sizes = REST, SIZES_OF_RESTS
        else:
            moves.kinds[g] = kinds[int(len(kinds) * rng.random())]
        moves.most[g] = sizes[int(len(sizes) * rng.random())]


@kernel
def gather_members(items, labels, place, steps, members):
    """List the items block by block; place[k] is the next position of block k.

    Without branches, which would be unpredictable: items of blocks in no move, whose steps are 0,
    overwrite one another.
    """
    for t in range(len(items)):
        k = labels[items[t]]
        members[place[k]] = items[t]
        place[k] += steps[k]


@kernel
def draw_anchors(moves, rng):
    """Draw two members of each block to split, or one of each to merge; move them to the front."""
    members = moves.members
    for g in range(len(moves.blocks)):
        first, n = moves.offset[g], moves.offset[g + 1] - moves.offset[g]
        if moves.merging[g]:
            m = moves.sizes[g, 0]
            p, q = int(m * rng.random()), m + int((n - m) * rng.random())
        else:
            p, q = int(n * rng.random()), int((n - 1) * rng.random())
            q += int(q >= p)
        swap(members, first, first + p)
        swap(members, first + 1, first + (p if q == 0 else q))
        moves.anchors[g, 0], moves.anchors[g, 1] = members[first], members[first + 1]


@kernel(inline=True)
def swap(members, p, q):
    """Exchange two members."""
    one, two = members[p], members[q]
    members[p], members[q] = two, one


@kernel
def launch_all(lik, labels, moves, base, spare, centres, direction, rng):
    """Fill the slots of both sides of every move from its launch."""
    for g in range(len(moves.blocks)):
        first, n, one = moves.offset[g], moves.offset[g + 1] - moves.offset[g], base + 2 * g
        rest = moves.kinds[g] == REST
        few = min(moves.most[g], n - 1)  # rows that the first side of a rest is like
        count = min(MOST_LEFT if rest else moves.most[g] + 2, n)
        every = few if rest else 2  # where all rows are taken, only the first few are random
        for t in range(2, count if count < n else every):  # a random subset
            swap(moves.members, first + t, first + t + int((n - t) * rng.random()))
        if rest:
            clear(lik, one)
            for t in range(few):
                add(lik, one, moves.members[first + t])
            copy(lik, one + 1, one)  # until it is known what is left
            moves.launched[g, 0] = moves.launched[g, 1] = 1  # any share
        else:
            last = first + count
            # Members stand by block; in a fixed order, ties and rounding cannot tell the blocks.
            heap_sort(moves.members[first + 2 : last], moves.sides[first + 2 : last])
            work = LaunchWork(
                moves.members[first:last], moves.sides[first:last], centres, direction
            )
            launch_from_anchors(lik, labels, moves, g, work, one, spare)


@kernel
def launch_from_anchors(lik, labels, moves, g, work, one, spare):
    """Divide the items of `work` between the two first ones."""
    items, sides, n, union = work.items, work.sides, len(work.items), moves.blocks[g, 0]
    for t in range(2):
        clear(lik, one + t)
        add(lik, one + t, items[t])
        sides[t] = t
        moves.launched[g, t] = 1
    if moves.kinds[g] == HARD:
        hard(lik, items, sides, n, one)
    else:
        whitened = moves.kinds[g] == WHITENED
        if whitened and moves.merging[g]:
            union = spare
            pool(lik, union, moves.blocks[g, 0], moves.blocks[g, 1], labels)
        two_means(lik, work, n, union, whitened)
    for t in range(2, n):
        add(lik, one + sides[t], items[t])
        moves.launched[g, sides[t]] += 1


@kernel
def fill_rests(lik, labels, moves, parameters, base, spare, rng):
    """Fill the second side of launches of that kind with what the first one leaves of the union.

    A row belongs to the first side with probability share times its density there over that in the
    union, if this is less than one.
    """
    for g in range(len(moves.blocks)):
        if moves.kinds[g] != REST:
            continue
        union, two = moves.blocks[g, 0], base + 2 * g + 1
        if moves.merging[g]:
            union = spare
            pool(lik, union, moves.blocks[g, 0], moves.blocks[g, 1], labels)
        clear(lik, two)
        first = moves.offset[g]
        for p in range(first, min(first + MOST_LEFT, moves.offset[g + 1])):
            i = moves.members[p]
            odds = moves.log_shares[g, 0] + log_density(lik, parameters, moves.parameters[g, 0], i)
            odds -= log_predictive(lik, union, i)
            if -rng.standard_exponential() >= odds:
                add(lik, two, i)


def draw_log_shares(one: NDArray, two: NDArray, rng: np.random.Generator) -> NDArray[np.float64]:
    """Logs of shares with a Beta(one, two) distribution, and of the rest, without underflow."""
    shapes = np.column_stack([one, two])
    logs = np.log(rng.gamma(shapes + 1.0)) + np.log1p(-rng.random(shapes.shape)) / shapes
    return logs - np.logaddexp(logs[:, 0], logs[:, 1])[:, None]


@kernel
def log_density_of_shares(log_share, log_rest, one, two):
    """The log density of Beta(one, two) at a share."""
    total = (one - 1.0) * log_share + (two - 1.0) * log_rest
    return total + math.lgamma(one + two) - math.lgamma(one) - math.lgamma(two)


@kernel
def add_log_drawn(lik, moves, one, other, sizes, base, sigma, sign):
    """Add `sign` times the log density of the parameters of drawn launches.

    Given what is in the slots of the sides, of `sizes` items; a positive sign stands for the
    division, so then the sides of a merge are its blocks.
    """
    for g in range(len(moves.blocks)):
        if not moves.drawn[g]:
            continue
        total = log_density_of_shares(
            moves.log_shares[g, 0], moves.log_shares[g, 1], sizes[g, 0] - sigma, sizes[g, 1] - sigma
        )
        for s in range(2):
            blocks = sign > 0.0 and moves.merging[g]
            slot = moves.blocks[g, s] if blocks else base + 2 * g + s
            parameters = one if s == 0 else other
            total += log_density_of_parameters(lik, slot, parameters, moves.parameters[g, s])
        moves.log_drawn[g] += sign * total


@kernel
def fill_sides(lik, moves, parameters, sums, base):
    """Fill the slots of the sides of splits from the sums of the pass."""
    for g in range(len(moves.blocks)):
        if moves.merging[g]:
            continue
        for s in range(2):
            slot, k = base + 2 * g + s, moves.parameters[g, s]
            if not put_sums(lik, slot, parameters, sums, k, moves.sizes[g, s]):
                clear(lik, slot)
                for p in range(moves.offset[g], moves.offset[g + 1]):
                    if moves.sides[p] == s:
                        add(lik, slot, moves.members[p])
