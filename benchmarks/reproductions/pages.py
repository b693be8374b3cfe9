"""Tables in Markdown: printed, and put into a page where it has a place for them.

A place is what stands between `<!-- table: NAME -->` and `<!-- end -->`. Text around it is written
by hand and stays.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any


class Page:
    """A page to update; without a path, tables are only printed."""

    def __init__(self, path: Path | None = None):
        self.path = path

    def table(self, name: str, head: str, rows: Sequence[Sequence[Any]]) -> None:
        """Print a table, and put it into its place."""
        lines = [f"| {head} |", "|---" * (head.count("|") + 1) + "|"]
        lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
        self.put(name, "\n".join(lines))

    def put(self, name: str, text: str) -> None:
        """Print a text under a title, and put it into its place."""
        print(f"\n{name}\n\n{text}", flush=True)
        if self.path is None:
            return
        start, end = f"<!-- table: {name} -->\n", "<!-- end -->"
        before, found, after = self.path.read_text().partition(start)
        if found:
            _, found, after = after.partition(end)
            if not found:
                raise ValueError(f"{self.path}: the place {name!r} has no end")
            self.path.write_text(f"{before}{start}\n{text}\n\n{end}{after}")


def add_argument(parser: argparse.ArgumentParser) -> None:
    """The option for the page of a script."""
    parser.add_argument("--page", type=Path, help="Markdown page whose tables are updated")
