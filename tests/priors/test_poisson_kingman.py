"""Poisson-Kingman priors: known cases, the recursion for any h, the total mass, estimators."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gammaln
from scipy.stats import kstest

from bnpcluster import BNPMixture
from bnpcluster.likelihoods import Bernoulli
from bnpcluster.priors import NGG, PitmanYor, PoissonKingman
from bnpcluster.priors.poisson_kingman import _line, lognormal
from bnpcluster.priors.stable_density import log_density
from bnpcluster.samplers import AnnealedSMC, AuxiliarySMC, Gibbs, UrnSMC
from bnpcluster.testing import check_particles, check_prior, check_sampler
from tests.tools.dossier import GAP, note

COINS = np.array([[1, 1, 1], [1, 1, 0], [0, 0, 1], [0, 0, 0], [1, 0, 1]], float)
SIZES = [(2, 1), (2, 2), (6, 1), (6, 3), (6, 6), (82, 1), (82, 30), (82, 82), (1000, 20)]


def stable(alpha, sigma):
    return PoissonKingman(lambda log_t: -alpha * log_t, sigma)


def tilted(tau, sigma):
    def log_h(log_t):
        return -np.exp(np.minimum(math.log(tau) / sigma + log_t, 700.0))

    return PoissonKingman(log_h, sigma)


@pytest.mark.parametrize(
    ("s", "t", "value"),
    [
        (0.5, 1.0, 0.2196956447),
        (0.3, 0.1, 1.012370509),
        (0.7, 1.0, 0.3873950101),
        (0.9, 0.8, 2.054167461),
        (0.25, 40.0, 0.001524240918),
    ],
)
def test_the_stable_density_has_the_golden_values(s, t, value):
    assert np.exp(log_density(np.log([t]), s))[0] == pytest.approx(value, rel=1e-9)


def test_the_stable_density_of_index_one_half_is_known_far_out():
    log_t = np.linspace(-12.0, 60.0, 2001)
    expected = -0.25 * np.exp(-log_t) - 1.5 * log_t - math.log(2.0 * math.sqrt(math.pi))
    np.testing.assert_allclose(log_density(log_t, 0.5), expected, rtol=1e-14, atol=1e-11)


@pytest.mark.parametrize("s", [0.1, 0.6, 0.95])
def test_the_stable_density_has_the_known_series_of_a_large_argument(s):
    """1 / pi sum_j (-1)^(j+1) Gamma(j s + 1) / j! sin(pi j s) t^(-j s - 1)"""
    log_t = np.linspace(3.5, 60.0, 500) / s
    j = np.arange(1.0, 60.0)[:, None]
    log_terms = gammaln(j * s + 1.0) - gammaln(j + 1.0) - j * s * log_t
    total = ((-1.0) ** (j + 1.0) * np.sin(np.pi * j * s) * np.exp(log_terms)).sum(axis=0)
    expected = np.log(total / np.pi) - log_t
    np.testing.assert_allclose(log_density(log_t, s), expected, rtol=1e-13, atol=1e-9)


@pytest.mark.parametrize("s", [0.02, 0.05, 0.3, 0.6, 0.95])
def test_the_stable_density_has_the_known_negative_moments(s):
    """E T^-r = Gamma(1 + r / s) / Gamma(1 + r), in units of s log t"""
    for r in (0.0, 0.5 * s, 4.0 * s):
        p = np.linspace(-9.0, 60.0 / (1.0 + r / s), 40_001)
        total = np.exp(log_density(p / s, s) + (1.0 - r) / s * p).sum() * (p[1] - p[0]) / s
        expected = math.gamma(1.0 + r / s) / math.gamma(1.0 + r)
        assert total == pytest.approx(expected, rel=1e-9)


KNOWN = [
    pytest.param(stable(alpha, s), PitmanYor(alpha, s), id=f"py-{alpha}-{s}")
    for alpha, s in [(0.7, 0.5), (-0.2, 0.5), (10.0, 0.5), (1.0, 0.05), (2.0, 0.9), (-0.45, 0.5)]
] + [
    pytest.param(tilted(tau, s), NGG(tau, s), id=f"ngg-{tau}-{s}")
    for tau, s in [(1.0, 0.5), (20.0, 0.5), (0.1, 0.25), (3.0, 0.9), (200.0, 0.3)]
]


@pytest.mark.parametrize(("prior", "known"), KNOWN)
def test_tables_are_those_of_the_closed_forms(prior, known):
    largest = 0.0
    for n, k in SIZES:
        gap = abs(prior._log_v(n, k) - known.tables(n, k).log_v[k])
        largest = max(largest, gap)
    assert largest < 1e-8
    note(GAP, largest, "log V against its closed form")
    found, expected = prior.tables(40, 60), known.tables(40, 60)
    np.testing.assert_allclose(found.log_v[1:41], expected.log_v[1:41], rtol=0.0, atol=1e-8)
    assert (found.log_v[41:] == -np.inf).all()
    np.testing.assert_allclose(found.log_w, expected.log_w)
    sizes = np.array([3, 2, 1])
    np.testing.assert_allclose(prior.predictive(sizes), known.predictive(sizes), atol=1e-8)
    assert prior.log_eppf(sizes) == pytest.approx(known.log_eppf(sizes), abs=1e-8)


OTHERS = [
    pytest.param(lambda z: -0.5 * ((z + 1.0) / 0.05) ** 2, 0.5, id="narrow"),
    pytest.param(lambda z: -0.5 * (z / 0.05) ** 2, 0.95, id="narrow, large sigma"),
    pytest.param(lognormal, 0.02, id="small sigma"),
    pytest.param(lambda z: 0.49 * z, 0.5, id="heavy tail"),
    pytest.param(lambda z: -50.0 * z, 0.5, id="light tail"),
    pytest.param(
        lambda z: np.logaddexp(-2.0 * (z - 3.0) ** 2, -2.0 * (z + 3.0) ** 2), 0.4, id="two peaks"
    ),
]


@pytest.mark.parametrize(("log_h", "sigma"), OTHERS)
def test_tables_of_any_h_satisfy_the_recursion(log_h, sigma):
    """V[n, k] = V[n+1, k+1] + (n - sigma k) V[n+1, k], and V[1, 1] = 1."""
    prior = PoissonKingman(log_h, sigma)
    prior.validate()
    for n, k in [(1, 1), (2, 1), (2, 2), (9, 4), (50, 3), (50, 49), (400, 60)]:
        ways = math.log(n - sigma * k)
        then = np.logaddexp(prior._log_v(n + 1, k + 1), ways + prior._log_v(n + 1, k))
        assert prior._log_v(n, k) == pytest.approx(then, rel=0.0, abs=1e-8)


@pytest.mark.parametrize("prior", PoissonKingman.examples(), ids=["py", "ngg", "lognormal"])
def test_contract(prior):
    prior.validate()
    note(GAP, check_prior(prior), "1 to 6 items")


@pytest.mark.parametrize(("log_h", "sigma"), OTHERS[:2] + OTHERS[3:])
@pytest.mark.parametrize(("cells", "above"), [(4096, 1.01), (24, 20.0)])
def test_total_masses_have_the_density_h_f(log_h, sigma, cells, above, monkeypatch):
    """With a fine envelope, and with one that rejection has to correct."""
    monkeypatch.setattr("bnpcluster.priors.poisson_kingman.CELLS", cells)
    monkeypatch.setattr("bnpcluster.priors.poisson_kingman.ABOVE", above)
    prior = PoissonKingman(log_h, sigma)
    drawn = sigma * prior.log_total_mass(5000, np.random.default_rng(0))
    line = _line(log_h, sigma)
    q = line.position(np.linspace(line.low, line.high, 20_001))
    density = np.exp(line.log_f(q) - line.log_f(q).max())
    cdf = np.append(0.0, np.cumsum(np.diff(q) * (density[1:] + density[:-1]) / 2.0))
    assert kstest(drawn, lambda x: np.interp(x, q, cdf / cdf[-1])).pvalue > 1e-3


def test_the_density_of_the_total_mass_integrates_over_t():
    """Of a lognormal h and sigma = 1/2, against a quadrature over t itself."""
    prior = PoissonKingman(lognormal, 0.5)

    def density(t):
        return math.exp(-0.5 * math.log(t) ** 2 - 0.25 / t) * t**-1.5

    total = quad(density, 0.0, 1.0)[0] + quad(density, 1.0, np.inf)[0]
    below = quad(density, 0.0, 0.7)[0] / total
    drawn = prior.log_total_mass(20_000, np.random.default_rng(1))
    assert (drawn < math.log(0.7)).mean() == pytest.approx(below, abs=0.015)


LOGNORMAL = PoissonKingman(lognormal, 0.5)


@pytest.mark.parametrize("sampler", [UrnSMC(n_particles=8), AuxiliarySMC(n_particles=8)], ids=repr)
@pytest.mark.parametrize(
    "prior", [LOGNORMAL, stable(0.7, 0.3), tilted(1.0, 0.5)], ids=["lognormal", "stable", "tilted"]
)
def test_particles_estimate_the_evidence_without_bias(sampler, prior):
    check_particles(sampler, Bernoulli(), prior, COINS[:4], error=0.02)


def test_chains_leave_the_posterior_invariant():
    check_sampler(Gibbs(), Bernoulli(), LOGNORMAL, COINS[:4], n_replicates=3000)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("sampler", ["split_merge", "urn_smc", "auxiliary_smc"])
def test_a_mixture_takes_the_prior(sampler, tmp_path):
    X = np.concatenate([np.full((9, 1), -3.0), np.full((9, 1), 3.0)])
    X += np.random.default_rng(0).normal(scale=0.3, size=X.shape)
    settings = {"n_draws": 20, "n_warmup": 20, "n_chains": 2, "random_state": 0}
    model = BNPMixture(prior=LOGNORMAL, sampler=sampler, **settings)
    if sampler == "split_merge":
        model.set_params(checkpoint=tmp_path)
    model.fit(X)
    assert set(model.labels_[:9]).isdisjoint(model.labels_[9:])
    assert np.isfinite(model.score(X))
    assert "sigma" in str(model.report())


def test_annealing_needs_a_parameter_of_the_prior():
    with pytest.raises(ValueError, match=r"AnnealedSMC .* has no parameter to anneal"):
        AnnealedSMC(path="items").checked(LOGNORMAL)
    sampler = AnnealedSMC(n_particles=8, path="items", anneal=False)
    check_particles(sampler, Bernoulli(), LOGNORMAL, COINS[:4], error=0.03)


@pytest.mark.parametrize(
    ("log_h", "sigma", "message"),
    [
        (3.0, 0.5, "log_h must be a function of log t; got 3.0"),
        (lambda z: -1.0, 0.5, "log_h must return an array as long as its argument"),
        (lognormal, 0.99, "sigma must be a number from 0.02 to 0.95; got 0.99"),
        (lognormal, (1.0, 1.0), "sigma must be a number"),
        (lambda z: z, 0.5, "has no finite integral"),
        (lambda z: -np.where(z > 0.0, z, 50.0), 0.5, "varies too fast"),
    ],
)
def test_what_is_no_prior_is_refused(log_h, sigma, message):
    with pytest.raises(ValueError, match=message):
        PoissonKingman(log_h, sigma).validate()
