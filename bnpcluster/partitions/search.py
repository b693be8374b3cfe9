"""Local search for the partition with the smallest expected loss over weighted draws.

From one start, passes over the items move one item at a time until none moves. Then the search
tries to dissolve whole clusters. `multistart` chooses the starts.
Target: the exact expected loss, (2 - c) sum_a f(m_a) + sum_r w_r [c sum_b f(m_rb) - 2 sum_ab
f(m_rab)], where f(m) = m g(m), g comes from `label_draws.block_gain`, and c is the cost of
separating (1 if both errors cost the same). m_rab counts the items in cluster a of the candidate
and block b of draw r.
Paper: Dahl, Johnson and Mueller (2022), Search algorithms and loss functions for Bayesian
clustering, Journal of Computational and Graphical Statistics 31, 1189-1201.

The counts m_rab are in a table with one row per block of a draw and one column per cluster. Another
table has w_r [f(m_rab + 1) - f(m_rab)]. So the scores of an item for all clusters are a sum of R
short rows. Blocks of a single item need no row: they contribute nothing to any score. Late in a
search few clusters change. If an item's own cluster has not changed, only those that have are
scored again.

`TooWide` is raised if many clusters would make the tables too large for the number of draws. Only
the caller limits the number of clusters, unless even the tables of LEAST_DRAWS draws would not fit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core.jit import kernel
from bnpcluster.partitions import label_draws

CELL_LIMIT = 4 * 10**7  # cells of the tables, 12 bytes each
SWEEP_LIMIT = 2 * 10**9  # cells read in one pass over all items
WORK_LIMIT = 4 * 10**9  # cells read in all passes
SCATTERED = 4  # a cell of a scattered column takes as long as 4 adjacent ones
FEW_DRAWS = 100  # up to this number of draws, only the next limit on the tables applies
MOST_CELLS = 2 * 10**8  # cells of the tables in any case: 2.4 GB
LEAST_DRAWS = 10  # fewest draws for which the search continues; beyond, clusters are limited


class Objective(NamedTuple):
    """The loss to minimise, and the partitions to consider."""

    loss: str
    cost: float = 1.0  # cost of separating a pair; joining one costs 2 - cost
    max_clusters: int = 2**31 - 1


class Tables(NamedTuple):
    """A candidate partition and its contingency counts with every draw."""

    labels: NDArray[np.int32]  # (n,) cluster of each item, -1 if it is in none
    sizes: NDArray[np.int32]  # (columns,) size of each cluster
    used: NDArray[np.int64]  # (1,) clusters from this number on are empty
    rows: NDArray[np.int32]  # (n, R) row of the item's block in each draw, 0 if a single item
    counts: NDArray[np.int32]  # (rows, columns) m_rab; row 0 stays zero
    gains: NDArray[np.float64]  # (rows, columns) w_r [f(m_rab + 1) - f(m_rab)]
    weights: NDArray[np.float64]  # (R,) summing to one
    step: NDArray[np.float64]  # (n + 1,) f(m + 1) - f(m)
    joining: NDArray[np.float64]  # (n + 1,) `step` times 2 - cost
    most: NDArray[np.int64]  # (1,) number of clusters allowed
    score: NDArray[np.float64]  # (columns,) scratch of `_score`
    margins: NDArray[np.float64]  # (n,) best other score minus own score, when last scored
    clock: NDArray[np.int64]  # (1,) changes of clusters so far
    changed: NDArray[np.int64]  # (columns,) the last change of each cluster
    looked: NDArray[np.int64]  # (n,) the last change before each item was last scored
    listed: NDArray[np.int64]  # (columns,) scratch: clusters that have changed since then


@kernel
def _number_rows(draws, n_blocks, sizes, rows):
    """Number the blocks of at least two items over all draws from 1; return their number."""
    n_rows = 0
    for r in range(draws.shape[0]):
        for b in range(n_blocks[r]):
            sizes[b] = 0
        for i in range(draws.shape[1]):
            sizes[draws[r, i]] += 1
        for b in range(n_blocks[r]):
            n_rows += sizes[b] > 1
            sizes[b] = n_rows if sizes[b] > 1 else 0
        for i in range(draws.shape[1]):
            rows[r, i] = sizes[draws[r, i]]
    return n_rows


@kernel
def _score(tables, i):
    """score[a] = (2 - c) [f(m_a + 1) - f(m_a)] - 2 sum_r gains: change of the loss if i joins a.

    Valid for clusters without item i; for its own one see `_score_own`. Empty ones score zero.
    """
    score, n_columns = tables.score, tables.used[0] + 1
    for a in range(n_columns):
        score[a] = 0.0
    for r in range(tables.rows.shape[1]):
        gains = tables.gains[tables.rows[i, r]]
        for a in range(n_columns):
            score[a] += gains[a]
    for a in range(n_columns):
        score[a] = tables.joining[tables.sizes[a]] - 2.0 * score[a]


@kernel
def _score_changed(tables, i):
    """`_score` of item i's own cluster, and of those that changed since it was last scored.

    If its own cluster has not changed, the others are still no better, and score inf. Returns False
    if it has changed, or if computing all scores is less work.
    """
    score, n_columns, own = tables.score, tables.used[0] + 1, tables.labels[i]
    since, count = tables.looked[i], 1
    if own < 0 or tables.changed[own] > since:
        return False
    tables.listed[0] = own
    for a in range(n_columns):
        score[a] = np.inf
        if tables.changed[a] > since:
            tables.listed[count] = a
            count += 1
    if SCATTERED * count > n_columns:
        return False
    for p in range(count):
        a, total = tables.listed[p], 0.0
        for r in range(tables.rows.shape[1]):
            total += tables.gains[tables.rows[i, r], a]
        score[a] = tables.joining[tables.sizes[a]] - 2.0 * total
    return True


@kernel
def _score_own(tables, i):
    """Change of the expected loss when item i, taken out of its cluster, joins it again."""
    own, total = tables.labels[i], 0.0
    for r in range(tables.rows.shape[1]):
        row = tables.rows[i, r]
        if row > 0:
            total += tables.weights[r] * tables.step[tables.counts[row, own] - 1]
    return tables.joining[tables.sizes[own] - 1] - 2.0 * total


@kernel
def _change_count(tables, i, a, by):
    """Add `by` to the counts of item i's blocks in cluster a."""
    for r in range(tables.rows.shape[1]):
        row = tables.rows[i, r]
        if row > 0:
            m = tables.counts[row, a] + by
            tables.counts[row, a] = m
            tables.gains[row, a] = tables.weights[r] * tables.step[m]
    tables.sizes[a] += by
    tables.clock[0] += 1
    tables.changed[a] = tables.clock[0]


@kernel
def _move_item(tables, i, a):
    """Take item i out of its cluster, if it has one, and put it into cluster a, unless -1."""
    used = tables.used
    if tables.labels[i] >= 0:
        _change_count(tables, i, tables.labels[i], -1)
    if a >= 0:
        _change_count(tables, i, a, 1)
        used[0] = max(used[0], a + 1)
    tables.labels[i] = a
    while used[0] > 0 and tables.sizes[used[0] - 1] == 0:
        used[0] -= 1


@kernel
def _improve(tables, order, start, slack, tolerance, totals):
    """Move the items order[start:] in turn to the cluster with the smallest expected loss.

    Items without a cluster are placed; others move only for a gain above `tolerance`. Adds to
    `totals` the change of the loss and the number of moves. Returns the position where it stopped,
    before the end if no empty column is left. `slack` bounds the difference of the two scores of an
    item's own cluster.
    """
    score = tables.score
    for p in range(start, len(order)):
        if tables.used[0] == len(score):
            return p
        i = order[p]
        own = tables.labels[i]
        known = _score_changed(tables, i)
        if not known:
            _score(tables, i)
        tables.looked[i] = tables.clock[0]
        bound = np.inf
        if own >= 0:
            bound = score[own] + slack
            score[own] = np.inf
        best = np.argmin(score[: min(tables.used[0] + 1, tables.most[0])])
        margin = score[best] - bound
        tables.margins[i] = min(margin, tables.margins[i]) if known else margin
        if score[best] < bound:
            now = _score_own(tables, i) if own >= 0 else 0.0
            if own < 0 or score[best] < now - tolerance:
                totals[0] += score[best] - now
                totals[1] += 1
                tables.margins[i] = -np.inf
                _move_item(tables, i, best)
    return len(order)


@kernel
def _reassign(tables, items, clusters):
    """Move `items` to the given clusters (-1: to none); return the change of the loss."""
    change = 0.0
    for p in range(len(items)):
        i = items[p]
        if tables.labels[i] >= 0:
            change -= _score_own(tables, i)
        _move_item(tables, i, clusters[p])
        if clusters[p] >= 0:
            change += _score_own(tables, i)
    return change


class TooWide(Exception):
    """The tables would be too large for this number of draws."""


class Search:
    """Local search over partitions; `loss` is the expected loss relative to no items placed."""

    def __init__(
        self,
        draws: NDArray[np.int32],
        n_blocks: NDArray[np.int32],
        weights: NDArray[np.float64],
        objective: Objective,
        rng: np.random.Generator,
    ):
        n_draws, n = draws.shape
        rows = np.empty((n_draws, n), dtype=np.int32)
        n_rows = _number_rows(draws, n_blocks, np.empty(n, dtype=np.int32), rows)
        value = np.arange(n + 2) * label_draws.block_gain(objective.loss, n, n + 1)
        step = np.diff(value)
        self.rng, self.n_items, self.n_blocks = rng, n, n_blocks
        self.most = min(objective.max_clusters, self._fitting(n_rows + 1, n_draws))
        self.loss, self.work = 0.0, 0
        self.tables = Tables(
            labels=np.full(n, -1, dtype=np.int32),
            sizes=np.zeros(0, dtype=np.int32),
            used=np.zeros(1, dtype=np.int64),
            rows=np.ascontiguousarray(rows.T),
            counts=np.zeros((n_rows + 1, 0), dtype=np.int32),
            gains=np.zeros((n_rows + 1, 0)),
            weights=weights / weights.sum(),
            step=step,
            joining=(2.0 - objective.cost) * step,
            most=np.array([self.most]),
            score=np.zeros(0),
            margins=np.zeros(n),
            clock=np.zeros(1, dtype=np.int64),
            changed=np.zeros(0, dtype=np.int64),
            looked=np.zeros(n, dtype=np.int64),
            listed=np.zeros(0, dtype=np.int64),
        )
        self.tolerance = 1e-10 * float(step.max())
        self.agreement = 1e-9 * n * float(step.max())  # rounding error of a climb
        # Consecutive steps of f differ by at most this much.
        self.slack = 2.0 * float(np.diff(step).max()) + self.tolerance

    @staticmethod
    def _fitting(n_rows: int, n_draws: int) -> int:
        """Largest number of clusters that fits if the number of draws cannot be reduced."""
        return 2**31 - 1 if n_draws > LEAST_DRAWS else max(MOST_CELLS // n_rows - 8, 1)

    def widen(self, n_columns: int) -> None:
        """Make room for at least `n_columns` clusters, or for as many as are allowed."""
        t, columns = self.tables, 8 * -(-min(n_columns, self.most + 1) // 8)
        extra, n_draws, cells = columns - len(t.sizes), t.rows.shape[1], len(t.counts) * columns
        if extra <= 0:
            return
        large = cells > CELL_LIMIT or t.rows.size * columns > SWEEP_LIMIT
        if n_draws > (LEAST_DRAWS if cells > MOST_CELLS else FEW_DRAWS if large else n_draws):
            raise TooWide
        self.tables = t._replace(
            sizes=np.pad(t.sizes, (0, extra)),
            counts=np.pad(t.counts, ((0, 0), (0, extra))),
            gains=np.pad(t.gains, ((0, 0), (0, extra))),
            score=np.zeros(columns),
            changed=np.pad(t.changed, (0, extra)),
            listed=np.zeros(columns + 1, dtype=np.int64),
        )

    def improve(self, items: NDArray) -> int:
        """Make one pass over `items`; return the number of those that moved."""
        totals, position = np.zeros(2), 0
        while True:
            position = _improve(self.tables, items, position, self.slack, self.tolerance, totals)
            if position == len(items):
                break
            self.widen(2 * len(self.tables.sizes))
        self.loss += totals[0]
        self.work += len(items) * self.tables.rows.shape[1] * int(self.tables.used[0] + 1)
        return int(totals[1])

    def reassign(self, items: NDArray, clusters: NDArray) -> None:
        """Move `items` to the given clusters, -1 for none."""
        self.widen(int(clusters.max()) + 2)
        self.loss += _reassign(self.tables, items, clusters)

    def descend(self) -> None:
        """Repeat passes until no item moves; extra passes cover the items most likely to move."""
        few = self.n_items // 4
        while self.improve(self.in_turn(np.arange(self.n_items))):
            near = np.argpartition(self.tables.margins, few)[:few]
            while few and self.improve(self.in_turn(near)):
                pass

    def in_turn(self, items: NDArray) -> NDArray:
        """The items by cluster, in random order; this keeps their rows in the cache."""
        shuffled = self.rng.permutation(items)
        turns = self.rng.permutation(int(self.tables.used[0]))
        return shuffled[np.argsort(turns[self.tables.labels[shuffled]], kind="stable")]

    def dissolve(self) -> bool:
        """Dissolve every cluster in turn and reallocate its items; return whether the loss fell."""
        before = self.loss
        for a in self.rng.permutation(int(self.tables.used[0])):
            items = np.flatnonzero(self.tables.labels == a)
            if len(items) > 1:
                self._dissolve_cluster(self.rng.permutation(items))
        return self.loss < before - self.tolerance

    def _dissolve_cluster(self, items: NDArray) -> None:
        before, old = self.loss, self.tables.labels[items]
        self.reassign(items, np.full(len(items), -1, dtype=np.int32))
        self.improve(items)
        self.improve(items)
        if self.loss >= before - self.tolerance:
            self.reassign(items, old)
            self.loss = before

    def start_from(self, start: NDArray[np.int32]) -> None:
        """Start from a labelling; items with the label -1 are allocated in random order."""
        items = self.rng.permutation(self.n_items)
        start = _largest(start, self.most)
        self.reassign(items, np.full(self.n_items, -1, dtype=np.int32))
        self.loss = 0.0
        self.reassign(items, start[items])
        self.improve(items[start[items] < 0])

    def climb(self, start: NDArray[np.int32]) -> float:
        """Climb to a local optimum from a labelling, see `start_from`; return its loss."""
        self.start_from(start)
        self.descend()
        while self.work < WORK_LIMIT and self.dissolve():
            self.descend()
        return self.loss

    def random_labels(self) -> NDArray[np.int32]:
        """Labels drawn uniformly, with the number of clusters of a random draw."""
        n_clusters = min(self.rng.choice(self.n_blocks), self.most)
        return self.rng.integers(n_clusters, size=self.n_items, dtype=np.int32)


def _largest(labels: NDArray[np.int32], most: int) -> NDArray[np.int32]:
    """Keep the `most` largest clusters of a labelling; label the items of others -1."""
    if labels.max() < most:
        return labels
    rank = np.argsort(np.argsort(-np.bincount(labels), kind="stable"))
    return np.where(rank < most, rank, -1)[labels].astype(np.int32)
