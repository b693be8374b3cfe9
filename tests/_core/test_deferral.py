"""Ctrl-C during a compilation waits for its end, and is not lost."""

import os
import signal
import threading

import pytest
from numba.extending import overload

from bnpcluster._core.deferral import interrupts_deferred
from bnpcluster._core.jit import DISABLED, kernel


def press():
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture(autouse=True)
def default_handler():
    """Python's own, whatever runs the tests."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_waits_and_is_raised():
    done = []
    with pytest.raises(KeyboardInterrupt), interrupts_deferred():
        press()
        done.append(1)
    assert done == [1]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_is_raised_after_an_error_too():
    with pytest.raises(KeyboardInterrupt), interrupts_deferred():
        press()
        raise ValueError("of the block")


def test_other_handlers_are_called_once():
    seen = []
    signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    with interrupts_deferred():
        press()
        press()
        assert seen == []
    assert seen == [signal.SIGINT]


def test_blocks_within_a_block_deliver_at_their_own_end():
    done = []
    with pytest.raises(KeyboardInterrupt), interrupts_deferred():
        with interrupts_deferred():
            press()
            done.append("inside")
        done.append("after the inner block")
    assert done == ["inside"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_nothing_changes_where_interrupts_are_ignored_or_go_elsewhere():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with interrupts_deferred():
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    found = []

    def work():
        with interrupts_deferred():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.SIG_IGN]


def answer():
    """Compiled below, while somebody presses Ctrl-C."""


def test_a_compilation_ends_before_an_interrupt():
    typed = []

    @overload(answer)
    def typing():
        press()
        typed.append(1)
        return lambda: 42

    @kernel
    def ask():
        return answer()

    if DISABLED:  # then nothing is compiled
        return
    with pytest.raises(KeyboardInterrupt):
        ask()
    assert typed == [1]
    assert ask() == 42
