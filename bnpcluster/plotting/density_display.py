"""The posterior predictive density of one or two columns, with bands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnpcluster import densities
from bnpcluster._core import arguments
from bnpcluster._core.sorting import weighted_quantile
from bnpcluster._predict.predictive import draw_log_densities, predict, served
from bnpcluster.partitions import label_draws
from bnpcluster.plotting.common import (
    COLOURS,
    LEGEND,
    axes_for,
    check_model,
    column_names,
    evenly_spaced,
    legend_beside,
)

Random = Callable[[NDArray[np.float64]], NDArray[np.float64]]
MARGIN = 0.2  # added on both sides of the range of the data, as a share of it
POINTS = {1: 400, 2: 80}  # grid points along every axis, by the number of columns
CHUNK = 10_000  # points whose densities under all draws are in memory at the same time
BAND = 0.3  # opacity
MASSES = (0.95, 0.75, 0.5, 0.25)  # of the regions that the contours of a map enclose


class DensityDisplay:
    """The posterior predictive density on a grid, with pointwise bands over draws.

    The mean over all draws is the density of `score_samples`. At every point, the band contains the
    central share `level` of random densities. With ``bands="posterior"``, for Gaussian likelihoods,
    these are draws from the posterior of the density: the weight, mean and covariance of each
    cluster are drawn given each draw of the partition; new clusters enter by their mean density.
    With ``bands="draws"``, they are the predictive densities of the draws, in which all these
    parameters are integrated out. Such a band shows only the uncertainty of the partition, and is
    narrower.

    Two columns are shown by the regions of highest mean density that have 95, 75, 50 and 25 % of
    the probability; darker ones are inside. The outermost contour has a band: the places where its
    height is within the band of the density. Likelihoods of whole numbers show probabilities
    instead.

    Parameters
    ----------
    grid : tuple of one or two ndarray
        Grid points along every column.
    mean, lower, upper : ndarray of shape (n_points,), or (n_points of the second, of the first)
        The density and its band.
    data : ndarray of shape (n_rows, 1) or (n_rows, 2)
        The rows of the fit.
    level : float, default=0.9
        Probability of the band at every point.
    names : tuple of str
        Names of the columns.
    discrete : bool, default=False
        Whether the grid contains whole numbers, with probabilities.
    bands : {"draws", "posterior"}, default="draws"
        The kind of the bands, for the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The mean (one column).
    band_ : matplotlib PolyCollection or LineCollection
        The band (one column).
    histogram_ : matplotlib BarContainer
        The data (one column).
    contours_ : matplotlib QuadContourSet
        The mean (two columns).
    regions_ : matplotlib QuadContourSet
        The regions that the contours enclose (two columns).
    bands_ : list of matplotlib QuadContourSet
        The band of the outermost contour (two columns).
    points_ : matplotlib PathCollection
        The data (two columns).
    ax_ : matplotlib Axes
        The axes of the picture.
    figure_ : matplotlib Figure
        The figure of the axes.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster import DPMixture
    >>> from bnpcluster.plotting import DensityDisplay
    >>> X = np.random.default_rng(0).normal(size=(300, 1))
    >>> model = DPMixture(random_state=0).fit(X)
    >>> display = DensityDisplay.from_estimator(model, grid=[-2.0, 0.0, 2.0])
    >>> display.mean.round(1).tolist()
    [0.1, 0.4, 0.1]
    """

    def __init__(
        self,
        grid: tuple[NDArray[np.float64], ...],
        mean: NDArray[np.float64],
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        data: NDArray[np.float64],
        *,
        level: float = 0.9,
        names: tuple[str, ...] = ("", ""),
        discrete: bool = False,
        bands: str = "draws",
    ):
        self.grid = grid
        self.mean = mean
        self.lower = lower
        self.upper = upper
        self.data = data
        self.level = level
        self.names = names
        self.discrete = discrete
        self.bands = bands

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        columns: Any = None,
        grid: ArrayLike | tuple[ArrayLike, ArrayLike] | None = None,
        level: float = 0.9,
        n_draws: int = 200,
        bands: str = "auto",
        random_state: Any = 0,
        ax: Any = None,
        **kwargs: Any,
    ) -> DensityDisplay:
        """Draw the predictive density of one or two columns of a mixture.

        Parameters
        ----------
        estimator : mixture
            A mixture fitted on one or two columns, or on more if `columns` is given.
        columns : int, str or list of them, optional
            Numbers or names of the one or two columns to show, only for Gaussian likelihoods. By
            default all columns.
        grid : array-like, or two of them for two columns, optional
            Grid points along every column; by default the range of the data with a margin.
        level : float, default=0.9
            Probability of the band at every point.
        n_draws : int, default=200
            Largest number of draws for the bands; the mean uses all of them.
        bands : {"auto", "posterior", "draws"}, default="auto"
            The kind of the bands, see above. "auto" is "posterior" for Gaussian likelihoods, and
            "draws" for others.
        random_state : None, int, RandomState or Generator, default=0
            Seed of the parameters drawn for "posterior" bands.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        DensityDisplay
        """
        check_model(cls, estimator, "rows")
        shown = _columns_to_show(estimator, columns)
        discrete = not estimator._fitted.likelihood.has_density
        bands = _kind_of_bands(estimator, bands)
        level = _checked_level(estimator, len(shown), discrete, level)
        data = estimator._fitted.X[:, shown]
        axes = _axes(data, discrete) if grid is None else _checked_grid(grid, len(shown))
        points = np.column_stack([a.ravel() for a in np.meshgrid(*axes)])
        if columns is None:
            mean = np.exp(predict(estimator._served(points), points).log_density)
        else:
            mean = np.exp(estimator.marginal(columns).score_samples(points))
        draws, weights = label_draws.thin(
            estimator.posterior_.weights.ravel(), arguments.count("n_draws", n_draws, 1)
        )
        chosen = None if columns is None else shown
        random = _log_density_by_draw(estimator, bands, draws, chosen, random_state)
        lower, upper = _bands(random, weights, points, level)
        shape = tuple(len(a) for a in axes[::-1])
        display = cls(
            axes,
            mean.reshape(shape),
            lower.reshape(shape),
            upper.reshape(shape),
            data,
            level=level,
            names=tuple(column_names(estimator)[j] for j in estimator._fitted.columns[shown]),
            discrete=discrete,
            bands=bands,
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, data: bool = True, **kwargs: Any) -> DensityDisplay:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        data : bool, default=True
            Whether to show the data, as a histogram or as points.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.plot` or `matplotlib.axes.Axes.contour` for the mean.

        Returns
        -------
        self
        """
        ax = axes_for(self, ax)
        if len(self.grid) == 1:
            self._plot_curve(ax, data, kwargs)
        else:
            self._plot_map(ax, data, kwargs)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _plot_curve(self, ax: Any, data: bool, kwargs: dict[str, Any]) -> None:
        x, label = self.grid[0], self._band_label()
        if data:
            self.histogram_ = self._histogram(ax)
        if self.discrete:
            style: dict[str, Any] = {"marker": "o", "ls": "none", "color": COLOURS[0]}
            self.band_ = ax.vlines(x, self.lower, self.upper, colors=COLOURS[0], lw=2, label=label)
        else:
            style = {"color": COLOURS[0]}
            band = {"color": COLOURS[0], "alpha": BAND, "lw": 0, "label": label}
            self.band_ = ax.fill_between(x, self.lower, self.upper, **band)
        (self.line_,) = ax.plot(x, self.mean, **{**style, "label": "posterior mean", **kwargs})
        ax.set(xlabel=self.names[0], ylabel="probability" if self.discrete else "density")
        ax.set_ylim(bottom=0)
        ax.legend(**LEGEND)

    def _band_label(self) -> str:
        return f"{100 * self.level:g} % {'of draws' if self.bands == 'draws' else 'credible'}"

    def _histogram(self, ax: Any) -> Any:
        """The data, on the scale of the density."""
        x, style = self.data[:, 0], {"color": "0.85", "label": "data"}
        x = x[~np.isnan(x)]
        if self.discrete:
            values, counts = np.unique(x, return_counts=True)
            return ax.bar(values, counts / len(x), **style)
        edges = np.histogram_bin_edges(x, min(100, max(10, int(2 * np.sqrt(len(x))))))
        return ax.hist(x, edges, density=True, **style)[2]

    def _plot_map(self, ax: Any, data: bool, kwargs: dict[str, Any]) -> None:
        from matplotlib import colormaps

        masses = region_heights(self.mean, self.grid)
        shades = colormaps["Blues"](np.linspace(0.2, 0.75, len(masses)))
        heights = [*masses, max(self.mean.max(), 1.01 * max(masses))]
        self.regions_ = ax.contourf(*self.grid, self.mean, heights, colors=shades)
        height = heights[0]
        # Positive where the height lies within the band of the density.
        within = np.minimum(height - self.lower, self.upper - height) / height
        self.bands_ = []
        if within.max() > 0:
            style: dict[str, Any] = {"colors": [COLOURS[1]], "alpha": BAND}
            self.bands_.append(ax.contourf(*self.grid, within, [0.0, np.inf], **style))
        style = {"colors": [COLOURS[0]], "linewidths": 0.8, **kwargs}
        self.contours_ = ax.contour(*self.grid, self.mean, list(masses), **style)
        if data:
            some = self.data[evenly_spaced(len(self.data), 2000)]
            self.points_ = ax.scatter(*some.T, s=4, lw=0, color="black", label="data")
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        self._draw_legend(ax, list(masses.values()), shades, data)

    def _draw_legend(
        self, ax: Any, masses: list[float], shades: NDArray[np.float64], data: bool
    ) -> None:
        """Draw a legend of the regions, innermost first, of the band, and of the data."""
        from matplotlib.patches import Patch

        shown: list[Any] = [
            Patch(color=shade, label=f"{100 * mass:g} % of mass")
            for mass, shade in zip(masses[::-1], shades[::-1], strict=True)
        ]
        if self.bands_:
            label = f"edge of {100 * masses[0]:g} %,\n{self._band_label()}"
            shown.append(Patch(color=COLOURS[1], alpha=BAND, lw=0, label=label))
        legend_beside(ax, "", handles=[*shown, self.points_] if data else shown)


def _kind_of_bands(estimator: Any, bands: str) -> str:
    """The kind of the bands, checked."""
    gaussian = estimator._fitted.likelihood.is_gaussian
    if arguments.is_auto(bands):
        return "posterior" if gaussian else "draws"
    if not isinstance(bands, str) or bands not in ("posterior", "draws"):
        raise ValueError(arguments.unknown("bands", str(bands), ("auto", "posterior", "draws")))
    if bands == "posterior" and not gaussian:
        raise ValueError(
            "bands='posterior' is available only for the Gaussian likelihoods 'niw' and 'nig': use "
            "bands='draws'."
        )
    return bands


def _columns_to_show(estimator: Any, columns: Any) -> list[int]:
    """The numbers of the columns to show."""
    if columns is None:
        return list(range(len(estimator._fitted.columns)))
    return densities.column_numbers(estimator._served(None), columns, estimator._names())


def _log_density_by_draw(
    estimator: Any, bands: str, draws: NDArray, columns: list[int] | None, random_state: Any
) -> Random:
    """The function from points to the random log densities of the bands, one per draw."""
    if bands == "draws":
        if columns is None:
            whole = estimator._fitted
            return lambda points: draw_log_densities(whole, points, draws)
        some, own = columns, served(estimator._fitted, None)
        return lambda points: densities.draw_log_densities(own, points, draws, some)
    fitted, prior = served(estimator._fitted, None), estimator._fitted.prior
    # One seed: the parameters are the same for every chunk of the points.
    seed = arguments.seed_sequence(random_state)
    return lambda points: densities.random_log_densities(
        fitted, prior, points, draws, np.random.default_rng(seed), columns
    )


def _bands(
    random: Random, weights: NDArray[np.float64], points: NDArray[np.float64], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The limits of the central share `level` of the random densities at every point."""
    bands = np.empty((2, len(points)))
    for start in range(0, len(points), CHUNK):
        part = slice(start, start + CHUNK)
        heights = np.exp(random(points[part]))
        for band, share in zip(bands, ((1 - level) / 2, (1 + level) / 2), strict=True):
            band[part] = weighted_quantile(heights, weights, share)
    return bands[0], bands[1]


def region_heights(
    density: NDArray[np.float64], grid: tuple[NDArray[np.float64], ...]
) -> dict[float, float]:
    """Heights of the contours around the regions of highest density with the mass `MASSES`.

    The lowest comes first, each with the mass of its region.
    """
    cells = np.outer(np.gradient(grid[1]), np.gradient(grid[0]))
    order = np.argsort(-density, axis=None)
    mass = np.cumsum((density * cells).ravel()[order])
    reached = np.searchsorted(mass, np.array(MASSES) * mass[-1])
    return dict(zip(density.ravel()[order][reached].tolist(), MASSES, strict=True))


def _checked_level(estimator: Any, n_columns: int, discrete: bool, level: float) -> float:
    """The level as a float. Raise an error if it is invalid, or the estimator cannot be shown."""
    if n_columns > 2:
        raise ValueError(
            f"DensityDisplay shows one or two columns, not {n_columns}: choose them with columns=, "
            "fit a model on fewer columns, or use ClusterDisplay."
        )
    if discrete and n_columns == 2:
        likelihood = type(estimator._fitted.likelihood).__name__
        raise ValueError(
            f"{likelihood} has no density, so DensityDisplay shows only one column: fit a model on "
            "one column."
        )
    return arguments.number_between("level", level, 0.0, 1.0)


def _axes(X: NDArray[np.float64], discrete: bool) -> tuple[NDArray[np.float64], ...]:
    """Points along every column: its range with a margin, or all its whole numbers."""
    n_points = POINTS[X.shape[1]]
    axes = []
    for low, high in zip(np.nanmin(X, axis=0), np.nanmax(X, axis=0), strict=True):
        if discrete:
            axes.append(np.unique(np.linspace(low, high, n_points).round()))
            if high - low < n_points:
                axes[-1] = np.arange(low, high + 1)
        else:
            margin = MARGIN * (high - low)
            axes.append(np.linspace(low - margin, high + margin, n_points))
    return tuple(axes)


def _checked_grid(grid: Any, n_columns: int) -> tuple[NDArray[np.float64], ...]:
    """Check a given grid, and return its axes as arrays."""
    is_pair = n_columns > 1 and isinstance(grid, (list, tuple, np.ndarray))
    axes = tuple(grid) if is_pair else (grid,)
    arrays = tuple(arguments.numbers_of("grid", a, "numbers") for a in axes)
    if len(arrays) != n_columns or any(a.ndim != 1 or len(a) < 2 for a in arrays):
        raise ValueError(
            "grid must be one array of at least two points, or a pair of them for two columns."
        )
    if any((np.diff(a) <= 0).any() or not np.isfinite(a).all() for a in arrays):
        raise ValueError("The points of grid must be finite and increasing.")
    return arrays
