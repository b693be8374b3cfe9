"""A chain whose rows are elsewhere: exact, and the same however rows are divided among threads."""

import numpy as np
import pytest

from bnpcluster._core.jit import DISABLED
from bnpcluster._core.state import State
from bnpcluster.likelihoods import (
    LIKELIHOODS,
    NormalInverseGamma,
    NormalInverseWishart,
)
from bnpcluster.likelihoods.gaussian import nig_sizes, niw_sizes
from bnpcluster.priors import NGG, DirichletProcess, PitmanYor
from bnpcluster.samplers import Blocked, Gibbs
from bnpcluster.samplers.base import Sampler, can_sample
from bnpcluster.samplers.blocked import batch_elsewhere, elsewhere
from bnpcluster.samplers.blocked import root as root_of_chains
from bnpcluster.samplers.blocked.assignment import CHUNK, LAST, Message, Numbering
from bnpcluster.samplers.blocked.batch import Skeleton
from bnpcluster.samplers.blocked.batch_elsewhere import divide_over, joined, rank_of_numbers
from bnpcluster.samplers.blocked.counters import LOW, fill_ranks
from bnpcluster.samplers.blocked.elsewhere import (
    Chunk,
    labels_in,
    labels_of,
    new_chunk,
    pass_over,
    total,
)
from bnpcluster.samplers.blocked.root import Root
from bnpcluster.testing import check_sampler

N_REPLICATES = 20 if DISABLED else 800
MANY = 20 if DISABLED else 20_000


def chunks_of(likelihood, bound, X, ends):
    """The rows in chunks that begin at 0 and at the ends."""
    starts = (0, *ends)
    parts = zip(starts, (*ends, len(X)), strict=True)
    return [new_chunk(likelihood, bound, X[start:stop], start) for start, stop in parts]


def found_by(likelihood, bound, sent, chunks, n_threads=None):
    """What a pass over all chunks finds."""
    parts = [pass_over(likelihood, bound, [sent], chunk, n_threads)[0][0] for chunk in chunks]
    return total(parts)


class Passes(Sampler):
    """One iteration of a chain whose rows are in several chunks, given the labels of all."""

    requires = Gibbs.requires

    def __init__(self, likelihood=None, X=None, n_scanned=2, ends=(2,), moves=True):
        self.likelihood, self.X, self.n_scanned, self.ends = likelihood, X, n_scanned, ends
        self.moves = moves

    def step(self, state, rng):
        rows = self.X[: len(state.labels)]
        bound = state.problem.likelihood
        root = Root(
            self.likelihood,
            bound,
            state.prior,
            state.labels.copy(),
            n_items=len(rows),
            n_scanned=self.n_scanned,
            makes_batches=self.moves,
        )
        chunks = chunks_of(self.likelihood, bound, rows, self.ends)
        sent = root.first(rng)
        parts = []
        for chunk in chunks:  # all rows keep their labels, so what is found is the present state
            own = state.labels[chunk.numbering.first + chunk.places].astype(np.int32)
            arguments = (self.likelihood, bound, [sent], [own], chunk, 0)
            parts += elsewhere._pass_over_some(*arguments)
        root.receive(total(parts))
        assert root.log_joint() == pytest.approx(state.log_joint(), abs=1e-8)
        plan = root.plan(rng) if self.moves else None
        if plan is not None:
            divided = []
            for chunk in chunks:
                own = state.labels[chunk.numbering.first + chunk.places].astype(np.int32)
                divided.append(divide_over(self.likelihood, bound, plan, own, chunk))
            root.settle(joined(divided), rng)
        sent = root.next(rng)
        root.receive(found_by(self.likelihood, bound, sent, chunks))
        labels = [labels_of(self.likelihood, bound, sent.message, chunk) for chunk in chunks]
        state.labels[:] = np.concatenate(labels)
        state.rebuild()
        assert root.log_joint() == pytest.approx(state.log_joint(), abs=1e-8)
        return {"sweeps": 1}


def examples(names=tuple(LIKELIHOODS)):
    """The examples of likelihoods that the sampler serves."""
    for name, cls in ((name, LIKELIHOODS[name]) for name in names):
        for j, (likelihood, X) in enumerate(cls.examples(np.random.default_rng(1))):
            if can_sample(Blocked, likelihood.bind(X[:5])):
                yield pytest.param(likelihood, X[:5], id=f"{name}-{j}")


@pytest.mark.parametrize(("likelihood", "X"), list(examples(("niw", "bernoulli"))))
def test_one_iteration_leaves_the_posterior_as_it_is(likelihood, X):
    sampler = Passes(likelihood, X, n_scanned=1)
    check_sampler(sampler, likelihood, PitmanYor(0.8, 0.3), X, n_replicates=N_REPLICATES)


@pytest.mark.slow
@pytest.mark.parametrize(("likelihood", "X"), list(examples()))
def test_one_iteration_is_exact_for_many_replicates(likelihood, X):
    sampler = Passes(likelihood, X, n_scanned=1)
    check_sampler(sampler, likelihood, PitmanYor(0.8, 0.3), X, n_replicates=MANY)


@pytest.mark.parametrize("prior", [DirichletProcess(1.5), NGG(1.0, 0.4)])
@pytest.mark.parametrize("n_scanned", [0.5, 5])
def test_every_prior_and_any_number_of_rows_to_scan(prior, n_scanned):
    X = np.array([[-1.0, 0.3], [0.2, 0.1], [0.4, -0.6], [2.0, 1.0], [1.6, 0.9]])
    likelihood = NormalInverseWishart(mean=[0.0, 0.0], kappa=0.2, nu=4.0, scale=1.0)
    sampler = Passes(likelihood, X, n_scanned, ends=(1, 4))
    check_sampler(sampler, likelihood, prior, X, n_replicates=4 * N_REPLICATES)


def blobs(n, d=2):
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=n)
    return 4.0 * rng.normal(size=(4, d))[y] + rng.normal(size=(n, d)), y


def run(X, ends, n_threads=None, n_iterations=4, kind=np.float64):
    """Labels and statistics after some iterations."""
    likelihood, (_, y) = NormalInverseWishart(), blobs(len(X))
    bound, rng = likelihood.bind(X[:200]), np.random.default_rng(1)
    root = Root(likelihood, bound, DirichletProcess(1.0), y[:200], n_items=len(X), n_scanned=50)
    chunks = chunks_of(likelihood, bound, X.astype(kind), ends)
    sent, seen = root.first(rng), []
    for _ in range(n_iterations):
        root.receive(found_by(likelihood, bound, sent, chunks, n_threads))
        labels = [labels_of(likelihood, bound, sent.message, c, n_threads) for c in chunks]
        seen.append(np.concatenate(labels))
        sent = root.next(rng)
    return seen, root


def test_nothing_depends_on_the_number_of_threads():
    X = blobs(CHUNK + 300)[0]
    one, two = (run(X, (40, 700), n_threads, 2) for n_threads in (1, 3))
    assert np.array_equal(one[0], two[0])
    assert one[1].log_joint() == two[1].log_joint()


def test_statistics_are_those_of_the_labels_and_leaders_stay():
    X = blobs(700)[0]
    likelihood, (_, y) = NormalInverseWishart(), blobs(700)
    bound, rng = likelihood.bind(X[:200]), np.random.default_rng(1)
    root = Root(likelihood, bound, DirichletProcess(1.0), y[:200], n_items=700, n_scanned=50)
    chunks = chunks_of(likelihood, bound, X, (40, 300))
    sent, before = root.first(rng), None
    for _ in range(5):
        root.receive(found_by(likelihood, bound, sent, chunks))
        labels = np.concatenate([labels_of(likelihood, bound, sent.message, c) for c in chunks])
        whole = State(bound, root.prior, np.zeros(200, int), n_items=700)
        whole = State(
            likelihood.rows(bound, X), root.prior, np.unique(labels, return_inverse=True)[1]
        )
        assert np.array_equal(np.sort(whole.sizes), np.sort(root.sizes))
        assert root.log_joint() == pytest.approx(whole.log_joint(), rel=1e-9)
        firsts = sent.message.leaders & LOW
        if before is not None:
            assert np.array_equal(labels[firsts.astype(int)], np.arange(len(firsts)))
        found, before = root.found, labels
        assert np.array_equal(found.scanned.rows, X[found.scanned.numbers])
        assert len(found.scanned.numbers) == len(set(found.scanned.numbers.tolist()))
        sent = root.next(rng)


def test_rows_in_single_precision_give_the_same_labels_up_to_rounding():
    X = blobs(600)[0].astype(np.float32)
    one, two = run(X, (100,), kind=np.float32), run(X, (100,))
    assert all(np.array_equal(a, b) for a, b in zip(one[0], two[0], strict=True))


def test_labels_do_not_depend_on_the_order_in_a_chunk():
    """A chunk may be kept in any order, as long as every row keeps its number."""
    X = blobs(500)[0]
    likelihood = NormalInverseWishart()
    bound, rng = likelihood.bind(X), np.random.default_rng(1)
    root = Root(likelihood, bound, DirichletProcess(1.0), blobs(500)[1], n_items=500, n_scanned=9)
    sent, order = root.first(rng), rng.permutation(500)
    plain = Chunk(X, Numbering(7, np.zeros(0, np.uint32)))
    mixed = Chunk(X[order], Numbering(7, order.astype(np.uint32)))
    message = Message(
        sent.message.key, np.array([7 + 5, 7 + 9, 7, LAST], np.uint64), *sent.message[2:]
    )
    labels = [labels_of(likelihood, bound, message, chunk) for chunk in (plain, mixed)]
    assert np.array_equal(*labels)
    assert labels[0][[5, 9, 0]].tolist() == [0, 1, 2]


@pytest.mark.parametrize("d", [1, 2, 4])
@pytest.mark.parametrize(
    ("cls", "sizes"),
    [(NormalInverseWishart, niw_sizes), (NormalInverseGamma, nig_sizes)],
    ids=["niw", "nig"],
)
def test_normalisers_beyond_the_table_continue_it(cls, sizes, d):
    X = 3.0 * np.random.default_rng(0).normal(size=(60, d)) + 1.0
    bound = cls().bind(X)
    if d == 1:
        sizes = nig_sizes
    for m in (0, 1, 17, 60):
        assert sizes.predictive_beyond(bound, m) == pytest.approx(
            bound.norm_predictive[m], abs=1e-12
        )
        assert sizes.marginal_beyond(bound, m) == pytest.approx(bound.norm_marginal[m], abs=1e-12)
        assert sizes.predictive_normaliser(bound, m) == bound.norm_predictive[m]
    for m in (62, 1000):
        assert sizes.marginal_normaliser(bound, m) == sizes.marginal_beyond(bound, m)
        assert sizes.predictive_normaliser(bound, m) == sizes.predictive_beyond(bound, m)


def start(X, labels):
    """The root of a chain that starts at labels of the first rows, its generator, and chunks."""
    likelihood = NormalInverseWishart()
    n = len(labels)
    bound, rng = likelihood.bind(X[:n]), np.random.default_rng(1)
    prior = DirichletProcess(1.0)
    root = Root(likelihood, bound, prior, labels, n_items=len(X), n_scanned=50)
    return root, rng, chunks_of(likelihood, bound, X, (40, 300))


def test_blocks_without_rows_are_closed_and_moves_wait_for_the_next_message():
    X = blobs(700)[0]
    labels = np.append([0, 1, 2, 4], np.full(99, 3))  # single rows, which others do not join
    root, rng, _ = start(np.vstack([X[:4] + 500.0, X[:99], X]), labels)
    likelihood = root.likelihood
    far = chunks_of(likelihood, root.problem.likelihood, X, (40, 300))
    sent = root.first(rng)
    found = found_by(likelihood, root.problem.likelihood, sent, far)
    assert (found.sizes > 0).sum() == 1
    root.receive(found)
    assert root.n_blocks == 1
    assert (root.found.scanned.labels == 0).all()
    assert (root.found.some.labels == 0).all()
    assert all(root.plan(rng) is None for _ in range(20))
    sent = root.next(rng)
    root.receive(found_by(likelihood, root.problem.likelihood, sent, far))
    assert any(root.plan(rng) is not None for _ in range(20))


def test_if_too_few_rows_come_back_more_are_asked_for(monkeypatch):
    monkeypatch.setattr(root_of_chains, "MARGIN", -15.9)
    X, y = blobs(6000)
    root, rng, chunks = start(X, y[:400])
    sent, asked = root.first(rng), 0
    while sent is not None:
        found, last = found_by(root.likelihood, root.problem.likelihood, sent, chunks), sent
        sent, asked = root.lacks(found), asked + 1
    assert asked > 1
    came = np.bincount(found.some.labels, minlength=len(found.sizes))
    assert (came >= np.minimum(found.sizes, 258)).all()
    again = found_by(root.likelihood, root.problem.likelihood, last, chunks)
    assert np.array_equal(again.sizes, found.sizes)
    for k in range(len(found.sizes)):  # those that come first, in the order for moves
        own = np.sort(rank_of_numbers(last.odd, found.some.numbers[found.some.labels == k]))
        every = [
            labels_of(root.likelihood, root.problem.likelihood, last.message, c) for c in chunks
        ]
        members = np.flatnonzero(np.concatenate(every) == k)
        ranks = np.sort(rank_of_numbers(last.odd, members))
        assert np.array_equal(own, ranks[: len(own)])


def test_anchors_are_two_different_random_rows_of_each_block():
    X, y = blobs(400)
    root, rng, chunks = start(X, y)
    firsts, n_found = np.zeros(400), 600 if not DISABLED else 5
    sent = root.first(rng)
    labels = np.concatenate(
        [labels_of(root.likelihood, root.problem.likelihood, sent.message, c) for c in chunks]
    )
    for _ in range(n_found):
        sent = sent._replace(next_key=rng.integers(1 << 32, size=2, dtype=np.uint64))
        anchors = found_by(root.likelihood, root.problem.likelihood, sent, chunks).anchors
        assert np.array_equal(labels[anchors.numbers], np.repeat(np.arange(4)[:, None], 2, axis=1))
        assert (anchors.numbers[:, 0] != anchors.numbers[:, 1]).all()
        firsts[anchors.numbers] += 1
    expected = 2.0 * n_found / np.bincount(labels)[labels]
    if not DISABLED:
        assert ((firsts - expected) ** 2 / expected).sum() < 400 + 5 * np.sqrt(800)


def test_leaders_are_the_first_rows_in_the_next_order():
    X, y = blobs(400)
    root, rng, chunks = start(2.0 * X / 8.0 + 0.6 * np.sin(np.arange(800)).reshape(400, 2), y)
    arguments = (root.likelihood, root.problem.likelihood)
    sent = root.first(rng)
    for _ in range(10):
        root.receive(found_by(*arguments, sent, chunks))
        labels = np.concatenate([labels_of(*arguments, sent.message, c) for c in chunks])
        scanned, after = root.found.scanned.numbers, root.next(rng)
        labels = root.labels[len(scanned) :][labels]  # those of the ghosts
        labels[scanned] = root.labels[: len(scanned)]
        ranks = np.zeros(400, np.uint64)
        fill_ranks(sent.next_key, np.arange(400, dtype=np.uint64), ranks)
        for k, leader in enumerate(after.message.leaders):
            assert leader == ranks[labels == k].min()
        sent = after


def test_a_launch_is_a_function_of_the_union(monkeypatch):
    """Not of how the union is divided, even if there are more rows than a launch may use."""
    monkeypatch.setattr(batch_elsewhere, "N_LAUNCHED", 30)
    monkeypatch.setattr(root_of_chains, "N_LAUNCHED", 30)
    X, y = blobs(400)
    for seed in range(5):
        launched = []
        for labels in (np.minimum(y, 2), y):  # blocks 2 and 3 together, and apart
            root, _, chunks = start(X, labels)
            orders = {
                "odd": np.uint64(2 * seed + 77777),
                "next_key": np.array([seed, 9], np.uint64),
            }
            root.sent = sent = root.first(np.random.default_rng(0))._replace(**orders)
            parts = []
            for chunk in chunks:
                own = labels[chunk.numbering.first + chunk.places].astype(np.int32)
                arguments = (root.likelihood, root.problem.likelihood, [sent], [own], chunk)
                some = [elsewhere._pass_over_some(*arguments, 0)[0]]
                parts += some
            root.receive(total(parts))
            found, table = root.found, batch_elsewhere.Table.of(root.found, sent.odd)
            blocks = np.array([[2, 2]] if labels.max() == 2 else [[2, 3]])
            drawn = Skeleton(None, blocks, np.zeros((1, 2), int), 2, {})
            moves = batch_elsewhere.launched_moves(
                root, drawn, found, table, np.random.default_rng(0)
            )
            launched.append((moves, table))
        together, apart = launched
        anchors = {frozenset(t.numbers[m.anchors[0]].tolist()) for m, t in launched}
        rows = [t.numbers[m.members[2 : m.offset[1]]] for m, t in launched]
        both = set.union(*map(set, anchors))
        kept = [[i for i in own.tolist() if i not in both] for own in rows]
        assert kept[0][:25] == kept[1][:25]  # but for the anchors, the same rows come first
        assert len(rows[0]) == len(rows[1]) == 30
        assert (np.diff(rank_of_numbers(sent.odd, rows[1]).astype(int)) > 0).all()
        assert y[apart[1].numbers[apart[0].anchors[0]]].tolist() == [2, 3]
        assert (y[together[1].numbers[together[0].anchors[0]]] >= 2).all()


def test_decisions_know_what_the_passes_found(monkeypatch):
    """The sides of all rows, their probability, and the sums; and what becomes of the rows."""
    seen = []
    decided = batch_elsewhere.settle

    def spied(problem, partition, moves, matching, rule, one, other, sums, rng):
        seen.append((moves, one, other, sums, rule))
        return decided(problem, partition, moves, matching, rule, one, other, sums, rng)

    monkeypatch.setattr(batch_elsewhere, "settle", spied)
    X, y = blobs(700)
    root, rng, chunks = start(0.4 * X, np.where(y == 3, 2, y) + 3 * (np.arange(700) % 2 * (y == 0)))
    root.n_scanned = 300.0
    arguments = (root.likelihood, root.problem.likelihood)
    sent, changed = root.first(rng), 0
    for _ in range(4 if DISABLED else 60):
        root.receive(found_by(*arguments, sent, chunks))
        labels = [labels_in(*arguments, sent.message, chunk) for chunk in chunks]
        plan = root.plan(rng)
        if plan is None:
            sent = root.next(rng)
            continue
        parts = [
            divide_over(*arguments, plan, own, chunk)
            for own, chunk in zip(labels, chunks, strict=True)
        ]
        whole = divide_over(
            *arguments,
            plan,
            np.concatenate([labels_of(*arguments, sent.message, c) for c in chunks]),
            Chunk(0.4 * X, Numbering(0, np.zeros(0, np.uint32))),
        )
        found = joined(parts)
        for name in ("sizes", "firsts", "leaders"):
            assert np.array_equal(getattr(found, name), getattr(whole, name))
        assert found.log_q == pytest.approx(whole.log_q, rel=1e-9, abs=1e-9)
        kept = found.sizes.copy(), found.log_q.copy(), found.leaders.copy()
        before = root._scanned
        counts = root.settle(found, rng)
        changed += counts["splits_accepted"] + counts["merges_accepted"]
        moves, one, other, sums, _ = seen[-1]
        assert one is plan.one and other is plan.other and sums is found.sums
        splitting = ~moves.merging
        assert np.array_equal(moves.sizes[splitting], kept[0][splitting])
        assert np.array_equal(moves.log_q, kept[1])
        assert (moves.log_q <= 0).all()
        assert moves.log_q.any() or (moves.sizes.sum(axis=1) == 2).all()
        after = root._scanned
        assert np.array_equal(after.numbers, before.numbers)
        for g in np.flatnonzero(splitting):
            own = before.labels == moves.blocks[g, 0]
            found_sides = len(np.unique(after.labels[own]))
            assert found_sides <= 1 + int(moves.accepted[g])
        sent = root.next(rng)  # the books are checked when what is sent comes back
        root_sizes = root.sizes.copy()
        assert root_sizes.sum() == 700 and (root_sizes > 0).all()
    assert changed > 0 or DISABLED


def test_weights_follow_the_sizes_less_sigma(monkeypatch):
    seen = []
    monkeypatch.setattr(
        root_of_chains, "draw_log_weights", lambda c, rng: seen.append(c) or np.zeros(len(c))
    )
    X, y = blobs(400)
    bound = NormalInverseWishart().bind(X)
    prior = PitmanYor(0.8, 0.3)
    root = Root(NormalInverseWishart(), bound, prior, y, n_items=400, n_scanned=1)
    root.first(np.random.default_rng(0))
    assert seen[0] == pytest.approx(root.sizes - 0.3)
