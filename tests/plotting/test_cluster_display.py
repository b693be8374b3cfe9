"""The rows as points: colours, markers, legends and the names of axes."""

import numpy as np
import pandas as pd
import pytest

from bnpcluster import DPMixture
from bnpcluster.partitions.memberships import certainty
from bnpcluster.plotting import ClusterDisplay
from bnpcluster.plotting.common import MANY_COLOURS

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
pyplot = pytest.importorskip("matplotlib.pyplot")
QUICK = {"n_draws": 40, "n_warmup": 60, "n_chains": 1, "random_state": 0}


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2)) + np.repeat([[0, 0], [6, 3]], 15, axis=0)
    return DPMixture(**QUICK).fit(X)


@pytest.fixture(scope="module")
def mixed():
    """Two groups, with a column of categories whose alphabetical order means nothing."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 30)
    town = np.array(["Ulm", "Bonn", "Kiel"])[(2 * group + (rng.random(60) < 0.3)) % 3]
    table = pd.DataFrame(
        {
            "length": rng.normal(9.0 * group),
            "town": town,
            "visits": rng.poisson(3.0, 60) + 1.0,
        }
    )
    return DPMixture(likelihood="columns", **QUICK).fit(table)


def drawn(n_clusters):
    points = np.random.default_rng(0).random((2 * n_clusters, 2))
    labels = np.repeat(np.arange(n_clusters), 2)
    return ClusterDisplay(points, labels, np.ones(len(labels)), ("x", "y")).plot()


def test_clusters_are_told_apart_and_pale_where_unsure(model):
    display = ClusterDisplay.from_estimator(model)
    for k, drawn in enumerate(display.points_):
        np.testing.assert_array_equal(drawn.get_offsets(), model._fitted.X[model.labels_ == k])
    colours = {tuple(drawn.get_facecolors()[0, :3]) for drawn in display.points_}
    assert len(colours) == len(display.points_) == model.n_clusters_
    sure = certainty(model.posterior_, model.labels_)[model.labels_ == 0]
    opacity = display.points_[0].get_facecolors()[:, 3]
    np.testing.assert_array_equal(np.argsort(opacity), np.argsort(sure))
    assert display.names == ("column 0", "column 1")
    thin = display.plot(n_rows=6).points_
    assert sum(len(drawn.get_offsets()) for drawn in thin) == 6


def test_many_clusters_differ_in_colour_or_marker():
    labels = np.arange(36)
    display = ClusterDisplay(np.ones((36, 2)), labels, np.ones(36), ("x", "y")).plot()
    looks = {
        (tuple(drawn.get_facecolors()[0]), drawn.get_paths()[0].vertices.tobytes())
        for drawn in display.points_
    }
    assert len(looks) == 36


def test_one_column_is_shown_cluster_by_cluster():
    x = np.random.default_rng(1).normal(1000.0, 20.0, size=(40, 1))
    line = DPMixture(**QUICK).fit(x)
    display = ClusterDisplay.from_estimator(line)
    np.testing.assert_array_equal(display.points[:, 0], line._fitted.X[:, 0])
    np.testing.assert_array_equal(display.points[:, 1].round(), line.labels_)
    assert display.names == ("column 0", "cluster")


def test_more_columns_are_shown_by_principal_components_or_by_choice():
    rng = np.random.default_rng(0)
    a = rng.normal(size=20)
    X = pd.DataFrame({"a": a, "b": 1000 * a, "c": rng.normal(size=20), "d": np.arange(20.0)})
    model = DPMixture(likelihood="nig", **QUICK).fit(X)
    display = ClusterDisplay.from_estimator(model)
    assert abs(np.corrcoef(display.points.T)[0, 1]) < 1e-9
    share = 100 * display.points[:, 0].var() / 4
    assert display.names[0] == f"first principal component\n({share:.0f} % of the variance)"
    chosen = ClusterDisplay.from_estimator(model, columns=["d", 0])
    np.testing.assert_array_equal(chosen.points, X[["d", "a"]])
    assert chosen.names == ("d", "a")
    assert ClusterDisplay.from_estimator(model, columns=["c"]).names == ("c", "cluster")
    for columns, message in [
        (["e"], "no column 'e': use a number from 0 to 3"),
        ([4], "no column 4"),
        (["a", "b", "c"], "one or two columns, got 3"),
    ]:
        with pytest.raises(ValueError, match=message):
            ClusterDisplay.from_estimator(model, columns=columns)


@pytest.mark.parametrize("layout", [None, "constrained"])
def test_the_legend_names_all_clusters_and_covers_no_point(layout):
    figure, ax = pyplot.subplots(layout=layout)
    display = drawn(12).plot(ax)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == [f"cluster {k}" for k in range(12)]
    colours = {tuple(each.get_facecolors()[0, :3]) for each in display.points_}
    assert len(colours) == 12 and display.numbers_ == []
    figure.canvas.draw()
    legend, axes = ax.get_legend().get_window_extent(), ax.get_window_extent()
    assert legend.x0 >= axes.x1
    assert legend.x1 <= figure.bbox.x1


def test_more_clusters_than_colours_are_numbered_at_their_centres():
    display = drawn(16)
    assert len(MANY_COLOURS) == 12
    assert [text.get_text() for text in display.numbers_] == [str(k) for k in range(16)]
    for k, text in enumerate(display.numbers_):
        centre = display.points[display.labels == k].mean(axis=0)
        np.testing.assert_allclose(text.get_position(), centre)
    assert display.ax_.get_legend() is None


def test_the_axis_of_a_single_column_names_clusters():
    X = np.concatenate([np.random.default_rng(0).normal(size=40), [30.0, 31.0]])[:, None]
    display = ClusterDisplay.from_estimator(DPMixture(min_cluster_size=10, **QUICK).fit(X))
    ticks = {
        tick.get_text(): at
        for tick, at in zip(display.ax_.get_yticklabels(), display.ax_.get_yticks(), strict=True)
    }
    assert ticks == {"no cluster": -1, "cluster 0": 0}
    assert "only to separate" in display.ax_.get_ylabel()
    assert display.ax_.get_legend() is None  # it would cover points, and say nothing more


def test_categories_have_their_names_on_the_axis(mixed):
    for columns, axis in ((["town", "length"], "x"), (["length", "town"], "y"), (["town"], "x")):
        ax = ClusterDisplay.from_estimator(mixed, columns=columns).ax_
        names = [text.get_text() for text in getattr(ax, f"get_{axis}ticklabels")()]
        assert names == ["Bonn", "Kiel", "Ulm"]
    shown = ClusterDisplay.from_estimator(mixed, columns=["town", "length"])
    codes = mixed._fitted.X[:, 1]
    np.testing.assert_array_equal(shown.points[:, 0].round(), codes)
    assert len(np.unique(shown.points[:, 0])) == 60  # spread, so that none hides another
    assert np.abs(np.corrcoef(shown.points[:, 0] - codes, shown.points[:, 1])[0, 1]) < 0.3


def test_long_and_many_names_of_categories_fit():
    towns = [f"a very long name of a town, number {k}" for k in range(7)]
    rows = np.arange(4.0), np.ones(4)
    display = ClusterDisplay(
        np.column_stack(rows), np.zeros(4, int), np.ones(4), ("town", "y"), (towns, None)
    ).plot()
    labels = display.ax_.get_xticklabels()
    assert all(len(label.get_text()) == 24 and label.get_rotation() == 30 for label in labels)


def test_names_of_components_take_two_lines(mixed):
    display = ClusterDisplay.from_estimator(mixed)
    for name in display.names:
        first, second = name.split("\n")
        assert first.endswith("principal component") and second.endswith("% of the variance)")
