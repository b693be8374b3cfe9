"""The Gaussian likelihoods: golden numbers, scipy twins, densities that integrate to one."""

import numpy as np
import pytest
from scipy.integrate import dblquad, quad
from scipy.special import multigammaln
from scipy.stats import invwishart, multivariate_normal, multivariate_t
from scipy.stats import t as student_t

from bnpcluster._core import operations as ops
from bnpcluster.likelihoods import NormalInverseGamma, NormalInverseWishart
from bnpcluster.likelihoods.gaussian.niw_general_weights import log_weight_bound
from bnpcluster.testing import check_likelihood
from tests.tools.discrete import assert_weights

X = np.array([[1.0, 2.0], [-0.5, 0.3], [0.2, -1.1]])


def filled(likelihood, rows, extra):
    """Bound data with `rows` in slot 0 and an empty slot 1; item -1 is `extra`."""
    every = np.vstack([rows, extra])
    bound = likelihood.bind(every, 4)
    ops.clear(bound, 0)
    ops.clear(bound, 1)
    for i in range(len(rows)):
        ops.add(bound, 0, i)
    return bound, len(rows)


@pytest.mark.parametrize("d", [3, 6])
def test_bounds_of_weights_are_bounds(d):
    """They decide which weights are computed; correlated columns tell wrong ones."""
    rng = np.random.default_rng(d)
    rows = rng.normal(size=(80, d)) @ rng.normal(size=(d, d))
    likelihood = NormalInverseWishart(nu=d + 2.0, scale=1.0, kappa=0.1)
    bound, _ = filled(likelihood, rows[:60], rows[60:])
    for i in range(60, 80):
        exact = -0.7 + 0.5 * ops.log_predictive(bound, 0, i)
        above = log_weight_bound(bound, 0, i, -0.7, 0.5)
        assert exact <= above + 1e-9
        assert above < exact + 20.0


def test_niw_golden_numbers():
    niw = NormalInverseWishart(mean=0.0, kappa=1.0, nu=4.0, scale=1.0)
    bound, new = filled(niw, X, [0.5, 0.5])
    assert ops.log_marginal(bound, 0) == pytest.approx(-11.1529157565, abs=1e-8)
    assert ops.log_predictive(bound, 0, new) == pytest.approx(-1.6148172586, abs=1e-8)


def test_nig_golden_numbers():
    nig = NormalInverseGamma(mean=0.0, kappa=1.0, shape=1.0, scale=1.0)
    bound, new = filled(nig, X[:, :1], [0.5])
    assert ops.log_marginal(bound, 0) == pytest.approx(-4.3147685413, abs=1e-8)
    assert ops.log_predictive(bound, 0, new) == pytest.approx(-0.9309264005, abs=1e-8)


@pytest.mark.parametrize("d", [2, 3, 5])
def test_niw_predictive_is_a_student_t(d):
    rng = np.random.default_rng(d)
    rows, extra = rng.normal(size=(7, d)) @ rng.normal(size=(d, d)), rng.normal(size=d)
    kappa, nu = 0.4, d + 1.5
    m0, psi = rng.normal(size=d), np.cov(rng.normal(size=(3 * d, d)), rowvar=False)
    bound, new = filled(NormalInverseWishart(mean=m0, kappa=kappa, nu=nu, scale=psi), rows, extra)
    r, df = kappa + 7, nu + 7 - d + 1
    u = (kappa * m0 + rows.sum(axis=0)) / r
    gap = rows.mean(axis=0) - m0
    S = psi + np.cov(rows, rowvar=False) * 6 + kappa * 7 / r * np.outer(gap, gap)
    expected = multivariate_t(u, S * (r + 1) / (r * df), df=df).logpdf(extra)
    assert ops.log_predictive(bound, 0, new) == pytest.approx(expected, abs=1e-9)
    df0 = nu - d + 1
    expected = multivariate_t(m0, psi * (kappa + 1) / (kappa * df0), df=df0).logpdf(extra)
    assert ops.log_predictive(bound, 1, new) == pytest.approx(expected, abs=1e-9)


def test_contract_in_many_columns():
    """So many that a solve goes in parts, some of which show that a slot is too far away."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(7, 11)) + 0.5 * rng.normal(size=(7, 1))
    check_likelihood(NormalInverseWishart(), rows)
    check_likelihood(NormalInverseWishart(kappa=0.5, nu=30.0, scale=9.0), rows)


@pytest.mark.parametrize(
    ("likelihood", "d"),
    [(NormalInverseWishart(), 2), (NormalInverseWishart(), 6), (NormalInverseGamma(), 3)],
)
def test_weights_of_many_slots(likelihood, d):
    """Blocks near and far; the empty slot is the first of a vector of slots."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(16, d))[np.arange(60) % 16] + 0.7 * rng.normal(size=(60, d))
    assert_weights(likelihood, rows, 16)


def test_one_column_is_normal_inverse_gamma():
    niw = NormalInverseWishart(mean=0.2, kappa=0.6, nu=5.0, scale=3.0)
    nig = NormalInverseGamma(mean=0.2, kappa=0.6, shape=2.5, scale=1.5)
    (one, new), (two, _) = (filled(likelihood, X[:, :1], [0.5]) for likelihood in (niw, nig))
    assert ops.log_marginal(one, 0) == pytest.approx(ops.log_marginal(two, 0), abs=1e-12)
    for k in (0, 1):
        expected = ops.log_predictive(two, k, new)
        assert ops.log_predictive(one, k, new) == pytest.approx(expected, abs=1e-12)


def test_nig_predictive_is_a_product_of_student_ts():
    rng = np.random.default_rng(0)
    rows, extra = rng.normal(size=(5, 3)), rng.normal(size=3)
    m0, k0, a0, b0 = np.array([0.3, -1.0, 0.0]), 0.6, 2.5, np.array([1.0, 0.2, 3.0])
    bound, new = filled(NormalInverseGamma(mean=m0, kappa=k0, shape=a0, scale=b0), rows, extra)
    k, a = k0 + 5, a0 + 2.5
    b = b0 + 0.5 * rows.var(axis=0) * 5 + k0 * 5 * (rows.mean(axis=0) - m0) ** 2 / (2 * k)
    mean = (k0 * m0 + rows.sum(axis=0)) / k
    expected = student_t(2 * a, mean, np.sqrt(b * (k + 1) / (a * k))).logpdf(extra).sum()
    assert ops.log_predictive(bound, 0, new) == pytest.approx(expected, abs=1e-9)


def test_products_over_very_many_columns_neither_overflow_nor_underflow():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(6, 700))
    rows[3] *= 40.0
    nig = NormalInverseGamma(mean=0.0, kappa=1e-6, shape=0.5, scale=1e-3)
    bound, new = filled(nig, rows[:3], rows[3])
    k, a = 1e-6 + 3, 0.5 + 1.5
    gap = rows[:3].mean(axis=0)
    b = 1e-3 + 0.5 * rows[:3].var(axis=0) * 3 + 1e-6 * 3 * gap**2 / (2 * k)
    t = student_t(2 * a, rows[:3].sum(axis=0) / k, np.sqrt(b * (k + 1) / (a * k)))
    expected = t.logpdf(rows[3]).sum()
    assert ops.log_predictive(bound, 0, new) == pytest.approx(expected, rel=1e-9)
    ops.add(bound, 0, new)
    assert ops.log_predictive_without(bound, 0, new) == pytest.approx(expected, rel=1e-6)


def test_niw_marginal_is_an_average_over_the_prior():
    """An independent check of the marginal: Monte Carlo over mean and covariance."""
    kappa, nu, n_draws = 0.5, 6.0, 100_000
    rng = np.random.default_rng(5)
    covariances = invwishart(nu, np.eye(2)).rvs(n_draws, random_state=rng)
    factors = np.linalg.cholesky(covariances)
    means = np.einsum("nij,nj->ni", factors, rng.normal(size=(n_draws, 2))) / np.sqrt(kappa)
    solved = np.linalg.solve(factors[:, None], (X[None] - means[:, None])[..., None])[..., 0]
    log_det = 2 * np.log(np.einsum("nii->ni", factors)).sum(axis=1)
    density = np.exp(-0.5 * ((solved**2).sum(axis=(1, 2)) + 3 * log_det) - 3 * np.log(2 * np.pi))
    one = multivariate_normal(means[0], covariances[0]).logpdf(X).sum()
    assert np.log(density[0]) == pytest.approx(one)
    bound, _ = filled(NormalInverseWishart(mean=0.0, kappa=kappa, nu=nu, scale=1.0), X, [0.0, 0.1])
    z = (density.mean() - np.exp(ops.log_marginal(bound, 0))) / density.std() * np.sqrt(n_draws)
    assert abs(z) < 4


@pytest.mark.parametrize("likelihood", [NormalInverseWishart(), NormalInverseGamma()])
def test_predictives_integrate_to_one(likelihood):
    for slot in (0, 1):
        bound = likelihood.bind(X[:, :1], 2)
        ops.clear(bound, 0)
        ops.clear(bound, 1)
        ops.add(bound, 0, 0)
        ops.add(bound, 0, 2)

        def density(x, bound=bound, slot=slot):
            return np.exp(ops.log_predictive(likelihood.rows(bound, np.array([[x]])), slot, 0))

        total = quad(density, -np.inf, 0.5)[0] + quad(density, 0.5, np.inf)[0]
        assert total == pytest.approx(1.0, abs=1e-6)


def test_planar_predictive_integrates_to_one():
    likelihood = NormalInverseWishart(nu=30.0)
    bound, _ = filled(likelihood, X, [0.0, 0.0])

    def density(y, x):
        return np.exp(ops.log_predictive(likelihood.rows(bound, np.array([[x, y]])), 0, 0))

    total = dblquad(density, -12, 12, -12, 12, epsabs=1e-5)[0]
    assert total == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("likelihood", [NormalInverseWishart(), NormalInverseGamma()])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_samples_follow_the_predictive(likelihood, d):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30, d)) * np.arange(1, d + 1) + 5.0
    bound, _ = filled(likelihood, rows, rows[0] + 50.0)  # a block much tighter than the data
    draws = np.array([likelihood.sample(bound, 0, rng) for _ in range(3000)])
    error = draws.std(axis=0) / np.sqrt(3000)
    assert np.all(np.abs(draws.mean(axis=0) - rows.mean(axis=0)) < 5 * error + 0.05)
    np.testing.assert_allclose(draws.std(axis=0), rows.std(axis=0), rtol=0.15)


@pytest.mark.parametrize("likelihood", [NormalInverseWishart(), NormalInverseGamma()])
def test_units_shift_the_log_density_by_the_jacobian(likelihood):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    scale, offset = np.array([1000.0, 1.0, 1e-5]), np.array([0.0, 1e6, -3.0])
    plain, _ = filled(likelihood, X[:-1], X[-1])
    other, _ = filled(likelihood, X[:-1] * scale + offset, X[-1] * scale + offset)
    shift = ops.log_predictive(plain, 0, 19) - ops.log_predictive(other, 0, 19)
    assert shift == pytest.approx(np.log(scale).sum(), abs=1e-6)
    shift = ops.log_marginal(plain, 0) - ops.log_marginal(other, 0)
    assert shift == pytest.approx(19 * np.log(scale).sum(), abs=1e-5)


@pytest.mark.parametrize("d", [1, 2, 4])
def test_auto_sees_tight_clusters(d):
    """The vague-scale trap: with scale=I, clusters this tight would be one."""
    rng = np.random.default_rng(0)
    centres = np.repeat(rng.normal(size=(6, d)), 10, axis=0)
    X = centres + 0.002 * rng.normal(size=(60, d))
    X = np.vstack([X, X[:10] + 0.03])  # a near neighbour of the first cluster
    gain = {}
    for name, niw in {
        "auto": NormalInverseWishart(),
        "unit": NormalInverseWishart(mean=0.0, kappa=1.0, nu=d + 2.0, scale=1.0),
    }.items():
        bound = niw.bind(X, 4)
        for k, items in enumerate([range(10), range(60, 70), [*range(10), *range(60, 70)]]):
            ops.clear(bound, k)
            for i in items:
                ops.add(bound, k, i)
        gain[name] = (
            ops.log_marginal(bound, 0) + ops.log_marginal(bound, 1) - ops.log_marginal(bound, 2)
        )
    assert gain["auto"] > 0 > gain["unit"]


@pytest.mark.parametrize("d", [2, 3])
def test_outlier_leaves_no_trace(d):
    rng = np.random.default_rng(1)
    rows = np.vstack([rng.normal(size=(20, d)), np.full(d, 1e5)])
    likelihood = NormalInverseWishart()
    bound = likelihood.bind(rows, 4)
    ops.clear(bound, 0)
    for i in range(15):
        ops.add(bound, 0, i)
    before = [ops.log_predictive(bound, 0, i) for i in range(15, 21)]
    ops.add(bound, 0, 20)
    labels = np.where(np.isin(np.arange(21), [*range(15), 20]), 0, -1)
    assert ops.log_predictive_of_member(bound, 0, 20, labels, 0) == pytest.approx(before[-1])
    ops.take_out(bound, 0, 20, labels, 0)
    after = [ops.log_predictive(bound, 0, i) for i in range(15, 21)]
    np.testing.assert_allclose(after, before)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kappa": -1.0}, "kappa must be greater than 0"),
        ({"nu": 0.5}, "nu must be greater than 1"),
        ({"kappa": "much"}, "kappa must be 'auto', 'data', a number or a pair"),
        ({"mean": [1.0, 2.0, 3.0]}, "mean has shape"),
        ({"mean": "none"}, "mean must be 'auto', 'data', a number"),
        ({"scale": -1.0}, "scale must be positive"),
        ({"scale": [[1.0, 2.0], [2.0, 1.0]]}, "scale must be a positive definite 2 x 2 matrix"),
    ],
)
def test_bad_parameters_get_one_sentence(parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        NormalInverseWishart(**parameters).bind(X)


def test_constant_columns_are_named():
    with pytest.raises(ValueError, match=r"Constant column \(column 1\).*VarianceThreshold"):
        NormalInverseWishart().bind(np.column_stack([X, X[:, 0]])[:, [0, 2]] * [1, 0] + [0, 1e8])
    with pytest.raises(ValueError, match="All rows are equal"):
        NormalInverseGamma().bind(np.ones((5, 2)))


@pytest.mark.parametrize("spread", [1e3, 1e6, 1e9])
def test_nearly_flat_clusters_keep_their_determinant(spread):
    """Exactly collinear columns, and a scale that is tiny next to them."""
    x = np.linspace(-1.0, 1.0, 101) * spread
    rows = np.column_stack([x, 2.0 * x])
    niw = NormalInverseWishart(mean=0.0, kappa=1.0, nu=4.0, scale=1.0)
    bound, _ = filled(niw, rows, rows[0])
    # S = I + (sum x^2) (1, 2)(1, 2)', whose determinant is 1 + 5 sum x^2.
    log_det = np.log1p(5 * np.sum(x**2))
    m, d = 101, 2
    expected = (
        -m * np.log(np.pi)
        - np.log(1 + m)
        - 0.5 * (4 + m) * log_det
        + multigammaln((4 + m) / 2, d)
        - multigammaln(2.0, d)
    )
    assert ops.log_marginal(bound, 0) == pytest.approx(expected, abs=1e-4)
