"""Tables are exact at both ends of the range of every parameter; anything beyond is refused."""

import numpy as np
import pytest
from scipy.special import betainc, gammainc, gammaln, logsumexp
from scipy.stats import kstest

from bnpcluster import BNPMixture
from bnpcluster.priors import MFM, NGG, DirichletProcess, FiniteDirichlet, PitmanYor
from bnpcluster.priors.component_series import _log_rest, _log_term, log_v
from bnpcluster.priors.hyper_priors import RANGE, Hyper, slice_step
from bnpcluster.priors.quadrature import log_integral
from bnpcluster.priors.rising_factorials import log_rising, log_rising_excess, log_ways

(LOW, HIGH), (LEAST, MOST) = RANGE["gamma"], RANGE["beta"]
HEAVY = [("gnedin", 1e-6), ("gnedin", 0.5), ("gnedin", 1 - 1e-6)]
FAR = [("poisson", 1e-6), ("poisson", 1500.0), ("poisson", 17_000.0), ("poisson", 1e6)]
LONG = [("geometric", 1e-6), ("geometric", 5e-4), ("geometric", 1 - 1e-6)]
ENDS = [
    *(DirichletProcess(alpha) for alpha in (LOW, 1e6, HIGH)),
    *(PitmanYor(alpha, d) for alpha in (LOW, 1.0, HIGH) for d in (0.0, LEAST, 0.5, MOST)),
    PitmanYor(-0.5 + LOW, 0.5),
    *(FiniteDirichlet(k, a) for k in (1, 2, 10**9) for a in (LOW, 1.0, HIGH)),
    *(NGG(tau, sigma) for tau in (LOW, 1.0, HIGH) for sigma in (LEAST, 1e-4, 0.009, 0.5, MOST)),
    *(MFM(g, c) for g in (LOW, 0.9, HIGH) for c in (*HEAVY, *FAR, *LONG, [0.5, 0.5])),
    MFM(1.0, HEAVY[0]),
]


@pytest.mark.parametrize("n", [1, 2, 7, 60])
def test_the_law_of_the_number_of_clusters_sums_to_one(n):
    for prior in ENDS:
        prior.validate()
        ways = log_ways(n, n, prior.sigma_now)
        total = np.exp(prior.tables(n, n).log_v[1:] + ways[1:]).sum()
        assert total == pytest.approx(1.0, abs=1e-8), prior


def test_the_urn_is_the_ratio_of_two_tables():
    sizes = np.array([5, 2])
    for prior in ENDS:
        if prior.most_clusters < 2:
            continue
        urn = prior.predictive(sizes)
        assert np.exp(urn).sum() == pytest.approx(1.0, abs=1e-8), prior
        one_more = prior.log_eppf(np.array([6, 2])) - prior.log_eppf(sizes)
        assert one_more == pytest.approx(urn[0], abs=1e-5), prior
        log_v, log_w = prior.tables(7, 2)
        assert prior.log_eppf(sizes) == pytest.approx(log_v[2] + log_w[sizes].sum(), abs=1e-5)


@pytest.mark.parametrize("rate", [3.0, 17_000.0])
def test_the_series_is_the_sum_of_all_its_terms(rate):
    m, n, g = np.arange(1.0, 60_000), 50, 0.7
    log_q = (m - 1) * np.log(rate) - rate - gammaln(m)
    for k in (1, 7, 50):
        falling = np.log(np.maximum(m - np.arange(k)[:, None], 1e-300)).sum(axis=0)
        rising = np.log(g * m + np.arange(n)[:, None]).sum(axis=0)
        expected = logsumexp(log_q + falling - rising) + k * np.log(g)
        found = log_v(n, (k,), g, "poisson", rate)[0]
        assert found == pytest.approx(expected, abs=1e-9)


def test_a_series_with_two_peaks():
    """A large g prefers few components, and a far Poisson prior many: both must be found."""
    m, n, g, k = np.arange(1.0, 30_000), 1500, 100.0, 5
    falling = np.log(np.maximum(m - np.arange(k)[:, None], 1e-300)).sum(axis=0)
    rising = np.log(g * m + np.arange(n)[:, None]).sum(axis=0)
    for rate in (3000.0, 20_000.0):
        log_q = (m - 1) * np.log(rate) - rate - gammaln(m)
        expected = logsumexp(log_q + falling - rising) + k * np.log(g)
        assert log_v(n, (k,), g, "poisson", rate)[0] == pytest.approx(expected, abs=1e-8)


def test_the_rest_of_a_series_is_the_sum_of_its_terms():
    for length in (40, 100):
        m = np.arange(length + 1.0, 5000)
        exact = logsumexp(_log_term(np.log(m), 5, 2.0, 0.7, "geometric", 0.05))
        found, error = _log_rest(length, 5, 2.0, 0.7, "geometric", 0.05)
        assert found == pytest.approx(exact, abs=1e-6)
        assert error - exact < np.log(1e-5)


@pytest.mark.parametrize("width", [1e-7, 1e-3, 5.0])
def test_integrals_of_peaks_of_any_width(width):
    def log_f(x):
        return -0.5 * ((x - 37.3) / width) ** 2

    expected = np.log(width) + 0.5 * np.log(2 * np.pi)
    assert log_integral(log_f, -60.0, 1e4) == pytest.approx(expected, abs=1e-9)


def test_small_sigma_is_nearly_a_dirichlet_process():
    """sigma -> 0 with sigma tau = alpha; the difference is of the order of sigma."""
    sizes = np.array([4, 3, 1])
    expected = DirichletProcess(2.0).log_eppf(sizes)
    for sigma in (1e-3, 1e-5):
        assert NGG(2.0 / sigma, sigma).log_eppf(sizes) == pytest.approx(expected, abs=20 * sigma)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (DirichletProcess(1e308), "alpha must be positive, from 1e-10 to 1e\\+10; got 1e\\+308"),
        (DirichletProcess(np.nan), "alpha must be positive"),
        (DirichletProcess(10**400), "got an integer of 1329 bits"),
        (PitmanYor(1e308, 0.5), "at most 1e\\+10; got 1e\\+308"),
        (PitmanYor(1.0, 5e-324), "discount must be 0, or from 1e-08 to 0.99999; got 5e-324"),
        (FiniteDirichlet(10**19), "integer up to 1,000,000,000; got 10000000000000000000"),
        (FiniteDirichlet(3, 1e308), "concentration must be positive, from 1e-10"),
        (NGG(5e-324), "tau must be positive, from 1e-10"),
        (NGG(1.0, 5e-324), "sigma must be between 0 and 1, from 1e-08 to 0.99999"),
        (MFM(1e308, ("gnedin", 1e-12)), "gamma must be positive"),
        (MFM(1.0, ("gnedin", 1e-12)), "'gnedin' needs a parameter between 0 and 1, from 1e-06"),
        (MFM(1.0, ("poisson", 1e300)), "'poisson' needs a parameter between 0 and 1000000"),
        (MFM(1.0, ("geometric", 1e-12)), "'geometric' needs a parameter"),
        (MFM(1.0, ("poisson", (1, 10**400))), "got \\(1, an integer of 1329 bits\\)"),
        (MFM(1.0, [10**400, 1]), "sum to one; got \\[an integer of 1329 bits, 1\\]"),
        (MFM(1.0, (1e308, 1e308)), "that sum to one"),
        (MFM(1.0, np.array(1.0)), "that sum to one"),
        (MFM(1.0, [[0.5, 0.5]]), "that sum to one"),
        (DirichletProcess((1, 10**400)), "from 1e-10 to 1e\\+10, for a Gamma hyper-prior, or"),
        (FiniteDirichlet(3, (1e308, 1.0)), "concentration must be a number \\(fixed\\) or a pair"),
        (NGG(1.0, (5e-324, 1.0)), "sigma must be .* for a Beta hyper-prior; got \\(5e-324, 1.0"),
        (PitmanYor(1.0, (1.0, 1e308)), "discount must be .* for a Beta hyper-prior"),
    ],
)
def test_what_the_tables_cannot_hold_is_refused(prior, message):
    with pytest.raises(ValueError, match=message):
        BNPMixture(prior=prior).fit(np.zeros((5, 2)))


def test_rising_factorials_keep_their_digits():
    for a in (0.3, 31.9, 32.1, 1e9):
        for m in (1, 5, 400):
            exact = np.log(a + np.arange(m)).sum()
            assert log_rising(a, m) == pytest.approx(exact, rel=1e-14, abs=1e-12)
            excess = log_rising_excess(np.array(a), m)
            direct = np.log1p(np.arange(m) / a).sum()
            assert excess == pytest.approx(direct, rel=1e-9, abs=1e-11 * m)


def test_slice_sampling_ends_without_a_density():
    """nan is above no level; the step then ends where it began."""
    rng = np.random.default_rng(0)
    assert slice_step(lambda x: np.nan, 1.5, (-5.0, 5.0), rng) == pytest.approx(1.5)


@pytest.mark.parametrize(
    "prior", [NGG((1e-3, 1e-8), (1e-3, 1e-3)), PitmanYor((1e-3, 1e-8), (1e-3, 1e3))]
)
def test_sampled_values_stay_in_the_range(prior):
    rng = np.random.default_rng(0)
    for _ in range(300):
        prior = prior.at(**prior.draw(rng)).update(np.array([3, 1]), 4, rng)
        for name, (low, high) in {"discount": RANGE["beta"], "sigma": RANGE["beta"]}.items():
            assert low <= prior.values.get(name, 0.5) <= high
        for name in ("alpha", "tau"):
            assert LOW * 0.999 <= prior.values.get(name, 1.0) <= HIGH * 1.001


@pytest.mark.parametrize(
    "prior",
    [
        DirichletProcess((0.02, 0.02)),
        PitmanYor((0.02, 0.02), 0.3),
        PitmanYor(1.0, (0.02, 0.02)),
        FiniteDirichlet(4, (0.02, 0.02)),
        MFM((0.02, 0.02), ("poisson", 2.0)),
        NGG((0.02, 0.02), 0.3),
        NGG(1.0, (0.02, 0.02)),
    ],
)
def test_vague_hyper_priors_are_restricted_to_the_range(prior):
    """Draws and updates have the same distribution, without a share at an end of the range."""
    rng = np.random.default_rng(0)
    (name,) = prior.sampled
    before, after = [], []
    for _ in range(400):
        before.append(prior.draw(rng)[name])
        at = prior.at(**prior.draw(rng))
        for _ in range(3):
            at = at.update(np.bincount(at.sample(4, rng)), 4, rng)
        after.append(at.values[name])
    assert not np.isin(before + after, RANGE[prior.hyper[name].distribution]).any()
    assert kstest(before, after).pvalue > 1e-3
    check_quantiles(prior, name, before)


def check_quantiles(prior, name, draws):
    """The uniforms of draws, by the restricted distribution function."""
    a, b = prior._pairs[name]
    if prior.hyper[name].distribution == "gamma":
        low, high, found = (gammainc(a, b * np.array(x)) for x in (LOW, HIGH, draws))
    else:
        low, high, found = (betainc(a, b, x) for x in (LEAST, MOST, draws))
    assert kstest((found - low) / (high - low), "uniform").pvalue > 1e-3


@pytest.mark.parametrize("distribution", ["gamma", "beta"])
@pytest.mark.parametrize("pair", [(1e-10, 1e10), (1e10, 1e-10), (1e10, 1e10), (1e-10, 1e-10)])
def test_draws_from_the_ends_of_hyper_priors_are_in_the_range(distribution, pair):
    hyper, rng = Hyper(0.5, distribution), np.random.default_rng(0)
    low, high = RANGE[distribution]
    draws = [hyper.draw(pair, rng) for _ in range(50)]
    assert low <= min(draws) and max(draws) <= high
    assert np.isfinite([hyper.log_density(pair, x) for x in draws]).all()
