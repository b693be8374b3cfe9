"""What each column is like in each cluster, and which columns tell a cluster apart."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import xlogy

from bnpcluster.partitions.parameter_draws import ParameterDraws

LEVEL = 0.9  # of intervals
NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(32)
NODE_WEIGHTS = NODE_WEIGHTS / NODE_WEIGHTS.sum()


class Column(NamedTuple):
    """One column of the data in all clusters.

    Attributes
    ----------
    name : str or int
    kind : {"mean", "rate", "probability", "categories", "prevalence"}
        What `centre` is.
    centre : ndarray of shape (n_clusters,), or (n_clusters, n_categories)
        Posterior means.
    low, high : ndarray
        The ends of its posterior intervals.
    spread : ndarray of shape (n_clusters,) or None
        Standard deviations of the values in a cluster, for means.
    categories : list or None
        The categories.
    """

    name: Any
    kind: str
    centre: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    spread: NDArray[np.float64] | None = None
    categories: list | None = None

    @property
    def label(self) -> str:
        """The name in a sentence; a number alone would look like a value."""
        return f"column {self.name}" if isinstance(self.name, int) else str(self.name)

    def deviation(self) -> NDArray[np.float64]:
        """Standard deviations of the values in every cluster, of numbers."""
        if self.spread is not None:
            return self.spread
        if self.kind == "rate":
            return np.sqrt(self.centre)
        return np.sqrt(self.centre * (1.0 - self.centre))

    def tells(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """How much of the membership of every cluster the column alone tells, from 0 to 1.

        It is the mutual information between the column and being in the cluster, under the fitted
        distributions, divided by its largest value, the entropy of being in the cluster.
        """
        w = weights / weights.sum()
        if self.kind == "prevalence" or len(w) <= 1:
            return np.full(len(w), np.nan)
        if self.spread is not None:
            if not self.spread.any():
                return np.zeros(len(w))  # a constant column
            return _told_by_normal(w, self.centre, np.maximum(self.spread, 1e-300))
        return _told_by_values(w, self._probabilities())

    def _probabilities(self) -> NDArray[np.float64]:
        """Probabilities of all values, by cluster."""
        if self.kind == "categories":
            return self.centre
        if self.kind == "probability":
            return np.column_stack([1.0 - self.centre, self.centre])
        # Quantiles of all clusters, so that few values stand for large counts.
        largest = int(stats.poisson.ppf(1.0 - 1e-9, self.centre.max()))
        values = np.unique(np.linspace(-1, largest + 1, 400).astype(int))
        return np.diff(stats.poisson.cdf(values, self.centre[:, None]), axis=1)


def columns_of(
    found: ParameterDraws, names: Any, categories: dict[Any, list], n_columns: int
) -> list[Column]:
    """All columns, in their order.

    `names` are those of the columns, if there are any, and `categories` the names of categories.
    """
    result: dict[Any, Column] = {}
    for name, kind in (
        ("means", "mean"),
        ("rates", "rate"),
        ("probabilities", "probability"),
        ("prevalences", "prevalence"),
    ):
        if name not in found:
            continue
        centre, (low, high) = found.mean(name), found.interval(name, LEVEL)
        spread = _spread(found) if name == "means" else None
        for j in centre if isinstance(centre, dict) else range(centre.shape[1]):
            own = _column(centre, j)
            of_column = j if isinstance(centre, dict) or names is None else names[j]
            is_text = own.ndim == 2
            known = categories.get(of_column, list(range(own.shape[-1])))
            result[of_column] = Column(
                name=of_column,
                kind="categories" if is_text else kind,
                centre=own,
                low=_column(low, j),
                high=_column(high, j),
                spread=_column(spread, j),
                categories=known if is_text else None,
            )
    order = list(range(n_columns)) if names is None else list(names)
    place = {name: k for k, name in enumerate(order)}
    return sorted(result.values(), key=lambda column: place.get(column.name, 0))


def _spread(found: ParameterDraws) -> Any:
    """Standard deviations within clusters, by column."""
    if "variances" in found:
        variances = found.mean("variances")
        if isinstance(variances, dict):
            return {j: np.sqrt(v) for j, v in variances.items()}
        return np.sqrt(variances)
    return np.sqrt(np.diagonal(found.mean("covariances"), axis1=1, axis2=2))


def _column(values: Any, j: Any) -> Any:
    if values is None:
        return None
    return values[j] if isinstance(values, dict) else values[:, j]


def _told_by_values(w: NDArray, p: NDArray) -> NDArray[np.float64]:
    """Shares that a column of few values tells, given their probabilities by cluster."""
    whole = w @ p
    rest = np.maximum(whole - w[:, None] * p, 0.0)  # times its weight
    own = w[:, None] * p
    with np.errstate(divide="ignore", invalid="ignore"):
        told = xlogy(own, own / whole) + xlogy(rest, rest / whole)
    return _share(np.nansum(told, axis=1), w)


def _told_by_normal(w: NDArray, mean: NDArray, spread: NDArray) -> NDArray[np.float64]:
    """Shares that a normal column tells, by quadrature within each cluster."""
    at = mean[:, None] + spread[:, None] * NODES  # by cluster and node
    logs = stats.norm.logpdf(at[..., None], mean, spread) + np.log(w)
    top = logs.max(axis=-1, keepdims=True)
    chance = np.exp(logs - top)
    chance /= chance.sum(axis=-1, keepdims=True)  # of each cluster, given the value
    rest = np.clip(1.0 - chance, 0.0, 1.0)
    told = xlogy(chance, chance) + xlogy(rest, rest)
    return _share(np.einsum("k,m,kmc->c", w, NODE_WEIGHTS, told), w)


def _share(told: NDArray, w: NDArray) -> NDArray[np.float64]:
    """What is known given a column, as a share of what could be known."""
    before = -xlogy(w, w) - xlogy(1.0 - w, 1.0 - w)
    return np.clip(1.0 + told / before, 0.0, 1.0)
