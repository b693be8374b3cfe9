"""Plausible bugs, one small edit of the package each, and the tests that must catch them.

`python -m tests.mutants` makes them one by one and runs those tests; see `__main__`.
"""

from __future__ import annotations

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
