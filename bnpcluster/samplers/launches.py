"""Launches: divisions of the items of a union between two anchors, before any scan.

A launch is a function of the union, the anchors and fresh randomness, never of the labels. So the
same launch precedes a split and the merge that reverses it, and the move is exact.
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

ROUNDS = 4  # rounds of 2-means after the division by the anchors themselves
HARD_ROUNDS = 3
TIE = 1e-6  # distances are equal if they differ by less than this times that of the centres


@kernel
def launch(lik, work, kind, n, union, one, rng):
    """Set work.sides of work.items[2:n]; slots `one` and `one + 1` contain only the anchors."""
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
    """Assign items to the anchor in the same block of the refinement, the others by coins."""
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
    """Run 2-means with the anchors as first centres, in the metric of the union if `whitened`."""
    items, sides, centres, direction = work.items, work.sides, work.centres, work.direction
    n_dims = n_coordinates(lik)
    for left in range(ROUNDS, -1, -1):
        # In the first round the sides contain only the anchors, so these are the centres.
        n_members = 2 if left == ROUNDS else n
        middle = apart = 0.0
        for d in range(n_dims):
            total = second = 0.0
            n_second = 0
            for t in range(n_members):
                x = coordinate(lik, items[t], d)
                total += x
                second += sides[t] * x
                n_second += int(sides[t])  # a narrow type would overflow
            centres[0, d] = (total - second) / (n_members - n_second)
            centres[1, d] = second / n_second
            direction[d] = centres[1, d] - centres[0, d]
        if whitened:
            whiten(lik, union, direction)
        for d in range(n_dims):
            middle += 0.5 * (centres[0, d] + centres[1, d]) * direction[d]
            apart += (centres[1, d] - centres[0, d]) * direction[d]
        # Ties go to the first centre. Distances tie up to rounding: a split and the merge that
        # reverses it compute the union's covariance with different rounding errors.
        middle += TIE * apart
        for t in range(2, n):
            along = 0.0
            for d in range(n_dims):
                along += coordinate(lik, items[t], d) * direction[d]
            sides[t] = int(along > middle)


@kernel
def hard(lik, items, sides, n, one):
    """Assign all items to the block that predicts them better, at the same time; a few rounds."""
    for left in range(HARD_ROUNDS - 1, -1, -1):
        for t in range(2, n):
            better = log_predictive(lik, one + 1, items[t]) > log_predictive(lik, one, items[t])
            sides[t] = int(better)
        for side in range(2):
            clear(lik, one + side)
        for t in range(n if left else 2):
            add(lik, one + sides[t], items[t])
