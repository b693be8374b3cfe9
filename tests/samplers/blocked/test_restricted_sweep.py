"""The restricted sweep: the identity that makes it exact, and what it leaves behind."""

from functools import cache

import numpy as np
import pytest
from scipy.special import gammaln

from bnpcluster._core.parameter_operations import (
    draw_parameters,
    log_density,
    log_density_of_parameters,
)
from bnpcluster._core.state import State
from bnpcluster.likelihoods import LIKELIHOODS
from bnpcluster.priors import PRIORS, DirichletProcess
from bnpcluster.samplers import Blocked
from bnpcluster.samplers.base import can_sample
from bnpcluster.testing import all_partitions
from tests.tools.dossier import LOG_GAP, note

N = 6


def examples():
    """The examples of all likelihoods that the sampler serves."""
    for name, cls in LIKELIHOODS.items():
        for j, (likelihood, X) in enumerate(cls.examples(np.random.default_rng(1))):
            if can_sample(Blocked, likelihood.bind(X[:N])):
                yield pytest.param(likelihood, X[:N], id=f"{name}-{j}")


EXAMPLES = list(examples())
PRIOR_EXAMPLES = [prior for cls in PRIORS.values() for prior in cls.examples()]


@cache
def leaders_of(order):
    """By partition: the leader of the block of every item, under an order of the items."""
    partitions = all_partitions(N)
    rank = np.argsort(order)
    found = np.zeros(partitions.shape, int)
    for row, leaders in zip(partitions, found, strict=True):
        for k in range(row.max() + 1):
            members = np.flatnonzero(row == k)
            leaders[members] = members[np.argmin(rank[members])]
    return partitions, found


def parts_of_identity(state, order):
    """By partition: what does not depend on the prior, on both sides; and the leaders.

    Left: log p(rows, parameters | partition), less the densities of all rows but the leaders.
    Right: the prior density of the parameters and the densities of the leaders.
    """
    lik, (partitions, leaders) = state.problem.likelihood, leaders_of(order)
    state.labels[:] = np.arange(N)
    state.rebuild()
    drawn = draw_parameters(lik, N, np.random.default_rng(5))  # of the block that item i leads
    density = np.array([[log_density(lik, drawn, k, i) for i in range(N)] for k in range(N)])
    prior_density = [log_density_of_parameters(lik, N, drawn, k) for k in range(N)]
    left, right = np.zeros((2, len(partitions)))
    for j, (row, leader) in enumerate(zip(partitions, leaders, strict=True)):
        state.labels[:] = row
        state.rebuild()
        left[j] = state.log_joint() - state.prior.log_eppf(state.sizes)
        for k in range(state.n_blocks):
            first = leader[state.labels == k][0]
            left[j] += log_density_of_parameters(lik, k, drawn, first)
            right[j] += prior_density[first] + density[first, first]
        others = np.flatnonzero(leader != np.arange(N))
        left[j] -= density[leader[others], others].sum()
    return left, right, partitions, leaders


@pytest.mark.parametrize(("likelihood", "X"), EXAMPLES)
def test_given_leaders_weights_and_parameters_labels_are_independent(likelihood, X):
    """Pointwise: formula (1) of the design, for all partitions of six items and all priors."""
    state = State(likelihood.bind(X), DirichletProcess(1.0), np.zeros(N, int), capacity=N + 2)
    left, right, partitions, leaders = parts_of_identity(state, (3, 0, 5, 1, 4, 2))
    gammas, worst = np.random.default_rng(6).gamma(1.0, size=N), 0.0
    for prior in PRIOR_EXAMPLES:
        (log_v, log_w), sigma = prior.tables(N, N), prior.sigma_now
        for j, leader in enumerate(leaders):
            firsts, sizes = np.unique(leader, return_counts=True)
            k = len(firsts)
            if not np.isfinite(log_v[k]):
                continue
            log_weights = np.log(gammas[firsts] / gammas[firsts].sum())
            counts = sizes - sigma
            one = left[j] + log_v[k] + log_w[sizes].sum()
            one += gammaln(counts.sum()) - gammaln(counts).sum() + (counts - 1.0) @ log_weights
            one -= (sizes - 1) @ log_weights  # the labels of all but the leaders
            two = right[j] + log_v[k] + gammaln(N - k * sigma) - k * gammaln(1.0 - sigma)
            two -= sigma * log_weights.sum()
            worst = max(worst, abs(one - two) / max(1.0, abs(two)))
    note(LOG_GAP, worst, f"{len(partitions)} partitions, {len(PRIOR_EXAMPLES)} priors")
    assert worst < 1e-12
