"""Gibbs sampling, exactly: the outcomes of one update, the lazy choice, what moves leave behind."""

import math
from collections import Counter
from functools import cache
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import gammaln

from bnpcluster._core import operations as ops
from bnpcluster._core.jit import DISABLED, kernel
from bnpcluster._core.partition import is_full, move_item, remove_item
from bnpcluster._core.state import State
from bnpcluster.likelihoods import Bernoulli, Likelihood, NormalInverseWishart
from bnpcluster.priors import DirichletProcess, Prior, PriorTables
from bnpcluster.samplers import Gibbs
from bnpcluster.samplers.gibbs import choose, sweep
from bnpcluster.testing import all_partitions, check_sampler


class AtMost(Prior):
    """A finite Dirichlet prior: V depends on k in no simple way, W on alpha, and V[k] may be 0."""

    def __init__(self, most=3, alpha=0.7):
        self.most = most
        self.alpha = alpha

    def tables(self, n, k_max):
        k, m = np.arange(k_max + 1.0), np.arange(n + 1.0)
        log_v = np.full(k_max + 1, -math.inf)
        some = k[: self.most + 1]
        log_v[: self.most + 1] = gammaln(self.most + 1) - gammaln(self.most - some + 1)
        log_v += k * math.log(self.alpha) + gammaln(self.most * self.alpha)
        log_w = gammaln(m + self.alpha) - gammaln(1 + self.alpha)
        log_w[0] = 0.0
        return PriorTables(log_v - gammaln(self.most * self.alpha + n), log_w)


class Tosses(NamedTuple):
    """One column of 0/1, uniform prior: only what a likelihood must have, the rest falls back."""

    X: np.ndarray
    counts: np.ndarray  # tosses and ones by slot

    slot_axis = {"counts": 0}


@ops.clear.register(Tosses)
def clear(lik, k):
    lik.counts[k, 0] = 0.0
    lik.counts[k, 1] = 0.0


@ops.add.register(Tosses)
def add(lik, k, i):
    lik.counts[k, 0] += 1.0
    lik.counts[k, 1] += lik.X[i, 0]


@ops.remove.register(Tosses)
def remove(lik, k, i):
    lik.counts[k, 0] -= 1.0
    lik.counts[k, 1] -= lik.X[i, 0]


@ops.copy.register(Tosses)
def copy(lik, to, source):
    lik.counts[to, 0] = lik.counts[source, 0]
    lik.counts[to, 1] = lik.counts[source, 1]


@ops.log_predictive.register(Tosses)
def log_predictive(lik, k, i):
    m, s = lik.counts[k, 0], lik.counts[k, 1]
    return math.log((1.0 + s if lik.X[i, 0] == 1.0 else 1.0 + m - s) / (2.0 + m))


@ops.log_marginal.register(Tosses)
def log_marginal(lik, k):
    m, s = lik.counts[k, 0], lik.counts[k, 1]
    return math.lgamma(1.0 + s) + math.lgamma(1.0 + m - s) - math.lgamma(2.0 + m)


class Bare(Likelihood):
    """Coin tosses with the operations of `Tosses` alone."""

    def bind(self, X, capacity=16):
        return Tosses(X, np.zeros((capacity, 2)))


def data(likelihood, n):
    """Rows that a likelihood takes, neither all alike nor far apart."""
    rng = np.random.default_rng(8)
    if isinstance(likelihood, (Bare, Bernoulli)):
        return rng.integers(2, size=(n, 3)).astype(float)
    return rng.normal(size=(n, 2)) + rng.integers(2, size=(n, 1))


LIKELIHOODS = [
    pytest.param(Bare(), id="bare"),
    pytest.param(NormalInverseWishart(kappa=0.1, nu=5.0, scale=2.0), id="niw"),
    pytest.param(Bernoulli(), id="bernoulli"),
]
PRIORS = [
    pytest.param(DirichletProcess(1.3), 1.0, id="dp"),
    pytest.param(AtMost(), 0.4, id="finite-tempered"),
]
N_UNIFORMS = 100 if DISABLED else 1000  # for each of twenty items


def canonical(labels):
    """Blocks numbered by first item."""
    seen = {}
    return tuple(seen.setdefault(k, len(seen)) for k in labels.tolist())


def update_distribution(state, labels, j):
    """Where one update of items[j] leads from `labels`, and with what probability.

    What it makes of its uniform is a step function, whose steps are found by bisection.
    """

    @cache
    def reached(u):
        state.labels[:] = labels
        state.rebuild()
        assert sweep(state.problem, state.partition, np.array([u]), j, j + 1) == j + 1
        return canonical(state.labels[state.problem.items])

    distribution, edges = Counter(), [1e-14, *np.arange(1, 8) / 8, 1.0 - 1e-14]
    intervals = list(pairwise(edges))
    while intervals:
        low, high = intervals.pop()
        if reached(low) == reached(high):
            distribution[reached(low)] += high - low
        elif high - low > 1e-12:
            intervals += pairwise([low, (low + high) / 2, high])
    return distribution


@pytest.mark.parametrize("likelihood", LIKELIHOODS)
@pytest.mark.parametrize(("prior", "beta"), PRIORS)
def test_one_update_follows_the_full_conditional(likelihood, prior, beta):
    """From every partition of four of five items, by every item: the exact transition matrix."""
    absent, n = np.array([-1]), 4
    bound = likelihood.bind(data(likelihood, n + 1))
    partitions = all_partitions(n)
    state = State(bound, prior, [-1, 0, 0, 0, 0], beta=beta, capacity=n + 2)
    mass = {}
    for row in partitions:
        state.labels[1:] = row
        state.rebuild()
        mass[tuple(row.tolist())] = math.exp(state.log_joint())
    assert min(m for m in mass.values() if m > 0) > 1e-4 * sum(mass.values())
    for start, j in product((row for row in partitions if mass[tuple(row.tolist())] > 0), range(n)):
        distribution = update_distribution(state, np.concatenate([absent, start]), j)
        rest = canonical(np.delete(start, j))
        within = {z: m for z, m in mass.items() if canonical(np.delete(z, j)) == rest}
        for z, m in within.items():
            assert distribution.pop(z, 0.0) == pytest.approx(m / sum(within.values()), abs=1e-10)
        assert not distribution


@kernel
def choices(problem, partition, i, uniforms, out):
    for j in range(len(uniforms)):
        out[j] = choose(problem, partition, i, uniforms[j])


def weights_by_slot(state, i):
    """Log weights of the slots item i may go to, found with the item really taken out.

    In the order of inversion: its own slot first, which stands for a new block if it is alone.
    """
    log_v, log_w, beta = state.problem.log_v, state.problem.log_w, state.problem.beta
    own, n_blocks = state.labels[i], state.n_blocks
    labels = np.where(np.arange(state.n_items) == i, -1, state.labels)
    rest = State(state.problem.likelihood, state.prior, labels)
    new = own if state.sizes[own] == 1 else n_blocks
    weights = {}
    for k in [own, *range(n_blocks + 1)]:
        members = np.flatnonzero(labels == k)
        m, r = len(members), rest.n_blocks
        block = rest.labels[members[0]] if m else r
        prior = log_w[m + 1] - log_w[m] if m else log_v[r + 1] - log_v[r]
        if m or k == new:
            weights[k] = prior + beta * ops.log_predictive(rest.problem.likelihood, block, i)
    return weights


@pytest.mark.parametrize("likelihood", LIKELIHOODS)
@pytest.mark.parametrize("beta", [1.0, 0.3, 0.0, 3.0])
def test_lazy_choice_is_the_full_one(likelihood, beta):
    """With the slack that follows from u, no slot is left out that u would have chosen.

    Nor one that moves the others: uniforms next to the edges between two choices tell.
    """
    labels = np.append(np.arange(36) // 4, [9, 10])
    bound = likelihood.bind(np.sort(data(likelihood, len(labels)), axis=0))
    state = State(bound, DirichletProcess(1.3), labels, beta=beta)
    for i in (*range(18), 36, 37):
        weights = weights_by_slot(state, i)
        edges = np.cumsum(np.exp(list(weights.values())))
        edges = edges[:-1] / edges[-1]
        near = np.concatenate([edges * (1 - 1e-9), edges * (1 + 1e-9)])
        near = near[np.abs(near - np.append(edges, 1.0)[:, None]).min(axis=0) > 1e-10]
        uniforms = np.append(np.random.default_rng(i).random(N_UNIFORMS), near[near < 1.0])
        found = np.zeros(len(uniforms), np.intp)
        choices(state.problem, state.partition, i, uniforms, found)
        expected = np.array(list(weights))[np.searchsorted(edges, uniforms)]
        np.testing.assert_array_equal(found, expected)
        assert len(np.unique(found)) > 1 or beta > 1


def assert_as_rebuilt(state):
    """Everything that is kept about the blocks is what the labels say."""
    partition, lik = state.partition, state.problem.likelihood
    fresh = State(lik, state.prior, np.zeros(len(state.labels), int), capacity=state.n_blocks + 2)
    fresh.labels[:] = state.labels
    fresh.rebuild()
    assert canonical(state.labels) == canonical(fresh.labels)
    assert state.n_blocks == fresh.n_blocks
    assert state.log_joint() == pytest.approx(fresh.log_joint(), abs=1e-9)
    for k in range(state.n_blocks + 1):
        same = fresh.labels[state.labels == k][0] if k < state.n_blocks else k
        assert partition.sizes[k] == fresh.partition.sizes[same]
        if k < state.n_blocks:
            assert partition.log_prior[k] == fresh.partition.log_prior[same]
        for i in range(len(state.labels)):
            found = ops.log_predictive(lik, k, i)
            expected = ops.log_predictive(fresh.problem.likelihood, same, i)
            assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("likelihood", LIKELIHOODS[:2])
def test_moves_keep_the_books(likelihood):
    """Items go in and out, blocks open and close, and room runs out, at random."""
    rng = np.random.default_rng(0)
    state = State(likelihood.bind(data(likelihood, 9), 2), AtMost(9), [0] * 9, capacity=2)
    blocks, n_opened = np.zeros(9, int), 1  # the same partition, block by block
    for step in range(400):
        i = rng.integers(9)
        own, k = state.labels[i], rng.integers(state.n_blocks + 1)
        if own >= 0 and rng.random() < 0.3:
            remove_item(state.problem, state.partition, i)
            blocks[i] = -1
        elif k != own:
            if is_full(state.partition):
                state.enlarge()
            n_opened += 1
            block = n_opened if k == state.n_blocks else blocks[state.labels == k][0]
            move_item(state.problem, state.partition, i, k)
            blocks[i] = block
        assert canonical(state.labels) == canonical(blocks)
        if step % 8 == 0:
            assert_as_rebuilt(state)


def test_sweeps_keep_the_books():
    state = State(Bare().bind(data(Bare(), 12)), AtMost(6), [0] * 12)
    for seed in range(5):
        state.visit(sweep, np.random.default_rng(seed))
        assert_as_rebuilt(state)


def test_short_kernel_calls_change_nothing():
    """Nor does room that runs out between and within them, up to 16 slots and beyond."""
    bound, paths = Bare().bind(data(Bare(), 25), 2), []
    for chunk, capacity in ((1024, 64), (3, 2)):
        state = State(bound, DirichletProcess(30.0), [0] * 25, beta=0.5, capacity=capacity)
        rng = np.random.default_rng(0)
        paths.append([])
        for _ in range(5):
            state._chunk = chunk
            state.visit(sweep, rng)
            paths[-1].append(state.labels.tolist())
    assert paths[0] == paths[1]
    assert np.max(paths) > 15


def test_a_new_prior_takes_effect_at_once():
    labels = [0, 0, 0, 1, 1, 2]
    bound = Bare().bind(data(Bare(), 6))
    state, fresh = (State(bound, AtMost(4, alpha), labels) for alpha in (0.3, 2.5))
    state.set_prior(AtMost(4, 2.5))
    assert state.log_joint() == pytest.approx(fresh.log_joint())
    assert_as_rebuilt(state)


@kernel
def forgetful_sweep(problem, partition, uniforms, start, stop):
    """A sweep with a planted bug: the item is compared with its own block while it is in it."""
    for j in range(start, stop):
        if is_full(partition):
            return j
        i = problem.items[j]
        own = partition.labels[i]
        partition.labels[i] = -1
        k = choose(problem, partition, i, uniforms[j - start])
        partition.labels[i] = own
        if k != own:
            move_item(problem, partition, i, k)
    return stop


class Forgetful(Gibbs):
    """Gibbs without leave-one-out."""

    def step(self, state, rng):
        state.visit(forgetful_sweep, rng)
        return {}


def test_the_check_of_samplers_has_power():
    X = data(Bernoulli(), 4)
    arguments = (Bernoulli(), DirichletProcess(1.0), X)
    check_sampler(Gibbs(), *arguments, n_replicates=500)
    with pytest.raises(AssertionError, match="does not leave the posterior"):
        check_sampler(Forgetful(), *arguments, n_replicates=500)
