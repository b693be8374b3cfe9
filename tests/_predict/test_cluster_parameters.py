"""Parameters of clusters: draws of blocks against closed forms, averages against enumeration."""

import itertools

import numpy as np
import pytest
from scipy import stats

from bnpcluster import DPMixture
from bnpcluster._predict.cluster_parameters import ParameterSource, of_clusters, spaced
from bnpcluster.likelihoods import (
    Bernoulli,
    Categorical,
    Columns,
    NormalInverseGamma,
    NormalInverseWishart,
    Poisson,
    PyClone,
)
from bnpcluster.posterior import Posterior
from bnpcluster.priors import DirichletProcess
from tests._predict.test_predictive import exactly_fitted

RNG = np.random.default_rng(5)
NAN = np.nan
ROWS = RNG.normal(size=(5, 2)) + np.array([[0, 0], [0, 1], [4, 4], [4, 5], [1, 2]])
NIG = NormalInverseGamma(mean=0.5, kappa=0.7, shape=3.0, scale=[1.5, 0.8])
NIW = NormalInverseWishart(mean=[0.5, 0.0], kappa=0.7, nu=6.0, scale=[[2.0, 0.5], [0.5, 1.0]])
PRIOR = DirichletProcess(1.3)


def fit_of(likelihood, X, labels):
    """A fit whose only draw is one partition."""
    fitted, _ = exactly_fitted(likelihood, PRIOR, np.asarray(X, float), len(X))
    labels = np.asarray(labels)
    posterior = Posterior(labels[None, None])
    log_urn = np.log(np.append(np.bincount(labels), PRIOR.alpha) / (len(X) + PRIOR.alpha))[None]
    return fitted._replace(
        posterior=posterior, log_urn=log_urn, estimate=labels, prior=PRIOR, X=np.asarray(X, float)
    )


def drawn(likelihood, X, n=4000):
    """Many draws of the parameters of the block of all rows."""
    source = ParameterSource(fit_of(likelihood, X, np.zeros(len(X), int)), None)
    rng = np.random.default_rng(0)
    return [source.blocks(0, 0, rng) for _ in range(n)]


def agree(draws, distribution):
    """Whether draws have a distribution, by the test of Kolmogorov and Smirnov."""
    return stats.kstest(draws, distribution.cdf).pvalue > 1e-3


def normal_inverse_gamma(x, mean, kappa, shape, scale):
    """The posterior of the mean and of the variance of one column."""
    n, r = len(x), kappa + len(x)
    m = (kappa * mean + x.sum()) / r
    b = scale + 0.5 * (((x - x.mean()) ** 2).sum() + kappa * n * (x.mean() - mean) ** 2 / r)
    a = shape + 0.5 * n
    return stats.t(2 * a, m, np.sqrt(b / (a * r))), stats.invgamma(a, scale=b)


@pytest.mark.parametrize("missing", [False, True])
def test_columns_of_a_block_are_normal_inverse_gamma(missing):
    X = ROWS.copy()
    if missing:
        X[1, 0] = NAN
    found = drawn(NIG, X)
    for j, scale in enumerate((1.5, 0.8)):
        x = X[~np.isnan(X[:, j]), j]
        mean, variance = normal_inverse_gamma(x, 0.5, 0.7, 3.0, scale)
        assert agree([f["means"][0, j] for f in found], mean)
        assert agree([f["variances"][0, j] for f in found], variance)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_block_is_normal_inverse_wishart(d):
    X = np.column_stack([ROWS, RNG.normal(size=5)])[:, :d]
    centre, prior = np.arange(d) / 2, 2.0 * np.eye(d) + 0.5
    found = drawn(NormalInverseWishart(mean=centre, kappa=0.7, nu=d + 3.0, scale=prior), X)
    n, r, nu = 5, 5.7, d + 8.0
    x, m = X.mean(axis=0), (0.7 * centre + X.sum(axis=0)) / r
    S = prior + (X - x).T @ (X - x) + 0.7 * n / r * np.outer(x - centre, x - centre)
    # Along any direction u, u' covariance u and u' mean have known distributions.
    for u in np.vstack([np.eye(d), np.arange(1.0, d + 1.0)]):
        a, b = 0.5 * (nu - d + 1), 0.5 * (u @ S @ u)
        spread = [u @ f["covariances"][0] @ u for f in found]
        assert agree(spread, stats.invgamma(a, scale=b))
        t = stats.t(2 * a, u @ m, np.sqrt(b / (a * r)))
        assert agree([u @ f["means"][0] for f in found], t)
    # The mean is standard normal, given the covariance.
    z = [
        np.linalg.solve(np.linalg.cholesky(f["covariances"][0] / r), f["means"][0] - m)
        for f in found
    ]
    assert agree(np.ravel(z), stats.norm())


@pytest.mark.parametrize("hole", [False, True])
def test_rates_probabilities_and_categories_of_a_block(hole):
    counts, binary = np.array([[3.0, 0], [5, 1], [2, 2]]), np.array([[1.0, 1], [1, 0], [0, 1]])
    codes = np.array([[0.0, 2], [1, 2], [1, 0]])
    if hole:
        for X in (counts, binary, codes):
            X[0, 1] = NAN
    found = drawn(Poisson(shape=2.0, rate=0.5), counts)
    for j in range(2):
        n, total = (~np.isnan(counts[:, j])).sum(), np.nansum(counts[:, j])
        law = stats.gamma(2.0 + total, scale=1 / (0.5 + n))
        assert agree([f["rates"][0, j] for f in found], law)
    found = drawn(Bernoulli(a=0.5, b=2.0), binary)
    for j in range(2):
        ones, n = np.nansum(binary[:, j]), (~np.isnan(binary[:, j])).sum()
        assert agree(
            [f["probabilities"][0, j] for f in found], stats.beta(0.5 + ones, 2 + n - ones)
        )
    found = drawn(Categorical(concentration=0.3, n_categories=3), codes)
    for j in range(2):
        n = np.array([(codes[:, j] == c).sum() for c in range(3)])
        p = np.array([f["probabilities"][j][0] for f in found])
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        for c in range(3):
            assert agree(p[:, c], stats.beta(0.3 + n[c], 0.6 + n.sum() - n[c]))


def test_prevalences_have_the_posterior_of_the_block():
    X = np.array([[40, 10, 2, 2, 1, 1.0], [70, 30, 2, 2, 1, 1.0]])
    likelihood = PyClone(n_grid=11)
    found = np.array([f["prevalences"][0, 0] for f in drawn(likelihood, X)])
    grid = np.linspace(0, 1, 11)
    near = np.array([(np.abs(found - g) < 1e-9).mean() for g in grid])
    assert near.sum() == pytest.approx(1.0)
    bound = fit_of(likelihood, X, [0, 0]).bound
    terms = [bound.terms[k, :11] for k in bound.kind[:, 0]]
    exact = np.prod(terms, axis=0)
    np.testing.assert_allclose(near, exact / exact.sum(), atol=0.03)


def test_weights_given_a_partition_are_a_dirichlet_draw():
    found = drawn(NIG, ROWS)
    assert agree([f["weights"][0] for f in found], stats.beta(5, 1.3))
    np.testing.assert_allclose([f["weights"].sum() for f in found], 1.0)


def test_mixed_columns_have_the_parameters_of_their_parts():
    X = np.column_stack([ROWS, [3.0, 0, 5, 1, 2], [0.0, 1, 1, 0, 1]])
    parts = [(Poisson(shape=2.0, rate=0.5), [2]), (NIW, [1, 0]), (Bernoulli(a=1.0, b=1.0), [3])]
    likelihood = Columns(parts).resolved(None, ["float"] * 4)
    fitted = fit_of(likelihood, X, [0, 0, 1, 1, 0])
    found = ParameterSource(fitted, None).draws(None, 0)
    assert set(found["means"]) == set(found["variances"]) == {0, 1}
    assert set(found["rates"]) == {2} and set(found["probabilities"]) == {3}
    assert found["means"][0].shape == (1, 1, 2)
    alone = drawn(Columns(parts).resolved(None, ["float"] * 4), X)
    mean = (0.7 * np.array([0.0, 0.5]) + ROWS[:, ::-1].sum(axis=0) * 1.0) / 5.7
    # NIW has its columns in the order 1, 0, and its prior mean (0.5, 0) in this order.
    mean = (0.7 * np.array([0.5, 0.0]) + ROWS[:, [1, 0]].sum(axis=0)) / 5.7
    for j, expected in zip((1, 0), mean, strict=True):
        values = [f["means"][j][0] for f in alone]
        assert np.mean(values) == pytest.approx(
            expected, abs=4 * np.std(values) / len(values) ** 0.5
        )


def naive(labels, blocks, theta):
    """What rows of each cluster have on average, row by row."""
    result = {"weights": np.zeros(labels.max() + 1), "means": [], "covariances": [], "rates": []}
    for c in range(labels.max() + 1):
        rows = np.flatnonzero(labels == c)
        means = theta["means"][blocks[rows]]
        second = sum(
            theta["covariances"][b] + np.outer(theta["means"][b], theta["means"][b])
            for b in blocks[rows]
        ) / len(rows)
        m = means.mean(axis=0)
        result["means"].append(m)
        result["covariances"].append(second - np.outer(m, m))
        result["rates"].append(theta["rates"][blocks[rows]].mean(axis=0))
        for b in set(blocks[rows].tolist()):
            share = np.sum(blocks[rows] == b) / np.sum(blocks == b)
            result["weights"][c] += theta["weights"][b] * share
    return result


def test_a_cluster_has_the_average_of_its_rows():
    rng = np.random.default_rng(1)
    blocks, labels = rng.integers(4, size=40), rng.integers(-1, 3, size=40)
    blocks[:4] = range(4)
    A = rng.normal(size=(4, 2, 2))
    theta = {
        "weights": rng.dirichlet(np.ones(5)),
        "means": rng.normal(size=(4, 2)),
        "covariances": A @ A.swapaxes(1, 2),
        "rates": rng.random((4, 3)),
    }
    fitted = fit_of(NIG, rng.normal(size=(8, 2)), np.zeros(8, int))
    fitted = fitted._replace(posterior=Posterior(blocks[None, None]))
    found, expected = of_clusters(fitted, 0, theta, labels), naive(labels, blocks, theta)
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, atol=1e-12)
    variances = {**theta, "variances": np.diagonal(theta["covariances"], axis1=1, axis2=2)}
    of_columns = of_clusters(fitted, 0, variances, labels)["variances"]
    whole = np.array(expected["covariances"])
    np.testing.assert_allclose(of_columns, np.diagonal(whole, axis1=1, axis2=2), atol=1e-12)


def exact_means(exact, X, labels, prior_mean, kappa):
    """The posterior mean of the clusters' means, by all partitions, and of their weights."""
    n_clusters = labels.max() + 1
    means, weights = np.zeros((n_clusters, X.shape[1])), np.zeros(n_clusters)
    for blocks, p in zip(exact.partitions, exact.probabilities, strict=True):
        for c, b in itertools.product(range(n_clusters), range(blocks.max() + 1)):
            rows = X[blocks == b]
            common = np.sum((blocks == b) & (labels == c))
            mean = (kappa * prior_mean + rows.sum(axis=0)) / (kappa + len(rows))
            means[c] += p * common / np.sum(labels == c) * mean
            weights[c] += p * common / (len(X) + PRIOR.alpha)
    return means, weights


@pytest.mark.parametrize("likelihood", [NIG, NIW], ids=["nig", "niw"])
def test_posterior_means_are_those_of_all_partitions(likelihood):
    fitted, exact = exactly_fitted(likelihood, PRIOR, ROWS, 5)
    labels = np.array([0, 0, 1, 1, 0])
    fitted = fitted._replace(estimate=labels, X=ROWS, prior=PRIOR)
    rng = np.random.default_rng(0)
    source = ParameterSource(fitted, None)
    runs = [source.draws(None, rng) for _ in range(150)]
    prior_mean = np.array([0.5, 0.5]) if likelihood is NIG else np.array([0.5, 0.0])
    for name, expected in zip(
        ("means", "weights"), exact_means(exact, ROWS, labels, prior_mean, 0.7), strict=True
    ):
        found = np.array([run.mean(name) for run in runs])
        error = found.std(axis=0) / np.sqrt(len(found))
        assert (np.abs(found.mean(axis=0) - expected) < 4.5 * error + 1e-12).all()


def test_intervals_have_width_even_for_certain_clusters():
    """With posterior means instead of draws, the interval of a certain cluster would have none."""
    fitted = fit_of(NIG, ROWS, [0, 0, 1, 1, 0])
    draws = np.repeat(fitted.posterior.labels, 300, axis=1)
    fitted = fitted._replace(
        posterior=Posterior(draws), log_urn=np.repeat(fitted.log_urn, 300, axis=0)
    )
    low, high = ParameterSource(fitted, None).draws(None, 0).interval("means", 0.9)
    mean, _ = normal_inverse_gamma(ROWS[[0, 1, 4], 0], 0.5, 0.7, 3.0, 1.5)
    np.testing.assert_allclose([low[0, 0], high[0, 0]], mean.ppf([0.05, 0.95]), atol=0.2)


def test_quantiles_and_means_follow_the_weights_of_the_draws():
    fitted, exact = exactly_fitted(NIG, PRIOR, ROWS, 5)
    found = ParameterSource(fitted._replace(X=ROWS, prior=PRIOR), None).draws(None, 0)
    np.testing.assert_allclose(found.draw_weights.ravel(), exact.probabilities)
    values = found["means"].reshape(-1, *found["means"].shape[2:])
    expected = np.tensordot(exact.probabilities, values, axes=1)
    np.testing.assert_allclose(found.mean("means"), expected)


def test_chosen_draws_are_spread_over_the_chains():
    assert spaced((2, 100), 4).tolist() == [25, 75, 125, 175]
    assert spaced((2, 3), 400).tolist() == list(range(6))
    assert spaced((2, 3), None).tolist() == list(range(6))


QUICK = {"n_chains": 1, "n_draws": 20, "n_warmup": 20, "random_state": 0}
SEPARATE = np.repeat([[0.0, 0.0], [9.0, 3.0]], [12, 8], axis=0) + RNG.normal(size=(20, 2))


def test_a_model_has_the_parameters_of_its_clusters():
    X = np.column_stack([SEPARATE[:, 0], np.full(20, 7.0), SEPARATE[:, 1]])
    with pytest.warns(UserWarning, match="left out"):
        model = DPMixture(**QUICK).fit(X)
    assert model.means_.shape == (2, 3) and model.covariances_.shape == (2, 3, 3)
    np.testing.assert_allclose(model.means_[:, 1], 7.0)
    assert not model.covariances_[:, 1].any() and not model.covariances_[:, :, 1].any()
    np.testing.assert_allclose(model.means_[:, [0, 2]], [[0, 0], [9, 3]], atol=1.5)
    assert model.weights_.sum() < 1.0
    assert not hasattr(model, "rates_")
    with pytest.raises(AttributeError, match="have no rates, but weights, means, covariances"):
        _ = model.rates_
    again = model.posterior_.parameters(max_draws=10, random_state=3)
    assert again["means"].shape == (1, 10, 2, 3)
    same = model.posterior_.parameters(max_draws=10, random_state=3)
    np.testing.assert_array_equal(same["means"], again["means"])


def test_parameters_of_one_draw_are_raw():
    model = DPMixture(**QUICK).fit(SEPARATE)
    raw = model.posterior_.block_parameters(4)
    n_blocks = model.posterior_.n_clusters[0, 4]
    assert raw["means"].shape == (n_blocks, 2) and len(raw["weights"]) == n_blocks + 1
    with pytest.raises(IndexError):
        model.posterior_.block_parameters(20)


def test_a_posterior_of_its_own_has_no_parameters():
    with pytest.raises(AttributeError, match="does not come from a fitted mixture"):
        Posterior([[[0, 1]]]).parameters()


def test_joined_components_have_parameters_together():
    model = DPMixture(max_clusters=1, **QUICK).fit(SEPARATE)
    assert model.n_clusters_ == 1 and model.means_.shape == (1, 2)
    whole = np.cov(SEPARATE.T, bias=True)
    np.testing.assert_allclose(model.covariances_[0], whole, rtol=0.5, atol=1.5)
    assert model.covariances_[0, 0, 0] > 10  # within the components it is about one
