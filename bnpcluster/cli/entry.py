"""Run a command: errors become one sentence, and Ctrl-C leaves no traceback."""

from __future__ import annotations

import errno
import sys
from collections.abc import Sequence

from bnpcluster._core.messages import in_shell_words
from bnpcluster.cli.interrupts import NOT_WRITTEN, leave_at_once
from bnpcluster.cli.options import COMMANDS, DESCRIPTION
from bnpcluster.cli.usage import INTERRUPTED, WRONG, Done, drop_output, parse, print_message


def run(words: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    words : sequence of str, optional
        The words after `bnpcluster`. By default those of the process. Ctrl-C may then end it.
    """
    if words is not None:
        return attempt(words)
    leave_at_once()
    status = attempt(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        drop_output()
    return status


def attempt(words: Sequence[str]) -> int:
    """Run a command. Errors that users can mend are printed in one sentence."""
    try:
        options = parse(words, COMMANDS, DESCRIPTION)
        return options.command(options)
    except Done:
        return 0
    except KeyboardInterrupt:
        print_message(NOT_WRITTEN)
        return INTERRUPTED
    except OSError as error:
        print_message(sentence_of(error))
    except MemoryError:
        print_message("The memory is not enough: use fewer columns, rows, --draws or --chains.")
    except (ImportError, TypeError, ValueError) as error:
        print_message(" ".join(in_shell_words(error).split()))
    return WRONG


def sentence_of(error: OSError) -> str:
    """What went wrong with a file."""
    if not error.filename:
        return str(error)
    remedy = ": free some space, or choose another --out" if error.errno == errno.ENOSPC else ""
    return f"{error.filename}: {error.strerror}{remedy}."
