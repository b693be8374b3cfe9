"""One row so extreme that double precision has no room for the others beside it."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import multigammaln

from bnpcluster._core import operations as ops
from bnpcluster._core.partition import new_partition
from bnpcluster._core.state import State
from bnpcluster._predict.kernels import load_draw
from bnpcluster.likelihoods import Columns, NormalInverseGamma, NormalInverseWishart
from bnpcluster.likelihoods.gaussian.nig_missing import ObservedColumns
from bnpcluster.likelihoods.gaussian.niw_nested import NestedNIW
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import SAMPLERS, AnnealedSMC
from bnpcluster.samplers.archive import Archive
from bnpcluster.testing import check_sampler, exact_posterior

NIW, NIG = NormalInverseWishart, NormalInverseGamma
CHAINS = [cls() for cls in SAMPLERS.values() if not cls.weighted]
WILD = 5  # the extreme row


def rows(d, value=1e10, columns=(0,), n=14):
    """Correlated rows, one of them with extreme entries."""
    rng = np.random.default_rng(d)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    X[WILD, list(columns)] = value
    return X


def determinant(matrix):
    """The determinant of a matrix of fractions, by elimination."""
    rest, product = [list(row) for row in matrix], Fraction(1)
    for a in range(len(rest)):
        product *= rest[a][a]
        for b in range(a + 1, len(rest)):
            factor = rest[b][a] / rest[a][a]
            rest[b] = [y - factor * x for x, y in zip(rest[a], rest[b], strict=True)]
    return product


def log_of(fraction):
    return math.log(fraction.numerator) - math.log(fraction.denominator)


def exact_block(X, mean, kappa, nu, scale):
    """Log marginal of a block under a normal-inverse-Wishart prior; the sums have no rounding."""
    m, d = X.shape
    r, u = Fraction(kappa), [Fraction(v) for v in mean]
    S = S0 = [[Fraction(v) for v in row] for row in np.asarray(scale)]
    for row in X:
        gap = [Fraction(x) - v for x, v in zip(row, u, strict=True)]
        S = [[S[a][b] + r / (r + 1) * gap[a] * gap[b] for b in range(d)] for a in range(d)]
        u = [v + g / (r + 1) for v, g in zip(u, gap, strict=True)]
        r += 1
    value = multigammaln((nu + m) / 2, d) - multigammaln(nu / 2, d) - m * d / 2 * np.log(np.pi)
    value += nu / 2 * log_of(determinant(S0)) - (nu + m) / 2 * log_of(determinant(S))
    return value + d / 2 * np.log(kappa / (kappa + m))


def exact(likelihood, X):
    """Log marginal of a block under a likelihood with given parameters."""
    p = likelihood.get_params()
    if isinstance(likelihood, NIW):
        return exact_block(X, p["mean"], p["kappa"], p["nu"], p["scale"])
    each = zip(X.T, p["mean"], p["scale"], strict=True)
    return sum(
        exact_block(x[:, None], [mean], p["kappa"], 2 * p["shape"], [[2 * rate]])
        for x, mean, rate in each
    )


def with_nan(X, *entries):
    """The rows, and two more with missing entries at the end."""
    more = X[:2].copy()
    for i, j in entries:
        more[i, j] = np.nan
    return np.vstack([X, more])


CASES = {
    "niw, two columns": (NIW(), rows(2)),
    "niw, the second of two columns": (NIW(), rows(2, columns=[1])),
    "niw, both columns": (NIW(), rows(2, columns=[0, 1])),
    "niw, four columns": (NIW(), rows(4, -1e10, columns=[1])),
    "niw, nested": (NIW(missing="integrate"), with_nan(rows(3), (0, 2), (1, 1), (1, 2))),
    "niw, the last level": (
        NIW(missing="integrate"),
        with_nan(rows(3, columns=[2]), (0, 2), (1, 1), (1, 2)),
    ),
    "niw, imputed": (NIW(missing="impute"), with_nan(rows(3), (0, 2), (1, 0))),
    "nig": (NIG(), rows(3)),
    "nig, missing entries": (NIG(), with_nan(rows(3), (0, 2), (1, 0))),
    "columns": (Columns([("nig", [0, 2]), ("niw", [1, 3])]), rows(4, columns=[2])),
    "columns, the second part": (Columns([("nig", [0, 2]), ("niw", [1, 3])]), rows(4, columns=[1])),
}

GAUSSIAN = [name for name in CASES if not name.startswith("columns")]


def filled(likelihood, X, items):
    bound = likelihood.bind(X, 4)
    for k in range(3):
        ops.clear(bound, k)
    for i in items:
        ops.add(bound, 0, i)
    return bound


def labels_of(X, items):
    labels = np.full(len(X), -1)
    labels[list(items)] = 0
    return labels


@pytest.mark.parametrize("name", GAUSSIAN)
@pytest.mark.parametrize("items", [[5, 1], [0, 5], range(14)], ids=["first", "last", "all"])
def test_a_block_with_an_extreme_row_is_exact(name, items):
    automatic, X = CASES[name]
    likelihood = automatic.frozen(X)
    items = list(items)
    bound, labels = filled(likelihood, X, items), labels_of(X, items)
    whole = exact(likelihood, X[items])
    assert ops.log_marginal(bound, 0) == pytest.approx(whole, rel=1e-8)
    for i in items:
        others = exact(likelihood, X[[j for j in items if j != i]])
        found = ops.log_predictive_of_member(bound, 0, i, labels, 0)
        assert found == pytest.approx(whole - others, rel=1e-7), i
    assert ops.log_marginal(bound, 0) == pytest.approx(whole, rel=1e-8)
    ops.take_out(bound, 0, WILD, labels, 0)
    assert ops.log_marginal(bound, 0) == pytest.approx(
        exact(likelihood, X[[j for j in items if j != WILD]]), rel=1e-10
    )


@pytest.mark.parametrize("name", CASES)
def test_a_row_comes_and_goes_without_a_trace(name):
    """At every scale, whether it is subtracted or the block is filled again."""
    automatic, X = CASES[name]
    X = X.copy()
    likelihood, wild = automatic.frozen(X), abs(X[WILD]) > 100
    others = [i for i in range(14) if i != WILD]
    for value in 10.0 ** np.arange(4, 13):
        X[WILD, wild] = value
        bound, fresh = filled(likelihood, X, range(14)), filled(likelihood, X, others)
        ops.take_out(bound, 0, WILD, labels_of(X, range(14)), 0)
        assert ops.log_marginal(bound, 0) == pytest.approx(ops.log_marginal(fresh, 0), rel=1e-6)
        for i in (WILD, *range(14, len(X))):
            found, expected = ops.log_predictive(bound, 0, i), ops.log_predictive(fresh, 0, i)
            assert found == pytest.approx(expected, rel=1e-6)
        labels = labels_of(X, others)
        for i in others:
            found = ops.log_predictive_of_member(bound, 0, i, labels, 0)
            expected = ops.log_predictive_of_member(fresh, 0, i, labels, 0)
            assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("d", [2, 3])
def test_a_near_row_is_extreme_where_clusters_are_tight(d):
    """Learned or given hyper-parameters may allow for clusters much tighter than the data."""
    X = np.random.default_rng(0).normal(size=(6, d))
    X[1:5] = X[0] + 1e-7 * X[1:5]
    likelihood = NIW(mean=np.zeros(d), kappa=1e-3, nu=d + 2, scale=1e-14 * np.eye(d))
    bound, fresh = filled(likelihood, X, range(6)), filled(likelihood, X, range(5))
    ops.take_out(bound, 0, 5, np.zeros(6, np.intp), 0)
    assert ops.log_marginal(bound, 0) == pytest.approx(ops.log_marginal(fresh, 0), rel=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_members_are_scored_without_themselves(name):
    """Also in both parts of mixed columns."""
    likelihood, X = CASES[name]
    labels = labels_of(X, range(14))
    for i in (WILD, 3):
        bound = filled(likelihood, X, range(14))
        fresh = filled(likelihood, X, [j for j in range(14) if j != i])
        expected = ops.log_predictive(fresh, 0, i)
        found = ops.log_predictive_of_member(bound, 0, i, labels, 0)
        assert found == pytest.approx(expected, rel=1e-6)
        ops.take_out(bound, 0, i, labels, 0)
        found, expected = ops.log_marginal(bound, 0), ops.log_marginal(fresh, 0)
        assert found == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("name", GAUSSIAN)
@pytest.mark.parametrize("value", [1e6, 1e10])
def test_a_union_with_an_extreme_row_is_exact(name, value):
    """Two or more entries of the row are extreme: up to rounding, the sums are collinear."""
    automatic, X = CASES[name]
    X = X.copy()
    n_wild = max(2, X.shape[1] - 1)
    X[WILD, :n_wild] = value * np.linspace(1.0, 0.9, n_wild)
    likelihood = automatic.frozen(X)
    bound, labels = filled(likelihood, X, []), np.full(len(X), -1)
    labels[:14] = np.arange(14) % 2
    for i in range(14):
        ops.add(bound, labels[i], i)
    for one, two in ((0, 1), (1, 0)):
        union = ops.log_marginal_union(bound, one, two, 2, labels)
        assert union == pytest.approx(exact(likelihood, X[:14]), rel=2e-6)
    if isinstance(bound, (NestedNIW, ObservedColumns)):  # rows with missing entries
        labels[14] = 1
        ops.add(bound, 1, 14)
        union = ops.log_marginal_union(bound, 0, 1, 2, labels)
        fresh = filled(likelihood, X, range(15))
        assert union == pytest.approx(ops.log_marginal(fresh, 0), rel=2e-6)


@pytest.mark.parametrize("name", CASES)
def test_only_an_extreme_row_is_too_extreme(name):
    """So that blocks are filled again only if they must be."""
    likelihood, X = CASES[name]
    bound = filled(likelihood, X, range(14))
    assert [i for i in range(14) if ops.outweighs(bound, 0, i)] == [WILD]


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("sampler", CHAINS)
def test_samplers_keep_the_digits_of_blocks(sampler, d):
    """A flat target, so that the extreme row moves between blocks."""
    X, rng = rows(d), np.random.default_rng(0)
    state = State(NIW().bind(X), DirichletProcess(1.0), np.arange(len(X)) // 5, beta=1e-4)
    state.archive = Archive([[np.arange(len(X)) // 3], [np.arange(len(X)) % 3]], 0)
    moved = 0
    for _ in range(60):
        before = state.labels[WILD]
        sampler.step(state, rng)
        moved += before != state.labels[WILD]
        kept = state.log_joint()
        state.rebuild()
        assert kept == pytest.approx(state.log_joint(), abs=1e-6)
    assert moved


@pytest.mark.parametrize("sampler", CHAINS)
def test_samplers_are_exact_with_an_extreme_row(sampler):
    """Nearly flat: there the row shares its block with others, and every density counts."""
    X = rows(2, n=6)
    check_sampler(sampler, NIW(), DirichletProcess(1.0), X, beta=2e-3, n_replicates=5000)


@pytest.mark.parametrize("settings", [{"path": "temperature"}, {"anneal": False}])
def test_the_evidence_is_exact_with_an_extreme_row(settings):
    X, prior = rows(2, n=6), DirichletProcess(1.0)
    likelihood = NIW().frozen(X)  # without learned hyper-parameters
    expected = exact_posterior(X, likelihood, prior).log_evidence
    sampler = AnnealedSMC(n_particles=2000, **settings)
    run = sampler.run(likelihood.bind(X), prior, len(X), np.random.default_rng(0))
    assert run.log_evidence == pytest.approx(expected, abs=0.15)


@pytest.mark.parametrize("name", CASES)
def test_the_next_draw_is_loaded_with_all_digits(name):
    """The extreme row gives its slot to other rows, or leaves a block that it was in."""
    likelihood, X = CASES[name]
    n = len(X)
    alone, other, within = np.zeros((3, n), np.intp)
    alone[WILD], alone[-2:] = 1, 2
    other[WILD], other[-2:] = 2, 1
    within[-2:] = 1
    log_urn = np.zeros(4)
    for one, two in ((alone, other), (other, alone), (within, other), (other, within)):
        bound, partition = likelihood.bind(X, 4), new_partition(n, 4)
        load_draw(bound, partition, one, log_urn)
        load_draw(bound, partition, two, log_urn)
        fresh = likelihood.bind(X, 4)
        load_draw(fresh, new_partition(n, 4), two, log_urn)
        for k in range(two.max() + 1):
            found, expected = ops.log_marginal(bound, k), ops.log_marginal(fresh, k)
            assert found == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("name", ["niw, two columns", "niw, four columns", "nig"])
def test_a_far_row_among_its_like_is_subtracted(name):
    """A fifth of the rows may be far without any cost."""
    likelihood, X = CASES[name]
    X = np.vstack([X, X[[WILD]] * 1.1, X[[WILD]] * 0.9])
    bound = filled(likelihood, X, range(len(X)))
    assert not any(ops.outweighs(bound, 0, i) for i in range(len(X)))
