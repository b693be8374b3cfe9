"""Chains whose rows are elsewhere: their start, and their iterations.

All chains make an iteration together, in one pass over the rows or two. Here, they have the
statistics of their blocks, and the labels of some reference rows: diagnostics and estimates are
made from these.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core import arguments
from bnpcluster._core.slots import copied_slots
from bnpcluster._fitting.block_draws import BlockDraw
from bnpcluster._fitting.fitted import Task
from bnpcluster._fitting.followed import Followed
from bnpcluster._fitting.lengths import Asked, Lengths, Schedule
from bnpcluster._fitting.rounds import BOUNDARY, Chain, run_chains
from bnpcluster._fitting.rows_elsewhere import RowsElsewhere
from bnpcluster._fitting.starts import start_chains
from bnpcluster._fitting.stop import Stop
from bnpcluster.samplers import Gibbs, Sampler, SplitMerge
from bnpcluster.samplers.base import can_sample
from bnpcluster.samplers.blocked.assignment import Message
from bnpcluster.samplers.blocked.elsewhere import Sent, labels_of_rows
from bnpcluster.samplers.blocked.root import Root

N_START = 20_000
"""Rows that chains start with: a collapsed sampler finds the clusters of these."""

N_REFERENCE = 5_000
"""The first of these, whose labels are kept in every draw."""

MOST_DRAWS = 1_000
"""As `max_draws` of the start, whose warm-up takes at most half as many iterations."""


class Sample(NamedTuple):
    """Random rows of a fit, in a random order: those to start with. The first are for reference.

    Attributes
    ----------
    rows : ndarray
    numbers : ndarray of int
    bound : NamedTuple
        The rows, bound by the likelihood: all guesses from the data come from them.
    """

    rows: np.ndarray
    numbers: np.ndarray
    bound: Any

    @property
    def reference(self) -> NDArray:
        """The rows for reference."""
        return self.rows[:N_REFERENCE]


class Walk:
    """One chain: its root, and what it has drawn."""

    def __init__(self, root: Root, chain: Chain, sample: Sample):
        self.root, self.chain, self.sample = root, chain, sample
        self.draws: list[BlockDraw] = []

    @property
    def message(self) -> Message:
        """What determines the present labels."""
        assert self.root.sent is not None
        return self.root.sent.message

    def complete(self, schedule: Schedule) -> None:
        """Complete an iteration after its pass, and keep its draw."""
        root, chain = self.root, self.chain
        every = root.prior.update_every if root.prior.sampled else 0
        if every and chain.iteration % every == 0:
            root.set_prior(root.prior.update(root.sizes, root.n_items, chain.rng))
        root.move_learned(chain.rng)
        chain.counts["sweeps"] += 1
        chain.iteration += 1
        if chain.iteration % BOUNDARY == 0:
            root.rebuild()  # as chains do that resume here
        if schedule.kept(chain.iteration):
            self._keep(schedule.followed)
        elif schedule.is_open and schedule.followed is not None:
            self.show_reference()
            chain.early.append(schedule.followed.of_state(root))
        chain.prior, chain.learned = root.prior, root.learned

    def keep_now(self, schedule: Schedule) -> None:
        """Make the current state the only draw."""
        self._keep(schedule.followed)

    def _keep(self, followed: Followed | None) -> None:
        """Append the current state to the draws."""
        root, order = self.root, self.show_reference()
        self.chain.append_draw(root, followed)
        slots = copied_slots(root.problem.likelihood, np.append(order, root.n_blocks))
        self.draws.append(BlockDraw(self.message, root.sizes[order], slots, order))

    def show_reference(self) -> NDArray[np.intp]:
        """Give the root the reference rows, with labels from 0 in the order of first rows.

        Returns the block that has each number. Blocks without reference rows come last.
        """
        root, sample = self.root, self.sample
        rows, numbers = sample.reference, sample.numbers[:N_REFERENCE]
        arguments = (root.likelihood, root.problem.likelihood, self.message)
        found = labels_of_rows(*arguments, rows, numbers)
        blocks, first, labels = np.unique(found, return_index=True, return_inverse=True)
        rank = np.argsort(np.argsort(first))
        root.show(rows, rank[labels])
        self.chain.labels = rank[labels]
        absent = np.setdiff1d(np.arange(root.n_blocks), blocks)
        return np.concatenate([blocks[np.argsort(first)], absent]).astype(np.intp)


def start(
    task: Task, sample: Sample, rows: RowsElsewhere, init: str, n_scanned: int, stop: Stop
) -> list[Walk]:
    """Chains that found the clusters of some rows, and then assigned all others."""
    some = task._replace(X=sample.rows, sampler=starter(sample.bound))
    followed = Followed.of(sample.rows, task.likelihood)
    asked = Asked(1, 0 if init == "one" else None, 1, MOST_DRAWS)
    lengths = Lengths(asked, followed, sample.rows.shape)
    chains = start_chains(some, sample.bound, init, None)
    chains = run_chains(chains, sample.bound, some.sampler, lengths, n_jobs=task.n_jobs, stop=stop)
    walks = walks_of(chains, sample.bound, task, sample, rows, n_scanned)
    for walk in walks:
        walk.chain.log_posterior = walk.root.log_posterior()
        walk.show_reference()
    return walks


def walks_of(
    chains: list[Chain],
    bound: Any,
    task: Task,
    sample: Sample,
    rows: RowsElsewhere,
    n_scanned: int,
) -> list[Walk]:
    """Chains that continue those of some rows, after the first passes over all."""
    walks = []
    for chain in chains:
        root = new_root(chain, bound, task, rows.n_rows, n_scanned)
        walks.append(Walk(root, Chain(chain.labels, chain.prior, chain.rng), sample))
    pass_over(walks, rows, [walk.root.first(walk.chain.rng) for walk in walks])
    # Blocks may have got no rows. In the next message, they have the numbers that they have here.
    pass_over(walks, rows, [walk.root.next(walk.chain.rng) for walk in walks])
    return walks


def new_root(chain: Chain, bound: Any, task: Task, n_rows: int, n_scanned: int) -> Root:
    """The root of a chain of all rows, with the statistics of some."""
    root = Root(
        task.likelihood,
        bound,
        chain.prior,
        chain.labels,
        n_items=n_rows,
        n_scanned=n_scanned,
        makes_batches=task.sampler.n_batches > 0,
    )
    if chain.learned is not None:
        root.set_learned(chain.learned)
    return root


def starter(bound: Any) -> Sampler:
    """The collapsed sampler of the start."""
    return SplitMerge() if can_sample(SplitMerge, bound) else Gibbs()


def iterate(walks: list[Walk], rows: RowsElsewhere, schedule: Schedule) -> None:
    """Make one iteration of every chain: moves, a scan, a pass, and updates of parameters."""
    plans = {w: plan for w in walks if (plan := w.root.plan(w.chain.rng)) is not None}
    if plans:
        for walk, divided in zip(plans, rows.divide(list(plans.values())), strict=True):
            walk.chain.counts.update(walk.root.settle(divided, walk.chain.rng))
    pass_over(walks, rows, [walk.root.next(walk.chain.rng) for walk in walks])
    for walk in walks:
        walk.complete(schedule)


def pass_over(walks: list[Walk], rows: RowsElsewhere, sent: list[Sent]) -> None:
    """Make a pass for every chain; again, if too few rows of some blocks came back."""
    while walks:
        found = list(zip(walks, rows.pass_over(sent), strict=True))
        more = [walk.root.lacks(one) for walk, one in found]
        for (walk, one), again in zip(found, more, strict=True):
            if again is None:
                walk.root.receive(one)
        walks = [walk for walk, again in zip(walks, more, strict=True) if again is not None]
        sent = [again for again in more if again is not None]


def generator_of(random_state: Any) -> np.random.Generator:
    """What chooses the random rows, apart from all chains."""
    return np.random.default_rng(arguments.seed_sequence(random_state).spawn(1)[0])
