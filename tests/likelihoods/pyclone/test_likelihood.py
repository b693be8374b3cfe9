"""PyClone's likelihood: golden numbers, scipy twins by brute force, missing samples, bad data."""

import functools
import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import betabinom, binom

from bnpcluster._core import operations as ops
from bnpcluster._core.jit import DISABLED
from bnpcluster._core.partition import new_partition
from bnpcluster.likelihoods.pyclone import kernels
from bnpcluster.likelihoods.pyclone.genotypes import GENOTYPES
from bnpcluster.likelihoods.pyclone.likelihood import PyClone
from bnpcluster.testing import check_likelihood
from tests.tools.discrete import (
    assert_emptied_is_cleared,
    assert_matches,
    assert_weights,
    filled,
    list_weights,
    shares_slots,
)

# The states of MATH.md's elicitation as genotypes (normal, reference, variant), written out.
STATES = {
    ("major_copy_number", 2, 2, 1): ["AA AA AAB", "AA AA ABB", "AA AAA AAB"],
    ("major_copy_number", 2, 2, 0): ["AA AA AB", "AA AA BB"],
    ("major_copy_number", 2, 1, 1): ["AA AA AB"],
    ("major_copy_number", 1, 1, 0): ["A A B"],
    ("parental_copy_number", 2, 3, 2): [
        "AA AA AAAAB",
        "AA AA AAABB",
        "AA AA AABBB",
        "AA AAAAA AAAAB",
    ],
    ("parental_copy_number", 2, 2, 0): ["AA AA AB", "AA AA BB"],
    ("parental_copy_number", 1, 2, 2): ["A A AAAB", "A A AABB", "A AAAA AAAB"],
    ("total_copy_number", 2, 2, 1): [
        "AA AA AAB",
        "AA AA ABB",
        "AA AA BBB",
        "AA AAA AAB",
        "AA AAA ABB",
        "AA AAA BBB",
    ],
    ("total_copy_number", 2, 1, 1): ["AA AA AB", "AA AA BB"],
    ("no_zygosity", 2, 2, 1): ["AA AA AAB"],
    ("no_zygosity", 2, 1, 0): ["AA AA B"],
    ("AB", 1, 3, 1): ["AA AA AB"],
    ("BB", 1, 3, 1): ["AA AA BB"],
}


def brute_force(reads, states, phi, e, precision=None):
    """log p(variant reads | prevalence phi), from genotypes letter by letter."""
    ref, alt, *_, t = reads
    log_terms = []
    for state in states:
        cells = zip((1 - t, t * (1 - phi), t * phi), state.split(), strict=True)
        shown = copies = 0.0
        for share, genotype in cells:
            n, c = genotype.count("B"), len(genotype)
            shown += share * c * (e if n == 0 else 1 - e if n == c else n / c)
            copies += share * c
        x, d = shown / copies, ref + alt
        if precision is None:
            log_terms.append(binom.logpmf(alt, d, x))
        else:
            log_terms.append(betabinom.logpmf(alt, d, precision * x, precision * (1 - x)))
    return logsumexp(log_terms) - math.log(len(states))


def marginal_of(likelihood, precision=None):
    """The log marginal of some rows, every sum written out."""

    @functools.cache  # the same row is in many sets of rows
    def log_terms(reads):
        grid = np.arange(likelihood.n_grid) / (likelihood.n_grid - 1)
        states = STATES[likelihood.genotypes, *map(int, reads[2:5])]
        e = likelihood.error_rate
        return np.array([brute_force(reads, states, phi, e, precision) for phi in grid])

    def marginal(rows):
        value = 0.0
        for s in range(rows.shape[1] // 6):
            sums = np.zeros(likelihood.n_grid)
            for reads in rows[:, 6 * s : 6 * s + 6]:
                if not np.isnan(reads[0]):
                    sums += log_terms(tuple(reads))
            value += logsumexp(sums) - math.log(likelihood.n_grid)
        return value

    return marginal


def some_reads(n, copies, n_samples=1, depth=40, seed=0):
    """Mutations of various prevalence, with cycling copy numbers."""
    rng = np.random.default_rng(seed)
    depth = rng.poisson(depth, size=(n, n_samples)) + 1
    alt = rng.binomial(depth, rng.uniform(0, 0.5, size=(n, 1)))
    turns = np.array(copies)[np.arange(n * n_samples).reshape(n, -1) % len(copies)]
    content = rng.uniform(0.4, 1.0, size=depth.shape)
    reads = [depth - alt, alt, *np.moveaxis(turns, 2, 0), content]
    return np.stack(reads, axis=2).reshape(n, -1).astype(float)


def clusters(n_blocks, n=60, depth=60, n_samples=2):
    """Mutations; every n_blocks-th has the same prevalences."""
    rng = np.random.default_rng(2)
    phi = rng.random((n_blocks, n_samples))[np.arange(n) % n_blocks]
    reads = np.empty((n, n_samples, 6))
    reads[..., 1] = rng.binomial(depth, phi / 2)
    reads[..., 0] = depth - reads[..., 1]
    reads[..., 2:] = 2, 1, 1, 1
    return reads.reshape(n, -1)


def test_golden_numbers():
    def reads(b, d, major, minor):
        return [d - b, b, 2, major, minor, 0.8]

    single = {
        -3.04598693: reads(12, 50, 2, 1),
        -4.24971303: reads(30, 70, 2, 0),
        -2.11557265: reads(0, 20, 1, 1),
    }
    for value, row in single.items():
        bound, _ = filled(PyClone(), np.array([row]), row)
        assert ops.log_marginal(bound, 0) == pytest.approx(value, abs=1e-8)
    three = np.array([reads(12, 50, 2, 1), reads(30, 70, 2, 1), reads(0, 20, 2, 1)])
    bound, _ = filled(PyClone(), three, three[0])
    assert ops.log_marginal(bound, 0) == pytest.approx(-12.24071345, abs=1e-8)


@pytest.mark.parametrize("genotypes", GENOTYPES)
@pytest.mark.parametrize("precision", [None, 30.0])
def test_matches_mixtures_over_genotypes(genotypes, precision):
    copies = [key[1:] for key in STATES if key[0] == genotypes]
    X = some_reads(7, copies)
    density = "binomial" if precision is None else "beta_binomial"
    likelihood = PyClone(
        genotypes=genotypes, density=density, precision=precision or 1.0, error_rate=0.01, n_grid=21
    )
    assert_matches(likelihood, X[:-1], X[-1], marginal_of(likelihood, precision))


def test_samples_multiply_and_a_missing_one_says_nothing():
    X = some_reads(7, [(2, 2, 1), (2, 1, 1)], n_samples=3)
    X[1, :6] = X[3, 6:] = X[6, 12:] = np.nan
    likelihood = PyClone(n_grid=13)
    assert_matches(likelihood, X[:-1], X[-1], marginal_of(likelihood))


def test_without_missing_rows_the_posterior_is_the_same_to_the_last_bit():
    X = some_reads(6, [(2, 2, 1), (2, 1, 1)])
    more = np.vstack([X[:3], np.full((2, 6), np.nan), X[3:]])
    bound, _ = filled(PyClone(), more[:-1], more[-1])
    alone, _ = filled(PyClone(), X[:-1], X[-1])
    np.testing.assert_array_equal(bound.posterior[0], alone.posterior[0])
    assert ops.log_marginal(bound, 0) == ops.log_marginal(alone, 0)
    assert ops.log_predictive(bound, 0, 3) == ops.log_predictive(bound, 1, 3) == 0.0
    assert ops.log_predictive_without(bound, 0, 3) == 0.0


def test_zero_reads_say_nothing_either():
    X = some_reads(6, [(2, 2, 1), (2, 1, 1)])
    X[2, :2] = 0
    bound, _ = filled(PyClone(), X[:-1], X[-1])
    assert ops.log_predictive(bound, 0, 2) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("depth", [300, 3000, 30_000])
def test_deep_reads_lose_no_digits(depth):
    """Blocks that hardly overlap with an item, or not at all: where products underflow."""
    X = some_reads(7, [(2, 1, 1)], n_samples=2, depth=depth)
    X[-1, :2] = X[-1, [1, 0]]
    likelihood = PyClone(n_grid=51)
    assert_matches(likelihood, X[:-1], X[-1], marginal_of(likelihood), tolerance=1e-10)
    check_likelihood(likelihood, X)
    assert_matches(likelihood, X[[0, 0, 0]], X[-1], marginal_of(likelihood), tolerance=1e-10)


def test_certain_ends_of_the_grid():
    """A small error rate, pure tumours and copies all mutated: chances e and 1 - e themselves."""
    X = np.array([[0, 30, 2, 1, 0, 1], [25, 0, 2, 1, 0, 1], [3, 20, 2, 1, 0, 1]], float)
    for e in (2e-9, 1e-6, 0.49):
        bound, new = filled(PyClone(error_rate=e, n_grid=5), X[:-1], X[-1])
        ops.add(bound, 0, new)
        grid, states = np.linspace(0, 1, 5), ["AA AA B", "AA A B"]
        sums = sum(np.array([brute_force(x, states, phi, e) for phi in grid]) for x in X)
        expected = logsumexp(sums) - math.log(5)
        assert ops.log_marginal(bound, 0) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("density", ["binomial", "beta_binomial"])
def test_probabilities_sum_to_one_over_the_reads(density):
    """Over all numbers of variant reads in both samples at given depths."""
    likelihood = PyClone(n_grid=9, density=density, precision=5.0)
    seen = some_reads(5, [(2, 2, 1), (2, 1, 1)], n_samples=2)
    bound, _ = filled(likelihood, seen[:-1], seen[-1])
    rows = np.array(
        [
            [6 - a, a, 2, 2, 1, 0.7, 9 - b, b, 2, 1, 1, 0.9]
            for a, b in itertools.product(range(7), range(10))
        ]
    )
    new = likelihood.rows(bound, rows)
    for k in (0, 1):
        total = sum(math.exp(ops.log_predictive(new, k, i)) for i in range(len(rows)))
        assert total == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("depth", [20, 60, 2000])
@pytest.mark.parametrize("n_samples", [1, 3])
def test_weights_of_many_slots(depth, n_samples):
    X = clusters(19, depth=depth, n_samples=n_samples)
    X[5, :6] = np.nan
    assert_weights(PyClone(), X, 19)


def test_hopeless_slots_are_not_looked_at_twice(monkeypatch):
    """Sums of logarithms, in plain Python, are used only where they may matter."""
    X = clusters(4, n=12, depth=3000, n_samples=1)
    X[:, 1] = np.repeat([20, 500, 900, 1400], 3)[np.arange(12) % 4 * 3]
    X[:, 0] = 3000 - X[:, 1]
    bound, partition = PyClone().bind(X, 6), new_partition(12, 6)
    partition.n_blocks[0] = 4
    partition.log_prior[:5] = 0.0
    for k in range(5):
        ops.clear(bound, k)
    for i in range(12):
        ops.add(bound, i % 4, i)
    asked = []
    log_sum = kernels.log_sum
    monkeypatch.setattr(
        kernels, "log_sum", lambda p, q, sign: asked.append(sign) or log_sum(p, q, sign)
    )
    assert list_weights(bound, 4, 0, 1.0, 2.0, partition) == 1
    assert asked == ([-1.0] if DISABLED else [])  # compiled code calls what it was compiled with
    assert list_weights(bound, 4, 0, 1.0, math.inf, partition) == 5
    assert asked.count(1.0) == (3 if DISABLED else 0)


def test_an_emptied_slot_is_a_cleared_one():
    assert_emptied_is_cleared(PyClone(), some_reads(7, [(2, 2, 1)], n_samples=2))


def test_a_copy_onto_a_narrow_posterior_is_whole():
    deep = [[5000, 50, 2, 1, 1, 1.0]] * 2
    X = np.vstack([some_reads(5, [(2, 1, 1)], depth=10), deep])
    bound, new = filled(PyClone(), X[:4], X[4:])
    for i in (5, 6):
        ops.add(bound, 1, i)
    ops.copy(bound, 1, 0)
    assert ops.log_predictive(bound, 1, new) == ops.log_predictive(bound, 0, new)
    assert ops.log_marginal(bound, 1) == ops.log_marginal(bound, 0)


def test_new_rows_share_the_slots():
    X = some_reads(6, [(2, 2, 1), (2, 1, 1)], n_samples=2)
    bound, new = filled(PyClone(), X[:-1], X[-1])
    other = PyClone().rows(bound, X[[5]])
    assert shares_slots(bound, other)
    assert other.n_items == 1
    for k in (0, 1):
        assert ops.log_predictive(other, k, 0) == ops.log_predictive(bound, k, new)


@pytest.mark.parametrize("density", ["binomial", "beta_binomial"])
def test_samples_follow_the_predictive(density):
    rng = np.random.default_rng(0)
    X = np.tile([[14, 6, 2, 2, 1, 0.8, 18, 2, 2, 1, 1, 0.9]], (4, 1))
    likelihood = PyClone(density=density, precision=4.0)
    bound, _ = filled(likelihood, X[:-1], X[-1])
    for k in (0, 1):
        draws = np.array([likelihood.sample(bound, k, rng) for _ in range(3000)])
        assert draws.dtype == float
        np.testing.assert_array_equal(draws[:, 2:6], X[0, 2:6] + 0 * draws[:, 2:6])
        for first in (0, 6):
            assert (draws[:, first] + draws[:, first + 1] == 20).all()
            rows = np.tile(X[:1], (21, 1))
            rows[:, first + 1] = np.arange(21)
            rows[:, first] = 20 - rows[:, first + 1]
            rows[:, 6 - first : 12 - first] = np.nan
            new = likelihood.rows(bound, rows)
            p = np.exp([ops.log_predictive(new, k, i) for i in range(21)])
            counts = np.bincount(draws[:, first + 1].astype(int), minlength=21)
            large = 3000 * p > 5
            statistic = ((counts - 3000 * p)[large] ** 2 / (3000 * p[large])).sum()
            assert statistic < 2 * large.sum() + 15


def test_samples_lack_what_the_data_lack():
    X = some_reads(4, [(2, 2, 1)], n_samples=2)
    X[:, 6:] = np.nan
    bound, _ = filled(PyClone(), X[:-1], X[-1])
    assert np.isnan(PyClone().sample(bound, 0, np.random.default_rng(0))[6:]).all()


def test_features_are_prevalences():
    X = np.array([[500, 500, 2, 1, 1, 1], [900, 100, 2, 1, 1, 1], [600, 200, 2, 1, 1, 0.5]], float)
    X = np.hstack([X, X[::-1]])
    X[1, 6:] = np.nan
    found = PyClone().features(X)
    np.testing.assert_allclose(found[:, 0], [1.0, 0.2, 1.0], atol=0.05)
    np.testing.assert_allclose(found[[0, 2], 1], [1.0, 1.0], atol=0.05)
    assert found[1, 1] == pytest.approx(found[[0, 2], 1].mean())


GOOD = [50, 12, 2, 2, 1, 0.8]


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        (
            0,
            -1,
            r"copy numbers 0, 1, 2, \.\.\.; mutation 1 in sample 1 has ref_counts -1",
        ),
        (1, 2.5, "alt_counts 2.5"),
        (2, 0, "normal_cn of at least 1"),
        (3, 0, "major_cn of at least 1 .drop deleted"),
        (4, 3, "minor_cn of at most major_cn"),
        (5, 0, "tumour_content above 0 and at most 1"),
        (5, 1.5, "tumour_content above 0 and at most 1"),
        (1, np.nan, "all six values of a sample or none"),
    ],
)
def test_bad_values_get_one_sentence(column, value, message):
    X = np.tile(np.array(GOOD, float), (3, 2))
    bound = PyClone().bind(X)
    X[1, 6 + column] = value
    for use in (PyClone().bind, lambda X: PyClone().rows(bound, X)):
        with pytest.raises(ValueError, match=f"^PyClone needs .*{message}"):
            use(X)


def test_other_widths_are_refused():
    with pytest.raises(ValueError, match="got 5 columns"):
        PyClone().bind(np.ones((3, 5)))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_grid": 1}, "n_grid must be at least 2"),
        ({"n_grid": 10.0}, "n_grid must be an integer"),
        ({"density": "normal"}, "density must be one of 'binomial', 'beta_binomial'; got 'normal'"),
        ({"genotypes": "ABB"}, "genotypes must be one of 'major_copy_number'"),
        ({"error_rate": 0.0}, "error_rate must be greater than 1e-09"),
        ({"error_rate": 0.5}, "error_rate must be below 0.5"),
        ({"precision": -1.0}, "precision must be greater than 0"),
    ],
)
def test_bad_parameters_get_one_sentence(parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        PyClone(**parameters).bind(np.array([GOOD]))


def test_equal_reads_are_stored_once():
    X = np.tile(np.array(GOOD, float), (5, 2))
    assert PyClone().bind(X).terms.shape == (1, 104)


def test_only_tidy_tables_are_reshaped():
    X = SimpleNamespace(columns=["a ref_counts", "a alt_counts"])
    assert PyClone().table(X) is X
