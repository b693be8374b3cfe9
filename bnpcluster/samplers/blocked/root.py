"""The root of a chain whose rows are elsewhere: it has the statistics of all blocks.

In every iteration it makes a batch of moves, scans some random rows, which came back from the last
pass with their labels, and draws the next message. Nothing here grows with the number of rows but
the table of the prior.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import clear, outweighs
from bnpcluster._core.parameter_operations import draw_parameters, put_sums
from bnpcluster._core.partition import change_size, is_full, move_item
from bnpcluster._core.state import State, Stopped
from bnpcluster.samplers.blocked.assignment import LAST, Message
from bnpcluster.samplers.blocked.batch_elsewhere import (
    N_LAUNCHED,
    Batch,
    Divided,
    Last,
    Plan,
    decide,
    propose,
)
from bnpcluster.samplers.blocked.counters import draw_key, fill_ranks
from bnpcluster.samplers.blocked.elsewhere import Anchors, Found, Sent
from bnpcluster.samplers.blocked.restricted_sweep import draw_log_weights
from bnpcluster.samplers.blocked.skeleton import draw_odd
from bnpcluster.samplers.gibbs import choose

ALL = 2.0**32  # above all ranks in the order for moves
MARGIN = 6.0  # standard deviations by which more rows are asked for than needed


class Root(State):
    """The state of such a chain, without labels. It starts with the statistics of some rows.

    An iteration is `next`, a pass, `receive` and, if there is a `plan`, another pass and `settle`.

    Parameters
    ----------
    likelihood : Likelihood
        What binds rows.
    bound : NamedTuple
        The rows to start with.
    prior : Prior
    labels : array of int
        The labels of the rows to start with.
    n_items : int
        The number of all rows.
    n_scanned : int
        The expected number of rows of a scan.
    makes_batches : bool
        Whether iterations have batches of splits and merges.

    Attributes
    ----------
    lost_digits : bool
        Whether sums have lost digits, because columns are linear combinations of others. Blocks
        cannot be filled row by row here.
    """

    def __init__(
        self,
        likelihood: Any,
        bound: Any,
        prior: Any,
        labels: NDArray,
        *,
        n_items: int,
        n_scanned: float,
        makes_batches: bool = True,
    ):
        self.likelihood, self.n_scanned = likelihood, n_scanned
        self.makes_batches, self.lost_digits = makes_batches, False
        self.sent: Sent | None = None
        self.found: Found | None = None
        self._batch_now: Batch | None = None
        super().__init__(bound, prior, labels, n_items=n_items)

    def first(self, rng: np.random.Generator) -> Sent:
        """What to send to all rows at first: they may join every block."""
        return self._sent(draw_key(rng), np.zeros(self.n_blocks, np.uint64), rng)

    def next(self, rng: np.random.Generator) -> Sent:
        """Scan the rows that came back; what to send then."""
        sent, scanned, n_scanned = self._last.sent, self._scanned, len(self._scanned.rows)
        elsewhere = self._leaders != LAST  # ghosts, which stand for all rows of a block elsewhere
        self.show(scanned.rows, np.append(scanned.labels, np.where(elsewhere, self._ghosts, -1)))
        self._scan(rng)
        leaders, labels = np.full(self.n_blocks, LAST), self.labels
        np.minimum.at(leaders, labels[n_scanned:][elsewhere], self._leaders[elsewhere])
        ranks = np.zeros(n_scanned, np.uint64)
        fill_ranks(sent.next_key, scanned.numbers.astype(np.uint64), ranks)
        np.minimum.at(leaders, labels[:n_scanned], ranks)
        return self._sent(sent.next_key, leaders, rng)

    def lacks(self, found: Found) -> Sent | None:
        """What to send instead, if too few rows of some block came back for moves."""
        assert self.sent is not None
        if not self.makes_batches:
            return None
        came = np.bincount(found.some.labels, minlength=len(found.sizes))
        lacking = came < np.minimum(found.sizes, N_LAUNCHED + 2)
        if not lacking.any():
            return None
        below = np.where(
            lacking, np.minimum(4 * self.sent.some_below + 1, ALL), self.sent.some_below
        )
        self.sent = self.sent._replace(some_below=below.astype(np.uint64))
        return self.sent

    def receive(self, found: Found) -> None:
        """Take over what a pass found. Blocks that got no row at first are closed."""
        alive = np.flatnonzero(found.sizes)
        number = np.full(len(found.sizes), -1)
        number[alive] = np.arange(len(alive))
        self._sources = alive
        self.found = Found(
            found.sizes[alive],
            found.sums,
            found.leaders[alive],
            found.firsts[alive],
            found.scanned._replace(labels=number[found.scanned.labels]),
            found.some._replace(labels=number[found.some.labels]),
            Anchors(*(array[alive] for array in found.anchors)),
        )
        self._scanned, self._leaders = self.found.scanned, self.found.leaders
        self._ghosts = np.arange(len(alive))
        while len(alive) + 2 > len(self.partition.sizes):
            self.enlarge()
        self.rebuild()

    def plan(self, rng: np.random.Generator) -> Plan | None:
        """Draw a batch of moves; what to send to divide unions. None: nothing is to be divided."""
        found, sent = self._last
        if not self.makes_batches or len(found.sizes) < len(sent.message.leaders):
            return None  # after the first pass, blocks may have other numbers than in its message
        self.show(self._scanned.rows[:0], np.zeros(0, np.intp))
        self._batch_now = propose(self, found, sent, rng)
        return None if self._batch_now is None else self._batch_now.plan

    def settle(self, divided: Divided, rng: np.random.Generator) -> dict[str, int]:
        """Decide the moves of the plan; the counts."""
        assert self._batch_now is not None
        arguments = (self._batch_now, divided, self._scanned, self._leaders, rng)
        counts, labels, self._leaders, self._ghosts = decide(self, self.likelihood, *arguments)
        self._scanned, self._batch_now = self._scanned._replace(labels=labels), None
        return counts

    @property
    def _last(self) -> Last:
        """The last pass."""
        assert self.sent is not None and self.found is not None
        return Last(self.found, self.sent)

    def rebuild(self) -> None:
        """Recompute the statistics: from what was found, or before that from the rows."""
        if self.found is None:
            super().rebuild()
            return
        found, sent = self._last
        self.show(found.scanned.rows[:0], np.arange(len(found.sizes)))
        parameters, sources = sent.message.parameters, self._sources
        filled = (parameters, found.sums, sources, found.sizes)
        if not fill_slots(self.problem, self.partition, *filled):
            self.lost_digits = True

    def show(self, rows: NDArray, labels: NDArray) -> None:
        """Give the slots other rows, with labels of these and others; statistics stay."""
        bound = self.likelihood.rows(self.problem.likelihood, rows.astype(np.float64))
        self.problem = self.problem._replace(likelihood=bound, items=np.arange(len(rows)))
        self.partition = self.partition._replace(labels=labels.astype(np.intp))

    def _sent(self, key: NDArray, leaders: NDArray, rng: np.random.Generator) -> Sent:
        """What to send for given leaders."""
        weights = draw_log_weights(self.sizes - self.prior.sigma_now, rng)
        parameters = draw_parameters(self.problem.likelihood, self.n_blocks, rng)
        message = Message(key, leaders, weights, parameters)
        share = min(self.n_scanned / self.n_items, 1.0)
        below = LAST if share == 1.0 else np.uint64(int(share * 2.0**64))
        some = self._some_below(weights)
        self.sent = Sent(message, draw_key(rng), below, draw_odd(rng), some)
        return self.sent

    def _some_below(self, log_weights: NDArray[np.float64]) -> NDArray[np.uint64]:
        """Ranks that enough rows of every block are below, but for bad luck."""
        if not self.makes_batches:
            return np.zeros(len(log_weights), np.uint64)
        sizes = self.n_items * np.exp(log_weights) / np.exp(log_weights).sum()
        needed = N_LAUNCHED + 2.0 + MARGIN * np.sqrt(N_LAUNCHED)
        return np.minimum(ALL * needed / np.maximum(sizes, 1.0), ALL).astype(np.uint64)

    def _scan(self, rng: np.random.Generator) -> None:
        """Make a collapsed Gibbs update of every row that came back."""
        n_scanned, done = len(self.problem.items), 0
        uniforms = rng.random(n_scanned)
        while done < n_scanned:
            if self.should_stop():
                raise Stopped
            done = scan_rows(self.problem, self.partition, uniforms, done)
            if done < n_scanned:
                self.enlarge()


@kernel
def scan_rows(problem, partition, uniforms, start):
    """Redraw the slots of the items from `start` on; return the first one without room, or the end.

    An item that outweighs all others of its block stays where it is: without their rows, their
    statistics could not be restored.
    """
    items, lik = problem.items, problem.likelihood
    for t in range(start, len(items)):
        if is_full(partition):
            return t
        i = items[t]
        own = partition.labels[i]
        if partition.sizes[own] > 1 and outweighs(lik, own, i):
            continue
        k = choose(problem, partition, i, uniforms[t])
        if k != own:
            move_item(problem, partition, i, k)
    return len(items)


@kernel
def fill_slots(problem, partition, parameters, sums, sources, sizes):
    """Fill slot k from the sums of block sources[k], of sizes[k] rows, and empty the others.

    Returns whether the sums kept their digits.
    """
    lik, n_blocks, sound = problem.likelihood, len(sizes), True
    for k in range(len(partition.sizes)):
        if k < n_blocks:
            sound &= put_sums(lik, k, parameters, sums, sources[k], sizes[k])
        else:
            clear(lik, k)
        partition.sizes[k] = sizes[k] if k < n_blocks else 0
        change_size(partition, problem.log_w, k, 0)
    partition.n_blocks[0] = n_blocks
    return sound
