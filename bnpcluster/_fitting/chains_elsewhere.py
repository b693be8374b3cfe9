"""Run the chains of a fit whose rows are elsewhere."""

from __future__ import annotations

import time
import warnings
from contextlib import closing

from sklearn.exceptions import ConvergenceWarning

from bnpcluster._fitting.block_draws import Elsewhere, log_urn_of
from bnpcluster._fitting.chain_runs import make_outcome
from bnpcluster._fitting.constant_columns import warn_at_caller
from bnpcluster._fitting.fitted import Outcome, Task, prior_of
from bnpcluster._fitting.followed import Followed
from bnpcluster._fitting.lengths import Asked, Lengths
from bnpcluster._fitting.progress import progress_display
from bnpcluster._fitting.rounds import BOUNDARY, round_ends
from bnpcluster._fitting.rows_elsewhere import RowsElsewhere
from bnpcluster._fitting.searches import is_new
from bnpcluster._fitting.stop import Stop, interruptible, watched
from bnpcluster._fitting.walk_checkpoint import WalkCheckpoint
from bnpcluster._fitting.walks import N_REFERENCE, Sample, Walk, iterate, pass_over, start
from bnpcluster._fitting.workers import lost_workers

TOO_SHORT = (
    "Sampling stopped before warm-up was over. The current state of each chain was kept as its "
    "only draw: raise max_time, lower n_warmup, or set checkpoint to go on in another fit."
)

COLLINEAR = (
    "Some columns are nearly linear combinations of others within a cluster. Statistics of rows "
    "that are elsewhere lose digits then, so the results are less accurate: drop such columns."
)


def fit(
    task: Task,
    sample: Sample,
    rows: RowsElsewhere,
    asked: Asked,
    init: str,
    n_scanned: int,
    checkpoint: WalkCheckpoint | None = None,
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
    checkpoint : WalkCheckpoint, optional
        Where the chains are saved.
    """
    stop, followed = Stop(task.seconds), Followed.of(task.X, task.likelihood)
    lengths = Lengths(asked, followed, task.X.shape)
    try:
        with interruptible(stop), watched(stop):
            walks = None if checkpoint is None else checkpoint.walks(n_scanned)
            if walks is None:
                walks = start(task, sample, rows, init, n_scanned, stop)
            else:
                resume(walks, rows)
            run_to_end(walks, rows, task, lengths, stop, checkpoint)
    except Exception as error:
        lost = lost_workers(error, checkpoint is not None)
        if lost is None:
            raise
        raise lost from error
    if not walks[0].draws and is_new(TOO_SHORT):
        warnings.warn(TOO_SHORT, ConvergenceWarning, stacklevel=4)
    if any(walk.root.lost_digits for walk in walks):
        warn_at_caller(UserWarning(COLLINEAR))
    for walk in walks:
        if not walk.draws:
            walk.keep_now(lengths.schedule)
        walk.root.show(task.X, walk.chain.labels)
    return outcome(walks, sample, rows, task, lengths, stop.requested.is_set())


def resume(walks: list[Walk], rows: RowsElsewhere) -> None:
    """Make the last pass of saved chains again."""
    pass_over(walks, rows, [walk.root.sent for walk in walks if walk.root.sent is not None])
    for walk in walks:
        walk.show_reference()


def run_to_end(
    walks: list[Walk],
    rows: RowsElsewhere,
    task: Task,
    lengths: Lengths,
    stop: Stop,
    checkpoint: WalkCheckpoint | None,
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
            over = lengths.is_over(chains)
            if checkpoint is not None and (over or chains[0].iteration % BOUNDARY == 0):
                checkpoint.save(walks, force=over or stop())
            if stop():
                break


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
    chains = [walk.chain for walk in walks]
    made = make_outcome(chains, bound, task, lengths, interrupted, can_continue=False)
    fitted = made.fitted
    priors = [prior_of(task.prior, fitted.posterior, r) for r in range(len(draws))]
    numbers = sample.numbers[:N_REFERENCE]
    elsewhere = Elsewhere(draws, rows.n_rows, numbers)
    fitted = fitted._replace(log_urn=log_urn_of(priors, draws), elsewhere=elsewhere, states=())
    return made._replace(fitted=fitted)
