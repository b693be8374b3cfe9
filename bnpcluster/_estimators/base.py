"""What all estimators share: the fit, from parameters and data to a posterior, and its report."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from bnpcluster._core import arguments
from bnpcluster._core.messages import Action, Message
from bnpcluster._estimators.report import Report
from bnpcluster._fitting import chain_runs
from bnpcluster._fitting.fitted import Fitted, Outcome, Task
from bnpcluster._fitting.initial_labels import STARTS
from bnpcluster._fitting.rounds import Schedule
from bnpcluster._fitting.stop import Stop, interruptible
from bnpcluster.diagnostics import Diagnostics
from bnpcluster.diagnostics.runs import RunDiagnostics
from bnpcluster.likelihoods import Likelihood
from bnpcluster.posterior import LazyCoclustering
from bnpcluster.priors import Prior
from bnpcluster.samplers import SAMPLERS, ParticleSampler, Sampler
from bnpcluster.samplers.base import check_operations

NOT_IDENTITY = ("n_jobs", "verbose", "checkpoint", "max_time", "warm_start", "point_estimate")
ESTIMATES = ("vi", "binder", "map")
EVIDENCE = ("log_evidence_", "log_evidence_se_")

Components = tuple[Likelihood, Prior, Sampler]


class Sampled(ClusterMixin, BaseEstimator):
    """Base class of estimators that sample a partition of the rows of some data.

    A subclass has a constructor, `fit`, and the methods `_prior` and `_likelihood`, which make the
    prior and the likelihood of its parameters. What a fit leaves behind is one record, `_fitted`,
    and the public attributes made of it; `_adopt` alone writes them.
    """

    _items = "rows"
    """What is clustered."""

    n_particles: int | None = None
    diagnostics_: Diagnostics | RunDiagnostics
    _inits: tuple[str, ...] = STARTS
    _fitted: Fitted

    def _store(self, parameters: dict[str, Any]) -> None:
        """Store constructor arguments untouched, as every scikit-learn constructor does."""
        self.__dict__.update({k: v for k, v in parameters.items() if k != "self"})

    def _prior(self) -> Prior:
        raise NotImplementedError(f"{type(self).__name__} must define _prior().")

    def _likelihood(self) -> Likelihood:
        raise NotImplementedError(f"{type(self).__name__} must define _likelihood().")

    def _check(self, sampler: Sampler, bound: Any, likelihood: Likelihood) -> None:
        check_operations(sampler, bound, likelihood)

    def _described(self) -> dict[str, str]:
        """What the report says about the data."""
        raise NotImplementedError(f"{type(self).__name__} must define _described().")

    def _judged(self) -> dict[str, str]:
        """What the report adds in the end."""
        return {}

    def _run_chains(self, X: Any, components: Components) -> Outcome:
        """Sample the posterior of the partition of valid data by chains."""
        schedule = Schedule(
            arguments.count("n_draws", self.n_draws, 1),
            arguments.count("n_warmup", self.n_warmup, 0),
            arguments.count("thin", self.thin, 1),
        )
        likelihood, _, sampler = components
        bound = likelihood.bind(X)
        self._check(sampler, bound, likelihood)
        task = self._task(X, components)
        previous = self._fitted if self.warm_start and hasattr(self, "_fitted") else None
        goes_on = chain_runs.can_go_on(previous, X.shape[0], task.n_chains)
        return chain_runs.fit(
            task,
            bound,
            schedule,
            self.init,
            checkpoint=self.checkpoint,
            identity=self._identity(),
            previous=previous if goes_on else None,
        )

    def _identity(self) -> tuple:
        """What tells the draws of two fits to the same data apart."""
        parameters = {k: v for k, v in self.get_params().items() if k not in NOT_IDENTITY}
        return type(self).__name__, sorted(parameters.items())

    def _task(self, X: Any, components: Components) -> Task:
        return Task(
            X,
            *components,
            n_chains=arguments.count("n_chains", self.n_chains, 1),
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            random_state=self.random_state,
            seconds=arguments.seconds("max_time", self.max_time),
        )

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
        if isinstance(self._fitted.sampler, ParticleSampler):
            raise ValueError(
                "continue_fit is not available for particle samplers: refit with more n_particles."
            )
        more = arguments.count("n_draws", n_draws, 1)
        return self._adopt(chain_runs.extend(self._fitted, more, self.n_jobs, self.verbose))

    def _components(self) -> Components:
        """The likelihood, the prior and the sampler, resolved once per fit."""
        likelihood = self._likelihood()
        sampler = arguments.component("sampler", self.sampler, SAMPLERS, Sampler)
        prior = self._prior()
        prior.validate()
        if self.n_particles is not None:
            if "n_particles" not in sampler.get_params():
                raise ValueError(
                    Message(
                        f"The sampler {self.sampler!r} has no particles: ",
                        Action("leave n_particles at None", "leave out --particles"),
                        f" (it is {self.n_particles!r}).",
                    )
                )
            sampler.set_params(n_particles=self.n_particles)
        if isinstance(self.init, str) and self.init not in self._inits:
            raise ValueError(arguments.unknown("init", self.init, self._inits))
        if self.point_estimate not in ESTIMATES:
            raise ValueError(
                arguments.unknown("point_estimate", str(self.point_estimate), ESTIMATES)
            )
        return likelihood, prior, sampler

    def _adopt(self, outcome: Outcome, **more: Any) -> Any:
        """Set all that a fit leaves behind; `more` are further fields of the record."""
        fitted = outcome.fitted._replace(**more)
        labels, searched = self._estimate(fitted)
        stop = Stop()
        with interruptible(stop):  # a Ctrl-C that comes now leaves no model that is half fitted
            self._fitted = fitted._replace(estimate=labels)
            self.posterior_ = fitted.posterior
            self.diagnostics_ = outcome.diagnostics
            self.converged_ = outcome.diagnostics.converged
            self.sampler_stats_, self.n_iter_ = outcome.sampler_stats, outcome.n_iter
            self.labels_ = labels
            self.n_clusters_ = int(labels.max()) + 1
            self.n_clusters_posterior_ = fitted.posterior.n_clusters_pmf()
            self.coclustering_ = LazyCoclustering(fitted.posterior)
            self.interrupted_ = outcome.interrupted or not searched or stop.requested.is_set()
            for name in EVIDENCE:
                self.__dict__.pop(name, None)
            if outcome.evidence is not None:
                self.log_evidence_, self.log_evidence_se_ = outcome.evidence
        if self.converged_ is False:
            warnings.warn(outcome.diagnostics.verdict, ConvergenceWarning, stacklevel=4)
        return self

    def _estimate(self, fitted: Fitted) -> tuple[np.ndarray, bool]:
        """Labels of the point estimate; whether the search for it was not interrupted."""
        try:
            return fitted.posterior.point_estimate(self.point_estimate).astype(np.int64), True
        except KeyboardInterrupt:  # the draws are worth more than the search
            return fitted.posterior.point_estimate("map").astype(np.int64), False

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
