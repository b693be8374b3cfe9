"""Copies of the source tree, one for each job, where tests run while you edit the tree itself."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path
from typing import NamedTuple, TypeVar

from tests.tools.dossier import VARIABLE

T = TypeVar("T")
LEFT_OUT = (".*", "__pycache__", "_build", "*.egg-info", "build", "dist")


class Done(NamedTuple):
    """How a run of pytest ended: its exit status, None if it took too long, and what it said."""

    status: int | None
    said: str
    seconds: float = 0.0


class Stopped(Exception):
    """The program was told to stop, so this run tells nothing."""


class Copies:
    """A copy of the tree as it was at first, and one for each job, to edit and run.

    A job keeps its folder, and so the machine code of what it compiled there.

    Attributes
    ----------
    original : Path: the copy that nobody edits; later edits of the tree do not reach it
    jobs : list of Path: the folders of the jobs
    """

    def __init__(self, root: Path, folder: Path, n_jobs: int, minutes: float | None = None):
        self.original = folder / "original"
        self.jobs = [folder / f"job_{i}" for i in range(n_jobs)]
        self._end = None if minutes is None else time.monotonic() + 60 * minutes
        self._running: set[subprocess.Popen] = set()
        self._stopped = False
        copy(root, self.original)
        for job in self.jobs:
            copy(self.original, job)

    def seconds_left(self) -> float | None:
        """How much time is left; None if there is no limit."""
        return None if self._end is None else max(self._end - time.monotonic(), 0.0)

    def each(self, units: Iterable[T], work: Callable[[T, Path], None]) -> None:
        """Call work(unit, folder) for one unit after the other in every job, while time is left."""
        waiting = deque(units)

        def one_job(folder: Path) -> None:
            while waiting and self.seconds_left() != 0 and not self._stopped:
                try:
                    unit = waiting.popleft()
                except IndexError:  # another job took the last one
                    return
                work(unit, folder)

        with ThreadPoolExecutor(len(self.jobs)) as pool:
            futures = [pool.submit(one_job, folder) for folder in self.jobs]
            try:
                for future in wait(futures, return_when=FIRST_EXCEPTION).done:
                    future.result()
            except BaseException:
                self._stop()
                raise

    def pytest(
        self, folder: Path, words: Iterable[str], compiled: bool, seconds: float | None
    ) -> Done:
        """Run pytest in a folder; it is killed, with all its children, after so many seconds."""
        begin = time.perf_counter()
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words],
                cwd=folder,
                env=environment(folder, compiled),
                # A file and not a pipe: a child that outlives its parent would hold the pipe open.
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._running.add(process)
            try:
                status = process.wait(0 if self._stopped else seconds)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                self._running.discard(process)
                kill_all(process)
                process.wait()
            if self._stopped:
                raise Stopped
            output.seek(0)
            said = output.read().decode(errors="replace")
            return Done(status, said, time.perf_counter() - begin)

    def _stop(self) -> None:
        self._stopped = True
        for process in list(self._running):
            kill_all(process)


def copy(root: Path, to: Path) -> None:
    """Copy what tests read; not the repository, hidden files or what a build leaves behind."""
    ignored = shutil.ignore_patterns(*LEFT_OUT)
    names = [path.name for path in root.iterdir()]
    to.mkdir()
    for name in set(names) - ignored(str(root), names):
        if (root / name).is_dir():
            shutil.copytree(root / name, to / name, ignore=ignored)
        else:
            shutil.copy(root / name, to)


def environment(folder: Path, compiled: bool) -> dict[str, str]:
    """The environment of tests in a folder, which has a cache of machine code of its own."""
    inherited = {k: v for k, v in os.environ.items() if k != VARIABLE and "PYTEST" not in k}
    return {
        **inherited,
        "PYTHONPATH": str(folder),
        # Python takes byte code for that of a file by its size and the second it was written. A
        # file is edited and put back faster than that.
        "PYTHONDONTWRITEBYTECODE": "1",
        "NUMBA_CACHE_DIR": str(folder / ".numba"),
        "NUMBA_DISABLE_JIT": str(int(not compiled)),
    }


def kill_all(process: subprocess.Popen) -> None:
    """Kill a process and the children it left in its session."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def stop_on_sigterm() -> None:
    """Let SIGTERM end the program as Ctrl-C does, so that no child outlives it."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
