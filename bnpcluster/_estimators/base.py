"""What all estimators share: the fit, from parameters and data to a posterior, and its report."""

from __future__ import annotations

import warnings
from contextlib import closing
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from bnpcluster._core import arguments
from bnpcluster._estimators.report import Report
from bnpcluster._fitting import smc_runs
from bnpcluster._fitting.checkpoint import Checkpoint, digest_of_code, frozen, thawed
from bnpcluster._fitting.initial_labels import STARTS, starts
from bnpcluster._fitting.progress import follow
from bnpcluster._fitting.rounds import (
    BOUNDARY,
    Chain,
    Schedule,
    run,
    stats,
    warm_up_kernels,
)
from bnpcluster._fitting.stop import Stop, interruptible
from bnpcluster.diagnostics import Diagnostics, diagnose
from bnpcluster.diagnostics.runs import RunDiagnostics
from bnpcluster.likelihoods import Likelihood
from bnpcluster.posterior import LazyCoclustering, Posterior
from bnpcluster.priors import Prior
from bnpcluster.samplers import SAMPLERS, ParticleSampler, Sampler
from bnpcluster.samplers.base import can_sample, check_operations

ROUNDS = 20  # how often chains meet in a fit, for interrupts and checkpoints
SHOWN_ROUNDS = 200  # the same where progress is shown
NOT_IDENTITY = ("n_jobs", "verbose", "checkpoint", "max_time", "warm_start", "point_estimate")
OTHERS = ("split_merge", "pgsm", "arm", "sams")  # samplers worth a try, the best first
ESTIMATES = ("vi", "binder", "map")


class Sampled(ClusterMixin, BaseEstimator):
    """Base class of estimators that sample a partition of the rows of some data.

    A subclass has a constructor, `fit`, and the methods `_prior` and `_law`, which make the prior
    and the likelihood of its parameters.
    """

    n_particles: int | None = None
    diagnostics_: Diagnostics | RunDiagnostics
    _inits: tuple[str, ...] = STARTS
    _latent: np.ndarray | None = None  # by chain and draw: missing entries that chains move

    def _store(self, parameters: dict[str, Any]) -> None:
        """Store constructor arguments untouched, as every scikit-learn constructor does."""
        self.__dict__.update({k: v for k, v in parameters.items() if k != "self"})

    def _prior(self) -> Prior:
        raise NotImplementedError(f"{type(self).__name__} must define _prior().")

    def _law(self) -> Likelihood:
        raise NotImplementedError(f"{type(self).__name__} must define _law().")

    def _check(self, sampler: Sampler, bound: Any, likelihood: Likelihood) -> None:
        check_operations(sampler, bound, likelihood)

    def _described(self) -> dict[str, str]:
        """What the report says about the data."""
        raise NotImplementedError(f"{type(self).__name__} must define _described().")

    def _judged(self) -> dict[str, str]:
        """What the report adds in the end."""
        return {}

    def _fit(self, X: Any) -> Any:
        """Sample the posterior of the partition of the rows of valid data."""
        likelihood, prior, sampler = self._components()
        schedule = Schedule(
            arguments.count("n_draws", self.n_draws, 1),
            arguments.count("n_warmup", self.n_warmup, 0),
            arguments.count("thin", self.thin, 1),
        )
        bound = likelihood.bind(X)
        self._check(sampler, bound, likelihood)
        checkpoint = self._checkpoint(X, bound, (likelihood, prior, sampler))
        n_chains = arguments.count("n_chains", self.n_chains, 1)
        chains = None
        if checkpoint and not self._can_warm_start(X.shape[0], n_chains):
            chains = checkpoint.load(prior, X.shape[0], n_chains)
        if chains is None:
            chains = self._start(X, n_chains, likelihood, prior, sampler)
        seconds = arguments.seconds("max_time", self.max_time)
        chains, interrupted = self._run(chains, bound, sampler, schedule, checkpoint, seconds)
        self._X, self._bound, self._thin = X.copy(), bound, schedule.thin
        self._likelihood, self._fitted_prior, self._sampler = likelihood, prior, sampler
        return self._finish(chains, interrupted)

    def continue_fit(self, n_draws: int) -> Any:
        """Append `n_draws` draws per chain to the posterior, from where the chains stopped.

        The data, prior, likelihood, sampler and `thin` are those of the fit, whatever parameters
        were set since; `max_time` does not apply.

        Parameters
        ----------
        n_draws : int
            Further draws of each chain; there is no second warm-up.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        if isinstance(self._sampler, ParticleSampler):
            raise ValueError("Particles make one pass: raise n_particles instead of continuing.")
        return self._continue(arguments.count("n_draws", n_draws, 1))

    def _continue(self, more: int) -> Any:
        prior, old = self._fitted_prior, self.posterior_
        chains = [thawed(arrays, prior) for arrays in self._last]
        # Chains that were stopped apart go on side by side.
        iteration = max(chain.iteration for chain in chains)
        for chain in chains:
            chain.iteration = iteration
        # Warm-up is over however early the chains were stopped: what comes now is kept.
        schedule = Schedule(more, iteration, self._thin)
        chains, interrupted = self._run(chains, self._bound, self._sampler, schedule)
        return self._finish(chains, interrupted, old)

    def _components(self) -> tuple[Likelihood, Prior, Sampler]:
        likelihood = self._law()
        sampler = arguments.component("sampler", self.sampler, SAMPLERS, Sampler)
        prior = self._prior()
        prior.validate()
        if self.n_particles is not None:
            if "n_particles" not in sampler.get_params():
                raise ValueError(
                    f"n_particles={self.n_particles!r} was given, but sampler "
                    f"{self.sampler!r} has no particles: leave n_particles at None."
                )
            sampler.set_params(n_particles=self.n_particles)
        if isinstance(self.init, str) and self.init not in self._inits:
            raise ValueError(arguments.unknown("init", self.init, self._inits))
        if self.point_estimate not in ESTIMATES:
            raise ValueError(
                arguments.unknown("point_estimate", str(self.point_estimate), ESTIMATES)
            )
        return likelihood, prior, sampler

    def _checkpoint(self, X: Any, bound: Any, components: tuple) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        parameters = {k: v for k, v in self.get_params().items() if k not in NOT_IDENTITY}
        code = digest_of_code(bound, components)
        identity = (type(self).__name__, sorted(parameters.items()), X, code)
        return Checkpoint(self.checkpoint, identity)

    def _start(
        self, X: Any, n_chains: int, likelihood: Likelihood, prior: Prior, sampler: Sampler
    ) -> list[Chain]:
        seeds = [
            [np.random.default_rng(s) for s in child.spawn(2)]
            for child in arguments.seed_sequence(self.random_state).spawn(n_chains)
        ]
        if self._can_warm_start(X.shape[0], n_chains):
            # On with the generators too: the same seeds again would repeat what led here.
            last = [thawed(arrays, prior) for arrays in self._last]
            same = repr(sampler) == repr(self._sampler)
            return [Chain(c.labels, c.prior, c.rng, tuning=c.tuning if same else {}) for c in last]
        labels = starts(self.init, X, likelihood, prior, [rng for rng, _ in seeds])
        return [Chain(row, prior, rng) for row, (_, rng) in zip(labels, seeds, strict=True)]

    def _can_warm_start(self, n: int, n_chains: int) -> bool:
        last: list = getattr(self, "_last", []) if self.warm_start else []
        return len(last) == n_chains > 0 and len(last[0]["labels"]) == n

    def _run(
        self,
        chains: list[Chain],
        bound: Any,
        sampler: Sampler,
        schedule: Schedule,
        checkpoint: Checkpoint | None = None,
        seconds: float | None = None,
    ) -> tuple[list[Chain], bool]:
        warm_up_kernels(chains[0], bound, sampler)
        stop = Stop(seconds)
        rounds = SHOWN_ROUNDS if self.verbose else ROUNDS
        length = BOUNDARY if seconds is not None else schedule.n_iterations // rounds

        def after_round(chains: list[Chain]) -> None:
            progress.show(chains)
            if checkpoint:
                checkpoint.save(chains, force=stop() or done(chains))

        def done(chains: list[Chain]) -> bool:
            return all(chain.iteration >= schedule.n_iterations for chain in chains)

        with closing(follow(self.verbose, chains, schedule)) as progress:
            chains = run(
                chains,
                bound,
                sampler,
                schedule,
                n_jobs=self.n_jobs,
                stop=stop,
                round_length=length,
                after_round=after_round,
            )
        interrupted = stop.requested.is_set()
        if not done(chains) and any(c.iteration <= schedule.n_warmup for c in chains):
            warnings.warn(
                "Sampling was stopped before warm-up was over, so the current state of each chain "
                "was kept as its one draw: raise max_time, lower n_warmup, or call continue_fit.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return chains, interrupted

    def _other(self) -> str:
        """The name of a sampler to try where this one does not do, if there is one."""
        others = [name for name in OTHERS if SAMPLERS[name] is not type(self._sampler)]
        return next((name for name in others if can_sample(SAMPLERS[name], self._bound)), "")

    def _finish(
        self,
        chains: list[Chain],
        interrupted: bool,
        old: Posterior | None = None,
    ) -> Any:
        stop = Stop()
        with interruptible(stop):  # what was drawn is not lost to a Ctrl-C that comes now
            self._latent = _latent(chains, None if old is None else self._latent)
            self.posterior_ = _posterior(chains, old)
            self._prepare_prediction()
            self._last = [frozen(chain) for chain in chains]
            self._runs: list = []
            for name in smc_runs.EVIDENCE:
                self.__dict__.pop(name, None)
            self.n_iter_ = max(chain.iteration for chain in chains)
            self.sampler_stats_ = stats(chains)
            self.diagnostics_ = diagnose(self.posterior_, other=self._other())
        return self._summarise(interrupted or stop.requested.is_set())

    def _summarise(self, interrupted: bool) -> Any:
        """Set what follows from the posterior and its diagnostics."""
        try:
            labels = self.posterior_.point_estimate(self.point_estimate)
        except KeyboardInterrupt:  # the draws are worth more than the search
            labels, interrupted = self.posterior_.point_estimate("map"), True
        self.labels_ = labels.astype(np.int64)
        self.n_clusters_ = int(self.labels_.max()) + 1
        self.n_clusters_posterior_ = self.posterior_.n_clusters_pmf()
        self.coclustering_ = LazyCoclustering(self.posterior_)
        self.interrupted_ = interrupted
        self.converged_ = self.diagnostics_.converged
        if self.converged_ is False:
            warnings.warn(self.diagnostics_.verdict, ConvergenceWarning, stacklevel=5)
        return self

    def _prepare_prediction(self) -> None:
        """Compute what prediction needs beside the draws, so that nothing is cached later."""

    def report(self) -> Report:
        """What the fit found and whether to trust it; prints as text, shows as HTML in notebooks.

        Returns
        -------
        report : Report
        """
        check_is_fitted(self)
        return Report.of(self)

    def to_arviz(self) -> Any:
        """The traces as ArviZ data (a DataTree, or InferenceData before ArviZ 1.0).

        Returns
        -------
        data : DataTree or InferenceData
        """
        check_is_fitted(self)
        return self.posterior_.to_arviz()


def _latent(chains: list[Chain], old: np.ndarray | None) -> np.ndarray | None:
    """The missing entries of every draw, by chain and draw, if the likelihood moves them."""
    if chains[0].latent is None:
        return None
    n_draws = min(len(chain.draws) for chain in chains)
    drawn = np.array([chain.latent_draws[:n_draws] for chain in chains])
    for chain in chains:
        chain.latent_draws = []
    return drawn if old is None else np.concatenate([old, drawn], axis=1)


def _posterior(chains: list[Chain], old: Posterior | None) -> Posterior:
    """The draws of all chains, cut to the shortest, after the draws there were before."""
    n_draws = min(len(chain.draws) for chain in chains)
    kind = np.result_type(*{draw.dtype for chain in chains for draw in chain.draws})
    labels = np.empty((len(chains), n_draws, len(chains[0].labels)), kind)
    traces = {
        name: np.array([[row[name] for row in chain.traces[:n_draws]] for chain in chains])
        for name in chains[0].traces[0]
    }
    for chain, rows in zip(chains, labels, strict=True):
        rows[:] = chain.draws[:n_draws]
        chain.draws = []  # one chain's draws at a time stand in memory twice
    if old is not None:
        labels = np.concatenate([old.labels, labels], axis=1)
        traces = {k: np.concatenate([old.traces[k], v], axis=1) for k, v in traces.items()}
    return Posterior(labels, traces=traces)
