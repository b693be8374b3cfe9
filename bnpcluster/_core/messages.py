"""Messages for Python and for the command line.

A `Message` consists of text and `Action`s. It has one wording for Python and one for the command
line. A `ColumnsError` or `ColumnsWarning` stores the numbers of its columns. They are replaced by
names. So no code edits the text of a message.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Self


class Action(NamedTuple):
    """An instruction or a setting, in Python and on the command line."""

    python: str
    shell: str


class Message(str):
    """A sentence made of text and actions. As a string, it is worded for Python.

    Attributes
    ----------
    shell : str
        The same sentence, worded for the command line.

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


def in_shell_words(message: Any) -> str:
    """A sentence, an action or an error, worded for the command line."""
    if isinstance(message, BaseException) and message.args:
        message = message.args[0]
    return str(getattr(message, "shell", message))


RUN_LONGER = Action(
    "run longer with continue_fit(n_draws)", "run longer with more --max-draws or --draws"
)
MORE_DRAWS = Action("raise n_draws", "raise --draws")
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
"""Options whose names differ from the parameters."""


def parameter(name: str) -> Action:
    """The name of a parameter."""
    return Action(name, OPTIONS.get(name, "--" + name.replace("_", "-")))


def setting(name: str, value: Any) -> Action:
    """A parameter with a value."""
    return Action(f"{name}={value!r}", f"{parameter(name).shell} {value}")


def given(value: Any) -> Action:
    """A value that was given; on the command line without marks of Python."""
    if isinstance(value, (list, tuple)):
        return Action(shown(value), ",".join(given(part).shell for part in value))
    return Action(shown(value), value if isinstance(value, str) else shown(value))


def more_draws(n: int) -> Action:
    """Append `n` draws."""
    return Action(f"continue_fit({n})", f"{n} more --draws")


class AboutColumns(Exception):
    """An error or warning about some columns, given by number until their names are known.

    Parameters
    ----------
    before : str
        The text before the columns.
    columns : sequence of int or str
        Numbers or names of columns.
    after : str
        The text after the columns.
    """

    def __init__(self, before: str, columns: Sequence[int | str], after: str = ""):
        self.before, self.columns, self.after = before, list(columns), after
        shown = (repr(c) if isinstance(c, str) else str(c) for c in self.columns)
        super().__init__(Message(before, ", ".join(shown), after))

    def __reduce__(self) -> tuple:
        return type(self), (self.before, self.columns, self.after)

    def renamed(self, names: Sequence[str | int]) -> Self:
        """The same, with the numbers of columns replaced by these names or numbers."""
        known = [names[c] if not isinstance(c, str) and c < len(names) else c for c in self.columns]
        return type(self)(self.before, known, self.after)


class ColumnsError(AboutColumns, ValueError):
    """An error about some columns."""


class ColumnsWarning(AboutColumns, UserWarning):
    """A warning about some columns."""


@contextmanager
def with_columns(names: Sequence[str | int] | None) -> Iterator[None]:
    """Replace the columns in errors raised inside by these names or numbers."""
    try:
        yield
    except ColumnsError as error:
        if names is None:
            raise
        raise error.renamed(names) from error


LONGEST = 200  # characters of a value in a message


def shown(value: Any) -> str:
    """A value for a message, shortened; an integer may have thousands of digits."""
    if isinstance(value, int) and abs(value) > 10**30:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, (list, tuple)):
        value = ", ".join(map(shown, value)).join("()" if isinstance(value, tuple) else "[]")
    else:
        value = repr(value)
    return value if len(value) <= LONGEST else f"{value[: LONGEST - 4]} ..."
