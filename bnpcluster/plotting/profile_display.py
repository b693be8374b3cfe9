"""What clusters are like: a heat map of clusters by columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnpcluster._core import arguments
from bnpcluster.plotting.common import axes_for, check_model, shortened

LIMIT = 2.0  # standard deviations at which colours are strongest
MOST_CELLS = 150  # with more cells, no numbers are written into them
DARK = 1.4  # from here on, numbers are white


class ProfileDisplay:
    """How much the clusters differ from all rows together, column by column.

    A value is the difference between the centre of a column in a cluster and in all rows, in
    standard deviations of all rows. The column of a category is 1 where a row has it and 0 where
    it has not.

    Parameters
    ----------
    values : array-like of shape (n_clusters, n_columns)
        The differences.
    columns : sequence of str
        Names of the columns.
    sizes : array-like of int
        Numbers of rows of the clusters.

    Attributes
    ----------
    image_ : matplotlib AxesImage
        The heat map.
    ax_ : matplotlib Axes
        The axes of the picture.
    figure_ : matplotlib Figure
        The figure of the axes.

    Examples
    --------
    >>> from bnpcluster.plotting import ProfileDisplay
    >>> import numpy as np
    >>> from bnpcluster import DPMixture
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> X[:30, 1] += 9
    >>> display = ProfileDisplay.from_estimator(DPMixture(random_state=0).fit(X))
    >>> display.columns, display.values[:, 0].round().tolist()
    (['column 1', 'column 0'], [1.0, -1.0])
    """

    def __init__(self, values: ArrayLike, columns: Sequence[str], sizes: ArrayLike):
        self.values = np.asarray(values, float)
        self.columns = list(columns)
        self.sizes = np.asarray(sizes)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, max_columns: int = 20, ax: Any = None, **kwargs: Any
    ) -> ProfileDisplay:
        """Draw the clusters of a fitted mixture.

        Parameters
        ----------
        estimator : mixture
            A fitted mixture.
        max_columns : int, default=20
            How many columns to show. Those that tell the clusters apart best come first.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.imshow`.

        Returns
        -------
        ProfileDisplay
        """
        check_model(cls, estimator, "rows")
        found = estimator._description()
        weights = found.share / found.share.sum()
        # The best cluster counts: a column that tells a small cluster apart is worth showing.
        told = np.nan_to_num(found.told).max(axis=0)
        values, names = [], []
        for j in np.argsort(-told, kind="stable"):
            column = found.columns[j]
            centre, spread = column.centre, None
            is_number = isinstance(column.name, (int, np.integer))
            labels = [f"column {column.name}" if is_number else str(column.name)]
            if column.kind == "categories":
                labels = [f"{labels[0]}: {value}" for value in column.categories]
                if len(labels) == 2:
                    centre, labels = centre[:, 1:], labels[1:]
            elif column.spread is not None or column.kind == "rate":
                spread = column.deviation()[:, None]
            values.append(_differences(centre.reshape(len(weights), -1), spread, weights))
            names += labels
        shown = np.hstack(values)[:, : arguments.count("max_columns", max_columns, 1)]
        return cls(shown, names[:max_columns], found.sizes).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> ProfileDisplay:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.imshow`.

        Returns
        -------
        self
        """
        ax = axes_for(self, ax)
        style = {"cmap": "RdBu_r", "vmin": -LIMIT, "vmax": LIMIT, "aspect": "auto", **kwargs}
        self.image_ = ax.imshow(self.values, **style)
        names = list(map(shortened, self.columns))
        ax.set_xticks(range(len(names)), names, rotation=45, ha="right")
        rows = [f"{c} ({size})" for c, size in enumerate(self.sizes)]
        ax.set_yticks(range(len(rows)), rows)
        ax.set(ylabel="cluster (rows)")
        if self.values.size <= MOST_CELLS:
            for (c, j), value in np.ndenumerate(self.values):
                colour = "white" if abs(value) > DARK else "black"
                ax.text(
                    j,
                    c,
                    f"{round(value, 1) + 0.0:.1f}",
                    ha="center",
                    va="center",
                    color=colour,
                    size="small",
                )
        bar = ax.figure.colorbar(self.image_, ax=ax, extend="both")
        bar.set_label("difference from all rows,\nin their standard deviations")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _differences(
    centre: NDArray[np.float64], spread: NDArray[np.float64] | None, weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Centres of clusters less that of all rows, in standard deviations of all rows."""
    whole = weights @ centre
    within = centre * (1.0 - centre) if spread is None else spread**2
    variance = weights @ (within + (centre - whole) ** 2)
    return (centre - whole) / np.sqrt(np.maximum(variance, 1e-300))
