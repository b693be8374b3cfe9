"""Where the search for a point estimate starts, and with how many of the draws.

What: climbs of `_search` from several starts. With many labels they are made with a sample of the
draws, and the best of them is finished with all: the tables of a sample stay in the cache, and most
of a climb is far from where the difference would matter.
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

import numpy as np
from numpy.typing import NDArray

from bnpcluster import _draws
from bnpcluster._search import FEW_DRAWS, WORK_LIMIT, Objective, Search, TooWide

LITTLE_WORK = 10**7  # below that, agreement does not stop the search
AGREEING_STARTS = 4
N_CENTRAL_DRAWS = 3
JUDGED_LABELS = 4 * 10**6  # looked at to find the central draws
ROUGH_LABELS = 2 * 10**5  # in the sample of the draws, unless these were fewer than FEW_DRAWS
ROUGH_STARTS = 3


def find(
    draws: NDArray[np.int32],
    weights: NDArray[np.float64],
    objective: Objective,
    rng: np.random.Generator,
    n_starts: int,
) -> NDArray[np.int32]:
    """Labels of the best partition found for weighted draws with canonical labels."""
    n = draws.shape[1]
    central = _central_draws(draws, weights, objective)

    def climbs(search: Search) -> NDArray[np.int32]:
        return _best_climb(search, _starts(search, central, n_starts))

    def few_climbs(search: Search) -> NDArray[np.int32]:
        return _best_climb(search, islice(_starts(search, central, n_starts), ROUGH_STARTS))

    sample, times = _draws.thin(weights, max(FEW_DRAWS, ROUGH_LABELS // n))
    if 2 * len(sample) > len(draws):
        return _within_room(draws, weights, objective, rng, climbs)
    rough = _within_room(draws[sample], times, objective, rng, few_climbs)
    return _within_room(draws, weights, objective, rng, lambda search: _finish(search, rough))


def _within_room(
    draws: NDArray[np.int32],
    weights: NDArray[np.float64],
    objective: Objective,
    rng: np.random.Generator,
    run: Callable[[Search], NDArray[np.int32]],
) -> NDArray[np.int32]:
    """What `run` finds, with fewer draws if the tables of all would become too large."""
    while True:
        n_blocks = draws.max(axis=1) + 1
        try:
            return run(Search(draws, n_blocks, weights, objective, rng))
        except TooWide:
            rows, weights = _draws.thin(weights, max(len(draws) // 2, FEW_DRAWS))
            draws = draws[rows]


def _central_draws(
    draws: NDArray[np.int32], weights: NDArray[np.float64], objective: Objective
) -> NDArray[np.int32]:
    """The few draws nearest to all others, judged on an evenly spaced subset of the draws."""
    n = draws.shape[1]
    subset, times = _draws.thin(weights, min(100, max(10, isqrt(JUDGED_LABELS // n))))
    rows, gain = draws[subset], _draws.block_gain(objective.loss, n)
    expected = [times @ _draws.distances_canonical(row, rows, gain, objective.cost) for row in rows]
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


def _best_climb(search: Search, starts: Iterable[NDArray[np.int32]]) -> NDArray[np.int32]:
    """The best local optimum over all starts, or the one that several starts agree on."""
    search.widen(int(search.n_blocks.max()) + 1)
    best, times, labels = np.inf, 0, search.tables.labels
    for start in starts:
        loss = search.climb(start)
        if loss < best - search.tolerance:
            best, times, labels = loss, 0, search.tables.labels.copy()
        times += loss < best + search.agreement
        agreed = times >= AGREEING_STARTS and search.work > LITTLE_WORK
        if agreed or search.work > WORK_LIMIT:
            break
    return labels


def _finish(search: Search, labels: NDArray[np.int32]) -> NDArray[np.int32]:
    """The local optimum next to a good partition."""
    search.place(labels)
    search.descend()
    return search.tables.labels.copy()
