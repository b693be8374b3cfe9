"""Posterior and prior probabilities of the number of clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bnpcluster.plotting.common import COLOURS, LEGEND, axes_for, check_model
from bnpcluster.posterior import Posterior

NEGLIGIBLE = 0.001  # numbers less probable than this are not shown at either end
TICKS = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)  # of the square-root scale


class NumberOfClustersDisplay:
    """Probabilities of the number of clusters, as bars.

    Beside a prior, the axis of probabilities has a square-root scale: the prior is spread over many
    numbers, and its small probabilities would not be seen otherwise.

    Parameters
    ----------
    n_clusters : array-like of int
        Successive numbers of clusters.
    probability : array-like of float
        Their posterior probabilities.
    prior : array-like of float, optional
        Their prior probabilities.
    estimate : int, optional
        The number of clusters of the point estimate.
    what : {"clusters", "components"}, default="clusters"
        What is counted. Draws count components; they are the clusters unless the estimator joins
        components or dissolves small clusters.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
        The posterior.
    prior_ : matplotlib Line2D or None
        The prior, if drawn.
    estimate_ : matplotlib Line2D or None
        The point estimate, if drawn.
    ax_ : matplotlib Axes
        The axes of the picture.
    figure_ : matplotlib Figure
        The figure of the axes.

    Examples
    --------
    >>> from bnpcluster.plotting import NumberOfClustersDisplay
    >>> from bnpcluster.posterior import Posterior
    >>> posterior = Posterior([[[0, 0, 1], [0, 0, 1], [0, 1, 2], [0, 0, 1]]])
    >>> display = NumberOfClustersDisplay.from_posterior(posterior)
    >>> display.n_clusters.tolist(), display.probability.tolist()
    ([1, 2, 3, 4], [0.0, 0.75, 0.25, 0.0])
    """

    def __init__(
        self,
        n_clusters: ArrayLike,
        probability: ArrayLike,
        prior: ArrayLike | None = None,
        estimate: int | None = None,
        what: str = "clusters",
    ):
        self.n_clusters = np.asarray(n_clusters)
        self.probability = np.asarray(probability)
        self.prior = None if prior is None else np.asarray(prior)
        self.estimate = estimate
        self.what = what

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, prior: bool = True, ax: Any = None, **kwargs: Any
    ) -> NumberOfClustersDisplay:
        """Draw the probabilities under a fitted model.

        Parameters
        ----------
        estimator : mixture or InfiniteRelationalModel
            A fitted model.
        prior : bool, default=True
            Whether to show the probabilities of the prior, averaged over hyper-priors. This takes
            a second per thousand rows if a discount, or the sigma of `NGG`, is sampled.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.bar`.

        Returns
        -------
        NumberOfClustersDisplay
        """
        check_model(cls, estimator)
        n_clusters, probability = _range(estimator.posterior_)
        before = None
        if prior:
            n = estimator.posterior_.n_items
            before = estimator._fitted.prior.n_clusters_pmf(n, int(n_clusters[-1]))
            # There are no more clusters than rows; the rest of the range has probability zero.
            before = np.pad(before, (0, n_clusters[-1] + 1 - len(before)))[n_clusters]
        fitted = estimator._fitted
        what = "clusters" if fitted.components_are_clusters else "components"
        estimate = int(fitted.estimate.max()) + 1
        return cls(n_clusters, probability, before, estimate, what).plot(ax, **kwargs)

    @classmethod
    def from_posterior(
        cls, posterior: Posterior, *, ax: Any = None, **kwargs: Any
    ) -> NumberOfClustersDisplay:
        """Draw the probabilities under a posterior.

        Parameters
        ----------
        posterior : Posterior
            The posterior; for label draws of another program, ``Posterior(draws)``.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.bar`.

        Returns
        -------
        NumberOfClustersDisplay
        """
        return cls(*_range(posterior)).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> NumberOfClustersDisplay:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.bar`.

        Returns
        -------
        self
        """
        ax = axes_for(self, ax)
        style = {"color": COLOURS[0], "label": "posterior", **kwargs}
        self.bars_ = ax.bar(self.n_clusters, self.probability, **style)
        self.prior_ = self.estimate_ = None
        if self.prior is not None:
            style = {"color": COLOURS[1], "marker": "o", "ls": ":", "label": "prior"}
            (self.prior_,) = ax.plot(self.n_clusters, self.prior, **style)
        if self.estimate is not None:
            style = {"color": "black", "ls": "--", "lw": 1, "label": "point estimate"}
            self.estimate_ = ax.axvline(self.estimate, **style)
        if self.prior_ or self.estimate_:
            shown = (self.bars_, self.prior_, self.estimate_)
            ax.legend(handles=[artist for artist in shown if artist], **LEGEND)
        ax.set(xlabel=f"number of {self.what}", ylabel="probability")
        if self.prior is not None:
            ax.set_yscale("function", functions=(_root, np.square))
            ax.set(ylabel="probability (square-root scale)", ylim=(0.0, 1.05))
            ax.set_yticks(TICKS, [f"{tick:g}" for tick in TICKS])
        ax.xaxis.get_major_locator().set_params(integer=True)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _root(p: np.ndarray) -> np.ndarray:
    """The square root; 0 for what a picture asks below 0."""
    return np.sqrt(np.maximum(p, 0.0))


def _range(posterior: Posterior) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of clusters from one below to one above the likely ones, with probabilities."""
    pmf = posterior.n_clusters_pmf()
    likely = [k for k, p in pmf.items() if p >= NEGLIGIBLE]
    n_clusters = np.arange(max(min(likely) - 1, 1), max(likely) + 2)
    return n_clusters, np.array([pmf.get(int(k), 0.0) for k in n_clusters])
