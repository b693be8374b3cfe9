"""The beta-Bernoulli likelihood: golden number, scipy twin, messages for bad data."""

import numpy as np
import pytest
from scipy.special import betaln

from bnpcluster._core import operations as ops
from bnpcluster.likelihoods import log_tables
from bnpcluster.likelihoods.discrete.bernoulli import Bernoulli
from bnpcluster.priors import DirichletProcess
from bnpcluster.testing import exact_posterior
from tests.tools.discrete import (
    assert_emptied_is_cleared,
    assert_matches,
    assert_weights,
    filled,
    shares_slots,
)


def naive(a, b):
    def marginal(rows):
        s, m = rows.sum(axis=0), len(rows)
        return float((betaln(a + s, b + m - s) - betaln(a, b)).sum())

    return marginal


def random_rows(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.random((n, d)) < rng.random(d)).astype(float)


def test_golden_number():
    bound, _ = filled(Bernoulli(), np.array([[1, 0], [1, 1], [0, 1]]), [0, 0])
    assert ops.log_marginal(bound, 0) == pytest.approx(-4.9698132996, abs=1e-8)


def test_golden_posterior():
    """Five rows under a Dirichlet process: evidence, number of clusters, co-clustering."""
    X = np.array([[1, 1, 1], [1, 1, 0], [0, 0, 1], [0, 0, 0], [1, 0, 1]])
    exact = exact_posterior(X, Bernoulli(), DirichletProcess(1.0))
    assert exact.log_evidence == pytest.approx(-11.3375800998, abs=1e-8)
    expected = [0.07770066, 0.33748227, 0.39907024, 0.1644057, 0.02134112]
    np.testing.assert_allclose(exact.n_clusters_pmf(), expected, atol=1e-8)
    expected = [1, 0.44585326, 0.32786712, 0.25732536, 0.44671511]
    np.testing.assert_allclose(exact.coclustering()[0], expected, atol=1e-8)


@pytest.mark.parametrize("d", [1, 3, 40])
@pytest.mark.parametrize("per_column", [False, True])
def test_matches_the_beta_function(d, per_column):
    rng = np.random.default_rng(d)
    a, b = rng.gamma(1.0, 2.0, (2, d)) if per_column else (0.7, 2.0)
    X = random_rows(9, d)
    assert_matches(Bernoulli(a=a, b=b), X[:-1], X[-1], naive(a, b))


def test_matches_where_tables_end(monkeypatch):
    monkeypatch.setattr(log_tables, "ACCURATE", 3)
    a, b, X = 0.2, 0.4, random_rows(9, 6)
    X[:, 0], X[:, 1] = 0, 1
    assert_matches(Bernoulli(a=a, b=b), X[:-1], X[-1], naive(a, b))


def test_predictives_of_all_rows_sum_to_one():
    bound, _ = filled(Bernoulli(a=0.3, b=0.9), random_rows(5, 3), [1, 1, 1])
    rows = np.stack(np.meshgrid([0, 1], [0, 1], [0, 1]), axis=-1).reshape(8, 3).astype(float)
    every = Bernoulli().rows(bound, rows)
    for k in (0, 1):
        total = sum(np.exp(ops.log_predictive(every, k, i)) for i in range(8))
        assert total == pytest.approx(1.0, abs=1e-12)


def test_an_emptied_slot_is_a_cleared_one():
    assert_emptied_is_cleared(Bernoulli(a=0.3, b=2.0), random_rows(7, 5))


def test_weights_of_many_slots():
    assert_weights(Bernoulli(), random_rows(60, 12), 19)


def test_new_rows_share_the_slots():
    bound, new = filled(Bernoulli(), random_rows(6, 4), [1, 1, 0, 0])
    other = Bernoulli().rows(bound, np.array([[1.0, 1.0, 0.0, 0.0]]))
    assert shares_slots(bound, other)
    assert other.n_items == 1
    assert ops.log_predictive(other, 0, 0) == ops.log_predictive(bound, 0, new)


def test_samples_follow_the_predictive():
    rng = np.random.default_rng(0)
    a, b, rows = np.array([0.5, 1.0, 3.0]), 2.0, np.array([[1, 1, 0]] * 5 + [[0, 1, 0]])
    bound, _ = filled(Bernoulli(a=a, b=b), rows, [0, 0, 0])
    for k, expected in ((0, (a + rows.sum(axis=0)) / (a + b + 6)), (1, a / (a + b))):
        draws = np.array([Bernoulli().sample(bound, k, rng) for _ in range(4000)])
        assert draws.dtype == float
        assert set(np.unique(draws)) == {0.0, 1.0}
        z = (draws.mean(axis=0) - expected) / np.sqrt(expected * (1 - expected) / 4000)
        assert np.abs(z).max() < 4


def test_bad_values_get_one_sentence():
    X = random_rows(5, 4)
    bound = Bernoulli().bind(X)
    for value in (2.0, -1.0, 0.5):
        bad = X.copy()
        bad[3, 2] = value
        message = rf"^Bernoulli needs 0/1 values, found {value:g} in column 2: [^.]*\.$"
        with pytest.raises(ValueError, match=message):
            Bernoulli().bind(bad)
        with pytest.raises(ValueError, match=message):
            Bernoulli().rows(bound, bad)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"a": 0.0}, "a must be positive"),
        ({"b": [1.0, 2.0]}, "b has shape"),
        ({"a": "x"}, "a must be"),
    ],
)
def test_bad_parameters_get_one_sentence(parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Bernoulli(**parameters).bind(random_rows(4, 3))
