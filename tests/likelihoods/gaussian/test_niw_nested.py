"""Gaussian clusters with covariances: nested missing entries are integrated out, by quadrature."""

import itertools

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import kstest, t

from bnpcluster import DPMixture
from bnpcluster._core import operations as ops
from bnpcluster._core.state import State
from bnpcluster._fitting.fitted import Fitted, urn_weights
from bnpcluster._predict.imputation import impute
from bnpcluster._predict.predictive import imputed, predict
from bnpcluster.likelihoods import Columns, NormalInverseWishart
from bnpcluster.likelihoods.gaussian.niw_imputed import ImputedNIW
from bnpcluster.likelihoods.gaussian.niw_nested import NestedNIW, find_nesting
from bnpcluster.posterior import Posterior
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import Gibbs, SplitMerge, UrnSMC
from bnpcluster.testing import (
    all_partitions,
    check_likelihood,
    check_particles,
    check_sampler,
    log_eppf,
)
from bnpcluster.testing.check_samplers import chi_square
from bnpcluster.testing.enumeration import enumerated
from tests._predict.test_predictive import exactly_fitted
from tests.tools.holed_niw import posterior
from tests.tools.nested_niw import CASES, NAN, THREE, Prior, cells, expected, integrated

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore:Rows? .* no value"
)
JITTED = hasattr(__import__("bnpcluster.samplers.gibbs", fromlist=["sweep"]).sweep, "py_func")
PRIOR = DirichletProcess(0.8)
QUICK = {"sampler": "gibbs", "n_draws": 30, "n_warmup": 20, "n_chains": 2, "random_state": 0}
NESTED = pytest.mark.parametrize(("prior", "X"), CASES.values(), ids=CASES)


def stairs(n=40, d=4, seed=0):
    """Two groups of rows that drop out, some of them early; columns in any order."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 5.0 * (np.arange(n) % 2)[:, None]
    X[:, 1] += X[:, 0]
    X[np.arange(d) >= rng.integers(0, 3 * d, size=n)[:, None]] = NAN
    return X[:, rng.permutation(d)]


def filled(bound, items, k=0):
    """Slot k with some items."""
    ops.clear(bound, k)
    for i in items:
        ops.add(bound, k, i)
    return bound


@NESTED
def test_the_marginal_of_every_block_is_the_integral(prior, X):
    bound = prior.likelihood().bind(X, 4)
    assert isinstance(bound, NestedNIW)
    for size in range(1, 5):
        for items in itertools.combinations(range(4), size):
            found = ops.log_marginal(filled(bound, items), 0)
            assert found == pytest.approx(integrated(X[list(items)], prior), abs=1e-8)


@NESTED
def test_predictives_are_ratios_of_integrals(prior, X):
    bound = filled(prior.likelihood().bind(X, 4), [0, 1, 3])
    ops.clear(bound, 1)
    ratio = integrated(X, prior) - integrated(X[[0, 1, 3]], prior)
    assert ops.log_predictive(bound, 0, 2) == pytest.approx(ratio, abs=1e-8)
    assert bound.log_empty[2] == pytest.approx(integrated(X[[2]], prior), abs=1e-8)
    ops.add(bound, 0, 2)
    assert ops.log_predictive_without(bound, 0, 2) == pytest.approx(ratio, abs=1e-8)


def test_blocks_of_complete_rows_are_those_of_complete_data():
    X = stairs(12)
    complete = np.flatnonzero(~np.isnan(X).any(axis=1))
    likelihood = NormalInverseWishart().frozen(X)
    bound = filled(likelihood.bind(X), complete[:-1])
    plain = filled(likelihood.bind(X[complete]), range(len(complete) - 1))
    assert len(bound.ends) > 2
    last = len(complete) - 1
    for one, two in (
        (ops.log_marginal(bound, 0), ops.log_marginal(plain, 0)),
        (ops.log_predictive(bound, 0, complete[-1]), ops.log_predictive(plain, 0, last)),
        (bound.log_empty[complete[0]], plain.log_empty[0]),
    ):
        assert one == pytest.approx(two, rel=1e-10)


def test_rows_without_entries_say_nothing():
    X = np.array([[-1.0, 2.0, 0.3], [NAN] * 3, [0.4, 1.0, 2.0], [1.0, -1.0, 0.2]])
    likelihood = THREE.likelihood()
    bound = filled(likelihood.bind(X), range(4))
    plain = filled(likelihood.bind(X[[0, 2, 3]]), range(3))
    assert ops.log_marginal(bound, 0) == pytest.approx(ops.log_marginal(plain, 0), rel=1e-12)
    assert ops.log_predictive(bound, 0, 1) == ops.log_predictive_without(bound, 0, 1) == 0.0


@pytest.mark.parametrize("d", [2, 3, 7, 12])
def test_contract(d):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(7, d)) + 3.0 * (np.arange(7) % 3)[:, None]
    X[[0, 2, 5], 0] = X[[2, 5], d // 2] = NAN
    X[2] = NAN
    assert isinstance(NormalInverseWishart().bind(X), NestedNIW)
    check_likelihood(NormalInverseWishart(), X)


@NESTED
def test_the_posterior_of_partitions_is_that_of_the_integral(prior, X):
    exact = enumerated(prior.likelihood().bind(X), PRIOR, 4)
    log_joint = log_eppf(PRIOR, exact.partitions)
    log_joint += [integrated(X, prior, row) for row in exact.partitions]
    np.testing.assert_allclose(exact.log_joint, log_joint, atol=1e-7)


@NESTED
@pytest.mark.parametrize("sampler", [Gibbs(), SplitMerge()], ids=["gibbs", "split_merge"])
def test_chains_keep_the_posterior_of_partitions(prior, X, sampler):
    n = 10_000 if JITTED else 300
    check_sampler(sampler, prior.likelihood(), PRIOR, X, n_replicates=n)


def test_particles_estimate_the_evidence_of_the_integral():
    prior, X = CASES["stairs"]
    check_particles(UrnSMC(n_particles=8), prior.likelihood(), PRIOR, X, error=0.02, n_runs=100)
    whole = enumerated(prior.likelihood().bind(X), PRIOR, 4).log_evidence
    log_p = [integrated(X, prior, row) for row in all_partitions(4)]
    assert whole == pytest.approx(logsumexp(log_p + log_eppf(PRIOR, all_partitions(4))), abs=1e-7)


@NESTED
def test_rows_of_the_fit_are_filled_in_with_posterior_means(prior, X):
    fitted, exact = exactly_fitted(prior.likelihood(), PRIOR, X, 4)
    total = 0.0
    for p, row in zip(exact.probabilities, exact.partitions, strict=True):
        total = total + p * expected(X, prior, row)
    np.testing.assert_allclose(impute(fitted, X, np.arange(4)), total, atol=1e-5)


@pytest.mark.parametrize("new", [[NAN, 0.7, NAN], [NAN, 0.7, -1.0], [1.0, 0.7, -1.0]])
def test_new_rows_are_filled_in_and_judged_as_if_they_were_in_the_fit(new):
    """Rows of the fit are, as shown above."""
    prior, X = CASES["stairs"]
    together = np.vstack([X, new])
    fitted, exact = exactly_fitted(prior.likelihood(), PRIOR, X, 4)
    longer, every = exactly_fitted(prior.likelihood(), PRIOR, together, 5)
    mean = impute(longer, together, np.arange(5))[4]
    np.testing.assert_allclose(impute(fitted, together[4:])[0], mean, atol=1e-9)
    found = predict(fitted, together[4:]).log_density[0]
    assert found == pytest.approx(every.log_evidence - exact.log_evidence, abs=1e-9)


def test_sampled_rows_follow_the_regressions():
    prior, X = CASES["last"]
    likelihood = prior.likelihood()
    bound = filled(likelihood.bind(X, 4), range(4))
    rng = np.random.default_rng(0)
    x = np.array([likelihood.sample(bound, 0, rng) for _ in range(10_000)]).T
    one = posterior(X[:, :1], prior.mean[:1], 0.4, prior.nu - 1, prior.scale[:1, :1])
    width = np.sqrt(one[3][0, 0] * (one[0] + 1) / one[0] / one[1])
    assert kstest((x[0] - one[2]) / width, t(one[1]).cdf).pvalue > 1e-3
    r, nu, mean, S = posterior(X[[0, 3]], *prior)
    gap = x[0] - mean[0]
    centre = mean[1] + S[1, 0] / S[0, 0] * gap
    rest = S[1, 1] - S[1, 0] ** 2 / S[0, 0]
    width = np.sqrt(rest * ((r + 1) / r + gap**2 / S[0, 0]) / nu)
    assert kstest((x[1] - centre) / width, t(nu).cdf).pvalue > 1e-3


def test_sampled_columns_stand_where_they_were():
    """With the columns of data and prior reversed, so are those of the same sample."""
    prior, X = CASES["first"]
    other = Prior(prior.mean[::-1], prior.kappa, prior.nu, prior.scale[::-1, ::-1])
    found = []
    for likelihood, rows in ((prior.likelihood(), X), (other.likelihood(), X[:, ::-1])):
        bound = filled(likelihood.bind(rows), range(4))
        found.append(likelihood.sample(bound, 0, np.random.default_rng(0)))
    np.testing.assert_allclose(found[0], found[1][::-1], rtol=1e-9)


@pytest.mark.parametrize("name", ["last", "stairs"])
def test_drawn_entries_have_their_joint_distribution(name):
    """Tertiles of two entries at a time, of one cluster, against the grid."""
    prior, X = CASES[name]
    bound = filled(prior.likelihood().bind(X, 4), range(4))
    full, log_p = cells(X, prior)
    values, mass = full[:, np.isnan(X)], np.exp(log_p - logsumexp(log_p))
    rng = np.random.default_rng(0)
    labels = np.zeros(4, int)
    drawn = np.array([ops.draw_latent(bound, labels, rng) for _ in range(3000)])
    where = np.argwhere(np.isnan(X))[:, 1]
    drawn = bound.centre[where] + bound.unit[where] * drawn
    for a, b in itertools.combinations(range(len(where)), 2):
        codes, classes = np.zeros(len(drawn), int), np.zeros(len(mass), int)
        for h in (a, b):
            edges = tertiles(values[:, h], mass)
            codes = 3 * codes + np.searchsorted(edges, drawn[:, h])
            classes = 3 * classes + np.searchsorted(edges, values[:, h])
        counts = np.bincount(codes, minlength=9)
        assert chi_square(counts, len(drawn) * np.bincount(classes, mass, minlength=9)) > 1e-3


def tertiles(values, mass):
    """Two edges between grid points that divide the mass in about equal thirds."""
    points, inverse = np.unique(values, return_inverse=True)
    reached = np.cumsum(np.bincount(inverse.ravel(), weights=mass))
    cuts = np.searchsorted(reached, [1 / 3, 2 / 3])
    return (points[cuts] + points[cuts + 1]) / 2


@pytest.mark.parametrize("new", [[0.5, NAN, -1.0], [0.5, 0.7, NAN]])
def test_rows_that_lack_other_entries_are_judged_with_drawn_ones(new):
    prior, X = CASES["block"]
    X, new = X + 2.0, np.array(new) + 2.0  # what the rows say is not what the prior says
    n_draws = 1500
    draws = Posterior(np.zeros((1, n_draws, 4), int))
    bound = prior.likelihood().bind(X)
    fitted = Fitted(prior.likelihood(), bound, draws, urn_weights(PRIOR, draws), draws.labels[0, 0])
    row = new[None]
    assert not prior.likelihood().serves(bound, row)
    other = imputed(fitted, X)
    assert isinstance(other.bound, ImputedNIW)
    drawn = other.latent_draws * bound.unit[[0, 2]] + bound.centre[[0, 2]]
    mean = expected(X, prior, np.zeros(4, int))[0, [0, 2]]
    assert (abs(drawn.mean(axis=0) - mean) < 4 * drawn.std(axis=0) / np.sqrt(n_draws)).all()
    both = np.vstack([X, row])
    one = integrated(both, prior) - integrated(X, prior)
    two = integrated(row, prior)
    density = np.log((4 * np.exp(one) + 0.8 * np.exp(two)) / 4.8)
    found = predict(other, row).log_density[0]
    assert found == pytest.approx(density, abs=0.04)
    np.testing.assert_array_equal(imputed(fitted, X).latent, other.latent)


def test_patterns_are_nested_or_not():
    X = stairs(d=3)
    found = find_nesting(X)
    assert (np.diff(np.isnan(X[:, found.order]).astype(int), axis=1) >= 0).all()
    assert found.ends.tolist() == [0, 1, 2, 3]
    two = np.array([[NAN, 1.0, 2.0], [0.0, 1.0, NAN], [0.0, 1.0, 2.0]])
    assert find_nesting(two) is None
    assert find_nesting(two[1:]).ends.tolist() == [0, 2, 3]
    assert find_nesting(np.ones((2, 3))).ends.tolist() == [0, 3]


@pytest.mark.parametrize(
    ("missing", "d", "kind"),
    [("auto", 8, NestedNIW), ("auto", 9, ImputedNIW), ("integrate", 9, NestedNIW)],
)
def test_many_levels_are_integrated_on_request(missing, d, kind):
    X = np.random.default_rng(0).normal(size=(2 * d, d))
    X[np.arange(d) > np.arange(2 * d)[:, None] % d] = NAN
    likelihood = NormalInverseWishart(missing=missing)
    assert isinstance(likelihood.bind(X), kind)
    assert likelihood.frozen(X).missing == ("integrate" if kind is NestedNIW else "impute")
    assert isinstance(likelihood.imputing().bind(X), ImputedNIW)
    assert likelihood.frozen(np.nan_to_num(X)).missing == "integrate"


def test_what_cannot_be_gets_one_sentence():
    X = np.array([[NAN, 1.0], [0.0, NAN], [0.0, 1.0], [2.0, 0.0]])
    with pytest.raises(ValueError, match=r"nested patterns.*missing='impute'"):
        NormalInverseWishart(missing="integrate").bind(X)
    for data in (X, np.nan_to_num(X)):
        with pytest.raises(ValueError, match=r"Unknown missing 'inpute'. Did you mean 'impute'"):
            NormalInverseWishart(missing="inpute").bind(data)
    bound = NormalInverseWishart().bind(X[1:])
    with pytest.raises(ValueError, match="missing='impute'"):
        NormalInverseWishart().rows(bound, X[:1])


def test_fits_keep_no_entries_and_answer_all_questions():
    X = stairs(60)
    model = DPMixture(**QUICK).fit(X)
    assert model._fitted.latent is None
    seen = (~np.isnan(X)).sum(axis=1) > 1
    truth, found = (np.arange(60) % 2)[seen], model.labels_[seen]
    assert max(np.mean(found == truth), np.mean(found != truth)) > 0.95
    assert np.isfinite(model.score_samples(X)).all()
    assert not np.isnan(model.impute()).any()
    np.testing.assert_array_equal(model.impute(X), model.impute())
    some = np.nan_to_num(X)[:4]
    some[np.arange(4), np.arange(4)] = NAN  # nothing nested
    one = model.score_samples(some)
    np.testing.assert_array_equal(one, model.score_samples(some))
    assert not np.isnan(model.impute(some)).any()
    assert model.sample(5, random_state=0).shape == (5, 4)
    rows = np.nan_to_num(X)[:10]
    gaps = model.marginal([0, 1, 2, 3]).score_samples(rows) - model.score_samples(rows)
    assert np.abs(gaps).max() < 0.5
    assert model.conditional({0: 1.0}).mean().shape == (3,)


@NESTED
def test_imputing_chains_visit_partitions_as_often(prior, X):
    exact = enumerated(prior.likelihood().bind(X), PRIOR, 4)
    index = {row.tobytes(): j for j, row in enumerate(exact.partitions)}
    state = State(prior.likelihood("impute").bind(X, 8), PRIOR, exact.partitions[0])
    rng, counts = np.random.default_rng(0), np.zeros(15)
    size = 20_000 if JITTED else 1000
    for _ in range(size):
        Gibbs().step(state, rng)
        state.move_latent(rng)
        state.rebuild()
        counts[index[state.labels.tobytes()]] += 1
    np.testing.assert_allclose(counts / size, exact.probabilities, atol=0.015 if JITTED else 0.1)


def test_particles_take_rows_with_new_levels():
    X = stairs(24)
    whole = X[~np.isnan(X).any(axis=1)]
    model = DPMixture(sampler="urn_smc", alpha=1.0, n_particles=50, random_state=0).fit(whole)
    before = model.log_evidence_
    model.partial_fit(X[np.isnan(X).any(axis=1)])
    assert model.posterior_.n_items == 24 - np.isnan(X).all(axis=1).sum()
    assert len(model.labels_) == 24
    assert np.isfinite(model.log_evidence_)
    assert model.log_evidence_ != before


@pytest.mark.slow
def test_mixed_columns_integrate_in_one_part_and_impute_in_another():
    rng = np.random.default_rng(0)
    X = np.column_stack([stairs(30), rng.normal(size=(30, 2))])
    X[[0, 1], [4, 5]] = NAN  # these two columns are not nested
    likelihood = Columns([("niw", [1, 0, 2, 3]), ("niw", [4, 5])])
    model = DPMixture(likelihood=likelihood, **QUICK).fit(X)
    assert model._fitted.latent.shape == (2, 30, 2)
    new = np.nan_to_num(X)[:2]
    new[0, 1] = new[1, 2] = NAN
    assert np.isfinite(model.score_samples(new)).all()
    fitted = model._served(new)
    drawn = fitted.latent_draws
    assert drawn.shape == (60, np.isnan(X).sum())
    np.testing.assert_array_equal(drawn[:, -2:], model._fitted.latent_draws)
    assert not np.isnan(model.impute(new)).any()
