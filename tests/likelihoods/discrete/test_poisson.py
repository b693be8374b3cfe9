"""The gamma-Poisson likelihood: golden number, scipy twins, messages for bad data."""

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import nbinom

from bnpcluster._core import operations as ops
from bnpcluster.likelihoods import log_tables
from bnpcluster.likelihoods.discrete import gamma_poisson
from bnpcluster.likelihoods.discrete.poisson import Poisson
from tests.tools.discrete import (
    assert_emptied_is_cleared,
    assert_matches,
    assert_weights,
    filled,
    shares_slots,
)

MEANS = np.array([0.2, 3.0, 40.0])


def naive(a, b):
    def marginal(rows):
        s, m = rows.sum(axis=0), len(rows)
        value = a * np.log(b) - gammaln(a) + gammaln(a + s) - (a + s) * np.log(b + m)
        return float((value - gammaln(rows + 1).sum(axis=0)).sum())

    return marginal


def random_rows(n, means=MEANS, seed=0):
    return np.random.default_rng(seed).poisson(means, size=(n, len(means))).astype(float)


def test_golden_number():
    bound, _ = filled(Poisson(shape=1.0, rate=1.0), np.array([[2], [0], [3]]), [0])
    assert ops.log_marginal(bound, 0) == pytest.approx(-6.0151810737, abs=1e-8)


@pytest.mark.parametrize(
    ("a", "b"), [(1.0, 1.0), (0.4, np.array([2.0, 0.1, 0.03])), (np.array([0.5, 1.0, 7.0]), 0.2)]
)
def test_matches_the_gamma_function(a, b):
    X = random_rows(9)
    assert_matches(Poisson(shape=a, rate=b), X[:-1], X[-1], naive(a, b))


def test_matches_where_tables_end(monkeypatch):
    monkeypatch.setattr(log_tables, "ACCURATE", 4)
    monkeypatch.setattr(gamma_poisson, "ENTRIES", 9)  # sizes up to 2
    X = random_rows(9)
    assert_matches(Poisson(shape=0.4, rate=0.3), X[:-1], X[-1], naive(0.4, 0.3))


def test_matches_where_stirlings_series_begins(monkeypatch):
    monkeypatch.setattr(log_tables, "ACCURATE", 4)
    X = np.array([[3000.0, 4.0], [2500.0, 9000.0], [4000.0, 7.0]])
    assert_matches(Poisson(shape=0.4, rate=0.3), X[:-1], X[-1], naive(0.4, 0.3))


def test_predictive_is_negative_binomial():
    a, b, X = np.array([0.5, 1.0, 7.0]), 0.2, random_rows(9)
    bound, new = filled(Poisson(shape=a, rate=b), X[:-1], X[-1])
    p = (b + 8) / (b + 9)
    expected = nbinom(a + X[:-1].sum(axis=0), p).logpmf(X[-1]).sum()
    assert ops.log_predictive(bound, 0, new) == pytest.approx(expected, abs=1e-9)


def test_large_counts_lose_no_digits():
    """A predictive by sums far beyond the tables, against exact products."""
    X = np.array([[9e6], [1.1e7], [3.0]])
    bound, new = filled(Poisson(shape=1.0, rate=1.0), X[:-1], X[-1])
    s = 20_000_000
    expected = np.log(1.0 + s) + np.log(2.0 + s) + np.log(3.0 + s) - np.log(6.0)
    expected += -3 * np.log(4.0) + (1.0 + s) * np.log1p(-0.25)
    assert ops.log_predictive(bound, 0, new) == pytest.approx(expected, rel=1e-14)


def test_auto_is_an_exponential_distribution_with_the_mean():
    X = random_rows(10, np.array([2.0, 900.0, 0.0]))
    for shape, a in (("auto", 1.0), (2.5, 2.5)):
        bound = Poisson(shape=shape).bind(X)
        assert bound.shape.base == pytest.approx(a)
        np.testing.assert_allclose(a / bound.rate, [*X[:, :2].mean(axis=0), 0.1])


def test_an_emptied_slot_is_a_cleared_one():
    assert_emptied_is_cleared(Poisson(), random_rows(7))


@pytest.mark.parametrize("scale", [0.2, 2.0, 50.0])
def test_weights_of_many_slots(scale):
    rng = np.random.default_rng(0)
    means = rng.gamma(0.7, scale, (19, 11))  # an odd number of columns, blocks that differ
    assert_weights(Poisson(), rng.poisson(means[np.arange(60) % 19]).astype(float), 19)


def test_weights_of_slots_that_do_not_explain_the_item():
    """Large counts against slots of zeros, where the bounds are at their worst."""
    X = np.random.default_rng(1).poisson(0.1, (60, 5)).astype(float)
    X[::7] *= 200
    assert_weights(Poisson(shape=0.3, rate=2.0), X, 12)


def test_new_rows_share_the_slots():
    bound, new = filled(Poisson(), random_rows(6), [2, 0, 41])
    other = Poisson().rows(bound, np.array([[2.0, 0.0, 41.0]]))
    assert shares_slots(bound, other)
    assert other.n_items == 1
    for k in (0, 1):
        assert ops.log_predictive(other, k, 0) == ops.log_predictive(bound, k, new)


def test_samples_follow_the_predictive():
    rng = np.random.default_rng(0)
    a, b, X = np.array([2.0, 3.0, 7.0]), 1.5, random_rows(9)
    bound, _ = filled(Poisson(shape=a, rate=b), X[:-1], X[-1])
    for k, rows in ((0, X[:-1]), (1, X[:0])):
        distribution = nbinom(a + rows.sum(axis=0), (b + len(rows)) / (b + len(rows) + 1))
        draws = np.array([Poisson().sample(bound, k, rng) for _ in range(4000)])
        assert draws.dtype == float
        z = (draws.mean(axis=0) - distribution.mean()) / (distribution.std() / np.sqrt(4000))
        assert np.abs(z).max() < 4
        np.testing.assert_allclose(draws.std(axis=0), distribution.std(), rtol=0.1)


@pytest.mark.parametrize("value", [-1.0, 0.5, 1e15])
def test_bad_values_get_one_sentence(value):
    X = random_rows(5)
    bound = Poisson().bind(X)
    X[1, 2] = value
    needs = r"needs counts 0, 1, 2, \.\.\." if value < 1 else "takes counts up to 1,073,741,824"
    message = rf"^Poisson {needs}, found {value:g} in column 2: [^.]*\.$"
    for use in (Poisson().bind, lambda X: Poisson().rows(bound, X)):
        with pytest.raises(ValueError, match=message.replace("+", r"\+")):
            use(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"shape": 0.0}, "shape must be positive"),
        ({"rate": [1.0, 2.0]}, "rate has shape"),
        ({"rate": "x"}, "rate must be 'auto'"),
    ],
)
def test_bad_parameters_get_one_sentence(parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Poisson(**parameters).bind(random_rows(4))


def test_a_given_rate_is_the_rate_whatever_the_shape():
    given = Poisson(shape=[2.0, 4.0], rate=0.5)
    bound = given.bind(np.array([[1.0, 0.0], [3.0, 5.0]]))
    np.testing.assert_allclose(given.hyper_parameters(bound)["rate"], 0.5)
