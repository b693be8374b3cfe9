"""The display of merge trees, and how other displays show clusters of components."""

import numpy as np
import pytest

from bnpcluster import DPMixture, InfiniteRelationalModel
from bnpcluster.partitions import merge_tree
from bnpcluster.partitions.memberships import membership
from bnpcluster.plotting import (
    AdjacencyDisplay,
    ClusterDisplay,
    CoclusteringDisplay,
    MergeTreeDisplay,
    NumberOfClustersDisplay,
)
from bnpcluster.plotting.common import labels_for
from bnpcluster.plotting.merge_tree_display import AUTO, LEAST, REST
from bnpcluster.posterior import Posterior
from tests._estimators.test_clusters import QUICK, X

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
pyplot = pytest.importorskip("matplotlib.pyplot")
to_rgba = pytest.importorskip("matplotlib.colors").to_rgba


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def model():
    return DPMixture(merge=0.01, min_cluster_size=10, **QUICK).fit(X)


TAU = np.array([[0.9, 0.1, 0.0, 0.0], [0.4, 0.6, 0.0, 0.0], [0.0, 0.1, 0.9, 0.0], [0, 0, 0, 1.0]])


def test_lines_meet_at_the_overlap_of_their_join():
    tree = merge_tree(TAU)
    display = MergeTreeDisplay(tree, [1, 1, 1, 1], threshold=0.1).plot()
    segments = display.lines_.get_segments()
    assert len(segments) == 9
    for j, level in enumerate(tree.levels):
        upright = segments[3 * j + 1]
        np.testing.assert_allclose(upright[:, 0], max(level, LEAST))
        assert upright[0, 1] != upright[1, 1]
        for branch, end in ((segments[3 * j], upright[0]), (segments[3 * j + 2], upright[1])):
            assert branch[0, 1] == branch[1, 1] == end[1]
    assert display.threshold_.get_xdata()[0] == 0.1
    left, right = display.ax_.get_xlim()
    assert left > right  # strong overlaps are on the left
    assert [text.get_text() for text in display.texts_] == ["0.31", "0.048", "0"]


def test_branches_do_not_cross():
    tree = merge_tree(np.random.default_rng(0).dirichlet(np.full(8, 0.3), size=50))
    display = MergeTreeDisplay(tree, np.arange(8, 0, -1)).plot()
    heights = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    place = {int(text.split()[1]): i for i, text in enumerate(heights)}
    groups = [{k} for k in range(8)]
    for a, b in tree.joined:
        groups.append(groups[a] | groups[b])
        positions = sorted(place[k] for k in groups[-1])
        assert positions == list(range(positions[0], positions[-1] + 1))


def test_joins_within_a_cluster_have_its_colour():
    tree = merge_tree(TAU)
    display = MergeTreeDisplay(tree, [1, 1, 1, 1], clusters=[0, 0, -1, 1], threshold=0.1).plot()
    shades = [tuple(map(float, shade)) for shade in display.lines_.get_colors()]
    blue, orange, grey = map(to_rgba, ("#0072B2", "#E69F00", REST))
    assert shades[:3] == [blue] * 3
    assert shades[4] == shades[7] == grey  # between clusters
    assert shades[3:].count(blue) == shades[3:].count(orange) == 1


def test_the_tree_of_a_model(model):
    display = MergeTreeDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.tree.joined, model.merge_tree_.joined)
    assert display.threshold == 0.01
    assert display.sizes.tolist() == np.bincount(model.component_labels_).tolist()
    np.testing.assert_array_equal(display.clusters, model._fitted.clusters)
    auto = DPMixture(merge="auto", **QUICK)
    auto.__dict__.update(model.__dict__, merge="auto")
    assert MergeTreeDisplay.from_estimator(auto).threshold == AUTO


def test_without_joins_the_threshold_is_that_of_auto():
    display = MergeTreeDisplay(merge_tree(TAU), [1, 1, 1, 1]).plot()
    assert display.threshold_.get_xdata()[0] == AUTO
    assert 'merge="auto"' in display.threshold_.get_label()
    one = MergeTreeDisplay(merge_tree(np.ones((3, 1))), [3]).plot()
    assert one.lines_.get_segments() == []
    many = np.random.default_rng(0).dirichlet(np.full(70, 0.1), size=200)
    display = MergeTreeDisplay(merge_tree(many), np.ones(70)).plot()
    assert display.texts_ == []
    assert display.ax_.get_ylabel() == "70 components"


def test_rows_in_no_cluster_are_grey_crosses(model):
    display = ClusterDisplay.from_estimator(model)
    assert display.labels.tolist() == model.labels_.tolist()
    assert len(display.points_) == 3
    assert len(display.points_[0].get_offsets()) == 3
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert names == ["no cluster", "cluster 0", "cluster 1"]
    assert display.certainty[model.labels_ == 0].mean() > 0.9  # of the cluster, not a component


def test_rows_in_no_cluster_are_last_in_the_matrix(model):
    display = CoclusteringDisplay.from_estimator(model)
    assert display.boundaries.tolist() == [150, 200, 203]
    assert set(display.order[-3:]) == {0, 1, 2}


def test_vertices_in_no_cluster_are_last():
    A = np.kron(np.eye(3), np.ones((5, 5)))[:-3, :-3]
    np.fill_diagonal(A, 0.0)
    model = InfiniteRelationalModel(min_cluster_size=3, **QUICK).fit(A[::-1, ::-1])
    assert model.labels_.tolist() == [-1] * 2 + [0] * 5 + [1] * 5
    display = AdjacencyDisplay.from_estimator(model)
    assert display.boundaries.tolist() == [5, 10, 12]
    np.testing.assert_array_equal(display.density[10:, 10:], [[0.0, 1.0], [1.0, 0.0]])


def test_numbers_are_of_components(model):
    display = NumberOfClustersDisplay.from_estimator(model)
    assert display.ax_.get_xlabel() == "number of components"
    assert display.estimate == model.component_labels_.max() + 1


def test_negative_labels_stay_apart():
    posterior = Posterior(np.zeros((1, 1, 5), int))
    assert labels_for(posterior, [-1, 3, 3, 1, -7]).tolist() == [-1, 0, 0, 1, -1]


def test_memberships_are_at_most_one():
    for n_draws in range(3, 200):
        posterior = Posterior(np.zeros((1, n_draws, 7), int))
        assert membership(posterior, np.zeros(7, int)).max() <= 1.0
