"""Finished units of work in a file of JSON lines, so that a run resumes where it was stopped.

A unit is a chain, a run of particles or a data set: whatever is too long to lose. Its key names it
and every setting it depends on. A unit that is in the file is not run again. What a unit returns is
read back from its line, so a resumed run prints the same tables as one that was never stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path("build/reproductions")


class Finished:
    """The results of units by key, in a file or, without a path, in memory only."""

    def __init__(self, path: Path | None = None):
        self.path = path
        self.results: dict[str, Any] = {}
        if path is not None and path.exists():
            self._read(path)

    def get(self, key: Sequence[Any], work: Callable[[], Any]) -> Any:
        """The result of a unit, from the file or by `work()`, whose result goes into the file."""
        name = _text(list(key))
        if name not in self.results:
            result = _text(work())
            if self.path is not None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with self.path.open("a") as file:
                    file.write(f'{{"key": {name}, "result": {result}}}\n')
            self.results[name] = json.loads(result)
        return self.results[name]

    def _read(self, path: Path) -> None:
        """Read all lines. One that was cut off by a kill is removed: its unit runs again."""
        text = path.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        if len(whole) < len(text):
            with path.open("r+b") as file:
                file.truncate(len(whole))
        for line in whole.splitlines():
            unit = json.loads(line)
            self.results[_text(unit["key"])] = unit["result"]
        print(f"{len(self.results)} finished units are in {path}", file=sys.stderr)


def add_argument(parser: argparse.ArgumentParser, name: str) -> None:
    """The option for the file of a script."""
    parser.add_argument(
        "--finished",
        type=Path,
        default=FOLDER / f"{name}.jsonl",
        help="file of finished units; delete it to measure again (default: %(default)s)",
    )


def _text(value: Any) -> str:
    return json.dumps(value, default=_plain)


def _plain(value: Any) -> Any:
    """numpy's values as Python's."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"cannot keep {type(value).__name__}")
