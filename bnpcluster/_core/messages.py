"""Sentences for people, which carry what they are about, so that no code edits their text.

A `Message` is a sentence in the words of Python that can also be said in those of the command line:
it is made of text and of `Action`s. A `ColumnsError` knows its columns by number, and can be said
again with their names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple


class Action(NamedTuple):
    """Something to do, or a setting: in Python, and at the command line."""

    python: str
    shell: str


class Message(str):
    """A sentence made of text and actions; as a string it has the words of Python.

    Attributes
    ----------
    shell : str
        The same in the words of the command line.

    Examples
    --------
    >>> from bnpcluster._core.messages import MORE_PARTICLES, Message
    >>> message = Message("The runs disagree: ", MORE_PARTICLES, ".")
    >>> str(message), message.shell
    ('The runs disagree: raise n_particles.', 'The runs disagree: raise --particles.')
    """

    shell: str

    def __new__(cls, *parts: str | Action) -> Message:
        """Join the parts."""
        text = [part.python if isinstance(part, Action) else part for part in parts]
        message = super().__new__(cls, "".join(text))
        message.shell = "".join(map(in_shell_words, parts))
        return message


def in_shell_words(said: Any) -> str:
    """A sentence, an action or an error in the words of the command line."""
    if isinstance(said, BaseException) and said.args:
        said = said.args[0]
    return str(getattr(said, "shell", said))


RUN_LONGER = Action(
    "run longer with continue_fit(n_draws)", "run longer with more --draws and --warmup"
)
MORE_PARTICLES = Action("raise n_particles", "raise --particles")
GOOD_STARTS = Action("init='auto'", "--init auto")
OPTIONS = {
    "n_draws": "--draws",
    "n_warmup": "--warmup",
    "n_chains": "--chains",
    "n_jobs": "--jobs",
    "n_particles": "--particles",
    "random_state": "--seed",
}
"""Options that are not called like their parameters."""


def parameter(name: str) -> Action:
    """The name of a parameter."""
    return Action(name, OPTIONS.get(name, "--" + name.replace("_", "-")))


def setting(name: str, value: Any) -> Action:
    """A parameter with a value."""
    return Action(f"{name}={value!r}", f"{parameter(name).shell} {value}")


def more_draws(n: int) -> Action:
    """To append so many draws."""
    return Action(f"continue_fit({n})", f"{n} more --draws")


class ColumnsError(ValueError):
    """An error about some columns, called by their numbers until somebody knows their names.

    Parameters
    ----------
    before : str
    columns : sequence of int or str
        Numbers, or names.
    after : str
        The sentence is what comes before the columns, the columns, and what comes after them.
    """

    def __init__(self, before: str, columns: Sequence[int | str], after: str = ""):
        self.before, self.columns, self.after = before, list(columns), after
        called = (repr(c) if isinstance(c, str) else str(c) for c in self.columns)
        super().__init__(f"{before}{', '.join(called)}{after}")

    def __reduce__(self) -> tuple:
        return type(self), (self.before, self.columns, self.after)

    def renamed(self, names: Sequence[str | int]) -> ColumnsError:
        """The same error with names, or other numbers, for the numbers that have one."""
        known = [names[c] if not isinstance(c, str) and c < len(names) else c for c in self.columns]
        return ColumnsError(self.before, known, self.after)


@contextmanager
def with_columns(names: Sequence[str | int] | None) -> Iterator[None]:
    """Let errors about columns, raised inside, use these names or numbers for theirs."""
    try:
        yield
    except ColumnsError as error:
        if names is None:
            raise
        raise error.renamed(names) from error
