"""The adjacency matrix of a network, with the vertices ordered by cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnpcluster.plotting.common import axes_for, check_model, with_rest_last

UNSEEN = "lightsteelblue"  # the colour of cells without observed pairs


class AdjacencyDisplay:
    """The adjacency matrix of a network, with the vertices ordered by cluster.

    Create it with `from_estimator`. If the network has more vertices than `n_cells`, each cell
    shows the share of linked pairs.

    Parameters
    ----------
    density : ndarray of shape (n_cells, n_cells)
        Linked pairs as a share of the observed pairs of a cell; NaN where none was observed.
    boundaries : ndarray
        Number of vertices up to the end of each cluster.

    Attributes
    ----------
    image_ : matplotlib AxesImage
        The matrix.
    lines_ : list of matplotlib LineCollection
        The boundaries of clusters, if drawn.
    ax_ : matplotlib Axes
        The axes of the picture.
    figure_ : matplotlib Figure
        The figure of the axes.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster import InfiniteRelationalModel
    >>> from bnpcluster.plotting import AdjacencyDisplay
    >>> A = np.kron(np.eye(2), np.ones((6, 6))) - np.eye(12)
    >>> model = InfiniteRelationalModel(random_state=0).fit(A)
    >>> display = AdjacencyDisplay.from_estimator(model)
    >>> display.boundaries.tolist()
    [6, 12]
    """

    def __init__(self, density: NDArray[np.float64], boundaries: NDArray[np.intp]):
        self.density = density
        self.boundaries = boundaries

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        labels: ArrayLike | None = None,
        n_cells: int = 1000,
        ax: Any = None,
        **kwargs: Any,
    ) -> AdjacencyDisplay:
        """Draw the network of a fitted model.

        Parameters
        ----------
        estimator : InfiniteRelationalModel
            A fitted model.
        labels : array-like of shape (n_vertices,), optional
            Labels that order the vertices; by default `labels_` of the estimator. Vertices in no
            cluster (negative labels) come last.
        n_cells : int, default=1000
            Largest number of rows and columns of the picture.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.imshow`.

        Returns
        -------
        AdjacencyDisplay
        """
        check_model(cls, estimator, "vertices")
        z = np.asarray(estimator.labels_ if labels is None else labels)
        n = len(estimator.labels_)
        if z.shape != (n,):
            raise ValueError(f"labels must have shape ({n},), got {z.shape}.")
        z = with_rest_last(z)
        sizes = np.unique(z, return_counts=True)[1]
        density = _density(estimator._fitted.X, z, min(n, n_cells))
        return cls(density, np.cumsum(sizes)).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, lines: bool = True, **kwargs: Any) -> AdjacencyDisplay:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        lines : bool, default=True
            Whether to draw the boundaries of clusters.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.imshow`.

        Returns
        -------
        self
        """
        ax = axes_for(self, ax)
        import matplotlib

        n = int(self.boundaries[-1])
        style = {"cmap": matplotlib.colormaps["Greys"].with_extremes(bad=UNSEEN), "vmin": 0.0}
        self.image_ = ax.imshow(self.density, extent=(0, n, n, 0), **{**style, **kwargs})
        inner = self.boundaries[:-1]
        draw = (ax.vlines, ax.hlines) if lines else ()
        self.lines_ = [line(inner, 0, n, colors="tab:red", linewidths=0.5) for line in draw]
        text = "vertices, by cluster" if len(inner) else "vertices"
        ax.set(xlabel=text, ylabel=text)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _density(graph: Any, labels: NDArray, n_cells: int) -> NDArray[np.float64]:
    """Links per observed pair in every cell, with the vertices ordered by label."""
    n, (rows, columns, values) = len(labels), graph.entries()
    position = np.empty(n, np.intp)
    position[np.argsort(labels, kind="stable")] = np.arange(n)
    cell = position * n_cells // n
    code, unseen = cell[rows] * n_cells + cell[columns], np.isnan(values)
    links, gaps = (
        np.bincount(code[kind], minlength=n_cells**2).reshape(n_cells, n_cells)
        for kind in (~unseen, unseen)
    )
    width = np.bincount(cell, minlength=n_cells)
    observed = np.outer(width, width) - np.diag(width) - gaps
    density = links / np.maximum(observed, 1)
    density[(observed == 0) & (gaps > 0)] = np.nan
    return density
