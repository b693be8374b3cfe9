"""Ctrl-C at any moment: no traceback, and no lost draws."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from bnpcluster._fitting import chain_runs
from bnpcluster._fitting.progress import Progress
from bnpcluster.cli import models
from bnpcluster.cli.interrupts import NOT_WRITTEN, raising
from tests.tools.shell import fit


class Impatient(Progress):
    """Who watches the progress, and presses Ctrl-C once there are draws."""

    def show(self, chains):
        if min(len(chain.draws) for chain in chains) > 2:
            signal.raise_signal(signal.SIGINT)


def test_an_interrupt_leaves_what_was_drawn(table, capsys, monkeypatch, interrupts):
    monkeypatch.setattr(chain_runs, "progress_display", lambda *_: Impatient())
    status, folder = fit(table, "--columns", "height", "--draws", "4000", "--warmup", "5")
    assert status == 130
    with np.load(folder / "draws.npz") as draws:
        assert 2 < draws["labels"].shape[1] < 4000
    assert "interrupted" in (folder / "report.html").read_text()


def test_an_interrupt_before_anything_was_drawn(table, capsys, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(models, "build_model", interrupt)
    status, folder = fit(table)
    assert status == 130
    assert "interrupted" in capsys.readouterr().err
    assert not folder.exists()


PRESS = """
SWALLOWED = False  # by the module that is imported
import builtins, os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
module = sys.argv.pop(1)
load = builtins.__import__

def pressed(name, *rest, **more):
    if name == module:
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt:
            if SWALLOWED:
                raise ImportError("no " + name)
            raise
    return load(name, *rest, **more)

builtins.__import__ = pressed
from bnpcluster.cli import main
sys.exit(main())
"""


def press_at(module, *words, cwd, script=PRESS):
    """Run a command that gets Ctrl-C when a module is first imported."""
    command = [sys.executable, "-c", script, module, *map(str, words)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True)


@pytest.mark.parametrize(
    "module",
    ["bnpcluster.cli.options", "bnpcluster.cli.cells", "numpy", "sklearn.base", "numba"],
)
def test_an_interrupt_of_imports_ends_quietly(module, table):
    done = press_at(module, "fit", table, "--out", "results", cwd=table.parent)
    assert done.returncode == 130
    assert done.stdout == ""
    assert done.stderr in ("", f"bnpcluster: {NOT_WRITTEN}\n")
    assert not (table.parent / "results").exists()


@pytest.mark.parametrize("module", ["numpy", "sklearn.base", "numba"])
def test_an_interrupt_that_an_import_rewords_is_one(module, table):
    script = PRESS.replace("SWALLOWED = False", "SWALLOWED = True")
    words = ["fit", table, "--out", "results"]
    done = press_at(module, *words, cwd=table.parent, script=script)
    assert (done.returncode, done.stderr) == (130, f"bnpcluster: {NOT_WRITTEN}\n")


@pytest.mark.parametrize("seconds", [0.15, 0.2, 0.6, 1.2, 2.4, 4.0])
def test_an_interrupt_at_any_moment_leaves_no_traceback(seconds, table):
    words = [sys.executable, "-m", "bnpcluster", "fit", str(table), "--out", "results"]
    words += ["--columns", "height", "--draws", "1000000", "--warmup", "5", "--quiet"]
    process = subprocess.Popen(
        words,
        cwd=table.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode in (130, -signal.SIGINT)  # Python may not have begun
    assert out == ""
    assert "Traceback" not in err and "Exception ignored" not in err, err
    names = {path.name for path in (table.parent / "results").glob("*")}
    assert not {name for name in names if name.startswith(".")}


def test_an_interrupt_of_a_process_leaves_what_was_drawn(table):
    """With workers in other processes, which get the Ctrl-C of a terminal, too."""
    words = [sys.executable, "-m", "bnpcluster", "fit", str(table), "--out", "results"]
    words += ["--columns", "height", "--draws", "10000000", "--warmup", "5", "--seed", "1"]
    process = subprocess.Popen(
        [*words, "--jobs", "2", "--chains", "2", "--checkpoint", "saved"],
        cwd=table.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    until = time.monotonic() + 240
    while not any((table.parent / "saved").glob("*")) and time.monotonic() < until:
        time.sleep(0.1)  # until the first round was saved
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "Traceback" not in err, err
    assert np.load(table.parent / "results" / "draws.npz")["labels"].shape[1] > 0


def test_a_host_program_keeps_its_own_handler():
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with raising():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, previous)


def test_nobody_reads_the_output(table):
    """As in `bnpcluster ... | head -1`, but the reader leaves first."""
    for words in (
        ["fit", table, "--columns", "height", "--out", "results", "--draws", "20", "--warmup", "5"],
        ["fit", "--help"],
    ):
        reader, writer = os.pipe()
        os.close(reader)
        command = [sys.executable, "-m", "bnpcluster", *map(str, words)]
        done = subprocess.run(
            command, cwd=table.parent, stdout=writer, stderr=subprocess.PIPE, text=True
        )
        os.close(writer)
        assert done.returncode in (0, 3)
        assert "Broken" not in done.stderr and "Traceback" not in done.stderr
    assert (table.parent / "results" / "report.html").exists()
