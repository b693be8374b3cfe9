"""Draws of learned hyper-parameters follow their hyper-priors."""

import numpy as np
import pytest
from scipy.special import digamma, polygamma
from scipy.stats import chisquare, gamma, kstest

from bnpcluster._core.operations import draw_learned, learned
from bnpcluster.likelihoods import (
    Bernoulli,
    Categorical,
    Columns,
    NormalInverseGamma,
    NormalInverseWishart,
    Poisson,
    Wishart,
)
from bnpcluster.likelihoods.gaussian import learned_covariance
from bnpcluster.likelihoods.gaussian.nig_columns import bind_columns
from bnpcluster.likelihoods.gaussian.nig_missing import bind_observed_columns
from bnpcluster.likelihoods.mixed.side_by_side import Pair
from tests.tools.learned_prior import (
    GRID,
    bound_columns,
    bound_rows,
    columns_hyper_prior,
    columns_prior_draw,
    hyper_prior,
    prior_draw,
)

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(8, 3))
HOLED, NESTED = ROWS.copy(), ROWS.copy()
HOLED[[1, 4, 7], [0, 1, 0]] = np.nan
NESTED[:3, 2] = np.nan
BITS = (ROWS > 0).astype(float)
COUNTS = RNG.poisson(3.0, size=(8, 2)).astype(float)


def draws(bound, n=3000, seed=1):
    rng = np.random.default_rng(seed)
    return np.array([draw_learned(bound, rng) for _ in range(n)])


def assert_on_grid(values, grid, power):
    """Frequencies in proportion to value^-power."""
    counts = (values[:, None] == grid).sum(axis=0)
    assert counts.sum() == len(values)
    weights = grid**-power
    expected = len(values) * weights / weights.sum()
    common = expected > 5
    pooled = [np.append(v[common], v[~common].sum()) for v in (counts, expected)]
    filled = pooled[1] > 0
    assert chisquare(*(v[filled] for v in pooled)).pvalue > 1e-4


def assert_gamma(values, shape, mean):
    assert kstest(values, gamma(shape, scale=mean / shape).cdf).pvalue > 1e-4


@pytest.mark.parametrize("kind", ["planar", "general", "imputed"])
def test_covariances(kind):
    d, rng = (2 if kind == "planar" else 3), np.random.default_rng(0)
    hyper = hyper_prior(d, 0.3, True)
    values, rows = prior_draw(hyper, rng)
    found = draws(bound_rows(kind, rows, hyper, values))
    M = np.array([learned_covariance.unpacked(row).expected for row in found])
    df, V = hyper.df[0], np.linalg.inv(hyper.inverse_guess)
    variance = df * (V**2 + np.outer(np.diag(V), np.diag(V)))
    z = (M.mean(axis=0) - df * V) / np.sqrt(variance / len(M))
    assert np.abs(z).max() < 4
    spread = M.var(axis=0) / variance
    assert np.abs(spread - 1).max() < 0.2
    half = (df - np.arange(d)) / 2
    log_det = d * np.log(2) + np.linalg.slogdet(V)[1] + digamma(half).sum()
    error = np.sqrt(polygamma(1, half).sum() / len(M))
    assert abs(np.linalg.slogdet(M)[1].mean() - log_det) < 4 * error
    assert_on_grid(found[:, -2] - d - 1, GRID, 1)
    assert_gamma(found[:, -1], 2.0, 0.5)


@pytest.mark.parametrize("bind", [bind_columns, bind_observed_columns])
def test_variances(bind):
    hyper = columns_hyper_prior(3, 0.2)
    _, rows = columns_prior_draw(hyper, np.random.default_rng(0))
    found = draws(bound_columns(bind, rows, hyper))
    for j, guess in enumerate(hyper.guess):
        assert_gamma(found[:, j], hyper.weight[0], guess)
    assert_on_grid(2 * (found[:, 3] - 1), GRID, 1)
    assert_gamma(found[:, 4], 2.0, 0.5)


@pytest.mark.parametrize(("cls", "X"), [(Bernoulli, BITS), (Categorical, BITS)])
@pytest.mark.parametrize("holes", [False, True])
def test_concentrations(cls, X, holes):
    bound = cls().bind(np.where(np.isnan(HOLED), np.nan, X) if holes else X)
    found = draws(bound)
    assert found.shape == (3000, 3)
    for column in found.T:
        assert_on_grid(column, bound.hyper.grid, 2)
    assert abs(np.corrcoef(np.log(found.T))[0, 1]) < 0.1


@pytest.mark.parametrize("holes", [False, True])
def test_rates(holes):
    X = np.where(np.isnan(HOLED[:, :2]), np.nan, COUNTS) if holes else COUNTS
    bound = Poisson().bind(X)
    found = draws(bound).reshape(-1, 2, 2)
    for j in range(2):
        assert_on_grid(found[:, 0, j], bound.hyper.grid, 2)
        assert_gamma(found[:, 1, j], 1.0, bound.hyper.guess[j])


MIXED = np.column_stack([ROWS[:, 0], BITS[:, 0], COUNTS[:, 0]])


def test_parts_are_drawn_side_by_side():
    parts = [("nig", 0), ("bernoulli", 1), ("poisson", 2)]
    bound = Columns(parts).bind(MIXED)
    assert isinstance(bound, Pair)
    found = draws(bound)
    assert found.shape[1] == len(learned(bound)) == 6
    nig, bits, counts = bound.first, bound.second.first, bound.second.second
    assert_gamma(found[:, 0], nig.hyper.weight[0], nig.hyper.guess[0])
    assert_on_grid(found[:, 3], bits.hyper.grid, 2)
    assert_gamma(found[:, 5], 1.0, counts.hyper.guess[0])
    fixed = Columns([("nig", 0), (Bernoulli(a="data", b="data"), 1), ("poisson", 2)]).bind(MIXED)
    assert draws(fixed, 3).shape[1] == 5


@pytest.mark.parametrize(
    ("likelihood", "moving"),
    [
        (NormalInverseWishart(), range(7)),
        (NormalInverseWishart(scale="data"), [6]),
        (NormalInverseWishart(nu=7.0), range(6)),
        (NormalInverseWishart(scale=Wishart(df=9), kappa=(1.0, 9.0)), range(8)),
        (NormalInverseGamma(scale="data"), [3]),
        (NormalInverseGamma(shape=2.0), range(3)),
        (NormalInverseGamma(kappa=(1.0, 9.0), scale="data"), [3, 4]),
        (Poisson(rate=1.0, shape="auto"), None),
        (Poisson(shape=2.0), [3, 4, 5]),
        (NormalInverseWishart(scale="data", nu="data"), None),
        (Bernoulli(a="data", b="data"), None),
    ],
)
def test_fixed_values_keep_their_number(likelihood, moving):
    X = np.abs(np.round(3 * ROWS)) if isinstance(likelihood, (Poisson, Bernoulli)) else ROWS
    bound = likelihood.bind(X > 1 if isinstance(likelihood, Bernoulli) else X)
    if moving is None:
        assert draw_learned(bound, RNG) is None
        return
    start, found = learned(bound), draws(bound, 30)
    moved = (found != start).any(axis=0)
    assert np.flatnonzero(moved).tolist() == list(moving)
    assert np.array_equal(learned(bound), start)


def test_what_moves_at_temperature_one_only_is_not_drawn():
    assert learned(NormalInverseWishart().bind(NESTED)) is not None
    assert draw_learned(NormalInverseWishart().bind(NESTED), RNG) is None
    both = Columns([("niw", [0, 1, 2]), ("bernoulli", 3)])
    assert draw_learned(both.bind(np.column_stack([NESTED, BITS[:, 0]])), RNG) is None
    assert draw_learned(both.bind(np.column_stack([ROWS, BITS[:, 0]])), RNG) is not None
