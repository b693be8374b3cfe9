"""Tell people who wait that code is being compiled, and how long that takes."""

from __future__ import annotations

import logging
import sys
import time

logger = logging.getLogger("bnpcluster.compilation")
PATIENCE = 2.0  # seconds of compilation before anything is said
TEXT = (
    "bnpcluster: compiling for this machine, once: %s. Later fits start at once. "
    "(python -m bnpcluster compile prepares a machine.)"
)
ONE_KIND, MIXED = "about 15 s", "up to a minute"


class Announcement:
    """Says once per process that code is being compiled, when it has taken a while."""

    def __init__(self) -> None:
        self.seconds = 0.0  # of compilations that have ended
        self.start: float | None = None  # of the outermost compilation
        self.done = False

    def begin(self, n_kinds: int) -> bool:
        """A compilation begins, of code for so many kinds of data; whether it is the outermost."""
        now = time.perf_counter()
        outermost = self.start is None
        if outermost:
            self.start = now
        waited = self.seconds + now - (self.start or now)
        if waited > PATIENCE and not self.done and is_watched():
            self.done = True
            logger.warning(TEXT, ONE_KIND if n_kinds < 2 else MIXED)
        return outermost

    def end(self) -> None:
        """The outermost compilation ends."""
        if self.start is not None:
            self.seconds += time.perf_counter() - self.start
        self.start = None


def is_watched() -> bool:
    """Whether somebody sees the standard error stream: a terminal, or a notebook."""
    return hasattr(sys, "ps1") or "ipykernel" in sys.modules or _is_terminal()


def _is_terminal() -> bool:
    return bool(sys.stderr is not None and sys.stderr.isatty())


ANNOUNCEMENT = Announcement()
