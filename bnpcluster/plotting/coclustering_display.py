"""The co-clustering matrix: probabilities that two rows share a cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from bnpcluster.plotting.common import (
    as_posterior,
    axes_for,
    check_model,
    evenly_spaced,
    labels_for,
    labels_of,
    with_rest_last,
)
from bnpcluster.posterior import Posterior


class CoclusteringDisplay:
    """Posterior probabilities that two rows share a cluster, with the rows ordered by cluster.

    The largest cluster comes first. Within a cluster, rows that are often together are adjacent (as
    the leaves of average linkage), and loosely attached rows come last. At most `n_rows` evenly
    spaced rows are shown, so nothing of size n x n is computed. Rows in no cluster (label -1) are
    after all clusters, and rows without any value are not shown.

    Parameters
    ----------
    probability : ndarray of shape (n_shown, n_shown)
        Probability that two of the shown rows share a cluster.
    order : ndarray of shape (n_shown,)
        Numbers of the shown rows.
    boundaries : ndarray of shape (n_clusters,)
        Number of rows up to the end of each cluster, shown or not.

    Attributes
    ----------
    image_ : matplotlib AxesImage
        The matrix.
    lines_ : list of matplotlib LineCollection
        The boundaries of clusters, if drawn.
    colorbar_ : matplotlib Colorbar or None
        The colour bar, if drawn.
    text_ : matplotlib Text or None
        What the picture of a single cluster says in words.
    ax_ : matplotlib Axes
        The axes of the picture.
    figure_ : matplotlib Figure
        The figure of the axes.

    Examples
    --------
    >>> from bnpcluster.plotting import CoclusteringDisplay
    >>> draws = [[0, 1, 1, 1], [0, 1, 1, 0]]  # two draws of the labels of four rows
    >>> display = CoclusteringDisplay.from_draws(draws, labels=[0, 1, 1, 1])
    >>> display.order.tolist(), display.boundaries.tolist()
    ([2, 1, 3, 0], [3, 4])
    >>> display.probability[0].tolist()
    [1.0, 1.0, 0.5, 0.0]
    """

    def __init__(
        self,
        probability: NDArray[np.float64],
        order: NDArray[np.intp],
        boundaries: NDArray[np.intp],
    ):
        self.probability = probability
        self.order = order
        self.boundaries = boundaries

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        labels: ArrayLike | None = None,
        n_rows: int = 500,
        ax: Any = None,
        **kwargs: Any,
    ) -> CoclusteringDisplay:
        """Draw the co-clustering matrix of a fitted model.

        Parameters
        ----------
        estimator : mixture or InfiniteRelationalModel
            A fitted model.
        labels : array-like of shape (n_samples,), optional
            Labels that order the rows; by default `labels_` of the estimator.
        n_rows : int, default=500
            Largest number of rows to show.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        CoclusteringDisplay
        """
        check_model(cls, estimator)
        z = labels_of(estimator, labels)
        return cls.from_posterior(estimator.posterior_, labels=z, n_rows=n_rows, ax=ax, **kwargs)

    @classmethod
    def from_draws(
        cls,
        draws: ArrayLike,
        *,
        labels: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        n_rows: int = 500,
        ax: Any = None,
        **kwargs: Any,
    ) -> CoclusteringDisplay:
        """Draw the co-clustering matrix of label draws of any program.

        Parameters
        ----------
        draws : array-like of int, shape (n_draws, n_items) or (n_chains, n_draws, n_items)
            Labels of the items. Only equality of labels within a draw matters.
        labels : array-like of shape (n_items,), optional
            Labels that order the items; by default the point estimate.
        weights : array-like, one number per draw, optional
            Weights of the draws; by default equal.
        n_rows : int, default=500
            Largest number of items to show.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        CoclusteringDisplay
        """
        posterior = as_posterior(draws, weights)
        return cls.from_posterior(posterior, labels=labels, n_rows=n_rows, ax=ax, **kwargs)

    @classmethod
    def from_posterior(
        cls,
        posterior: Posterior,
        *,
        labels: ArrayLike | None = None,
        n_rows: int = 500,
        ax: Any = None,
        **kwargs: Any,
    ) -> CoclusteringDisplay:
        """Draw the co-clustering matrix of a posterior.

        Parameters
        ----------
        posterior : Posterior
            The posterior to show.
        labels : array-like of shape (n_items,), optional
            Labels that order the items; by default the point estimate.
        n_rows : int, default=500
            Largest number of items to show.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        CoclusteringDisplay
        """
        z = with_rest_last(labels_for(posterior, labels))
        shown = np.argsort(z, kind="stable")[evenly_spaced(len(z), n_rows)]
        probability = np.asarray(posterior.coclustering(rows=shown, columns=shown))
        order = _order_by_similarity(probability, z[shown])
        probability, shown = probability[np.ix_(order, order)], shown[order]
        return cls(probability, shown, np.cumsum(np.bincount(z))).plot(ax, **kwargs)

    def plot(
        self, ax: Any = None, *, lines: bool = True, colorbar: bool = True, **kwargs: Any
    ) -> CoclusteringDisplay:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        lines : bool, default=True
            Whether to draw the boundaries of clusters.
        colorbar : bool, default=True
            Whether to draw the colour bar.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.imshow`.

        Returns
        -------
        self
        """
        ax = axes_for(self, ax)
        n = int(self.boundaries[-1])
        style = {"cmap": "Blues", "vmin": 0.0, "vmax": 1.0, "extent": (0, n, n, 0), **kwargs}
        self.image_ = ax.imshow(self.probability, **style)
        inner = self.boundaries[:-1]
        draw = (ax.vlines, ax.hlines) if lines else ()
        self.lines_ = [line(inner, 0, n, colors="tab:red", linewidths=0.5) for line in draw]
        self.colorbar_ = None
        if colorbar:
            label = "probability of sharing a cluster"
            self.colorbar_ = ax.figure.colorbar(self.image_, ax=ax, label=label)
        ax.set(xlabel="rows, by cluster", ylabel="rows, by cluster")
        self.text_ = self._in_words(ax) if len(self.boundaries) == 1 else None
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _in_words(self, ax: Any) -> Any:
        """Say what a picture of a single cluster shows, which would be a plain square."""
        pairs = self.probability[~np.eye(len(self.probability), dtype=bool)]
        if not len(pairs):
            return None
        low, middle = np.quantile(pairs, [0.05, 0.5])
        said = (
            f"one cluster\n\nprobability that two rows share it:\n{middle:.2f} for the middle "
            f"pair,\nat least {low:.2f} for 95 % of the pairs"
        )
        box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 6}
        at = {"x": 0.5, "y": 0.5, "transform": ax.transAxes, "ha": "center", "va": "center"}
        return ax.text(s=said, bbox=box, fontsize="small", **at)


def _order_by_similarity(
    probability: NDArray[np.float64], labels: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Order items by cluster, and within a cluster by how often they are together."""
    order = []
    for k in np.unique(labels):
        inside = np.flatnonzero(labels == k)
        if len(inside) > 1:
            distance = squareform(1.0 - probability[np.ix_(inside, inside)], checks=False)
            # Reversed: the items that join a group last are the first leaves.
            inside = inside[leaves_list(linkage(distance, "average"))[::-1]]
        order.append(inside)
    return np.concatenate(order)
