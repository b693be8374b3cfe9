"""Missing entries are filled in by their exact posterior means: closed forms and enumeration."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bnpcluster import DPMixture, FiniteDirichletMixture
from bnpcluster._predict.imputation import impute
from bnpcluster.likelihoods import (
    Bernoulli,
    Categorical,
    Columns,
    NormalInverseGamma,
    NormalInverseWishart,
    Poisson,
)
from bnpcluster.priors import DirichletProcess
from bnpcluster.testing import all_partitions, log_eppf
from bnpcluster.testing.enumeration import enumerated
from tests._predict.test_predictive import exactly_fitted
from tests.tools.holed_niw import (
    KAPPA,
    MEAN,
    NU,
    SCALE,
    conditional,
    log_marginal,
    student,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
NAN = np.nan
QUICK = {"sampler": "gibbs", "n_draws": 30, "n_warmup": 20, "n_chains": 2, "random_state": 0}
PRIOR = DirichletProcess(0.8)
REAL = np.array([[-1.0, 0.5], [NAN, 0.2], [2.0, NAN], [1.5, 3.0], [2.2, NAN], [NAN, 0.4]])
COINS = np.array([[1, 0], [NAN, 0], [1, NAN], [0, 1], [1, NAN], [NAN, 1.0]])


def nig_mean(values, d):
    return (0.5 * [0.1, -0.3][d] + values.sum()) / (0.5 + len(values))


def bernoulli_mean(values, d):
    return (0.7 + values.sum()) / (0.7 + 2.0 + len(values))


def poisson_mean(values, d):
    return (1.5 + values.sum()) / (0.5 + len(values))


def categorical_mean(values, d):
    counts = np.array([(values == c).sum() for c in range(3)])
    return (0.4 + counts) / (1.2 + len(values))


CASES = [
    pytest.param(
        NormalInverseGamma(mean=[0.1, -0.3], kappa=0.5, shape=2.0, scale=0.4),
        nig_mean,
        REAL,
        id="nig",
    ),
    pytest.param(Bernoulli(a=0.7, b=2.0), bernoulli_mean, COINS, id="bernoulli"),
    pytest.param(Poisson(shape=1.5, rate=0.5), poisson_mean, COINS * 7, id="poisson"),
    pytest.param(
        Categorical(concentration=0.4, n_categories=3),
        categorical_mean,
        COINS * 2,
        id="categorical",
    ),
]


def enumerated_means(likelihood, mean, X, i):
    """Of the missing entries of row i: posterior means over all partitions of all rows."""
    exact = enumerated(likelihood.bind_observed(X), PRIOR, len(X))
    row = X[i].copy()
    for d in np.flatnonzero(np.isnan(row)):
        total = 0.0
        for p, labels in zip(exact.probabilities, exact.partitions, strict=True):
            column = X[labels == labels[i], d]
            total = total + p * mean(column[~np.isnan(column)], d)
        row[d] = total if np.ndim(total) == 0 else np.argmax(total)
    return row


@pytest.mark.parametrize(("likelihood", "mean", "X"), CASES)
def test_rows_of_the_fit_against_enumeration(likelihood, mean, X):
    fitted, _ = exactly_fitted(likelihood, PRIOR, X, 6)
    found = impute(fitted, X, np.arange(6))
    expected = [enumerated_means(likelihood, mean, X, i) for i in range(6)]
    np.testing.assert_allclose(found, expected, atol=1e-9)
    some = impute(fitted, X[[4, 1]], np.array([4, 1]))
    np.testing.assert_allclose(some, np.array(expected)[[4, 1]], atol=1e-9)


@pytest.mark.parametrize(("likelihood", "mean", "X"), CASES)
def test_new_rows_against_enumeration(likelihood, mean, X):
    """As if the new row had been in the fit: its observed entries bear on the partition, too."""
    fitted, _ = exactly_fitted(likelihood, PRIOR, X, 4)
    found = impute(fitted, X[4:])
    expected = [enumerated_means(likelihood, mean, X[[0, 1, 2, 3, i]], 4) for i in (4, 5)]
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_mixed_columns_against_enumeration():
    X = np.column_stack([REAL, COINS * 2, COINS])
    nig, coin, kind = (CASES[j].values[0] for j in (0, 1, 3))
    likelihood = Columns([(kind, [2, 3]), (nig, [0, 1]), (coin, [5, 4])])
    fitted, _ = exactly_fitted(likelihood, PRIOR, X, 5)

    def mean(values, d):
        return (nig_mean, categorical_mean, bernoulli_mean)[d // 2](values, d % 2)

    expected = [enumerated_means(likelihood, mean, X[:5], i) for i in range(5)]
    np.testing.assert_allclose(impute(fitted, X[:5], np.arange(5)), expected, atol=1e-9)
    found = impute(fitted, X[5:])
    np.testing.assert_allclose(found[0], enumerated_means(likelihood, mean, X, 5), atol=1e-9)


LIKELIHOOD = NormalInverseWishart(mean=MEAN, kappa=KAPPA, nu=NU, scale=SCALE, missing="impute")


def test_new_rows_under_covariances_against_enumeration():
    X = np.array([[-1.0, -1.2], [-0.8, 0.3], [1.5, 1.0], [1.2, 2.0]])
    fitted, _ = exactly_fitted(LIKELIHOOD, PRIOR, X, 4)
    partitions = all_partitions(5)
    for new in np.array([[0.4, NAN], [NAN, 1.8], [NAN, NAN]]):
        log_p, means = log_eppf(PRIOR, partitions), np.zeros((len(partitions), 2))
        seen, miss = np.flatnonzero(~np.isnan(new)), np.isnan(new)
        for j, row in enumerate(partitions):
            old = row[:4]
            log_p[j] += sum(log_marginal(X[old == k]) for k in range(old.max() + 1))
            log_p[j] += student(X[old == row[4]], new, seen)
            means[j, miss] = conditional(X[old == row[4]], new)[0]
        p = np.exp(log_p - log_p.max())
        expected = np.where(miss, p @ means / p.sum(), new)
        full = fitted._replace(bound=LIKELIHOOD.bind_observed(X))
        np.testing.assert_allclose(impute(full, new[None])[0], expected, atol=1e-9)


def test_rows_of_the_fit_under_covariances_in_one_cluster():
    """A single hole in a single cluster: the location of its conditional Student t."""
    rng = np.random.default_rng(0)
    X = rng.multivariate_normal(MEAN, SCALE, size=12)
    X[4, 1] = NAN
    model = FiniteDirichletMixture(
        n_components=1, likelihood=LIKELIHOOD, **{**QUICK, "n_draws": 2000}
    )
    model.fit(X)
    location, scale, df = conditional(np.delete(X, 4, axis=0), X[4])
    error = np.sqrt(scale[0, 0] * df / (df - 2) / 4000)
    for filled in (model.impute(), model.impute(X)):
        assert abs(filled[4, 1] - location[0]) < 4 * error
        np.testing.assert_array_equal(filled[~np.isnan(X)], X[~np.isnan(X)])
    new = model.impute(X[[4]])  # as a new row: its observed entry is in the cluster, too
    assert abs(new[0, 1] - location[0]) < 0.3


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1], 15)
    table = pd.DataFrame(
        {"age": rng.normal(groups * 9.0), "city": np.array(["Oslo", "Rome"])[groups]}
    )
    table.loc[[2, 20], "age"] = NAN
    table.loc[[5, 25], "city"] = None
    return table.set_index(np.arange(100, 130))


@pytest.fixture(scope="module")
def model(frame):
    return DPMixture(likelihood="columns", **QUICK).fit(frame)


def test_frames_come_back_as_frames(frame, model):
    filled = model.impute(frame)
    assert list(filled.city.iloc[[5, 25]]) == ["Oslo", "Rome"]
    assert abs(filled.age.iloc[2]) < 3
    assert abs(filled.age.iloc[20] - 9) < 3
    assert (filled.index == frame.index).all()
    there = frame.notna()
    assert filled.where(there).equals(frame.where(there))
    assert frame.isna().sum().sum() == 4  # the one that was given is untouched
    np.testing.assert_array_equal(model.impute()[:, 0], filled.age)
    other = model.impute(pl.from_pandas(frame))
    assert isinstance(other, pl.DataFrame)
    assert other["city"].to_list() == list(filled.city)
    np.testing.assert_array_equal(other["age"].to_numpy(), filled.age)


def test_new_rows_of_a_frame(frame, model):
    new = pd.DataFrame({"age": [NAN, 8.0], "city": ["Oslo", None]})
    filled = model.impute(new)
    assert abs(filled.age[0]) < 3
    assert filled.city[1] == "Rome"


def test_complete_rows_are_returned_as_they_are(frame, model):
    complete = frame.dropna()
    assert model.impute(complete).equals(complete)


def test_a_complete_fit_fills_in_new_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2)) + 6.0 * np.repeat([0, 1], 15)[:, None]
    model = DPMixture(likelihood="nig", **QUICK).fit(X)
    filled = model.impute([[NAN, 6.0], [0.0, NAN]])
    np.testing.assert_allclose(filled, [[6, 6], [0, 0]], atol=1.5)
    np.testing.assert_array_equal(model.impute(), X)
