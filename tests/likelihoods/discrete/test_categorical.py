"""The Dirichlet-categorical likelihood: golden number, scipy twin, messages for bad data."""

import numpy as np
import pytest
from scipy.special import gammaln

from bnpcluster._core import operations as ops
from bnpcluster.likelihoods import log_tables
from bnpcluster.likelihoods.discrete.bernoulli import Bernoulli
from bnpcluster.likelihoods.discrete.categorical import Categorical
from tests.tools.discrete import (
    assert_emptied_is_cleared,
    assert_matches,
    assert_weights,
    filled,
    shares_slots,
)

SIZES = np.array([3, 2, 5, 1])


def naive(concentration, n_categories):
    def marginal(rows):
        total, d = 0.0, rows.shape[1]
        for column, c, size in zip(
            rows.T, np.broadcast_to(concentration, d), n_categories, strict=True
        ):
            n = np.bincount(column.astype(int), minlength=size)
            total += gammaln(c * size) - gammaln(c * size + len(rows))
            total += (gammaln(c + n) - gammaln(c)).sum()
        return total

    return marginal


def random_rows(n, sizes=SIZES, seed=0):
    return np.random.default_rng(seed).integers(0, sizes, size=(n, len(sizes))).astype(float)


def test_golden_number():
    bound, _ = filled(Categorical(concentration=0.4), np.array([[0], [2], [2], [1]]), [0])
    assert ops.log_marginal(bound, 0) == pytest.approx(-5.9814142113, abs=1e-8)


@pytest.mark.parametrize("concentration", [1.0, [0.2, 3.0, 1.0, 0.5]])
@pytest.mark.parametrize("extra_categories", [0, 2])
def test_matches_the_gamma_function(concentration, extra_categories):
    X, sizes = random_rows(12), SIZES + extra_categories
    likelihood = Categorical(concentration=concentration, n_categories=sizes)
    assert_matches(likelihood, X[:-1], X[-1], naive(concentration, sizes))


def test_matches_where_tables_end(monkeypatch):
    monkeypatch.setattr(log_tables, "ACCURATE", 2)
    likelihood = Categorical(concentration=0.3, n_categories=SIZES)
    X = random_rows(12)
    assert_matches(likelihood, X[:-1], X[-1], naive(0.3, SIZES))


def test_auto_counts_the_categories_of_every_column():
    X = np.array([[0.0, 3.0], [1.0, 0.0]])
    assert Categorical().bind(X).n_categories.tolist() == [2, 4]
    assert Categorical(n_categories=6).bind(X).n_categories.tolist() == [6, 6]


def test_two_categories_are_bernoulli():
    X = random_rows(8, np.array([2, 2, 2]))
    one, _ = filled(Categorical(concentration=0.6, n_categories=2), X[:-1], X[-1])
    two, _ = filled(Bernoulli(a=0.6, b=0.6), X[:-1], X[-1])
    assert ops.log_marginal(one, 0) == pytest.approx(ops.log_marginal(two, 0), abs=1e-10)
    assert ops.log_predictive(one, 0, 7) == pytest.approx(ops.log_predictive(two, 0, 7), abs=1e-10)


def test_an_emptied_slot_is_a_cleared_one():
    assert_emptied_is_cleared(Categorical(concentration=0.3), random_rows(7))


def test_weights_of_many_slots():
    assert_weights(Categorical(), random_rows(60, np.array([4] * 10)), 19)


def test_new_rows_share_the_slots():
    likelihood = Categorical(n_categories=SIZES)
    bound, new = filled(likelihood, random_rows(6), [2, 1, 4, 0])
    other = likelihood.rows(bound, np.array([[2.0, 1.0, 4.0, 0.0]]))
    assert shares_slots(bound, other)
    assert other.n_items == 1
    assert ops.log_predictive(other, 0, 0) == ops.log_predictive(bound, 0, new)


def test_samples_follow_the_predictive():
    rng = np.random.default_rng(0)
    concentration, X = np.array([0.5, 1.0, 2.0, 1.0]), random_rows(20)
    likelihood = Categorical(concentration=concentration, n_categories=SIZES)
    bound, _ = filled(likelihood, X[:-1], X[-1])
    for k, rows in ((0, X[:-1]), (1, X[:0])):
        draws = np.array([likelihood.sample(bound, k, rng) for _ in range(4000)])
        assert draws.dtype == float
        for d, size in enumerate(SIZES):
            n = np.bincount(rows[:, d].astype(int), minlength=size)
            p = (concentration[d] + n) / (concentration[d] * size + len(rows))
            found = np.bincount(draws[:, d].astype(int), minlength=size) / 4000
            assert len(found) == size
            assert np.all(np.abs(found - p) <= 4 * np.sqrt(p * (1 - p) / 4000))


def test_features_do_not_order_the_categories():
    features = Categorical().features(np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 7.0], [2.0, 9.0]]))
    gaps = np.linalg.norm(features[:, None, :] - features[None], axis=-1)
    assert gaps[0, 1] < gaps[0, 2] == gaps[0, 3]


@pytest.mark.parametrize("value", [-1.0, 0.5])
def test_bad_values_get_one_sentence(value):
    X = random_rows(5)
    bound = Categorical().bind(X)
    X[1, 2] = value
    message = rf"^Categorical needs codes 0, 1, 2, \.\.\., found {value:g} in column 2: [^.]*\.$"
    for use in (Categorical().bind, lambda X: Categorical().rows(bound, X)):
        with pytest.raises(ValueError, match=message):
            use(X)


def test_an_unknown_category_is_named():
    X = np.array([[0.0, 1.0], [1.0, 0.0]])
    bound = Categorical().bind(X)
    message = (
        r"^Column 1 contains category 4, but only 0 to 1 are known: "
        r"set n_categories to at least 5 for it, or handle_unknown='missing' for new rows\.$"
    )
    with pytest.raises(ValueError, match=message):
        Categorical().rows(bound, np.array([[0.0, 4.0]]))
    with pytest.raises(ValueError, match=r"Column 0 contains category 1, but only 0 to 0"):
        Categorical(n_categories=[1, 2]).bind(X)


def test_identifiers_are_refused():
    with pytest.raises(ValueError, match="column 1 would have 90000001 categories"):
        Categorical().bind(np.array([[0.0, 9e7], [1.0, 3.0]]))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"concentration": -1.0}, "concentration must be positive"),
        ({"n_categories": 2.5}, "n_categories must be 'auto', a positive integer"),
        ({"n_categories": 0}, "n_categories must be 'auto', a positive integer"),
        ({"n_categories": [2, 2]}, "n_categories has shape"),
    ],
)
def test_bad_parameters_get_one_sentence(parameters, message):
    with pytest.raises(ValueError, match=message):
        Categorical(**parameters).bind(random_rows(4))
