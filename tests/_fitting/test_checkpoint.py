"""What a checkpoint survives: death at any moment, a spoilt file, a full disk, company."""

import json
import os
import pickle
import resource
import shutil
import signal
import subprocess
import sys
import time
import warnings
import zipfile
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

import numpy as np
import pytest

from bnpcluster import DPMixture
from bnpcluster._fitting import rounds as chains_module
from bnpcluster._fitting.chain_runs import checkpoint_of
from bnpcluster._fitting.checkpoint import EVERY, Checkpoint, frozen
from bnpcluster._fitting.lengths import Asked, Lengths
from bnpcluster._fitting.rounds import Chain, run_chains
from bnpcluster._fitting.stop import Stop
from bnpcluster.likelihoods import NormalInverseGamma
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import Gibbs
from tests.tools.killed import AIMED, FITS, KILLS, SEEN

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
X = np.random.default_rng(0).normal(size=(12, 2))
SHORT = {"n_draws": 60, "n_warmup": 50, "n_chains": 2, "random_state": 0}
PRIOR = DirichletProcess()


@pytest.fixture(scope="module")
def deaths():
    """Every kind of fit, killed by a process of its own; they take their time side by side."""
    started = {
        name: subprocess.Popen(
            [sys.executable, "-m", "tests.tools.killed", name],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # forks want a single thread
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in FITS
    }
    yield started
    for process in started.values():
        process.kill()
        process.communicate()


@pytest.mark.parametrize("name", FITS)
def test_twenty_deaths_change_no_bit(deaths, name):
    out, err = deaths[name].communicate()
    assert deaths[name].returncode == 0, err
    happened = json.loads(out)
    assert happened["deaths"] >= KILLS + AIMED
    assert happened["resumed"] >= SEEN
    assert happened["saving"] >= SEEN


def checkpoint_for(model):
    """The checkpoint that a fit of the model to `X` would use."""
    components = model._components()
    task, bound = model._task(X, components), components[0].bind(X)
    return checkpoint_of(task, bound, model.checkpoint, model._identity())


@pytest.fixture
def saved(tmp_path):
    """A checkpoint, its file, and the chains in it."""
    DPMixture(checkpoint=tmp_path, **SHORT).fit(X)
    checkpoint = checkpoint_for(DPMixture(checkpoint=tmp_path, **SHORT))
    return checkpoint, checkpoint.path, contents(checkpoint)


def loaded(checkpoint):
    return checkpoint.load(PRIOR, len(X), SHORT["n_chains"])


def contents(checkpoint):
    """The content of a checkpoint, as bytes."""
    arrays = [frozen(chain) for chain in loaded(checkpoint)]
    return pickle.dumps([{k: (a.dtype.str, a.tolist()) for k, a in c.items()} for c in arrays])


def assert_refused(checkpoint, content, reason="cannot be read"):
    checkpoint.path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"{reason}.*It was not changed; move it away") as caught:
        loaded(checkpoint)
    assert str(caught.value).startswith(f"The checkpoint {str(checkpoint.path)!r} ")
    assert len(str(caught.value)) < 600
    assert "\n" not in str(caught.value)
    assert checkpoint.path.read_bytes() == content


def test_a_flipped_bit_is_noticed_wherever_it_matters(saved):
    """Everywhere in the file; those in dates and the like of its table of contents do no harm."""
    checkpoint, file, whole = saved
    content, rng, harmless = file.read_bytes(), np.random.default_rng(0), 0
    directory = content.index(b"PK\1\2")
    places = [*range(0, directory, 61), *range(directory, len(content), 7)]
    for place in places:
        flipped = bytearray(content)
        flipped[place] ^= 1 << int(rng.integers(8))
        file.write_bytes(flipped)
        try:
            found = contents(checkpoint)
        except ValueError as error:
            assert "It was not changed" in str(error)
        else:
            assert found == whole
            harmless += 1
        assert file.read_bytes() == flipped
    assert harmless < len(places) / 2


def test_no_byte_of_an_array_can_change(saved):
    checkpoint, file, _ = saved
    content = file.read_bytes()
    with zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            start = content.index(b"\x93NUMPY", member.header_offset)
            for place in (start, start + 20, start + member.file_size - 1):
                changed = bytearray(content)
                changed[place] ^= 4
                assert_refused(checkpoint, bytes(changed))


def test_a_cut_file_is_refused_wherever_it_is_cut(saved):
    checkpoint, file, _ = saved
    content = file.read_bytes()
    for length in [*range(0, len(content), 97), len(content) - 1]:
        assert_refused(checkpoint, content[:length])


def another(folder, **changed):
    """The bytes of the checkpoint of another fit."""
    parameters = {**SHORT, **changed}
    data = parameters.pop("X", X)
    DPMixture(checkpoint=folder, **parameters).fit(data)
    (file,) = folder.iterdir()
    return file.read_bytes()


@pytest.mark.parametrize(
    "changed",
    [{"X": X + 1.0}, {"X": X[:9]}, {"n_chains": 1}, {"alpha": 1.0}, {"random_state": 1}],
    ids=str,
)
def test_the_file_of_another_fit_is_refused_under_any_name(saved, tmp_path, changed):
    content = another(tmp_path / "other", **changed)
    assert_refused(saved[0], content, "belongs to a fit with other data or parameters")


def test_another_format_is_refused(saved):
    checkpoint, file, _ = saved
    with np.load(file) as arrays:
        changed = dict(arrays)
    for number in (3, 5):
        about = {**json.loads(str(changed["about"])), "format": number}
        np.savez(file, **{**changed, "about": np.array(json.dumps(about))})
        assert_refused(checkpoint, file.read_bytes(), f"has format {number}, but this version")


@pytest.mark.parametrize(
    ("member", "edit"),
    [
        ("labels_0", lambda a: a[:-1]),
        ("labels_1", lambda a: a + 0.5),
        ("draws_1", lambda a: a[:, 1:]),
        ("draws_0", lambda a: a[:-1]),
        ("meta_1", lambda a: np.array(str(a).replace('"iteration": 110', '"iteration": "x"'))),
        *(
            ("about", lambda a, n=n: np.array(str(a).replace('"n_chains": 2', f'"n_chains": {n}')))
            for n in (0, 1, 3, -2, '"two"')
        ),
    ],
)
def test_a_checkpoint_whose_parts_do_not_fit_is_refused(saved, member, edit):
    checkpoint, file, _ = saved
    with np.load(file) as arrays:
        changed = dict(arrays)
    old, changed[member] = changed[member], edit(changed[member])
    assert not np.array_equal(old, changed[member])
    np.savez(file, **changed)
    assert_refused(checkpoint, file.read_bytes())


def test_what_is_no_checkpoint_is_refused(saved, tmp_path):
    np.savez(tmp_path / "bare.npz", n_chains=2, labels=np.zeros(12, int))
    np.savez(tmp_path / "objects.npz", about=np.array([None], dtype=object))
    np.save(tmp_path / "array.npy", np.zeros(3))
    for name in ("bare.npz", "objects.npz", "array.npy"):
        assert_refused(saved[0], (tmp_path / name).read_bytes())
    assert_refused(saved[0], pickle.dumps(Bomb()))


class Bomb:
    """What a pickle does to those who open it."""

    def __reduce__(self):
        return os._exit, (1,)


@contextmanager
def files_up_to(size):
    """A disk with room for so many bytes: writing more of them to a file is an error."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_loses_nothing_wherever_it_ends(saved):
    checkpoint, file, whole = saved
    content, chains = file.read_bytes(), loaded(checkpoint)
    for size in range(0, len(content), 101):
        checkpoint.warned = False
        with (
            files_up_to(size),
            pytest.warns(UserWarning, match=r"could not be saved.*fit continues"),
        ):
            checkpoint.save(chains, force=True)
        assert list(file.parent.iterdir()) == [file]
        assert file.read_bytes() == content
    checkpoint.save(chains, force=True)
    assert contents(checkpoint) == whole


def when_saved(monkeypatch, times, then):
    """Save after every round; from the given save on, run each of them inside `then()`."""
    monkeypatch.setattr("bnpcluster._fitting.checkpoint.EVERY", 0.0)
    replace, calls = Checkpoint.replace, []

    def replaced(self, chains):
        calls.append(None)
        if len(calls) <= times:
            return replace(self, chains)
        with then():
            replace(self, chains)

    monkeypatch.setattr(Checkpoint, "replace", replaced)
    return calls


def test_a_fit_goes_on_when_the_disk_is_full_and_resumes_what_was_saved(tmp_path, monkeypatch):
    parameters = {**SHORT, "n_draws": 200}
    whole = DPMixture(**parameters).fit(X).posterior_
    with monkeypatch.context() as patch:
        calls = when_saved(patch, 2, lambda: files_up_to(500))
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always", UserWarning)
            found = DPMixture(checkpoint=tmp_path, **parameters).fit(X).posterior_
    assert len(calls) > 3
    assert len([w for w in heard if "could not be saved" in str(w.message)]) == 1
    resumed = DPMixture(checkpoint=tmp_path, **parameters)
    (chain, _) = loaded(checkpoint_for(resumed))
    assert 0 < chain.iteration < 250
    for posterior in (found, resumed.fit(X).posterior_):
        np.testing.assert_array_equal(posterior.labels, whole.labels)
        np.testing.assert_array_equal(posterior.log_posterior, whole.log_posterior)


def test_a_fit_outlives_the_directory_of_its_checkpoint(tmp_path, monkeypatch):
    @contextmanager
    def removed():
        shutil.rmtree(tmp_path / "runs", ignore_errors=True)
        yield

    when_saved(monkeypatch, 1, removed)
    with pytest.warns(UserWarning, match="could not be saved") as heard:
        model = DPMixture(checkpoint=tmp_path / "runs", **SHORT).fit(X)
    assert len([w for w in heard if "could not be saved" in str(w.message)]) == 1
    assert model.posterior_.n_draws == 60


def test_a_directory_that_takes_no_files_is_refused_before_the_fit(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("something")
    with pytest.raises(ValueError, match=r"checkpoint directory .* could not be created"):
        DPMixture(checkpoint=tmp_path / "file" / "runs", **SHORT).fit(X)
    # A superuser may write everywhere, so that changing permissions would not be enough here.
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK | os.X_OK)
    with pytest.raises(ValueError, match=r"must be a writable directory, but .* is not writable"):
        DPMixture(checkpoint=tmp_path, **SHORT).fit(X)


def test_two_fits_may_save_at_the_same_time(saved, monkeypatch):
    one, file, whole = saved
    chains, write = loaded(one), Checkpoint.write
    two = checkpoint_for(DPMixture(checkpoint=file.parent, **SHORT))

    def write_while_the_other_does(self, archive, chains):
        write(self, archive, chains)
        if self is one:
            two.save(chains, force=True)

    monkeypatch.setattr(Checkpoint, "write", write_while_the_other_does)
    one.save(chains, force=True)
    assert contents(one) == whole
    assert list(file.parent.iterdir()) == [file]


def test_a_fit_that_begins_while_another_saves_costs_it_that_save_at_most(saved, monkeypatch):
    checkpoint, file, whole = saved
    chains, write = loaded(checkpoint), Checkpoint.write

    def write_while_a_fit_begins(self, archive, chains):
        write(self, archive, chains)
        checkpoint_for(DPMixture(checkpoint=file.parent, **SHORT))

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "write", write_while_a_fit_begins)
        with pytest.warns(UserWarning, match="could not be saved"):
            checkpoint.save(chains, force=True)
    assert contents(checkpoint) == whole
    checkpoint.save(chains, force=True)
    assert list(file.parent.iterdir()) == [file]


def test_what_the_dead_left_is_cleared_away_and_nothing_else(saved):
    _, file, _ = saved
    left, foreign = file.with_name(f"{file.stem}-12ab.tmp"), file.with_name("mine.tmp")
    for path in (left, foreign):
        path.write_bytes(b"in part")
    checkpoint_for(DPMixture(checkpoint=file.parent, **SHORT))
    assert sorted(file.parent.iterdir()) == sorted([file, foreign])


def test_saves_that_take_long_are_made_less_often(saved, monkeypatch):
    checkpoint, chains, made = saved[0], [], []
    monkeypatch.setattr(Checkpoint, "replace", lambda self, chains: made.append(chains))
    for seconds, wait in ((0.0, EVERY), (0.05, EVERY), (1.0, 100.0), (3.0, 300.0)):
        for early, expected in ((1.0, 0), (-1.0, 1)):
            checkpoint.seconds, checkpoint.saved = seconds, time.monotonic() - wait + early
            checkpoint.save(chains)
            assert len(made) == expected
        made.clear()


LENGTHS = Lengths(Asked(150, 0, 1, 150))


def started(*iterations):
    bound = NormalInverseGamma().bind(X)
    rngs = map(np.random.default_rng, range(len(iterations)))
    return bound, [
        Chain(np.zeros(12, int), PRIOR, rng, iteration=t)
        for rng, t in zip(rngs, iterations, strict=True)
    ]


@pytest.mark.parametrize("iterations", [(150, 50), (50, 150), (100, 100)])
def test_chains_that_were_stopped_apart_all_reach_the_end(iterations):
    bound, chains = started(*iterations)
    done = run_chains(chains, bound, Gibbs(), LENGTHS, stop=Stop(), round_length=50)
    assert [chain.iteration for chain in done] == [150, 150]


def in_second_round(monkeypatch, happens):
    """Let something happen instead of the second round."""
    rounds, advance_all = [], chains_module.advance_all

    def advance_or(*arguments):
        rounds.append(None)
        return happens() if len(rounds) == 2 else advance_all(*arguments)

    monkeypatch.setattr(chains_module, "advance_all", advance_or)


def test_workers_that_break_down_are_an_error(monkeypatch):
    def broken():
        raise BrokenProcessPool

    bound, chains = started(0, 0)
    in_second_round(monkeypatch, broken)
    with pytest.raises(BrokenProcessPool):  # of something else: no memory, for instance
        run_chains(chains, bound, Gibbs(), LENGTHS, stop=Stop(), round_length=50)


def test_workers_killed_by_an_interrupt_cost_their_round(monkeypatch):
    stop = Stop()

    def interrupted():
        stop.requested.set()
        raise BrokenProcessPool

    bound, chains = started(0, 0)
    in_second_round(monkeypatch, interrupted)
    done = run_chains(chains, bound, Gibbs(), LENGTHS, stop=stop, round_length=50)
    assert [len(chain.draws) for chain in done] == [50, 50]


def test_workers_that_do_not_come_back_are_given_up(monkeypatch, interrupts):
    monkeypatch.setattr("bnpcluster._fitting.stop.PATIENCE", 0.2)

    def hangs():
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            time.sleep(0.02)

    bound, chains = started(0, 0)
    in_second_round(monkeypatch, hangs)
    done = run_chains(chains, bound, Gibbs(), LENGTHS, stop=Stop(), round_length=50)
    assert [len(chain.draws) for chain in done] == [50, 50]


def test_workers_that_never_return_are_given_up_after_the_time_limit(monkeypatch, interrupts):
    """They may wait for memory that they never get."""
    monkeypatch.setattr("bnpcluster._fitting.stop.PATIENCE", 0.2)
    bound, chains = started(0, 0)
    stop = Stop(0.3)

    def starves():
        for _ in range(1000):
            time.sleep(0.02)

    monkeypatch.setattr(chains_module, "advance_all", lambda *arguments: starves())
    done = run_chains(chains, bound, Gibbs(), LENGTHS, stop=stop, round_length=50)
    assert [len(chain.draws) for chain in done] == [1, 1]  # their current states
    assert stop.given_up


class FutureCancelledError(Exception):
    """As of a scheduler of dask that died."""

    __module__ = "distributed.client"


def test_a_dead_scheduler_is_an_error_of_one_sentence_and_its_chains_are_saved(
    tmp_path, monkeypatch
):
    def dies():
        raise FutureCancelledError("lz4-3f2a cancelled for reason: lost dependencies")

    in_second_round(monkeypatch, dies)
    model = DPMixture(**{**SHORT, "n_draws": 100}, checkpoint=tmp_path)
    monkeypatch.setattr("bnpcluster._fitting.checkpoint.EVERY", 1e9)
    sentence = r"were lost \(FutureCancelledError\).*the same fit resumes"
    with pytest.raises(RuntimeError, match=sentence):
        model.fit(X)
    chains = checkpoint_for(model).load(PRIOR, len(X), SHORT["n_chains"])
    assert {chain.iteration for chain in chains} == {50}
    monkeypatch.undo()
    resumed = model.fit(X).posterior_.labels
    whole = DPMixture(**{**SHORT, "n_draws": 100}).fit(X).posterior_.labels
    np.testing.assert_array_equal(resumed, whole)
    in_second_round(monkeypatch, dies)
    with pytest.raises(RuntimeError, match="set checkpoint to a directory"):
        DPMixture(**{**SHORT, "n_draws": 100}).fit(X)


def test_draws_do_not_travel():
    """A chain leaves its draws behind, and its last boundary counts them all the same."""
    labels = [np.array([0, 1]), np.array([0, 0]), np.array([0, 1])]
    rows = [{"n_clusters": 2.0}, {"n_clusters": 1.0}, {"n_clusters": 2.0}]
    rng = np.random.default_rng(0)
    chain = Chain(labels[1], PRIOR, rng, draws=labels[:2], traces=rows[:2])
    away = chain.without_draws()
    assert (away.draws, away.traces, away.snapshot().n_draws) == ([], [], 2)
    away.draws.append(labels[2])
    away.traces.append(rows[2])
    away.boundary = away.snapshot()
    back = chain.continued_by(away)
    assert [draw.tolist() for draw in back.draws] == [[0, 1], [0, 0], [0, 1]]
    assert back.traces == rows
    assert back.boundary.n_draws == back.snapshot().n_draws == 3
    assert len(frozen(back, back.boundary)["draws"]) == 3
