"""Ctrl-C in the parts of a command: at once before a fit, with the draws so far during a fit.

An exception in the middle of an import may be swallowed or reworded by whatever is imported. So
Ctrl-C ends the process at once as long as there is nothing to save. During a fit it raises
KeyboardInterrupt, as usual, and the fit stops with what it has drawn.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bnpcluster.cli.usage import INTERRUPTED, print_message

NOT_WRITTEN = "interrupted before all files were written."


def leave_at_once() -> None:
    """Make Ctrl-C end the process, until it ends by itself. A host's own handler stays."""
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
        sys.unraisablehook = _quiet_hook


@contextmanager
def raising() -> Iterator[None]:
    """Make Ctrl-C raise KeyboardInterrupt if it would end the process: there is work to save."""
    if signal.getsignal(signal.SIGINT) is not _leave:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, _leave)


def _leave(number: int, frame: Any) -> None:
    print_message(NOT_WRITTEN)
    os._exit(INTERRUPTED)


def _quiet_hook(unraisable: Any) -> None:
    """Report an exception that nobody can catch, unless it is Ctrl-C."""
    if not isinstance(unraisable.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
