"""The base class of all mixtures: validation of rows, and prediction for new rows."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Literal, Self, overload

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bnpcluster import densities
from bnpcluster._core import arguments
from bnpcluster._core.messages import MORE_DRAWS, MORE_PARTICLES, Action, Message, with_columns
from bnpcluster._estimators.base import Components, Sampled
from bnpcluster._estimators.clusters import assigned, limit, of_clusters, threshold, tree_of
from bnpcluster._estimators.dask_collections import (
    FitsElsewhere,
    by_block,
    is_dask,
    none,
    one_per_cluster,
)
from bnpcluster._estimators.described import Described
from bnpcluster._estimators.digits import count
from bnpcluster._estimators.encoding import Encoding, FrameLike, is_frame, with_values
from bnpcluster._estimators.hyper_parameters import (
    describe,
    described_parts,
    hyper_parameters,
)
from bnpcluster._estimators.reading import ReadsRows
from bnpcluster._fitting import smc_runs
from bnpcluster._fitting.constant_columns import listed
from bnpcluster._fitting.empty_rows import ABOUT_OTHERS, ObservedRows, without_values
from bnpcluster._fitting.fitted import Fitted, Outcome
from bnpcluster._fitting.wild_values import check_reach
from bnpcluster._predict.cluster_parameters import ParameterSource
from bnpcluster._predict.imputation import impute
from bnpcluster._predict.prediction_errors import PredictionErrors, errors_of
from bnpcluster._predict.predictive import (
    Prediction,
    in_chunks,
    joined,
    predict,
    sample,
    sample_by_draw,
    served,
    thinned,
)
from bnpcluster._predict.prior_predictive import sample_prior
from bnpcluster.densities import Density
from bnpcluster.likelihoods import LIKELIHOODS, Columns, Likelihood, PyClone
from bnpcluster.likelihoods.pyclone.genotypes import COLUMNS
from bnpcluster.partitions import MergeTree
from bnpcluster.samplers import SAMPLERS, ParticleSampler
from bnpcluster.samplers.base import check_operations

DATA_DEPENDENT = (
    "the hyper-parameters of the likelihood, or the centres of their hyper-priors, were guessed "
    "from the data, so the prior has seen the data: the evidence compares models with the same "
    "guess, and it is not a marginal likelihood under a prior chosen beforehand"
)
SEPARATELY = Action("predict(X) equals labels_", "bnpcluster predict agrees with labels.csv")
MUTATIONS_SEPARATELY = Action(
    SEPARATELY.python, "the most probable cluster of a mutation alone is that of labels.csv"
)
COMPARED_ROWS = 500  # the report compares predictions with the point estimate at so many rows
FEW_DRAWS = 20  # the report counts the rows whose predictions rest on fewer effective draws


def _takes_rows(model: Any) -> bool:
    """Whether the sampler can add rows. Raise an error with the reason if not."""
    sampler = SAMPLERS.get(model.sampler) if isinstance(model.sampler, str) else model.sampler
    if getattr(sampler, "weighted", False):
        return True
    raise AttributeError(
        "partial_fit needs a particle sampler: set sampler='urn_smc', for instance. Chains need "
        "all rows at once."
    )


class Mixture(
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    Described,
    ReadsRows,
    FitsElsewhere,
    Sampled,
):
    """Base class of the mixtures. A subclass defines a constructor and a method `_prior`."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        likelihood = self.likelihood
        if isinstance(likelihood, str):
            likelihood = LIKELIHOODS.get(likelihood)
        tags.input_tags.allow_nan = isinstance(likelihood, dict) or bool(
            getattr(likelihood, "takes_nan", False)
        )
        return tags

    def _likelihood(self) -> Likelihood:
        given = Columns(self.likelihood) if isinstance(self.likelihood, dict) else self.likelihood
        likelihood = arguments.component("likelihood", given, LIKELIHOODS, Likelihood)
        if not likelihood.is_of_rows:
            raise TypeError(
                f"{likelihood!r} is a likelihood for networks, not for rows: use "
                "InfiniteRelationalModel."
            )
        return likelihood

    def fit(self, X: Any, y: Any = None) -> Mixture:
        """Sample the posterior of the partition of the rows of `X`.

        Gaussian likelihoods leave out constant columns, with a warning. Rows without any value are
        left out, too. This changes nothing for the others, and their label is -1.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to cluster. The rows of a dask array or data frame stay on the workers of the dask
            client. `labels_` and predictions are dask arrays then.
        y : None
            Ignored; present for the interface of scikit-learn.

        Returns
        -------
        self
            The fitted estimator.
        """
        with self._unchanged_by_errors():
            if is_dask(X):
                return self._fit_elsewhere(X)
            likelihood, prior, sampler = self._components()
            X, likelihood, reading = self._read_rows(X, likelihood)
            components = (likelihood, prior, sampler)
            with with_columns(reading["constants"].names(self._names())):
                if isinstance(sampler, ParticleSampler):
                    return self._adopt(self._run_particles(X, components), **reading)
                init = reading["observed"].cut_labels(self.init)
                return self._adopt(self._run_chains(X, components, init), **reading)

    def _run_particles(self, X: np.ndarray, components: Components) -> Outcome:
        """Sample the posterior with weighted particles."""
        likelihood, prior, sampler = components
        if self.checkpoint is not None:
            remedy = Action("leave checkpoint at None", "leave out --checkpoint")
            name = type(sampler).__name__
            raise ValueError(
                Message(f"{name} makes one pass and keeps no checkpoints: ", remedy, ".")
            )
        prior = sampler.checked(prior)
        likelihood, bound = smc_runs.bind(X, likelihood, sampler)
        check_operations(sampler, bound, likelihood)
        return smc_runs.fit(self._task(X, (likelihood, prior, sampler)), bound)

    @available_if(_takes_rows)
    def partial_fit(self, X: Any, y: Any = None) -> Mixture:
        """Add rows to the particles. The first call is the same as `fit`.

        The result has the same distribution as a fit of all rows at once. Parameters that are
        "auto" keep the values chosen for the first batch. Columns that are constant in the first
        batch are left out of later ones, too.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Further rows.
        y : None
            Ignored; present for the interface of scikit-learn.

        Returns
        -------
        self
            The fitted estimator.
        """
        fitted: Fitted | None = getattr(self, "_fitted", None)
        if fitted is None or not fitted.runs:
            return self.fit(X)
        components = (fitted.likelihood, fitted.prior, fitted.sampler)
        rows = self._new_rows(X)
        with with_columns(fitted.constants.names(self._names())):
            check_reach(fitted.X, rows, fitted.likelihood)
        more = ObservedRows.of(rows)
        more.warn()
        outcome = smc_runs.extend(fitted, self._task(more.cut(rows), components))
        observed = fitted.observed.followed_by(more)
        return self._adopt(outcome, **{**fitted.reading, "observed": observed, "row_names": None})

    def _describe_data(self) -> dict[str, str]:
        found = {"data": self._describe_size() + self._describe_missing()}
        left_out = self._fitted.constants.columns
        if len(left_out):
            kept, names = self._fitted.columns, self._names()
            found["columns"] = (
                f"the density covers {listed(kept, names)}; constant, and so left out: "
                f"{listed(left_out, names)}"
            )
        observed = self._fitted.observed
        if len(observed.empty):
            one = len(observed.empty) == 1
            found["left out"] = Message(
                f"{len(observed.empty)} {'row' if one else 'rows'} without any value: ",
                observed.described(),
                f". {'Its' if one else 'Their'} label is -1. ",
                ABOUT_OTHERS,
            )
        return found

    def _describe_size(self) -> str:
        """The numbers of rows and columns, or of mutations and samples."""
        n, d = self.posterior_.n_items, self.n_features_in_
        if isinstance(self._fitted.likelihood, PyClone):
            samples = count(d // len(COLUMNS), "sample")
            return f"{count(n, 'mutation')} in {samples}"
        elsewhere, columns = self._fitted.elsewhere, count(d, "column")
        if elsewhere is not None:
            return (
                f"{count(elsewhere.n_rows, 'row')}, {columns}; posterior_ and what follows from it "
                f"are about {count(n, 'random row')} of these, reference_rows_"
            )
        return f"{count(n, 'row')}, {columns}"

    def _describe_missing(self) -> str:
        """How many cells of the modelled rows and columns are missing."""
        if isinstance(self._fitted.likelihood, PyClone):
            return ""  # whose rows are not the table that was given
        n = int(np.isnan(self._fitted.X).sum())
        return f", {n or 'no'} missing {'cell' if n == 1 else 'cells'}"

    def _describe_likelihood(self) -> str:
        names = self._fitted.constants.names(self._names())
        return described_parts(self._fitted.likelihood, names)

    def _describe_hyper_parameters(self) -> dict[str, str]:
        names = self._fitted.constants.names(self._names())
        return {**describe(self._fitted, names), **self._caution()}

    def _caution(self) -> dict[str, str]:
        """What to bear in mind if the evidence was computed under a prior from the data."""
        guessed = self._fitted.likelihood.is_guessed
        if not guessed or not hasattr(self, "log_evidence_"):
            return {}
        return {"caution": DATA_DEPENDENT}

    @property
    def hyper_parameters_(self) -> dict[str, Any]:
        """The hyper-parameters of the likelihood, in the units of the data.

        A learned one has its draws, with the chains and draws first. A fixed one has its value.
        """
        check_is_fitted(self)
        return hyper_parameters(self._fitted)

    def _describe_quality(self) -> dict[str, str]:
        some = slice(None, None, -(-self.posterior_.n_items // COMPARED_ROWS))
        rows = self._fitted.X[some]
        found = predict(self._served(rows), rows)
        labels = assigned(of_clusters(self._fitted, found.membership))
        agreement = np.mean(labels == self._fitted.cluster_labels[some])
        is_pyclone = isinstance(self._fitted.likelihood, PyClone)
        separately = MUTATIONS_SEPARATELY if is_pyclone else SEPARATELY
        return {
            "agreement": Message(separately, f" for {100 * agreement:.1f} % of the rows"),
            **self._describe_few_draws(found.ess),
        }

    def _describe_few_draws(self, ess: np.ndarray) -> dict[str, str]:
        """How many rows have too few effective draws, unless the fit has too few for any row."""
        few = int(np.sum(ess < FEW_DRAWS))
        if not few or self.posterior_.weights.size < FEW_DRAWS:
            return {}
        start = f"novelty and memberships of {few} of {len(ess)} rows rest on fewer than "
        if hasattr(self, "log_evidence_"):
            more = Message(start, f"{FEW_DRAWS} effective particles: ", MORE_PARTICLES)
        else:
            more = Message(start, f"{FEW_DRAWS} effective draws: ", MORE_DRAWS)
        return {"predictions": more}

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_

    def _served(self, X: np.ndarray | None) -> Fitted:
        """The fit, with bound data that can score the rows `X`, or columns if `X` is None."""
        check_is_fitted(self)
        return served(self._thinned(self._fitted), X)

    def _thinned(self, fitted: Fitted) -> Fitted:
        """A fit with no more draws than predictions use."""
        return thinned(fitted, limit("max_prediction_draws", self.max_prediction_draws))

    def _parameter_source(self, fitted: Fitted) -> ParameterSource:
        return ParameterSource(fitted, self._names())

    def _joins(self) -> tuple[float | None, int | None]:
        limit("max_prediction_draws", self.max_prediction_draws)
        return threshold(self.merge), limit("max_clusters", self.max_clusters)

    def _tree(self, fitted: Fitted) -> MergeTree:
        return tree_of(self._thinned(fitted))

    @property
    def merge_tree_(self) -> MergeTree:
        """How overlapping components are joined, down to a single cluster.

        It is computed at every access, unless `merge` or `max_clusters` needed it in the fit.
        """
        check_is_fitted(self)
        return self._tree(self._fitted) if self._fitted.tree is None else self._fitted.tree

    @property
    def observed_rows_(self) -> np.ndarray:
        """Numbers of the rows of the fit that have a value: the items of `posterior_`."""
        check_is_fitted(self)
        return self._fitted.observed.numbers

    def _predicted(self, X: np.ndarray, membership: bool = False) -> Prediction:
        """The posterior predictive at rows that were read already."""
        return joined(self._in_chunks(X, membership))

    def _in_chunks(self, X: np.ndarray, membership: bool) -> Iterator[Prediction]:
        """The predictions of rows that were read already, some rows after another."""
        with with_columns(self._fitted.constants.names(self._names())):
            yield from in_chunks(self._served(X), X, membership)

    def _memberships(self, X: np.ndarray) -> np.ndarray:
        """The memberships of clusters at rows that were read already."""
        return of_clusters(self._fitted, self._predicted(X, True).membership)

    @by_block(np.int32, none)
    def predict(self, X: Any) -> np.ndarray:
        """Predict the most probable cluster of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Numbers of clusters, as in `labels_`: those of largest `predict_proba`. The label is -1
            for rows without any value and, with `min_cluster_size`, for rows whose probabilities
            sum to less than 0.5. For a few rows of the training data they may differ from
            `labels_`: `predict` assigns each row separately, while `labels_` assigns all rows
            jointly. `report()` states the agreement.
        """
        rows = self._new_rows(X)
        parts = self._in_chunks(rows, True)
        labels = [assigned(of_clusters(self._fitted, part.membership)) for part in parts]
        return np.where(without_values(rows), -1, np.concatenate(labels))

    @by_block(np.float64, one_per_cluster)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict the probability of each cluster for each row.

        These are posterior probabilities given the training data and the row: each draw counts in
        proportion to the predictive density that it gives to the row. They are also conditional on
        the row being in one of the components of the point estimate. See `novelty` for the
        probability that it is in none. The probability of a cluster is the sum of those of its
        components.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_clusters)
            Rows sum to one, or with `min_cluster_size` to the probability of being in any of the
            large clusters.
        """
        return self._memberships(self._new_rows(X))

    @by_block(np.float64, one_per_cluster)
    def transform(self, X: Any) -> np.ndarray:
        """Return membership probabilities, the same as `predict_proba`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_clusters)
            See `predict_proba`.
        """
        return self.predict_proba(X)

    @by_block(np.float64, none)
    def score_samples(self, X: Any) -> np.ndarray:
        """Log posterior predictive density of each row.

        A column that was constant in the fit is not part of the density of Gaussian likelihoods.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to evaluate.

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
            The logarithm of the density, after averaging the density over draws.
        """
        return self._predicted(self._new_rows(X)).log_density

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log posterior predictive density of the rows. Higher is better.

        A column that was constant in the fit is not part of the density of Gaussian likelihoods.
        So scores of fits that left out different columns cannot be compared.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to evaluate.
        y : None
            Ignored; present for the interface of scikit-learn.

        Returns
        -------
        score : float
            The mean of `score_samples(X)`.
        """
        return float(np.mean(self.score_samples(X)))

    def prediction_errors(self, X: Any) -> PredictionErrors:
        """Monte Carlo standard errors of the predictions for some rows.

        They come from leaving out one twentieth of the draws after another. They tell how much the
        predictions would change with other draws of the same number. If they are too large, raise
        `max_prediction_draws`, and then `n_draws`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        errors : PredictionErrors
            `errors.log_density` and `errors.novelty` have shape (n_samples,), and
            `errors.probabilities` has shape (n_samples, n_clusters). They are of `score_samples`,
            `novelty` and `predict_proba`. NaN with a single draw.
        """
        rows = self._new_rows(X)
        with with_columns(self._fitted.constants.names(self._names())):
            return errors_of(self._served(rows), rows, partial(of_clusters, self._fitted))

    @overload
    def novelty(self, X: Any, return_ess: Literal[False] = False) -> np.ndarray: ...

    @overload
    def novelty(self, X: Any, return_ess: Literal[True]) -> tuple[np.ndarray, np.ndarray]: ...

    @by_block(np.float64, none)
    def novelty(
        self, X: Any, return_ess: bool = False
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Probability that each row belongs to a new cluster, unseen in training.

        This is the posterior probability given the training data and the row: each draw counts in
        proportion to the predictive density that it gives to the row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to evaluate.
        return_ess : bool, default=False
            Whether to return the effective number of draws, too.

        Returns
        -------
        novelty : ndarray of shape (n_samples,)
            Probabilities.
        ess : ndarray of shape (n_samples,)
            Effective number of draws that the novelty and the memberships of each row rest on:
            the squared sum of the weights of the draws, given the row, over the sum of their
            squares. It is 1 if one draw has all the weight. It does not count the
            autocorrelation of chains. If it is small, raise `n_draws`. Only returned if
            `return_ess` is True.
        """
        found = self._predicted(self._new_rows(X))
        return (found.novelty, found.ess) if return_ess else found.novelty

    def impute(self, X: Any = None) -> Any:
        """Replace missing entries by their posterior mean, given the observed entries.

        The mean is over draws and clusters, without random numbers. Observed entries do not change.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            Rows with NaN. None means the data of the fit. Rows of the fit use their own clusters
            in each draw. Other rows are treated as new rows, as in `predict`. A constant column
            that was left out of the fit is filled with its constant.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features), or a data frame like the one given
            The rows without NaN. The mean is the probability of a 1 for ``"bernoulli"``.
            ``"categorical"`` gives the most probable category instead.
        """
        check_is_fitted(self)
        constants, own = self._fitted.constants, self._fitted.all_rows(self._fitted.X, np.nan)
        table = constants.restored(own) if X is None else self._new_table(X)
        rows = constants.cut(table)
        filled = self._filled(rows, np.array_equal(rows, own, equal_nan=True))
        filled = constants.restored(filled, table)
        if X is None or not is_frame(X):
            return filled
        return with_values(X, table, filled, self._fitted.encoding)

    def _filled(self, rows: np.ndarray, own: bool) -> np.ndarray:
        """Rows without missing entries; `own`: they are the rows of the fit."""
        if not own:
            return impute(self._served(rows), rows)
        observed, filled = self._fitted.observed, rows.copy()
        members = np.arange(len(observed.numbers))
        for some, items in ((observed.numbers, members), (observed.empty, None)):
            if len(some):  # rows without values are no items of the fit
                filled[some] = impute(self._served(rows[some]), rows[some], items)
        return filled

    def sample(self, n: int = 1, random_state: Any = None, *, by_draw: bool = False) -> Any:
        """Draw new rows from the posterior predictive distribution.

        Parameters
        ----------
        n : int, default=1
            Number of rows to draw.
        random_state : None, int, RandomState or Generator, default=None
            Pass an int for reproducible rows.
        by_draw : bool, default=False
            Whether to draw `n` rows from each draw of the posterior, for posterior predictive
            checks. By default every row comes from a draw of its own.

        Returns
        -------
        X : ndarray of shape (n, n_features), or a data frame
            The new rows. If the fit had a data frame of pandas, they are one, with its columns and
            categories. A constant column that was left out of the fit has its constant. With
            `by_draw`, an array has shape (n_chains, n_draws, n, n_features), and a data frame has
            an index of chain, draw and row. In arrays, categories are codes: their positions from
            0 in the sorted categories of the fit.
        """
        check_is_fitted(self)
        rng = np.random.default_rng(arguments.seed_sequence(random_state))
        fitted, n = self._fitted, arguments.count("n", n, 1)
        if by_draw:
            rows = fitted.constants.restored(sample_by_draw(fitted, n, rng))
            rows = rows.reshape(*self.posterior_.weights.shape, n, -1)
            if fitted.frame is None:
                return rows
            return fitted.frame.stacked(rows, fitted.encoding, ["chain", "draw", "row"])
        rows = fitted.constants.restored(sample(fitted, n, rng))
        return rows if fitted.frame is None else fitted.frame.filled(rows, fitted.encoding)

    def sample_prior(self, X: Any, n: int = 1, random_state: Any = None) -> Any:
        """Draw data sets from the prior, to see what the model expects before a fit.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data that give the number of rows and columns, and the guesses of hyper-parameters that
            are "auto". The model is not fitted to them.
        n : int, default=1
            Number of data sets.
        random_state : None, int, RandomState or Generator, default=None
            Pass an int for reproducible data.

        Returns
        -------
        sets : ndarray of shape (n, n_samples, n_features), or a data frame
            The data sets. If `X` is a data frame of pandas, they are one, with its columns and
            categories, and an index of set and row. In arrays, categories are codes: their
            positions from 0 in the sorted categories of X. Constant columns have their constant
            where a fit would leave them out, and rows without any value are left out.

        Examples
        --------
        >>> import numpy as np
        >>> from bnpcluster import DPMixture
        >>> X = np.random.default_rng(0).normal(size=(30, 2))
        >>> DPMixture().sample_prior(X, 5, random_state=0).shape
        (5, 30, 2)
        """
        rng = np.random.default_rng(arguments.seed_sequence(random_state))
        model = clone(self)
        likelihood, prior, _ = model._components()
        rows, likelihood, read = model._read_rows(X, likelihood)
        if isinstance(likelihood, PyClone):
            raise TypeError("sample_prior has no depth of reads to draw mutations with.")
        n = arguments.count("n", n, 1)
        drawn = sample_prior(likelihood, prior, rows, n, rng).reshape(-1, rows.shape[1])
        sets = read["constants"].restored(drawn).reshape(n, len(rows), -1)
        frame: FrameLike | None = read["frame"]
        return sets if frame is None else frame.stacked(sets, read["encoding"], ["set", "row"])

    def marginal(self, columns: Any) -> Density:
        """The posterior predictive density of some columns, for Gaussian likelihoods.

        Parameters
        ----------
        columns : int, str, list of them, or slice
            Numbers or names of columns of the data. A constant column that was left out of the fit
            has no density.

        Returns
        -------
        density : Density
            An object with methods `score_samples`, `score`, `mean` and `sample`.
        """
        return densities.marginal(self._served(None), columns, self._names())

    def conditional(self, given: dict, columns: Any = None) -> Density:
        """The density of some columns given values of others, for Gaussian likelihoods.

        Parameters
        ----------
        given : dict
            Values by number or name of a column. A value can be an array with one entry per row.
            The mean of the density is then a regression with one prediction per row.
        columns : int, str or list of them, optional
            Columns of the density. By default, all columns that are not in `given`.

        Returns
        -------
        density : Density
            An object with methods `score_samples`, `score`, `mean` and `sample`.
        """
        return densities.conditional(self._served(None), given, columns, self._names())

    def _names(self) -> Any:
        return getattr(self, "feature_names_in_", None)

    def _carried(self) -> Self:
        """A copy for predictions elsewhere: without messages, and labels of perhaps all rows."""
        model, fitted = copy.copy(self), self._thinned(self._fitted)
        model.__dict__.pop("labels_", None)
        if fitted.elsewhere is not None:
            fitted = fitted._replace(elsewhere=fitted.elsewhere.without_messages())
        model._fitted = fitted
        return model

    def _named(
        self, columns: Sequence[str], categories: dict[int, list], rows: Sequence[Any]
    ) -> Self:
        """A copy for reports and pictures, in which columns, categories and rows have names."""
        model, fitted = copy.copy(self), self._fitted
        encoding = Encoding.of_categories(columns, categories) if categories else fitted.encoding
        posterior = copy.copy(fitted.posterior)
        posterior._attach(None)
        model.feature_names_in_ = np.array(columns, dtype=object)
        model._fitted = fitted._replace(
            encoding=encoding, row_names=list(rows), posterior=posterior
        )
        return model
