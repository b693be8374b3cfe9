"""Agreement of two models, and numbers of clusters that follow an earlier fit."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.metrics import adjusted_rand_score

from bnpcluster import DPMixture, InfiniteRelationalModel, compare
from bnpcluster._estimators.clusters import aligned
from bnpcluster.posterior import Posterior

RNG = np.random.default_rng(4)
QUICK = {"n_chains": 1, "n_draws": 40, "n_warmup": 30}
X = np.repeat([[0.0], [12.0], [40.0]], [20, 15, 10], axis=0) + RNG.normal(size=(45, 1))


@pytest.fixture(scope="module")
def model():
    return DPMixture(random_state=0, **QUICK).fit(X)


def test_two_fits_of_clear_clusters_agree(model):
    other = DPMixture(random_state=1, **QUICK).fit(X)
    found = compare(model, other)
    assert found.estimates == adjusted_rand_score(model.labels_, other.labels_)
    assert 0.5 < found.low <= found.mean <= found.high <= 1.0
    assert abs(found.within_a - found.mean) < 0.15


def test_partitions_that_have_nothing_to_do_with_each_other_do_not_agree(model):
    shuffled = DPMixture(random_state=0, **QUICK).fit(RNG.permutation(X))
    found = compare(model, shuffled)
    assert abs(found.mean) < 0.2 and found.within_b > 0.8


def test_models_of_other_rows_are_refused(model):
    with pytest.raises(ValueError, match="fitted on 45 and 30 rows: fit both on the same rows"):
        compare(model, DPMixture(random_state=0, **QUICK).fit(X[:30]))


class Fitted(BaseEstimator):
    """A model as `compare` sees it: labels and draws."""

    def __init__(self, draws, weights):
        self.posterior_ = Posterior([draws], weights=[weights])
        self.labels_ = np.array(draws[0])
        self._fitted = SimpleNamespace(all_rows=lambda labels: labels)

    def __sklearn_is_fitted__(self):
        return True

    def fit(self):
        """Estimators have this method."""


ONE, OTHER = [0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1]


def test_draws_take_part_by_their_weights():
    mixed = Fitted([ONE, OTHER], [0.9, 0.1])
    found = compare(mixed, Fitted([ONE], [1.0]))
    index = adjusted_rand_score(ONE, OTHER)
    assert found.mean == pytest.approx(0.9 + 0.1 * index)
    assert found.within_b == 1.0


def test_draws_of_one_model_differ_as_much_as_they_do():
    found = compare(Fitted([ONE, OTHER], [0.5, 0.5]), Fitted([ONE], [1.0]))
    index = adjusted_rand_score(ONE, OTHER)
    assert found.within_a == pytest.approx(0.5 + 0.5 * index, abs=0.2)


@pytest.mark.parametrize(
    ("labels", "earlier", "expected"),
    [
        ([0, 0, 1, 1, 2], [2, 2, 0, 0, 1], [2, 0, 1]),
        ([0, 0, 1, 1, 2], [1, 1, -1, -1, 0], [1, 2, 0]),  # the new cluster takes what is left
        ([0, 0, 1, 1, 1, 2], [1, 1, -1, -1, -1, 0], [1, 2, 0]),  # -1 is no cluster
        ([0, 1, 1], [-1, 2, 3], [1, 0]),  # the new cluster comes after the others
        ([0, 0, 0, 1], [2, 2, 2, 0], [1, 0]),  # number 1 is gone: 2 closes up
        ([0, 0, 1], [0, 0, 0], [0, 1]),
        ([0, 0, 1], [5, 5, 5], [0, 1]),
        ([0, 1, 1, 0], [0, 0, 0, 1], [1, 0]),  # two rows keep their number, not one
    ],
)
def test_numbers_follow_earlier_labels(labels, earlier, expected):
    assert aligned(np.array(labels), np.array(earlier)).tolist() == expected


def test_everything_follows_the_new_numbers(model):
    model = DPMixture(random_state=0, **QUICK).fit(X)
    before = model.predict_proba(X), model.means_, model.labels_.copy()
    assert model.n_clusters_ == 3
    earlier = np.array([2, 0, 1])[model.labels_]
    assert model.align(earlier) is model
    np.testing.assert_array_equal(model.labels_, earlier)
    np.testing.assert_array_equal(model.predict(X), earlier)
    np.testing.assert_allclose(model.predict_proba(X)[:, [2, 0, 1]], before[0])
    np.testing.assert_allclose(model.means_[[2, 0, 1]], before[1])
    assert model.describe()["size"].tolist() == np.bincount(earlier).tolist()
    text = str(model.report())
    assert "number of clusters" in text and "component" not in text
    assert ", ".join(map(str, np.bincount(earlier))) in text
    model.align(before[2])
    np.testing.assert_array_equal(model.labels_, before[2])


def test_small_clusters_stay_without_a_number():
    model = DPMixture(min_cluster_size=12, random_state=0, **QUICK).fit(X)
    assert set(model.labels_) == {-1, 0, 1}
    before = model.labels_.copy()
    model.align(np.where(before < 0, 0, 1 - before))
    np.testing.assert_array_equal(model.labels_, np.where(before < 0, -1, 1 - before))


def test_networks_are_aligned_too():
    A = np.kron(np.eye(2), np.ones((6, 6))) - np.eye(12)
    model = InfiniteRelationalModel(random_state=0, **QUICK).fit(A)
    before = model.labels_.copy()
    assert set(before) == {0, 1}
    np.testing.assert_array_equal(model.align(1 - before).labels_, 1 - before)


@pytest.mark.parametrize("labels", [[0, 1], np.zeros(45), [["a"]]])
def test_other_labels_are_refused(model, labels):
    with pytest.raises(ValueError, match="labels must be integers of shape \\(45,\\)"):
        model.align(labels)
