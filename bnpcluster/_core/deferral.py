"""Hold Ctrl-C back where it would be lost."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _Deferral:
    """The interrupts that wait, and the handler that they wait for; None: none is deferred."""

    def __init__(self) -> None:
        self.handler: Any = None
        self.arrived: list[tuple[int, Any]] = []

    def record(self, number: int, frame: Any) -> None:
        """Note an interrupt."""
        self.arrived.append((number, frame))

    def deliver(self) -> None:
        """Handle an interrupt that arrived."""
        if self.arrived:
            first = self.arrived[0]
            self.arrived.clear()
            self.handler(*first)


_DEFERRAL = _Deferral()


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Let an interrupt wait until the end of the block, or of a block within it.

    While numba compiles, LLVM calls back into Python. An exception in such a callback is lost: the
    program goes on as if nobody had pressed Ctrl-C, or fails because machine code is missing.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield  # only the main thread gets interrupts
        return
    is_outermost = _DEFERRAL.handler is None
    if is_outermost:
        _DEFERRAL.handler = before
        signal.signal(signal.SIGINT, _DEFERRAL.record)
    try:
        yield
    finally:
        try:
            if is_outermost:
                signal.signal(signal.SIGINT, before)
            _DEFERRAL.deliver()
        finally:
            if is_outermost:
                _DEFERRAL.handler = None
