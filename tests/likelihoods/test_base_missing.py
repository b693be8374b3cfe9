"""Missing entries are integrated out exactly where columns are independent."""

import numpy as np
import pytest

from bnpcluster._core import operations as ops
from bnpcluster.likelihoods import (
    Bernoulli,
    Categorical,
    Columns,
    NormalInverseGamma,
    Poisson,
    log_tables,
)
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import Gibbs, SplitMerge
from bnpcluster.testing import check_likelihood, check_sampler
from tests._predict.test_predictive import against_enumeration
from tests.tools.discrete import assert_emptied_is_cleared, assert_weights
from tests.tools.dossier import P_VALUE, note

JITTED = hasattr(__import__("bnpcluster.samplers.gibbs", fromlist=["sweep"]).sweep, "py_func")


def with_missing(X, share=0.3, seed=0):
    """The rows with missing entries in every column, and one row that is entirely missing."""
    X = np.array(X, float)
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    X[1] = np.nan
    for d in range(X.shape[1]):  # no column is empty or constant
        X[[0, 2], d] = np.where(np.isnan(X[[0, 2], d]), [0.0, 1.0], X[[0, 2], d])
    return X


def real(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)) + (np.arange(n) % 2)[:, None]


def codes(n, d, high, seed=0):
    return np.random.default_rng(seed).integers(0, high, size=(n, d)).astype(float)


LIKELIHOODS = [
    pytest.param(NormalInverseGamma(), real(9, 1), id="nig-1"),
    pytest.param(
        NormalInverseGamma(mean=[0.5, -1, 0], kappa=0.3, shape=2.0, scale=[1, 2, 0.5]),
        real(9, 3),
        id="nig-3",
    ),
    pytest.param(Bernoulli(a=[0.5, 1.0, 2.0], b=1.7), codes(9, 3, 2), id="bernoulli"),
    pytest.param(
        Categorical(concentration=[0.2, 3.0, 1.0], n_categories=[3, 5, 2]),
        codes(9, 3, [3, 4, 2]),
        id="categorical",
    ),
    pytest.param(
        Poisson(shape=[0.5, 1.0, 2.0], rate=[1.0, 0.3, 0.02]), codes(9, 3, [2, 9, 90]), id="poisson"
    ),
]


@pytest.mark.parametrize(("likelihood", "X"), LIKELIHOODS)
def test_contract(likelihood, X):
    check_likelihood(likelihood, with_missing(X))


def filled(likelihood, X):
    """All rows of `X` in slot 0, and an empty slot 1."""
    bound = likelihood.bind(X, 4)
    ops.clear(bound, 0)
    ops.clear(bound, 1)
    for i in range(len(X)):
        ops.add(bound, 0, i)
    return bound


def at_column(likelihood, d):
    """The likelihood of column d."""
    params = {
        name: [np.broadcast_to(value, 3)[d]] if np.ndim(value) else value
        for name, value in likelihood.get_params().items()
    }
    return type(likelihood)(**params)


@pytest.mark.parametrize(("likelihood", "X"), LIKELIHOODS[1:])
def test_a_column_is_the_complete_one_of_the_rows_that_have_it(likelihood, X):
    """The marginal is the product over columns of marginals of the rows observed there."""
    X = with_missing(X)
    bound = filled(likelihood, X)
    expected = 0.0
    for d in range(X.shape[1]):
        column = X[~np.isnan(X[:, d]), d][:, None]
        expected += ops.log_marginal(filled(at_column(likelihood, d), column), 0)
    assert ops.log_marginal(bound, 0) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("likelihood", "X"), LIKELIHOODS)
def test_without_missing_entries_nothing_changes(likelihood, X):
    plain, open_ = likelihood.bind(X, 4), likelihood.bind_observed(X, 4)
    assert type(plain) is not type(open_)
    for bound in (plain, open_):
        ops.clear(bound, 0)
        ops.clear(bound, 1)
        for i in range(6):
            ops.add(bound, 0, i)
    for operation, k, i in [
        *((ops.log_predictive, k, i) for k in (0, 1) for i in (6, 7, 8)),
        *((ops.log_predictive_without, 0, i) for i in range(6)),
    ]:
        assert operation(open_, k, i) == pytest.approx(operation(plain, k, i), rel=1e-11)
    assert ops.log_marginal(open_, 0) == pytest.approx(ops.log_marginal(plain, 0), rel=1e-11)


def values_of(likelihood, bound):
    """Points of the first column, and their weights in a sum or an integral."""
    if isinstance(likelihood, NormalInverseGamma):
        nodes, weights = np.polynomial.legendre.leggauss(400)
        # x = 3 t / (1 - t^2)
        return 3 * nodes / (1 - nodes**2), weights * 3 * (1 + nodes**2) / (1 - nodes**2) ** 2
    high = {Bernoulli: 2, Categorical: 3, Poisson: 3000}[type(likelihood)]
    return np.arange(high, dtype=float), np.ones(high)


@pytest.mark.parametrize(("likelihood", "X"), LIKELIHOODS)
def test_a_missing_entry_is_integrated_out(likelihood, X):
    """The density of the rest is the sum or the integral over the values of the missing entry."""
    bound = filled(likelihood, with_missing(X))
    points, weights = values_of(likelihood, bound)
    row = X[4].copy()
    row[0] = np.nan
    many = np.tile(X[4], (len(points), 1))
    many[:, 0] = points
    rest, every = likelihood.rows(bound, row[None]), likelihood.rows(bound, many)
    for k in (0, 1):
        log_f = np.array([ops.log_predictive(every, k, i) for i in range(len(points))])
        expected = (weights * np.exp(log_f)).sum()
        assert np.exp(ops.log_predictive(rest, k, 0)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(("likelihood", "X"), LIKELIHOODS)
def test_predictions_are_exact(likelihood, X):
    X = with_missing(X[:7])
    X[5, 0] = 1.0  # new rows with some missing entries, with all, and with none
    against_enumeration(likelihood.frozen(X), DirichletProcess(0.8), X[[0, 2, 3, 4, 5, 1]])


@pytest.mark.parametrize(
    "sampler",
    [
        pytest.param(Gibbs(), id="gibbs"),
        pytest.param(SplitMerge(), id="split_merge", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize(("likelihood", "X"), LIKELIHOODS[1:])
def test_samplers_leave_the_exact_posterior_invariant(sampler, likelihood, X):
    X = with_missing(X)[[0, 2, 3, 4, 1]]
    size = 10_000 if JITTED else 300
    p = check_sampler(sampler, likelihood, DirichletProcess(1.0), X, n_replicates=size)
    note(P_VALUE, p, f"{size:,} starts")


@pytest.mark.parametrize(("likelihood", "X"), [LIKELIHOODS[1], *LIKELIHOODS[2:4]])
def test_weights_of_many_slots(likelihood, X):
    rng = np.random.default_rng(0)
    many = with_missing(
        X[rng.integers(9, size=60)] + rng.normal(size=(60, 3)) * 3.0 * (X.dtype == 0)
    )
    if isinstance(likelihood, NormalInverseGamma):
        many = with_missing(rng.normal(size=(60, 3)) * 3.0)
    many[:9:2] = many[:9:2][:, ::-1] if isinstance(likelihood, NormalInverseGamma) else many[:9:2]
    assert_weights(likelihood, many, 19)


@pytest.mark.parametrize(("likelihood", "X"), LIKELIHOODS[:4])
def test_an_emptied_slot_is_a_cleared_one(likelihood, X):
    assert_emptied_is_cleared(likelihood, with_missing(X))


def test_matches_where_tables_end(monkeypatch):
    for likelihood, X in ((Categorical(concentration=0.4), codes(9, 3, 2)), (Poisson(), None)):
        X = with_missing(codes(9, 3, 3) if X is None else X)
        expected = ops.log_marginal(filled(likelihood, X), 0)
        with monkeypatch.context() as patch:
            patch.setattr(log_tables, "ACCURATE", 3)
            found = filled(likelihood, X)
            assert ops.log_marginal(found, 0) == pytest.approx(expected, rel=1e-12)
        new = ops.log_predictive(found, 0, 0)
        assert new == pytest.approx(ops.log_predictive(filled(likelihood, X), 0, 0), rel=1e-12)


@pytest.mark.parametrize(("likelihood", "X"), LIKELIHOODS)
def test_samples_follow_the_predictive(likelihood, X):
    """Per column, the mean of samples against that of the complete column's own samples."""
    bound = filled(likelihood, with_missing(X))
    rng = np.random.default_rng(1)
    draws = np.array([likelihood.sample(bound, 0, rng) for _ in range(3000)])
    assert draws.shape == (3000, X.shape[1])
    if isinstance(likelihood, NormalInverseGamma):
        draws = np.tanh(draws)  # heavy tails
    for d in range(X.shape[1]):
        row = np.full((1, X.shape[1]), np.nan)
        points, weights = values_of(likelihood, bound)
        every = np.tile(row, (len(points), 1))
        if isinstance(likelihood, Categorical):
            points = np.arange(likelihood.n_categories[d], dtype=float)
            every, weights = np.tile(row, (len(points), 1)), np.ones(len(points))
        every[:, d] = points
        new = likelihood.rows(bound, every)
        p = weights * np.exp([ops.log_predictive(new, 0, i) for i in range(len(points))])
        values = np.tanh(points) if isinstance(likelihood, NormalInverseGamma) else points
        mean, square = (p * values).sum(), (p * values**2).sum()
        error = np.sqrt((square - mean**2) / 3000)
        assert abs(draws[:, d].mean() - mean) < 4 * error


def test_automatic_values_rest_on_the_observed_entries():
    X = real(400, 3)
    few = X.copy()
    few[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    whole, part = NormalInverseGamma().frozen(X), NormalInverseGamma().frozen(few)
    np.testing.assert_allclose(part.mean, np.nanmedian(few, axis=0), rtol=1e-12)
    np.testing.assert_allclose(part.scale, whole.scale, rtol=0.4)
    counts = codes(200, 2, 9)
    counts[::3, 0] = np.nan
    rate = Poisson().frozen(counts).rate
    np.testing.assert_allclose(rate, 1 / np.nanmean(counts, axis=0), rtol=1e-12)


@pytest.mark.parametrize(("likelihood", "X"), LIKELIHOODS)
def test_a_column_without_entries_gets_one_sentence(likelihood, X):
    X = X.copy()
    X[:, -1] = np.nan
    with pytest.raises(ValueError, match=rf"Column {X.shape[1] - 1} is entirely missing"):
        likelihood.bind(X)


@pytest.mark.parametrize("likelihood", [Bernoulli(), Categorical(n_categories=4), Poisson()])
def test_bad_values_get_one_sentence(likelihood):
    X = with_missing(codes(8, 2, 2))
    X[3, 1] = -1.0
    with pytest.raises(ValueError, match=r"found -1 in column 1"):
        likelihood.bind(X)
    bound = likelihood.bind(with_missing(codes(8, 2, 2)))
    with pytest.raises(ValueError, match=r"found -1 in column 1"):
        likelihood.rows(bound, X)


def test_mixed_columns_accept_nan_if_all_parts_do():
    assert Columns([("nig", 0), ("bernoulli", 1)]).takes_nan
    assert Columns().takes_nan
