"""Fit a mixture by sequential Monte Carlo: independent runs, a weighted posterior, the evidence."""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from bnpcluster._core import arguments
from bnpcluster._core.operations import latent
from bnpcluster._core.state import Stopped
from bnpcluster._fitting.stop import Stop, interruptible
from bnpcluster._fitting.workers import Parcel
from bnpcluster._predict.predictive import urn_weights
from bnpcluster.diagnostics.runs import diagnose_runs
from bnpcluster.likelihoods import Likelihood
from bnpcluster.posterior import Posterior
from bnpcluster.priors import Prior
from bnpcluster.samplers import ParticleSampler, Run
from bnpcluster.samplers.base import check_operations

if TYPE_CHECKING:
    from bnpcluster._estimators.mixture import Mixture

EVIDENCE = ("log_evidence_", "log_evidence_se_")


def fit(
    model: Mixture, X: np.ndarray, likelihood: Likelihood, prior: Prior, sampler: ParticleSampler
) -> Mixture:
    """Run the sampler `n_chains` times on all rows, and fill the model's attributes."""
    if model.checkpoint is not None:
        raise ValueError(
            f"{type(sampler).__name__} makes one pass and keeps no checkpoints: leave checkpoint "
            "at None."
        )
    prior = sampler.checked(prior)
    bound = likelihood.bind(X)
    _check_complete(bound, likelihood)
    check_operations(sampler, bound, likelihood)
    n_runs = arguments.count("n_chains", model.n_chains, 1)
    seeds = arguments.seed_sequence(model.random_state).spawn(n_runs)
    parcel = Parcel(bound)
    tasks = [(parcel, prior, len(X), np.random.default_rng(seed)) for seed in seeds]
    runs, interrupted = _carry_out(model, sampler, sampler.run, tasks)
    model._likelihood, model._fitted_prior, model._sampler = likelihood, prior, sampler
    model._frozen = None
    return _finish(model, X, bound, runs, interrupted)


def extend(model: Mixture, X: np.ndarray) -> Mixture:
    """Let the particles of a fitted model take the rows of `X`."""
    if model._frozen is None:
        model._frozen = model._likelihood.frozen(model._X)
    everything = np.vstack([model._X, X])
    bound = model._frozen.bind(everything)
    _check_complete(bound, model._frozen)
    sampler = model._sampler
    # Of copies: an interrupt must not leave particles behind that hold some of the rows.
    parcel = Parcel(bound)
    tasks = [(copy.deepcopy(run), parcel, len(everything)) for run in model._runs]
    runs, interrupted = _carry_out(model, sampler, sampler.resume, tasks)
    return _finish(model, everything, bound, runs, interrupted)


def _check_complete(bound: Any, likelihood: Likelihood) -> None:
    """Raise one sentence if chains would have to move missing entries."""
    if latent(bound) is not None:
        raise ValueError(
            f"X contains NaN, which {type(likelihood).__name__} imputes in chains: take a sampler "
            "of chains, such as 'split_merge', or a likelihood that integrates missing entries "
            "out, such as 'nig'."
        )


def _carry_out(
    model: Mixture, sampler: ParticleSampler, work: Callable, tasks: list
) -> tuple[list[Run], bool]:
    """The runs that could be finished; the first one is, whatever `max_time` says."""
    seconds = arguments.seconds("max_time", model.max_time)
    if seconds is not None:  # no clock counts the time to compile
        _warm_up(sampler, tasks[0])
    stop = Stop(seconds)
    with interruptible(stop):
        jobs = (
            delayed(_one)(work, stop, r == 0, model.verbose, *task) for r, task in enumerate(tasks)
        )
        done = Parallel(n_jobs=model.n_jobs, prefer="threads")(jobs)
    runs = [run for run in done if run is not None]
    if not runs:
        raise KeyboardInterrupt
    return runs, stop.requested.is_set()


def _warm_up(sampler: ParticleSampler, task: tuple) -> None:
    parcel, prior, _, *rest = task
    if rest:
        few = clone(sampler).set_params(n_particles=2)
        few.run(parcel.content, prior, 2, np.random.default_rng(0))


def _one(work: Callable, stop: Stop, first: bool, verbose: int, *task: Any) -> Run | None:
    """One run; None if it was stopped."""
    inputs = [part.content if isinstance(part, Parcel) else part for part in task]
    try:
        run = work(*inputs, stop.requested.is_set if first else stop)
    except Stopped:
        return None
    if verbose:
        print(
            f"bnpcluster: a run of {len(run.labels)} particles, log evidence "
            f"{run.log_evidence:.2f}, {run.seconds:.1f} s",
            file=sys.stderr,
            flush=True,
        )
    return run


def _finish(
    model: Mixture, X: np.ndarray, bound: Any, runs: list[Run], interrupted: bool
) -> Mixture:
    log_z = np.array([run.log_evidence for run in runs])
    origins = np.array([run.origin for run in runs])
    model._X, model._bound, model._last, model._latent = X.copy(), bound, [], None
    model.log_evidence_, model.log_evidence_se_ = combined(runs)
    model.posterior_ = posterior = _posterior(runs)
    model._log_urn = urn_weights(model._fitted_prior, posterior)
    model.sampler_stats_ = _stats(runs)
    model.n_iter_ = 1
    model.diagnostics_ = diagnose_runs(
        log_z, model.log_evidence_, posterior.weights, origins, model._sampler.remedy
    )
    for run in runs:  # the posterior has them
        run.labels = run.labels[:, :0].copy()
    model._runs = runs
    return model._summarise(interrupted)


def combined(runs: list[Run]) -> tuple[float, float]:
    """log of the mean of the runs' evidences, and its standard error.

    By the delta method from the scatter of the runs; of a single run, from its lines of descent.
    """
    log_z = np.array([run.log_evidence for run in runs])
    top = log_z.max()
    ratios = np.exp(log_z - top)
    mean = ratios.mean()
    if len(runs) == 1:
        variance = runs[0].relative_variance  # unbiased, and so not always positive
        error = math.sqrt(variance) if variance > 0 else math.nan
    else:
        error = float(ratios.std(ddof=1) / (mean * math.sqrt(len(runs))))
    return float(top + np.log(mean)), error


def _posterior(runs: list[Run]) -> Posterior:
    """All particles; a weight is the product of a run's evidence and a particle's share of it."""
    log_weight = np.array([run.log_weight for run in runs])
    log_weight -= log_weight.max(axis=1, keepdims=True)
    log_weight -= np.log(np.exp(log_weight).sum(axis=1, keepdims=True))
    log_weight += np.array([[run.log_evidence] for run in runs])
    traces = {name: np.array([run.values[name] for run in runs]) for name in runs[0].values}
    traces["log_posterior"] = np.array([run.log_joint for run in runs])
    labels = np.array([run.labels for run in runs])
    return Posterior(labels, weights=np.exp(log_weight - log_weight.max()), traces=traces)


def _stats(runs: list[Run]) -> dict[str, Any]:
    """Counts and seconds of every run."""
    result: dict[str, Any] = {name: [run.counts[name] for run in runs] for name in runs[0].counts}
    result["seconds"] = [run.seconds for run in runs]
    result["log_evidence"] = [run.log_evidence for run in runs]
    return result
