"""Exact proof that a batch of moves leaves the posterior as it is.

All randomness of a batch is enumerated, from every partition of four items: roles, the single one,
the matching, anchors, the order of the decisions, launches, parameters, shares, sides, and whether
a move is accepted. Parameters and shares lie on grids. This gives the transition matrix K, and
pi K = pi must hold. Kernels are enumerated as plain Python only: `test_batch` runs this file under
NUMBA_DISABLE_JIT=1.
"""

import math

import numpy as np
import pytest

from bnpcluster._core import parameter_operations
from bnpcluster._core.state import State
from bnpcluster.priors import MFM, NGG, DirichletProcess, FiniteDirichlet, PitmanYor
from bnpcluster.samplers.blocked import batch, decisions, division, proposals
from bnpcluster.samplers.blocked.batch import Batch, split_and_merge
from bnpcluster.testing import all_partitions
from tests.tools.branches import transition_matrix
from tests.tools.dossier import GAP, note
from tests.tools.grid import GridLikelihood

SHARES = np.array([0.35, 0.8])
ODD = np.uint64(0x9E3779B9)
DP, PY, FINITE = DirichletProcess(1.3), PitmanYor(0.7, 0.4), FiniteDirichlet(3, 0.7)
GNEDIN, NGG_PRIOR = MFM(1.0, ("gnedin", 0.4)), NGG(1.0, 0.5)


def table(n, n_points=2, spread=1.5, seed=0):
    """Log densities that tell the items apart, but not much."""
    return spread * np.random.default_rng(seed).normal(size=(n_points, n))


@pytest.fixture(autouse=True)
def enumerable(monkeypatch):
    """What is continuous is made discrete; tiles and launches are of the size of the data."""
    monkeypatch.setattr(division, "TILE", 2)
    monkeypatch.setattr(parameter_operations, "TILE", 2)
    monkeypatch.setattr(division, "CHUNK", 3)
    monkeypatch.setattr(batch, "draw_key", lambda rng: rng)
    monkeypatch.setattr(division, "fill_random", fill_random)
    monkeypatch.setattr(batch, "draw_log_shares", draw_log_shares)
    monkeypatch.setattr(proposals, "log_density_of_shares", log_density_of_shares)
    for module in (batch, decisions):
        monkeypatch.setattr(module, "SLACK", 0.2)
    plain = division.new_division

    def with_objects(*arguments):
        return plain(*arguments)._replace(uniforms=np.empty(2, object))

    monkeypatch.setattr(division, "new_division", with_objects)


def fill_random(rng, tile, uniforms, ranks):
    """Uniforms that the generator enumerates instead of those of a counter."""
    for r in range(len(tile)):
        uniforms[r] = rng.random()


def log_weights_of_shares(one, two):
    """What stands for Beta(one, two) on the grid."""
    logs = (one - 1.0) * np.log(SHARES) + (two - 1.0) * np.log(1.0 - SHARES)
    return logs - np.logaddexp.reduce(logs)


def draw_log_shares(one, two, rng):
    """A grid point per move."""
    rows = []
    for a, b in zip(one, two, strict=True):
        share = SHARES[0 if rng.random() < math.exp(log_weights_of_shares(a, b)[0]) else 1]
        rows.append([math.log(share), math.log(1.0 - share)])
    return np.array(rows)


def log_density_of_shares(log_share, log_rest, one, two):
    """The log probability of a grid point."""
    return log_weights_of_shares(one, two)[int(np.argmin(np.abs(np.log(SHARES) - log_share)))]


def canonical(labels):
    """Blocks numbered by first item."""
    seen = {}
    return tuple(seen.setdefault(k, len(seen)) for k in labels.tolist())


class Chain:
    """Batches on a posterior of a few items."""

    def __init__(self, likelihood, prior, how):
        n = likelihood.log_f.shape[1]
        self.state = State(likelihood.bind(None, 16), prior, np.zeros(n, int), capacity=16)
        self.batch = how

    def put(self, partition):
        self.state.labels[:] = partition
        self.state.rebuild()

    def step(self, partition, rng):
        self.put(partition)
        split_and_merge(self.state, self.batch, None, rng)
        found, value = canonical(self.state.labels), self.state.log_joint()
        sizes = self.state.sizes.tolist()
        assert sizes == np.bincount(self.state.labels).tolist()
        self.state.rebuild()
        assert value == pytest.approx(self.state.log_joint(), abs=1e-9)
        return found

    def posterior(self):
        """Partitions of positive probability, and their probabilities."""
        log_mass = {}
        for row in all_partitions(len(self.state.labels)):
            self.put(row)
            log_mass[tuple(row.tolist())] = self.state.log_joint()
        states = [z for z, value in log_mass.items() if value > -math.inf]
        log_p = np.array([log_mass[z] for z in states])
        return states, np.exp(log_p - np.logaddexp.reduce(log_p))


def assert_invariant(chain):
    """The transition matrix of a batch, which leaves the posterior as it is."""
    states, p = chain.posterior()
    matrix = transition_matrix(states, chain.step)
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)
    gap = np.abs(p @ matrix - p).max()
    note(GAP, gap, f"{len(p)} partitions")
    assert gap < 1e-12
    return matrix


FIXED, DRAWN, BOTH = Batch(0.4, 0.0), Batch(0.4, 1.0), Batch(0.6, 0.7)
LINE = [[0.0], [0.3], [1.1], [1.2]]
FEW = {"SIZES_OF_RESTS": (2,), "SIZES_OF_DRAWN": (1,), "MOST_LEFT": 2}
# likelihood, prior, how, the share of launches of a side and its rest
CASES = {
    "rests-flat": (GridLikelihood(table(4, 1)), PY, DRAWN, 1.0),
    "hard-drawn": (GridLikelihood(table(4, seed=7)), GNEDIN, DRAWN, 0.0),
    "hard-fixed": (GridLikelihood(table(4, seed=5)), DP, FIXED, 0.0),
    "ties-fixed": (GridLikelihood(table(4, 1, seed=2)), DP, FIXED, 0.0),
    "rests-three": (GridLikelihood(table(3, 3, 2.5, seed=5)), FINITE, Batch(0.7, 1.0), 1.0),
    "mixed-three": (GridLikelihood(table(3, spread=2.5, seed=9), LINE[:3]), NGG_PRIOR, BOTH, 0.5),
    "points-finite": (GridLikelihood(table(4, 1, seed=4), LINE), FINITE, BOTH, 0.0),
}


@pytest.mark.parametrize(("likelihood", "prior", "how", "rests"), CASES.values(), ids=CASES)
def test_a_batch_leaves_the_posterior_as_it_is(likelihood, prior, how, rests, monkeypatch):
    monkeypatch.setattr(proposals, "RESTS", rests)
    for name, sizes in FEW.items():
        monkeypatch.setattr(proposals, name, sizes)
    monkeypatch.setattr(batch, "draw_odd", lambda rng: ODD)
    chain = Chain(likelihood, prior, how)
    matrix = assert_invariant(chain)
    assert np.trace(matrix) < 0.9 * len(matrix)
