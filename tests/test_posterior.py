"""Posterior: storage, traces, co-clustering on request, export."""

import copy
import pickle
import sys
import tracemalloc

import numpy as np
import pytest
from scipy.sparse import issparse

from bnpcluster import partitions
from bnpcluster.partitions import label_draws
from bnpcluster.posterior import LazyCoclustering, Posterior


@pytest.fixture
def posterior():
    rng = np.random.default_rng(0)
    return Posterior(
        rng.integers(3, size=(2, 20, 7)),
        traces={"log_posterior": rng.normal(size=(2, 20)), "alpha": rng.random((2, 20))},
    )


@pytest.fixture
def weighted():
    rng = np.random.default_rng(1)
    weights = rng.exponential(size=(2, 15))
    weights[0, 3] = 0.0
    return Posterior(rng.integers(3, size=(2, 15, 7)), weights=weights)


def dense(posterior):
    flat = posterior.labels.reshape(-1, posterior.n_items)
    same = flat[:, :, None] == flat[:, None, :]
    return np.average(same, axis=0, weights=posterior.weights.ravel())


@pytest.mark.parametrize(
    ("largest", "kind"),
    [(1, np.uint8), (255, np.uint8), (256, np.uint16), (65536, np.uint32), (-1, np.int8)],
)
def test_labels_are_stored_in_the_smallest_type(largest, kind):
    assert Posterior([[[0, largest]]]).labels.dtype == kind


def test_shapes_and_weights_and_the_number_of_clusters(weighted):
    assert (weighted.n_chains, weighted.n_draws, weighted.n_items) == (2, 15, 7)
    assert weighted.weights.sum() == pytest.approx(1.0)
    naive = [[len(set(z)) for z in chain] for chain in weighted.labels]
    assert weighted.n_clusters.tolist() == naive
    assert np.allclose(Posterior([[[0, 1], [0, 0]]]).weights, 0.5)


def test_traces_are_attributes_and_a_missing_one_is_named(posterior):
    assert posterior.alpha is posterior.traces["alpha"]
    assert "log_posterior" in dir(posterior)
    with pytest.raises(AttributeError, match=r"'beta'.*\['alpha', 'log_posterior', 'n_clusters'\]"):
        _ = posterior.beta


@pytest.mark.parametrize(
    "clone", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))]
)
def test_copies_and_pickles_are_whole(posterior, clone):
    other = clone(posterior)
    assert np.array_equal(other.labels, posterior.labels)
    assert np.array_equal(other.alpha, posterior.alpha)
    assert other.point_estimate().tolist() == posterior.point_estimate().tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"labels": [[0, 1]]}, "chains, draws, items"),
        ({"labels": [[[0.5, 1]]]}, "integers"),
        ({"labels": [[[0, 1]]], "weights": [1.0]}, "weights must have shape"),
        ({"labels": [[[0, 1]]], "weights": [[-1.0]]}, "non-negative"),
        ({"labels": [[[0, 1]]], "traces": {"alpha": [1.0]}}, "'alpha' must be numeric"),
        ({"labels": [[[0, 1]]], "traces": {"labels": [[1.0]]}}, "cannot be named 'labels'"),
        ({"labels": [[[0, 1]]], "traces": {"coclustering": [[1.0]]}}, "cannot be named"),
        ({"labels": [[[0, 1]]], "traces": {"traces": [[1.0]]}}, "cannot be named"),
    ],
)
def test_wrong_input_is_explained(arguments, message):
    with pytest.raises(ValueError, match=message):
        Posterior(**arguments)


def test_the_probabilities_of_the_numbers_of_clusters_are_weighted(weighted):
    pmf = weighted.n_clusters_pmf()
    assert list(pmf) == sorted(pmf)
    assert all(type(k) is int and type(p) is float for k, p in pmf.items())
    for k in (1, 2, 3):
        mass = weighted.weights[weighted.n_clusters == k].sum()
        assert pmf.get(k, 0.0) == pytest.approx(mass)
    assert Posterior([[[0, 0], [0, 1]]], weights=[[0, 1]]).n_clusters_pmf() == {2: 1.0}


def test_point_estimates_are_those_of_the_label_functions(weighted):
    for loss in ("vi", "binder"):
        expected = partitions.point_estimate(weighted.labels, loss, weights=weighted.weights)
        assert weighted.point_estimate(loss).tolist() == expected.tolist()


def test_map_is_the_draw_with_the_highest_log_posterior(posterior):
    posterior.traces["log_posterior"][1, 4] = 99.0
    expected = partitions.relabel(posterior.labels[1, 4])
    assert posterior.point_estimate("map").tolist() == expected.tolist()


def test_map_without_log_posterior_and_unknown_losses_are_refused(weighted):
    with pytest.raises(ValueError, match="log_posterior"):
        weighted.point_estimate("map")
    with pytest.raises(ValueError, match="'vi', 'binder', 'map'"):
        weighted.point_estimate("mode")


def test_the_credible_ball_uses_the_weights_and_the_estimate(weighted):
    centre = weighted.point_estimate("binder")
    ball = weighted.credible_ball(0.5, "binder")
    expected = partitions.credible_ball(
        weighted.labels, centre, 0.5, loss="binder", weights=weighted.weights
    )
    assert (ball.radius, ball.mass) == (expected.radius, expected.mass)
    assert weighted.credible_ball(1.0, estimate=np.zeros(7, int)).radius > 0


@pytest.mark.parametrize("name", ["posterior", "weighted"])
def test_blocks_and_sparse_matrices_agree_with_the_dense_one(name, request):
    posterior = request.getfixturevalue(name)
    full = dense(posterior)
    np.testing.assert_allclose(posterior.coclustering(), full, atol=1e-14)
    block = posterior.coclustering(rows=[4, 0, 0], columns=slice(1, None, 2))
    np.testing.assert_allclose(block, full[[4, 0, 0], 1::2], atol=1e-14)
    for threshold in (0.0, 0.4, 2.0):
        sparse = posterior.coclustering(threshold=threshold)
        assert issparse(sparse) and sparse.format == "csr"
        np.testing.assert_allclose(
            sparse.toarray(), np.where(full >= threshold, full, 0), atol=1e-14
        )
    part = posterior.coclustering([1, 2], [0, 3, 5], threshold=0.3)
    expected = full[np.ix_([1, 2], [0, 3, 5])]
    np.testing.assert_allclose(part.toarray(), np.where(expected >= 0.3, expected, 0), atol=1e-14)


def test_a_sparse_matrix_is_built_without_the_dense_one(monkeypatch):
    n = 600
    posterior = Posterior(np.arange(n).reshape(1, 1, n) // 3)
    monkeypatch.setattr(label_draws, "CHUNK_CELLS", 20 * n)
    LazyCoclustering(posterior)[:3]
    tracemalloc.start()
    sparse = LazyCoclustering(posterior).sparse(0.5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sparse.shape == (n, n) and sparse.nnz == 3 * n
    assert peak < 0.3 * 8 * n * n


MASK = np.array([True, False, False, True, True, False, False])
KEYS = [
    (0, 3),
    (-1, np.int64(2)),
    2,
    (slice(None), 4),
    (3, [1, 2]),
    ([0, 5], slice(2, 5)),
    (slice(None, None, -1), slice(0, 0)),
    (MASK, [2, 2, 1]),
    (MASK, MASK),
    (np.array([], dtype=int), slice(None)),
    np.ix_([5, 0], [1, 2, 3]),
    ([[0, 1]], 0),
    (np.array([6, 0]),),
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_lazy_indexing_is_numpy_indexing(weighted, key):
    lazy, full = LazyCoclustering(weighted), dense(weighted)
    expected, found = full[key], lazy[key]
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, atol=1e-14)
    assert isinstance(found, float) == (np.ndim(expected) == 0)


@pytest.mark.parametrize(
    "key", [(), ..., (..., 4), (..., [1, 2]), (3, ...), (..., MASK, 2), (1, ..., 2), (1, 2, ...)]
)
def test_an_ellipsis_stands_for_what_is_not_named(weighted, key):
    found = LazyCoclustering(weighted)[key]
    np.testing.assert_allclose(found, dense(weighted)[key], atol=1e-14)


def test_lazy_matrix_is_array_like(weighted):
    lazy = LazyCoclustering(weighted)
    assert lazy.shape == (7, 7) and len(lazy) == 7 and lazy.dtype == np.float64
    assert "7 x 7" in repr(lazy)
    np.testing.assert_allclose(np.asarray(lazy), dense(weighted), atol=1e-14)
    assert np.asarray(lazy, dtype=np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="copy=False"):
        lazy.__array__(copy=False)
    assert pickle.loads(pickle.dumps(lazy))[0, 0] == 1.0


@pytest.mark.parametrize(
    "key",
    [
        (0, 7),
        (None, 0),
        (..., ...),
        ([0, 9], 0),
        (0, 0, 0),
        ([[0, 1]], slice(2)),
        (np.ones(3, bool), 0),
    ],
)
def test_lazy_matrix_refuses_indices_outside_it(weighted, key):
    with pytest.raises(IndexError):
        LazyCoclustering(weighted)[key]


def test_a_large_matrix_is_refused_when_dense_and_served_in_parts():
    n = 40_000
    posterior = Posterior(np.arange(n).reshape(1, 1, n) % 2)
    lazy = LazyCoclustering(posterior)
    tracemalloc.start()
    for make in (np.asarray, lambda m: m[:, :], lambda m: posterior.coclustering()):
        with pytest.raises(ValueError, match=r"40000 x 40000 .* 11\.9 GiB.*columns.*threshold"):
            make(lazy)
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()
    assert lazy[0, [1, 2, n - 2]].tolist() == [0.0, 1.0, 1.0]


def test_export_to_arviz_has_chains_and_draws_first(posterior):
    tree = posterior.to_arviz(labels=True)
    group = tree["posterior"]
    assert sorted(group.data_vars) == ["alpha", "labels", "n_clusters"]
    assert group["alpha"].dims == ("chain", "draw")
    assert group["labels"].dims == ("chain", "draw", "item")
    assert np.array_equal(group["n_clusters"], posterior.n_clusters)
    assert np.array_equal(tree["sample_stats"]["lp"], posterior.log_posterior)


def test_export_to_arviz_keeps_unequal_weights_and_needs_no_log_posterior(weighted):
    tree = weighted.to_arviz()
    assert list(tree["posterior"].data_vars) == ["n_clusters"]
    assert list(tree["sample_stats"].data_vars) == ["weight"]
    assert np.array_equal(tree["sample_stats"]["weight"], weighted.weights)


def test_export_without_arviz_says_what_to_install(posterior, monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match=r'pip install "bnpcluster\[arviz\]"'):
        posterior.to_arviz()
