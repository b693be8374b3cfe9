"""How a mutant is tried: it is made in a copy of the sources, where its tests then run."""

from __future__ import annotations

import re
import signal
import time
from concurrent.futures import Future
from pathlib import Path
from threading import Lock

from tests.mutants import Mutant, edited
from tests.mutants.results import BROKEN, CAUGHT, STALE, SURVIVED, name, row
from tests.tools.copies import Copies, Done
from tests.tools.ledger import Ledger

LONGEST = 300.0  # seconds per test; tests that take longer hang, which nobody overlooks
SLOWER = 5.0  # but tests that take long without the mutant may take so many times longer with it
CRASHES = {-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGFPE, -signal.SIGABRT, -signal.SIGILL}
MISSING = (4, 5)  # pytest's exit status where a test does not exist, or none does
CLOSING = re.compile(r"\d+ (passed|failed|skipped|deselected|warning|error)|no tests ran")


class Trials:
    """Tries mutants in the copies of the jobs and stores what comes out.

    Attributes
    ----------
    copies : Copies
    ledger : Ledger: where results go
    keys : dict of Mutant to str: the keys of the results, from the sources that are tried
    """

    def __init__(self, copies: Copies, ledger: Ledger, keys: dict[Mutant, str]):
        self.copies, self.ledger, self.keys = copies, ledger, keys
        self._unedited: dict[tuple[str, bool], Future[Done]] = {}
        self._lock = Lock()

    def settle(self, mutant: Mutant, folder: Path) -> None:
        """Try a mutant, print a line about it and store its outcome."""
        begin = time.perf_counter()
        outcome, details = self.outcome(mutant, folder)
        seconds = time.perf_counter() - begin
        print(f"{outcome:8} {seconds:5.1f} s  {': '.join(name(mutant))}{details}", flush=True)
        self.ledger.put(row(mutant, self.keys[mutant], outcome, seconds))

    def outcome(self, mutant: Mutant, folder: Path) -> tuple[str, str]:
        """Whether a mutant is caught; more, where that needs an explanation."""
        file = folder / "bnpcluster" / mutant.file
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        broken = edited(text, mutant)
        if broken is None:
            place = mutant.function or "the file"
            return STALE, f"\n    {mutant.old!r} is not exactly once in {place}"
        unedited = self.unedited(mutant, folder)
        if unedited.status != 0:
            gone = unedited.status in MISSING
            why = "they hang" if unedited.status is None else tail(unedited.said)
            return STALE if gone else BROKEN, f", without the mutant: {why}"
        file.write_text(broken, encoding="utf-8")
        try:
            return verdict(self.run(mutant, folder, SLOWER * unedited.seconds))
        finally:
            file.write_text(text, encoding="utf-8")

    def unedited(self, mutant: Mutant, folder: Path) -> Done:
        """How the mutant's tests end without it; mutants with the same tests ask once."""
        selection = mutant.tests, mutant.compiled
        with self._lock:
            first = selection not in self._unedited
            future = self._unedited.setdefault(selection, Future())
        if first:
            try:
                future.set_result(self.run(mutant, folder))
            except BaseException as error:
                future.set_exception(error)
        return future.result()

    def run(self, mutant: Mutant, folder: Path, seconds: float = 0.0) -> Done:
        """Run the mutant's tests in a folder, up to the first that fails; allow so much time."""
        tests = [f"tests/{test}" for test in dict.fromkeys(mutant.tests.split())]
        limit = max(LONGEST * len(tests), seconds)
        return self.copies.pytest(folder, ["-x", "-m", "", *tests], mutant.compiled, limit)


def verdict(done: Done) -> tuple[str, str]:
    """What the tests of a mutant show; more, where that needs an explanation."""
    if done.status is None:
        return CAUGHT, " (hangs)"
    if done.status in CRASHES:
        return CAUGHT, " (crashes)"
    if done.status > 1 or done.status < 0:
        return STALE, f", pytest ended with status {done.status}:{tail(done.said)}"
    return (SURVIVED, CAUGHT)[done.status], ""


def tail(said: str) -> str:
    """The last lines of pytest, indented, without the closing ones: whoever reads the log of a
    continuous integration takes those for the ones of the suite.
    """
    lines = [line for line in said.splitlines() if not CLOSING.search(line)]
    return "".join(f"\n    {line}" for line in lines[-30:])
