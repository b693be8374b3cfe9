"""Shared parts of the displays: axes, colour-blind safe colours, and averages over draws."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from bnpcluster import partitions
from bnpcluster.partitions import label_draws
from bnpcluster.posterior import Posterior

# The palette of Okabe and Ito, without black and yellow, which are hard to see on our backgrounds.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9")
MARKERS = "os^Dv*"
# "best" is given explicitly: as a default, matplotlib warns that it is slow for many points.
LEGEND = {"loc": "best", "fontsize": "small", "framealpha": 0.7}

KINDS = {
    "": "a model of this package",
    "rows": "a mixture, which has rows and columns",
    "vertices": "an InfiniteRelationalModel",
}
"""The models that displays accept, by the items that they cluster."""


def axes_for(display: Any, ax: Any) -> Any:
    """The given axes, or those of a new figure."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            f"{type(display).__name__} needs matplotlib: pip install 'bnpcluster[plot]'."
        ) from error
    return pyplot.subplots(layout="constrained")[1] if ax is None else ax


def check_model(display: type, estimator: Any, items: str = "") -> None:
    """Raise an error unless this is a fitted model of items that the display can show."""
    own = getattr(type(estimator), "_items", None)
    if own is None or items not in ("", own):
        hint = ": pass its last step, pipeline[-1]" if hasattr(estimator, "steps") else ""
        raise TypeError(
            f"{display.__name__} needs {KINDS[items]}, got {type(estimator).__name__}{hint}."
        )
    check_is_fitted(estimator)


def column_names(estimator: Any) -> list[str]:
    """The names of the columns of a fitted estimator."""
    names = getattr(estimator, "feature_names_in_", None)
    n_columns = estimator.n_features_in_
    return [f"column {j}" for j in range(n_columns)] if names is None else list(map(str, names))


def as_posterior(draws: ArrayLike, weights: ArrayLike | None) -> Posterior:
    """Convert label draws, with or without an axis of chains, to a posterior."""
    array = np.asarray(draws)
    label_draws.as_draws(array)
    if array.ndim == 2:
        array = array[None]
    shaped = None if weights is None else np.reshape(weights, array.shape[:2])
    return Posterior(array, weights=shaped)


def labels_for(posterior: Posterior, labels: ArrayLike | None) -> NDArray[np.intp]:
    """Valid labels from 0, largest cluster first; the point estimate if `labels` is None.

    Items with a negative label are in no cluster. They have the label -1.
    """
    if labels is None:
        return posterior.point_estimate().astype(np.intp)
    given = label_draws.as_labels(labels, posterior.n_items)
    inside, result = given >= 0, np.full(len(given), -1, np.intp)
    if inside.any():
        result[inside] = partitions.relabel(given[inside])
    return result


def labels_of(estimator: Any, labels: ArrayLike | None) -> NDArray[np.intp]:
    """Labels of the items of the posterior of a fitted model, given labels of all rows."""
    fitted = estimator._fitted
    if labels is None:
        return labels_for(fitted.posterior, fitted.cluster_labels)
    given = np.asarray(labels)
    observed = fitted.observed
    if observed is not None and given.shape == (observed.n_rows,):
        given = observed.cut(given)
    return labels_for(fitted.posterior, given)


def with_rest_last(labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """The labels with a cluster of its own, the last, for items that are in none."""
    return np.where(labels < 0, labels.max() + 1, labels)


def evenly_spaced(n: int, size: int) -> NDArray[np.intp]:
    """At most `size` of the numbers 0 .. n-1, evenly spaced."""
    size = min(n, size)
    return ((np.arange(size) + 0.5) * (n / size)).astype(np.intp)


def certainty(posterior: Posterior, labels: NDArray[np.intp]) -> NDArray[np.float64]:
    """The mean probability that an item shares a block with the items of its own cluster.

    Each draw counts the items of the cluster in the block of the item. Nothing of size n x n is
    computed.
    """
    flat, weights = label_draws.as_draws(posterior.labels), posterior.weights.ravel()
    n_clusters, result = int(labels.max()) + 1, np.zeros(len(labels))
    for part, rows, _ in label_draws.chunks(flat):
        for row, weight in zip(rows, weights[part], strict=True):
            cell = row.astype(np.intp) * n_clusters + labels
            result += weight * np.bincount(cell)[cell]
    return np.minimum(result / np.bincount(labels)[labels], 1.0)  # up to rounding it is no more


def membership(posterior: Posterior, labels: NDArray[np.intp]) -> NDArray[np.float64]:
    """Probability of each cluster of the point estimate for each clustered item.

    In each draw, an item belongs to a block. The probability of a cluster is the share of that
    block's items that are in the cluster, averaged over draws. The draws already know the item, so
    their weights stay as they are. For new rows, `predict_proba` weights each draw by the density
    that it gives to the row, too.
    """
    n_clusters, result = int(labels.max()) + 1, np.zeros((len(labels), int(labels.max()) + 1))
    flat, weights = label_draws.as_draws(posterior.labels), posterior.weights.ravel()
    for part, draws, n_blocks in label_draws.chunks(flat):
        for row, size, weight in zip(draws, n_blocks, weights[part], strict=True):
            cell = row.astype(np.intp) * n_clusters + labels
            counts = np.bincount(cell, minlength=size * n_clusters).reshape(size, n_clusters)
            result += (weight * counts / counts.sum(axis=1, keepdims=True))[row]
    return np.minimum(result, 1.0)  # up to rounding it is no more


def weighted_quantile(
    values: NDArray[np.float64], weights: NDArray[np.float64], share: float
) -> NDArray[np.float64]:
    """Along the first axis, the smallest value with at least a `share` of the weight up to it."""
    order = values.argsort(axis=0)
    reached = np.cumsum(weights[order], axis=0)
    # Slightly less than the share, so that rounding does not skip a value that reaches it exactly.
    row = (reached < (share - 1e-12) * reached[-1]).sum(axis=0)
    return np.take_along_axis(values, np.take_along_axis(order, row[None], axis=0), axis=0)[0]
