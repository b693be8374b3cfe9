"""Where the search for a point estimate starts, and with how many of the draws.

What: climbs of `search` from several starts; few items are left to `exhaustive`. With many labels
the climbs are made with a sample of the draws, and the best of them is finished with all: the
tables of a sample stay in the cache, and most of a climb is far from where the difference would
matter.
Paper: Dahl, Johnson and Mueller (2022), Search algorithms and loss functions for Bayesian
clustering, Journal of Computational and Graphical Statistics 31, 1189-1201.

Where many clusters would make the tables large, the search goes on with fewer draws; it starts no
new climb once several starts have led to the same loss, or a number of operations is used up. All
this depends on counts alone, never on a clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnpcluster.partitions import exhaustive, label_draws
from bnpcluster.partitions.search import (
    FEW_DRAWS,
    LEAST_DRAWS,
    WORK_LIMIT,
    Objective,
    Search,
    TooWide,
)

LITTLE_WORK = 3 * 10**6  # below that, agreement does not stop the search
AGREEING_STARTS = 4
N_CENTRAL_DRAWS = 3
JUDGED_LABELS = 4 * 10**6  # looked at to find the central draws
ROUGH_LABELS = 2 * 10**5  # in the sample of the draws, unless these were fewer than FEW_DRAWS
ROUGH_STARTS = 4
ROUGH_AGREEMENT = 1e-3


def find(
    draws: NDArray[np.int32],
    weights: NDArray[np.float64],
    objective: Objective,
    rng: np.random.Generator,
    n_starts: int,
) -> NDArray[np.int32]:
    """Labels of the best partition found for weighted draws with canonical labels."""
    n = draws.shape[1]
    if n <= exhaustive.FEW_ITEMS:
        return exhaustive.least(draws, weights, objective)
    central = _central_draws(draws, weights, objective)

    sample, times = label_draws.thin(weights, max(FEW_DRAWS, ROUGH_LABELS // n))
    if 2 * len(sample) > len(draws):
        return _within_room(draws, weights, objective, rng, _climbs, central, n_starts)
    some, apart = draws[sample], np.arange(n, dtype=np.int32)
    nothing = _expected_loss(apart, some, times, objective)
    rough = _within_room(some, times, objective, rng, _few_climbs, central, nothing)
    return _within_room(draws, weights, objective, rng, _finish, rough)


def _within_room(
    draws: NDArray[np.int32],
    weights: NDArray[np.float64],
    objective: Objective,
    rng: np.random.Generator,
    run: Callable[..., NDArray[np.int32]],
    *arguments: Any,
) -> NDArray[np.int32]:
    """What `run` finds, with fewer draws if the tables of all would become too large."""
    while True:
        n_blocks = draws.max(axis=1) + 1
        try:
            return run(Search(draws, n_blocks, weights, objective, rng), *arguments)
        except TooWide:
            fewest = FEW_DRAWS if len(draws) > FEW_DRAWS else LEAST_DRAWS
            rows, weights = label_draws.thin(weights, max(len(draws) // 2, fewest))
            draws = draws[rows]


def _expected_loss(
    labels: NDArray[np.int32],
    draws: NDArray[np.int32],
    weights: NDArray[np.float64],
    objective: Objective,
) -> float:
    gain = label_draws.block_gain(objective.loss, len(labels))
    losses = label_draws.distances_canonical(labels, draws, gain, objective.cost)
    return float(np.average(losses, weights=weights))


def _central_draws(
    draws: NDArray[np.int32], weights: NDArray[np.float64], objective: Objective
) -> NDArray[np.int32]:
    """The few draws nearest to all others, judged on an evenly spaced subset of the draws."""
    limit = max(10, isqrt(JUDGED_LABELS // draws.shape[1]))
    subset, times = label_draws.thin(weights, min(100, limit))
    rows = draws[subset]
    expected = [_expected_loss(row, rows, times, objective) for row in rows]
    return rows[np.argsort(expected, kind="stable")[:N_CENTRAL_DRAWS]]


def _starts(
    search: Search, central: NDArray[np.int32], n_random: int
) -> Iterator[NDArray[np.int32]]:
    """Labels to climb from; -1 stands for sequential allocation. The kinds take turns."""
    one = np.zeros(search.n_items, dtype=np.int32)
    fixed = [central[0], one, *central[1:]]
    for s in range(max(n_random, len(fixed))):
        if s < len(fixed):
            yield fixed[s]
        if s < n_random:
            yield search.random_labels() if s % 2 else one - 1


def _climbs(search: Search, central: NDArray[np.int32], n_starts: int) -> NDArray[np.int32]:
    """The best local optimum over all starts, or the one that several of them lead to."""
    starts = _starts(search, central, n_starts)
    return _best_climb(search, starts, lambda least: search.agreement, AGREEING_STARTS)


def _few_climbs(search: Search, central: NDArray[np.int32], nothing: float) -> NDArray[np.int32]:
    """The best of a few local optima, or of two whose losses differ by little.

    `nothing` is the loss of nothing placed, which completes that of the search.
    """
    starts = islice(_starts(search, central, ROUGH_STARTS), ROUGH_STARTS)
    return _best_climb(search, starts, lambda least: ROUGH_AGREEMENT * (nothing + least), 2)


def _best_climb(
    search: Search,
    starts: Iterable[NDArray[np.int32]],
    leeway: Callable[[float], float],
    enough: int,
) -> NDArray[np.int32]:
    """The best local optimum over all starts, or over those up to `enough` that agree."""
    search.widen(int(search.n_blocks.max()) + 1)
    losses: list[float] = []
    labels, least = search.tables.labels, np.inf
    for start in starts:
        losses.append(search.climb(start))
        if losses[-1] < least - search.tolerance:
            labels, least = search.tables.labels.copy(), losses[-1]
        close = least + max(search.agreement, leeway(least))
        agreed = sum(loss <= close for loss in losses) >= enough
        if search.work > (LITTLE_WORK if agreed else WORK_LIMIT):
            break
    return labels


def _finish(search: Search, labels: NDArray[np.int32]) -> NDArray[np.int32]:
    """The local optimum next to a good partition."""
    search.place(labels)
    search.descend()
    return search.tables.labels.copy()
