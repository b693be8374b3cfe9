"""Golden numbers, reductions of one prior to another, accuracy, and and methods for users."""

import math

import mpmath
import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import chisquare

from bnpcluster.priors import MFM, NGG, DirichletProcess, FiniteDirichlet, PitmanYor
from bnpcluster.priors.component_series import _log_term
from bnpcluster.testing import all_partitions, log_eppf

ROWS = np.array([[0, 0, 0, 1, 1, 2], [0, 0, 0, 0, 0, 0]]), np.array([[0, 1, 2]])
GOLDEN = [
    (
        PitmanYor(0.7, 0.4),
        -6.1711138577,
        -1.0231047362,
        -2.3985619278,
        0.2835820896,
        -5883.42173115,
    ),
    (
        PitmanYor(-0.2, 0.5),
        -6.7058251241,
        -1.7917594692,
        -0.9124304907,
        0.2241379310,
        -5879.09915821,
    ),
    (FiniteDirichlet(5, 0.6), -5.4540693277, -1.5324768713, -2.8575716125, 0.1333333333, -math.inf),
    (
        MFM(0.8, ("poisson", 2.0)),
        -6.0992041277,
        -2.3400966791,
        -1.2734441639,
        0.0838829973,
        -5978.18636986,
    ),
    (
        MFM(1.0, ("geometric", 0.3)),
        -6.2593043834,
        -2.0155525490,
        -0.9584106506,
        0.1519834812,
        -5969.57715607,
    ),
    (
        MFM(1.0, ("gnedin", 0.5)),
        -7.0518556230,
        -1.6094379124,
        -0.6061358036,
        0.1923076923,
        -5967.23872424,
    ),
    (
        MFM(0.6, ("gnedin", 0.7)),
        -7.6062578451,
        -2.5974947387,
        -0.2800622290,
        0.1711907069,
        -5943.65551828,
    ),
    (NGG(1.0, 0.5), -6.2863838744, -0.8545923815, -2.9173282149, 0.3191692381, -5880.36167955),
    (NGG(20.0, 0.5), -9.1575329690, -0.1288679056, -9.8224351597, 0.7398322199, -5948.93014131),
    (NGG(0.1, 0.25), -6.7841111120, -2.6733779381, -0.7081158156, 0.1251594410, -5892.12013296),
]


@pytest.mark.parametrize(("prior", "mixed", "apart", "together", "new", "large"), GOLDEN, ids=repr)
def test_golden_numbers(prior, mixed, apart, together, new, large):
    assert log_eppf(prior, ROWS[0]) == pytest.approx([mixed, together], abs=1e-8)
    assert log_eppf(prior, ROWS[1]) == pytest.approx([apart], abs=1e-8)
    assert np.exp(prior.predictive(np.array([3, 2, 1])))[-1] == pytest.approx(new, abs=1e-9)
    assert prior.tables(1000, 20).log_v[20] == pytest.approx(large, abs=1e-6)
    assert prior.log_eppf(np.array([3, 2, 1])) == pytest.approx(mixed, abs=1e-8)


@pytest.mark.parametrize(
    ("n", "k", "tau", "sigma", "value"),
    [
        (100_000, 50, 20.0, 0.5, -1051646.573585),
        (100_000, 5000, 1.0, 0.5, -1017169.129416),
        (10_000, 7, 0.3, 0.2, -82102.511089),
    ],
)
def test_ngg_at_large_n(n, k, tau, sigma, value):
    assert NGG(tau, sigma).tables(n, k).log_v[k] == pytest.approx(value, abs=1e-6)


def same(one, other, tolerance):
    partitions = all_partitions(6)
    np.testing.assert_allclose(
        log_eppf(one, partitions), log_eppf(other, partitions), atol=tolerance
    )


def test_reductions():
    same(PitmanYor(1.3, 0.0), DirichletProcess(1.3), 1e-12)
    same(NGG(1e-9, 0.4), PitmanYor(1e-300, 0.4), 1e-6)
    same(NGG(1.3 / 1e-4, 1e-4), DirichletProcess(1.3), 2e-3)
    same(FiniteDirichlet(10**7, 1.3e-7), DirichletProcess(1.3), 1e-5)
    same(FiniteDirichlet(4, 0.7), MFM(0.7, [0.0, 0.0, 0.0, 1.0]), 1e-12)
    same(MFM(1.0 + 1e-14, ("gnedin", 0.5)), MFM(1.0, ("gnedin", 0.5)), 1e-9)
    same(MFM(1.0 + 1e-14, ("gnedin", 0.05)), MFM(1.0, ("gnedin", 0.05)), 1e-7)


def exact_mfm(n, k, g, log_q, terms):
    """log V by its series in 40 digits."""
    with mpmath.workdps(40):
        total = mpmath.mpf(0)
        for m in range(k, k + terms):
            rising = mpmath.rf(mpmath.mpf(g) * m, n)
            total += mpmath.exp(log_q(m)) * mpmath.factorial(m) / mpmath.factorial(m - k) / rising
        return float(mpmath.log(total) + k * mpmath.log(g))


@pytest.mark.parametrize(("n", "k"), [(30, 3), (5000, 20), (100_000, 40), (100_000, 1500)])
def test_mfm_against_mpmath(n, k):
    poisson = exact_mfm(n, k, 0.7, lambda m: (m - 1) * mpmath.log(3) - 3 - mpmath.loggamma(m), 400)
    assert MFM(0.7, ("poisson", 3.0)).tables(n, k).log_v[k] == pytest.approx(
        poisson, rel=0, abs=1e-8
    )
    geometric = exact_mfm(
        n, k, 1.3, lambda m: mpmath.log(0.2) + (m - 1) * mpmath.log(mpmath.mpf(4) / 5), 400
    )
    assert MFM(1.3, ("geometric", 0.2)).tables(n, k).log_v[k] == pytest.approx(
        geometric, rel=0, abs=1e-8
    )


@pytest.mark.parametrize(
    ("n", "k", "tau", "sigma"),
    [(30, 3, 1.0, 0.25), (300, 300, 0.01, 0.6), (5000, 20, 3.0, 0.1), (5000, 900, 50.0, 0.8)],
)
def test_ngg_against_mpmath(n, k, tau, sigma):
    with mpmath.workdps(30):
        s, t = mpmath.mpf(sigma), mpmath.mpf(tau)

        def log_f(y):
            return k * y - t * mpmath.exp(y) + (n - 1) * mpmath.log(-mpmath.expm1(-y / s))

        grid = [mpmath.mpf(j) / 200 for j in range(1, 4000)]
        best = max(grid, key=log_f)
        top = log_f(best)
        inside = [y for y in grid if log_f(y) > top - 80]
        edges = [max(inside[0] - mpmath.mpf(1) / 200, mpmath.mpf(10) ** -20), best, inside[-1]]
        points = [edges[0] + (edges[1] - edges[0]) * j / 8 for j in range(8)]
        points += [edges[1] + (edges[2] - edges[1]) * j / 8 for j in range(9)]
        integral = mpmath.quad(lambda y: mpmath.exp(log_f(y) - top), points)
        expected = (
            (k - 1) * mpmath.log(s)
            + k * mpmath.log(t)
            + t
            - mpmath.loggamma(n)
            + top
            + mpmath.log(integral)
        )
    found = NGG(tau, sigma).tables(n, k).log_v[k]
    assert found - float(expected) == pytest.approx(0.0, abs=1e-8)


@pytest.mark.parametrize("prior", [g[0] for g in GOLDEN], ids=repr)
def test_tables_are_finite_at_large_n(prior):
    log_v, log_w = prior.tables(100_000, 2000)
    allowed = min(2000, prior.most_clusters)
    assert np.isfinite(log_v[1 : int(allowed) + 1]).all()
    assert np.isfinite(log_w).all()
    weights = prior.predictive(np.full(5, 20_000))
    assert np.exp(weights).sum() == pytest.approx(1.0, abs=1e-8)


def test_log_w_is_a_rising_factorial():
    m = np.arange(1, 5001)
    log_w = PitmanYor(1.0, 0.3).tables(5000, 4).log_w
    np.testing.assert_allclose(log_w[1:], gammaln(m - 0.3) - gammaln(0.7), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("prior", [DirichletProcess(0.9), *(g[0] for g in GOLDEN)], ids=repr)
def test_prior_of_the_number_of_clusters(prior):
    partitions = all_partitions(7)
    weights = np.exp(log_eppf(prior, partitions))
    exact = np.bincount(partitions.max(axis=1) + 1, weights=weights, minlength=8)
    np.testing.assert_allclose(prior.n_clusters_pmf(7), exact, atol=1e-9)
    assert prior.expected_clusters(7) == pytest.approx(exact @ np.arange(8))
    assert prior.n_clusters_pmf(200).sum() == pytest.approx(1.0)
    assert prior.n_clusters_pmf(200, k_max=5).shape == (6,)


def test_hyper_priors_are_averaged_over():
    pmf = DirichletProcess((2.0, 4.0)).n_clusters_pmf(50)
    assert pmf.sum() == pytest.approx(1.0)
    narrow = DirichletProcess(0.5).n_clusters_pmf(50)
    k = np.arange(51)
    assert pmf @ k**2 - (pmf @ k) ** 2 > narrow @ k**2 - (narrow @ k) ** 2


def test_from_expected_clusters():
    assert DirichletProcess.from_expected_clusters(12, 500).expected_clusters(500) == pytest.approx(
        12
    )
    prior = PitmanYor.from_expected_clusters(12, 500, discount=0.1)
    assert prior.expected_clusters(500) == pytest.approx(12)
    for k in (1, 500, 600):
        with pytest.raises(ValueError, match="k must be between"):
            DirichletProcess.from_expected_clusters(k, 500)
    with pytest.raises(ValueError, match="k must be between"):
        PitmanYor.from_expected_clusters(2, 500, discount=0.6)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (PitmanYor(1.0, 1.0), "discount must be"),
        (PitmanYor(-0.5, 0.4), "alpha must be greater than -0.4"),
        (PitmanYor(-0.1, (1.0, 1.0)), "alpha must be greater than 0"),
        (PitmanYor("large"), "alpha must be a number"),
        (FiniteDirichlet(0), "n_components must be a positive integer"),
        (FiniteDirichlet(2.5), "n_components must be a positive integer"),
        (FiniteDirichlet(3, -1.0), "concentration must be positive"),
        (FiniteDirichlet(3, "auto"), "concentration must be a number"),
        (MFM(-1.0), "gamma must be positive"),
        (MFM(1.0, "gnedim"), "n_components_prior must be"),
        (MFM(1.0, ("gnedin", 1.5)), "'gnedin' needs a parameter between 0 and 1"),
        (MFM(1.0, [0.5, 0.6]), "sum to one"),
        (NGG(0.0), "tau must be positive"),
        (NGG(1.0, 1.0), "sigma must be between 0 and 1"),
        (NGG(1.0, (0.0, 1.0)), "sigma must be a number"),
    ],
)
def test_bad_parameters_get_one_sentence(prior, message):
    with pytest.raises(ValueError, match=message):
        prior.validate()


@pytest.mark.parametrize("prior", MFM.examples()[:5])
def test_drawn_numbers_of_components_follow_their_prior(prior):
    size = 20_000
    drawn = prior.draw_components(size, np.random.default_rng(1))
    assert (drawn == np.floor(drawn)).all()
    name, parameter = prior._components_prior()
    m = np.arange(1.0, (len(parameter) if name == "array" else 8) + 1)
    p = np.exp(_log_term(np.log(m), 0, 0.0, 1.0, name, parameter))
    counts = np.array([(drawn == m).sum() for m in range(1, len(p) + 1)])
    cells = np.append(counts, size - counts.sum())
    means = size * np.append(p, max(1.0 - p.sum(), 0.0))
    assert ((cells - means) ** 2)[means == 0].sum() == 0
    cells, means = cells[means > 5], means[means > 5]
    assert chisquare(cells, means * cells.sum() / means.sum()).pvalue > 1e-3
