"""The joins of overlapping components, as a tree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnpcluster.partitions import MergeTree
from bnpcluster.plotting.common import COLOURS, LEGEND, axes_for, check_model

AUTO = 0.05  # the threshold of merge="auto"
LEAST = 1e-3  # smaller overlaps are drawn here
REST = "0.6"  # grey, for joins that were not made
NUMBERED = 15  # joins up to which their overlaps are written beside them
NAMED = 60  # components up to which they are named


class MergeTreeDisplay:
    """Which components were joined at which overlap, as a tree from left to right.

    Every line on the left is a component. Two lines meet at the overlap at which they are joined:
    strong overlaps are on the left, weak ones on the right. The axis is logarithmic, and overlaps
    below 0.001 are drawn there. Joins that were made have the colour of their cluster, the same as
    in `ClusterDisplay`. Other joins are grey: they would be made at a smaller threshold.

    Parameters
    ----------
    tree : bnpcluster.partitions.MergeTree
        The joins.
    sizes : array-like of shape (n_components,)
        Number of rows of each component.
    clusters : array-like of shape (n_components,), optional
        The cluster of each component, or -1; by default each component is a cluster.
    threshold : float, optional
        The overlap from which components are joined.

    Attributes
    ----------
    lines_ : matplotlib LineCollection
        The joins in the order of the tree, in three pieces each.
    threshold_ : matplotlib Line2D
        The threshold, or that of ``merge="auto"`` if there is none.
    texts_ : list of matplotlib Text
        The overlaps, if there are at most 15 joins.
    ax_ : matplotlib Axes
        The axes of the picture.
    figure_ : matplotlib Figure
        The figure of the axes.

    Examples
    --------
    >>> from bnpcluster.partitions import merge_tree
    >>> from bnpcluster.plotting import MergeTreeDisplay
    >>> tree = merge_tree([[0.9, 0.1, 0.0], [0.4, 0.6, 0.0], [0.0, 0.1, 0.9]])
    >>> display = MergeTreeDisplay(tree, sizes=[1, 1, 1]).plot()
    >>> [text.get_text() for text in display.texts_]
    ['0.31', '0.048']
    """

    def __init__(
        self,
        tree: MergeTree,
        sizes: ArrayLike,
        clusters: ArrayLike | None = None,
        threshold: float | None = None,
    ):
        self.tree = tree
        self.sizes = np.asarray(sizes)
        self.clusters = np.arange(len(self.sizes)) if clusters is None else np.asarray(clusters)
        self.threshold = threshold

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **kwargs: Any) -> MergeTreeDisplay:
        """Draw how the components of a fitted mixture are joined.

        Parameters
        ----------
        estimator : mixture
            A fitted model, with any value of `merge`.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **kwargs : dict
            Passed to `matplotlib.collections.LineCollection`.

        Returns
        -------
        MergeTreeDisplay
        """
        check_model(cls, estimator, "rows")
        fitted, merge = estimator._fitted, estimator.merge
        threshold = AUTO if isinstance(merge, str) else merge
        sizes = np.bincount(fitted.estimate)
        return cls(estimator.merge_tree_, sizes, fitted.clusters, threshold).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> MergeTreeDisplay:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **kwargs : dict
            Passed to `matplotlib.collections.LineCollection`.

        Returns
        -------
        self
        """
        is_new, ax = ax is None, axes_for(self, ax)
        from matplotlib.collections import LineCollection

        n, order = self.tree.n_components, _order(self.tree, self.sizes)
        x, y = self._positions(order)
        own = self._cluster_of_nodes()
        colours = [REST if k < 0 else COLOURS[k % len(COLOURS)] for k in own]
        paths, shades = [], []
        for j, (a, b) in enumerate(self.tree.joined):
            corners = [(x[a], y[a]), (x[n + j], y[a]), (x[n + j], y[b]), (x[b], y[b])]
            for corner, colour in ((corners[:2], a), (corners[1:3], n + j), (corners[2:], b)):
                paths.append(corner)
                shades.append(colours[colour])
        self.lines_ = LineCollection(paths, **{"colors": shades, "lw": 1.8, **kwargs})
        ax.add_collection(self.lines_)
        dots = [colours[k] for k in range(n)]
        ax.scatter(x[:n], y[:n], c=dots, s=22, zorder=3, clip_on=False)
        self.texts_ = self._write_overlaps(ax, x, y) if n <= NUMBERED + 1 else []
        self._draw_threshold(ax)
        self._label(ax, order)
        if is_new:
            ax.figure.set_figheight(min(max(2.4, 1.1 + 0.28 * n), 14))
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _positions(self, order: NDArray[np.intp]) -> tuple[NDArray, NDArray]:
        """The coordinates of the components, and of the joins after them."""
        n = self.tree.n_components
        x = np.concatenate([np.ones(n), np.maximum(self.tree.levels, LEAST)])
        y = np.empty(2 * n - 1)
        y[order] = np.arange(n)
        for j, pair in enumerate(self.tree.joined):
            y[n + j] = y[pair].mean()
        return x, y

    def _cluster_of_nodes(self) -> NDArray[np.intp]:
        """The cluster of components and joins; -1 for joins across clusters."""
        n = self.tree.n_components
        own = np.full(2 * n - 1, -1)
        own[:n] = self.clusters
        for j, (a, b) in enumerate(self.tree.joined):
            own[n + j] = own[a] if own[a] == own[b] else -1
        return own

    def _write_overlaps(self, ax: Any, x: NDArray, y: NDArray) -> list[Any]:
        """Write the overlaps beside the joins."""
        n = self.tree.n_components
        style = {"fontsize": "x-small", "va": "bottom", "xytext": (2, 1), "color": "0.25"}
        words = [_shown(overlap) for overlap in self.tree.overlaps]
        return [
            ax.annotate(text, (x[n + j], y[n + j]), textcoords="offset points", **style)
            for j, text in enumerate(words)
        ]

    def _draw_threshold(self, ax: Any) -> None:
        if self.threshold is None:
            style = {
                "color": "0.4",
                "ls": ":",
                "label": f'merge="auto" would join to here ({AUTO})',
            }
        else:
            style = {"color": "black", "ls": "--", "label": f"joined to here ({self.threshold:g})"}
        self.threshold_ = ax.axvline(self.threshold or AUTO, lw=1, **style)

    def _label(self, ax: Any, order: NDArray[np.intp]) -> None:
        """Name the components and the axis."""
        n = self.tree.n_components
        ax.set(xscale="log", xlim=(1, 0.6 * LEAST), ylim=(n - 0.5, -0.5))
        ticks = [1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, LEAST]
        ax.set_xticks(ticks, [*map(str, ticks[:-1]), f"\N{LESS-THAN OR EQUAL TO} {LEAST:g}"])
        ax.minorticks_off()
        shown = order[: n if n <= NAMED else 0]
        names = [f"component {k} ({self.sizes[k]})" for k in shown]
        ax.set_yticks(range(len(shown)), names, fontsize="small")
        ax.tick_params(axis="y", length=0)
        for side in ("top", "right", "left"):
            ax.spines[side].set_visible(False)
        ax.set_xlabel("overlap at which components are joined")
        if n > NAMED:
            ax.set_ylabel(f"{n} components")
        place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "frameon": False}
        ax.legend(handles=[self.threshold_], **{**LEGEND, **place})


def _shown(overlap: float) -> str:
    return f"{overlap:.2g}" if overlap >= LEAST / 10 else "0"


def _order(tree: MergeTree, sizes: NDArray) -> NDArray[np.intp]:
    """The components in an order without crossing lines, the larger branch first."""
    branches = [[k] for k in range(tree.n_components)]
    rows = list(sizes)
    for a, b in tree.joined:
        first, second = (a, b) if rows[a] >= rows[b] else (b, a)
        branches.append(branches[first] + branches[second])
        rows.append(rows[a] + rows[b])
    return np.array(branches[-1], np.intp)
