"""What all mixtures share: data in rows, and prediction for new ones from the posterior's draws."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from bnpcluster import densities
from bnpcluster._core import arguments
from bnpcluster._estimators.base import Sampled
from bnpcluster._estimators.encoding import Encoding, check_dates, is_frame, with_values
from bnpcluster._fitting import smc_runs
from bnpcluster._predict.imputation import impute
from bnpcluster._predict.predictive import Fitted, Prediction, imputed, predict, sample, urn_weights
from bnpcluster.densities import Density
from bnpcluster.likelihoods import LIKELIHOODS, Columns, Likelihood
from bnpcluster.likelihoods.base import check_observed
from bnpcluster.priors import Prior
from bnpcluster.samplers import SAMPLERS, ParticleSampler, Sampler

ROWS = 500  # rows whose prediction the report compares with the point estimate


def _takes_rows(model: Any) -> bool:
    """Whether the sampler can take further rows; the reason if not."""
    sampler = SAMPLERS.get(model.sampler) if isinstance(model.sampler, str) else model.sampler
    if getattr(sampler, "weighted", False):
        return True
    raise AttributeError("partial_fit needs a sampler with particles, such as sampler='urn_smc'.")


class Mixture(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Sampled):
    """Base class of the mixtures. A subclass has a constructor and a method `_prior`."""

    _encoding: Encoding | None = None  # of mixed columns, with the likelihood for them
    _columns: Columns | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        likelihood = self.likelihood
        if isinstance(likelihood, str):
            likelihood = LIKELIHOODS.get(likelihood)
        tags.input_tags.allow_nan = isinstance(likelihood, dict) or bool(
            getattr(likelihood, "takes_nan", False)
        )
        return tags

    def _law(self) -> Likelihood:
        given = Columns(self.likelihood) if isinstance(self.likelihood, dict) else self.likelihood
        likelihood = arguments.component("likelihood", given, LIKELIHOODS, Likelihood)
        if not likelihood.is_of_rows:
            raise TypeError(
                f"{likelihood!r} is a law of networks, not of rows: use InfiniteRelationalModel."
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
        X = self._checked(X, reset=True)
        components = self._components()
        with arguments.with_columns(self._names()):
            if isinstance(components[2], ParticleSampler):
                return smc_runs.fit(self, X, *components)
            return self._fit(X)

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
        if not getattr(self, "_runs", None):
            return self.fit(X)
        return smc_runs.extend(self, self._checked(X, reset=False))

    def _checked(self, X: Any, reset: bool) -> np.ndarray:
        likelihood = self._law() if reset else self._likelihood
        if isinstance(likelihood, Columns):
            X = self._encoded(X, likelihood, reset)
        elif reset:
            self._encoding = self._columns = None
        settings: dict[str, Any] = {
            "dtype": np.float64,
            "ensure_min_samples": 2 if reset else 1,
            "ensure_all_finite": "allow-nan" if likelihood.takes_nan else True,
        }
        check_dates(X)
        try:
            X = likelihood.table(X, None if reset else self._names())
            if self._encoding is not None:
                X = check_array(X, **settings)
            else:
                X = validate_data(self, X, reset=reset, **settings)
        except ValueError as error:
            if "contains NaN" in str(error):
                raise ValueError(
                    f"Input X contains NaN, which {type(likelihood).__name__} cannot take. Remove "
                    "the rows or columns with missing values, fill them in first, for instance "
                    "with sklearn's SimpleImputer, or use a likelihood that integrates them out, "
                    "such as 'nig'."
                ) from None
            if "could not convert string to float" not in str(error):
                raise
            raise ValueError(
                f"X contains text ({str(error).rsplit(':', 1)[-1].strip()}): encode it as numbers "
                "first, for instance with sklearn's OrdinalEncoder; likelihood='categorical' "
                "takes its codes, and likelihood='columns' the text of data frames."
            ) from None
        if reset:
            with arguments.with_columns(self._names()):
                check_observed(X)
        return X

    def _encoded(self, X: Any, likelihood: Columns, reset: bool) -> np.ndarray:
        """Mixed columns as numbers; their names and how many they are is checked, too."""
        validate_data(self, X, reset=reset, skip_check_array=True)
        table = X
        if not is_frame(X):
            listed = isinstance(X, (list, tuple))
            table = check_array(
                np.array(X, object) if listed else X, dtype=None, ensure_all_finite=False
            )
        if reset:
            self._encoding = Encoding(table)
            self._columns = likelihood.resolved(self._encoding.names, self._encoding.kinds, X)
        assert self._encoding is not None
        return self._encoding.encode(table)

    def _components(self) -> tuple[Likelihood, Prior, Sampler]:
        likelihood, prior, sampler = super()._components()
        return self._columns or likelihood, prior, sampler

    def _prepare_prediction(self) -> None:
        self._log_urn = urn_weights(self._fitted_prior, self.posterior_)

    def _described(self) -> dict[str, str]:
        return {"data": f"{self.posterior_.n_items} rows, {self.n_features_in_} columns"}

    def _judged(self) -> dict[str, str]:
        some = slice(None, None, -(-self.posterior_.n_items // ROWS))
        membership = predict(self._fitted_for(self._X[some]), self._X[some]).membership
        agreement = np.mean(membership.argmax(axis=1) == self.labels_[some])
        return {"agreement": f"predict(X) equals labels_ at {100 * agreement:.1f} % of the rows"}

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_

    def _fitted(self) -> Fitted:
        check_is_fitted(self)
        latent = self._latent
        if latent is not None:
            latent = latent.reshape(-1, latent.shape[-1])
        what = (self._likelihood, self._bound, self.posterior_, self._log_urn, self.labels_)
        return Fitted(*what, latent)

    def _fitted_for(self, X: np.ndarray | None) -> Fitted:
        """The fit, with slots that can be compared with the valid rows `X`; None: with columns."""
        fitted = self._fitted()
        if X is not None and np.isnan(X).any():
            fitted = fitted._replace(bound=self._likelihood.bind_observed(self._X))
        served = self._likelihood.serves(fitted.bound, X)
        return fitted if served else imputed(fitted, self._X)

    def _predicted(self, X: Any) -> Prediction:
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        with arguments.with_columns(self._names()):
            return predict(self._fitted_for(X), X)

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
        rows = self._X if X is None else self._checked(X, reset=False)
        own = np.array_equal(rows, self._X, equal_nan=True)
        filled = impute(self._fitted_for(rows), rows, np.arange(len(rows)) if own else None)
        if X is None or not is_frame(X):
            return filled
        return with_values(X, rows, filled, self._encoding)

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
        rng = np.random.default_rng(arguments.seed_sequence(random_state))
        return sample(self._fitted(), arguments.count("n", n, 1), rng)

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
        return densities.marginal(self._fitted_for(None), columns, self._names())

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
        return densities.conditional(self._fitted_for(None), given, columns, self._names())

    def _names(self) -> Any:
        return getattr(self, "feature_names_in_", None)
