"""Progress is shown on request, in the form the output can take, and changes no draw."""

import io
import os
import re
import subprocess
import sys

import joblib
import numpy as np
import pytest

from bnpcluster import DPMixture
from bnpcluster._fitting import chain_runs, progress
from bnpcluster._fitting.lengths import Asked, Lengths
from bnpcluster._fitting.progress import (
    Bar,
    Lines,
    Progress,
    progress_display,
    summary,
    value_range,
)
from bnpcluster._fitting.rounds import Chain
from bnpcluster.priors import DirichletProcess

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = {"n_draws": 50, "n_warmup": 100, "n_chains": 2, "random_state": 0}


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True

    def frames(self):
        """What was shown, one after the other."""
        return [text.strip() for text in re.split(r"[\r\n]", self.getvalue()) if text.strip()]


def terminal(monkeypatch):
    """The error stream, a terminal now. (As a fixture it would come before pytest's own.)"""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


def chains_at(*iterations, n_clusters=(2, 5), levels=(-20.4, -18.6)):
    rng = np.random.default_rng(0)
    return [
        Chain(np.arange(k), DirichletProcess(1.0), rng, iteration=t, log_posterior=level)
        for t, k, level in zip(iterations, n_clusters, levels, strict=True)
    ]


def test_nothing_is_shown_unless_asked_for(blobs, capsys):
    DPMixture(**QUICK).fit(blobs[0])
    assert capsys.readouterr() == ("", "")


def test_lines_go_to_the_error_stream_where_there_is_no_terminal(blobs, capsys):
    model = DPMixture(verbose=1, **QUICK).fit(blobs[0])
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert [line.split(",")[0] for line in lines] == ["bnpcluster: warm-up"] + 2 * [
        "bnpcluster: sampling"
    ]
    assert [int(re.search(r"(\d+)/300 it", line)[1]) for line in lines] == [100, 200, 300]
    assert lines[-1].endswith(", 0 s left")
    last = model.posterior_
    assert f"K {value_range(sorted(map(str, last.n_clusters[:, -1])))}," in lines[-1]
    levels = value_range([f"{x:.0f}" for x in sorted(last.log_posterior[:, -1])])
    assert f"log p {levels}," in lines[-1]


@pytest.mark.parametrize(
    ("backend", "n_jobs"), [("threading", 1), ("threading", 2), ("loky", 2)], ids=str
)
def test_a_terminal_shows_one_bar_of_all_chains(blobs, backend, n_jobs, monkeypatch, capfd):
    shown = terminal(monkeypatch)
    with joblib.parallel_config(backend, n_jobs=n_jobs):
        DPMixture(verbose=1, **QUICK).fit(blobs[0])
    frames = shown.frames()
    assert frames[0].startswith("warm-up | ")
    assert all(re.match(r"(warm-up|sampling) \|", frame) for frame in frames)
    last = r"sampling \|#+\| 300/300, .*it/s, K \d.*, log p .*, 00:00 left"
    assert re.fullmatch(last, frames[-1])
    assert shown.getvalue().count("\n") == 1
    assert capfd.readouterr() == ("", "")  # nor did any worker write anything


def test_the_bar_of_a_fit_that_was_stopped_stays_where_it_was(blobs, monkeypatch):
    shown = terminal(monkeypatch)
    model = DPMixture(verbose=1, **{**QUICK, "n_draws": 10**6}, max_time=0.3).fit(blobs[0])
    done = sum(model.sampler_stats_["iterations"])
    assert re.search(rf" {done}/2000200, .*it/s, K .* left$", shown.frames()[-1])


@pytest.mark.parametrize("columns", [0, 90])
def test_a_terminal_without_a_width_gets_lines(columns, monkeypatch):
    stream = terminal(monkeypatch)
    assert progress.can_draw_bars()
    monkeypatch.setattr(stream, "fileno", lambda: 7, raising=False)
    monkeypatch.setattr(os, "get_terminal_size", lambda number: os.terminal_size((columns, 24)))
    assert progress.can_draw_bars() == (columns > 0)


def test_progress_changes_no_draw(blobs, monkeypatch, capsys):
    monkeypatch.setattr(chain_runs, "ROUNDS", 1)
    silent = DPMixture(**QUICK).fit(blobs[0]).posterior_
    shown = DPMixture(verbose=1, **QUICK).fit(blobs[0]).posterior_
    np.testing.assert_array_equal(shown.labels, silent.labels)
    np.testing.assert_array_equal(shown.log_posterior, silent.log_posterior)


def test_chains_that_go_on_start_where_they_are(blobs, monkeypatch):
    shown = terminal(monkeypatch)
    model = DPMixture(**QUICK).fit(blobs[0]).set_params(verbose=1)
    model.continue_fit(50)
    assert "300/400" in shown.frames()[0]
    assert "400/400" in shown.frames()[-1]


def test_there_are_lines_without_tqdm(monkeypatch):
    terminal(monkeypatch)
    schedule = Lengths(Asked(50, 50, 1, 50))
    assert type(progress_display(1, chains_at(0, 0), schedule)) is Bar
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert type(progress_display(1, chains_at(0, 0), schedule)) is Lines
    assert type(progress_display(0, chains_at(0, 0), schedule)) is Progress


def test_a_notebook_shows_a_bar(monkeypatch):
    class Shell:
        config = {"IPKernelApp": {}}

    class IPython:
        get_ipython = Shell

    assert not progress.can_draw_bars()
    monkeypatch.setitem(sys.modules, "IPython", IPython)
    assert progress.can_draw_bars()
    monkeypatch.setattr(Shell, "config", {})
    assert not progress.can_draw_bars()


def test_lines_are_few(capsys):
    schedule = Lengths(Asked(5000, 5000, 1, 5000))
    lines = Lines(chains_at(0, 0), schedule)
    for done in range(50, 10_050, 50):
        lines.show(chains_at(done, done))
    shown = capsys.readouterr().err.splitlines()
    assert len(shown) == 20
    assert "1000/20000 iterations" in shown[0]
    assert "20000/20000 iterations" in shown[-1]


def test_time_left_is_by_the_pace_since_the_start(monkeypatch, capsys):
    clock = iter([10.0, 20.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    lines = Lines(chains_at(100, 100), Lengths(Asked(400, 100, 1, 400)))
    lines.show(chains_at(200, 200))
    assert "400/1000 iterations, 20 it/s, K 2..5, log p -20..-19, 30 s left" in (
        capsys.readouterr().err
    )


def test_what_all_chains_share_is_said_once():
    assert summary(chains_at(1, 1, n_clusters=(3, 3), levels=(-7.1, -6.9))) == "K 3, log p -7"
    assert summary(chains_at(1, 1, n_clusters=(10, 9))) == "K 9..10, log p -20..-19"


def test_imports_print_nothing_and_need_neither_bars_nor_pictures():
    code = (
        "import sys, bnpcluster, bnpcluster.plotting;"
        "assert not {'tqdm', 'matplotlib'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
