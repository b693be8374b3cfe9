"""Run the chains of a fit whose rows are elsewhere.

All chains make an iteration together, in one pass over the rows. Here, they have the statistics of
their blocks, and the labels of some reference rows: diagnostics and estimates are made from these.
"""

from __future__ import annotations

import time
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core import arguments
from bnpcluster._core.slots import copied_slots
from bnpcluster._fitting.chain_runs import make_outcome, start_chains
from bnpcluster._fitting.elsewhere import BlockDraw, Elsewhere, log_urn_of
from bnpcluster._fitting.fitted import Outcome, Task, prior_of
from bnpcluster._fitting.followed import Followed
from bnpcluster._fitting.lengths import Asked, Lengths, Schedule
from bnpcluster._fitting.progress import progress_display
from bnpcluster._fitting.rounds import BOUNDARY, Chain, round_ends, run_chains
from bnpcluster._fitting.rows_elsewhere import RowsElsewhere
from bnpcluster._fitting.stop import Stop, interruptible, watched
from bnpcluster._fitting.workers import lost_workers
from bnpcluster.samplers import Gibbs, Sampler, SplitMerge
from bnpcluster.samplers.base import can_sample
from bnpcluster.samplers.blocked.elsewhere import Sent, labels_of_rows
from bnpcluster.samplers.blocked.root import Root

N_START = 20_000
"""Rows that chains start with: a collapsed sampler finds the clusters of these."""

N_REFERENCE = 5_000
"""Rows whose labels are kept in every draw."""

ITERATIONS = 300
"""Iterations of the start."""


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

    def complete(self, schedule: Schedule) -> None:
        """Complete an iteration after its pass, and keep its draw."""
        root, chain = self.root, self.chain
        every = root.prior.update_every if root.prior.sampled else 0
        if every and chain.iteration % every == 0:
            root.set_prior(root.prior.update(root.sizes, root.n_items, chain.rng))
        root.move_learned(chain.rng)
        chain.counts["sweeps"] += 1
        chain.iteration += 1
        if schedule.kept(chain.iteration):
            self._keep(schedule.followed)
        elif schedule.is_open and schedule.followed is not None:
            self.show_reference()
            chain.early.append(schedule.followed.of_state(root))
        chain.prior = root.prior

    def keep_now(self, schedule: Schedule) -> None:
        """Make the current state the only draw."""
        self._keep(schedule.followed)

    def _keep(self, followed: Followed | None) -> None:
        """Append the current state to the draws."""
        root, order = self.root, self.show_reference()
        self.chain.append_draw(root, followed)
        slots = copied_slots(root.problem.likelihood, np.append(order, root.n_blocks))
        assert root.sent is not None
        self.draws.append(BlockDraw(root.sent.message, root.sizes[order], slots, order))

    def show_reference(self) -> NDArray[np.intp]:
        """Give the root the reference rows, with labels from 0 in the order of first rows.

        Returns the block that has each number. Blocks without reference rows come last.
        """
        root, sample = self.root, self.sample
        assert root.sent is not None
        rows, numbers = sample.reference, sample.numbers[:N_REFERENCE]
        arguments = (root.likelihood, root.problem.likelihood, root.sent.message)
        found = labels_of_rows(*arguments, rows, numbers)
        blocks, first, labels = np.unique(found, return_index=True, return_inverse=True)
        rank = np.argsort(np.argsort(first))
        root.show(rows, rank[labels])
        self.chain.labels = rank[labels]
        absent = np.setdiff1d(np.arange(root.n_blocks), blocks)
        return np.concatenate([blocks[np.argsort(first)], absent]).astype(np.intp)


def fit(
    task: Task, sample: Sample, rows: RowsElsewhere, asked: Asked, init: str, n_scanned: int
) -> Outcome:
    """Run chains on rows that are elsewhere.

    Parameters
    ----------
    task : Task
        Its `X` are the reference rows.
    sample : Sample
        Some of the rows.
    rows : RowsElsewhere
        All rows, prepared for passes.
    asked : Asked
        The lengths of the chains.
    init : str
        Where chains start.
    n_scanned : int
        Expected number of rows of a collapsed scan.
    """
    stop, followed = Stop(task.seconds), Followed.of(task.X, task.likelihood)
    lengths = Lengths(asked, followed, task.X.shape)
    try:
        with interruptible(stop), watched(stop):
            walks = start(task, sample, rows, init, n_scanned, stop)
            run_to_end(walks, rows, task, lengths, stop)
    except Exception as error:
        lost = lost_workers(error, False)
        if lost is None:
            raise
        raise lost from error
    for walk in walks:
        if not walk.draws:
            walk.keep_now(lengths.schedule)
        walk.root.show(task.X, walk.chain.labels)
    return outcome(walks, sample, rows, task, lengths, stop.requested.is_set())


def start(
    task: Task, sample: Sample, rows: RowsElsewhere, init: str, n_scanned: int, stop: Stop
) -> list[Walk]:
    """Chains that found the clusters of some rows, and then assigned all others."""
    some = task._replace(X=sample.rows, sampler=starter(sample.bound))
    lengths = Lengths(Asked(1, 0 if init == "one" else ITERATIONS, 1, 1), None, sample.rows.shape)
    chains = start_chains(some, sample.bound, init, None)
    chains = run_chains(chains, sample.bound, some.sampler, lengths, n_jobs=task.n_jobs, stop=stop)
    walks = [
        Walk(root_of(c, task, sample, rows.n_rows, n_scanned), new_record(c), sample)
        for c in chains
    ]
    pass_over(walks, rows, [walk.root.first(walk.chain.rng) for walk in walks])
    for walk in walks:
        walk.chain.log_posterior = walk.root.log_posterior()
        walk.show_reference()
    return walks


def starter(bound: Any) -> Sampler:
    """The collapsed sampler of the start."""
    return SplitMerge() if can_sample(SplitMerge, bound) else Gibbs()


def root_of(chain: Chain, task: Task, sample: Sample, n_rows: int, n_scanned: int) -> Root:
    """The root that continues a chain of some rows."""
    root = Root(
        task.likelihood,
        sample.bound,
        chain.prior,
        chain.labels,
        n_items=n_rows,
        n_scanned=n_scanned,
    )
    if chain.learned is not None:
        root.set_learned(chain.learned)
    return root


def new_record(chain: Chain) -> Chain:
    """A chain without draws, with the generator of another."""
    return Chain(chain.labels, chain.prior, chain.rng)


def run_to_end(
    walks: list[Walk], rows: RowsElsewhere, task: Task, lengths: Lengths, stop: Stop
) -> None:
    """Run the chains until they are long enough or stopped."""
    chains = [walk.chain for walk in walks]
    with closing(progress_display(task.verbose, chains, lengths)) as progress:
        for until in round_ends(lengths, lambda: chains, BOUNDARY):
            begin = time.perf_counter()
            while chains[0].iteration < until and not stop():
                iterate(walks, rows, lengths.schedule)
            for walk in walks:
                walk.chain.seconds += time.perf_counter() - begin
                walk.chain.log_posterior = walk.root.log_posterior()
            lengths.judge(chains)
            progress.show(chains)
            if stop():
                break


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


def outcome(
    walks: list[Walk],
    sample: Sample,
    rows: RowsElsewhere,
    task: Task,
    lengths: Lengths,
    interrupted: bool,
) -> Outcome:
    """The record of the fit and its diagnostics."""
    n_draws = min(len(walk.draws) for walk in walks)
    draws = [draw for walk in walks for draw in walk.draws[:n_draws]]
    bound = task.likelihood.rows(sample.bound, task.X)
    made = make_outcome([walk.chain for walk in walks], bound, task, lengths, interrupted)
    fitted = made.fitted
    priors = [prior_of(task.prior, fitted.posterior, r) for r in range(len(draws))]
    numbers = sample.numbers[:N_REFERENCE]
    elsewhere = Elsewhere(draws, rows.n_rows, numbers)
    fitted = fitted._replace(log_urn=log_urn_of(priors, draws), elsewhere=elsewhere, states=())
    return made._replace(fitted=fitted)


def generator_of(random_state: Any) -> np.random.Generator:
    """What chooses the random rows, apart from all chains."""
    return np.random.default_rng(arguments.seed_sequence(random_state).spawn(1)[0])
