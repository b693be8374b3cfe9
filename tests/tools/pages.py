"""Run the examples of a page, and write what they print into the page.

    python -m tests.tools.pages doc/tutorial.md

A block of text after a block of Python is what the code prints. A line of three dots in it stands
for lines that are left out: those before and after it must be whole lines of the output. Such a
block is not written, but only compared.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path

BLOCKS = re.compile(r"```python\n(?P<code>.*?)```(?:\s*```text\n(?P<shown>.*?)```)?", re.DOTALL)
DOTS = "..."


def outputs(page: str, names: dict | None = None) -> list[tuple[re.Match, str]]:
    """The blocks of Python of a page, and what each of them prints when they run in turn."""
    names = {"__name__": "__main__"} if names is None else names
    found = []
    for block in BLOCKS.finditer(page):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block["code"], "page", "exec"), names)
        found.append((block, tidy(printed.getvalue())))
    return found


def tidy(text: str) -> str:
    """An output as pages show it: no blanks at the ends of lines, no types of pandas series."""
    lines = [line.rstrip() for line in text.splitlines()]
    return "".join(f"{line}\n" for line in lines if not re.match(r"Name: .*, dtype: ", line))


def masked(text: str) -> list[str]:
    """The lines of an output without the digits of its numbers and the width of its columns."""
    lines = [re.sub(r"-?\d+(\.\d*)?", "#", line) for line in text.splitlines()]
    return [" ".join(line.split()).replace(" ]", "]") for line in lines if line.strip()]


def agrees(shown: str, printed: str) -> bool:
    """Whether a page shows what its code prints, up to the digits of numbers."""
    lines, wanted = masked(printed), masked(shown)
    if DOTS not in wanted:
        return lines == wanted
    rest = iter(lines)
    return all(line in rest for line in wanted if line != DOTS)


def rewritten(page: str) -> str:
    """The page with what its code prints."""
    for block, printed in reversed(outputs(page)):
        if block["shown"] is not None and f"{DOTS}\n" not in block["shown"]:
            page = page[: block.start("shown")] + printed + page[block.end("shown") :]
    return page


def main(paths: list[str]) -> None:
    """Rewrite the pages."""
    os.environ.setdefault("MPLBACKEND", "agg")
    files = [Path(path).resolve() for path in paths]
    for path in files:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            path.write_text(rewritten(path.read_text()))


if __name__ == "__main__":
    main(sys.argv[1:])
