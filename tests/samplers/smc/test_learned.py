"""Particles that carry learned hyper-parameters: evidence and posterior against quadrature."""

import os

import numpy as np
import pytest
from scipy.special import logsumexp

from bnpcluster._core.operations import draw_learned, learned
from bnpcluster._core.state import State
from bnpcluster.likelihoods import (
    Bernoulli,
    Columns,
    NormalInverseGamma,
    NormalInverseWishart,
    Poisson,
)
from bnpcluster.partitions.exhaustive import all_partitions
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import AnnealedSMC, UrnSMC
from bnpcluster.samplers.smc.tempering import set_state
from tests.tools.learned import Model, quadrature
from tests.tools.learned_categories import joint_of_categories

DISABLED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
PRIOR = DirichletProcess(1.0)
FOUR = np.array([[-1.3], [-0.9], [0.4], [1.6]])
BITS = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
COUNTS = np.array([[0.0, 2.0], [1.0, 1.0], [4.0, 0.0], [6.0, 3.0]])
PLANE = np.hstack([FOUR, [[0.2], [-0.5], [1.1], [0.7]]])
PARTS = Columns([("nig", 0), ("bernoulli", 1), ("poisson", 2)])
WIDER = {
    "plane": (NormalInverseWishart(), PLANE),
    "space": (NormalInverseWishart(kappa=(4.0, 9.0)), np.hstack([PLANE, FOUR[::-1] ** 2])),
    "counts": (Poisson(), COUNTS),
    "parts": (PARTS, np.hstack([FOUR, BITS[:, :1], COUNTS[:, :1]])),
}
POWERS = {"path": "temperature", "temperatures": [0.2, 1.0]}
SAMPLERS = {
    "resampled": AnnealedSMC(n_particles=24, **POWERS),
    "waste_free": AnnealedSMC(n_particles=24, waste_free=3, resampling="multinomial", **POWERS),
}


def runs_of(sampler, bound, n_runs):
    prior = sampler.checked(PRIOR)
    rngs = [np.random.default_rng(seed) for seed in range(10 if DISABLED else n_runs)]
    return [sampler.run(bound, prior, 4, rng) for rng in rngs]


def assert_mean(values, expected=0.0, widest=0.03):
    """The mean of independent values, within four standard errors."""
    error = np.std(values, axis=0) / np.sqrt(len(values))
    assert (np.abs(np.mean(values, axis=0) - expected) < 4 * error + 1e-12).all()
    assert DISABLED or np.max(error) < widest


def assert_posterior(runs, log_evidence, found, expected):
    """Evidences have the right mean, and so has their product with the mean of `found` of a run."""
    ratios = np.exp([run.log_evidence - log_evidence for run in runs])
    assert_mean(ratios, 1.0)
    gaps = [ratio * (found(run) - expected) for ratio, run in zip(ratios, runs, strict=True)]
    assert_mean(gaps, widest=0.06)


def together(partitions):
    """Which pairs of rows are together."""
    return np.array([(row[:, None] == row)[np.triu_indices(4, 1)] for row in partitions])


@pytest.mark.parametrize("name", list(SAMPLERS))
@pytest.mark.parametrize("cls", [NormalInverseGamma, NormalInverseWishart])
def test_one_column(cls, name):
    bound = cls().bind(FOUR, 8)
    unit, floor = bound.unit[0], bound.hyper.floor[0]
    exact = quadrature(bound.X[:, 0], Model.of(bound), PRIOR)
    of_partition = exact.probability.sum(axis=(1, 2))
    log_scale = np.log(np.exp(exact.log_v) + floor) + 2 * np.log(unit)
    of_scale, of_shape = exact.probability.sum(axis=(0, 1)), exact.probability.sum(axis=(0, 2))
    expected = [
        *(of_partition @ together(exact.partitions)),
        of_scale @ log_scale,
        of_scale @ (log_scale > -0.5),
        of_shape @ np.log(exact.shapes),
    ]

    def found(run):
        scale, shape = run.values["log_scale"], np.log(run.values["shape"])
        columns = [scale[:, None], scale[:, None] > -0.5, shape[:, None]]
        return np.hstack([together(run.labels), *columns]).mean(axis=0)

    runs = runs_of(SAMPLERS[name], bound, 250)
    assert_posterior(runs, exact.log_evidence - 4 * np.log(unit), found, expected)


def test_two_columns_of_zeros_and_ones():
    bound = Bernoulli().bind(BITS, 8)
    grid = bound.hyper.grid
    exact = joint_of_categories(BITS, grid, PRIOR)
    expected = [
        *(exact.probability.sum(axis=(1, 2)) @ together(exact.partitions)),
        exact.probability.sum(axis=(0, 2)) @ np.log(grid),
        exact.probability.sum(axis=(0, 1)) @ np.log(grid),
    ]

    def found(run):
        return np.hstack([together(run.labels), np.log(run.learned)]).mean(axis=0)

    runs = runs_of(SAMPLERS["resampled"], bound, 200)
    assert_posterior(runs, exact.log_evidence, found, expected)


def average_evidence(bound, n):
    """The enumerated evidence and its standard error, averaged over draws from the hyper-prior."""
    rng, partitions = np.random.default_rng(0), all_partitions(4)
    states = [State(bound, PRIOR, labels) for labels in partitions]
    log_z = np.zeros(n)
    for row in range(n):
        values = draw_learned(bound, rng)
        for state in states:
            state.set_learned(values)
        log_z[row] = logsumexp([state.log_joint() for state in states])
    z = np.exp(log_z - log_z.max())
    return log_z.max() + np.log(z.mean()), z.std() / z.mean() / np.sqrt(n)


@pytest.mark.parametrize("name", list(WIDER))
def test_the_evidence_is_the_average_over_the_hyper_prior(name):
    likelihood, X = WIDER[name]
    bound = likelihood.bind(X, 8)
    expected, error = average_evidence(bound, 100 if DISABLED else 1000)
    runs = runs_of(SAMPLERS["resampled"], bound, 100)
    ratios = np.exp([run.log_evidence - expected for run in runs])
    own = np.std(ratios) / np.sqrt(len(ratios))
    assert abs(np.mean(ratios) - 1) < 4 * np.hypot(own, error)
    assert DISABLED or np.hypot(own, error) < 0.12


def test_each_particle_has_the_values_of_its_traces_and_its_density():
    bound = NormalInverseWishart().bind(np.random.default_rng(0).normal(size=(9, 3)), 8)
    run = AnnealedSMC(n_particles=6, **POWERS).run(bound, PRIOR, 9, np.random.default_rng(1))
    assert len(np.unique(run.learned, axis=0)) > 1
    for p, values in enumerate(run.learned):
        state = State(bound, PRIOR, run.labels[p].astype(int))
        state.set_learned(values)
        assert state.log_posterior() == pytest.approx(run.log_joint[p], abs=1e-8)
        traces = {name: run.values[name][p] for name in run.values}
        assert state.traces_learned() == pytest.approx(traces)


def test_all_particles_move_their_values():
    """Also those with the same parent: without moves the posterior is right, but slow."""
    run = AnnealedSMC(n_particles=30, **POWERS).run(
        NormalInverseGamma().bind(FOUR, 8), PRIOR, 4, np.random.default_rng(0)
    )
    assert len(np.unique(run.origin)) < 25
    assert len(np.unique(run.learned[:, 0])) == 30


def test_the_bound_data_keep_their_values():
    bound = NormalInverseGamma().bind(FOUR, 8)
    before = learned(bound)
    runs_of(SAMPLERS["resampled"], bound, 2)
    assert np.array_equal(learned(bound), before)


def test_an_assigned_state_has_the_values_of_the_one_it_copies():
    bound = NormalInverseGamma().bind(FOUR, 2)
    one = State(bound, PRIOR, [0, 0, 0, 0], capacity=2)
    other = State(bound, PRIOR, [0, 1, 2, 0], capacity=8)
    other.set_learned(np.array([0.3, 6.0, bound.prior[0]]))
    set_state(one, other.labels.copy(), PRIOR, other.learned)
    assert np.array_equal(one.learned, other.learned)
    assert one.log_posterior() == pytest.approx(other.log_posterior())
    set_state(one, np.array([0, 0, 1, 1]), PRIOR, one.learned)
    assert one.learned[0] == 0.3
    assert one.n_blocks == 2


def test_without_learned_values_there_are_none_to_carry():
    fixed = NormalInverseGamma().guessed().bind(FOUR, 8)
    run = SAMPLERS["resampled"].run(fixed, PRIOR, 4, np.random.default_rng(0))
    assert run.learned is None
    assert run.values == {}
    assert UrnSMC(n_particles=4).run(fixed, PRIOR, 4, np.random.default_rng(0)).learned is None


def test_only_the_path_of_the_temperature_carries_values():
    assert AnnealedSMC(path="temperature").carries_learned
    assert not AnnealedSMC().carries_learned
    assert not UrnSMC().carries_learned
