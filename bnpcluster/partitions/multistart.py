"""Starts of the search for a point estimate, and the number of draws that it uses.

The search climbs from several starts (see `search`). `exhaustive` handles few items. If there are
many labels, the climbs use a sample of the draws, and the best one is finished with all draws. The
tables of a sample stay in the cache, and the sample is precise enough for most of a climb.
Paper: Dahl, Johnson and Mueller (2022), Search algorithms and loss functions for Bayesian
clustering, Journal of Computational and Graphical Statistics 31, 1189-1201.

If many clusters would make the tables too large, the search continues with fewer draws. It stops
after several starts have led to the same loss, or after a limit on operations. All this
depends only on counts, never on a clock.
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

LITTLE_WORK = 3 * 10**6  # agreement stops the search only after this much work
AGREEING_STARTS = 4
N_CENTRAL_DRAWS = 3
JUDGED_LABELS = 4 * 10**6  # labels compared to find the central draws
ROUGH_LABELS = 2 * 10**5  # labels in the sample of the draws, which has at least FEW_DRAWS draws
ROUGH_STARTS = 4
ROUGH_AGREEMENT = 1e-3


def best_found(
    draws: NDArray[np.int32],
    weights: NDArray[np.float64],
    objective: Objective,
    rng: np.random.Generator,
    n_starts: int,
) -> NDArray[np.int32]:
    """Labels of the best partition found for weighted draws with canonical labels."""
    n = draws.shape[1]
    if n <= exhaustive.FEW_ITEMS:
        return exhaustive.best_of_all(draws, weights, objective)
    central = _central_draws(draws, weights, objective)

    sample, times = label_draws.thin(weights, max(FEW_DRAWS, ROUGH_LABELS // n))
    if 2 * len(sample) > len(draws):
        return _within_room(draws, weights, objective, rng, _climbs, central, n_starts)
    some, apart = draws[sample], np.arange(n, dtype=np.int32)
    nothing = _expected_loss(apart, some, times, objective)
    rough = _within_room(some, times, objective, rng, _few_climbs, central, nothing)
    return _within_room(draws, weights, objective, rng, _final_descent, rough)


def _within_room(
    draws: NDArray[np.int32],
    weights: NDArray[np.float64],
    objective: Objective,
    rng: np.random.Generator,
    optimise: Callable[..., NDArray[np.int32]],
    *arguments: Any,
) -> NDArray[np.int32]:
    """Result of `optimise`, with fewer draws if the tables of all would be too large."""
    while True:
        n_blocks = draws.max(axis=1) + 1
        try:
            return optimise(Search(draws, n_blocks, weights, objective, rng), *arguments)
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
    """The few draws nearest to the others, computed on an evenly spaced subset of the draws."""
    limit = max(10, isqrt(JUDGED_LABELS // draws.shape[1]))
    subset, times = label_draws.thin(weights, min(100, limit))
    rows = draws[subset]
    expected = [_expected_loss(row, rows, times, objective) for row in rows]
    return rows[np.argsort(expected, kind="stable")[:N_CENTRAL_DRAWS]]


def _starts(
    search: Search, central: NDArray[np.int32], n_random: int
) -> Iterator[NDArray[np.int32]]:
    """Labels from which to climb, with alternating kinds; -1 means sequential allocation."""
    one = np.zeros(search.n_items, dtype=np.int32)
    fixed = [central[0], one, *central[1:]]
    for s in range(max(n_random, len(fixed))):
        if s < len(fixed):
            yield fixed[s]
        if s < n_random:
            yield search.random_labels() if s % 2 else one - 1


def _climbs(search: Search, central: NDArray[np.int32], n_starts: int) -> NDArray[np.int32]:
    """Best local optimum over all starts, or over the first ones if several of them agree."""
    starts = _starts(search, central, n_starts)
    return _best_climb(search, starts, lambda least: search.agreement, AGREEING_STARTS)


def _few_climbs(search: Search, central: NDArray[np.int32], nothing: float) -> NDArray[np.int32]:
    """Best of a few local optima, or of two with almost equal losses.

    `nothing` is the loss of one cluster per item. The loss of the search is relative to it.
    """
    starts = islice(_starts(search, central, ROUGH_STARTS), ROUGH_STARTS)
    return _best_climb(search, starts, lambda least: ROUGH_AGREEMENT * (nothing + least), 2)


def _best_climb(
    search: Search,
    starts: Iterable[NDArray[np.int32]],
    leeway: Callable[[float], float],
    enough: int,
) -> NDArray[np.int32]:
    """Best local optimum over all starts, or over the first ones if `enough` of them agree."""
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


def _final_descent(search: Search, labels: NDArray[np.int32]) -> NDArray[np.int32]:
    """Local optimum near a good partition."""
    search.start_from(labels)
    search.descend()
    return search.tables.labels.copy()
