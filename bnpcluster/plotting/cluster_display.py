"""The rows of the data, coloured by cluster; paler colours show less certain clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnpcluster.partitions.memberships import certainty, membership
from bnpcluster.plotting.cluster_coordinates import BY_CLUSTER, categories_of, coordinates
from bnpcluster.plotting.common import (
    MANY_COLOURS,
    MARKERS,
    axes_for,
    check_model,
    column_names,
    evenly_spaced,
    labels_of,
    legend_beside,
    shortened,
    with_rest_last,
)

PALEST = 0.15
REST = "0.6"  # grey, for rows in no cluster
FEW_CATEGORIES = 5  # the names of more are turned, to fit below the axis


class ClusterDisplay:
    """The rows as points, coloured by cluster; paler colours show less certain clusters.

    One column is shown along the first axis, with the clusters along the second one. Two columns
    are shown as they are. More columns are scaled to unit variance, and shown by their first two
    principal components. Categories enter these as 0/1 columns, divided by the roots of their
    shares, so that their order does not matter. Rows in no cluster are grey crosses. Rows without
    any value are not shown.

    Up to twelve clusters have colours of their own, and a legend beside the axes. If there are
    more, the number of each cluster is written at its centre, because colours repeat.

    Parameters
    ----------
    points : ndarray of shape (n_rows, 2)
        Coordinates of the rows.
    labels : ndarray of shape (n_rows,)
        Clusters from 0, largest first; -1 for rows in no cluster.
    certainty : ndarray of shape (n_rows,)
        Mean probability of sharing a block with the rows of the same cluster. If the clusters of
        the estimator are not its components: the probability of the row's cluster.
    names : pair of str
        Names of the coordinates.
    categories : pair of list of str or None
        The categories of a coordinate that is a column of categories, at 0, 1, 2, ...; their
        points are spread, so that they do not hide one another.

    Attributes
    ----------
    points_ : list of matplotlib PathCollection
        One for every cluster, and one for the rows in no cluster if there are any.
    numbers_ : list of matplotlib Text
        The numbers of the clusters at their centres, if there are more than twelve.
    ax_ : matplotlib Axes
        The axes of the picture.
    figure_ : matplotlib Figure
        The figure of the axes.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster import DPMixture
    >>> from bnpcluster.plotting import ClusterDisplay
    >>> X = np.random.default_rng(0).random((20, 2))
    >>> X[:10] += 9
    >>> model = DPMixture(random_state=0).fit(X)
    >>> display = ClusterDisplay.from_estimator(model)
    >>> len(display.points_), display.names
    (2, ('column 0', 'column 1'))
    """

    def __init__(
        self,
        points: NDArray[np.float64],
        labels: NDArray[np.intp],
        certainty: NDArray[np.float64],
        names: tuple[str, str] = ("", ""),
        categories: tuple[list[str] | None, list[str] | None] = (None, None),
    ):
        self.points = points
        self.labels = labels
        self.certainty = certainty
        self.names = names
        self.categories = categories

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        labels: ArrayLike | None = None,
        columns: Sequence[int | str] | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> ClusterDisplay:
        """Draw the rows of a fitted mixture.

        Parameters
        ----------
        estimator : mixture
            A fitted model.
        labels : array-like of shape (n_samples,), optional
            Labels that colour the rows; by default `labels_` of the estimator.
        columns : one or two of int or str, optional
            The columns to show, by number or name.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        ClusterDisplay
        """
        check_model(cls, estimator, "rows")
        fitted, posterior = estimator._fitted, estimator.posterior_
        z, X = labels_of(estimator, labels), estimator.impute()[estimator.observed_rows_]
        names, categories = column_names(estimator), categories_of(fitted)
        if columns is None:  # constant columns that were left out are no coordinates
            kept = fitted.columns
            X, names = X[:, kept], [names[j] for j in kept]
            categories = {k: categories[j] for k, j in enumerate(kept) if j in categories}
        shown = coordinates(X, z, names, columns, categories)
        own = with_rest_last(z)
        if labels is None and fitted.clusters is not None:  # clusters of several components
            sure = membership(posterior, own)[np.arange(len(own)), own]
        else:
            sure = certainty(posterior, own)
        return cls(shown.points, z, sure, shown.names, shown.categories).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, n_rows: int = 5000, **kwargs: Any) -> ClusterDisplay:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        n_rows : int, default=5000
            Largest number of rows to show; of more rows, evenly spaced ones are shown.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.scatter`.

        Returns
        -------
        self
        """
        ax = axes_for(self, ax)
        some = evenly_spaced(len(self.labels), n_rows)
        self.points_, self.numbers_ = [], []
        rest = some[self.labels[some] < 0]
        if len(rest):
            drawn = {"marker": "x", "s": 12, "lw": 0.8, "color": REST, "label": "no cluster"}
            self.points_.append(ax.scatter(*self.points[rest].T, **{**drawn, **kwargs}))
        n_clusters = int(self.labels.max()) + 1
        for k in range(n_clusters):
            self._plot_cluster(ax, k, some[self.labels[some] == k], kwargs)
        one_column = self.names[1] == BY_CLUSTER
        if n_clusters > len(MANY_COLOURS) and not one_column:
            self.numbers_ = [self._write_number(ax, k) for k in range(n_clusters)]
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        if one_column:  # the axis names the clusters
            self._name_clusters(ax, n_clusters)
        elif self.numbers_ and not len(rest):  # there is nothing for a legend
            ax.set_title("paler: less sure", fontsize="small", loc="right")
        else:
            legend_beside(ax, "paler: less sure")
        for axis, categories in zip((ax.xaxis, ax.yaxis), self.categories, strict=True):
            if categories is not None:
                turned = {"rotation": 30, "ha": "right"} if axis is ax.xaxis else {}
                style = turned if len(categories) > FEW_CATEGORIES else {}
                axis.set_ticks(range(len(categories)), list(map(shortened, categories)), **style)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _plot_cluster(self, ax: Any, k: int, rows: NDArray[np.intp], kwargs: dict) -> None:
        """Draw some rows of a cluster, and its entry for the legend."""
        from matplotlib.colors import to_rgba

        colour = MANY_COLOURS[k % len(MANY_COLOURS)]
        shades = np.tile(to_rgba(colour), (len(rows), 1))
        shades[:, 3] = PALEST + (1 - PALEST) * self.certainty[rows] ** 2
        style = {"marker": MARKERS[k // len(MANY_COLOURS) % len(MARKERS)], "s": 16, "lw": 0}
        self.points_.append(ax.scatter(*self.points[rows].T, **{**style, "c": shades, **kwargs}))
        if self.labels.max() < len(MANY_COLOURS):
            # A scatter without data, so that the legend shows the full colour.
            ax.scatter([], [], **style, color=colour, label=f"cluster {k}")

    def _write_number(self, ax: Any, k: int) -> Any:
        """Write the number of a cluster at its centre."""
        from matplotlib.patheffects import withStroke

        centre = np.median(self.points[self.labels == k], axis=0)
        style = {"ha": "center", "va": "center", "fontsize": "small", "fontweight": "bold"}
        outline = [withStroke(linewidth=3, foreground="white")]
        return ax.text(*centre, str(k), path_effects=outline, **style)

    def _name_clusters(self, ax: Any, n_clusters: int) -> None:
        """Name the clusters along the second axis, along which their points are only spread."""
        first = -1 if (self.labels < 0).any() else 0
        names = [f"cluster {k}" if k >= 0 else "no cluster" for k in range(first, n_clusters)]
        ax.set_yticks(range(first, n_clusters), names)
        ax.set_ylabel("paler: less sure; height within\na cluster: only to separate points")
