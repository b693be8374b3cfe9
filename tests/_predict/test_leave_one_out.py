"""Densities of rows given all others, exact against enumeration; how strange rows are."""

import numpy as np
import pytest
from scipy import stats

from bnpcluster import DPMixture
from bnpcluster._predict.leave_one_out import given_others, left_out, strangeness, weights_without
from bnpcluster.likelihoods import NormalInverseGamma
from bnpcluster.posterior import Posterior
from bnpcluster.priors import DirichletProcess
from bnpcluster.testing.enumeration import enumerated
from tests._predict.test_predictive import LIKELIHOOD_EXAMPLES, PRIOR_EXAMPLES, exactly_fitted

NIG = NormalInverseGamma(mean=0.5, kappa=0.7, shape=3.0, scale=1.5)
ROWS = np.array([[0.0], [0.3], [4.0], [4.5], [1.0]])
ALPHA = DirichletProcess(1.3)


def evidence(likelihood, prior, X):
    return enumerated(likelihood.bind(X), prior, len(X)).log_evidence


def check_left_out(likelihood, prior, X):
    fitted, exact = exactly_fitted(likelihood, prior, X, len(X))
    fitted = fitted._replace(prior=prior, X=X)
    found = given_others(fitted, np.arange(len(exact.partitions)))
    whole = evidence(likelihood, prior, X)
    for i in range(len(X)):
        # Hyper-parameters that were guessed from all rows must not be guessed again.
        rest = likelihood.frozen(X)
        expected = whole - evidence(rest, prior, np.delete(X, i, axis=0))
        assert found[i] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("prior", PRIOR_EXAMPLES)
def test_the_density_given_the_others_is_a_ratio_of_evidences(prior):
    check_left_out(NIG, prior, ROWS[:4])  # one prior has at most four blocks


@pytest.mark.parametrize(("likelihood", "X"), LIKELIHOOD_EXAMPLES)
def test_so_it_is_for_every_likelihood(likelihood, X):
    if not np.isnan(X).any() and len(X) <= 7:
        check_left_out(likelihood.guessed(), ALPHA, X[:5])


def test_a_row_alone_leaves_one_block_fewer():
    weights = np.exp(weights_without(ALPHA, np.array([2, 1, 3])))
    total = 5 + 1.3
    np.testing.assert_allclose(weights[0] * total, [1, 1, 3, 1.3])
    np.testing.assert_allclose(weights[1] * total, [2, 0, 3, 1.3])


def test_strangeness_is_a_tail_of_the_predictive():
    fitted, _ = exactly_fitted(NIG, ALPHA, ROWS, 5)
    one = np.zeros((1, 1, 5), int)
    fitted = fitted._replace(
        posterior=Posterior(one), log_urn=np.array([[0.0, -np.inf]]), prior=ALPHA, X=ROWS
    )
    r, a = 5.7, 5.5
    m = (0.35 + ROWS.sum()) / r
    b = 1.5 + 0.5 * (((ROWS - ROWS.mean()) ** 2).sum() + 3.5 / r * (ROWS.mean() - 0.5) ** 2)
    t = stats.t(2 * a, m, np.sqrt(b * (r + 1) / (a * r)))
    new = np.array([[m], [m + 1.0], [m - 3.0], [np.nan]])
    found = strangeness(fitted, new, np.append(t.logpdf(new[:3, 0]), 0.0))
    expected = np.append(2 * t.cdf(m + np.array([0.0, 1.0, 3.0])) - 1, np.nan)
    np.testing.assert_allclose(found, expected, atol=0.05)


RNG = np.random.default_rng(2)
QUICK = {"n_chains": 1, "n_draws": 60, "n_warmup": 30, "random_state": 0}


def test_a_planted_outlier_is_the_strangest_row():
    X = np.vstack([RNG.normal(size=(40, 2)), [[7.0, -7.0]]])
    model = DPMixture(**QUICK).fit(X)
    found = model.outlier_scores_
    assert found.argmax() == 40 and found[40] > 0.97 and found[:40].mean() < 0.6
    assert ((found >= 0) & (found <= 1)).all()
    new = model.outlier_score([[0.0, 0.0], [30.0, 0.0]])
    assert new[0] < 0.3 and new[1] > 0.97


def test_a_row_does_not_vouch_for_itself():
    """Given itself, an outlier in a block of its own has a high density."""
    X = np.vstack([RNG.normal(size=(30, 1)), [[20.0]]])
    model = DPMixture(**QUICK).fit(X)
    with_itself = model.score_samples(X)[30]
    draws = np.arange(60)
    assert given_others(model._fitted, draws)[30] < with_itself - 1.0


def test_rows_with_holes_are_compared_with_rows_like_them():
    X = RNG.normal(size=(40, 2))
    X[3, 0] = X[5, 1] = np.nan
    X[7] = np.nan
    with pytest.warns(UserWarning, match="has no value"):
        model = DPMixture(likelihood="nig", **QUICK).fit(X)
    found = model.outlier_scores_
    assert found.shape == (40,) and np.flatnonzero(np.isnan(found)).tolist() == [7]
    assert np.isnan(model.outlier_score(X[6:8])).tolist() == [False, True]
    X[3, 1] = 9.0
    assert model.outlier_score(X[3:4])[0] > 0.95


def test_sampled_entries_leave_a_density_of_what_is_observed():
    X = RNG.normal(size=(20, 3))
    X[2, 0] = X[4, 1] = X[6, 2] = np.nan  # not nested: chains sample them
    model = DPMixture(**QUICK).fit(X)
    assert model._fitted.latent is not None
    logs = left_out(model._fitted, np.arange(5))
    holes = [2, 4, 6]
    rest = model.score_samples(X[holes])
    np.testing.assert_allclose(logs[:, holes].mean(axis=0), rest, atol=2.0)
    assert logs.shape == (5, 20) and np.isfinite(logs).all()
