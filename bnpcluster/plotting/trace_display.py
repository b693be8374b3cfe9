"""A quantity along the chains, to see whether they have converged and agree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bnpcluster._core.messages import shown
from bnpcluster.plotting.common import COLOURS, axes_for, check_model
from bnpcluster.posterior import Posterior

SHOWN_CHAINS = 8  # largest number of chains with a legend
SPREAD = 0.8  # width of the points of all chains around a whole number
NAMES = {"n_clusters": "number of clusters"}


class TraceDisplay:
    """The trace of a scalar quantity: its value at every kept draw, in one colour per chain.

    Whole numbers are drawn as points, with the chains side by side, because lines would overlap.

    Parameters
    ----------
    values : ndarray of shape (n_chains, n_draws)
        Values of the quantity.
    name : str, default="value"
        Name of the quantity.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        One for every chain.
    ax_ : matplotlib Axes
        The axes of the picture.
    figure_ : matplotlib Figure
        The figure of the axes.

    Examples
    --------
    >>> from bnpcluster.plotting import TraceDisplay
    >>> from bnpcluster.posterior import Posterior
    >>> posterior = Posterior([[[0, 0, 1], [0, 1, 2]]], traces={"alpha": [[0.5, 0.8]]})
    >>> display = TraceDisplay.from_posterior(posterior, "alpha")
    >>> display.values.tolist()
    [[0.5, 0.8]]
    """

    def __init__(self, values: ArrayLike, name: str = "value"):
        self.values = np.atleast_2d(np.asarray(values))
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: Any, name: str = "log_posterior", *, ax: Any = None, **kwargs: Any
    ) -> TraceDisplay:
        """Draw a trace of a fitted model.

        Parameters
        ----------
        estimator : mixture or InfiniteRelationalModel
            A fitted model.
        name : str, default="log_posterior"
            A key of `estimator.posterior_.traces`: "log_posterior", "n_clusters", or a sampled
            parameter of the prior, such as "alpha".
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.plot`.

        Returns
        -------
        TraceDisplay
        """
        check_model(cls, estimator)
        return cls.from_posterior(estimator.posterior_, name, ax=ax, **kwargs)

    @classmethod
    def from_posterior(
        cls, posterior: Posterior, name: str = "log_posterior", *, ax: Any = None, **kwargs: Any
    ) -> TraceDisplay:
        """Draw a trace of a posterior.

        Parameters
        ----------
        posterior : Posterior
            The posterior with the trace.
        name : str, default="log_posterior"
            A key of `posterior.traces`.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.plot`.

        Returns
        -------
        TraceDisplay
        """
        if not isinstance(name, str) or name not in posterior.traces:
            raise ValueError(
                f"There is no trace {shown(name)}: use one of {sorted(posterior.traces)}."
            )
        return cls(posterior.traces[name], name).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> TraceDisplay:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.plot`.

        Returns
        -------
        self
        """
        ax = axes_for(self, ax)
        n_chains, n_draws = self.values.shape
        whole = self.values.dtype.kind in "iub"
        shift = SPREAD * (np.arange(n_chains) - (n_chains - 1) / 2) / n_chains * whole
        style = {"ls": "none", "marker": ".", "ms": 2} if whole else {"lw": 0.8}
        self.lines_ = []
        for c, values in enumerate(self.values):
            drawn = {"color": COLOURS[c % len(COLOURS)], "label": f"chain {c}", **style, **kwargs}
            self.lines_ += ax.plot(np.arange(1, n_draws + 1), values + shift[c], **drawn)
        if whole:
            ax.yaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
        ax.set(xlabel="kept draw", ylabel=NAMES.get(self.name, self.name.replace("_", " ")))
        if 1 < len(self.values) <= SHOWN_CHAINS:
            # Above the axes, because there is no free area inside; short, to fit there.
            names = ["chain 0", *map(str, range(1, n_chains))]
            above = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "frameon": False}
            legend = ax.legend(
                self.lines_, names, ncols=n_chains, handlelength=1, columnspacing=1, **above
            )
            for handle in legend.legend_handles:
                handle.set(linewidth=2, markersize=8)
        self.ax_, self.figure_ = ax, ax.figure
        return self
