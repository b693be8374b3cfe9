"""Launches: divisions of the items of a union between two anchors, before any scan.

A launch is a function of the union, the anchors and fresh randomness, never of the labels: then
the same launch precedes a split and the merge that undoes it, and the move is exact.
"""

from __future__ import annotations

from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import (
    add,
    clear,
    coordinate,
    log_predictive,
    n_coordinates,
    whiten,
)

COIN, SEQUENTIAL, TWO_MEANS, WHITENED, HARD, ARCHIVE = range(6)
LAUNCHES = {
    "two_means": TWO_MEANS,
    "whitened_two_means": WHITENED,
    "hard": HARD,
    "sequential": SEQUENTIAL,
    "random": COIN,
}
METRIC = ("two_means", "whitened_two_means")

ROUNDS = 4  # of 2-means after the division by the anchors themselves
HARD_ROUNDS = 3
TIE = 1e-6  # distances that differ by less than this, relative to that of the centres, are equal


@kernel
def launch(lik, work, kind, n, union, one, rng):
    """Set work.sides of work.items[2:n]; slots `one` and `one + 1` hold the anchors alone."""
    items, sides = work.items, work.sides
    if kind == COIN:
        for t in range(2, n):
            sides[t] = int(rng.random() * 2)
    elif kind == ARCHIVE:
        by_refinement(work, n, rng)
    elif kind == HARD:
        hard(lik, items, sides, n, one)
    else:
        two_means(lik, work, n, union, kind == WHITENED)


@kernel
def by_refinement(work, n, rng):
    """Each item to the anchor that the refinement puts it with; a coin decides on the others."""
    items, sides, r = work.items, work.sides, work.refinement
    for t in range(2, n):
        if r[items[t]] == r[items[0]]:
            sides[t] = 0
        elif r[items[t]] == r[items[1]]:
            sides[t] = 1
        else:
            sides[t] = int(rng.random() * 2)


@kernel
def two_means(lik, work, n, union, whitened):
    """2-means from the anchors as centres, with distances in the metric of the union if asked."""
    items, sides, centres, direction = work.items, work.sides, work.centres, work.direction
    n_dims = n_coordinates(lik)
    for left in range(ROUNDS, -1, -1):
        # At first the centres are the anchors: the sides hold nothing else.
        n_members = 2 if left == ROUNDS else n
        middle = apart = 0.0
        for d in range(n_dims):
            total = second = 0.0
            n_second = 0
            for t in range(n_members):
                x = coordinate(lik, items[t], d)
                total += x
                second += sides[t] * x
                n_second += int(sides[t])  # a narrow type would not hold the sum
            centres[0, d] = (total - second) / (n_members - n_second)
            centres[1, d] = second / n_second
            direction[d] = centres[1, d] - centres[0, d]
        if whitened:
            whiten(lik, union, direction)
        for d in range(n_dims):
            middle += 0.5 * (centres[0, d] + centres[1, d]) * direction[d]
            apart += (centres[1, d] - centres[0, d]) * direction[d]
        # Items that are equally near go to the first centre. Equal means up to rounding: a split
        # and the merge that undoes it know the union's covariance with different errors.
        middle += TIE * apart
        for t in range(2, n):
            along = 0.0
            for d in range(n_dims):
                along += coordinate(lik, items[t], d) * direction[d]
            sides[t] = int(along > middle)


@kernel
def hard(lik, items, sides, n, one):
    """Each item to the block that predicts it better, all at once, a few times."""
    for left in range(HARD_ROUNDS - 1, -1, -1):
        for t in range(2, n):
            better = log_predictive(lik, one + 1, items[t]) > log_predictive(lik, one, items[t])
            sides[t] = int(better)
        for side in range(2):
            clear(lik, one + side)
        for t in range(n if left else 2):
            add(lik, one + sides[t], items[t])
