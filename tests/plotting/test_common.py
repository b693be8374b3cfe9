"""Pictures: what is drawn, by the numbers in the artists, and what is said of wrong use."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bnpcluster import DPMixture, InfiniteRelationalModel
from bnpcluster._core.sorting import weighted_quantile
from bnpcluster.partitions.memberships import certainty
from bnpcluster.plotting import (
    AdjacencyDisplay,
    ClusterDisplay,
    CoclusteringDisplay,
    DensityDisplay,
    NumberOfClustersDisplay,
    ProfileDisplay,
    TraceDisplay,
    common,
)
from bnpcluster.plotting.common import evenly_spaced
from bnpcluster.plotting.density_display import MASSES, region_heights
from bnpcluster.posterior import Posterior

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
DISPLAYS = [
    AdjacencyDisplay,
    ClusterDisplay,
    CoclusteringDisplay,
    DensityDisplay,
    NumberOfClustersDisplay,
    ProfileDisplay,
    TraceDisplay,
]
# Three draws of five items; the second weighs as much as the two others.
DRAWS = np.array([[0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [0, 1, 2, 3, 3]])
WEIGHTS = np.array([1.0, 2.0, 1.0])
QUICK = {"n_draws": 40, "n_warmup": 60, "n_chains": 2, "random_state": 0}


@pytest.fixture(autouse=True)
def pyplot(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


@pytest.fixture(scope="module")
def model():
    """A model of two columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2)) + np.repeat([[0, 0], [6, 3]], 15, axis=0)
    return DPMixture(**QUICK).fit(X)


@pytest.fixture(scope="module")
def line():
    """A model of one column, far from the origin."""
    x = np.random.default_rng(1).normal(1000.0, 20.0, size=(40, 1))
    return DPMixture(**QUICK).fit(x)


def together(draws, weights):
    return np.einsum("r,rij->ij", weights / weights.sum(), draws[:, :, None] == draws[:, None])


def test_certainty_is_the_mean_coclustering_with_the_own_cluster():
    labels = np.array([0, 0, 1, 0, 1])
    inside = labels[:, None] == labels
    expected = (together(DRAWS, WEIGHTS) * inside).sum(axis=1) / inside.sum(axis=1)
    posterior = Posterior(DRAWS[None], weights=WEIGHTS[None])
    np.testing.assert_allclose(certainty(posterior, labels), expected)


def test_a_coclustering_picture_shows_every_pair_by_cluster():
    labels = [5, 5, 5, 2, 2]
    display = CoclusteringDisplay.from_draws(DRAWS, labels=labels, weights=WEIGHTS)
    assert sorted(display.order[:3]) == [0, 1, 2]
    assert display.order[2] == 2  # the loosest of its cluster
    expected = together(DRAWS, WEIGHTS)[np.ix_(display.order, display.order)]
    np.testing.assert_allclose(display.image_.get_array(), expected)
    assert display.boundaries.tolist() == [3, 5]
    assert display.image_.get_extent() == [0, 5, 5, 0]
    assert display.image_.get_clim() == (0.0, 1.0)
    assert [len(line.get_segments()) for line in display.lines_] == [1, 1]
    assert "sharing a cluster" in display.colorbar_.ax.get_ylabel()
    assert display.ax_.get_xlabel() == "rows, by cluster"


def test_groups_within_a_cluster_show_as_blocks():
    parity = np.arange(12) % 2
    display = CoclusteringDisplay.from_draws([0 * parity, parity], labels=0 * parity)
    assert np.abs(np.diff(parity[display.order])).sum() == 1
    np.testing.assert_array_equal(display.probability[:6, 6:], 0.5)
    np.testing.assert_array_equal(display.probability[:6, :6], 1.0)


def test_chains_and_plain_draws_make_the_same_coclustering_picture():
    plain = CoclusteringDisplay.from_draws(DRAWS, weights=WEIGHTS)
    chains = CoclusteringDisplay.from_draws(DRAWS[:, None], weights=WEIGHTS)
    np.testing.assert_array_equal(plain.probability, chains.probability)
    np.testing.assert_array_equal(plain.order, chains.order)


def test_a_coclustering_picture_of_a_model_follows_its_labels(model):
    display = CoclusteringDisplay.from_estimator(model, colorbar=False, lines=False, cmap="Greys")
    np.testing.assert_array_equal(np.diff(model.labels_[display.order]) >= 0, True)
    assert display.colorbar_ is None
    assert display.lines_ == []
    assert display.image_.get_cmap().name == "Greys"


def test_many_rows_are_thinned_and_nothing_large_is_made(monkeypatch):
    labels = np.tile([0, 0, 0, 1, 1], 20_000)
    asked = []
    full = Posterior.coclustering
    monkeypatch.setattr(Posterior, "coclustering", lambda *a, **k: asked.append(k) or full(*a, **k))
    display = CoclusteringDisplay.from_draws(labels[None], labels=labels, n_rows=50)
    assert [(len(k["rows"]), len(k["columns"])) for k in asked] == [(50, 50)]
    assert np.bincount(labels[display.order]).tolist() == [30, 20]
    assert display.boundaries.tolist() == [60_000, 100_000]
    assert display.image_.get_extent() == [0, 100_000, 100_000, 0]


@pytest.mark.parametrize(("n", "size"), [(10, 3), (10, 10), (3, 10), (100_000, 999)])
def test_rows_are_chosen_evenly_and_once(n, size):
    chosen = evenly_spaced(n, size)
    assert len(set(chosen.tolist())) == min(n, size)
    assert 0 <= chosen.min() <= n / len(chosen)
    assert 0 < n - chosen.max() <= n / len(chosen) + 1
    assert np.ptp(np.diff(chosen)) <= 1


def test_numbers_of_clusters_beside_the_prior(model):
    display = NumberOfClustersDisplay.from_estimator(model)
    pmf = model.n_clusters_posterior_
    shown = {int(bar.get_x() + 0.5): bar.get_height() for bar in display.bars_}
    for k, p in pmf.items():
        assert shown.get(k, 0.0) == pytest.approx(p, abs=0.001)
    k, prior = display.prior_.get_data()
    np.testing.assert_array_equal(k, display.n_clusters)
    np.testing.assert_allclose(prior, model._fitted.prior.n_clusters_pmf(30)[k])
    assert display.estimate_.get_xdata()[0] == model.n_clusters_
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["posterior", "prior", "point estimate"]
    assert NumberOfClustersDisplay.from_estimator(model, prior=False).prior_ is None


def test_numbers_of_clusters_of_any_draws():
    display = NumberOfClustersDisplay.from_posterior(Posterior(DRAWS[None], weights=WEIGHTS[None]))
    assert display.n_clusters.tolist() == [1, 2, 3, 4, 5]
    assert display.probability.tolist() == [0.0, 0.75, 0.0, 0.25, 0.0]
    assert display.ax_.get_legend() is None


def test_there_are_no_more_clusters_than_rows():
    model = DPMixture(alpha=1e9, init="singletons", **QUICK).fit(np.eye(4)[:, :2])
    display = NumberOfClustersDisplay.from_estimator(model)
    assert display.n_clusters[-1] == 5
    assert display.prior[-1] == 0.0


def test_a_trace_is_a_line_per_chain(model):
    display = TraceDisplay.from_estimator(model, lw=2)
    for drawn, values in zip(display.lines_, model.posterior_.log_posterior, strict=True):
        np.testing.assert_array_equal(drawn.get_data(), [np.arange(1, 41), values])
        assert drawn.get_linewidth() == 2
    colours = {drawn.get_color() for drawn in display.lines_}
    assert len(colours) == 2
    assert display.ax_.get_ylabel() == "log posterior"
    assert len(display.ax_.get_legend().get_texts()) == 2


def test_traces_of_whole_numbers_are_points_side_by_side(model):
    display = TraceDisplay.from_estimator(model, "n_clusters")
    for shift, drawn, values in zip(
        (-0.2, 0.2), display.lines_, model.posterior_.n_clusters, strict=True
    ):
        np.testing.assert_allclose(drawn.get_ydata(), values + shift)
        assert drawn.get_linestyle() == "None"
    assert display.ax_.get_ylabel() == "number of clusters"


def test_a_number_of_clusters_that_never_changes_has_no_fractions():
    display = TraceDisplay(np.ones((2, 5), int), "n_clusters").plot()
    low, high = display.ax_.get_ylim()
    ticks = [tick for tick in display.ax_.get_yticks() if low <= tick <= high]
    assert ticks == [1]


def test_one_chain_needs_no_legend():
    display = TraceDisplay([0.5, 0.25], "alpha").plot()
    assert display.values.shape == (1, 2)
    assert display.ax_.get_legend() is None


def test_unknown_traces_are_answered_with_those_there_are(model):
    with pytest.raises(ValueError, match=r"no trace 'beta': use one of \['alpha', 'log_dens"):
        TraceDisplay.from_estimator(model, "beta")


def test_a_density_is_the_predictive_in_the_units_of_the_data(line):
    display = DensityDisplay.from_estimator(line, n_draws=80)
    (x,) = display.grid
    assert x[0] < line._fitted.X.min() < line._fitted.X.max() < x[-1]
    np.testing.assert_array_equal(display.line_.get_xdata(), x)
    np.testing.assert_allclose(
        display.line_.get_ydata(), np.exp(line.score_samples(x[:, None])), rtol=1e-12
    )
    assert display.mean.sum() * (x[1] - x[0]) == pytest.approx(1.0, abs=0.03)
    assert (display.lower <= display.upper).all()
    assert (display.lower < display.mean).any() and (display.mean < display.upper).any()
    heights = np.array([bar.get_height() for bar in display.histogram_])
    widths = np.array([bar.get_width() for bar in display.histogram_])
    assert heights @ widths == pytest.approx(1.0)
    assert display.ax_.get_xlabel() == "column 0"
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert set(legend) == {"90 % credible", "posterior mean", "data"}


def test_the_band_of_a_density_holds_the_asked_share_of_draws(line, monkeypatch):
    from bnpcluster.plotting import density_display as module

    # Draw r has the density 0.1 (r + 1), everywhere.
    monkeypatch.setattr(
        module,
        "draw_log_densities",
        lambda fitted, X, draws: np.log(0.1 * (np.asarray(draws)[:, None] + np.ones(len(X)))),
    )
    display = DensityDisplay.from_estimator(
        line, grid=[900.0, 1100.0], level=0.5, n_draws=80, bands="draws"
    )
    np.testing.assert_allclose(display.lower, 2.0)
    np.testing.assert_allclose(display.upper, 6.0)
    band = display.band_.get_paths()[0].vertices[:, 1]
    assert band.min() == pytest.approx(2.0)
    assert band.max() == pytest.approx(6.0)


def test_posterior_bands_are_wider_than_those_of_draws_and_repeat(line):
    show = {"grid": np.linspace(950.0, 1050.0, 20), "n_draws": 80}
    wide = DensityDisplay.from_estimator(line, **show)
    narrow = DensityDisplay.from_estimator(line, bands="draws", **show)
    np.testing.assert_array_equal(wide.mean, narrow.mean)
    assert ((wide.upper - wide.lower) > (narrow.upper - narrow.lower)).mean() > 0.9
    again = DensityDisplay.from_estimator(line, bands="posterior", **show)
    other = DensityDisplay.from_estimator(line, random_state=1, **show)
    np.testing.assert_array_equal(wide.lower, again.lower)
    assert (wide.lower != other.lower).all()
    np.testing.assert_allclose(wide.lower, other.lower, atol=0.3 * wide.mean.max())
    assert {"90 % of draws"} < {text.get_text() for text in narrow.ax_.get_legend().get_texts()}


@pytest.mark.parametrize("likelihood", ["niw", "nig"])
def test_one_or_two_columns_of_many_have_their_marginal_density(likelihood):
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.normal([0.0, 50.0, 900.0], [1.0, 5.0, 0.1], (40, 3)), columns=list("abc"))
    X.iloc[3, 0] = np.nan
    model = DPMixture(likelihood=likelihood, **QUICK).fit(X)
    curve = DensityDisplay.from_estimator(model, columns="c", n_draws=80)
    assert curve.ax_.get_xlabel() == "c"
    density = model.marginal("c").score_samples(curve.grid[0])
    np.testing.assert_allclose(curve.line_.get_ydata(), np.exp(density))
    assert (curve.lower < curve.mean).all() and (curve.mean < curve.upper).mean() > 0.9
    assert curve.data.tolist() == X[["c"]].to_numpy().tolist()
    pair = DensityDisplay.from_estimator(model, columns=["c", "a"], n_draws=20, bands="draws")
    assert (pair.ax_.get_xlabel(), pair.ax_.get_ylabel()) == ("c", "a")
    points = np.column_stack([a.ravel() for a in np.meshgrid(*pair.grid)])
    density = model.marginal(["c", "a"]).score_samples(points)
    np.testing.assert_allclose(pair.mean.ravel(), np.exp(density))
    assert (pair.lower <= pair.upper).all()
    with pytest.raises(ValueError, match="Unknown column 'd'"):
        DensityDisplay.from_estimator(model, columns="d")


def test_columns_of_counts_cannot_be_chosen():
    model = DPMixture(likelihood="poisson", **QUICK).fit(np.array([[0.0, 1], [1, 3], [4, 0]]))
    with pytest.raises(TypeError, match="not available"):
        DensityDisplay.from_estimator(model, columns=0)


def test_bands_of_counts_are_those_of_draws():
    model = DPMixture(likelihood="poisson", **QUICK).fit(np.array([[0.0], [1.0], [4.0]]))
    assert DensityDisplay.from_estimator(model).bands == "draws"
    with pytest.raises(ValueError, match="bands='posterior' is available only for the Gaussian"):
        DensityDisplay.from_estimator(model, bands="posterior")


def test_bands_are_computed_piece_by_piece(model, monkeypatch):
    from bnpcluster.plotting import density_display as module

    grid = (np.linspace(-4, 10, 5), np.linspace(-4, 8, 7))
    whole = DensityDisplay.from_estimator(model, grid=grid)
    monkeypatch.setattr(module, "CHUNK", 8)
    pieces = DensityDisplay.from_estimator(model, grid=grid)
    np.testing.assert_allclose(pieces.lower, whole.lower)
    np.testing.assert_allclose(pieces.upper, whole.upper)


def test_quantiles_follow_the_weights():
    values = np.array([[3.0, 1.0], [1.0, 2.0], [2.0, 3.0]])
    weights = np.array([1.0, 1.0, 2.0])
    for share, expected in [(0.25, [1, 1]), (0.26, [2, 2]), (0.74, [2, 3]), (0.76, [3, 3])]:
        np.testing.assert_array_equal(weighted_quantile(values, weights, share), expected)


def test_a_density_of_two_columns_by_contours(model):
    grid = (np.linspace(-4, 10, 12), np.linspace(-4, 8, 9))
    display = DensityDisplay.from_estimator(model, grid=grid)
    assert display.mean.shape == (9, 12)
    corner = [[grid[0][10], grid[1][2]]]
    assert display.mean[2, 10] == pytest.approx(np.exp(model.score_samples(corner)[0]))
    heights = region_heights(display.mean, grid)
    np.testing.assert_array_equal(display.contours_.levels, list(heights))
    assert display.points_.get_offsets().shape == (30, 2)
    assert len(display.bands_) == 1
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("column 0", "column 1")
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == [
        *(f"{mass} % of mass" for mass in (25, 50, 75, 95)),
        "edge of 95 %,\n90 % credible",
        "data",
    ]
    shades = display.regions_.get_facecolors()[:, :3]
    assert (np.diff(shades.sum(axis=1)) < 0).all()  # darker inside, without holes
    levels = np.array(display.regions_.levels)
    np.testing.assert_array_equal(levels[:-1], display.contours_.levels)
    assert levels[-1] >= display.mean.max()


def test_contours_hold_their_share_of_a_normal_density():
    x, y = np.linspace(-5, 5, 300), np.linspace(-8, 8, 200)
    density = np.exp(-(x**2) / 2 - (y[:, None] / 2) ** 2 / 2) / (4 * np.pi)
    heights = region_heights(density, (x, y))
    assert tuple(heights.values()) == MASSES
    for height, mass in heights.items():
        assert height == pytest.approx((1 - mass) / (4 * np.pi), rel=0.02)


def test_bands_of_contours_lie_where_draws_cross_them():
    x = np.linspace(-4, 4, 41)
    mean = np.exp(-(x**2 + x[:, None] ** 2) / 2)
    data = np.zeros((1, 2))
    same = DensityDisplay((x, x), mean, mean, mean, data).plot(data=False)
    assert same.bands_ == []
    assert not hasattr(same, "points_")
    wide = DensityDisplay((x, x), mean, 0.8 * mean, 1.25 * mean, data).plot()
    height = wide.contours_.levels[0]
    places = np.concatenate([path.vertices for path in wide.bands_[0].get_paths()])
    crossed = np.exp(-(places**2).sum(axis=1) / 2) / height
    assert 0.7 < crossed.min() < 0.85
    assert 1.2 < crossed.max() < 1.4


def test_counts_have_probabilities_at_whole_numbers():
    X = np.array([[0.0], [1.0], [1.0], [2.0], [7.0], [9.0]])
    model = DPMixture(likelihood="poisson", **QUICK).fit(X)
    display = DensityDisplay.from_estimator(model)
    assert display.grid[0].tolist() == list(range(10))
    np.testing.assert_allclose(
        display.line_.get_ydata(), np.exp(model.score_samples(np.arange(10.0)[:, None]))
    )
    segments = np.array(display.band_.get_segments())
    np.testing.assert_array_equal(segments[:, 0, 1], display.lower)
    np.testing.assert_array_equal(segments[:, 1, 1], display.upper)
    assert {bar.get_x() + 0.4: bar.get_height() for bar in display.histogram_}[1] == (
        pytest.approx(1 / 3)
    )
    assert display.ax_.get_ylabel() == "probability"
    wide = DPMixture(likelihood="poisson", **QUICK).fit(X * 1000)
    (grid,) = DensityDisplay.from_estimator(wide, n_draws=2).grid
    assert len(grid) == 400
    np.testing.assert_array_equal(grid, grid.round())


@pytest.mark.parametrize("display", DISPLAYS, ids=lambda d: d.__name__)
def test_models_must_be_fitted_and_ours(display):
    unfitted = InfiniteRelationalModel() if display is AdjacencyDisplay else DPMixture()
    with pytest.raises(NotFittedError):
        display.from_estimator(unfitted)
    with pytest.raises(TypeError, match=rf"{display.__name__} needs an? .*got Pipeline: pass its"):
        display.from_estimator(make_pipeline(StandardScaler(), DPMixture()))


def test_networks_have_no_rows_to_show():
    A = np.kron(np.eye(2), np.ones((4, 4))) - np.eye(8)
    network = InfiniteRelationalModel(**QUICK).fit(A)
    for display in (ClusterDisplay, DensityDisplay, ProfileDisplay):
        with pytest.raises(TypeError, match="needs a mixture, which has rows and columns, got Inf"):
            display.from_estimator(network)
    assert CoclusteringDisplay.from_estimator(network).probability.shape == (8, 8)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"grid": [1.0]}, "grid must be one array"),
        ({"grid": [[1.0, 2.0]]}, "grid must be one array"),
        ({"grid": [2.0, 1.0]}, "must be finite and increasing"),
        ({"grid": [1.0, np.inf]}, "must be finite and increasing"),
        ({"bands": "posteriors"}, "Unknown bands 'posteriors'. Did you mean 'posterior'"),
        ({"level": 95}, "level must be above 0 and below 1, got 95"),
    ],
)
def test_bad_grids_and_levels(line, parameters, message):
    with pytest.raises(ValueError, match=message):
        DensityDisplay.from_estimator(line, **parameters)


def test_densities_of_three_columns_and_of_two_of_counts_are_refused():
    X = np.random.default_rng(0).poisson(3.0, size=(12, 3)).astype(float)
    with pytest.raises(ValueError, match="one or two columns, not 3: choose them with columns="):
        DensityDisplay.from_estimator(DPMixture(likelihood="nig", **QUICK).fit(X))
    with pytest.raises(ValueError, match="Poisson has no density"):
        DensityDisplay.from_estimator(DPMixture(likelihood="poisson", **QUICK).fit(X[:, :2]))


def test_bad_labels_and_draws():
    with pytest.raises(ValueError, match="must have 5 items, got 4"):
        CoclusteringDisplay.from_draws(DRAWS, labels=[0, 0, 1, 1])
    with pytest.raises(ValueError, match="Labels must be integers"):
        CoclusteringDisplay.from_draws(DRAWS + 0.5)


@pytest.mark.parametrize("display", DISPLAYS, ids=lambda d: d.__name__)
def test_without_matplotlib_the_remedy_is_named(display, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    with pytest.raises(ImportError, match=rf"{display.__name__} needs matplotlib: pip install"):
        common.axes_for(object.__new__(display), None)


def test_pictures_are_drawn_on_given_axes(model, line, pyplot):
    figure, axes = pyplot.subplots(ncols=6)
    for display, ax in zip(DISPLAYS[1:], axes, strict=True):
        data = line if display is DensityDisplay else model
        drawn = display.from_estimator(data, ax=ax)
        assert drawn.ax_ is ax
        assert drawn.figure_ is figure
