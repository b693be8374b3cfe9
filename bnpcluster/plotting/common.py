"""Shared parts of the displays: axes, colour-blind safe colours, and averages over draws."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from bnpcluster import partitions
from bnpcluster._core import arguments
from bnpcluster._core.containers import as_array
from bnpcluster.partitions import label_draws
from bnpcluster.posterior import Posterior

# The palette of Okabe and Ito, without black and yellow, which are hard to see on our backgrounds.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9")
# These and six more of Paul Tol's, for pictures with many clusters.
MANY_COLOURS = (*COLOURS, "#332288", "#999933", "#882255", "#44AA99", "#661100", "#888888")
MARKERS = "os^Dv*"
LONGEST = 24  # letters of a name that are shown
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


def legend_beside(ax: Any, title: str, **kwargs: Any) -> Any:
    """Draw a legend on the right of the axes, where it covers nothing."""
    legend = ax.legend(
        **kwargs,
        title=title or None,
        title_fontsize="small",
        fontsize="small",
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        frameon=False,
    )
    if ax.figure.get_layout_engine() is None:  # others make room by themselves
        box = ax.get_position()
        ax.set_position((box.x0, box.y0, 0.78 * box.width, box.height))
    return legend


def shortened(name: str) -> str:
    """A name of at most `LONGEST` letters."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


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
        return fitted.cluster_labels.astype(np.intp)  # numbers may follow an earlier fit
    given = as_array(labels)
    observed = fitted.observed
    if observed is not None and given.shape == (observed.n_rows,):
        given = observed.cut(given)
    return labels_for(fitted.posterior, given)


def with_rest_last(labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """The labels with a cluster of its own, the last, for items that are in none."""
    return np.where(labels < 0, labels.max() + 1, labels)


def evenly_spaced(n: int, size: int) -> NDArray[np.intp]:
    """At most `size` of the numbers 0 .. n-1, evenly spaced."""
    size = min(n, arguments.count("n_rows", size, 1))
    return ((np.arange(size) + 0.5) * (n / size)).astype(np.intp)
