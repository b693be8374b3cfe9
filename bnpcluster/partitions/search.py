"""Local search for the partition with the least expected loss over weighted draws.

What: from one start, sweeps that move one item at a time until none moves, then attempts to
dissolve whole clusters. `multistart` chooses the starts.
Target: the exact expected loss, (2 - c) sum_a f(m_a) + sum_r w_r [c sum_b f(m_rb) - 2 sum_ab
f(m_rab)], where f(m) = m g(m), g comes from `label_draws.block_gain`, and c is the cost of
separating, 1 if both errors cost the same. m_rab counts the items in cluster a of the candidate and
block b of draw r.
Paper: Dahl, Johnson and Mueller (2022), Search algorithms and loss functions for Bayesian
clustering, Journal of Computational and Graphical Statistics 31, 1189-1201.

The counts m_rab are kept as a table with one row per block of a draw and one column per cluster,
beside w_r [f(m_rab + 1) - f(m_rab)]. Scoring an item against every cluster then is a sum of R short
rows. Blocks of a single item need no row: they contribute nothing to any score. While a search
settles, few clusters change: if an item's own one has not, it is scored against those alone.

Where many clusters would make the tables too large for the number of draws, `TooWide` says so. The
number of clusters is limited by the caller alone, unless the tables of the least number of draws
would not fit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core.jit import kernel
from bnpcluster.partitions import label_draws

CELL_LIMIT = 4 * 10**7  # cells of the tables, 12 bytes each
SWEEP_LIMIT = 2 * 10**9  # cells read in one sweep over all items
WORK_LIMIT = 4 * 10**9  # cells read in all sweeps
SCATTERED = 4  # a cell of a scattered column takes as long as so many in a row
FEW_DRAWS = 100  # with so few draws these limits on the tables do not apply, but the next
MOST_CELLS = 2 * 10**8  # cells of the tables whatever they hold: 2.4 GB
LEAST_DRAWS = 10  # that a search goes on with; then clusters are limited to what fits


class Objective(NamedTuple):
    """What is to be small, and among which partitions."""

    loss: str
    cost: float = 1.0  # of separating a pair; joining one costs 2 - cost
    max_clusters: int = 2**31 - 1


class Tables(NamedTuple):
    """A candidate partition and its contingency counts with every draw."""

    labels: NDArray[np.int32]  # (n,) cluster of each item, -1 while it is in none
    sizes: NDArray[np.int32]  # (columns,) of each cluster
    used: NDArray[np.int64]  # (1,) clusters at and above this number are empty
    rows: NDArray[np.int32]  # (n, R) row of the item's block in each draw, 0 if it is alone there
    counts: NDArray[np.int32]  # (rows, columns) m_rab; row 0 stays zero
    gains: NDArray[np.float64]  # (rows, columns) w_r [f(m_rab + 1) - f(m_rab)]
    weights: NDArray[np.float64]  # (R,) summing to one
    step: NDArray[np.float64]  # (n + 1,) f(m + 1) - f(m)
    joining: NDArray[np.float64]  # (n + 1,) the same times 2 - cost
    most: NDArray[np.int64]  # (1,) clusters allowed
    score: NDArray[np.float64]  # (columns,) scratch of `_score`
    margins: NDArray[np.float64]  # (n,) how far each item was from moving when last looked at
    clock: NDArray[np.int64]  # (1,) changes of clusters so far
    changed: NDArray[np.int64]  # (columns,) the last change of each cluster
    looked: NDArray[np.int64]  # (n,) the last change before each item was last looked at
    listed: NDArray[np.int64]  # (columns,) scratch: clusters that have changed since then


@kernel
def _number_rows(draws, n_blocks, sizes, rows):
    """Number the blocks of two items or more over all draws from 1; returns how many there are."""
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

    Right for clusters without item i; for its own one see `_score_own`. Empty ones score zero.
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
    """`_score` of item i's own cluster, and of those that have changed since it was looked at.

    The others are as unattractive as they were, if its own one has not changed: they score inf.
    Returns whether this was possible, and less work than all scores.
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
    """Change of the expected loss when item i, once taken out of its cluster, joins it again."""
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
def _move(tables, i, a):
    """Take item i out of its cluster, if any, and put it into cluster a, if not -1."""
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
def _sweep(tables, order, start, slack, tolerance, totals):
    """Put the items order[start:] where the expected loss is least, one after the other.

    Unplaced items are placed; others move only for a gain above `tolerance`. Adds to `totals` the
    change of the loss and the number of moves. Returns where it stopped: short of the end when no
    empty column is left. `slack` bounds the difference of the two scores of an item's own cluster.
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
                _move(tables, i, best)
    return len(order)


@kernel
def _assign(tables, items, clusters):
    """Move `items` to the given clusters (-1: to none); the change of the expected loss."""
    change = 0.0
    for p in range(len(items)):
        i = items[p]
        if tables.labels[i] >= 0:
            change -= _score_own(tables, i)
        _move(tables, i, clusters[p])
        if clusters[p] >= 0:
            change += _score_own(tables, i)
    return change


class TooWide(Exception):
    """The tables would become too large for this number of draws."""


class Search:
    """Local search over partitions; `loss` is the expected loss, less that of nothing placed."""

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
        self.agreement = 1e-9 * n * float(step.max())  # rounding of a whole climb
        # The steps of f differ by at most this much from one size to the next.
        self.slack = 2.0 * float(np.diff(step).max()) + self.tolerance

    @staticmethod
    def _fitting(n_rows: int, n_draws: int) -> int:
        """Clusters for which there is room when the draws may not become fewer."""
        return 2**31 - 1 if n_draws > LEAST_DRAWS else max(MOST_CELLS // n_rows - 8, 1)

    def widen(self, n_columns: int) -> None:
        """Make room for at least so many clusters, or as many as are allowed."""
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

    def sweep(self, items: NDArray) -> int:
        """One pass over `items`; the number of those that moved."""
        totals, position = np.zeros(2), 0
        while True:
            position = _sweep(self.tables, items, position, self.slack, self.tolerance, totals)
            if position == len(items):
                break
            self.widen(2 * len(self.tables.sizes))
        self.loss += totals[0]
        self.work += len(items) * self.tables.rows.shape[1] * int(self.tables.used[0] + 1)
        return int(totals[1])

    def assign(self, items: NDArray, clusters: NDArray) -> None:
        """Move `items` to the given clusters, -1 for none."""
        self.widen(int(clusters.max()) + 2)
        self.loss += _assign(self.tables, items, clusters)

    def descend(self) -> None:
        """Sweeps until no item moves; between those over all items, some over the likeliest."""
        few = self.n_items // 4
        while self.sweep(self.in_turn(np.arange(self.n_items))):
            near = np.argpartition(self.tables.margins, few)[:few]
            while few and self.sweep(self.in_turn(near)):
                pass

    def in_turn(self, items: NDArray) -> NDArray:
        """The items, cluster by cluster in random order: their rows then stay in the cache."""
        shuffled = self.rng.permutation(items)
        turns = self.rng.permutation(int(self.tables.used[0]))
        return shuffled[np.argsort(turns[self.tables.labels[shuffled]], kind="stable")]

    def dissolve(self) -> bool:
        """Dissolve every cluster in turn and place its items anew; whether that gained anything."""
        before = self.loss
        for a in self.rng.permutation(int(self.tables.used[0])):
            items = np.flatnonzero(self.tables.labels == a)
            if len(items) > 1:
                self._dissolve_cluster(self.rng.permutation(items))
        return self.loss < before - self.tolerance

    def _dissolve_cluster(self, items: NDArray) -> None:
        before, old = self.loss, self.tables.labels[items]
        self.assign(items, np.full(len(items), -1, dtype=np.int32))
        self.sweep(items)
        self.sweep(items)
        if self.loss >= before - self.tolerance:
            self.assign(items, old)
            self.loss = before

    def place(self, start: NDArray[np.int32]) -> None:
        """Begin with a labelling; items with the label -1 are allocated in random order."""
        items = self.rng.permutation(self.n_items)
        start = _largest(start, self.most)
        self.assign(items, np.full(self.n_items, -1, dtype=np.int32))
        self.loss = 0.0
        self.assign(items, start[items])
        self.sweep(items[start[items] < 0])

    def climb(self, start: NDArray[np.int32]) -> float:
        """Local optimum from a labelling, see `place`."""
        self.place(start)
        self.descend()
        while self.work < WORK_LIMIT and self.dissolve():
            self.descend()
        return self.loss

    def random_labels(self) -> NDArray[np.int32]:
        """Labels drawn uniformly, as many clusters as some draw has."""
        n_clusters = min(self.rng.choice(self.n_blocks), self.most)
        return self.rng.integers(n_clusters, size=self.n_items, dtype=np.int32)


def _largest(labels: NDArray[np.int32], most: int) -> NDArray[np.int32]:
    """The labelling without all but its `most` largest clusters: their items are labelled -1."""
    if labels.max() < most:
        return labels
    rank = np.argsort(np.argsort(-np.bincount(labels), kind="stable"))
    return np.where(rank < most, rank, -1)[labels].astype(np.int32)
