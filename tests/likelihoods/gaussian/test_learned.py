"""Learned hyper-parameters of Gaussian clusters: updates leave the joint posterior invariant."""

import numpy as np
import pytest
from scipy.stats import chisquare

from bnpcluster import DPMixture
from bnpcluster._core import operations as ops
from bnpcluster._core.state import State
from bnpcluster.likelihoods import NormalInverseGamma, NormalInverseWishart
from bnpcluster.likelihoods.gaussian import learned_covariance, learned_variances
from bnpcluster.likelihoods.gaussian.learned_covariance import Values as CovarianceValues
from bnpcluster.likelihoods.gaussian.learned_variances import Blocks, Values
from bnpcluster.likelihoods.gaussian.nig_columns import bind_columns
from bnpcluster.likelihoods.gaussian.nig_missing import bind_observed_columns
from bnpcluster.likelihoods.gaussian.units import Units
from bnpcluster.likelihoods.gaussian.variance_kernels import move_both
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import SAMPLERS, ParticleSampler
from bnpcluster.samplers.archive import Archive
from tests.tools.learned import Model, quadrature
from tests.tools.learned_prior import (
    GRID,
    LABELS,
    bound_columns,
    bound_rows,
    columns_hyper_prior,
    columns_prior_draw,
    functionals,
    hyper_prior,
    prior_draw,
)

FOUR = np.array([[-1.3], [-0.9], [0.4], [1.6]])
ONE_COLUMN = {
    "niw": NormalInverseWishart,
    "nig": NormalInverseGamma,
    "kappa": lambda: NormalInverseGamma(kappa=0.02),  # which then does not follow v
}
CHAINS = [name for name, cls in SAMPLERS.items() if not issubclass(cls, ParticleSampler)]


def one_column(likelihood, X=FOUR, beta=1.0, floor=None):
    """Bound data of one column, and the quadrature of its posterior under DP(1)."""
    bound = likelihood.bind(X, 8)
    hyper = bound.hyper
    if floor is not None:
        hyper = hyper._replace(floor=np.array([floor]), ties=np.ones(1))
        bound = bound._replace(hyper=hyper)
    return bound, quadrature(bound.X[:, 0], Model.of(bound, beta), DirichletProcess(1.0))


def assert_same_distribution(exact, after, least=1e-4):
    """Compare draws of labels, shape and v with the quadrature, by chi-square tests."""
    n = len(after)
    powers = 5 ** np.arange(len(exact.z))
    codes = {int(c): p for p, c in enumerate(exact.partitions @ powers)}
    partition = np.array([codes[int(canonical(labels) @ powers)] for labels, _, _ in after])
    expected = exact.probability.sum(axis=(1, 2))
    assert chi_square(partition, expected, n) > least
    shape = np.searchsorted(exact.shapes, [a for _, a, _ in after])
    assert chi_square(shape, exact.probability.sum(axis=(0, 2)), n) > least
    cells = exact.probability.sum(axis=(0, 1))
    width = exact.log_v[1] - exact.log_v[0]
    cell = np.rint((np.log([v for _, _, v in after]) - exact.log_v[0]) / width).astype(int)
    group = np.minimum((12 * cells.cumsum()).astype(int), 11)
    expected = np.bincount(group, weights=cells, minlength=12)
    assert chi_square(group[np.clip(cell, 0, len(cells) - 1)], expected, n) > least


def canonical(labels):
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def chi_square(found, expected, n):
    """The p-value, with rare categories pooled."""
    counts = np.bincount(found, minlength=len(expected)).astype(float)
    rare = expected * n < 10
    counts = np.append(counts[~rare], counts[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    filled = expected > 0
    return chisquare(counts[filled], n * expected[filled] / expected.sum()).pvalue


def replicates(bound, exact, sampler, n, seed, beta=1.0, updates=1):
    """States after one step and one update, started from the joint posterior."""
    rng, after = np.random.default_rng(seed), []
    for _ in range(n):
        labels, shape, v = exact.draw(rng)
        state = State(bound, DirichletProcess(1.0), labels, beta=beta, capacity=8)
        values = Values(np.array([v]), shape, bound.prior[0])
        state.set_learned(learned_variances.with_kappa(bound.hyper, values).packed())
        if sampler is not None:
            others = [exact.draw(rng)[0] for _ in range(3)]
            state.archive = Archive([[other] for other in others], -1)
            sampler.step(state, rng)
        for _ in range(updates):
            state.move_learned(rng)
        values = state.learned
        after.append((state.labels.copy(), values[1], values[0]))
    return after


@pytest.mark.parametrize("name", CHAINS)
def test_step_and_update_leave_the_joint_posterior_invariant(name):
    bound, exact = one_column(NormalInverseGamma())
    after = replicates(bound, exact, SAMPLERS[name](), 1000, 1)
    assert_same_distribution(exact, after)


@pytest.mark.parametrize("beta", [1.0, 0.1])
@pytest.mark.parametrize("floor", [None, 0.3])
@pytest.mark.parametrize("kind", list(ONE_COLUMN))
def test_updates_in_one_column(kind, floor, beta):
    bound, exact = one_column(ONE_COLUMN[kind](), beta=beta, floor=floor)
    after = replicates(bound, exact, None, 3000, 3, beta=beta, updates=3)
    assert_same_distribution(exact, after)


@pytest.mark.parametrize("kind", ["niw", "nig"])
def test_predictive_is_that_of_enumeration_and_quadrature(kind):
    prior = DirichletProcess(1.0)
    _, exact = one_column(ONE_COLUMN[kind]())
    model = DPMixture(
        alpha=1.0,
        likelihood=ONE_COLUMN[kind](),
        sampler="gibbs",
        n_draws=4000,
        n_warmup=100,
        thin=5,
        n_chains=2,
        random_state=0,
    ).fit(FOUR)
    unit = Units(model._fitted.bound.centre, model._fitted.bound.unit)
    x = np.array([[-6.0], [-1.1], [0.0], [0.5], [3.0]])
    expected = exact.predictive(unit.to_internal(x)[:, 0], prior) / unit.scale[0]
    np.testing.assert_allclose(np.exp(model.score_samples(x)), expected, rtol=0.04)
    together = np.array([row[0] == row[1] for row in exact.partitions])
    chance = exact.probability.sum(axis=(1, 2))[together].sum()
    assert model.coclustering_[0, 1] == pytest.approx(chance, abs=0.02)


# Two columns and more: hyper-parameters and rows are drawn from the prior, an update follows, and
# the means of functionals of the hyper-parameters must not change.


@pytest.mark.parametrize(
    ("kind", "d", "floor", "kappa"),
    [
        ("planar", 2, 0.0, True),
        ("planar", 2, 0.8, False),
        ("general", 3, 0.0, True),
        ("general", 3, 0.8, True),
        ("nested", 3, 0.0, True),
        ("imputed", 3, 0.3, False),
    ],
)
def test_updates_in_two_columns_and_more(kind, d, floor, kappa, n=1500):
    rng, hyper = np.random.default_rng([d, int(10 * floor)]), hyper_prior(d, floor, kappa)
    change = []
    for _ in range(n):
        values, rows = prior_draw(hyper, rng)
        bound = bound_rows(kind, rows, hyper, values)
        state = State(bound, DirichletProcess(1.0), LABELS, capacity=4)
        state.set_learned(values.packed())
        if kind == "imputed":
            state.set_latent(rows[bound.missing])
        state.move_learned(rng)
        after = learned_covariance.unpacked(state.learned)
        change.append(functionals(after, 0.0) - functionals(values, 0.0))
    change = np.array(change)
    moved = change.std(axis=0) > 0
    z = change.mean(axis=0)[moved] / (change.std(axis=0)[moved] / n**0.5)
    assert np.abs(z).max() < 4.3, z
    assert moved.sum() == (8 if kappa else 7)


@pytest.mark.parametrize("kind", ["planar", "general"])
def test_updates_at_another_temperature(kind, n=1500):
    d, beta, rng = (2 if kind == "planar" else 3), 0.1, np.random.default_rng(5)
    hyper = hyper_prior(d, 0.1, True)
    _, rows = prior_draw(hyper, rng)
    candidates = [prior_draw(hyper, rng)[0] for _ in range(6000)]
    bound = bound_rows(kind, rows, hyper, candidates[0])
    state = State(bound, DirichletProcess(1.0), LABELS, capacity=4, beta=beta)
    log_weight = np.zeros(len(candidates))
    for j, values in enumerate(candidates):
        state.set_learned(values.packed())
        log_weight[j] = state.log_joint()
    weight = np.exp(log_weight - log_weight.max())
    before = np.array([functionals(values, 0.0) for values in candidates])
    start = rng.choice(len(candidates), n, p=weight / weight.sum())
    change = []
    for j in start:
        state.set_learned(candidates[j].packed())
        for _ in range(2):
            state.move_learned(rng)
        after = learned_covariance.unpacked(state.learned)
        change.append(functionals(after, 0.0) - before[j])
    change = np.array(change)
    # The start is a sample of weighted candidates, whose own error counts, too.
    share = weight / weight.sum()
    centre = share @ before
    own = np.sqrt((share**2) @ (before - centre) ** 2)
    z = change.mean(axis=0) / np.hypot(change.std(axis=0) / n**0.5, own)
    assert np.abs(z).max() < 4.3, z
    assert (change.std(axis=0) > 0).all()


@pytest.mark.parametrize("floor", [0.0, 0.3])
def test_updates_leave_the_prior_where_rows_hardly_count(floor, d=12, n=400):
    """Moves alone would need many updates to hide a draw that ignores the temperature."""
    rng, hyper, labels = np.random.default_rng(6), hyper_prior(d, floor), np.repeat([0, 1, 2], 30)
    rows = 0.01 * rng.normal(size=(len(labels), d))
    change = []
    for _ in range(n):
        values, _ = prior_draw(hyper, rng)
        bound = bound_rows("general", rows, hyper, values)
        state = State(bound, DirichletProcess(1.0), labels, capacity=4, beta=1e-9)
        state.set_learned(values.packed())
        state.move_learned(rng)
        after = learned_covariance.unpacked(state.learned)
        change.append(functionals(after, 0.0)[:6] - functionals(values, 0.0)[:6])
    change = np.array(change)
    z = change.mean(axis=0) / (change.std(axis=0) / n**0.5)
    assert np.abs(z).max() < 4.3, z
    assert (change.std(axis=0) > 0).all()


# The same for independent columns, which share the shape and kappa.


@pytest.mark.parametrize("floor", [0.0, 0.5])
@pytest.mark.parametrize("bind", [bind_columns, bind_observed_columns])
def test_updates_of_columns(bind, floor, n=6000):
    rng, d = np.random.default_rng(3), 3
    hyper = columns_hyper_prior(d, floor)
    change = []
    for _ in range(n):
        values, rows = columns_prior_draw(hyper, rng)
        if bind is bind_observed_columns:
            rows[[0, 3, 5, 6], 0] = np.nan
            rows[[3, 4], 1] = np.nan
        bound = bound_columns(bind, rows, hyper)
        state = State(bound, DirichletProcess(1.0), LABELS, capacity=4)
        state.set_learned(values)
        state.move_learned(rng)
        pair = [
            [*np.log(u[:d]), *(u[:d] > hyper.guess), u[d] == 1.5, u[d] == 5.0, np.log(u[-1])]
            for u in (state.learned, values)
        ]
        change.append(np.subtract(*np.array(pair, float)))
    change = np.array(change)
    z = change.mean(axis=0) / (change.std(axis=0) / n**0.5)
    assert np.abs(z).max() < 4.3, z
    assert (change.std(axis=0) > 0).all()


@pytest.mark.parametrize("kind", ["planar", "general", "imputed"])
def test_slots_are_as_filled_again_after_an_update(kind):
    d, rng = (2 if kind == "planar" else 3), np.random.default_rng(0)
    hyper = hyper_prior(d, 0.3)
    values, rows = prior_draw(hyper, rng)
    rows[4] *= 1e7  # an extreme row
    bound = bound_rows(kind, rows, hyper, values)
    state = State(bound, DirichletProcess(1.0), np.array([0, 0, 0, 1, 2, 2, 2, 0]), capacity=6)
    state.set_learned(values.packed())
    for _ in range(20):
        state.move_learned(rng)
        found = state.log_joint()
        state.rebuild()
        assert found == pytest.approx(state.log_joint(), abs=1e-8)


def test_moves_reach_all_of_m():
    """The tempered moves alone do not leave any direction of M where it was."""
    rng, hyper = np.random.default_rng(0), hyper_prior(3, 0.1)
    values, rows = prior_draw(hyper, rng)
    bound = bound_rows("general", rows, hyper, values)
    state = State(bound, DirichletProcess(1.0), LABELS, capacity=4, beta=0.5)
    state.set_learned(values.packed())
    found = []
    for _ in range(1000):
        state.move_learned(rng)
        M = learned_covariance.unpacked(state.learned).expected
        full = state.problem.likelihood.hyper.expected
        assert (full == full.T).all()  # a resumed chain reads one half
        s = np.sqrt(np.diag(M))
        found.append((M / np.outer(s, s))[np.tril_indices(3, -1)])
    correlation = np.array(found)
    assert (correlation.min(axis=0) < -0.3).all() and (correlation.max(axis=0) > 0.3).all()


def test_the_prior_mean_of_m_is_the_guess():
    guess = np.array([[2.0, 0.3], [0.3, 0.1]])
    hyper = learned_covariance.CovariancePrior.of(guess, df=np.array([6.0]))
    rng, values = np.random.default_rng(0), CovarianceValues(guess, 5.0, 1.0)
    draws = [learned_covariance.draw(hyper, values, rng).expected for _ in range(4000)]
    np.testing.assert_allclose(np.mean(draws, axis=0), guess, rtol=0.08)


def test_log_density_integrates_to_one():
    hyper = hyper_prior(1, 0.0, True)
    log_m = np.linspace(-25, 6, 4000)
    density = [
        learned_covariance.log_density(hyper, CovarianceValues(np.exp([[x]]), GRID[0] + 2.0, 0.5))
        for x in log_m
    ]
    of_nu = (1 / GRID[0]) / (1 / GRID).sum()
    of_kappa = 0.5 * 4.0**2 * 0.5 * np.exp(-4.0 * 0.5)  # of log kappa at 0.5
    total = np.exp(density).sum() * (log_m[1] - log_m[0])
    assert total == pytest.approx(of_nu * of_kappa, rel=1e-6)


def test_kappa_follows_the_variance_of_one_column():
    rng = np.random.default_rng(0)
    for likelihood in (NormalInverseWishart(), NormalInverseGamma()):
        bound = likelihood.bind(FOUR, 8)
        bound.hyper.floor[0] = 0.2
        state = State(bound, DirichletProcess(1.0), np.array([0, 0, 1, 1]))
        for values in (ops.draw_learned(bound, rng), ops.draw_learned(bound, rng)):
            assert values[2] == pytest.approx((values[0] + 0.2) / 64)  # of eight units
        state.move_learned(rng)
        v, _, kappa = state.learned
        assert kappa == pytest.approx((v + 0.2) / 64)
        kappas = likelihood.hyper_parameters(bound, np.array([[1.0, 2.0, 0.1], [1.0, 2.0, 0.2]]))
        np.testing.assert_array_equal(kappas["kappa"], [0.1, 0.2])
    for likelihood in (NormalInverseGamma(kappa=0.1), NormalInverseGamma(scale="data")):
        assert not likelihood.bind(FOUR, 8).hyper.per_variance.size
    two = NormalInverseGamma().bind(np.hstack([FOUR, -FOUR]), 8)
    assert not two.hyper.per_variance.size


def test_blocks_follow_kappa():
    """Several rounds are one update, so the blocks must be those of the kappa that was accepted."""
    bound = NormalInverseGamma().bind(FOUR, 8)
    rows, n = bound.X[:, 0], float(len(FOUR))

    def block(kappa):
        rate = 0.5 * ((rows - rows.mean()) ** 2).sum()
        rate += 0.5 * kappa * n / (kappa + n) * rows.mean() ** 2
        return [np.array([[x]]) for x in (n, n * rows.mean() / (kappa + n), rate)]

    blocks, prior, moved = Blocks(*block(bound.prior[0])), bound.prior.copy(), 0
    for seed in range(20):
        before = prior[0]
        rng = np.random.default_rng(seed)
        move_both(bound.hyper, prior, bound.prior_mean, blocks, 1.0, rng)
        moved += prior[0] != before
        for found, expected in zip(blocks, block(prior[0]), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert moved > 5


@pytest.mark.parametrize("init", ["one", "singletons"])
def test_a_cloud_in_one_column_stays_whole(init):
    """With a fixed kappa, these values had 30 clusters and more from either start."""
    X = np.random.default_rng(3).normal(size=(60, 1))
    model = DPMixture(init=init, n_warmup=200, n_draws=300, n_chains=1, random_state=0).fit(X)
    assert model.posterior_.n_clusters.mean() < 12


def test_one_column_is_the_same_for_both_likelihoods():
    values = np.array([0.7, 3.5, 0.2])
    wide, by_column = NormalInverseWishart().bind(FOUR, 4), NormalInverseGamma().bind(FOUR, 4)
    states = [State(b, DirichletProcess(1.0), np.array([0, 0, 1, 1])) for b in (wide, by_column)]
    for state in states:
        state.set_learned(values)
    assert states[0].log_posterior() == states[1].log_posterior()
    given = {
        "df": np.array([2.0]),
        "inverse_guess": 2.0 / wide.hyper.guess[:, None],
        "grid": wide.hyper.grid,
    }
    constant = learned_covariance.log_constant(**given, kappa=np.zeros(0))
    hyper = hyper_prior(1)._replace(**given, constant=np.array([constant]))
    expected = learned_covariance.log_density(hyper, CovarianceValues(np.array([[0.7]]), 7.0, 0.2))
    own = learned_variances.log_density(wide.hyper, learned_variances.unpacked(values))
    assert own == pytest.approx(expected, abs=1e-12)
