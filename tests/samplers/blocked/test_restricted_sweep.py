"""The restricted sweep: the identity that makes it exact, and what it leaves behind."""

from collections import Counter
from functools import cache

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import dirichlet

from bnpcluster._core.jit import DISABLED
from bnpcluster._core.parameter_operations import (
    TILE,
    draw_parameters,
    log_density,
    log_density_of_parameters,
)
from bnpcluster._core.state import State, Stopped
from bnpcluster.likelihoods import LIKELIHOODS, Bernoulli, NormalInverseWishart
from bnpcluster.priors import PRIORS, DirichletProcess, PitmanYor
from bnpcluster.samplers import Blocked
from bnpcluster.samplers.base import can_sample
from bnpcluster.samplers.blocked import assignment
from bnpcluster.samplers.blocked import restricted_sweep as sweeps
from bnpcluster.samplers.blocked.assignment import label_tile, new_part
from bnpcluster.samplers.blocked.counters import LOW, fill_random, fill_ranks
from bnpcluster.samplers.blocked.restricted_sweep import (
    draw_log_weights,
    draw_message,
    restricted_sweep,
)
from bnpcluster.testing import all_partitions
from tests.tools.dossier import LOG_GAP, note

N = 6
RNG = np.random.default_rng(0)


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


def mixture(n, d=2, k=5, seed=0, spread=2.0):
    """Rows of clusters that overlap, and labels that are not theirs everywhere."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    X = spread * rng.normal(size=(k, d))[y] + rng.normal(size=(n, d))
    return X, np.where(rng.random(n) < 0.2, rng.integers(k, size=n), y)


def test_leaders_come_first_and_stay_and_no_item_precedes_its_leader():
    X, labels = mixture(500)
    state = State(NormalInverseWishart().bind(X), DirichletProcess(1.0), labels)
    for seed in range(20):
        before, rng = state.labels.copy(), np.random.default_rng(seed)
        message = draw_message(state, np.random.default_rng(seed))
        ranks = np.zeros(500, np.uint64)
        fill_ranks(message.key, np.arange(500), ranks)
        leaders = (message.leaders & LOW).astype(int)
        for k, leader in enumerate(leaders):
            assert ranks[leader] == ranks[before == k].min() == message.leaders[k]
        restricted_sweep(state, None, rng)
        assert (state.labels[leaders] == np.arange(len(leaders))).all()
        assert (ranks >= message.leaders[state.labels]).all()
        assert (state.labels != before).any()


@pytest.mark.parametrize("d", [1, 2, 5, 20])
def test_draws_do_not_depend_on_the_number_of_threads(d, monkeypatch):
    """Bit for bit: labels, and all statistics, which the next parameters depend on."""
    monkeypatch.setattr(sweeps, "CHUNK", 2 * TILE)
    X, labels = mixture(1300, d)
    paths = []
    for n_jobs in (None, 1, 2, 4, -1):
        state = State(NormalInverseWishart().bind(X), DirichletProcess(1.0), labels)
        rng, paths = np.random.default_rng(3), [*paths, []]
        for _ in range(6):
            restricted_sweep(state, n_jobs, rng)
            paths[-1].append((state.labels.tolist(), state.log_joint()))
        state.rebuild()
        assert paths[-1][-1][1] == pytest.approx(state.log_joint(), rel=1e-10)
    assert all(path == paths[0] for path in paths)
    assert len({tuple(z) for z, _ in paths[0]}) > 1


@pytest.mark.parametrize(("d", "spread"), [(2, 1.0), (12, 0.4)])
def test_labels_do_not_depend_on_what_is_left_out(d, spread):
    """Row by row: a label is the one that all weights give, or it is not taken to be sure."""
    X, labels = mixture(1500, d, spread=spread)
    state = State(NormalInverseWishart().bind(X), DirichletProcess(1.0), labels)
    lik, sure, narrow = state.problem.likelihood, Counter(), 0
    message = draw_message(state, np.random.default_rng(0))
    message.leaders[:2] = 1 << 63  # half of the rows come before them
    part = new_part(lik, state.n_blocks)
    rows = range(0, 1500, 25 if DISABLED else 1)
    for i in rows:
        part.tile[:] = i
        fill_random(message.key, part.tile, part.uniforms, part.ranks)
        weights = np.exp([log_density(lik, message.parameters, k, i) for k in range(5)])
        weights *= np.exp(message.log_weights) * (part.ranks[0] > message.leaders)
        if not weights.any():
            continue  # the first leader of all
        edges = weights.cumsum() / weights.sum()
        exact = np.searchsorted(edges, part.uniforms[0], side="right")
        assert label_tile(lik, message, assignment.NEGLIGIBLE, part)
        assert part.labels[0] == exact
        for slack in (2.5, 3.0, 3.5, 4.0, assignment.FIRST_SLACK):
            if label_tile(lik, message, slack, part):
                assert part.labels[0] == exact
                sure[slack] += 1
        narrow += edges[0] < 0.99 and np.diff(edges).max() < 0.99
    assert narrow > 0.2 * len(rows)
    assert 0 < sure[2.5] < sure[4.0] < len(rows)
    assert sure[assignment.FIRST_SLACK] > 0.95 * len(rows)


def test_a_block_that_a_row_may_not_join_does_not_rule_out_others():
    """Though it is hundreds of nats better: the row comes before its leader."""
    X = RNG.normal(size=(300, 2)) + 60.0 * (np.arange(300)[:, None] % 2)
    state = State(NormalInverseWishart().bind(X), DirichletProcess(1.0), np.arange(300) % 2)
    lik, message = state.problem.likelihood, draw_message(state, np.random.default_rng(0))
    message.leaders[:] = assignment.LAST, 0
    part = new_part(lik, 2)
    part.tile[:] = 2 * np.arange(TILE)  # rows of the first block
    fill_random(message.key, part.tile, part.uniforms, part.ranks)
    label_tile(lik, message, assignment.NEGLIGIBLE, part)
    assert (part.labels == 1).all()


def test_a_stop_leaves_the_state_as_it_was():
    X, labels = mixture(300)
    state = State(NormalInverseWishart().bind(X), DirichletProcess(1.0), labels)
    before = state.labels.copy(), state.log_joint()
    state.should_stop = lambda: True
    with pytest.raises(Stopped):
        restricted_sweep(state, None, np.random.default_rng(0))
    assert (state.labels == before[0]).all()
    assert state.log_joint() == before[1]


@pytest.mark.parametrize("d", [2, 3])
def test_blocks_whose_sums_lose_digits_are_filled_row_by_row(d):
    rng = np.random.default_rng(0)
    likelihood = NormalInverseWishart(mean=0.0, kappa=1.0, nu=d + 2.0, scale=1e-18)
    X = rng.normal(size=(60, 1)) + 1e-9 * rng.normal(size=(60, d))
    state = State(likelihood.bind(X), DirichletProcess(1.0), np.arange(60) % 2)
    for _ in range(5):
        restricted_sweep(state, None, rng)
        found = state.log_joint()
        state.rebuild()
        assert found == pytest.approx(state.log_joint(), rel=1e-6)


@pytest.mark.parametrize("name", ["niw", "nig", "bernoulli", "categorical", "poisson"])
def test_sweeps_keep_the_books(name):
    X, labels = mixture(400, 3)
    X = X if name in ("niw", "nig") else np.clip(np.rint(np.abs(X)), 0, 1)
    state = State(LIKELIHOODS[name]().bind(X), DirichletProcess(1.0), labels)
    rng = np.random.default_rng(1)
    for _ in range(5):
        restricted_sweep(state, None, rng)
        sizes, prior = state.sizes.copy(), state.partition.log_prior[: state.n_blocks].copy()
        found, labels = state.log_joint(), state.labels.copy()
        state.rebuild()
        order = [state.labels[labels == k][0] for k in range(len(sizes))]
        assert (sizes == state.sizes[order]).all()
        assert (prior == state.partition.log_prior[order]).all()
        assert found == pytest.approx(state.log_joint(), rel=1e-10)


def test_weights_follow_the_sizes_less_sigma():
    state = State(Bernoulli().bind(np.eye(9, 2)), PitmanYor(1.0, 0.8), [0] + [1] * 3 + [2] * 5)
    rng = np.random.default_rng(0)
    draws = np.exp([draw_message(state, rng).log_weights for _ in range(4000)])
    found = (draws / draws.sum(axis=1, keepdims=True)).mean(axis=0)
    assert found == pytest.approx(np.array([0.2, 2.2, 4.2]) / 6.6, abs=0.01)


def test_weights_have_a_dirichlet_distribution():
    """Their means and variances; and tiny shapes do not underflow."""
    rng, shape = np.random.default_rng(0), np.array([0.3, 2.0, 7.0])
    draws = np.exp([draw_log_weights(shape, rng) for _ in range(20_000)])
    draws /= draws.sum(axis=1, keepdims=True)
    law = dirichlet(shape)
    assert draws.mean(axis=0) == pytest.approx(law.mean(), abs=0.005)
    assert draws.var(axis=0) == pytest.approx(law.var(), abs=0.002)
    assert np.isfinite(draw_log_weights(np.array([1e-6, 1.0]), rng)).all()
