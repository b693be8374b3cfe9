"""Stable distributions and size-biased jumps against densities by quadrature and closed forms."""

import numpy as np
import pytest
from scipy.stats import beta, invgamma, invgauss, kstest, levy, levy_stable

from bnpcluster._core.jit import DISABLED, kernel
from bnpcluster._core.stable_distributions import (
    log_exponentially_tilted,
    log_polynomially_tilted,
    log_share_left,
    log_stable,
    log_zolotarev,
)

SIZE = 20_000
JUMPS = 1_000 if DISABLED else 20_000
LEVEL = 1e-3


def density(t, s):
    """f_s(t) = s / ((1-s) pi) t^(-1/(1-s)) int_0^pi A exp(-A x) du, x = t^(-s/(1-s))."""
    t = np.atleast_1d(np.asarray(t, float))
    log_x = -s / (1 - s) * np.log(t)[:, None]
    # A explodes at pi: the double-exponential rule has dense nodes there.
    y = np.linspace(-3.2, 3.2, 600)
    angle = 0.5 * np.pi * (1 + np.tanh(0.5 * np.pi * np.sinh(y)))
    width = 0.25 * np.pi**2 * np.cosh(y) / np.cosh(0.5 * np.pi * np.sinh(y)) ** 2
    width *= y[1] - y[0]
    inside = (angle > 0) & (angle < np.pi * (1 - 1e-13))
    log_a = log_zolotarev(angle[inside], s)
    integrand = np.exp(log_a - np.exp(np.minimum(log_a + log_x, 700.0)))
    integral = integrand @ width[inside]
    return s / ((1 - s) * np.pi) * t ** (-1 / (1 - s)) * integral


def numerical_cdf(log_density, low, high, size=4000):
    """The distribution function of a density on an interval, up to its constant."""
    grid = np.linspace(low, high, size)
    values = log_density(grid)
    values = np.exp(values - values.max())
    mass = np.concatenate([[0.0], np.cumsum(0.5 * (values[1:] + values[:-1]))])
    return lambda x: np.interp(x, grid, mass / mass[-1])


def log_range(draws):
    return draws.min() - 1.0, draws.max() + 1.0


@kernel
def fill_shares(log_v, s, rng, out):
    for j in range(len(out)):
        out[j] = log_share_left(log_v[j], s, rng)


def share_left(log_v, s, rng):
    out = np.zeros(len(log_v))
    fill_shares(log_v, s, rng, out)
    return out


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
def test_the_density_of_these_tests_has_the_golden_values(s, t, value):
    assert density(t, s)[0] == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize("s", [0.2, 0.5, 0.8])
def test_stable_draws_agree_with_another_construction(s):
    rng = np.random.default_rng(1)
    theirs = levy_stable.rvs(
        s, 1.0, scale=np.cos(np.pi * s / 2) ** (1 / s), size=SIZE, random_state=rng
    )
    ours = log_stable(s, SIZE, rng)
    assert kstest(ours, np.log(theirs)).pvalue > LEVEL
    for level in (0.3, 1.0, 3.0):
        terms = np.exp(-level * np.exp(np.minimum(ours, 700.0)))
        assert abs(terms.mean() - np.exp(-(level**s))) < 4 * terms.std() / np.sqrt(SIZE)


def test_stable_draws_of_one_half_are_levy():
    draws = np.exp(log_stable(0.5, SIZE, np.random.default_rng(2)))
    assert kstest(draws, levy(scale=0.5).cdf).pvalue > LEVEL


@pytest.mark.parametrize("theta", [-0.3, 0.0, 0.4, 3.0, 20.0])
def test_polynomially_tilted_draws_of_one_half_are_inverse_gamma(theta):
    draws = np.exp(log_polynomially_tilted(theta, 0.5, SIZE, np.random.default_rng(3)))
    assert kstest(draws, invgamma(theta + 0.5, scale=0.25).cdf).pvalue > LEVEL


@pytest.mark.parametrize(
    ("s", "theta"), [(0.3, 0.5), (0.3, 4.0), (0.7, 1.0), (0.7, -0.5), (0.9, 6.0), (0.25, -0.2)]
)
def test_polynomially_tilted_draws_have_their_density(s, theta):
    draws = log_polynomially_tilted(theta, s, SIZE, np.random.default_rng(4))

    def log_density(log_t):
        with np.errstate(divide="ignore"):
            return (1 - theta) * log_t + np.log(density(np.exp(log_t), s))

    assert kstest(draws, numerical_cdf(log_density, *log_range(draws))).pvalue > LEVEL


@pytest.mark.parametrize("tau", [0.2, 1.0, 1.7, 4.5, 20.0])
def test_exponentially_tilted_draws_of_one_half_are_inverse_gaussian(tau):
    draws = np.exp(log_exponentially_tilted(tau, 0.5, SIZE, np.random.default_rng(5)))
    # exp(tau - tau^2 t) f(t) is inverse Gaussian of mean 1/(2 tau) and shape 1/2.
    assert kstest(draws, invgauss(1 / tau, scale=0.5).cdf).pvalue > LEVEL


@pytest.mark.parametrize("tau", [30.0, 1e6, 1e10])
@pytest.mark.parametrize("s", [1e-8, 0.01, 0.3, 0.9, 0.99999])
def test_strongly_tilted_draws_have_their_moments(s, tau):
    """E T = s tau^(1 - 1/s), and its relative variance is (1 - s) / (s tau)."""
    log_t = log_exponentially_tilted(tau, s, SIZE, np.random.default_rng(8))
    ratio = np.exp(log_t - np.log(s) - (1 - 1 / s) * np.log(tau))
    spread = np.sqrt((1 - s) / (s * tau))
    if spread < 1:  # otherwise the tail is too heavy for a mean
        assert abs(ratio.mean() - 1) < 4.5 * spread / SIZE**0.5
        assert ratio.std() == pytest.approx(spread, rel=0.05 + 0.5 * spread)
    # log E exp(-l T) = tau - (tau^(1/s) + l)^s, with l = c tau^(1/s)
    for c in (0.1 / tau, 3.0 / tau):
        expected = -tau * np.expm1(s * np.log1p(c))
        found = np.exp(-np.exp(np.log(c) + np.log(tau) / s + log_t))
        assert abs(found.mean() - np.exp(expected)) < 4.5 * found.std() / SIZE**0.5 + 1e-6


@pytest.mark.parametrize("s", [1e-8, 0.5])
def test_tilts_near_minus_s_are_finite(s):
    theta = -s + (1e-10 if s > 1e-6 else 1e-9)
    draws = log_polynomially_tilted(theta, s, 1000, np.random.default_rng(9))
    assert np.isfinite(draws).all()


@pytest.mark.parametrize(("s", "tau"), [(0.3, 0.5), (0.3, 2.5), (0.8, 1.5), (0.6, 4.0), (0.2, 9.0)])
def test_exponentially_tilted_draws_have_their_density(s, tau):
    draws = log_exponentially_tilted(tau, s, SIZE, np.random.default_rng(6))

    def log_density(log_t):
        with np.errstate(divide="ignore"):
            return log_t - tau ** (1 / s) * np.exp(log_t) + np.log(density(np.exp(log_t), s))

    assert kstest(draws, numerical_cdf(log_density, *log_range(draws))).pvalue > LEVEL


@pytest.mark.parametrize(
    ("s", "v"),
    [(0.2, 0.5), (0.2, 30.0), (0.4, 1.0), (0.5, 0.3), (0.6, 2.0), (0.75, 0.7), (0.9, 1.0)],
)
def test_size_biased_jumps_have_their_density(s, v):
    """x has density prop x^-s f_s(v - x); followed through y = log(x / (v - x))."""
    log_left = share_left(np.full(JUMPS, np.log(v)), s, np.random.default_rng(7))
    draws = np.log(np.expm1(-log_left))

    def log_density(y):
        share = 1 / (1 + np.exp(-y))
        with np.errstate(divide="ignore"):
            log_f = np.log(density(v / (1 + np.exp(y)), s))
        return -s * np.log(share) + log_f + np.log(share) - np.logaddexp(0.0, y)

    assert kstest(draws, numerical_cdf(log_density, *log_range(draws))).pvalue > LEVEL


@pytest.mark.parametrize(
    ("s", "theta"), [(0.5, 1.0), (0.5, -0.2), (0.3, 0.7), (0.8, 2.0), (0.05, 1.5), (0.95, 0.0)]
)
def test_successive_shares_of_a_pitman_yor_process_are_beta(s, theta):
    """The l-th jump takes a share Beta(1 - s, theta + l s) of what is left."""
    rng = np.random.default_rng(8)
    log_mass = log_polynomially_tilted(theta, s, JUMPS, rng)
    for step in range(1, 5):
        log_left = share_left(log_mass, s, rng)
        share = beta(1 - s, theta + step * s)
        assert kstest(-np.expm1(log_left), share.cdf).pvalue > LEVEL
        log_mass = log_mass + log_left


@pytest.mark.parametrize("s", [0.2, 0.5, 0.8])
def test_masses_of_any_magnitude_give_shares(s):
    log_v = np.linspace(-30.0 * (1 - s), 600.0, 200)
    left = share_left(log_v, s, np.random.default_rng(9))
    assert np.isfinite(left).all()
    assert (left < 0).all()
