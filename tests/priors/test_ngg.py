"""The other parametrisation of NGG, by the rate that tilts its Levy density."""

import mpmath
import numpy as np
import pytest

from bnpcluster.priors import NGG


def exponent(u, rate, sigma):
    """psi(u) = int (1 - e^(-u x)) nu(dx) for nu(dx) = x^(-1-sigma) e^(-rate x) / Gamma(1-sigma)"""
    return ((rate + u) ** sigma - rate**sigma) / sigma


def moment(m, u, rate, sigma):
    """kappa_m(u) = int x^m e^(-u x) nu(dx), without its factor (1-sigma)_{m-1} = W[m]"""
    return (rate + u) ** (sigma - m)


@pytest.mark.parametrize(("rate", "sigma"), [(20.0, 0.5), (0.7, 0.25), (2.0, 0.8)])
def test_exponent_and_moments_are_those_of_the_levy_density(rate, sigma):
    with mpmath.workdps(20):

        def over_jumps(g):  # x = e^w
            def f(w):
                x = mpmath.exp(w)
                return g(x) * x ** (-sigma) * mpmath.exp(-rate * x) / mpmath.gamma(1 - sigma)

            return mpmath.quad(f, range(-200, 12, 4))

        for u in (0.3, 5.0):
            psi = over_jumps(lambda x, u=u: -mpmath.expm1(-u * x))
            assert float(psi) == pytest.approx(exponent(u, rate, sigma), rel=1e-10)
            for m in (1, 3):
                kappa = over_jumps(lambda x, u=u, m=m: x**m * mpmath.exp(-u * x))
                expected = moment(m, u, rate, sigma) * mpmath.rf(1 - sigma, m - 1)
                assert float(kappa) == pytest.approx(float(expected), rel=1e-10)


@pytest.mark.parametrize(
    ("n", "k", "rate", "sigma"),
    [(3, 2, 20.0, 0.5), (4, 1, 2.0, 0.8), (82, 30, 20.0, 0.5), (500, 7, 0.01, 0.1)],
)
def test_a_rate_tilts_the_levy_density(n, k, rate, sigma):
    """p(partition) = int u^(n-1) e^(-psi(u)) prod_b kappa_{n_b}(u) du / Gamma(n), u = e^w"""
    with mpmath.workdps(30):
        s, tau = mpmath.mpf(sigma), mpmath.mpf(rate)

        def log_f(w):
            u = mpmath.exp(w)
            kappas = (k - 1) * mpmath.log(moment(1, u, tau, s))
            kappas += mpmath.log(moment(n - k + 1, u, tau, s))
            return n * w + kappas - exponent(u, tau, s)

        grid = [mpmath.mpf(j) / 2 for j in range(-100, 150)]
        best = max(grid, key=log_f)
        inside = [w for w in grid if log_f(w) > log_f(best) - 60]
        integral = mpmath.quad(lambda w: mpmath.exp(log_f(w) - log_f(best)), inside, maxdegree=4)
        expected = float(log_f(best) + mpmath.log(integral) - mpmath.loggamma(n))
    found = NGG.from_rate(rate, sigma).tables(n, k).log_v[k]
    assert found == pytest.approx(expected, abs=1e-8)


def test_the_two_readings_of_the_papers_prior():
    """tau = 20 as our total mass, or as the rate: 41.6 and 31.9 clusters of the 82 galaxies."""
    assert NGG(20.0, 0.5).expected_clusters(82) == pytest.approx(41.6, abs=0.05)
    prior = NGG.from_rate(20.0, 0.5)
    assert prior.expected_clusters(82) == pytest.approx(31.9, abs=0.05)
    assert prior.tau == pytest.approx(np.sqrt(20.0) / 0.5)


@pytest.mark.parametrize(
    ("rate", "sigma", "message"),
    [
        (0.0, 0.5, "rate must be a positive number"),
        ("large", 0.5, "rate must be a positive number"),
        (1.0, 1.0, "sigma must be between 0 and 1"),
        (1.0, (1.0, 1.0), "sigma must be a number"),
        (1e30, 0.9, "tau must be positive"),
    ],
)
def test_what_cannot_be_converted_is_refused(rate, sigma, message):
    with pytest.raises(ValueError, match=message):
        NGG.from_rate(rate, sigma)
