"""Adaptive reconfiguration: exactness, archives, and that results depend on the seed alone."""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from bnpcluster import DPMixture
from bnpcluster._core.jit import DISABLED
from bnpcluster._core.state import State
from bnpcluster._fitting.checkpoint import Checkpoint, frozen, thawed
from bnpcluster._fitting.rounds import LONGEST_HISTORY, MEETING, Chain, history_spacing
from bnpcluster.likelihoods import Bernoulli, NormalInverseGamma
from bnpcluster.priors import DirichletProcess, FiniteDirichlet
from bnpcluster.samplers import ARM, ARMWithSAMS, JainNeal
from bnpcluster.samplers.archive import Archive, disagreement, draw_disagreement
from bnpcluster.samplers.reconfiguration.arm import ARCHIVES, VARIANTS
from bnpcluster.samplers.reconfiguration.kernel import unbounded
from bnpcluster.testing import check_sampler, exact_posterior
from tests.conftest import three_blobs
from tests.samplers.split_merge.exact_kernel import COINS, GRAPH
from tests.tools.brute_force_relational import BruteForceRelational
from tests.tools.proofs import run_as_plain_python

LEARNERS = [
    *[pytest.param(ARM(archive=archive), id=archive) for archive in ARCHIVES],
    pytest.param(JainNeal(launch="archive"), id="jain_neal"),
]


def test_moves_are_in_detailed_balance_with_the_posterior():
    """The proofs of `exact_arm`, which take plain Python."""
    run_as_plain_python("tests/samplers/reconfiguration/exact_arm.py")


@pytest.mark.parametrize("variant", VARIANTS)
def test_compiled_moves_serve_a_likelihood_that_does_not_factorise(variant):
    size = 200 if DISABLED else 10_000
    arguments = (ARM(variant=variant, n_gibbs=0), BruteForceRelational(), DirichletProcess(1.0))
    check_sampler(*arguments, GRAPH, n_replicates=size)


def test_disagreements_are_drawn_alike_and_the_refinement_is_common():
    one, two = np.array([0, 0, 0, 1, 1, 2]), np.array([5, 5, 3, 3, 0, 1], np.uint8)
    apart = [
        (i, j)
        for i in range(6)
        for j in range(6)
        if i != j and (one[i] == one[j]) != (two[i] == two[j])
    ]
    rng = np.random.default_rng(0)
    found: Counter = Counter()
    for _ in range(200 * len(apart)):
        i, j, r = disagreement(one, two, rng)
        found[int(i), j] += 1
        for a in range(6):
            same = (one == one[a]) & (two == two[a])
            assert ((r == r[a]) == same).all()
    assert set(found) == set(apart)
    assert chisquare([found[pair] for pair in apart]).pvalue > 1e-4


def test_states_alike_teach_nothing():
    rows = [np.array([0, 0, 1]), np.array([1, 1, 0], np.uint8)]
    state = State(Bernoulli().bind(COINS[:3], 8), DirichletProcess(1.0), np.zeros(3, int))
    rng = np.random.default_rng(0)
    for archive in (None, Archive([[], []], 0), Archive([rows[:1]], 0), Archive([rows, rows], 1)):
        state.archive = archive
        assert draw_disagreement(state, rng) is None
    # Items that are absent do not count: here the states differ in an absent one alone.
    state = State(Bernoulli().bind(COINS[:3], 8), DirichletProcess(1.0), np.array([0, 0, -1]))
    state.archive = Archive([[rows[0], np.array([0, 0, 0])]], 0)
    assert draw_disagreement(state, rng) is None


def test_what_a_move_is_told_does_not_depend_on_the_state():
    told = []
    for labels in (np.zeros(5, int), np.arange(5), np.array([0, 1, 1, 0, 1])):
        state = State(Bernoulli().bind(COINS, 8), DirichletProcess(1.0), labels)
        rng = np.random.default_rng(3)
        state.archive = Archive([[rng.integers(3, size=5) for _ in range(6)]], 0)
        lessons = [draw_disagreement(state, rng) for _ in range(20)]
        told.append([(d.i, d.j, *d.refinement) for d in lessons])
    assert told[0] == told[1] == told[2]


def test_one_of_two_states_is_the_chain_s_own():
    own, others = [np.array([0, 0, 0])], [np.array([0, 1, 1]), np.array([0, 1, 2])]
    rng = np.random.default_rng(0)
    drawn = [Archive([others, own], 1).draw_pair(rng) for _ in range(100)]
    assert all((first == 0).all() for first, _ in drawn)
    assert len({tuple(second) for _, second in drawn}) == 3
    firsts = {tuple(Archive([others, own], -1).draw_pair(rng)[0]) for _ in range(100)}
    assert len(firsts) == 3


def test_a_bounded_prior_goes_on_by_tenths():
    log_v = FiniteDirichlet(3, 0.7).tables(5, 6).log_v
    longer = unbounded(log_v)
    np.testing.assert_array_equal(longer[:4], log_v[:4])
    np.testing.assert_allclose(np.diff(longer[3:]), -np.log(10.0))
    log_v = DirichletProcess(0.7).tables(5, 6).log_v
    np.testing.assert_array_equal(unbounded(log_v)[1:], log_v[1:])


@pytest.mark.parametrize("variant", VARIANTS)
def test_room_changes_nothing(variant):
    X = np.random.default_rng(1).normal(size=(60, 2))
    archive = Archive([[np.arange(60) // 7, np.arange(60) % 5], [np.arange(60) % 11]], 0)
    ends = []
    for capacity in (2, 128):
        bound = NormalInverseGamma().bind(X, 16)
        state = State(bound, DirichletProcess(30.0), np.zeros(60, int), capacity=capacity)
        state.archive, rng = archive, np.random.default_rng(2)
        counts: Counter = Counter()
        for _ in range(5):
            counts.update(ARM(variant=variant, n_moves=3).step(state, rng))
        ends.append((state.labels.tolist(), counts, rng.random()))
    assert ends[0] == ends[1]
    assert counts["moves"] == 15 and state.n_blocks > 2


def test_books_are_kept_over_many_moves():
    X = np.random.default_rng(1).normal(size=(40, 2)).round(1)
    state = State(NormalInverseGamma().bind(X, 16), DirichletProcess(3.0), np.zeros(40, int))
    rng = np.random.default_rng(0)
    state.archive = Archive([[rng.integers(4, size=40) for _ in range(6)]], 0)
    accepted = 0
    for _ in range(200 if not DISABLED else 10):
        accepted += ARM(n_gibbs=0, n_moves=2).step(state, rng)["moves_accepted"]
        ARM(n_moves=0).step(state, rng)
        assert np.array_equal(np.bincount(state.labels, minlength=state.n_blocks), state.sizes)
        assert state.sizes.min() > 0
    before, labels = state.log_joint(), state.labels.copy()
    state.rebuild()
    assert state.log_joint() == pytest.approx(before, abs=1e-8)
    assert len(np.unique(np.column_stack([labels, state.labels]), axis=0)) == state.n_blocks
    assert accepted > 0


def fit(sampler, **parameters):
    settings = {"n_draws": 60, "n_warmup": 60, "n_chains": 3, "random_state": 0, **parameters}
    return DPMixture(sampler=sampler, likelihood="nig", **settings).fit(three_blobs()[0])


def same_draws(one, two):
    np.testing.assert_array_equal(one.posterior_.labels, two.posterior_.labels)
    for name, trace in one.posterior_.traces.items():
        np.testing.assert_array_equal(trace, two.posterior_.traces[name])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("sampler", LEARNERS)
def test_n_jobs_changes_no_bit(sampler):
    one = fit(sampler)
    same_draws(one, fit(sampler, n_jobs=2))
    tried = [name for name in ("moves", "splits") if name in one.sampler_stats_]
    assert min(one.sampler_stats_[tried[0]]) > 0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("sampler", LEARNERS)
@pytest.mark.parametrize("after", [30, 380])
def test_a_stopped_fit_resumes_bit_for_bit(sampler, after, tmp_path, monkeypatch):
    """Stopped in a first round, and when one chain alone has come to a boundary."""
    from bnpcluster._fitting.rounds import Stop

    whole = fit(sampler, n_draws=90)
    asked = iter(range(10**9))
    with monkeypatch.context() as patch:
        patch.setattr(Stop, "__call__", lambda self: next(asked) > after)
        fit(sampler, n_draws=90, checkpoint=tmp_path)
    same_draws(whole, fit(sampler, n_draws=90, checkpoint=tmp_path))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_archives_are_frozen_after_warm_up_grow_or_are_not_there():
    histories = {}
    for archive in ARCHIVES:
        model = fit(ARM(archive=archive))
        model.continue_fit(30)
        histories[archive] = [thawed(a, model._fitted.prior).history for a in model._fitted.states]
    assert [list(h) for h in histories["frozen"]] == 3 * [list(range(31, 61))]
    assert [list(h) for h in histories["adaptive"]] == 3 * [list(range(76, 151))]
    assert histories["ensemble"] == [{}, {}, {}]


def test_a_history_is_bounded_and_evenly_spaced():
    state = State(Bernoulli().bind(COINS, 8), DirichletProcess(1.0), np.zeros(5, int))
    chain = Chain(np.zeros(5, int), DirichletProcess(1.0), np.random.default_rng(0))
    longest = 0
    for chain.iteration in range(1, 5001):
        chain.append_history(state)
        if chain.iteration % MEETING == 0:
            chain.trim_history()
        longest = max(longest, len(chain.history))
        if chain.iteration == 500:
            assert list(chain.history) == list(range(251, 501))
    times = np.array(list(chain.history))
    assert longest <= 2 * LONGEST_HISTORY and LONGEST_HISTORY / 2 <= len(times) <= LONGEST_HISTORY
    assert (np.diff(times) == history_spacing(5000)).all() and times[0] > 2500 - history_spacing(
        5000
    )
    again = thawed(frozen(chain), chain.prior).history
    assert list(again) == list(chain.history)
    np.testing.assert_array_equal(list(again.values()), list(chain.history.values()))


@pytest.mark.parametrize(
    ("sampler", "parameters", "message"),
    [
        (ARM(archive="ensemble"), {"n_chains": 2}, "needs at least 3 chains, got n_chains=2"),
        (ARM(), {"n_warmup": 0}, "set n_warmup to a positive"),
        (JainNeal(launch="archive"), {"n_warmup": 0}, "set n_warmup to a positive"),
        (ARM(variant="fulll"), {}, "variant must be one of.*Did you mean 'full'"),
        (ARM(archive="frosen"), {}, "archive must be one of.*Did you mean 'frozen'"),
        (ARM(n_moves=-1), {}, "n_moves must be an integer of at least 0"),
        (JainNeal(launch="archiv"), {}, "launch must be one of.*Did you mean 'archive'"),
        (JainNeal(launch="archive", n_restricted=None), {}, "needs scans"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(sampler, parameters, message):
    with pytest.raises(ValueError, match=message):
        fit(sampler, **parameters)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("sampler", [ARM(), ARM(archive="ensemble", n_moves=3)])
def test_a_fit_samples_the_enumerated_posterior(sampler):
    exact = exact_posterior(COINS, Bernoulli(), DirichletProcess(1.0))
    model = DPMixture(
        alpha=1.0,
        likelihood=Bernoulli(a=1.0, b=1.0),
        sampler=sampler,
        n_draws=100 if DISABLED else 2_000,
        n_warmup=100,
        random_state=0,
    ).fit(COINS)
    far = 0.2 if DISABLED else 0.03
    np.testing.assert_allclose(
        model.posterior_.coclustering(), exact.coclustering(), rtol=0.0, atol=far
    )


class Gone(Exception):
    pass


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_that_dies_resumes_with_its_archive(tmp_path, monkeypatch):
    monkeypatch.setattr("bnpcluster._fitting.checkpoint.EVERY", 0.0)
    whole, save = fit(ARM(archive="adaptive")), Checkpoint.save

    def dies(self, chains, force=False):
        save(self, chains, force)
        if chains[0].iteration >= 100:
            raise Gone

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "save", dies)
        with pytest.raises(Gone):
            fit(ARM(archive="adaptive"), checkpoint=tmp_path)
    same_draws(whole, fit(ARM(archive="adaptive"), checkpoint=tmp_path))


def test_with_sams_moves_of_both_kinds_are_made():
    X = np.concatenate([np.full((9, 1), -3.0), np.full((9, 1), 3.0)])
    X += np.random.default_rng(0).normal(scale=0.3, size=X.shape)
    bound = NormalInverseGamma().guessed().bind(X, 16)
    state = State(bound, DirichletProcess(1.0), np.zeros(18, int))
    state.archive = Archive([[np.zeros(18, int)], [np.repeat([0, 1], 9)]], -1)
    counts = ARMWithSAMS(n_split_merge=7).step(state, np.random.default_rng(0))
    assert counts["moves"] == 1
    assert counts["splits"] + counts["merges"] == 7
    assert counts["sweeps"] == 1
