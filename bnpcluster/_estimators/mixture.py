"""What all mixtures share: data in rows, and prediction for new ones from the posterior's draws."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from bnpcluster import densities
from bnpcluster._core import arguments
from bnpcluster._core.messages import with_columns
from bnpcluster._estimators.base import Components, Sampled
from bnpcluster._estimators.encoding import (
    Encoding,
    check_dates,
    first_word,
    is_frame,
    with_values,
)
from bnpcluster._fitting import smc_runs
from bnpcluster._fitting.fitted import Fitted, Outcome
from bnpcluster._predict.imputation import impute
from bnpcluster._predict.predictive import Prediction, imputed, predict, sample
from bnpcluster.densities import Density
from bnpcluster.likelihoods import LIKELIHOODS, Columns, Likelihood
from bnpcluster.likelihoods.base import check_observed
from bnpcluster.samplers import SAMPLERS, ParticleSampler
from bnpcluster.samplers.base import check_operations

ROWS = 500  # rows whose prediction the report compares with the point estimate


def _takes_rows(model: Any) -> bool:
    """Whether the sampler can take further rows; the reason if not."""
    sampler = SAMPLERS.get(model.sampler) if isinstance(model.sampler, str) else model.sampler
    if getattr(sampler, "weighted", False):
        return True
    raise AttributeError("partial_fit needs a sampler with particles, such as sampler='urn_smc'.")


class Mixture(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Sampled):
    """Base class of the mixtures. A subclass has a constructor and a method `_prior`."""

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

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        likelihood, prior, sampler = self._components()
        X, likelihood, encoding = self._read(X, likelihood)
        components = (likelihood, prior, sampler)
        with with_columns(self._names()):
            if isinstance(sampler, ParticleSampler):
                return self._adopt(self._run_particles(X, components), encoding=encoding)
            return self._adopt(self._run_chains(X, components), encoding=encoding)

    def _run_particles(self, X: np.ndarray, components: Components) -> Outcome:
        """Sample the posterior by weighted particles."""
        likelihood, prior, sampler = components
        if self.checkpoint is not None:
            raise ValueError(
                f"{type(sampler).__name__} makes one pass and keeps no checkpoints: leave "
                "checkpoint at None."
            )
        prior = sampler.checked(prior)
        bound = likelihood.bind(X)
        check_operations(sampler, bound, likelihood)
        return smc_runs.fit(self._task(X, (likelihood, prior, sampler)), bound)

    @available_if(_takes_rows)
    def partial_fit(self, X: Any, y: Any = None) -> Mixture:
        """Let the particles take further rows; the first call is a `fit`.

        The result has the same law as a fit of all rows at once, with the hyper-parameters that
        "auto" stood for at the first batch.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        fitted: Fitted | None = getattr(self, "_fitted", None)
        if fitted is None or not fitted.runs:
            return self.fit(X)
        components = (fitted.likelihood, fitted.prior, fitted.sampler)
        task = self._task(self._new_rows(X), components)
        return self._adopt(smc_runs.extend(fitted, task), encoding=fitted.encoding)

    def _read(
        self, X: Any, likelihood: Likelihood
    ) -> tuple[np.ndarray, Likelihood, Encoding | None]:
        """The rows of a fit as valid numbers, a likelihood for them, and how they were read."""
        encoding = None
        if isinstance(likelihood, Columns):
            table = self._table(X, reset=True)
            encoding = Encoding(table)
            likelihood = likelihood.resolved(encoding.names, encoding.kinds, X)
            X = self._numbers(encoding.encode(table), likelihood, True, encoded=True)
        else:
            check_dates(X)
            X = self._numbers(likelihood.table(X, None), likelihood, True)
        with with_columns(self._names()):
            check_observed(X)
        return X.copy(), likelihood, encoding

    def _new_rows(self, X: Any) -> np.ndarray:
        """New rows as valid numbers, read as those of the fit were."""
        check_is_fitted(self)
        likelihood, encoding = self._fitted.likelihood, self._fitted.encoding
        if encoding is not None:
            X = encoding.encode(self._table(X, reset=False))
            return self._numbers(X, likelihood, False, encoded=True)
        check_dates(X)
        return self._numbers(likelihood.table(X, self._names()), likelihood, False)

    def _numbers(
        self, X: Any, likelihood: Likelihood, reset: bool, encoded: bool = False
    ) -> np.ndarray:
        """Rows as an array of floats, or one sentence about what they hold."""
        settings: dict[str, Any] = {
            "dtype": np.float64,
            "ensure_min_samples": 2 if reset else 1,
            "ensure_all_finite": "allow-nan",
        }
        try:
            if encoded:
                rows = check_array(X, **settings)
            else:
                rows = validate_data(self, X, reset=reset, **settings)
        except ValueError as error:
            word = first_word(X)
            if word is None:
                raise
            raise ValueError(
                f"X contains text ({word!r}): encode it as numbers first, for instance with "
                "sklearn's OrdinalEncoder; likelihood='categorical' takes its codes, and "
                "likelihood='columns' the text of data frames."
            ) from error
        if not likelihood.takes_nan and np.isnan(rows).any():
            raise ValueError(
                f"Input X contains NaN, which {type(likelihood).__name__} cannot take. Remove "
                "the rows or columns with missing values, fill them in first, for instance "
                "with sklearn's SimpleImputer, or use a likelihood that integrates them out, "
                "such as 'nig'."
            )
        return rows

    def _table(self, X: Any, reset: bool) -> Any:
        """A table of mixed columns; their names and how many they are is checked, too."""
        validate_data(self, X, reset=reset, skip_check_array=True)
        check_dates(X)
        if is_frame(X):
            return X
        listed = isinstance(X, (list, tuple))
        return check_array(
            np.array(X, object) if listed else X, dtype=None, ensure_all_finite=False
        )

    def _described(self) -> dict[str, str]:
        return {"data": f"{self.posterior_.n_items} rows, {self.n_features_in_} columns"}

    def _judged(self) -> dict[str, str]:
        some = slice(None, None, -(-self.posterior_.n_items // ROWS))
        rows = self._fitted.X[some]
        membership = predict(self._served(rows), rows).membership
        agreement = np.mean(membership.argmax(axis=1) == self.labels_[some])
        return {"agreement": f"predict(X) equals labels_ at {100 * agreement:.1f} % of the rows"}

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_

    def _served(self, X: np.ndarray | None) -> Fitted:
        """The fit, with slots that can be compared with the valid rows `X`; None: with columns."""
        check_is_fitted(self)
        fitted = self._fitted
        likelihood, rows = fitted.likelihood, fitted.X
        if X is not None and np.isnan(X).any():
            fitted = fitted._replace(bound=likelihood.bind_observed(rows))
        return fitted if likelihood.serves(fitted.bound, X) else imputed(fitted, rows)

    def _predicted(self, X: Any) -> Prediction:
        X = self._new_rows(X)
        with with_columns(self._names()):
            return predict(self._served(X), X)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable cluster of each row, among the clusters of the point estimate.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            For the rows of the training data this may differ from `labels_` at a few rows: here
            each row is judged by itself, there all rows at once. `report()` states the agreement.
        """
        return self.predict_proba(X).argmax(axis=1)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each cluster of the point estimate, given that a row is in one of them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_clusters)
            Rows sum to one.
        """
        return self._predicted(X).membership

    def transform(self, X: Any) -> np.ndarray:
        """Membership probabilities: the same as `predict_proba`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_clusters)
        """
        return self.predict_proba(X)

    def score_samples(self, X: Any) -> np.ndarray:
        """Log posterior predictive density of each row, averaged over draws as a density.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
        """
        return self._predicted(X).log_density

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log posterior predictive density of the rows; higher is better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        score : float
        """
        return float(np.mean(self.score_samples(X)))

    def novelty(self, X: Any) -> np.ndarray:
        """Probability that each row belongs to none of the clusters seen in training.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        novelty : ndarray of shape (n_samples,)
        """
        return self._predicted(X).novelty

    def impute(self, X: Any = None) -> Any:
        """Fill in missing entries by what the posterior expects, given the observed ones.

        Averages over draws and clusters; nothing is drawn at random. Observed entries are left as
        they are.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            Rows with NaN. None, or the data of the fit again: the rows of the fit, each within its
            clusters in the draws. Other rows are new ones, as in `predict`.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features), or a data frame like the one given
            Means in place of NaN: probabilities of a 1 for ``"bernoulli"``, the most probable
            category for ``"categorical"``.
        """
        check_is_fitted(self)
        rows = self._fitted.X if X is None else self._new_rows(X)
        own = np.array_equal(rows, self._fitted.X, equal_nan=True)
        filled = impute(self._served(rows), rows, np.arange(len(rows)) if own else None)
        if X is None or not is_frame(X):
            return filled
        return with_values(X, rows, filled, self._fitted.encoding)

    def sample(self, n: int = 1, random_state: Any = None) -> np.ndarray:
        """Draw new rows from the posterior predictive distribution.

        Parameters
        ----------
        n : int, default=1
        random_state : None, int, RandomState or Generator

        Returns
        -------
        X : ndarray of shape (n, n_features)
        """
        check_is_fitted(self)
        rng = np.random.default_rng(arguments.seed_sequence(random_state))
        return sample(self._fitted, arguments.count("n", n, 1), rng)

    def marginal(self, columns: Any) -> Density:
        """The posterior predictive density of some columns; for Gaussian likelihoods.

        Parameters
        ----------
        columns : int, str, list of them, or slice
            Numbers or names of columns.

        Returns
        -------
        density : Density
            With `score_samples`, `score`, `mean` and `sample`.
        """
        return densities.marginal(self._served(None), columns, self._names())

    def conditional(self, given: dict, columns: Any = None) -> Density:
        """The density of columns of new rows given values of others; for Gaussian likelihoods.

        Parameters
        ----------
        given : dict
            From the number or name of a column to its value, or to an array of values, one per row:
            then the mean of the density is a regression, one prediction per row.
        columns : int, str or list of them, optional
            The columns wanted; by default all that are not given.

        Returns
        -------
        density : Density
            With `score_samples`, `score`, `mean` and `sample`.
        """
        return densities.conditional(self._served(None), given, columns, self._names())

    def _names(self) -> Any:
        return getattr(self, "feature_names_in_", None)
