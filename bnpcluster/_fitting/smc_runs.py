"""Fit a mixture by sequential Monte Carlo: independent runs, a weighted posterior, the evidence."""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import ndtr, stdtrit
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from bnpcluster._core import arguments
from bnpcluster._core.operations import latent, learned
from bnpcluster._core.state import Stopped
from bnpcluster._fitting.fitted import Fitted, Outcome, Task, urn_weights
from bnpcluster._fitting.stop import Stop, interruptible
from bnpcluster._fitting.workers import SharedData
from bnpcluster.diagnostics.runs import diagnose_runs
from bnpcluster.likelihoods import Likelihood
from bnpcluster.posterior import Posterior
from bnpcluster.samplers import ParticleSampler, Run
from bnpcluster.samplers.smc.tempering import is_carried


def fit(task: Task, bound: Any) -> Outcome:
    """Run the particle sampler of a task `n_chains` times on all rows."""
    sampler = task.sampler
    assert isinstance(sampler, ParticleSampler)
    _check_complete(bound, task.likelihood)
    seeds = arguments.seed_sequence(task.random_state).spawn(task.n_chains)
    data = SharedData(bound)
    tasks = [(data, task.prior, len(task.X), np.random.default_rng(seed)) for seed in seeds]
    runs, interrupted = _run_all(task, sampler.run, tasks)
    return _make_outcome(task, bound, runs, interrupted)


def extend(fitted: Fitted, task: Task) -> Outcome:
    """Add the rows `task.X` to the particles of a fit."""
    frozen = fitted.frozen or fitted.likelihood.frozen(fitted.X)
    all_rows = np.vstack([fitted.X, task.X])
    bound = frozen.bind(all_rows)
    _check_complete(bound, frozen)
    # Copies: after an interrupt, no particle of the fit may contain only some of the new rows.
    data = SharedData(bound)
    tasks = [(copy.deepcopy(run), data, len(all_rows)) for run in fitted.runs]
    runs, interrupted = _run_all(task, fitted.sampler.resume, tasks)
    return _make_outcome(task._replace(X=all_rows), bound, runs, interrupted, frozen)


def bind(X: np.ndarray, likelihood: Likelihood, sampler: ParticleSampler) -> tuple[Likelihood, Any]:
    """The likelihood that the particles use, and the data bound by it.

    Hyper-parameters are learned if the particles can carry them, and otherwise they are the guess.
    """
    if sampler.carries_learned:
        bound = likelihood.bind(X)
        if is_carried(bound):
            return likelihood, bound
    likelihood = likelihood.guessed()
    bound = likelihood.bind(X)
    _check_fixed(bound, sampler)
    return likelihood, bound


def _check_fixed(bound: Any, sampler: ParticleSampler) -> None:
    """Raise an error if hyper-priors were given that the particles cannot sample."""
    if learned(bound) is not None:
        missing = " where entries are missing" if sampler.carries_learned else ""
        raise ValueError(
            f"{type(sampler).__name__} needs fixed hyper-parameters of the likelihood{missing}: "
            "give numbers or 'data' instead of hyper-priors, or use a sampler that runs chains, "
            "such as 'split_merge'."
        )


def _check_complete(bound: Any, likelihood: Likelihood) -> None:
    """Raise an error if the likelihood imputes missing entries, which only chains can do."""
    if latent(bound) is not None:
        raise ValueError(
            f"X contains NaN, which {type(likelihood).__name__} imputes in chains only: use a "
            "sampler that runs chains, such as 'split_merge', or a likelihood that integrates "
            "missing entries out, such as 'nig'."
        )


def _run_all(task: Task, work: Callable, tasks: list) -> tuple[list[Run], bool]:
    """The finished runs, and whether Ctrl-C stopped others. `max_time` never stops the first."""
    if task.seconds is not None:  # compilation does not count
        _compile_kernels(task.sampler, tasks[0])
    stop = Stop(task.seconds)
    with interruptible(stop):
        jobs = (
            delayed(_run_one)(work, stop, r == 0, task.verbose, *run) for r, run in enumerate(tasks)
        )
        done = Parallel(n_jobs=task.n_jobs, prefer="threads")(jobs)
    runs = [run for run in done if run is not None]
    if not runs:
        raise KeyboardInterrupt(
            "The fit was stopped before its first run of particles ended: there is nothing to keep."
        )
    return runs, stop.requested.is_set()


def _compile_kernels(sampler: Any, task: tuple) -> None:
    data, prior, _, *rest = task
    if rest:
        few = clone(sampler).set_params(n_particles=2)
        few.run(data.content, prior, 2, np.random.default_rng(0))


def _run_one(work: Callable, stop: Stop, first: bool, verbose: int, *task: Any) -> Run | None:
    """One run; None if it was stopped."""
    inputs = [part.content if isinstance(part, SharedData) else part for part in task]
    try:
        run = work(*inputs, stop.requested.is_set if first else stop)
    except Stopped:
        return None
    if verbose:
        print(
            f"bnpcluster: run with {len(run.labels)} particles, log evidence "
            f"{run.log_evidence:.2f}, {run.seconds:.1f} s",
            file=sys.stderr,
            flush=True,
        )
    return run


def _make_outcome(
    task: Task, bound: Any, runs: list[Run], interrupted: bool, frozen: Any = None
) -> Outcome:
    """The record of the fit, diagnostics and evidence from all runs."""
    log_z = np.array([run.log_evidence for run in runs])
    origins = np.array([run.origin for run in runs])
    evidence, posterior = combined_evidence(runs), _weighted_posterior(runs)
    diagnostics = diagnose_runs(log_z, evidence[0], posterior.weights, origins, task.sampler.remedy)
    counts = _run_stats(runs)
    for run in runs:  # the posterior has the labels
        run.labels = run.labels[:, :0].copy()
    fitted = Fitted(
        task.likelihood,
        bound,
        posterior,
        urn_weights(task.prior, posterior),
        np.zeros(0, np.int64),
        learned=_learned(runs),
        X=task.X,
        prior=task.prior,
        sampler=task.sampler,
        runs=runs,
        frozen=frozen,
    )
    return Outcome(fitted, diagnostics, counts, 1, interrupted, evidence)


def combined_evidence(runs: list[Run]) -> tuple[float, float]:
    """log of the mean evidence of the runs, and its standard error.

    The standard error comes from the variance between runs, by the delta method. With few runs
    this variance is itself uncertain: Student's t widens the error so that plus or minus two of it
    cover as much as with many runs. A single run has an error only if it never resampled.
    """
    log_z = np.array([run.log_evidence for run in runs])
    top = log_z.max()
    ratios = np.exp(log_z - top)
    mean = ratios.mean()
    if len(runs) == 1:
        variance = runs[0].relative_variance
        error = math.sqrt(variance) if variance > 0 else math.nan
    else:
        wider = 0.5 * stdtrit(len(runs) - 1, ndtr(2.0))
        error = float(wider * ratios.std(ddof=1) / (mean * math.sqrt(len(runs))))
    return float(top + np.log(mean)), error


def _weighted_posterior(runs: list[Run]) -> Posterior:
    """All particles. A weight is the evidence of the run times the weight within the run."""
    log_weight = np.array([run.log_weight for run in runs])
    log_weight -= log_weight.max(axis=1, keepdims=True)
    log_weight -= np.log(np.exp(log_weight).sum(axis=1, keepdims=True))
    log_weight += np.array([[run.log_evidence] for run in runs])
    traces = {name: np.array([run.values[name] for run in runs]) for name in runs[0].values}
    traces["log_posterior"] = np.array([run.log_joint for run in runs])
    labels = np.array([run.labels for run in runs])
    return Posterior(labels, weights=np.exp(log_weight - log_weight.max()), traces=traces)


def _learned(runs: list[Run]) -> np.ndarray | None:
    """The learned hyper-parameters by run and particle; None if particles do not carry them."""
    values = [run.learned for run in runs if run.learned is not None]
    return np.array(values) if values else None


def _run_stats(runs: list[Run]) -> dict[str, Any]:
    """Counts, seconds and log evidence of each run."""
    result: dict[str, Any] = {name: [run.counts[name] for run in runs] for name in runs[0].counts}
    result["seconds"] = [run.seconds for run in runs]
    result["log_evidence"] = [run.log_evidence for run in runs]
    return result
