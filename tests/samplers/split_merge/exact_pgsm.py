"""Exact proofs that particle Gibbs moves leave the posterior as it is; see `exact_kernel`.

For given anchors a move is reversible, and so is a move that draws them and corrects for their
probability: its transition matrix is in detailed balance with the posterior.
"""

from typing import NamedTuple

import numpy as np
import pytest

from bnpcluster.likelihoods import Bernoulli, NormalInverseGamma
from bnpcluster.priors import MFM, DirichletProcess, FiniteDirichlet, PitmanYor
from bnpcluster.samplers import PGSM
from bnpcluster.samplers.split_merge.anchors import Uniform, draw_anchors, log_anchor_probability
from bnpcluster.samplers.split_merge.informed_anchors import Cluster
from tests.samplers.split_merge.exact_kernel import (
    APART,
    COINS,
    LINE,
    Chain,
    Fixed,
    Target,
    assert_balance,
    imbalance,
    start,
)


class Uncorrected(NamedTuple):
    """Cluster-informed anchors with a planted bug: the move takes them for uniform ones."""


draw_anchors.register(Uncorrected)(draw_anchors.find(Cluster))
log_anchor_probability.register(Uncorrected)(log_anchor_probability.find(Uniform))


class ParticleChain(Chain):
    """One particle Gibbs move on a target, its anchors drawn from `distribution` if given."""

    def __init__(self, sampler, target, distribution=None):
        self.sampler = sampler.set_params(n_moves=1, n_gibbs=0)
        self.state, self.absent = start(sampler, target), target.absent
        for _ in range(2):
            self.state.enlarge()
        if distribution is not None:
            work, swarm, _, order, threshold = self.sampler._prepare(self.state)
            self.state.scratch = {"pgsm": (work, swarm, distribution, order, threshold)}


DP = DirichletProcess(1.0)
DP_COINS = Target(Bernoulli(), DP, COINS[:4])
FINITE = Target(NormalInverseGamma(), FiniteDirichlet(3, 0.7), LINE[:4])
DP_FEW = Target(Bernoulli(), DP, COINS[:4], absent=1)
PAPER = {"order": "random", "resample_threshold": 0.5}
BASIC = {"order": "random", "targets": "basic"}
CASES = {
    "two-particles": (PGSM(n_particles=2, **PAPER), DP_COINS),
    "no-resampling": (PGSM(n_particles=2, order="alternate"), DP_FEW),
    "three-particles": (
        PGSM(n_particles=3, order="decisive", resample_threshold=0.9),
        Target(NormalInverseGamma(), PitmanYor(0.7, 0.4), APART[:4], absent=1),
    ),
    "always-resampled": (PGSM(n_particles=2, order="decisive", resample_threshold=1.0), FINITE),
    "three-anchors-two-blocks-at-most": (
        PGSM(n_particles=2, n_anchors=3, order="random", resample_threshold=0.0),
        Target(Bernoulli(), FiniteDirichlet(2, 0.7), COINS[:4], absent=1),
    ),
    "as-many-anchors-as-items": (
        PGSM(n_particles=2, n_anchors=3, resample_threshold=1.0),
        Target(Bernoulli(), MFM(1.0, ("gnedin", 0.5)), COINS[:4], absent=1),
    ),
    "balanced-anchors": (PGSM(n_particles=2, anchors="balanced", order="decisive"), DP_COINS),
    "mixed-anchors": (PGSM(n_particles=2, anchors="mixed", order="decisive"), DP_COINS),
    "cluster-informed-anchors": (
        PGSM(n_particles=2, anchors="cluster", order="decisive"),
        Target(NormalInverseGamma(), PitmanYor(0.7, 0.4), APART[:4], beta=0.4),
    ),
    "frozen-cluster-informed-anchors": (
        PGSM(n_particles=2, anchors="frozen_cluster", **PAPER),
        Target(NormalInverseGamma(), PitmanYor(0.7, 0.4), APART[:4], beta=0.4),
    ),
    "frozen-threshold-informed-anchors": (
        PGSM(n_particles=2, anchors="frozen_threshold", order="decisive"),
        DP_FEW,
    ),
    "basic-targets": (PGSM(n_particles=2, resample_threshold=0.5, **BASIC), DP_COINS),
    "basic-targets-always-resampled": (
        PGSM(n_particles=2, resample_threshold=1.0, order="decisive", targets="basic"),
        Target(NormalInverseGamma(), FiniteDirichlet(3, 0.7), LINE[:4], beta=0.4),
    ),
    "basic-targets-three-anchors": (
        PGSM(n_particles=2, n_anchors=3, resample_threshold=0.9, **BASIC),
        Target(Bernoulli(), MFM(1.0, ("gnedin", 0.5)), COINS[:4], absent=1),
    ),
    "basic-targets-two-blocks-at-most": (
        PGSM(n_particles=2, n_anchors=3, resample_threshold=0.0, **BASIC),
        Target(Bernoulli(), FiniteDirichlet(2, 0.7), COINS[:4], absent=1),
    ),
    "threshold-informed-anchors": (
        PGSM(n_particles=2, anchors="threshold", order="decisive"),
        FINITE,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_moves_are_in_detailed_balance(case):
    states, p, matrix = ParticleChain(*CASES[case]).matrix()
    assert np.trace(matrix) < len(states) - 1.0
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)
    assert_balance(p, matrix)
    assert np.abs(p @ matrix - p).max() < 1e-10


def test_three_anchors_are_in_detailed_balance():
    """Two of them are given, the third is drawn; with three blocks at most."""
    sampler = PGSM(n_particles=2, n_anchors=3, order="random")
    _, p, matrix = ParticleChain(sampler, FINITE, Fixed(0, 2)).matrix()
    assert_balance(p, matrix)


@pytest.mark.parametrize("threshold", [0.95, 1.0])
def test_resampled_particles_are_in_detailed_balance(threshold):
    """Three particles that resample often."""
    sampler = PGSM(n_particles=3, order="decisive", resample_threshold=threshold)
    _, p, matrix = ParticleChain(sampler, DP_COINS, Fixed(0, 2)).matrix()
    assert_balance(p, matrix)


GOLDEN_STATES = [(0, 0, 0, 0), (0, 0, 1, 0), (0, 0, 1, 1), (0, 1, 1, 0), (0, 1, 1, 1)]
GOLDEN = {
    (0, 0, 1, 1): [0.1335893108, 0.0547866087, 0.7493956113, 0.0074418605, 0.0547866087],
    (0, 0, 0, 0): [0.6279798000, 0.0778421443, 0.2061563438, 0.0101795676, 0.0778421443],
}


GOLDEN_BASIC = [0.1417296643, 0.0688017877, 0.7113211681, 0.0093455922, 0.0688017877]
KINDS = [
    *[pytest.param("improved", z, p, id=f"improved-{max(z) + 1}") for z, p in GOLDEN.items()],
    pytest.param("basic", (0, 0, 1, 1), GOLDEN_BASIC, id="basic-2"),
]


@pytest.mark.parametrize(("targets", "before", "expected"), KINDS)
def test_golden_transition_probabilities(targets, before, expected):
    chain = ParticleChain(PGSM(n_particles=2, targets=targets, **PAPER), DP_COINS, Fixed(0, 2))
    distribution = chain.outcomes(before)
    found = [distribution.pop(z) for z in GOLDEN_STATES]
    np.testing.assert_allclose(found, expected, atol=1e-10)
    assert not distribution


def test_uncorrected_anchors_break_the_balance():
    """The harness has the power to see it."""
    sampler = PGSM(n_particles=2, anchors="cluster", order="decisive")
    target = Target(NormalInverseGamma(), DP, APART[:4])
    _, p, matrix = ParticleChain(sampler, target, Uncorrected()).matrix()
    assert imbalance(p, matrix).max() > 1e-3
