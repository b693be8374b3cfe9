"""Run the chains of a fit, and continue them."""

from __future__ import annotations

import warnings
from contextlib import closing
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from bnpcluster._core.messages import Action, Message
from bnpcluster._fitting.checkpoint import Checkpoint, digest_of_code, frozen, thawed
from bnpcluster._fitting.fitted import Fitted, Outcome, Task, urn_weights
from bnpcluster._fitting.followed import Followed
from bnpcluster._fitting.large_starts import is_large, start_from_some
from bnpcluster._fitting.lengths import Asked, Lengths
from bnpcluster._fitting.progress import progress_display
from bnpcluster._fitting.rounds import BOUNDARY, Chain, run_chains, stats, warm_up_kernels
from bnpcluster._fitting.searches import is_new
from bnpcluster._fitting.starts import start_chains
from bnpcluster._fitting.stop import Stop, interruptible
from bnpcluster._fitting.workers import lost_workers
from bnpcluster.diagnostics import diagnose
from bnpcluster.posterior import Posterior
from bnpcluster.samplers import SAMPLERS
from bnpcluster.samplers.base import can_sample

ROUNDS = 20  # rounds of a fit; interrupts and checkpoints happen between rounds
SHOWN_ROUNDS = 200  # rounds of a fit that shows progress
OTHERS = ("split_merge", "pgsm", "arm", "sams")  # samplers to recommend, best first


def fit(
    task: Task,
    bound: Any,
    asked: Asked,
    init: Any,
    *,
    checkpoint: Any = None,
    identity: Any = None,
    previous: Fitted | None = None,
) -> Outcome:
    """Run chains on bound data.

    Parameters
    ----------
    task : Task
    bound : NamedTuple
        The data of the task, bound by its likelihood.
    asked : Asked
        The lengths of the chains.
    init : str or array
        Where the chains start.
    checkpoint : path, optional
        A directory to save the chains in.
    identity : optional
        The parameters of the fit. They name the file, together with the data and the code.
    previous : Fitted, optional
        A fit. The chains start from its last states.
    """
    saved = None if checkpoint is None else checkpoint_of(task, bound, checkpoint, identity)
    chains = None
    if saved and previous is None:
        chains = saved.load(task.prior, task.X.shape[0], task.n_chains, bound)
    if chains is None:
        if previous is None and is_large(task, init):
            chains = start_from_some(task, bound)
        else:
            chains = start_chains(task, bound, init, previous)
    lengths = Lengths(asked, Followed.of(task.X, task.likelihood), task.X.shape)
    chains, interrupted = run_to_end(chains, bound, task, lengths, saved)
    return make_outcome(chains, bound, task, lengths, interrupted)


def checkpoint_of(task: Task, bound: Any, directory: Any, identity: Any) -> Checkpoint:
    """The checkpoint of a fit, named after the data, the parameters and the code."""
    code = digest_of_code(bound, (task.likelihood, task.prior, task.sampler))
    return Checkpoint(directory, (*identity, task.X, code))


def extend(fitted: Fitted, n_draws: int, n_jobs: int | None, verbose: int) -> Outcome:
    """Continue the chains of a fit and append draws to its posterior."""
    chains = [thawed(arrays, fitted.prior) for arrays in fitted.states]
    # Chains that stopped at different iterations continue at the same one.
    iteration = max(chain.iteration for chain in chains)
    for chain in chains:
        chain.iteration = iteration
    # Warm-up is over, even if the chains stopped during it: all further draws are kept.
    asked = Asked(n_draws, iteration, fitted.thin, n_draws)
    lengths = Lengths(asked, Followed.of(fitted.X, fitted.likelihood), fitted.X.shape)
    components = (fitted.likelihood, fitted.prior, fitted.sampler)
    task = Task(fitted.X, *components, len(chains), n_jobs, verbose, None, None)
    chains, interrupted = run_to_end(chains, fitted.bound, task, lengths)
    return make_outcome(chains, fitted.bound, task, lengths, interrupted, fitted)


def can_warm_start(fitted: Fitted | None, n_items: int, n_chains: int) -> bool:
    """Whether a new fit can start from the last states of an earlier one."""
    states = [] if fitted is None else fitted.states
    return len(states) == n_chains > 0 and len(states[0]["labels"]) == n_items


def run_to_end(
    chains: list[Chain],
    bound: Any,
    task: Task,
    lengths: Lengths,
    checkpoint: Checkpoint | None = None,
) -> tuple[list[Chain], bool]:
    """The chains when they are long enough or stopped, and whether Ctrl-C stopped them."""
    warm_up_kernels(chains[0], bound, task.sampler)
    stop = Stop(task.seconds)
    rounds = SHOWN_ROUNDS if task.verbose else ROUNDS
    length = BOUNDARY if task.seconds is not None else lengths.schedule.n_iterations // rounds

    def after_round(chains: list[Chain]) -> None:
        progress.show(chains)
        if checkpoint:
            checkpoint.save(chains, force=stop() or lengths.is_over(chains))

    def after_loss(chains: list[Chain]) -> None:
        if checkpoint:
            checkpoint.save(chains, force=True)

    try:
        with closing(progress_display(task.verbose, chains, lengths)) as progress:
            chains = run_chains(
                chains,
                bound,
                task.sampler,
                lengths,
                n_jobs=task.n_jobs,
                stop=stop,
                round_length=length,
                after_round=after_round,
                after_loss=after_loss,
            )
    except Exception as error:
        lost = lost_workers(error, checkpoint is not None)
        if lost is None:
            raise
        raise lost from error
    short = any(chain.iteration <= lengths.schedule.n_warmup for chain in chains)
    if short and not lengths.is_over(chains) and is_new(TOO_SHORT):
        warnings.warn(TOO_SHORT, ConvergenceWarning, stacklevel=5)
    return chains, stop.requested.is_set()


TOO_SHORT = Message(
    "Sampling stopped before warm-up was over. The current state of each chain was kept as its "
    "only draw: ",
    Action(
        "raise max_time, lower n_warmup, or call continue_fit",
        "raise --max-time, lower --warmup, or use --checkpoint",
    ),
    ".",
)


def make_outcome(
    chains: list[Chain],
    bound: Any,
    task: Task,
    lengths: Lengths,
    interrupted: bool,
    old: Fitted | None = None,
    can_continue: bool = True,
) -> Outcome:
    """The record of the fit and its diagnostics; new draws follow those of the fit `old`."""
    stop = Stop()
    with interruptible(stop):  # a Ctrl-C now must not lose the draws
        latent = _append_values(chains, "latent", old)
        learned = _append_values(chains, "learned", old)
        posterior = _append_draws(chains, None if old is None else old.posterior)
        of_rows = task.likelihood.is_of_rows
        fitted = Fitted(
            task.likelihood,
            bound,
            posterior,
            urn_weights(task.prior, posterior) if of_rows else np.zeros((0, 0)),
            np.zeros(0, np.int64),
            latent,
            learned,
            X=task.X,
            prior=task.prior,
            sampler=task.sampler,
            thin=lengths.schedule.thin,
            states=[frozen(chain) for chain in chains],
        )
        diagnostics = diagnose(
            posterior,
            pairs=None if lengths.schedule.followed is None else lengths.schedule.followed.pairs,
            other=_other(fitted) if can_continue else "",
            shared=fitted.sampler.learns_from is not None,
            limit=lengths.limit(posterior.n_draws),
            can_continue=can_continue,
        )
        n_iter = max(chain.iteration for chain in chains)
        counts = stats(chains)
    return Outcome(fitted, diagnostics, counts, n_iter, interrupted or stop.requested.is_set())


def _other(fitted: Fitted) -> str:
    """The name of a sampler to recommend instead of this one; empty if there is none."""
    others = [name for name in OTHERS if SAMPLERS[name] is not type(fitted.sampler)]
    return next((name for name in others if can_sample(SAMPLERS[name], fitted.bound)), "")


def _append_values(chains: list[Chain], name: str, old: Fitted | None) -> np.ndarray | None:
    """The latent or learned values of each draw, after earlier ones; None if there are none."""
    if getattr(chains[0], name) is None:
        return None
    n_draws = min(len(chain.draws) for chain in chains)
    drawn = np.array([getattr(chain, f"{name}_draws")[:n_draws] for chain in chains])
    for chain in chains:
        setattr(chain, f"{name}_draws", [])
    return drawn if old is None else np.concatenate([getattr(old, name), drawn], axis=1)


def _append_draws(chains: list[Chain], old: Posterior | None) -> Posterior:
    """The draws of all chains, cut to the shortest chain, after those of an earlier posterior."""
    n_draws = min(len(chain.draws) for chain in chains)
    kind = np.result_type(*{draw.dtype for chain in chains for draw in chain.draws})
    labels = np.empty((len(chains), n_draws, len(chains[0].labels)), kind)
    traces = {
        name: np.array([[row[name] for row in chain.traces[:n_draws]] for chain in chains])
        for name in chains[0].traces[0]
    }
    for chain, rows in zip(chains, labels, strict=True):
        rows[:] = chain.draws[:n_draws]
        chain.draws = []  # so that only one chain's draws are in memory twice
        chain.early = []
    if old is not None:
        labels = np.concatenate([old.labels, labels], axis=1)
        traces = {k: np.concatenate([old.traces[k], v], axis=1) for k, v in traces.items()}
    return Posterior(labels, traces=traces)
