"""What all mixtures share: data in rows, and prediction for new ones from the posterior's draws."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from bnpcluster import _resolve, _smc_fit
from bnpcluster._sampling import Sampled
from bnpcluster.likelihoods import LIKELIHOODS, Likelihood
from bnpcluster.prediction import Fitted, Prediction, predict, sample, urn_weights
from bnpcluster.samplers import SAMPLERS, ParticleSampler

ROWS = 500  # rows whose prediction the report compares with the point estimate


def _takes_rows(model: Any) -> bool:
    """Whether the sampler can take further rows; the reason if not."""
    sampler = SAMPLERS.get(model.sampler) if isinstance(model.sampler, str) else model.sampler
    if getattr(sampler, "weighted", False):
        return True
    raise AttributeError("partial_fit needs a sampler with particles, such as sampler='urn_smc'.")


class Mixture(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Sampled):
    """Base class of the mixtures. A subclass has a constructor and a method `_prior`."""

    def _law(self) -> Likelihood:
        likelihood = _resolve.component("likelihood", self.likelihood, LIKELIHOODS, Likelihood)
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
        if isinstance(components[2], ParticleSampler):
            return _smc_fit.fit(self, X, *components)
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
        return _smc_fit.extend(self, self._checked(X, reset=False))

    def _checked(self, X: Any, reset: bool) -> np.ndarray:
        likelihood = self._law() if reset else self._likelihood
        try:
            return validate_data(
                self,
                likelihood.table(X),
                reset=reset,
                dtype=np.float64,
                ensure_all_finite="allow-nan" if likelihood.takes_nan else True,
                ensure_min_samples=2 if reset else 1,
            )
        except ValueError as error:
            if "contains NaN" in str(error):
                raise ValueError(
                    "Input X contains NaN. Remove the rows or columns with missing values, or fill "
                    "them in first, for instance with sklearn's SimpleImputer."
                ) from None
            if "could not convert string to float" not in str(error):
                raise
            raise ValueError(
                f"X contains text ({str(error).rsplit(':', 1)[-1].strip()}): encode it as numbers "
                "first, for instance with sklearn's OrdinalEncoder; likelihood='categorical' "
                "takes its codes."
            ) from None

    def _prepare_prediction(self) -> None:
        self._log_urn = urn_weights(self._fitted_prior, self.posterior_)

    def _described(self) -> dict[str, str]:
        return {"data": f"{self.posterior_.n_items} rows, {self.n_features_in_} columns"}

    def _judged(self) -> dict[str, str]:
        some = slice(None, None, -(-self.posterior_.n_items // ROWS))
        membership = predict(self._fitted(), self._X[some]).membership
        agreement = np.mean(membership.argmax(axis=1) == self.labels_[some])
        return {"agreement": f"predict(X) equals labels_ at {100 * agreement:.1f} % of the rows"}

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_

    def _fitted(self) -> Fitted:
        check_is_fitted(self)
        return Fitted(self._likelihood, self._bound, self.posterior_, self._log_urn, self.labels_)

    def _predicted(self, X: Any) -> Prediction:
        check_is_fitted(self)
        return predict(self._fitted(), self._checked(X, reset=False))

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
        rng = np.random.default_rng(_resolve.seed_sequence(random_state))
        return sample(self._fitted(), _resolve.count("n", n, 1), rng)
