"""What a fitted mixture says about its clusters: their parameters, a table, and strange rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bnpcluster._estimators import exports
from bnpcluster._estimators.cluster_lines import ONE
from bnpcluster._estimators.columns_of_clusters import LEVEL, columns_of
from bnpcluster._estimators.dask_collections import by_block, none
from bnpcluster._estimators.description import Description, first_lines, typical_rows
from bnpcluster._fitting.fitted import Fitted
from bnpcluster._predict.cluster_parameters import spaced
from bnpcluster._predict.leave_one_out import given_others, left_out, strangeness
from bnpcluster._predict.predictive import Prediction
from bnpcluster.likelihoods import PyClone
from bnpcluster.likelihoods.pyclone.tables import samples_of
from bnpcluster.partitions.memberships import own_membership

TYPICAL_DRAWS = 20  # typical rows are found from the density under so many draws
MOST_DRAWS = 200  # and densities of rows given the others from so many


class Described:
    """The part of a mixture that describes its clusters."""

    _fitted: Fitted
    posterior_: Any
    _names: Callable[[], Any]
    _new_rows: Callable[[Any], np.ndarray]
    _predicted: Callable[[np.ndarray], Prediction]
    _items: str

    @property
    def _counted(self) -> str:
        return "mutations" if isinstance(self._fitted.likelihood, PyClone) else self._items

    @property
    def weights_(self) -> np.ndarray:
        """Posterior means of the weights of the clusters; the rest is that of all others.

        This and the other parameters of the clusters are computed at the first access. See
        `posterior_.parameters` for draws and intervals, and for what they mean.
        """
        return self._mean_of("weights")

    @property
    def means_(self) -> Any:
        """Posterior means of the means of the clusters, for Gaussian columns.

        Mixed columns have a dict of arrays by column. The same holds for the other parameters.
        """
        return self._mean_of("means")

    @property
    def covariances_(self) -> np.ndarray:
        """Posterior means of the covariances of the clusters, for likelihood "niw"."""
        return self._mean_of("covariances")

    @property
    def variances_(self) -> Any:
        """Posterior means of the variances of the clusters, for "nig" and mixed columns."""
        return self._mean_of("variances")

    @property
    def rates_(self) -> Any:
        """Posterior means of the rates of the clusters, for counts."""
        return self._mean_of("rates")

    @property
    def probabilities_(self) -> Any:
        """Posterior means of the probabilities of the clusters, for 0/1 values and categories.

        Categories have a dict of arrays by column, with one probability per category.
        """
        return self._mean_of("probabilities")

    @property
    def prevalences_(self) -> np.ndarray:
        """Posterior means of the prevalences of the clusters by sample, for mutations."""
        return self._mean_of("prevalences")

    def _mean_of(self, name: str) -> Any:
        check_is_fitted(self)
        found = self.posterior_.parameters()
        if name not in found:
            more = " See predict_proba for memberships of rows." if name == "probabilities" else ""
            raise AttributeError(
                f"The clusters of this model have no {name}, but {', '.join(found)}.{more}"
            )
        return found.mean(name)

    def describe(self) -> Any:
        """Describe each cluster: its size, what its columns are like, and what tells it apart.

        Returns
        -------
        table : pandas.DataFrame
            One row per cluster. Without pandas, a small table with the same columns, which prints.
            They are

            - ``size``: the number of its rows;
            - ``share``, with the interval ``share_low`` to ``share_high``: its weight;
            - ``certainty``: how surely its rows belong to it, on average;
            - ``told_by``: the columns that tell it apart from all others, each with the share of
              the membership that the column tells by itself. 100 % means that the column suffices;
            - ``typical_rows``: names or numbers of its rows of the highest density. Rows with
              missing entries are named only if there are no others;
            - for each column of the data ``NAME`` (the mean, the rate or the probability), its
              interval ``NAME_low`` to ``NAME_high`` and, for measurements, ``NAME_spread`` (the
              standard deviation within the cluster). Categories have one column of text: the
              commonest ones with their probabilities.

            Intervals have posterior probability 0.9. See `posterior_.parameters` for what they
            mean.

        Examples
        --------
        >>> import numpy as np
        >>> from bnpcluster import DPMixture
        >>> rng = np.random.default_rng(0)
        >>> X = np.repeat([[0.0, 0.0], [9.0, 0.0]], [60, 40], axis=0) + rng.normal(size=(100, 2))
        >>> table = DPMixture(random_state=0).fit(X).describe()
        >>> list(table["size"]), [text.split()[0] for text in table["told_by"]]
        ([60, 40], ['0', '0'])
        """
        return self._description(with_rows=True).table().to_pandas()

    def _description(self, with_rows: bool = False) -> Description:
        """What each cluster is; the search for typical rows takes longer."""
        check_is_fitted(self)
        fitted, found = self._fitted, self.posterior_.parameters()
        labels = fitted.cluster_labels
        low, high = found.interval("weights", LEVEL)
        columns = columns_of(found, *self._column_names())
        weights = found.mean("weights")
        told = np.array([column.tells(weights) for column in columns]).T
        inside = labels >= 0
        sure = np.zeros(len(labels))
        sure[inside] = own_membership(self.posterior_, labels)[inside]
        sizes = np.bincount(labels[inside], minlength=len(weights)) * fitted.rows_per_item
        return Description(
            sizes=np.rint(sizes).astype(np.intp),
            share=weights,
            low=low,
            high=high,
            certainty=np.bincount(labels[inside], weights=sure[inside])
            / np.bincount(labels[inside]),
            columns=columns,
            told=told,
            typical=self._typical_rows(labels, sure) if with_rows else [],
        )

    def _describe_each_cluster(self) -> dict[str, str]:
        """One line of the report for each of the largest clusters."""
        return first_lines(self._description().lines(ONE[self._counted]))

    def _typical_rows(self, labels: np.ndarray, sure: np.ndarray) -> list[list]:
        """Rows of the highest density in each cluster, unless they hardly belong to it."""
        draws = spaced(self.posterior_.weights.shape, TYPICAL_DRAWS)
        height = left_out(self._fitted, draws).mean(axis=0) + np.log(np.maximum(sure, 1e-300))
        n_missing = np.isnan(self._fitted.X).sum(axis=1)
        return typical_rows(labels, height, self._row_names(), n_missing)

    def _column_names(self) -> tuple[Any, dict[Any, list], int]:
        """Names of all columns, if they have any; names of categories; the number of columns."""
        names, encoding, n = self._names(), self._fitted.encoding, self._fitted.n_columns
        if isinstance(self._fitted.likelihood, PyClone):
            names = samples_of(names)
        known = {} if encoding is None else encoding.categories
        categories = {j if names is None else names[j]: values for j, values in known.items()}
        return names, categories, n

    def _row_names(self) -> Any:
        """Names of the rows of the fit, if the table had any."""
        numbers = self._fitted.observed.numbers
        names = self._fitted.row_names
        return numbers if names is None else [names[i] for i in numbers]

    def to_arviz(
        self,
        *,
        labels: bool = False,
        parameters: bool = False,
        log_likelihood: bool = False,
        observed: bool = False,
        predictive: bool = False,
    ) -> Any:
        """The draws as ArviZ data (a DataTree, or InferenceData before ArviZ 1.0).

        Parameters
        ----------
        labels : bool, default=False
            Whether to add the labels of every draw, with dimension "item": the number of the row in
            the data of the fit. Their values are not comparable across draws.
        parameters : bool, default=False
            Whether to add the parameters of the clusters, with dimension "cluster"; see
            `posterior_.parameters`.
        log_likelihood : bool, default=False
            Whether to add the log density of every row, given all other rows and their clusters in
            the draw. This is what ``arviz.loo`` needs to estimate the density of each row given
            the others.
        observed : bool, default=False
            Whether to add the data.
        predictive : bool, default=False
            Whether to add the group "posterior_predictive": as many new rows from each draw as the
            data have, as by `sample`. This is what ``arviz.plot_ppc`` compares with the data. The
            same call gives the same rows.

        Returns
        -------
        data : DataTree or InferenceData
            The traces of all chains, and what was asked for.
        """
        check_is_fitted(self)
        found, fitted = exports.Exports(), self._fitted
        if parameters:
            found.add_parameters(self.posterior_.parameters(max_draws=None))
        if log_likelihood:
            found.add_rows("log_likelihood", exports.log_likelihood(fitted))
        if observed:
            found.add_rows("observed_data", fitted.X)
        if predictive:
            found.add_rows("posterior_predictive", exports.predictive(fitted))
        return self.posterior_.to_arviz(labels=labels, more=found.groups, dims=found.dims)

    @property
    def outlier_scores_(self) -> np.ndarray:
        """How strange each row of the fit is, given all other rows: `outlier_score` from 0 to 1.

        The row itself does not count among those that it is compared with. Rows without any value
        have NaN. The scores are computed at every access.
        """
        check_is_fitted(self)
        fitted = self._fitted
        draws = spaced(self.posterior_.weights.shape, MOST_DRAWS)
        found = strangeness(fitted, fitted.X, given_others(fitted, draws))
        return fitted.all_rows(found, np.nan)

    @by_block(np.float64, none)
    def outlier_score(self, X: Any) -> np.ndarray:
        """How strange each row is: the probability that a new row has a higher density.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to evaluate. For the rows of the fit, use `outlier_scores_`.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            The share of draws from the posterior predictive distribution that have a higher
            density than the row, from 0 (at the centre of a large cluster) to 1. A row with missing
            entries is compared with draws that lack the same entries. A row without any value has
            NaN.

        Examples
        --------
        >>> import numpy as np
        >>> from bnpcluster import DPMixture
        >>> X = np.random.default_rng(0).normal(size=(100, 2))
        >>> model = DPMixture(n_chains=1, random_state=0).fit(X)
        >>> model.outlier_score([[0.0, 0.0], [9.0, 9.0]]).round().tolist()
        [0.0, 1.0]
        """
        check_is_fitted(self)
        rows = self._new_rows(X)
        return strangeness(self._fitted, rows, self._predicted(rows).log_density)
