"""Exact proofs that adaptive reconfiguration moves leave the posterior as it is.

What a move is told (two items, a refinement, an order) is given; then every random branch of it is
enumerated from every partition of a few items. Kernels are enumerated as plain Python only:
`test_arm` runs this file under NUMBA_DISABLE_JIT=1.
"""

import numpy as np
import pytest

from bnpcluster.likelihoods import Bernoulli
from bnpcluster.priors import MFM, DirichletProcess, FiniteDirichlet
from bnpcluster.samplers import JainNeal
from bnpcluster.samplers.reconfiguration.kernel import (
    MovePlan,
    make_pass,
    new_scratch,
    reconfigure,
    unbounded,
)
from bnpcluster.samplers.split_merge.anchors import Given
from bnpcluster.testing import all_partitions
from tests.samplers.split_merge.exact_kernel import (
    APART,
    COINS,
    EXTREME,
    FIVE,
    FIVE_COINS,
    FIVE_PLANE,
    NGG_PLANE,
    NIG,
    PLANE,
    PY_LINE,
    RELATIONAL,
    Chain,
    Target,
    assert_balance,
    canonical,
    check_balance,
)
from tests.tools.branches import outcomes, transition_matrix
from tests.tools.brute_force_relational import BruteForceRelational

VARIANTS = ("full", "singletons", "simple")
OTHER_GRAPH = np.zeros((5, 5))
for edge in ((0, 1), (1, 2), (0, 2), (2, 3), (3, 4)):
    OTHER_GRAPH[edge] = OTHER_GRAPH[edge[::-1]] = 1.0


class Moves(Chain):
    """Moves on a target that are told the same every time."""

    def __init__(self, target, i, j, refinement, order=None, variant="full"):
        self.state, self.absent = target.state(), target.absent
        n = len(target.X)
        r = np.arange(n) if variant == "simple" else np.array(refinement)
        order = np.arange(self.absent, n) if order is None else np.array(order)
        self.plan = MovePlan(np.array([i, j]), r, order, variant == "full")
        self.work = new_scratch(n)

    def step(self, partition, rng):
        self.put(partition)
        uniforms = [rng.random() for _ in range(2 * len(self.state.labels))]
        log_u = -rng.standard_exponential()
        reconfigure(self.state, self.plan, self.work, uniforms, log_u)
        return canonical(self.state.labels[self.absent :])

    def proposals(self, partition):
        """Exact distribution of the end of a first pass."""

        def run(rng):
            self.put(partition)
            uniforms = [rng.random() for _ in range(2 * len(self.state.labels))]
            self.make_pass(uniforms)
            return canonical(self.state.labels)

        return outcomes(run)

    def make_pass(self, uniforms, goal=None):
        problem, partition = self.state.problem, self.state.partition
        passing = problem._replace(log_v=unbounded(problem.log_v))
        if goal is not None:
            self.work.goal[:] = goal
        return make_pass(
            passing, partition, self.plan, self.work, uniforms, goal is not None, -np.inf
        )

    def forced(self, partition, goal):
        """Log probability of the one way from a partition to another."""
        self.put(partition)
        return self.make_pass(np.zeros(2 * len(goal)), goal)


FINITE_FIVE = Target(Bernoulli(), FiniteDirichlet(2, 0.7), COINS)
FINITE_SUPPORT = Target(NIG, MFM(0.8, [0.3, 0.5, 0.2]), APART)
FIVE_VERTICES = Target(BruteForceRelational(), DirichletProcess(0.7), OTHER_GRAPH)
FIVE_ABSENT = Target(NIG, DirichletProcess(0.8), np.vstack([APART[:1], APART]), beta=0.6, absent=1)
SIX = Target(Bernoulli(), DirichletProcess(1.0), np.vstack([COINS[:4], [[1, 0, 1], [0, 1, 0]]]))
RING = sum(np.roll(np.eye(6), shift, axis=1) for shift in (1, -1))
SIX_VERTICES = Target(BruteForceRelational(), DirichletProcess(0.7), RING)
SIX_POINTS = Target(FIVE_PLANE.likelihood, DirichletProcess(0.8), np.vstack([PLANE, [[0.3, 0.6]]]))
SIX_ITEMS = {
    "bernoulli": (SIX, 0, 2, [0, 0, 1, 1, 2, 2], [3, 0, 5, 4, 2, 1]),
    "niw": (SIX_POINTS, 1, 4, [0, 0, 0, 1, 1, 2], [2, 5, 4, 0, 3, 1]),
    "relational": (SIX_VERTICES, 0, 3, [0, 0, 1, 1, 1, 2], [1, 4, 0, 3, 2, 5]),
}
TARGETS = {
    "bernoulli-dp": (FIVE_COINS, 0, 2, [0, 0, 1, 1, 2], [3, 0, 4, 2, 1]),
    "bernoulli-one_block_each": (FIVE_COINS, 4, 1, [1, 0, 1, 1, 1], [1, 3, 4, 2, 0]),
    "bernoulli-finite": (FINITE_FIVE, 1, 3, [0, 0, 0, 1, 1], [4, 2, 3, 0, 1]),
    "nig-gnedin": (FIVE, 2, 0, [0, 0, 1, 2, 2], [2, 0, 1, 4, 3]),
    "nig-three_blocks_at_most": (FINITE_SUPPORT, 0, 4, [0, 1, 0, 1, 2], [0, 3, 2, 4, 1]),
    "niw-tempered": (FIVE_PLANE, 1, 2, [0, 0, 1, 1, 0], [4, 1, 2, 3, 0]),
    "niw-ngg": (NGG_PLANE, 0, 3, [0, 1, 0, 1], [2, 1, 3, 0]),
    "nig-py": (PY_LINE, 0, 1, [0, 1, 2, 2], [3, 2, 1, 0]),
    "nig-absent": (FIVE_ABSENT, 1, 5, [0, 1, 1, 0, 0, 0], [3, 5, 1, 2, 4]),
    "relational-four": (RELATIONAL, 0, 1, [0, 1, 2, 0], [2, 1, 0, 3]),
    "relational-five": (FIVE_VERTICES, 0, 4, [0, 0, 1, 1, 1], [1, 4, 0, 3, 2]),
    "niw-extreme": (EXTREME, 0, 3, [0, 0, 1, 1, 0], [2, 1, 3, 0, 4]),
}


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("told", SIX_ITEMS.values(), ids=SIX_ITEMS)
def test_a_move_of_six_items_is_in_detailed_balance(told, variant):
    test_a_move_is_in_detailed_balance(told, variant)


def told_and_variant():
    """Each target with the full variant, and with the others where there are four items."""
    for name, told in TARGETS.items():
        for variant in VARIANTS:
            quick = variant == "full" or len(told[0].X) == 4 or name == "nig-three_blocks_at_most"
            quick &= name != "relational-five"
            marks = [] if quick else [pytest.mark.slow]
            yield pytest.param(told, variant, id=f"{name}-{variant}", marks=marks)


@pytest.mark.parametrize(("told", "variant"), list(told_and_variant()))
def test_a_move_is_in_detailed_balance(told, variant):
    chain = Moves(*told, variant=variant)
    states, p = chain.posterior()
    matrix = transition_matrix(states, chain.step)
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)
    assert_balance(p, matrix)
    assert np.abs(p @ matrix - p).max() < 1e-10
    assert np.trace(matrix) < len(states) - 1.0


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", ["bernoulli-dp", "nig-three_blocks_at_most", "relational-five"])
def test_a_forced_pass_finds_the_one_way_and_its_probability(name, variant):
    """Forced passes give the same probabilities as free passes, summed over all ways."""
    chain = Moves(*TARGETS[name], variant=variant)
    partitions = [tuple(row.tolist()) for row in all_partitions(5)]
    for z in partitions[::5]:
        found = chain.proposals(z)
        for end in partitions:
            told = np.exp(chain.forced(z, end))
            assert told == pytest.approx(found.get(end, 0.0), abs=1e-12)


def test_the_way_back_exists_wherever_there_is_a_way():
    chain = Moves(*TARGETS["bernoulli-dp"])
    partitions = [tuple(row.tolist()) for row in all_partitions(5)]
    ways = np.array([[chain.forced(y, z) > -np.inf for z in partitions] for y in partitions])
    assert (ways == ways.T).all()
    assert ways.any(axis=1).all() and not ways.all()


def test_parts_are_placed_in_proportion_to_the_target():
    """The one choice of a pass: where the last two items go together, under a tempered target."""
    target = Target(NIG, DirichletProcess(0.8), APART[:4], beta=0.4)
    chain = Moves(target, 0, 1, [0, 1, 2, 2], [0, 1, 2, 3])
    p = dict(zip(*chain.posterior(), strict=True))
    ends = [(0, 1, 0, 0), (0, 1, 1, 1), (0, 1, 2, 2)]
    found = {end: np.exp(chain.forced((0, 0, 0, 0), end)) for end in ends}
    # The first of the two is placed for good; the second may leave it once more.
    total = sum(p[end] for end in ends)
    for end in ends:
        stays = {e: p[e] for e in p if e[:3] == end[:3]}
        expected = p[end] / total * p[end] / sum(stays.values())
        assert found[end] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("scans", [0, 1])
@pytest.mark.parametrize("name", ["bernoulli-dp", "nig-py", "relational-four", "nig-absent"])
def test_restricted_gibbs_from_an_archive_is_in_detailed_balance(name, scans):
    target, i, j, refinement, _ = TARGETS[name]
    sampler = JainNeal(n_restricted=scans, launch="archive")
    chain = Chain(sampler, target, Given(np.array([i, j])))
    chain.state.scratch["moves"][0].refinement[:] = refinement
    sampler.launch = "random"  # what a move is told is given already
    check_balance(chain, complete=False)


ALL, THREE = (0, 0, 0, 0, 0, 0), (0, 0, 1, 1, 0, 2)  # {012345} and {014}{23}{5}
GOLDEN = {
    (ALL, (0, 1, 1, 1, 1, 1)): (0.0976846775, 0.4170632517, 1.0),
    (ALL, (0, 0, 1, 1, 0, 1)): (0.0394471599, 0.3497410046, 1.0),
    (THREE, ALL): (0.1153510342, 0.0262981066, 1.0),
    (THREE, (0, 0, 0, 1, 0, 1)): (0.1013237789, 0.0129397196, 0.14711805),
    (THREE, (0, 1, 0, 1, 0, 1)): (0.0927714637, 0.0134763762, 0.21789636),
}


@pytest.mark.parametrize(("ways", "expected"), GOLDEN.items())
def test_probabilities_of_passes_are_those_of_an_independent_program(ways, expected):
    (z, end), (there, back, accept) = ways, expected
    chain = Moves(SIX, 0, 2, [0, 0, 1, 1, 2, 2])
    assert np.exp(chain.forced(z, end)) == pytest.approx(there, abs=1e-9)
    assert np.exp(chain.forced(end, z)) == pytest.approx(back, abs=1e-9)
    log_joint = []
    for partition in (z, end):
        chain.put(partition)
        log_joint.append(chain.state.log_joint())
    ratio = np.exp(log_joint[1] - log_joint[0]) * back / there
    assert min(1.0, ratio) == pytest.approx(accept, abs=1e-7)


def test_as_many_partitions_are_reached_as_an_independent_program_reaches():
    chain = Moves(SIX, 0, 2, [0, 0, 1, 1, 2, 2])
    for z, expected in ((ALL, 151), (THREE, 52)):
        ends = [chain.forced(z, tuple(row.tolist())) > -np.inf for row in all_partitions(6)]
        assert sum(ends) == expected
