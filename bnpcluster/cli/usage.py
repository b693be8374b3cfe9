"""The words of a command line: options, their values, help texts, and what is wrong with them.

Nothing here imports numpy, so that help and most errors come at once.
"""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from types import SimpleNamespace
from typing import Any, NamedTuple, NoReturn

from bnpcluster._core.messages import OPTIONS
from bnpcluster._core.suggestions import nearest

DONE, WRONG, DISAGREE, INTERRUPTED = 0, 2, 3, 130
EXIT_STATUS = """\
exit status:
  0    the files were written, and no problem was found
  2    wrong usage, data or output folder; one sentence says what is wrong
  3    the files were written, but the chains disagree or were too short; see the report
  130  interrupted by Ctrl-C; the draws made so far were written
"""
WIDTH, COLUMN = 100, 28  # of help texts, and where the explanations begin
PYTHON_NAMES = {name.replace("_", "-"): option for name, option in OPTIONS.items()}
UNSET: Any = object()


class Done(Exception):
    """There is nothing left to do: help was printed."""


class Option(NamedTuple):
    """An option of a command.

    Attributes
    ----------
    name : str
        Such as "--draws".
    text : str
        What it does.
    metavar : str
        What stands for its value in the help; empty for an option without a value.
    read : callable
        Makes the value from the name of the option and the text.
    default : object
        The value if the option is not given. `UNSET`: there is none, the model has the default.
    is_list : bool
        Whether it may be given several times.
    field : str
        Its name in the result, if that is another one.
    """

    name: str
    text: str
    metavar: str = ""
    read: Callable[[str, str], Any] = lambda name, text: text
    default: Any = UNSET
    is_list: bool = False
    field: str = ""

    @property
    def key(self) -> str:
        """Its name in the result."""
        return self.field or self.name.removeprefix("--").replace("-", "_")


class Command(NamedTuple):
    """A command.

    Attributes
    ----------
    text : str
        What it does.
    files : dict of str to str
        The words that are no options, such as the table, and what they are.
    groups : dict of str to list of Option
        The options by heading.
    run : str
        Module and function, imported when the command runs.
    """

    text: str
    files: dict[str, str]
    groups: dict[str, list[Option]]
    run: str

    @property
    def options(self) -> dict[str, Option]:
        """The options by name."""
        return {option.name: option for group in self.groups.values() for option in group}


def print_message(sentence: str) -> None:
    """Print a sentence to the standard error stream."""
    print(f"bnpcluster: {sentence}", file=sys.stderr, flush=True)


def fail(sentence: str, command: str = "") -> NoReturn:
    """Raise an error about usage that refers to the help."""
    raise ValueError(f"{sentence}; see bnpcluster {command + ' ' if command else ''}--help.")


def parse(words: Sequence[str], commands: dict[str, Command], description: str) -> Any:
    """The values of all options, and the function that runs the command."""
    if not words:
        *most, last = sorted(commands)
        fail(f"Name a command: {', '.join(most)} or {last}")
    if words[0] in ("-h", "--help"):
        print_result(overview(commands, description))
        raise Done
    if words[0] == "--version":
        from bnpcluster._version import __version__  # which takes a while to find

        print_result(__version__)
        raise Done
    if words[0] not in commands:
        _refuse_command(words[0], sorted(commands))
    name, command = words[0], commands[words[0]]
    if {"-h", "--help"} & set(words[1:]):
        print_result(help_text(name, command))
        raise Done
    values = {o.key: o.default for o in command.options.values() if o.default is not UNSET}
    files = list(_read_words(name, command, words[1:], values))
    values.update(_named_files(name, command, files))
    if "--out" in command.options and "out" not in values:
        fail("--out is missing: name a folder for the results", name)
    module, function = command.run.split(":")
    return SimpleNamespace(
        command=lambda options: getattr(import_module(module), function)(options), **values
    )


def _refuse_command(word: str, names: list[str]) -> NoReturn:
    near = nearest(word, names)
    if "." in word or "/" in word:
        raise ValueError(f"{word!r} is not a command: write bnpcluster fit {word} --out FOLDER.")
    if word.startswith("-"):
        raise ValueError(f"The command comes first, before {word}: {', '.join(names)}.")
    hint = f"Did you mean {near}? " if near else ""
    raise ValueError(f"Unknown command {word!r}. {hint}Available: {', '.join(names)}.")


def _read_words(
    name: str, command: Command, words: Sequence[str], values: dict[str, Any]
) -> Iterator[str]:
    """Add the options to `values`; return the other words."""
    known, rest = command.options, list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            yield from rest
            return
        if not word.startswith("-") or word == "-":
            yield word
            continue
        given, equals, text = word.partition("=")
        if given not in known:
            _refuse_option(given, known, name)
        option = known[given]
        if not option.metavar:
            if equals:
                raise ValueError(f"{given} takes no value.")
            values[option.key] = True
            continue
        if not equals:
            if not rest or _is_option(rest[0], known):
                raise ValueError(f"{given} needs a value: {given} {option.metavar}.")
            text = rest.pop(0)
        value = option.read(given, text)
        values[option.key] = [*values.get(option.key, []), value] if option.is_list else value


def _is_option(word: str, known: dict[str, Option]) -> bool:
    """Whether a word is an option, and not the value of one; values may be negative."""
    return word.partition("=")[0] in known or (word.startswith("--") and word[2:3].isalpha())


def _refuse_option(given: str, known: dict[str, Option], command: str) -> NoReturn:
    bare = given.lstrip("-").replace("_", "-").lower()
    near = PYTHON_NAMES.get(bare)
    near = near if near in known else nearest("--" + bare, known)
    if near is None:
        starts = [option for option in known if option.startswith("--" + bare) and bare]
        near = starts[0] if len(starts) == 1 else None
    if near is None:
        fail(f"Unknown option {given}", command)
    raise ValueError(f"Unknown option {given}. Did you mean {near}?")


def _named_files(name: str, command: Command, files: list[str]) -> dict[str, str]:
    """The words that are no options, by name."""
    if len(files) < len(command.files):
        fail(f"the name of the {list(command.files)[-1]} is missing".capitalize(), name)
    if len(files) > len(command.files):
        raise ValueError(
            f"Unexpected word {files[len(command.files)]!r}: put names with blanks in quotes, and "
            "one file after the command."
        )
    return dict(zip(command.files, files, strict=True))


def overview(commands: dict[str, Command], description: str) -> str:
    """What `bnpcluster --help` prints."""
    lines = ["usage: bnpcluster COMMAND ...", "", description, "", "commands:"]
    for name, command in commands.items():
        lines += _explained(f"  {name}", command.text)
    lines += ["", "Each command explains its options: bnpcluster fit --help", "", EXIT_STATUS]
    return "\n".join(lines).rstrip()


def help_text(name: str, command: Command) -> str:
    """What the help of a command prints."""
    files = " ".join(word.upper() for word in command.files)
    about = f"{command.text[0].upper()}{command.text[1:]}."
    words = [
        name,
        *([files] if files else []),
        *(["--out FOLDER"] if "--out" in command.options else []),
    ]
    lines = [f"usage: bnpcluster {' '.join(words)} [options]", "", about, ""]
    for word, text in command.files.items():
        lines += _explained(f"  {word.upper()}", text)
    for heading, options in command.groups.items():
        lines += ["", f"{heading}:"]
        for option in options:
            lines += _explained(f"  {option.name} {option.metavar}".rstrip(), option.text)
    return "\n".join([*lines, "", EXIT_STATUS]).rstrip()


def _explained(name: str, text: str) -> list[str]:
    """Lines of a name and its explanation, side by side."""
    first, *more = textwrap.wrap(text, WIDTH - COLUMN) or [""]
    head = f"{name:<{COLUMN - 1}} {first}" if len(name) < COLUMN else f"{name}  {first}"
    return [head, *(" " * COLUMN + line for line in more)]


def print_result(text: str) -> None:
    """Print a result. Nobody may be reading, as in `bnpcluster ... | head -1`."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        drop_output()


def drop_output() -> None:
    """Let what is left to print go nowhere, because nobody reads it any more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
