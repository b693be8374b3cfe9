"""From components to clusters: joins, a cap, small clusters, and what follows them."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from bnpcluster import BNPMixture, DPMixture, InfiniteRelationalModel
from bnpcluster._estimators import clusters
from bnpcluster.partitions import merge_tree

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = {"n_draws": 60, "n_warmup": 60, "n_chains": 2, "random_state": 0}


def ring(seed=0):
    """A ring, which takes several components, a far cluster, and three rows apart."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, 150)
    noise = rng.normal(scale=0.25, size=(150, 2))
    far, few = rng.normal([9, 0], 0.3, size=(50, 2)), rng.normal([0, 30], 0.1, size=(3, 2))
    around = 3 * np.column_stack([np.cos(angle), np.sin(angle)]) + noise
    return np.vstack([few, around, far])


X = ring()


@pytest.fixture(scope="module")
def plain():
    return DPMixture(**QUICK).fit(X)


@pytest.fixture(scope="module")
def merged():
    return DPMixture(merge=0.01, **QUICK).fit(X)


@pytest.fixture(scope="module")
def pruned():
    return DPMixture(merge=0.01, min_cluster_size=10, **QUICK).fit(X)


def test_by_default_components_are_clusters(plain, monkeypatch):
    assert plain.n_clusters_ > 3
    np.testing.assert_array_equal(plain.labels_, plain.component_labels_)
    assert plain._fitted.clusters is None
    # Nothing of the joins is computed in a default fit.
    monkeypatch.setattr(DPMixture, "_tree", lambda *_: pytest.fail("the tree was computed"))
    DPMixture(**QUICK).fit(X)
    DPMixture(max_clusters=50, **QUICK).fit(X)


def test_overlapping_components_are_joined(plain, merged):
    assert merged.n_clusters_ == 3
    assert np.bincount(merged.labels_).tolist() == [150, 50, 3]
    np.testing.assert_array_equal(merged.component_labels_, plain.component_labels_)
    np.testing.assert_array_equal(merged.posterior_.labels, plain.posterior_.labels)
    assert merged.n_clusters_posterior_ == plain.n_clusters_posterior_


def test_auto_is_an_overlap_of_a_twentieth():
    assert clusters.threshold("auto") == 0.05
    assert clusters.threshold(None) is None
    assert clusters.threshold(np.float32(0.5)) == 0.5


def test_labels_are_a_map_of_component_labels(merged, pruned):
    for model in (merged, pruned):
        pairs = set(zip(model.component_labels_, model.labels_, strict=True))
        assert len(pairs) == len(set(model.component_labels_))
        expected = [model._fitted.clusters[k] for k in model.component_labels_]
        assert model.labels_.tolist() == expected
        assert model.labels_.dtype == np.int64


def test_memberships_of_clusters_are_sums(plain, merged, pruned):
    parts, whole = plain.predict_proba(X), merged.predict_proba(X)
    for k in range(3):
        own = np.flatnonzero(merged._fitted.clusters == k)
        np.testing.assert_allclose(whole[:, k], parts[:, own].sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(whole.sum(axis=1), 1.0)
    np.testing.assert_array_equal(pruned.predict_proba(X), whole[:, :2])
    np.testing.assert_array_equal(merged.transform(X), whole)
    assert list(pruned.get_feature_names_out()) == ["dpmixture0", "dpmixture1"]


def test_novelty_and_density_do_not_change(plain, pruned):
    new = np.vstack([X[::20], [[0.0, 0.0], [50.0, 50.0]]])
    np.testing.assert_array_equal(pruned.novelty(new), plain.novelty(new))
    np.testing.assert_array_equal(pruned.score_samples(new), plain.score_samples(new))


def test_the_tree_is_that_of_the_memberships_of_the_rows(plain, merged):
    expected = merge_tree(plain.predict_proba(X))
    for found in (plain.merge_tree_, merged.merge_tree_):
        np.testing.assert_array_equal(found.joined, expected.joined)
        np.testing.assert_allclose(found.overlaps, expected.overlaps)
    groups = expected.cut(0.01)
    np.testing.assert_array_equal(
        groups[plain.labels_][:, None] == groups[plain.labels_],
        merged.labels_[:, None] == merged.labels_,
    )


def test_small_clusters_are_dissolved_in_prediction_too(pruned):
    assert pruned.n_clusters_ == 2
    assert np.flatnonzero(pruned.labels_ == -1).tolist() == [0, 1, 2]
    np.testing.assert_array_equal(pruned.predict(X), pruned.labels_)
    new = np.array([[0.0, 30.0], [9.0, 0.0], [3.0, 0.0]])
    assert pruned.predict(new).tolist() == [-1, 1, 0]
    assert pruned.predict_proba(new).sum(axis=1).round(3).tolist() == [0.0, 1.0, 1.0]
    np.testing.assert_array_equal(
        clone(pruned).fit_predict(X),
        pruned.labels_,
    )


def test_a_row_is_in_no_cluster_if_that_is_more_probable_than_not():
    shares = np.array([[0.3, 0.19], [0.3, 0.2], [0.1, 0.6], [0.0, 0.0]])
    assert clusters.assigned(shares).tolist() == [-1, 0, 1, -1]
    assert clusters.assigned(np.zeros((2, 0))).tolist() == [-1, -1]


def test_the_cap_is_followed_by_predictions():
    model = DPMixture(max_clusters=2, **QUICK).fit(X)
    assert model.n_clusters_ == 2
    assert model.predict_proba(X).shape == (len(X), 2)
    assert set(model.predict(X)) == {0, 1}
    assert len(set(model.component_labels_)) > 3


def test_small_clusters_come_last():
    """The cap joins the small cluster to another one before its size counts."""
    model = DPMixture(max_clusters=1, min_cluster_size=100, **QUICK).fit(X)
    assert set(model.labels_) == {0}
    model = DPMixture(merge=0.99, max_clusters=3, min_cluster_size=51, **QUICK).fit(X)
    assert np.unique(model.labels_, return_counts=True)[1].tolist() == [53, 150]


def test_no_cluster_may_be_large_enough():
    said = "No cluster has 1000 rows or more, as min_cluster_size demands, so all labels are -1. "
    with pytest.warns(UserWarning, match=f"{said}The largest one has 50") as warned:
        model = DPMixture(min_cluster_size=1000, **QUICK).fit(X)
    assert warned[0].filename == __file__
    assert model.n_clusters_ == 0
    assert set(model.labels_) == {-1}
    assert model.predict_proba(X[:3]).shape == (3, 0)
    assert model.predict(X[:3]).tolist() == [-1] * 3
    assert "rows in no cluster of at least 1000: 203" in str(model.report())


def test_clusters_are_numbered_by_size_then_first_row():
    groups = np.array([0, 1, 0, 2])  # of four components
    components = np.array([3, 1, 1, 0, 2, 3, 1, 0])
    found = clusters.numbered(groups, components, None)
    assert found[components].tolist() == [2, 0, 0, 1, 1, 2, 0, 1]
    assert clusters.numbered(groups, components, 3).tolist() == [1, 0, 1, -1]


def test_rows_for_the_tree_are_some_of_every_component():
    components = np.repeat([0, 1, 2], [60_000, 30, 5])[np.random.default_rng(0).permutation(60_035)]
    rows, weights = clusters.chosen_rows(components)
    assert np.bincount(components[rows]).tolist() == [1999, 20, 5]
    np.testing.assert_allclose(np.bincount(components[rows], weights), [60_000, 30, 5])
    assert (np.diff(rows) > 0).all()
    gaps = np.diff(np.flatnonzero(np.isin(np.flatnonzero(components == 0), rows)))
    assert gaps.max() <= gaps.min() + 1
    few, ones = clusters.chosen_rows(np.array([0, 1, 0]))
    assert few.tolist() == [0, 1, 2]
    assert ones.tolist() == [1.0] * 3


def test_a_cost_gives_fewer_components(plain):
    model = DPMixture(point_estimate=("vi", 1.8), **QUICK).fit(X)
    expected = plain.posterior_.point_estimate("vi", cost=1.8)
    np.testing.assert_array_equal(model.labels_, expected)
    default = plain.posterior_.point_estimate("vi", cost=1.25)
    np.testing.assert_array_equal(plain.labels_, default)
    assert model.n_clusters_ < plain.posterior_.point_estimate("vi").max() + 1
    assert "(vi, cost 1.8)" in str(model.report())


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"point_estimate": ("vi", 2)}, "above 0 and below 2, got 2: 1 is neutral"),
        ({"point_estimate": ("vi", "high")}, "must be a number above 0 and below 2, got 'high'"),
        ({"point_estimate": ("map", 1.5)}, "'map' takes no cost"),
        ({"point_estimate": ("bindr", 1.5)}, "Did you mean 'binder'"),
        ({"point_estimate": ("vi",)}, 'A pair adds the cost .* \\("vi", 1.5\\)'),
        ({"point_estimate": "median"}, "Available: 'vi', 'binder', 'map'"),
        ({"merge": 0}, "merge must be None, 'auto' .* above 0 and below 1, got 0"),
        ({"merge": True}, "above 0 and below 1, got True"),
        ({"merge": "yes"}, "got 'yes'"),
        ({"merge": 1.0}, "got 1.0"),
        ({"max_clusters": 0}, "max_clusters must be at least 1"),
        ({"min_cluster_size": 0}, "min_cluster_size must be at least 1"),
    ],
)
def test_wrong_values_are_named(parameters, words):
    with pytest.raises(ValueError, match=words):
        DPMixture(**parameters, **QUICK).fit(X)


def test_the_parameters_are_parameters_of_scikit_learn():
    model = clone(BNPMixture(merge=0.1, max_clusters=4, min_cluster_size=3))
    assert model.get_params()["merge"] == 0.1
    assert [*model.get_params()].count("max_clusters") == 1
    small = {**QUICK, "n_draws": 10, "n_warmup": 10}
    search = GridSearchCV(DPMixture(**small), {"merge": [None, "auto", 0.3]}, cv=2).fit(X)
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    assert len(set(scores)) == 1  # the density does not depend on it


def test_an_estimate_from_a_checkpoint_may_be_joined_otherwise(tmp_path, merged):
    DPMixture(checkpoint=tmp_path, **QUICK).fit(X)
    files = {path.name for path in tmp_path.iterdir()}
    model = DPMixture(checkpoint=tmp_path, merge=0.01, max_clusters=9, min_cluster_size=2, **QUICK)
    np.testing.assert_array_equal(model.fit(X).labels_, merged.labels_)
    assert {path.name for path in tmp_path.iterdir()} == files


def test_a_continued_fit_joins_anew(merged):
    model = DPMixture(merge=0.01, **QUICK).fit(X).continue_fit(20)
    assert model.n_clusters_ == 3
    assert model.set_params(merge=None).continue_fit(5).n_clusters_ > 3


def test_ctrl_c_in_the_joins_keeps_the_components(plain, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(DPMixture, "_tree", interrupted)
    model = DPMixture(merge=0.01, **QUICK).fit(X)
    assert model.interrupted_
    np.testing.assert_array_equal(model.labels_, plain.labels_)


def test_networks_take_a_cost_and_a_smallest_cluster():
    A = np.kron(np.diag([1.0, 1.0, 1.0]), np.ones((6, 6))) - np.eye(18)
    A = A[:-3, :-3]
    model = InfiniteRelationalModel(point_estimate=("binder", 1.2), min_cluster_size=4, **QUICK)
    model.fit(A)
    assert model.labels_.tolist() == [0] * 6 + [1] * 6 + [-1] * 3
    assert set(model.component_labels_) == {0, 1, 2}
    assert "vertices in no cluster of at least 4: 3" in str(model.report())
    assert not hasattr(model, "merge_tree_")
