"""Exact proofs that moves which split and merge leave the posterior as it is.

Every random branch of one move is enumerated, from every partition of a few items, which gives its
transition matrix. The moves are Metropolis-Hastings, so it must be in detailed balance with the
posterior. Kernels are enumerated as plain Python only: `test_pairs` runs this file under
NUMBA_DISABLE_JIT=1.
"""

import math
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest

from bnpcluster._core import operations as ops
from bnpcluster._core.state import State
from bnpcluster.likelihoods import Bernoulli, NormalInverseGamma, NormalInverseWishart
from bnpcluster.priors import MFM, NGG, DirichletProcess, FiniteDirichlet, PitmanYor
from bnpcluster.samplers import SAMS, JainNeal, SplitMerge
from bnpcluster.samplers.split_merge.anchors import Balanced, draw_anchors, log_anchor_probability
from bnpcluster.samplers.split_merge.frozen_anchors import TABLES, frozen_anchors, learn_table
from bnpcluster.samplers.split_merge.informed_anchors import Cluster, Threshold
from bnpcluster.samplers.split_merge.kernel import new_work
from bnpcluster.testing import all_partitions
from tests.tools.branches import outcomes, transition_matrix
from tests.tools.brute_force_relational import BruteForceRelational
from tests.tools.dossier import IMBALANCE, note

COINS = np.array([[1, 1, 1], [1, 1, 0], [0, 0, 1], [0, 0, 0], [1, 0, 1]], float)
LINE = np.array([[-1.2], [-0.7], [0.4], [1.1], [0.1]])
APART = np.array([[-2.1], [-1.9], [1.8], [2.2], [0.3]])
PLANE = np.array([[-1.0, 0.2], [-0.6, -0.5], [0.9, 0.4], [0.7, 1.3], [0.1, -0.9]])
GRAPH = np.array([[0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 1], [1, 0, 1, 0]], float)


class Target(NamedTuple):
    """A posterior of the partition of the rows after the first `absent`."""

    likelihood: Any
    prior: Any
    X: np.ndarray
    beta: float = 1.0
    absent: int = 0

    def state(self):
        labels = np.arange(len(self.X)) >= self.absent
        bound = self.likelihood.bind(self.X, 12)
        return State(bound, self.prior, labels - 1, beta=self.beta, capacity=12)

    def with_table(self, anchors, stored):
        """A state with the anchors' table of a stored partition, after warm-up."""
        state = self.state()
        state.labels[self.absent :] = stored
        state.rebuild()
        state.adapting = True
        assert learn_table(anchors, state)
        state.adapting = False
        return state


class Fixed(NamedTuple):
    """Anchors that are given."""

    one: int
    two: int


@draw_anchors.register(Fixed)
def _draw_fixed(distribution, problem, partition, work, rng):
    work.anchors[0], work.anchors[1] = distribution.one, distribution.two


@log_anchor_probability.register(Fixed)
def _log_fixed(distribution, problem, partition, work, own, other):
    return 0.0


class Uncorrected(NamedTuple):
    """Balanced anchors with a planted bug: the move takes them for uniform ones."""


draw_anchors.register(Uncorrected)(draw_anchors.find(Balanced))
log_anchor_probability.register(Uncorrected)(_log_fixed)


def canonical(labels):
    """Blocks numbered by first item."""
    seen = {}
    return tuple(seen.setdefault(k, len(seen)) for k in labels.tolist())


STORED = [0, 1, 0, 2, 1]


def start(sampler, target):
    """A state, with the table of a stored partition if the sampler needs one."""
    anchors = getattr(sampler, "anchors", "uniform")
    if anchors not in TABLES:
        return target.state()
    return target.with_table(anchors, STORED[: len(target.X) - target.absent])


class Chain:
    """One move of a sampler on a target, its anchors drawn from `distribution` if given."""

    def __init__(self, sampler, target, distribution=None):
        self.sampler = sampler.set_params(n_moves=1, n_gibbs=0)
        self.state, self.absent = start(sampler, target), target.absent
        if distribution is not None:
            work = new_work(self.state.problem.likelihood, len(target.X))
            plan = sampler._plan(self.state)[1]
            self.state.scratch = {"moves": (work, distribution, plan)}

    def put(self, partition):
        self.state.labels[self.absent :] = partition
        self.state.rebuild()

    def step(self, partition, rng):
        self.put(partition)
        self.sampler.step(self.state, rng)
        return canonical(self.state.labels[self.absent :])

    def outcomes(self, partition):
        return outcomes(lambda rng: self.step(partition, rng))

    def posterior(self):
        """Partitions of positive probability, and their probabilities."""
        log_mass = {}
        for row in all_partitions(self.state.n_items):
            self.put(row)
            log_mass[tuple(row.tolist())] = self.state.log_joint()
        states = [z for z, value in log_mass.items() if value > -math.inf]
        log_p = np.array([log_mass[z] for z in states])
        return states, np.exp(log_p - np.logaddexp.reduce(log_p))

    def matrix(self):
        states, p = self.posterior()
        return states, p, transition_matrix(states, self.step)


def one_merge_apart(y, z):
    """Whether z is y with two of its blocks merged."""
    return max(y) == max(z) + 1 and len(set(zip(y, z, strict=True))) == max(y) + 1


def imbalance(p, matrix):
    flow = p[:, None] * matrix
    return np.abs(flow - flow.T)


def assert_balance(p, matrix):
    """Detailed balance, absolutely."""
    largest = imbalance(p, matrix).max()
    assert largest < 1e-10
    note(IMBALANCE, largest, f"{len(p)} partitions")


def check_balance(chain, complete=True):
    """Detailed balance, absolutely and relatively; all splits and merges if `complete`."""
    states, p, matrix = chain.matrix()
    flow = p[:, None] * matrix
    assert len(states) > 10 and np.trace(matrix) < len(states) - 1.0
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)
    assert_balance(p, matrix)
    np.testing.assert_allclose(flow, flow.T, rtol=1e-8, atol=1e-15)
    assert np.abs(p @ matrix - p).max() < 1e-10
    for (a, y), (b, z) in product(enumerate(states), repeat=2):
        neighbours = one_merge_apart(y, z) or one_merge_apart(z, y)
        if a != b and not neighbours:
            assert matrix[a, b] == 0.0
        elif neighbours and complete:
            assert matrix[a, b] > 0.0


LaunchOnly = partial(SplitMerge, n_restricted=0)  # scans multiply the branches
DP, PY, FINITE = DirichletProcess(0.8), PitmanYor(0.7, 0.4), FiniteDirichlet(3, 0.7)
NGG_PRIOR, GNEDIN = NGG(1.0, 0.5), MFM(1.0, ("gnedin", 0.5))
NIG, NIW = NormalInverseGamma(), NormalInverseWishart()
DP_COINS = Target(Bernoulli(), DP, COINS[:4])
PY_LINE = Target(NIG, PY, LINE[:4])
FINITE_COINS = Target(Bernoulli(), FINITE, COINS[:4])
NGG_PLANE = Target(NIW, NGG_PRIOR, PLANE[:4])
GNEDIN_LINE = Target(NIG, GNEDIN, LINE[:4])
TEMPERED = Target(NIG, PY, APART[:4], beta=0.4)
ABSENT = Target(Bernoulli(), GNEDIN, COINS, absent=1)
SEPARATED = Target(NIG, DP, 3.0 * APART[:4])
SPACE = Target(NIW, PY, np.column_stack([PLANE, PLANE[::-1, :1]])[:4])
FIVE = Target(NIG, GNEDIN, LINE)
FIVE_COINS = Target(Bernoulli(), DP, COINS)
FIVE_PLANE = Target(NIW, FINITE, PLANE, beta=0.4)
# The second row leaves the others of its block no digits.
EXTREME = Target(NIW, DP, PLANE + np.outer(np.arange(5) == 1, [1e10, 0.0]), beta=2e-3)

CASES = {
    "jain_neal-no_scan-dp": (JainNeal(n_restricted=None), DP_COINS),
    "jain_neal-no_scan-tempered": (JainNeal(n_restricted=None), TEMPERED),
    "jain_neal-0-py": (JainNeal(n_restricted=0), PY_LINE),
    "jain_neal-0-finite": (JainNeal(n_restricted=0), FINITE_COINS),
    "jain_neal-0-tempered": (JainNeal(n_restricted=0), TEMPERED),
    "jain_neal-0-absent": (JainNeal(n_restricted=0), ABSENT),
    "jain_neal-1-ngg": (JainNeal(n_restricted=1), NGG_PLANE),
    "sams-uniform-random-ngg": (SAMS(), NGG_PLANE),
    "sams-uniform-decisive-finite": (SAMS(order="decisive"), FINITE_COINS),
    "sams-uniform-alternate-tempered": (SAMS(order="alternate"), TEMPERED),
    "sams-balanced-random-absent": (SAMS(anchors="balanced"), ABSENT),
    "sams-balanced-decisive-py": (SAMS(anchors="balanced", order="decisive"), PY_LINE),
    "sams-balanced-decisive-finite": (SAMS(anchors="balanced", order="decisive"), FINITE_COINS),
    "sams-balanced-decisive-five": (SAMS(anchors="balanced", order="decisive"), FIVE),
    "sams-balanced-random-five": (SAMS(anchors="balanced"), FIVE_PLANE),
    "sams-mixed-decisive-py": (SAMS(anchors="mixed", order="decisive"), PY_LINE),
    "sams-mixed-random-absent": (SAMS(anchors="mixed"), ABSENT),
    "sams-mixed-five": (SAMS(anchors="mixed"), FIVE_PLANE),
    "sams-mixed-finite": (SAMS(anchors="mixed"), FINITE_COINS),
    "sams-cluster-random-ngg": (SAMS(anchors="cluster"), NGG_PLANE),
    "sams-cluster-decisive-tempered": (SAMS(anchors="cluster", order="decisive"), TEMPERED),
    "sams-cluster-decisive-five": (SAMS(anchors="cluster", order="decisive"), FIVE),
    "sams-threshold-random-gnedin": (SAMS(anchors="threshold"), GNEDIN_LINE),
    "sams-threshold-decisive-absent": (SAMS(anchors="threshold", order="decisive"), ABSENT),
    "sams-threshold-decisive-tempered": (SAMS(anchors="threshold", order="decisive"), TEMPERED),
    "sams-threshold-decisive-separated": (SAMS(anchors="threshold", order="decisive"), SEPARATED),
    "sams-frozen-cluster-py": (SAMS(anchors="frozen_cluster"), PY_LINE),
    "sams-frozen-cluster-five": (SAMS(anchors="frozen_cluster", order="decisive"), FIVE),
    "sams-frozen-threshold-absent": (SAMS(anchors="frozen_threshold"), ABSENT),
    "hard-frozen-cluster-tempered": (
        LaunchOnly(launches=["hard"], anchors="frozen_cluster"),
        TEMPERED,
    ),
    "two_means-dp": (LaunchOnly(launches=["two_means"]), Target(NIG, DP, APART[:4])),
    "two_means-uniform-five": (LaunchOnly(launches=["two_means"], anchors="uniform"), FIVE),
    "whitened-five": (LaunchOnly(launches=["whitened_two_means"]), FIVE_PLANE),
    "whitened-ngg": (LaunchOnly(launches=["whitened_two_means"]), NGG_PLANE),
    "whitened-py-space": (LaunchOnly(launches=["whitened_two_means"]), SPACE),
    "whitened-cluster-five": (
        LaunchOnly(launches=["whitened_two_means"], anchors="cluster"),
        FIVE_PLANE,
    ),
    "hard-five": (LaunchOnly(launches=["hard"]), FIVE_COINS),
    "hard-finite": (LaunchOnly(launches=["hard"]), FINITE_COINS),
    "hard-threshold-tempered": (LaunchOnly(launches=["hard"], anchors="threshold"), TEMPERED),
    "hard-1-absent": (SplitMerge(launches=["hard"], n_restricted=1), ABSENT),
    "sequential-gnedin": (LaunchOnly(launches=["sequential"]), GNEDIN_LINE),
    "random-dp": (LaunchOnly(launches=["random"]), DP_COINS),
    "auto-plane": (LaunchOnly(), NGG_PLANE),
    "auto-extreme": (LaunchOnly(), EXTREME),
    "auto-coins": (LaunchOnly(), Target(Bernoulli(), PY, COINS[:4])),
}


@pytest.mark.parametrize(("sampler", "target"), CASES.values(), ids=CASES)
def test_a_move_is_in_detailed_balance(sampler, target):
    chain = Chain(sampler, target)
    check_balance(chain, complete="threshold" not in getattr(sampler, "anchors", ""))


def drawn(distribution, state):
    """The distribution of two ordered anchors."""
    work = new_work(state.problem.likelihood, len(state.labels))
    work.numbers[3] = state.n_blocks + 4

    def run(rng):
        draw_anchors(distribution, state.problem, state.partition, work, rng)
        return tuple(work.anchors.tolist())

    return outcomes(run)


@pytest.mark.parametrize(
    "target",
    [FIVE, ABSENT, TEMPERED, SEPARATED],
    ids=["five", "absent", "tempered", "separated"],
)
@pytest.mark.parametrize(
    ("anchors", "informed"), [("frozen_cluster", Cluster), ("frozen_threshold", Threshold)]
)
def test_frozen_anchors_are_those_of_the_stored_partition_in_every_state(
    anchors, informed, target, monkeypatch
):
    monkeypatch.setattr("bnpcluster.samplers.split_merge.informed_anchors.LEAST", 0.35)
    chain = Chain(SAMS(anchors=anchors), target)
    expected = drawn(informed(), chain.state)
    assert max(expected.values()) > 1.1 * min(expected.values())
    chain.put(np.arange(len(target.X) - target.absent) % 2)
    found = drawn(frozen_anchors(chain.state), chain.state)
    assert found.keys() == expected.keys()
    for pair, p in expected.items():
        assert found[pair] == pytest.approx(p, abs=1e-12)


@pytest.mark.parametrize("anchors", TABLES)
def test_anchors_without_a_table_are_uniform(anchors):
    state = ABSENT.state()
    found = drawn(frozen_anchors(state), state)
    assert len(found) == 12 and all(p == pytest.approx(1 / 12) for p in found.values())


class Following(Chain):
    """A planted bug: the table is that of the present partition."""

    def step(self, partition, rng):
        self.put(partition)
        self.state.guide, self.state.adapting = None, True
        self.sampler.step(self.state, rng)
        return canonical(self.state.labels[self.absent :])


def test_a_table_that_follows_the_state_is_noticed():
    _, p, matrix = Following(SAMS(anchors="frozen_cluster"), PY_LINE).matrix()
    assert np.abs(p @ matrix - p).max() > 1e-3


@pytest.mark.parametrize("anchors", [(0, 2), (3, 1)])
@pytest.mark.parametrize(
    "sampler",
    [
        pytest.param(JainNeal(n_restricted=1), id="jain_neal-1"),
        pytest.param(SplitMerge(launches=["hard"], n_restricted=2), id="hard-2"),
    ],
)
@pytest.mark.parametrize("target", [PY_LINE, FINITE_COINS], ids=["nig-py", "bernoulli-finite"])
def test_restricted_scans_keep_the_balance_of_given_anchors(sampler, target, anchors):
    check_balance(Chain(sampler, target, Fixed(*anchors)), complete=False)


@pytest.mark.parametrize("least", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("target", [PY_LINE, ABSENT], ids=["nig-py", "bernoulli-absent"])
def test_threshold_anchors_are_in_balance_whatever_the_threshold(monkeypatch, target, least):
    """Some blocks pass it, or only the best ones."""
    monkeypatch.setattr("bnpcluster.samplers.split_merge.informed_anchors.LEAST", least)
    check_balance(Chain(SAMS(anchors="threshold"), target), complete=False)


def mixed(samplers, weights, target):
    """The transition matrix of a random one of the samplers, for given anchors."""
    matrices = [Chain(sampler, target, Fixed(4, 1)).matrix()[2] for sampler in samplers]
    return np.average(matrices, axis=0, weights=weights)


def fill_backwards(state):
    """Fill the blocks from the last item to the first, so that sums are rounded in another way."""
    bound, labels = state.problem.likelihood, state.labels
    for k in range(state.n_blocks):
        ops.clear(bound, k)
    for i in np.flatnonzero(labels >= 0)[::-1]:
        ops.add(bound, labels[i], i)


class Backwards(Chain):
    """The same move, from blocks that were filled backwards."""

    def put(self, partition):
        super().put(partition)
        fill_backwards(self.state)


def test_moves_of_an_extreme_row_do_not_depend_on_rounding():
    """The target is nearly flat, so that the row has company."""
    _, p, matrix = Chain(SAMS(anchors="threshold"), EXTREME).matrix()
    assert_balance(p, matrix)
    _, _, other = Backwards(SAMS(anchors="threshold"), EXTREME).matrix()
    np.testing.assert_allclose(other, matrix, rtol=1e-6, atol=1e-12)


def test_an_extreme_row_is_like_any_at_beta_0():
    """A scan has a finite score for it, so that no product with beta = 0 is undefined."""
    matrices = [
        Chain(JainNeal(n_restricted=0), Target(NIW, DP, X, beta=0.0)).matrix()[2]
        for X in (EXTREME.X, PLANE)
    ]
    np.testing.assert_allclose(*matrices, atol=1e-12)


def test_each_move_draws_one_of_the_launches():
    names = ["two_means", "sequential", "two_means", "hard"]
    singly = [LaunchOnly(launches=[name]) for name in names]
    together = mixed([LaunchOnly(launches=names)], [1], FIVE)
    np.testing.assert_allclose(together, mixed(singly, [1, 1, 1, 1], FIVE), atol=1e-12)
    assert np.abs(together - mixed(singly, [1, 0, 0, 0], FIVE)).max() > 1e-3


def test_alternate_order_is_a_coin_between_the_others():
    both = [SAMS(order="random"), SAMS(order="decisive")]
    together = mixed([SAMS(order="alternate")], [1], FIVE)
    np.testing.assert_allclose(together, mixed(both, [1, 1], FIVE), atol=1e-12)
    assert np.abs(together - mixed(both, [0, 1], FIVE)).max() > 1e-3


TIED = {
    "nig": (NIG, [[2, 1], [1, 0], [0, 0], [0, 0], [0, 2]]),
    "niw": (NIW, [[2, 0], [0, 0], [1, 2], [1, 0], [1, 1]]),
    "space": (NIW, [[2, 0, 1], [0, 0, 1], [1, 2, 0], [1, 0, 1], [1, 1, 2]]),
}


@pytest.mark.parametrize("launch", ["two_means", "whitened_two_means", "hard"])
@pytest.mark.parametrize(("likelihood", "X"), TIED.values(), ids=TIED)
def test_rounding_does_not_break_ties_between_sides(likelihood, X, launch):
    """Rows on a grid may be as far from one centre as from the other, but for rounding errors."""
    target = Target(likelihood, DP, np.array(X, float))
    for anchors in ((0, 1), (3, 2)):
        check_balance(Chain(LaunchOnly(launches=[launch]), target, Fixed(*anchors)), complete=False)


ONE_BLOCK, TWO_PAIRS = (0, 0, 0, 0), (0, 0, 1, 1)
GOLDEN_SPLITS = [(0, 0, 0, 0), (0, 0, 1, 0), (0, 0, 1, 1), (0, 1, 1, 0), (0, 1, 1, 1)]
GOLDEN = {
    "jain_neal-0": (
        JainNeal(n_restricted=0),
        [0.0, 0.2335447254, 0.5535874972, 0.0274668100, 0.1854009674],
        0.3587246982,
    ),
    "jain_neal-1": (
        JainNeal(n_restricted=1),
        [0.0, 0.2216553958, 0.5254053827, 0.0326373189, 0.2203019026],
        0.3404626880,
    ),
    "sams": (SAMS(), [0.0, 0.2057780929, 0.5626373626, 0.0258064516, 0.2057780929], 0.3645890110),
}


@pytest.mark.parametrize(("sampler", "splits", "merge"), GOLDEN.values(), ids=GOLDEN)
def test_probabilities_of_one_move_are_those_of_an_independent_program(sampler, splits, merge):
    target = Target(Bernoulli(), DirichletProcess(1.0), COINS[:4])
    chain = Chain(sampler, target, Fixed(0, 2))
    found = chain.outcomes(ONE_BLOCK)
    assert set(found) <= set(GOLDEN_SPLITS)
    for z, expected in zip(GOLDEN_SPLITS, splits, strict=True):
        assert found.get(z, 0.0) == pytest.approx(expected, abs=1e-9)
    found = chain.outcomes(TWO_PAIRS)
    assert set(found) == {ONE_BLOCK, TWO_PAIRS}
    assert found[ONE_BLOCK] == pytest.approx(merge, abs=1e-9)


def test_a_simple_random_split_is_accepted_by_the_ratio_of_posteriors():
    chain = Chain(JainNeal(n_restricted=None), DP_COINS, Fixed(0, 2))
    p = dict(zip(*chain.posterior(), strict=True))
    found = chain.outcomes(ONE_BLOCK)
    for z in GOLDEN_SPLITS[1:]:
        assert found[z] == pytest.approx(min(1.0, 4.0 * p[z] / p[ONE_BLOCK]) / 4.0, abs=1e-12)


RELATIONAL = Target(BruteForceRelational(), DirichletProcess(1.0), GRAPH)
GOLDEN_RELATIONAL = {
    (0, 0, 0, 0): 0.185836,
    (0, 1, 0, 0): 0.135506,
    (0, 1, 1, 1): 0.135506,
    (0, 1, 2, 2): 0.090337,
    (0, 1, 2, 3): 0.050815,
    (0, 0, 0, 1): 0.045169,
    (0, 0, 1, 0): 0.045169,
    (0, 1, 0, 2): 0.045169,
    (0, 1, 1, 2): 0.045169,
    (0, 1, 2, 0): 0.045169,
    (0, 1, 2, 1): 0.045169,
    (0, 1, 0, 1): 0.040652,
    (0, 1, 1, 0): 0.040652,
    (0, 0, 1, 1): 0.027101,
    (0, 0, 1, 2): 0.022584,
}


def test_the_relational_posterior_is_the_published_one():
    states, p = Chain(SAMS(), RELATIONAL).posterior()
    assert dict(zip(states, p, strict=True)) == pytest.approx(GOLDEN_RELATIONAL, abs=5.1e-7)


@pytest.mark.parametrize(
    ("sampler", "beta"),
    [
        pytest.param(JainNeal(n_restricted=None), 1.0, id="jain_neal-no_scan"),
        pytest.param(JainNeal(n_restricted=0), 1.0, id="jain_neal-0"),
        pytest.param(JainNeal(n_restricted=1), 1.0, id="jain_neal-1"),
        pytest.param(SAMS(anchors="balanced", order="decisive"), 1.0, id="sams-decisive"),
        pytest.param(SAMS(), 0.4, id="sams-tempered"),
    ],
)
def test_a_likelihood_that_does_not_factorise_is_in_detailed_balance(sampler, beta):
    target = RELATIONAL._replace(beta=beta)
    if getattr(sampler, "n_restricted", None) == 1:
        check_balance(Chain(sampler, target, Fixed(2, 0)), complete=False)
    else:
        check_balance(Chain(sampler, target))


def test_uncorrected_anchors_are_noticed():
    _, p, matrix = Chain(SAMS(), DP_COINS, Uncorrected()).matrix()
    assert imbalance(p, matrix).max() > 1e-3
    assert np.abs(p @ matrix - p).max() > 1e-3
