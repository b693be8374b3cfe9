"""Data sets from the prior have the distribution that the prior says."""

import numpy as np
import pytest
from scipy import stats

from bnpcluster import DPMixture
from bnpcluster._predict.prior_predictive import sample_prior
from bnpcluster.likelihoods import (
    Bernoulli,
    Categorical,
    Columns,
    NormalInverseGamma,
    NormalInverseWishart,
    Poisson,
)
from bnpcluster.priors import DirichletProcess

RNG, ALPHA = np.random.default_rng(0), DirichletProcess(1.0)
X = np.array([[0.0, 1.0], [1.0, 0.0]])


def drawn(likelihood, X=X, prior=ALPHA, n=4000):
    return sample_prior(likelihood, prior, X, n, np.random.default_rng(1))


def test_a_row_of_a_prior_is_a_student_t():
    sets = drawn(NormalInverseGamma(mean=0.5, kappa=0.5, shape=3.0, scale=2.0))
    t = stats.t(6.0, 0.5, np.sqrt(2.0 / 3.0 * 3.0))  # (1 + kappa) / kappa = 3
    assert stats.kstest(sets[:, 0, 1], t.cdf).pvalue > 1e-3
    sets = drawn(NormalInverseWishart(mean=[0.5, 0.5], kappa=0.5, nu=7.0, scale=4.0 * np.eye(2)))
    assert stats.kstest(sets[:, 1, 0], t.cdf).pvalue > 1e-3


def test_values_spread_by_their_standard_deviation():
    sets = drawn(NormalInverseGamma(mean=0.0, kappa=100.0, shape=30.0, scale=29.0 * 100.0))
    assert sets.std() == pytest.approx(10.0, rel=0.1)


def test_two_rows_share_a_cluster_as_often_as_the_prior_says():
    likelihood = NormalInverseGamma(mean=0.0, kappa=1e-6, shape=3.0, scale=2.0)
    sets = drawn(likelihood, prior=DirichletProcess(3.0))
    near = np.abs(sets[:, 0, 0] - sets[:, 1, 0]) < 50
    assert near.mean() == pytest.approx(0.25, abs=0.04)


def test_counts_binary_values_and_categories():
    counts = drawn(Poisson(shape=2.0, rate=0.5))[:, 0, 0]
    assert counts.mean() == pytest.approx(4.0, abs=0.3)
    assert counts.var() == pytest.approx(4.0 + 8.0, rel=0.15)
    assert drawn(Bernoulli(a=3.0, b=1.0))[:, 0, 0].mean() == pytest.approx(0.75, abs=0.03)
    codes = drawn(Categorical(concentration=1.0, n_categories=3))[:, 0, 0]
    np.testing.assert_allclose(np.bincount(codes.astype(int)) / 4000, 1 / 3, atol=0.03)


def test_mixed_columns_are_drawn_part_by_part():
    parts = [(Poisson(shape=2.0, rate=0.5), [1]), (NormalInverseGamma(kappa=0.5), [0])]
    sets = drawn(Columns(parts).resolved(None, ["float"] * 2), n=50)
    assert (sets[:, :, 1] == sets[:, :, 1].round()).all() and (sets[:, :, 0] % 1 != 0).all()


def test_hyper_parameters_are_drawn_too():
    rows = RNG.normal(size=(40, 2))
    sets = DPMixture().sample_prior(rows, 30, random_state=0)
    assert sets.shape == (30, 40, 2) and np.isfinite(sets).all()
    spread = sets.std(axis=1).ravel()
    assert spread.max() > 3 * spread.min()
    np.testing.assert_array_equal(sets, DPMixture().sample_prior(rows, 30, random_state=0))


def test_learned_rates_differ_between_the_sets():
    """The rate alone is learned here: the mean of a set is 50 / r, where r is exponential."""
    counts = np.full((50, 1), 50.0) + np.arange(50)[:, None] % 3
    sets = drawn(Poisson(shape=1e6), X=counts, prior=DirichletProcess(1e-6), n=400)
    r = 51.0 / sets.mean(axis=(1, 2))
    assert stats.kstest(r, stats.expon.cdf).pvalue > 1e-3


def test_mutations_have_no_depth_to_draw():
    reads = np.array([[38, 12, 2, 2, 1, 0.8], [40, 30, 2, 2, 1, 0.8]])
    with pytest.raises(TypeError, match="has no depth of reads"):
        DPMixture(likelihood="pyclone").sample_prior(reads)
