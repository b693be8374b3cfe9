"""Batches of splits and merges: exact, the same for any number of threads, and of use."""

import math
from collections import Counter

import numpy as np
import pytest
from scipy.stats import beta, kstest

from bnpcluster import DPMixture
from bnpcluster._core.jit import DISABLED
from bnpcluster._core.operations import log_marginal, log_marginal_union
from bnpcluster._core.parameter_operations import TILE, draw_parameters, log_density
from bnpcluster._core.state import State, Stopped
from bnpcluster.likelihoods import LIKELIHOODS, NormalInverseGamma, NormalInverseWishart
from bnpcluster.priors import DirichletProcess, PitmanYor
from bnpcluster.samplers import Blocked, SplitMerge
from bnpcluster.samplers.base import can_sample
from bnpcluster.samplers.blocked import division, restricted_sweep
from bnpcluster.samplers.blocked.assignment import exp_of_negative
from bnpcluster.samplers.blocked.batch import Batch, list_members, pair_up, split_and_merge
from bnpcluster.samplers.blocked.counters import draw_key
from bnpcluster.samplers.blocked.decisions import SLACK
from bnpcluster.samplers.blocked.division import Pass, divide_all, new_moves
from bnpcluster.samplers.blocked.proposals import draw_log_shares, log_density_of_shares
from bnpcluster.samplers.blocked.skeleton import draw_odd, find_firsts
from bnpcluster.testing import check_sampler, exact_posterior
from tests.tools.cut_clusters import crowded, cut, whole
from tests.tools.proofs import run_as_plain_python

BOTH = Batch(0.5, 0.5)


def test_batches_are_exact():
    run_as_plain_python("tests/samplers/blocked/exact_batch.py")


class Batches(Blocked):
    """The moves alone."""

    def step(self, state, rng):
        return split_and_merge(state, BOTH, 2, rng)


def examples():
    """The first example of each likelihood that the sampler serves."""
    for name, cls in LIKELIHOODS.items():
        likelihood, X = cls.examples(np.random.default_rng(3))[0]
        if can_sample(Blocked, likelihood.bind(X[:5])):
            yield pytest.param(likelihood, X[:5], id=name)


@pytest.mark.parametrize(("likelihood", "X"), list(examples()))
def test_moves_alone_leave_the_posterior_as_it_is(likelihood, X):
    n_replicates = 100 if DISABLED else 4000
    check_sampler(Batches(), likelihood, PitmanYor(0.8, 0.3), X, n_replicates=n_replicates)


def test_many_columns_leave_the_posterior_as_it_is():
    """Nine columns use the steps of wide tiles."""
    rows = 0.7 * np.random.default_rng(1).normal(size=(4, 9))
    likelihood = NormalInverseWishart(mean=0.0, kappa=0.5, nu=12.0, scale=4.0)
    n_replicates = 100 if DISABLED else 4000
    check_sampler(Batches(), likelihood, DirichletProcess(2.0), rows, n_replicates=n_replicates)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_chain_with_a_learned_concentration_has_the_enumerated_posterior():
    """Partitions of four rows, with the concentration integrated out by quadrature."""
    X = np.array([[-1.0], [-0.6], [0.7], [1.2]])
    likelihood = NormalInverseGamma(mean=0.0, kappa=0.5, shape=2.0, scale=0.3)
    total, weights = 0.0, 0.0
    alphas = (np.arange(4000) + 0.5) * 0.005
    for alpha, mass in zip(alphas[::10], (alphas * np.exp(-alphas))[::10], strict=True):
        exact = exact_posterior(X, likelihood, DirichletProcess(float(alpha)))
        mass *= math.exp(exact.log_evidence)
        total, weights = total + mass * exact.probabilities, weights + mass
    expected = total / weights
    lengths = {"n_draws": 50, "n_warmup": 20} if DISABLED else {"n_draws": 30_000, "n_warmup": 200}
    model = DPMixture(
        likelihood=likelihood,
        alpha=(2.0, 1.0),
        sampler="blocked",
        n_chains=1,
        random_state=0,
        **lengths,
    )
    labels = model.fit(X).posterior_.labels.reshape(-1, 4)
    if DISABLED:
        return
    numbers = {tuple(row): j for j, row in enumerate(exact.partitions.tolist())}
    found = np.array([numbers[canonical(row)] for row in labels.tolist()])
    batches = np.array([np.bincount(b, minlength=len(expected)) for b in np.split(found, 30)])
    mean, error = batches.mean(axis=0), batches.std(axis=0, ddof=1) / math.sqrt(30)
    common = expected > 0.01
    z = (mean / 1000 - expected)[common] / (error / 1000)[common]
    assert np.abs(z).max() < 4.5 and math.sqrt((z**2).mean()) < 2.0


def canonical(row):
    """Blocks numbered by first item."""
    seen = {}
    return tuple(seen.setdefault(k, len(seen)) for k in row)


def overlapping(n, d=2, k=5, seed=0, spread=2.0):
    """Rows of clusters that overlap, and labels that cut some of them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    X = spread * rng.normal(size=(k, d))[y] + rng.normal(size=(n, d))
    return X, 2 * y + (X[:, 0] > np.median(X[:, 0]))


@pytest.mark.parametrize("d", [1, 2, 12])
def test_draws_do_not_depend_on_the_number_of_threads(d, monkeypatch):
    """Bit for bit: labels, and all statistics."""
    monkeypatch.setattr(division, "CHUNK", TILE)
    monkeypatch.setattr(restricted_sweep, "CHUNK", 2 * TILE)
    X, labels = overlapping(900, d, spread=8.0)
    paths, tally = [], Counter()
    for n_jobs in (None, 1, 2, 4):
        state = State(NormalInverseWishart().bind(X), DirichletProcess(1.0), labels)
        sampler, rng = Blocked(n_jobs=n_jobs), np.random.default_rng(4)
        paths.append([])
        for _ in range(12):
            tally.update(sampler.step(state, rng))
            paths[-1].append((state.labels.tolist(), state.log_joint()))
    assert all(path == paths[0] for path in paths)
    assert tally["splits_accepted"] + tally["merges_accepted"] > 0 or d == 12


@pytest.mark.parametrize("name", ["niw", "nig", "bernoulli", "categorical", "poisson"])
def test_batches_keep_the_books(name):
    """From one block, and from blocks that are alike."""
    X = overlapping(400, 3 if name in ("niw", "nig") else 12, spread=4.0)[0]
    X = X if name in ("niw", "nig") else 1.0 * (X > 0.0)
    bound, rng, tally = LIKELIHOODS[name]().bind(X), np.random.default_rng(1), Counter()
    for start in (np.zeros(400, int), np.arange(400) % 6):
        state = State(bound, DirichletProcess(1.0), start, capacity=12)
        for _ in range(60):
            tally.update(split_and_merge(state, BOTH, None, rng))
            check_books(state)
    assert tally["splits_accepted"] > 0 and tally["merges_accepted"] > 0


def check_books(state):
    """Sizes, prior weights and statistics are those of the labels; the other slots are empty."""
    sizes, prior = state.sizes.copy(), state.partition.log_prior[: state.n_blocks].copy()
    found, labels = state.log_joint(), state.labels.copy()
    assert abs(log_marginal(state.problem.likelihood, state.n_blocks)) < 1e-12
    assert not state.partition.sizes[state.n_blocks :].any()
    state.rebuild()
    order = [state.labels[labels == k][0] for k in range(len(sizes))]
    assert (sizes == state.sizes[order]).all()
    assert (prior == state.partition.log_prior[order]).all()
    assert found == pytest.approx(state.log_joint(), rel=1e-10)


@pytest.mark.parametrize("d", [2, 3])
def test_sides_whose_sums_lose_digits_are_filled_row_by_row(d):
    """Two groups of rows on a line, next to collinear."""
    rng = np.random.default_rng(0)
    likelihood = NormalInverseWishart(mean=0.0, kappa=1e-4, nu=d + 2.0, scale=1e-18)
    X = rng.normal(size=(60, 1)) + 20.0 * (np.arange(60)[:, None] % 2)
    X = X + 1e-9 * rng.normal(size=(60, d))
    state, tally = State(likelihood.bind(X), DirichletProcess(1.0), np.zeros(60, int)), Counter()
    for _ in range(40):
        tally.update(split_and_merge(state, Batch(0.8, 0.5), None, rng))
        found = state.log_joint()
        state.rebuild()
        assert found == pytest.approx(state.log_joint(), rel=1e-6)
    assert tally["splits_accepted"] > 0


def test_a_stop_leaves_the_state_as_it_was():
    X, labels = overlapping(300)
    state = State(NormalInverseWishart().bind(X), DirichletProcess(1.0), labels)
    before = state.labels.copy(), state.log_joint()
    state.should_stop = lambda: True
    with pytest.raises(Stopped):
        split_and_merge(state, Batch(0.9, 0.5), None, np.random.default_rng(0))
    assert (state.labels == before[0]).all()
    assert state.log_joint() == before[1]


def test_sides_are_drawn_with_the_probabilities_that_are_recorded():
    """Of many passes over one block: the shares of a side, and the sum of the logarithms."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 1))
    state = State(NormalInverseGamma().bind(X), DirichletProcess(1.0), np.zeros(40, int))
    moves, lik = new_moves(np.zeros((1, 2), np.intp), state.sizes), state.problem.likelihood
    list_members(state, moves)
    moves.anchors[:] = 0, 1
    state.partition.labels[20:] = 1
    state.rebuild()
    parameters = draw_parameters(lik, 2, rng)
    moves.parameters[:], moves.log_shares[:] = [0, 1], np.log([0.3, 0.7])
    densities = np.array([[log_density(lik, parameters, k, i) for k in (0, 1)] for i in range(40)])
    odds = np.diff(densities + moves.log_shares, axis=1)[:, 0]
    p = 1.0 / (1.0 + np.exp(-odds))
    p[0], p[1], counts, n = 0.0, 1.0, np.zeros(40), 200 if DISABLED else 4000
    for _ in range(n):
        rule = Pass(draw_key(rng), draw_odd(rng), state.labels)
        found = divide_all(state, moves, (parameters, parameters), rule, 2, 1)
        sides = moves.sides.astype(bool)
        assert (found.sizes == [[40 - sides.sum(), sides.sum()]]).all()
        log_q = np.log(np.where(sides, p, 1.0 - p)[2:]).sum()
        assert found.log_q[0] == pytest.approx(log_q, abs=1e-10)
        counts += sides
    z = (counts / n - p)[2:] / np.sqrt(np.maximum(p * (1.0 - p), 1e-3) / n)[2:]
    assert np.abs(z).max() < 4.5


def test_shares_have_a_beta_distribution():
    """Draws and density; and tiny shapes do not underflow."""
    rng, one, two = np.random.default_rng(0), np.full(20_000, 0.7), np.full(20_000, 3.5)
    logs = draw_log_shares(one, two, rng)
    assert kstest(np.exp(logs[:, 0]), beta(0.7, 3.5).cdf).pvalue > 1e-3
    assert np.exp(logs).sum(axis=1) == pytest.approx(np.ones(20_000))
    for log_share, log_rest in logs[:50]:
        found = log_density_of_shares(log_share, log_rest, 0.7, 3.5)
        assert found == pytest.approx(beta(0.7, 3.5).logpdf(np.exp(log_share)), rel=1e-8)
    tiny = draw_log_shares(np.array([1e-4]), np.array([1e-4]), rng)
    assert np.isfinite(tiny).all()


def test_first_items_follow_an_order_that_is_drawn_anew():
    items, labels = np.arange(60), np.arange(60) % 3
    chosen = Counter()
    rng = np.random.default_rng(0)
    for _ in range(300):
        odd, firsts = draw_odd(rng), np.full(3, np.uint64(0xFFFFFFFFFFFFFFFF))
        find_firsts(odd, items, labels, firsts)
        ranks = [(int(odd) * (i + 1)) % 2**32 for i in range(60)]
        assert len(set(ranks)) == 60
        assert firsts.tolist() == [min(ranks[k::3]) for k in range(3)]
        chosen[int(np.argmin(firsts))] += 1
    assert len(chosen) == 3 and min(chosen.values()) > 60


def test_pairs_that_lose_little_are_picked_more_often():
    """And gains are those of the posterior, but for the number of blocks."""
    X, _ = overlapping(300, k=4, spread=6.0)
    labels = np.arange(300) % 2 + 2 * (X[:, 0] > np.median(X[:, 0]))
    state = State(NormalInverseWishart().bind(X), DirichletProcess(1.0), labels, capacity=16)
    firsts, picked = np.arange(4).astype(np.uint64), Counter()
    for seed in range(100):
        matching = pair_up(state, [0, 1, 2, 3], firsts, 0, np.random.default_rng(seed))
        picked[int(matching.partner[0])] += 1
    best = int(np.argmax(matching.gains[0, 1:])) + 1
    assert picked[best] > 90
    lik, log_w = state.problem.likelihood, state.problem.log_w
    union = log_marginal_union(lik, 0, best, 5, state.labels)
    m, n = state.sizes[0], state.sizes[best]
    expected = union - log_marginal(lik, 0) - log_marginal(lik, best)
    expected += log_w[m + n] - log_w[m] - log_w[n]
    assert matching.gains[0, best] == pytest.approx(expected)
    assert SLACK > 0.0


def neighbours(n):
    """Six clusters, of which those side by side overlap, and chains still mix."""
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [3.5, 0.0], [0.0, 4.0], [8.0, 0.0], [8.0, 4.0], [4.0, 8.0]])
    return centres[rng.integers(6, size=n)] + rng.normal(size=(n, 2))


@pytest.mark.skipif(DISABLED, reason="long chains take compiled kernels")
def test_chains_agree_with_collapsed_ones_on_thousands_of_rows():
    """Means of the number of clusters, of the log joint, and of 200 pairs, over four chains."""
    X, means = neighbours(5000), {}
    for sampler in (Blocked(), SplitMerge()):
        rows = np.random.default_rng(9).integers(5000, size=(200, 2))
        runs = []
        for seed in range(4):
            prior = DirichletProcess(1.0)
            state = State(NormalInverseWishart().bind(X), prior, np.zeros(5000, int))
            rng, sums = np.random.default_rng(seed), np.zeros(202)
            for t in range(500):
                sampler.step(state, rng)
                if t % 50 == 0:
                    state.rebuild()
                if t >= 150:
                    together = state.labels[rows[:, 0]] == state.labels[rows[:, 1]]
                    sums += [state.n_blocks, state.log_joint(), *together]
            runs.append(sums / 350)
        means[type(sampler).__name__] = np.array(runs)
    one, two = means.values()
    error = np.sqrt((one.var(axis=0, ddof=1) + two.var(axis=0, ddof=1)) / 4)
    gap = np.abs(one.mean(axis=0) - two.mean(axis=0))
    assert gap[0] < 5.0 * error[0] + 0.05
    assert gap[1] < 5.0 * error[1] + 1.0
    assert gap[2:].mean() < 0.01 and gap[2:].max() < 0.1


@pytest.mark.skipif(DISABLED, reason="many rows take compiled kernels")
def test_clusters_cut_in_two_heal():
    """The goal of the design. Merges at large n are the weak spot; no test of few rows sees it."""
    X, y = crowded(100_000)
    likelihood = NormalInverseWishart(mean=0.0, kappa=0.01, nu=4.0, scale=0.001)
    state = State(likelihood.bind(X), DirichletProcess(1.0), cut(X, y))
    rng, sampler = np.random.default_rng(2), Blocked()
    assert whole(state.labels, y) < 5
    for _ in range(60):
        sampler.step(state, rng)
    assert whole(state.labels, y) >= 40


def test_the_exponential_of_sides_is_that_of_math():
    for x in np.linspace(-40.0, 0.0, 401):
        assert exp_of_negative(x) == pytest.approx(math.exp(x), rel=1e-12)
