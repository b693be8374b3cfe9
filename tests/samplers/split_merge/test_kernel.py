"""Moves that split and merge: their exactness, the parts they are made of, how many there are."""

import math
from collections import Counter
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import chisquare

from bnpcluster import DPMixture
from bnpcluster._core import operations as ops
from bnpcluster._core.jit import DISABLED
from bnpcluster._core.state import State
from bnpcluster._fitting.checkpoint import Checkpoint, thawed
from bnpcluster.likelihoods import Bernoulli, NormalInverseGamma, NormalInverseWishart
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import PGSM, SAMS, JainNeal, SplitMerge
from bnpcluster.samplers.launches import LAUNCHES, ROUNDS, launch, two_means
from bnpcluster.samplers.split_merge.anchors import Given, draw_anchors, member
from bnpcluster.samplers.split_merge.base import (
    COLUMNS,
    FEW,
    HALF,
    IDLE,
    IDLY,
    MOST_MOVES,
    PASSES,
    UNTUNED,
    USEFUL,
    WIDE,
)
from bnpcluster.samplers.split_merge.informed_anchors import ANCHOR_DISTRIBUTIONS
from bnpcluster.samplers.split_merge.kernel import LARGE, new_work
from bnpcluster.samplers.split_merge.orders import DECISIVE, RANDOM, arrange
from bnpcluster.samplers.split_merge.split_merge import FEW_ROWS, SCANS
from bnpcluster.testing import check_sampler
from tests.conftest import three_blobs
from tests.samplers.split_merge.exact_kernel import GRAPH, canonical
from tests.tools.brute_force_relational import BruteForceRelational
from tests.tools.proofs import run_as_plain_python


def test_moves_are_in_detailed_balance_with_the_posterior():
    """The proofs of `exact_kernel`, which take plain Python."""
    run_as_plain_python("tests/samplers/split_merge/exact_kernel.py")


@pytest.mark.parametrize(
    "sampler",
    [
        pytest.param(JainNeal(n_restricted=1, n_gibbs=1), id="jain_neal"),
        pytest.param(SAMS(order="alternate", n_moves=1, n_gibbs=0), id="sams"),
    ],
)
def test_compiled_moves_serve_a_likelihood_that_does_not_factorise(sampler):
    size = 200 if DISABLED else 10_000
    arguments = (BruteForceRelational(), DirichletProcess(1.0), GRAPH)
    check_sampler(sampler, *arguments, n_replicates=size)


def test_decisive_rows_come_first():
    """Those that the anchors predict about equally well come last."""
    bound = NormalInverseGamma().bind(np.linspace(-1.0, 1.0, 21)[:, None], 8)
    work = new_work(bound, 21)
    work.items[:21] = [4, 16, *np.delete(np.arange(21), [4, 16])]
    for side in (0, 1):
        ops.clear(bound, 5 + side)
        ops.add(bound, 5 + side, work.items[side])
    arrange(bound, work, DECISIVE, 2, 21, 5, np.random.default_rng(0))
    one, two = ([ops.log_predictive(bound, k, i) for i in work.items[2:21]] for k in (5, 6))
    assert (np.diff(np.abs(np.subtract(one, two))) <= 0.0).all()
    assert work.items[:2].tolist() == [4, 16]
    assert work.items[20] == 10
    assert sorted(work.items[:21].tolist()) == list(range(21))


def test_random_order_is_uniform_on_orders():
    bound = NormalInverseGamma().bind(np.linspace(-1.0, 1.0, 5)[:, None], 8)
    work, rng, seen = new_work(bound, 5), np.random.default_rng(0), Counter()
    for _ in range(1200):
        work.items[:5] = np.arange(5)
        arrange(bound, work, RANDOM, 2, 5, 5, rng)
        seen[tuple(work.items[:5].tolist())] += 1
    assert set(seen) == {(0, 1, *order) for order in permutations((2, 3, 4))}
    assert chisquare(list(seen.values())).pvalue > 1e-3


def posterior_scale(bound, Z):
    """Scatter matrix of a block under the prior, from its rows."""
    r0, m = bound.prior[0], len(Z)
    shift = Z.mean(axis=0) - bound.prior_mean
    scatter = np.cov(Z.T, bias=True) * m + r0 * m / (r0 + m) * np.outer(shift, shift)
    if bound.prior_scale.ndim == 1:
        return np.diag(bound.prior_scale + 0.5 * np.diag(scatter))
    return bound.prior_scale + scatter


def two_means_by_hand(Z, metric, rounds=ROUNDS + 1):
    """Sides of the rows, the first two being the anchors."""
    centres, sides = Z[:2], np.zeros(len(Z), int)
    for _ in range(rounds):
        v = np.linalg.solve(metric, centres[1] - centres[0])
        sides = (Z @ v > centres.mean(axis=0) @ v).astype(int)
        sides[:2] = 0, 1
        centres = np.array([Z[sides == side].mean(axis=0) for side in (0, 1)])
    return sides


def stretched(d, seed):
    """A long block next to a round one, so that the metric matters; the first 40 rows."""
    rng = np.random.default_rng(seed)
    factor = np.eye(d)
    factor[:, 0] = np.linspace(6.0, 3.0, d)
    return np.concatenate([rng.normal(size=(40, d)) @ factor.T, rng.normal(size=(20, d)) + 9.0])


PLACES = [
    pytest.param(NormalInverseWishart(), 2, id="planar"),
    pytest.param(NormalInverseWishart(), 4, id="general"),
    pytest.param(NormalInverseGamma(), 3, id="columns"),
    pytest.param(NormalInverseGamma(), 1, id="line"),
]


def union_in_slot(likelihood, d, seed, slot=3):
    """Bound data and work space with the first 40 rows in `slot`, two of them as anchors."""
    bound = likelihood.bind(stretched(d, seed), 8)
    work = new_work(bound, 60)
    work.items[:40] = np.random.default_rng(seed).permutation(40)
    work.sides[:2] = 0, 1
    for k in range(5):
        ops.clear(bound, k)
    for i in range(40):
        ops.add(bound, slot, i)
    for i in range(40, 60):
        ops.add(bound, 0, i)
    Z = np.array([[ops.coordinate(bound, i, c) for c in range(d)] for i in work.items[:40]])
    return bound, work, Z


@pytest.mark.parametrize(("likelihood", "d"), PLACES)
def test_two_means_are_those_of_numpy(likelihood, d):
    differ = late = 0
    for seed in range(20):
        bound, work, Z = union_in_slot(likelihood, d, seed)
        plain = two_means_by_hand(Z, np.eye(d))
        whitened = two_means_by_hand(Z, posterior_scale(bound, Z))
        two_means(bound, work, 40, 3, False)
        np.testing.assert_array_equal(work.sides[:40], plain)
        two_means(bound, work, 40, 3, True)
        np.testing.assert_array_equal(work.sides[:40], whitened)
        differ += (plain != whitened).any()
        late += (whitened != two_means_by_hand(Z, posterior_scale(bound, Z), ROUNDS)).any()
    assert late > 0
    assert differ > 0 or d == 1


@pytest.mark.parametrize(("likelihood", "d"), PLACES)
def test_whitening_is_solving(likelihood, d):
    for seed in range(5):
        bound, _, Z = union_in_slot(likelihood, d, seed)
        v = np.random.default_rng(seed).normal(size=d)
        expected = np.linalg.solve(posterior_scale(bound, Z), v)
        ops.whiten(bound, 3, v)
        np.testing.assert_allclose(v / np.linalg.norm(v), expected / np.linalg.norm(expected))


def test_hard_launch_parts_coins_by_what_they_show():
    X = np.repeat([[1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 1.0, 1.0]], 20, axis=0)
    bound = Bernoulli().bind(X, 8)
    work = new_work(bound, 40)
    work.items[:40] = [25, 3, *np.delete(np.arange(40), [3, 25])]
    work.sides[:2] = 0, 1
    for side in (0, 1):
        ops.clear(bound, 5 + side)
        ops.add(bound, 5 + side, work.items[side])
    alone = [ops.log_predictive(bound, 5 + side, 7) for side in (0, 1)]
    launch(bound, work, LAUNCHES["hard"], 40, 0, 5, np.random.default_rng(0))
    np.testing.assert_array_equal(work.sides[:40], work.items[:40] < 20)
    # The slots hold the anchors alone again.
    assert [ops.log_predictive(bound, 5 + side, 7) for side in (0, 1)] == alone


def test_coins_are_fair():
    bound = Bernoulli().bind(np.eye(402)[:, :3], 8)
    work = new_work(bound, 402)
    heads, rng = np.zeros(402), np.random.default_rng(1)
    for _ in range(200):
        launch(bound, work, LAUNCHES["random"], 402, 0, 5, rng)
        heads += work.sides[:402]
    assert chisquare([heads[2:].sum(), 80_000 - heads[2:].sum()]).pvalue > 1e-3
    assert 60 < heads[2:].min() and heads[2:].max() < 140


FAR = 12.0 * np.repeat(np.array([[0.0, 0.0], [1.0, 0.2], [0.3, 1.0]]), 30, axis=0)
FAR += np.random.default_rng(5).normal(size=FAR.shape)


@pytest.mark.parametrize(
    "sampler",
    [
        pytest.param(SplitMerge(n_moves=10), id="auto"),
        *[
            pytest.param(SplitMerge(launches=[name], n_moves=10), id=name)
            for name in LAUNCHES
            if name != "random"
        ],
        pytest.param(SAMS(order="decisive", n_moves=10), id="sams"),
    ],
)
def test_far_clusters_are_found_at_once(sampler):
    state = State(NormalInverseWishart().bind(FAR), DirichletProcess(1e-3), [0] * 90)
    for seed in range(5):
        sampler.step(state, np.random.default_rng(seed))
    assert canonical(state.labels) == tuple(np.arange(90) // 30)


MOVERS = [
    pytest.param(JainNeal(n_restricted=1), id="jain_neal"),
    pytest.param(JainNeal(n_restricted=None), id="no_scan"),
    pytest.param(SAMS(order="alternate"), id="sams"),
    pytest.param(SAMS(anchors="balanced"), id="sams-balanced"),
    pytest.param(SAMS(anchors="cluster"), id="sams-cluster"),
    pytest.param(SAMS(anchors="threshold", order="decisive"), id="sams-threshold"),
    pytest.param(SplitMerge(), id="split_merge"),
    pytest.param(SplitMerge(launches=["hard"], n_restricted=1), id="hard"),
]


@pytest.mark.parametrize("sampler", MOVERS)
def test_room_and_the_length_of_kernel_calls_change_nothing(sampler):
    """Room runs out between and within calls, up to 16 slots and beyond."""
    sampler.set_params(n_moves=30, n_gibbs=0)
    bound, paths = NormalInverseWishart().bind(FAR[::4], 2), []
    for batch, capacity in ((1024, 64), (1, 2), (7, 2)):
        labels = [0] * len(FAR[::4])
        state = State(bound, DirichletProcess(200.0), labels, beta=0.1, capacity=capacity)
        rng = np.random.default_rng(0)
        paths.append([])
        for _ in range(8):
            state._batch = batch
            sampler.step(state, rng)
            paths[-1].append(state.labels.tolist())
    assert paths[0] == paths[1] == paths[2]
    assert np.max(paths) > 10


def assert_as_rebuilt(state):
    """All that is kept about the blocks, and about the empty slot, is what the labels say."""
    lik, K = state.problem.likelihood, state.n_blocks
    blocks = np.append(np.unique(state.labels[state.labels >= 0]), K)
    np.testing.assert_array_equal(blocks, np.arange(K + 1))
    fresh = State(lik, state.prior, state.labels, beta=state.problem.beta)
    assert state.log_joint() == pytest.approx(fresh.log_joint(), abs=1e-9)
    for k in range(K + 1):
        same = fresh.labels[state.labels == k][0] if k < K else K
        assert state.partition.sizes[k] == (state.labels == k).sum()
        assert k == K or state.partition.log_prior[k] == fresh.partition.log_prior[same]
        for i in range(len(state.labels)):
            expected = ops.log_predictive(fresh.problem.likelihood, same, i)
            assert ops.log_predictive(lik, k, i) == pytest.approx(expected, abs=1e-9)
    assert not state.partition.sizes[K:].any()


PLANAR = (NormalInverseWishart(), FAR[::5])
BITS = (Bernoulli(), (FAR[::5] > 5.0).astype(float))
VERTICES = (BruteForceRelational(), np.kron(np.eye(2), np.ones((4, 4))) - np.eye(8))


@pytest.mark.parametrize(
    ("sampler", "likelihood", "X"),
    [
        *[pytest.param(*m.values, *PLANAR, id=f"{m.id}-planar") for m in MOVERS],
        *[pytest.param(*m.values, *BITS, id=f"{m.id}-bernoulli") for m in MOVERS[-2:]],
        *[pytest.param(*m.values, *VERTICES, id=f"{m.id}-relational") for m in MOVERS[:3:2]],
    ],
)
def test_moves_keep_the_books(sampler, likelihood, X):
    sampler.set_params(n_moves=5 if DISABLED else 20, n_gibbs=0)
    labels = np.where(np.arange(len(X)) % 6 == 5, -1, 0)
    state = State(likelihood.bind(X), DirichletProcess(4.0), labels, beta=0.4)
    counts = {"splits_accepted": 0.0, "merges_accepted": 0.0}
    for seed in range(12):
        step = sampler.step(state, np.random.default_rng(seed))
        assert step["splits"] + step["merges"] == sampler.n_moves
        assert step["lazy_merges"] + step["merges_accepted"] <= step["merges"]
        counts = {name: counts[name] + step[name] for name in counts}
        assert_as_rebuilt(state)
    assert (state.labels[labels < 0] == -1).all()
    assert min(counts.values()) > 0
    change = counts["splits_accepted"] - counts["merges_accepted"]
    assert state.n_blocks == 1 + change


def anchors_drawn(name, labels, times=300):
    """Pairs of anchors drawn from `FAR` in these blocks."""
    state = State(NormalInverseWishart().bind(FAR), DirichletProcess(1.0), labels, capacity=16)
    work, rng = new_work(state.problem.likelihood, 90), np.random.default_rng(0)
    work.numbers[3] = state.n_blocks + 4
    drawn = []
    for _ in range(times):
        draw_anchors(ANCHOR_DISTRIBUTIONS[name](), state.problem, state.partition, work, rng)
        drawn.append(work.anchors.tolist())
    return np.array(drawn)


@pytest.mark.parametrize("anchors", ["cluster", "threshold"])
def test_informed_anchors_are_drawn_where_blocks_might_be_one(anchors):
    """Six blocks, of which two and two are halves of a cluster."""
    i, j = anchors_drawn(anchors, np.arange(90) // 15).T
    np.testing.assert_array_equal(i // 30, j // 30)
    assert (i != j).all() and len(np.unique(i)) > 80
    together = (i // 15 == j // 15).sum()
    assert 20 < together < (80 if anchors == "cluster" else 190)


def test_balanced_anchors_share_a_block_half_the_time():
    labels = np.minimum(np.arange(90) // 10, 3)
    i, j = anchors_drawn("balanced", labels).T
    assert (i != j).all() and 120 < (labels[i] == labels[j]).sum() < 180
    assert (anchors_drawn("balanced", np.arange(90), 10)[:, 0] >= 0).all()


@pytest.mark.parametrize(("anchors", "least", "most"), [("balanced", 0, 4), ("mixed", 25, 75)])
def test_mixed_anchors_come_from_two_small_blocks_too(anchors, least, most):
    """A sixth of 300 pairs: a coin for pairs of blocks, one for two of them, and 20 of 30 pairs."""
    labels = np.maximum(np.arange(90) // 2 - 39, 0)  # 80 items, and five pairs
    i, j = anchors_drawn(anchors, labels).T
    assert (i != j).all() and (anchors_drawn(anchors, np.arange(90), 10)[:, 0] >= 0).all()
    assert least <= np.count_nonzero((labels[i] != labels[j]) & (labels[i] * labels[j] > 0)) <= most


@pytest.mark.parametrize(("n", "scans"), [(FEW_ROWS * 2 - 1, SCANS), (FEW_ROWS * 2, 0)])
def test_launches_of_few_rows_are_improved_by_scans(n, scans):
    bound = NormalInverseWishart().bind(np.random.default_rng(0).normal(size=(n, 2)))
    state = State(bound, DirichletProcess(1.0), np.zeros(n, int))
    assert SplitMerge()._plan(state)[1].n_restricted == scans
    assert SplitMerge(n_restricted=3)._plan(state)[1].n_restricted == 3
    coins = State(Bernoulli().bind(np.ones((9, 2))), DirichletProcess(1.0), np.zeros(9, int))
    assert SplitMerge()._plan(coins)[1].n_restricted == 0


@pytest.mark.parametrize(("size", "within"), [(60, True), (60, False), (12, True), (12, False)])
def test_a_member_of_a_block_is_any_other_with_the_same_probability(size, within):
    """Found by rejection (60 of 400 items) or by counting (12)."""
    rng = np.random.default_rng(3)
    labels = np.full(450, -1)
    items = np.sort(rng.choice(450, 400, replace=False))
    labels[items] = rng.integers(2, size=400) * 2
    block = rng.choice(items, size, replace=False)
    labels[block] = 1
    excluded = block[3] if within else -1
    found = [member(items, labels, size, 1, excluded, rng) for _ in range(80 * size)]
    values, counts = np.unique(found, return_counts=True)
    np.testing.assert_array_equal(values, np.sort(block[block != excluded]))
    assert chisquare(counts).pvalue > 1e-3


QUICK = {"n_chains": 2, "random_state": 4}
AUTO = [
    pytest.param(SplitMerge(), id="split_merge"),
    pytest.param(SAMS(anchors="balanced"), id="sams"),
]


def tuned(model):
    """What each chain has found in warm-up."""
    return [thawed(arrays, model._fitted.prior).tuning for arrays in model._fitted.states]


def n_moves(model):
    """How many moves each chain has made."""
    counts = [thawed(arrays, model._fitted.prior).counts for arrays in model._fitted.states]
    return [c["splits"] + c["merges"] for c in counts]


def frozen(tuning):
    """The mean number of moves per iteration after warm-up."""
    return tuning["moves"] * min(max(tuning["large"] / USEFUL, HALF), 1.0)  # rows are few


def fit(sampler, n_draws=30, n_warmup=60, **parameters):
    model = DPMixture(sampler=sampler, n_draws=n_draws, n_warmup=n_warmup, **QUICK, **parameters)
    return model.fit(three_blobs()[0])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("sampler", AUTO)
def test_the_number_of_moves_depends_on_the_seed_alone_and_is_frozen_after_warm_up(sampler):
    early, again, longer = fit(sampler), fit(sampler), fit(sampler, n_draws=90)
    tuning = tuned(early)
    assert [t["seen"] for t in tuning] == [60.0, 60.0]
    assert tuning == tuned(longer) == tuned(again.continue_fit(60))
    for labels in (early.posterior_.labels, again.posterior_.labels):
        np.testing.assert_array_equal(labels[:, :30], longer.posterior_.labels[:, :30])
    # The number of moves in an iteration after warm-up is rounded up or down at random.
    for t, short, long in zip(tuning, *(n_moves(model) for model in (early, longer)), strict=True):
        assert long - short == pytest.approx(60 * frozen(t), abs=5 * math.sqrt(60 / 4))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_tuning_survives_an_interruption(tmp_path, monkeypatch):
    sampler, schedule = SplitMerge(), {"n_draws": 40, "n_warmup": 140}
    whole = fit(sampler, **schedule)
    monkeypatch.setattr("bnpcluster._fitting.checkpoint.EVERY", 0.0)
    save = Checkpoint.save

    def dies(self, chains, force=False):
        save(self, chains, force)
        assert 0 < chains[0].iteration < 140
        raise KeyError("the machine stopped")

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "save", dies)
        with pytest.raises(KeyError):
            fit(sampler, checkpoint=tmp_path, **schedule)
    resumed = fit(sampler, checkpoint=tmp_path, **schedule)
    assert tuned(resumed) == tuned(whole)
    assert tuned(resumed)[0]["seen"] == 140.0
    np.testing.assert_array_equal(resumed.posterior_.labels, whole.posterior_.labels)


def test_as_many_moves_as_cost_one_sweep():
    sampler, rng = SplitMerge(n_gibbs=0), np.random.default_rng(0)
    sampler.few = 0
    state = State(NormalInverseWishart().bind(FAR), DirichletProcess(1.0), [0] * 90)
    assert sampler._how_many(state, rng) == UNTUNED
    sampler._learn(state, 400.0, 0, 10)
    assert state.tuning == {}  # it is not warm-up
    state.adapting = True
    sampler._learn(state, 0.0, 0, 10)
    assert state.tuning == {"seen": 1.0, "cost": IDLE, "moves": 90 / IDLE, "large": 0.0}
    assert sampler._how_many(state, rng) == round(90 / IDLE)
    sampler._learn(state, 400.0, 0, 10)
    assert state.tuning["cost"] == pytest.approx(IDLE + PASSES * 20.0)
    for _ in range(1000):
        sampler._learn(state, 9000.0, 0, 10)
    assert state.tuning["cost"] == pytest.approx(IDLE + PASSES * 900.0)
    assert state.tuning["moves"] == sampler._how_many(state, rng) == 1
    many = SimpleNamespace(adapting=True, tuning={}, n_items=10**6, problem=state.problem)
    sampler._learn(many, 0.0, 0, 10)
    assert sampler._how_many(many, rng) == MOST_MOVES
    wide = NormalInverseWishart().bind(np.random.default_rng(0).normal(size=(9, 2 * COLUMNS)))
    wide = SimpleNamespace(
        adapting=True, tuning={}, n_items=90, problem=SimpleNamespace(likelihood=wide)
    )
    sampler._learn(wide, 400.0, 0, 10)
    assert wide.tuning["cost"] == pytest.approx(IDLE + (PASSES + 2) * 40.0)
    given = SplitMerge(n_moves=3)
    assert given._how_many(state, rng) == 3
    before = state.tuning.copy()
    given._learn(state, 0.0, 0, 3)
    assert state.tuning == before


def after_warm_up(large, n_warmup=100, n=90):
    """How many of 20 moves per iteration are left, on average.

    The iterations `large` of warm-up brought about a large move.
    """
    state = State(
        NormalInverseWishart().bind(np.resize(FAR, (n, 2))), DirichletProcess(1.0), [0] * n
    )
    sampler, rng, state.adapting = SplitMerge(), np.random.default_rng(0), True
    for t in range(n_warmup):
        sampler._learn(state, 0.0, int(t in large), 10)
    state.adapting, state.tuning["moves"] = False, 20.0
    return np.mean([sampler._how_many(state, rng) for _ in range(400)])


@pytest.mark.parametrize("n_warmup", [50, 100, 500])
def test_idle_moves_become_fewer_after_warm_up(n_warmup):
    """However long it was, its last quarter counts most: the search at its start does not."""
    least = 20.0 * HALF
    assert after_warm_up([], n_warmup) == pytest.approx(least, abs=0.1)
    assert after_warm_up(range(n_warmup // 5), n_warmup) == pytest.approx(least, abs=0.1)
    assert after_warm_up(range(n_warmup // 2, n_warmup), n_warmup) == 20.0


def test_idle_moves_cost_a_fifth_of_a_sweep_if_rows_are_many():
    assert after_warm_up([], n=FEW) == pytest.approx(20.0 * HALF / 2, abs=0.1)
    assert after_warm_up([], n=4 * FEW) == pytest.approx(20.0 * IDLY, abs=0.1)


def test_a_rare_large_move_is_not_idle():
    assert after_warm_up([95]) == 20.0
    assert least_share(after_warm_up([247], 250)) and least_share(after_warm_up([75]))


def least_share(mean):
    """Whether a mean of 20 moves is more than idle ones get, but not all."""
    return 20.0 * HALF + 0.5 < mean < 19.5


def test_a_number_that_is_not_whole_is_rounded_at_random():
    """So moves that cost more than a sweep can be made in some iterations only."""
    state = State(NormalInverseWishart().bind(FAR), DirichletProcess(1.0), [0] * 90)
    state.tuning = {"moves": 1.0, "large": 0.0}
    rng = np.random.default_rng(1)
    counts = Counter(SplitMerge()._how_many(state, rng) for _ in range(4000))
    assert set(counts) == {0, 1} and counts[1] / 4000 == pytest.approx(HALF, abs=0.04)


@pytest.mark.parametrize(("few", "many"), [(9, 40), (10, 40), (15, 241), (16, 240)])
def test_a_move_is_large_if_it_moves_many_items(few, many):
    """Ten, and the square root of all."""
    rng = np.random.default_rng(0)
    X = np.concatenate([np.full((many, 2), -1.0), np.full((few, 2), 1.0)])
    X += 1e-3 * rng.normal(size=X.shape)
    state = State(NormalInverseWishart().bind(X), DirichletProcess(1e-9), [0] * len(X))
    sampler, accepted, large = SplitMerge(launches=["two_means"]), 0, 0
    work, _, plan = sampler._prepared(state)
    state.scratch["moves"] = work, Given(np.array([0, many])), plan
    while not accepted:
        counts = sampler._move(state, 1, rng)
        accepted += counts["splits_accepted"]
        large += counts["large"]
    assert sorted(state.sizes) == [few, many]
    assert large == int(few >= max(LARGE, math.sqrt(few + many)))


@pytest.mark.parametrize(
    ("likelihood", "enough"),
    [(NormalInverseWishart(), FEW // 2), (NormalInverseGamma(), FEW // 2), (Bernoulli(), FEW // 8)],
)
def test_few_items_get_more_moves(likelihood, enough):
    X = FAR > 0 if isinstance(likelihood, Bernoulli) else FAR
    state = State(likelihood.bind(X * 1.0), DirichletProcess(1.0), [0] * 90)
    state.adapting = True
    for sampler, items in ((SplitMerge(), enough), (SAMS(), enough), (PGSM(), 90)):
        state.tuning = {}
        sampler._learn(state, 400.0, 0, 10)
        assert state.tuning["moves"] == pytest.approx(items / (IDLE + PASSES * 40.0))


def test_wide_items_get_more_moves():
    X = np.random.default_rng(0).normal(size=(30, COLUMNS - 1))
    state = State(NormalInverseWishart().bind(X), DirichletProcess(1.0), [0] * 30)
    state.adapting = True
    SplitMerge()._learn(state, 400.0, 0, 10)
    items = WIDE * (COLUMNS - 1)
    assert state.tuning["moves"] == pytest.approx(items / (IDLE + PASSES * 40.0))


@pytest.mark.parametrize("n_restricted", [0, 2, None])
def test_work_is_counted_in_items(n_restricted):
    """Of a split: once to list the items and launch, and once for every scan."""
    state = State(NormalInverseWishart().bind(FAR), DirichletProcess(1.0), [0] * 90)
    sampler = JainNeal(n_restricted=n_restricted)
    n_scans = 0 if n_restricted is None else n_restricted + 1
    assert sampler._move(state, 1, np.random.default_rng(0))["work"] == 90 * (1 + n_scans)


def test_a_single_item_is_let_be():
    state = State(NormalInverseWishart().bind(FAR[:3]), DirichletProcess(1.0), [-1, 0, -1])
    assert SplitMerge(n_gibbs=2).step(state, np.random.default_rng(0)) == {"sweeps": 2}
    assert state.labels.tolist() == [-1, 0, -1]


COINS = (FAR[:20] > 1.0).astype(float)


@pytest.mark.parametrize(
    ("sampler", "message"),
    [
        (SplitMerge(launches=["hrad"]), r"launches must be one of .* Did you mean 'hard'\?"),
        (SplitMerge(launches="hard"), "launches must be 'auto' or a list of 'two_means'"),
        (SplitMerge(launches=[]), "launches must be 'auto' or a list of"),
        (SplitMerge(launches=3), "launches must be 'auto' or a list of"),
        (SplitMerge(launches=["two_means"]), "'two_means' needs distances .* use 'hard'"),
        (SplitMerge(launches=["whitened_two_means"]), "needs distances"),
        (SplitMerge(anchors="balance"), r"anchors must be one of .* Did you mean 'balanced'\?"),
        (SAMS(anchors=None), "anchors must be one of 'uniform'.*got None"),
        (SAMS(order="desicive"), r"order must be one of .* Did you mean 'decisive'\?"),
        (JainNeal(n_restricted=-1), "n_restricted must be an integer of at least 0, got -1"),
        (SplitMerge(n_restricted=None), "n_restricted must be an integer of at least 0"),
        (JainNeal(n_restricted=1.5), "n_restricted must be an integer"),
        (JainNeal(n_moves=0), "n_moves must be an integer of at least 1, got 0"),
        (SAMS(n_moves="many"), "n_moves must be an integer of at least 1, got 'many'"),
        (SAMS(n_moves=True), "n_moves must be an integer"),
        (SAMS(n_gibbs=-1), "n_gibbs must be an integer of at least 0"),
    ],
)
def test_a_wrong_setting_is_answered_in_one_sentence(sampler, message):
    model = DPMixture(likelihood="bernoulli", sampler=sampler, n_draws=2, n_warmup=1)
    with pytest.raises(ValueError, match=message):
        model.fit(COINS)


@pytest.mark.parametrize("anchors", ["cluster", "threshold"])
def test_informed_anchors_are_refused_where_blocks_cannot_be_pooled(anchors):
    state = State(BruteForceRelational().bind(GRAPH), DirichletProcess(1.0), [0] * 4)
    with pytest.raises(ValueError, match=f"anchors='{anchors}' needs .* 'balanced' or 'mixed'"):
        SAMS(anchors=anchors).step(state, np.random.default_rng(0))
