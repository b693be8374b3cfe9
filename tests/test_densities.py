"""Marginal and conditional densities: against the joint one, quadrature, and each other."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, kstest, spearmanr

from bnpcluster import DPMixture, densities
from bnpcluster._fitting.fitted import Fitted, urn_weights
from bnpcluster._predict.predictive import predict, sample
from bnpcluster.densities import conditional, marginal
from bnpcluster.likelihoods import LIKELIHOODS, NormalInverseGamma, NormalInverseWishart
from bnpcluster.posterior import Posterior
from bnpcluster.priors import DirichletProcess, FiniteDirichlet
from tests._predict.test_predictive import exactly_fitted

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore:Rows? .* no value"
)
GAUSSIAN = {"niw": NormalInverseWishart, "nig": NormalInverseGamma}


def exact(name, d, prior=None, **parameters):
    """All partitions of five rows of `d` columns, some far from the origin and wide."""
    rng = np.random.default_rng(d)
    X = rng.normal(size=(5, d)) + 2.0 * np.repeat([0, 1], [3, 2])[:, None]
    X = np.linspace(1.0, 3.0, d) * X + np.linspace(0.0, 50.0, d)
    likelihood = GAUSSIAN[name](**parameters)
    return exactly_fitted(likelihood, prior or DirichletProcess(0.8), X, 5)[0], X


def new_rows(X, n=6):
    rng = np.random.default_rng(0)
    return X.mean(axis=0) + 1.5 * X.std(axis=0) * rng.normal(size=(n, X.shape[1]))


def line(X, j, step=0.04):
    """Points and weights of an integral over column j: the trapezoid rule after x = sinh(u)."""
    u = np.arange(-12.0, 12.0, step)
    return X[:, j].mean() + X[:, j].std() * np.sinh(u), X[:, j].std() * np.cosh(u) * step


def plane(X, j, k):
    """Points and weights of an integral over columns j and k."""
    (x, wx), (y, wy) = line(X, j, 0.16), line(X, k, 0.16)
    return np.column_stack([grid.ravel() for grid in np.meshgrid(x, y)]), np.outer(wy, wx).ravel()


CASES = [(name, d) for name in GAUSSIAN for d in (1, 2, 3, 5)]


@pytest.mark.parametrize(("name", "d"), CASES)
def test_the_marginal_of_all_columns_is_the_predictive_density(name, d):
    fitted, X = exact(name, d)
    rows = new_rows(X)
    joint = predict(fitted, rows).log_density
    order = np.random.default_rng(d).permutation(d).tolist()
    for columns in (list(range(d)), order):
        found = marginal(fitted, columns, None).score_samples(rows[:, columns])
        np.testing.assert_allclose(found, joint, rtol=0, atol=1e-10)


@pytest.mark.parametrize(("name", "d"), [case for case in CASES if case[1] > 1])
def test_marginal_times_conditional_is_the_predictive_density(name, d):
    fitted, X = exact(name, d)
    rows = new_rows(X)
    joint = predict(fitted, rows).log_density
    for split in range(1, d):
        order = np.random.default_rng(split).permutation(d).tolist()
        a, b = order[:split], order[split:]
        first = marginal(fitted, a, None).score_samples(rows[:, a])
        rest = conditional(fitted, {j: rows[:, j] for j in a}, b, None).score_samples(rows[:, b])
        np.testing.assert_allclose(first + rest, joint, rtol=0, atol=1e-10)
        one = conditional(fitted, {j: rows[2, j] for j in a}, b, None)
        assert one.score_samples(rows[2:3, b])[0] == pytest.approx(rest[2], abs=1e-12)
        assert one.score(rows[[2, 2]][:, b]) == pytest.approx(rest[2], abs=1e-12)


@pytest.mark.parametrize("name", GAUSSIAN)
def test_a_marginal_is_the_predictive_density_with_a_column_integrated_out(name):
    fitted, X = exact(name, 2)
    rows = new_rows(X, 2)
    for kept, gone in ((0, 1), (1, 0)):
        points, weights = line(X, gone)
        for row in rows:
            joint = np.tile(row, (len(points), 1))
            joint[:, gone] = points
            expected = weights @ np.exp(predict(fitted, joint).log_density)
            found = np.exp(marginal(fitted, kept, None).score_samples(row[[kept]]))
            assert found[0] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize(("name", "d"), CASES)
def test_densities_of_one_column_integrate_to_one_and_to_their_means(name, d):
    fitted, X = exact(name, d)
    points, weights = line(X, 0)
    some = [marginal(fitted, 0, None)]
    if d > 1:
        far = {j: X[0, j] + 1.0 + j for j in range(1, d)}
        some += [conditional(fitted, far, None, None)]
        some += [conditional(fitted, {d - 1: far[d - 1]}, 0, None)]
    for density in some:
        values = weights * np.exp(density.score_samples(points))
        assert values.sum() == pytest.approx(1.0, abs=1e-8)
        assert density.mean() == pytest.approx(values @ points, rel=1e-5)


@pytest.mark.parametrize("name", GAUSSIAN)
def test_densities_of_two_columns_integrate_to_one_and_to_their_means(name):
    fitted, X = exact(name, 3)
    points, weights = plane(X, 2, 0)
    for density in (
        marginal(fitted, [2, 0], None),
        conditional(fitted, {1: X[4, 1]}, [2, 0], None),
    ):
        mass = weights * np.exp(density.score_samples(points))
        assert mass.sum() == pytest.approx(1.0, abs=1e-6)
        np.testing.assert_allclose(density.mean(), mass @ points, rtol=1e-4)


@pytest.mark.parametrize(("name", "d"), [("niw", 1), ("niw", 2), ("niw", 3), ("nig", 3)])
def test_samples_of_one_column_have_their_density(name, d):
    fitted, X = exact(name, d)
    points, weights = line(X, 0)
    densities, given = [marginal(fitted, 0, None)], {}
    draws = [densities[0].sample(20_000, random_state=0)]
    if d > 1:
        given = {j: np.array([X[0, j], X[4, j] + 1.0]) for j in range(1, d)}
        draws += [*conditional(fitted, given, None, None).sample(20_000, random_state=0)]
        densities += [
            conditional(fitted, {j: v[i] for j, v in given.items()}, 0, None) for i in (0, 1)
        ]
    for density, rows in zip(densities, draws, strict=True):
        mass = weights * np.exp(density.score_samples(points))
        reached = np.cumsum(mass) - mass / 2
        assert kstest(rows[:, 0], lambda x, c=reached: np.interp(x, points, c)).pvalue > 1e-3


@pytest.mark.parametrize("name", GAUSSIAN)
def test_samples_of_two_columns_have_their_density(name):
    fitted, X = exact(name, 3)
    points, weights = plane(X, 2, 0)
    # Between points of the grid, so that no cell of it is cut.
    cuts = [np.convolve(np.unique(column), [0.5, 0.5], "valid")[68:83:4] for column in points.T]

    def cells(rows):
        return 5 * np.searchsorted(cuts[0], rows[:, 0]) + np.searchsorted(cuts[1], rows[:, 1])

    for density in (
        marginal(fitted, [2, 0], None),
        conditional(fitted, {1: X[4, 1]}, [2, 0], None),
    ):
        mass = weights * np.exp(density.score_samples(points))
        expected = 4000 * np.bincount(cells(points), mass, 25)
        counts = np.bincount(cells(density.sample(4000, random_state=1)), minlength=25)
        assert expected.min() > 5
        statistic = ((counts - expected) ** 2 / expected).sum()
        assert chi2.sf(statistic, 24) > 1e-3


@pytest.mark.parametrize(("name", "alone"), [("niw", False), ("nig", True)])
def test_columns_of_a_block_share_their_spread_only_with_a_full_covariance(name, alone):
    X = np.random.default_rng(0).normal(size=(3, 2))
    likelihood, prior = GAUSSIAN[name](), DirichletProcess(1e-9)
    one = Posterior(np.zeros((1, 1, 3), int))
    fitted = Fitted(likelihood, likelihood.bind(X), one, urn_weights(prior, one), np.zeros(3, int))
    draws = marginal(fitted, [0, 1], None).sample(4000, random_state=0)
    size = np.abs(draws - np.median(draws, axis=0))
    assert (spearmanr(*size.T).pvalue > 1e-3) == alone


def test_samples_of_all_columns_are_those_of_the_mixture():
    fitted, _ = exact("niw", 2)
    ours = marginal(fitted, [0, 1], None).sample(3000, random_state=0)
    theirs = sample(fitted, 3000, np.random.default_rng(1))
    for direction in ([1.0, 0.0], [0.0, 1.0], [3.0, -1.0], [3.0, 1.0]):
        assert kstest(ours @ direction, theirs @ direction).pvalue > 1e-3


def test_samples_repeat_and_come_in_no_order_of_draws():
    fitted, X = exact("niw", 2)
    density = conditional(fitted, {0: X[:, 0]}, None, None)
    draws = density.sample(2000, random_state=3)
    assert draws.shape == (5, 2000, 1)
    np.testing.assert_array_equal(draws, density.sample(2000, random_state=3))
    for rows in draws:
        assert kstest(rows[:1000, 0], rows[1000:, 0]).pvalue > 1e-3
    assert conditional(fitted, {0: 0.5}, None, None).sample().shape == (1, 1)


def test_a_regression_is_one_conditional_per_row():
    fitted, X = exact("niw", 3)
    values = X[:, 1] + 0.5
    many = conditional(fitted, {1: values, 0: 1.0}, None, None)
    assert repr(many) == "<density of column 2 given column 1, column 0 in 5 rows>"
    for i, value in enumerate(values):
        one = conditional(fitted, {0: 1.0, 1: value}, None, None)
        np.testing.assert_allclose(many.mean()[i], one.mean(), rtol=1e-10)


def test_rows_and_given_values_are_taken_piece_by_piece(monkeypatch):
    fitted, X = exact("niw", 3)
    rows = new_rows(X, 50)
    density = conditional(fitted, {0: rows[:, 0], 1: rows[:, 1]}, None, None)
    whole = density.score_samples(rows[:, 2]), density.mean()
    monkeypatch.setattr(densities, "CELLS", 200)
    np.testing.assert_allclose(density.score_samples(rows[:, 2]), whole[0], rtol=1e-12)
    np.testing.assert_allclose(density.mean(), whole[1], rtol=1e-12)
    draws = density.sample(500, random_state=0)
    assert draws.shape == (50, 500, 1)
    middle = np.median(draws, axis=1)
    assert np.corrcoef(middle.ravel(), density.mean().ravel())[0, 1] > 0.9


def test_draws_count_by_weight_and_those_without_any_not_at_all():
    fitted, _ = exact("niw", 2)
    labels, weights = fitted.posterior.labels, fitted.posterior.weights.copy()
    weights[0, ::2] = 0.0
    other = fitted._replace(posterior=Posterior(labels, weights=weights))
    kept = Posterior(labels[:, 1::2], weights=weights[:, 1::2])
    fewer = fitted._replace(posterior=kept, log_urn=fitted.log_urn[1::2])
    for x in (0.0, 4.0):
        one, two = (conditional(some, {0: x}, None, None).mean() for some in (other, fewer))
        np.testing.assert_allclose(one, two, rtol=1e-12)
        assert one != pytest.approx(conditional(fitted, {0: x}, None, None).mean(), rel=1e-6)


def test_priors_that_allow_no_further_block():
    fitted, X = exact("niw", 2, FiniteDirichlet(2, 1.0))
    rows = new_rows(X)
    joint = predict(fitted, rows).log_density
    density = conditional(fitted, {0: rows[:, 0]}, None, None)
    found = density.score_samples(rows[:, 1]) + marginal(fitted, 0, None).score_samples(rows[:, 0])
    np.testing.assert_allclose(found, joint, atol=1e-10)
    assert np.isfinite(density.sample(5, random_state=0)).all()


def test_there_is_no_mean_with_too_few_degrees_of_freedom():
    fitted, X = exact("niw", 2, nu=1.5)
    assert np.isnan(marginal(fitted, [0, 1], None).mean()).all()
    points, weights = line(X, 0)
    density = conditional(fitted, {1: X[0, 1]}, None, None)
    mass = weights * np.exp(density.score_samples(points))
    assert density.mean() == pytest.approx(mass @ points, rel=1e-2)
    assert np.isnan(marginal(exact("nig", 2, shape=0.5)[0], 0, None).mean()).all()


@pytest.mark.parametrize("name", GAUSSIAN)
def test_values_far_from_everything_leave_numbers(name):
    fitted, X = exact(name, 3)
    for far in (1e4, 1e80, 1e200):
        density = conditional(fitted, {0: far, 2: -far}, None, None)
        assert np.isfinite(density.mean()).all()
        assert np.isfinite(density.sample(3, random_state=0)).all()
        assert np.isfinite(density.score_samples(X[:, 1])).all()


def quick(X):
    return DPMixture(n_draws=5, n_warmup=5, n_chains=1, random_state=0).fit(X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_columns_by_name_and_rows_in_frames():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(20, 3)), columns=["a", "b", "c"])
    model = quick(X)
    density = model.marginal(["c", "a"])
    assert density.columns == ["c", "a"]
    np.testing.assert_array_equal(
        density.score_samples(X[["c", "a"]]),
        model.marginal([2, 0]).score_samples(X.values[:, [2, 0]]),
    )
    with pytest.raises(ValueError, match=r"X must have the columns \['c', 'a'\], got \['a', 'c'\]"):
        density.score_samples(X[["a", "c"]])
    rest = model.conditional({"b": X["b"]})
    assert (rest.columns, rest.given) == (["a", "c"], ["b"])
    np.testing.assert_allclose(
        rest.score_samples(X[["a", "c"]]) + model.marginal("b").score_samples(X["b"]),
        model.score_samples(X),
        atol=1e-10,
    )
    assert repr(model.conditional({"b": 0.0})) == "<density of a, c given b>"
    assert repr(model.marginal(range(3))) == "<density of a, b, c>"


@pytest.mark.parametrize(
    ("ask", "kind", "message"),
    [
        (lambda m: m.marginal([]), ValueError, "columns must name at least one column"),
        (lambda m: m.marginal([0, 0]), ValueError, "none twice, got \\[0, 0\\]"),
        (lambda m: m.marginal(2), ValueError, "must be a number from 0 to 1, got 2"),
        (lambda m: m.marginal(True), TypeError, "A column must be a name or a number, got True"),
        (
            lambda m: m.marginal("x"),
            ValueError,
            "No column 'x': the model was fitted without column names",
        ),
        (lambda m: m.conditional({}), TypeError, "given must be a dict from columns"),
        (lambda m: m.conditional([1.0]), TypeError, "given must be a dict from columns"),
        (lambda m: m.conditional({0: 1, 1: 2}), ValueError, "All columns have given values"),
        (lambda m: m.conditional({0: 1}, 0), ValueError, "`columns` and the given columns overlap"),
        (lambda m: m.conditional({0: np.nan}), ValueError, "Given values must be finite"),
        (lambda m: m.conditional({0: []}), ValueError, "arrays of one length"),
        (lambda m: m.marginal([0, 1]).score_samples([[1.0]]), ValueError, "must have the columns"),
        (
            lambda m: m.conditional({0: [1.0, 2.0]}).score_samples([1.0]),
            ValueError,
            "X has 1 rows, but values were given for 2",
        ),
        (lambda m: m.marginal(0).sample(0), ValueError, "n must be at least 1"),
    ],
)
def test_wrong_use_is_answered_in_a_sentence(ask, kind, message):
    model = quick(np.random.default_rng(0).normal(size=(8, 2)))
    with pytest.raises(kind, match=message):
        ask(model)


def test_given_values_must_have_one_length():
    fitted, _ = exact("nig", 3)
    with pytest.raises(ValueError, match="arrays of one length, got shapes"):
        conditional(fitted, {0: [1.0, 2.0], 1: [1.0]}, None, None)
    with pytest.raises(ValueError, match="Did you mean 'width'"):
        marginal(fitted, "widht", ["width", "height", "depth"])


@pytest.mark.parametrize("name", sorted(set(LIKELIHOODS) - set(GAUSSIAN)))
def test_other_likelihoods_say_what_they_cannot(name):
    likelihood, X = LIKELIHOODS[name].examples(np.random.default_rng(0))[0]
    if not likelihood.is_of_rows:
        return
    fitted = exactly_fitted(likelihood, DirichletProcess(1.0), X, 4)[0]
    with pytest.raises(TypeError, match=f"not available for {type(likelihood).__name__}: use"):
        marginal(fitted, 0, None)


@pytest.mark.parametrize("name", GAUSSIAN)
@pytest.mark.parametrize("d", [1, 3])
def test_densities_of_fits_with_missing_entries_are_those_of_the_predictive(name, d):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(30, d)) + 4.0 * (np.arange(30) % 2)[:, None]
    rows = X[:5] + 0.5
    X[rng.random(X.shape) < 0.2] = np.nan
    settings = {"n_draws": 4, "n_warmup": 10, "n_chains": 2, "sampler": "gibbs", "random_state": 0}
    model = DPMixture(likelihood=name, **settings).fit(X)
    found = model.marginal(range(d)).score_samples(rows)
    np.testing.assert_allclose(found, model.score_samples(rows), rtol=0, atol=1e-10)
    if d > 1:
        rest = model.conditional({0: rows[:, 0]}).score_samples(rows[:, 1:])
        first = model.marginal(0).score_samples(rows[:, 0])
        np.testing.assert_allclose(first + rest, found, rtol=0, atol=1e-10)
