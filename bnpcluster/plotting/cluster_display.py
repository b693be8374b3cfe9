"""The rows of the data, coloured by cluster; paler colours show less certain clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnpcluster.plotting.common import (
    COLOURS,
    LEGEND,
    MARKERS,
    axes_for,
    certainty,
    check_model,
    column_names,
    evenly_spaced,
    labels_of,
    membership,
    with_rest_last,
)

NAMED = 10  # largest number of clusters in the legend
PALEST = 0.15
REST = "0.6"  # grey, for rows in no cluster
BY_CLUSTER = "cluster"  # name of the second axis if the data have one column


class ClusterDisplay:
    """The rows as points, coloured by cluster; paler colours show less certain clusters.

    One column is shown along the first axis, with the clusters along the second one. Two columns
    are shown as they are. More columns are scaled to unit variance, and shown by their first two
    principal components. Rows in no cluster are grey crosses. Rows without any value are not shown.

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

    Attributes
    ----------
    points_ : list of matplotlib PathCollection
        One for every cluster, and one for the rows in no cluster if there are any.
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
    ):
        self.points = points
        self.labels = labels
        self.certainty = certainty
        self.names = names

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
        all_names = column_names(estimator)
        if columns is None:  # constant columns that were left out are no coordinates
            constants = fitted.constants
            X, all_names = constants.cut(X), constants.names(all_names)
        points, names = _coordinates(X, z, all_names, columns)
        own = with_rest_last(z)
        if labels is None and fitted.clusters is not None:  # clusters of several components
            sure = membership(posterior, own)[np.arange(len(own)), own]
        else:
            sure = certainty(posterior, own)
        return cls(points, z, sure, names).plot(ax, **kwargs)

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
        from matplotlib.colors import to_rgba

        self.points_ = []
        some = evenly_spaced(len(self.labels), n_rows)
        n_clusters = int(self.labels.max()) + 1
        rest = some[self.labels[some] < 0]
        if len(rest):
            drawn = {"marker": "x", "s": 12, "lw": 0.8, "color": REST, "label": "no cluster"}
            self.points_.append(ax.scatter(*self.points[rest].T, **{**drawn, **kwargs}))
        for k in range(n_clusters):
            inside = some[self.labels[some] == k]
            colour = COLOURS[k % len(COLOURS)]
            shades = np.tile(to_rgba(colour), (len(inside), 1))
            shades[:, 3] = PALEST + (1 - PALEST) * self.certainty[inside] ** 2
            style = {"marker": MARKERS[k // len(COLOURS) % len(MARKERS)], "s": 16, "lw": 0}
            drawn = {**style, "c": shades, **kwargs}
            self.points_.append(ax.scatter(*self.points[inside].T, **drawn))
            if k < NAMED:
                # A scatter without data, so that the legend shows the full colour.
                ax.scatter([], [], **style, color=colour, label=f"cluster {k}")
        title = "paler: less sure" + (f"\n{n_clusters} in all" if n_clusters > NAMED else "")
        ax.legend(title=title, title_fontsize="small", **LEGEND)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        if self.names[1] == BY_CLUSTER:
            ax.yaxis.get_major_locator().set_params(integer=True)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _coordinates(
    X: NDArray[np.float64],
    labels: NDArray[np.intp],
    names: list[str],
    columns: Sequence[int | str] | None,
) -> tuple[NDArray[np.float64], tuple[str, str]]:
    """Two coordinates of every row, and their names."""
    if columns is not None:
        chosen = [_column(name, names) for name in columns]
        if len(chosen) not in (1, 2):
            raise ValueError(f"columns must name one or two columns, got {len(chosen)}.")
        X, names = X[:, chosen], [names[j] for j in chosen]
    if X.shape[1] == 1:
        # Shift rows within their cluster a little, by a sequence that fills the unit interval.
        spread = 0.6 * ((np.arange(len(X)) * (np.sqrt(5) - 1) / 2) % 1 - 0.5)
        return np.column_stack([X[:, 0], labels + spread]), (names[0], BY_CLUSTER)
    if X.shape[1] == 2:
        return X, (names[0], names[1])
    return _principal_components(X)


def _column(name: int | str, names: list[str]) -> int:
    """The number of a column, given by number or name."""
    if isinstance(name, str):
        if name in names:
            return names.index(name)
    elif isinstance(name, (int, np.integer)) and 0 <= name < len(names):
        return int(name)
    raise ValueError(
        f"There is no column {name!r}: use a number from 0 to {len(names) - 1}, or {names}."
    )


def _principal_components(X: NDArray[np.float64]) -> tuple[NDArray[np.float64], tuple[str, str]]:
    """The first two principal components of the scaled columns, and their names."""
    Z = X - X.mean(axis=0)
    scale = Z.std(axis=0)
    # Use the covariance of the columns: there are usually fewer columns than rows.
    Z /= np.where(scale > 0, scale, 1.0)
    variances, directions = np.linalg.eigh(Z.T @ Z)
    shares = 100 * variances[::-1][:2] / variances.sum()
    points = Z @ directions[:, ::-1][:, :2]
    first, second = (
        f"{nth} principal component ({share:.0f} % of the variance)"
        for nth, share in zip(("first", "second"), shares, strict=True)
    )
    return points, (first, second)
