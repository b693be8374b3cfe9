"""Simulation-based calibration of learned hyper-parameters together with the partition."""

import numpy as np
import pytest
from scipy.stats import chisquare

from bnpcluster._core.state import State
from bnpcluster.likelihoods.gaussian import learned_covariance
from bnpcluster.likelihoods.gaussian.nig_columns import bind_columns
from bnpcluster.likelihoods.gaussian.nig_missing import bind_observed_columns
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import Gibbs, SplitMerge
from tests.tools.learned_prior import (
    bound_columns,
    bound_rows,
    columns_hyper_prior,
    columns_prior_draw,
    hyper_prior,
    prior_draw,
)

N, BINS, RUNS, DRAWS = 12, 10, 500, 49
PRIOR = DirichletProcess(1.0)
COLUMNS = {"columns": bind_columns, "observed": bind_observed_columns}
CASES = [
    *(("planar", 2, floor) for floor in (0.0, 0.5)),
    *(("general", 3, floor) for floor in (0.0, 0.5)),
    *((kind, 3, 0.3) for kind in ("nested", "imputed", *COLUMNS)),
]


@pytest.mark.slow
@pytest.mark.parametrize("sampler", [Gibbs(), SplitMerge()], ids=lambda s: type(s).__name__)
@pytest.mark.parametrize(("kind", "d", "floor"), CASES)
def test_ranks_are_uniform(kind, d, floor, sampler):
    ranks = np.array([ranks_of_a_run(kind, d, floor, sampler, seed) for seed in range(RUNS)])
    for column in ranks.T:
        counts = np.bincount((column * BINS).astype(int), minlength=BINS)
        assert chisquare(counts).pvalue > 1e-4, counts


def ranks_of_a_run(kind, d, floor, sampler, seed):
    """Ranks of the true K and values among the draws of a chain that starts elsewhere."""
    rng = np.random.default_rng(seed)
    labels = PRIOR.sample(N, rng)
    if kind in COLUMNS:
        hyper = columns_hyper_prior(d, floor)
        truth, rows = columns_prior_draw(hyper, rng, labels)
        if kind == "observed":
            rows[rng.random(rows.shape) < 0.2] = np.nan
        bound = bound_columns(COLUMNS[kind], rows, hyper, capacity=N + 4)
    else:
        hyper = hyper_prior(d, floor, kappa=True)
        values, rows = prior_draw(hyper, rng, labels)
        truth = values.packed()
        bound = bound_rows(kind, rows, hyper, values, capacity=N + 4)
    state = State(bound, PRIOR, np.zeros(N, int), capacity=N + 4)
    if kind == "imputed":
        state.set_latent(rng.normal(size=bound.missing.sum()))
    draws = []
    for t in range(40 + 10 * DRAWS):
        sampler.step(state, rng)
        state.move_latent(rng)
        if t % 3 == 0:
            state.move_learned(rng)
        if t >= 40 and t % 10 == 0:
            draws.append(numbers(state.labels, state.learned, kind))
    return rank(numbers(labels, truth, kind), np.array(draws), rng)


def numbers(labels, values, kind):
    """K, and functionals of the hyper-parameters."""
    found = [len(set(labels)), values[-1], values[-2]]
    if kind in COLUMNS:
        return [*found, *values[:-2]]
    M = learned_covariance.unpacked(values).expected
    return [*found, np.linalg.slogdet(M)[1], M[0, 0], M[-1, 0]]


def rank(truth, draws, rng):
    """Where the truth stands among the draws, as a fraction; ties broken at random."""
    below, ties = (draws < truth).sum(axis=0), (draws == truth).sum(axis=0)
    return (below + rng.integers(ties + 1)) / (len(draws) + 1)
