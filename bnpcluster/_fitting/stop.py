"""Stop a fit: on request of the user, or at the time limit."""

from __future__ import annotations

import _thread
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE = 15.0  # seconds to wait for workers in other processes after an interrupt


class Stop:
    """Tells chains to stop: on request, or at the time limit.

    A pickled copy contains the time left, and counts it from its arrival, because the clocks of
    two machines may differ.
    """

    def __init__(self, seconds: float | None = None):
        self.deadline = None if seconds is None else time.monotonic() + seconds
        self.requested = threading.Event()
        self.returned = threading.Event()  # set while no chains are running
        self.returned.set()
        self.given_up = False

    def __call__(self) -> bool:
        """Whether to stop now."""
        late = self.deadline is not None and time.monotonic() >= self.deadline
        return late or self.requested.is_set()

    def wait(self) -> None:
        """Interrupt the main thread if chains do not return: their workers may be dead."""
        if not self.returned.wait(PATIENCE):
            self.given_up = True
            _thread.interrupt_main()

    def __getstate__(self) -> dict[str, Any]:
        left = None if self.deadline is None else self.deadline - time.monotonic()
        return {"left": left, "requested": self.requested.is_set()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Stop.__init__(self, state["left"])
        if state["requested"]:
            self.requested.set()


@contextmanager
def watched(stop: Stop) -> Iterator[None]:
    """Give up workers that do not return long after the time limit, as after Ctrl-C.

    They may wait for memory that they never get.
    """
    if stop.deadline is None:
        yield
        return
    over = threading.Event()

    def watch(deadline: float) -> None:
        if not over.wait(max(0.0, deadline - time.monotonic()) + PATIENCE):
            stop.requested.set()
            if not stop.returned.is_set():
                _thread.interrupt_main()

    threading.Thread(target=watch, args=(stop.deadline,), daemon=True).start()
    try:
        yield
    finally:
        over.set()


@contextmanager
def interruptible(stop: Stop) -> Iterator[None]:
    """Make the first Ctrl-C stop the chains; a second one interrupts as usual."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.getsignal(signal.SIGINT)

    def ask(number: int, frame: Any) -> None:
        stop.requested.set()
        signal.signal(signal.SIGINT, previous)
        threading.Thread(target=stop.wait, daemon=True).start()

    if previous is not signal.default_int_handler:
        yield  # the host program handles interrupts itself
        return
    signal.signal(signal.SIGINT, ask)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
