"""The base class of all estimators: fit, checks of parameters, fitted attributes and report."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from bnpcluster._core import arguments, settings
from bnpcluster._core.containers import as_array
from bnpcluster._core.messages import Action, Message, setting
from bnpcluster._core.operations import traces_learned
from bnpcluster._estimators import clusters
from bnpcluster._estimators.advice import advice
from bnpcluster._estimators.hints import check_parameters, missing_attribute
from bnpcluster._estimators.report import Report
from bnpcluster._fitting import chain_runs
from bnpcluster._fitting.constant_columns import warn_at_caller
from bnpcluster._fitting.fitted import Fitted, Outcome, Task
from bnpcluster._fitting.initial_labels import STARTS
from bnpcluster._fitting.lengths import Asked
from bnpcluster._fitting.searches import is_new
from bnpcluster._fitting.stop import Stop, interruptible
from bnpcluster.diagnostics import Diagnostics
from bnpcluster.diagnostics.runs import RunDiagnostics
from bnpcluster.likelihoods import Likelihood
from bnpcluster.partitions import MergeTree
from bnpcluster.posterior import LazyCoclustering, Posterior
from bnpcluster.priors import Prior
from bnpcluster.samplers import SAMPLERS, ParticleSampler, Sampler
from bnpcluster.samplers.base import check_operations

WITHOUT_EFFECT_ON_DRAWS = (
    "n_jobs",
    "verbose",
    "checkpoint",
    "max_time",
    "warm_start",
    "point_estimate",
    "merge",
    "max_clusters",
    "min_cluster_size",
    "max_prediction_draws",
    "handle_unknown",
)
EVIDENCE = ("log_evidence_", "log_evidence_se_")

Components = tuple[Likelihood, Prior, Sampler]


class Sampled(ClusterMixin, BaseEstimator):
    """Base class of estimators that sample a partition of the rows of some data.

    A subclass defines a constructor, `fit`, and the methods `_prior` and `_likelihood`, which
    create the prior and the likelihood from its parameters. A fit sets one record, `_fitted`, and
    the public attributes derived from it. Only `_adopt` sets them.
    """

    _items = "rows"
    """What the model clusters, for messages."""

    n_particles: int | None = None
    diagnostics_: Diagnostics | RunDiagnostics
    _inits: tuple[str, ...] = STARTS
    _fitted: Fitted

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Create an estimator, after a check of the names of its parameters."""
        check_parameters(cls, args, kwargs)
        return super().__new__(cls)

    if not TYPE_CHECKING:  # otherwise type checkers would accept any attribute

        def __getattr__(self, name):
            """Raise an error that says why there is no such attribute."""
            if not hasattr(type(self), name):
                raise missing_attribute(self, name)
            try:
                return object.__getattribute__(self, name)
            except AttributeError as error:
                # A method that depends on parameters has its reason in the cause.
                if isinstance(error.__cause__, AttributeError):
                    raise error.__cause__ from None
                raise

    @contextmanager
    def _unchanged_by_errors(self) -> Iterator[None]:
        """If a refit fails, keep the earlier fit as it was, and predict with it."""
        before = {name: value for name, value in vars(self).items() if name.endswith("_")}
        fitted = vars(self).get("_fitted")
        try:
            yield
        except BaseException:
            if vars(self).get("_fitted") is fitted:
                for name in [name for name in self.__dict__ if name.endswith("_")]:
                    del self.__dict__[name]
                self.__dict__.update(before)
            raise

    def _store(self, parameters: dict[str, Any]) -> None:
        """Store constructor arguments unchanged, as scikit-learn requires."""
        self.__dict__.update({k: v for k, v in parameters.items() if k != "self"})

    def _prior(self) -> Prior:
        raise NotImplementedError(f"{type(self).__name__} must define _prior().")

    def _likelihood(self) -> Likelihood:
        raise NotImplementedError(f"{type(self).__name__} must define _likelihood().")

    def _check_sampler(self, sampler: Sampler, bound: Any, likelihood: Likelihood) -> None:
        check_operations(sampler, bound, likelihood)

    def _describe_data(self) -> dict[str, str]:
        """Lines of the report about the data."""
        raise NotImplementedError(f"{type(self).__name__} must define _describe_data().")

    def _describe_likelihood(self) -> str:
        """The likelihood, for a line of the report."""
        return repr(self._fitted.likelihood)

    @property
    def _counted(self) -> str:
        """What a report calls the items of this fit."""
        return self._items

    def _describe_hyper_parameters(self) -> dict[str, str]:
        """Lines of the report about the hyper-parameters of the likelihood."""
        return {}

    def _learned_traces(self) -> list[str]:
        """Names of the traces of learned hyper-parameters."""
        return list(traces_learned(self._fitted.bound))

    def _describe_each_cluster(self) -> dict[str, str]:
        """Lines of the report about single clusters."""
        return {}

    def _describe_quality(self) -> dict[str, str]:
        """Lines at the end of the report."""
        return {}

    def _joins(self) -> tuple[float | None, int | None]:
        """Where joins of components stop: the smallest overlap, and the most clusters."""
        return None, None

    def _tree(self, fitted: Fitted) -> MergeTree:
        """How the components of the estimate are joined."""
        raise NotImplementedError(f"{type(self).__name__} has no memberships to join clusters by.")

    def _run_chains(self, X: Any, components: Components, init: Any) -> Outcome:
        """Sample the posterior of the partition of validated data with chains."""
        asked = Asked(
            arguments.count_or_auto("n_draws", self.n_draws, 1),
            arguments.count_or_auto("n_warmup", self.n_warmup, 0),
            arguments.count("thin", self.thin, 1),
            arguments.count("max_draws", self.max_draws, 1),
        )
        likelihood, _, sampler = components
        bound = likelihood.bind(X)
        self._check_sampler(sampler, bound, likelihood)
        task = self._task(X, components)
        warm_start = settings.flag("warm_start", self.warm_start)
        previous = self._fitted if warm_start and hasattr(self, "_fitted") else None
        continues = chain_runs.can_warm_start(previous, X.shape[0], task.n_chains)
        return chain_runs.fit(
            task,
            bound,
            asked,
            init,
            checkpoint=self.checkpoint,
            identity=self._identity(),
            previous=previous if continues else None,
        )

    def _identity(self) -> tuple:
        """The parameters that determine the draws for given data."""
        parameters = {
            k: v for k, v in self.get_params().items() if k not in WITHOUT_EFFECT_ON_DRAWS
        }
        return type(self).__name__, sorted(parameters.items())

    def _task(self, X: Any, components: Components) -> Task:
        return Task(
            X,
            *components,
            n_chains=arguments.count("n_chains", self.n_chains, 1),
            n_jobs=settings.n_jobs(self.n_jobs),
            verbose=settings.level("verbose", self.verbose),
            random_state=self.random_state,
            seconds=arguments.seconds("max_time", self.max_time),
        )

    def continue_fit(self, n_draws: int) -> Any:
        """Continue the chains and append `n_draws` draws per chain to the posterior.

        The chains continue with the data, prior, likelihood, sampler and `thin` of the fit.
        Parameters that you set after the fit are ignored. `max_time` does not apply.

        Parameters
        ----------
        n_draws : int
            Number of further draws of each chain. There is no second warm-up.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_is_fitted(self)
        if isinstance(self._fitted.sampler, ParticleSampler):
            raise ValueError(
                "continue_fit is not available for particle samplers: refit with more n_particles."
            )
        more = arguments.count("n_draws", n_draws, 1)
        fitted = self._fitted
        if fitted.elsewhere is not None:
            raise ValueError(
                "continue_fit is not available after a fit of a dask collection: refit with more "
                "n_draws."
            )
        outcome = chain_runs.extend(
            fitted, more, settings.n_jobs(self.n_jobs), settings.level("verbose", self.verbose)
        )
        return self._adopt(outcome, **fitted.reading)

    @property
    def posterior_(self) -> Posterior:
        """The draws of the partition and of the sampled hyper-parameters."""
        check_is_fitted(self)
        posterior = self._fitted.posterior
        if posterior._source is None:
            posterior._attach(self._parameter_source(self._fitted))
        return posterior

    def _parameter_source(self, fitted: Fitted) -> Any:
        """What draws the parameters of the clusters of a fit, if anything does."""

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
                        setting("n_particles", self.n_particles),
                        f" was given, but sampler {self.sampler!r} has no particles: ",
                        Action("leave n_particles at None", "leave out --particles"),
                        ".",
                    )
                )
            sampler.set_params(n_particles=self.n_particles)
        if isinstance(self.init, str) and self.init not in self._inits:
            raise ValueError(arguments.unknown("init", self.init, self._inits))
        clusters.loss_and_cost(self.point_estimate)
        self._joins()
        clusters.limit("min_cluster_size", self.min_cluster_size)
        return likelihood, prior, sampler

    def _adopt(self, outcome: Outcome, **more: Any) -> Any:
        """Set the fitted attributes. `more` are further fields of the record."""
        fitted, searched = self._with_clusters(outcome.fitted._replace(**more))
        stop = Stop()
        with interruptible(stop):  # a Ctrl-C now must not leave a model half fitted
            self._fitted = fitted
            self.diagnostics_ = outcome.diagnostics
            self.converged_ = outcome.diagnostics.converged
            self.sampler_stats_, self.n_iter_ = outcome.sampler_stats, outcome.n_iter
            self.component_labels_ = fitted.all_rows(fitted.estimate).copy()
            self.labels_ = fitted.all_rows(fitted.cluster_labels)
            self.n_clusters_ = int(self.labels_.max()) + 1
            self.n_clusters_posterior_ = fitted.posterior.n_clusters_pmf()
            self.coclustering_ = LazyCoclustering(fitted.posterior)
            self.interrupted_ = outcome.interrupted or not searched or stop.requested.is_set()
            for name in EVIDENCE:
                self.__dict__.pop(name, None)
            if outcome.evidence is not None:
                self.log_evidence_, self.log_evidence_se_ = outcome.evidence
        if self.converged_ is False:
            found, here = (fitted.posterior, outcome.diagnostics), fitted.elsewhere is None
            text = advice(self.n_draws, self.max_draws, *found, can_continue=here)
            if is_new(text):
                warnings.warn(text, ConvergenceWarning, stacklevel=4)
        return self

    def _estimate(self, fitted: Fitted) -> tuple[np.ndarray, bool]:
        """Labels of the point estimate, and whether the search for it was completed."""
        loss, cost = clusters.loss_and_cost(self.point_estimate)
        try:
            return fitted.posterior.point_estimate(loss, cost=cost).astype(np.int64), True
        except KeyboardInterrupt:  # keep the draws without a search
            return fitted.posterior.point_estimate("map").astype(np.int64), False

    def _with_clusters(self, fitted: Fitted) -> tuple[Fitted, bool]:
        """The record with the point estimate and its clusters; False if Ctrl-C cut this short."""
        level, most = self._joins()
        smallest = clusters.limit("min_cluster_size", self.min_cluster_size)
        components, finished = self._estimate(fitted)
        fitted, groups = fitted._replace(estimate=components), np.arange(components.max() + 1)
        if level is not None or (most is not None and len(groups) > most):
            try:
                fitted = fitted._replace(tree=self._tree(fitted))
                groups = fitted.tree.cut(level, most)
            except KeyboardInterrupt:  # keep the components as they are
                finished = False
        if smallest is not None:
            smallest = int(np.ceil(smallest / fitted.rows_per_item))
        found = clusters.numbered(groups, components, smallest)
        if not (found >= 0).any():
            largest = np.bincount(groups[components]).max() * fitted.rows_per_item
            text = clusters.all_too_small(self.min_cluster_size, round(largest), self._items)
            warn_at_caller(UserWarning(text))
        is_same = np.array_equal(found, np.arange(len(found)))
        return fitted._replace(clusters=None if is_same else found), finished

    def align(self, labels: Any) -> Any:
        """Number the clusters as in an earlier fit, as far as they still exist.

        Clusters are matched one to one, so that as many rows as possible keep their number.
        `labels_`, `predict`, `predict_proba`, reports and pictures then use the new numbers.
        Numbers stay consecutive: new clusters take those that are left, and if an earlier cluster
        is gone, a larger number may become smaller.

        Parameters
        ----------
        labels : array-like of int, shape (n_samples,)
            `labels_` of an earlier fit, or other labels, of the same rows. -1: a row without one.

        Returns
        -------
        self
            The fitted estimator.

        Examples
        --------
        >>> import numpy as np
        >>> from bnpcluster import DPMixture
        >>> X = np.repeat([[0.0], [9.0]], [12, 8], axis=0) + np.linspace(0, 1, 20)[:, None]
        >>> model = DPMixture(random_state=0).fit(X)
        >>> model.labels_[[0, -1]].tolist()
        [0, 1]
        >>> model.align(np.repeat([1, 0], [12, 8])).labels_[[0, -1]].tolist()
        [1, 0]
        """
        check_is_fitted(self)
        if self._fitted.elsewhere is not None:
            raise ValueError(
                "align is not available after a fit of a dask collection: compare labels_ with the "
                "earlier labels."
            )
        earlier = as_array(labels)
        if earlier.shape != self.labels_.shape or earlier.dtype.kind not in "iu":
            other = earlier.shape != self.labels_.shape and hasattr(type(self), "predict")
            remedy = "; for an earlier fit of other rows, use new.align(old.predict(X)) with the "
            raise ValueError(
                f"labels must be integers of shape {self.labels_.shape}, one per row of the fit, "
                f"got {earlier.dtype} of shape {earlier.shape}"
                + (f"{remedy}rows X of the new fit." if other else ".")
            )
        if self.n_clusters_ and earlier.max(initial=-1) >= 0:
            numbers = np.append(clusters.aligned(self.labels_, earlier), -1)  # -1 stays -1
            own = self._fitted.clusters
            own = np.arange(self._fitted.estimate.max() + 1) if own is None else own
            self._fitted = self._fitted._replace(clusters=numbers[own])
            self._fitted.posterior._attach(None)
            self.labels_ = self._fitted.all_rows(self._fitted.cluster_labels)
        return self

    def report(self) -> Report:
        """Summarise the results and their diagnostics, as text or as HTML in notebooks.

        Returns
        -------
        report : Report
            The results, and the diagnostics of the chains or runs.
        """
        check_is_fitted(self)
        return Report.of(self)

    def to_arviz(self, *, labels: bool = False) -> Any:
        """The traces as ArviZ data (a DataTree, or InferenceData before ArviZ 1.0).

        Parameters
        ----------
        labels : bool, default=False
            Whether to add the labels of every draw to the posterior group.

        Returns
        -------
        data : DataTree or InferenceData
            The traces of all chains.
        """
        check_is_fitted(self)
        return self.posterior_.to_arviz(labels=labels)
