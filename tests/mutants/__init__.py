"""Plausible bugs, one small edit of the package each, and the tests that must catch them.

`bash run mutants` makes them one by one and runs those tests; see `__main__`. A module of this
folder that lists mutants needs no entry elsewhere.
"""

from __future__ import annotations

import ast
from typing import NamedTuple


class Mutant(NamedTuple):
    """One bug.

    Attributes
    ----------
    file : str, below the package
    function : str: the function or class that holds the text, such as "State.visit"; "": the file
    breaks : str: what is wrong then, in a few words
    old, new : str: the edit; `old` occurs exactly once in the function
    tests : str: the tests, below `tests/`, separated by blanks, of which one must fail
    compiled : bool: whether it takes compiled kernels to tell; plain Python starts sooner
    """

    file: str
    function: str
    breaks: str
    old: str
    new: str
    tests: str
    compiled: bool = False


def edited(text: str, mutant: Mutant) -> str | None:
    """The source with the bug in it; None if the old text is not exactly once in the function."""
    start, end = span(text, mutant.function)
    if text.count(mutant.old, start, end) != 1:
        return None
    at = text.index(mutant.old, start, end)
    return text[:at] + mutant.new + text[at + len(mutant.old) :]


def span(text: str, function: str) -> tuple[int, int]:
    """Where a function or class stands in its file, decorators included; (0, 0) if nowhere."""
    try:
        node: ast.AST = ast.parse(text)
    except SyntaxError:
        return 0, 0
    lines = text.splitlines(keepends=True)
    first, last = 1, len(lines)
    for name in function.split(".") if function else ():
        found = [n for n in ast.walk(node) if getattr(n, "name", "") == name and n is not node]
        inner = next((n for n in found if isinstance(n, (ast.FunctionDef, ast.ClassDef))), None)
        if inner is None:
            return 0, 0
        node, last = inner, inner.end_lineno or 0
        first = min([inner.lineno, *(d.lineno for d in inner.decorator_list)])
    return len("".join(lines[: first - 1])), len("".join(lines[:last]))
