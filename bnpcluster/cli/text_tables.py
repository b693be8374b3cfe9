"""Tables of text: what separates the columns, and whether the first line names them.

Whatever is not as the ending of the file says is assumed, and said.
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from bnpcluster.cli.cells import MISSING, is_number
from bnpcluster.cli.values import SEPARATORS

CONVENTION = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": ""}
"""What separates columns, by the ending of the file."""
SHOWN = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "the mark '|'", " ": "blanks"}
SAMPLE = 50  # lines that tell what separates columns
BLANK = " "


class Table(NamedTuple):
    """The cells of a file.

    Attributes
    ----------
    name : str
        The name of the file.
    columns : dict of str to list
        The cells by column: text, or the values of a binary file. A first column without a name
        has the names of the rows.
    notes : list of str
        What was assumed, in sentences.
    """

    name: str
    columns: dict[str, list[Any]]
    notes: list[str]


def read_text(path: Path, ending: str, separator: str | None, header: str | None) -> Table:
    """The cells of a file of text."""
    with _opened(path) as file:
        sample = list(islice(file, SAMPLE))
        if not any(line.strip() for line in sample):
            raise ValueError(f"{path.name} is empty: its first line must name the columns.")
        notes: list[str] = []
        separator = _given(path.name, sample, separator) or _found(path.name, sample, ending, notes)
        rows = _rows(chain(sample, file), separator)
        first, (_, second) = next(rows)[1], next(rows, (0, []))
        file.seek(0)
        names, is_data = _names(path.name, first, second, header, notes)
        rows = _rows(file, separator)
        if not is_data:
            next(rows)
        columns = _columns(path.name, names, rows)
    return Table(path.name, _checked(path.name, names, columns), notes)


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    """A file of text, compressed or not. Errors of reading become sentences."""
    opener = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opener(path, "rb") as start:
            if start.read(2) in (b"\xff\xfe", b"\xfe\xff"):
                raise ValueError(f"{path.name} is text in UTF-16: save it as UTF-8.")
        with opener(path, "rt", newline="", encoding="utf-8-sig") as file:
            yield file
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise ValueError(f"{path.name} is damaged, or not compressed by gzip.") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} is not text in UTF-8: save it as UTF-8.") from None
    except csv.Error as error:
        raise ValueError(f"{path.name} is not a table of text: {error}.") from None


def _rows(lines: Iterable[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    """The cells of each line, with its number; blank lines are left out."""
    if separator == BLANK:
        lines = (re.sub(r"[ \t]+", BLANK, line.strip()) for line in lines)
    reader = csv.reader(lines, delimiter=separator, strict=True)
    return ((reader.line_num, row) for row in reader if row)


def _given(name: str, sample: Sequence[str], separator: str | None) -> str | None:
    """The separator that was given, after a check."""
    first = next(line for line in sample if line.strip())
    if separator is not None and separator not in first and any(s in first for s in SHOWN):
        raise ValueError(f"There is no {separator!r} in the first line of {name}: leave out --sep.")
    return separator


def _found(name: str, sample: Sequence[str], ending: str, notes: list[str]) -> str:
    """The separator that gives all lines the same number of cells; the more cells, the better."""
    usual = CONVENTION[ending]
    marks = sorted(
        [mark for mark in SEPARATORS.values() if mark != BLANK], key=lambda m: m != usual
    )
    n_cells = {mark: _number_of_cells(sample, mark) for mark in marks}
    best = max(marks, key=lambda mark: n_cells[mark])
    if n_cells[best] < 2:  # no mark fits
        first = next(line for line in sample if line.strip())
        best = max(marks, key=first.count)
        if _number_of_cells(sample, BLANK) > 1 and not first.count(best):
            best = BLANK
        elif not first.count(best):
            return usual or ","  # a single column
    if best != usual:
        notes.append(
            f"{name} was read with {SHOWN[best]} between columns; --sep says what else to use."
        )
    return best


def _number_of_cells(sample: Sequence[str], separator: str) -> int:
    """The number of cells of the first line, if all others fit; else 0."""
    try:
        counts = [len(row) for _, row in _rows(sample, separator)]
    except csv.Error:
        return 0
    first, *others = counts or [0]
    return first if set(others) in (set(), {first}, {first + 1}) else 0


def _names(
    name: str, first: list[str], second: list[str], header: str | None, notes: list[str]
) -> tuple[list[str], bool]:
    """The names of the columns, and whether the first line is data."""
    cells = [cell.strip() for cell in first]
    numbers = [float(c) for c in cells if c.lower() not in MISSING and is_number(c)]
    if header == "no" or (header is None and numbers and not _are_names(numbers)):
        if header is None:
            notes.append(
                f"The first line of {name} was taken for data, because it contains numbers; the "
                f"columns are called column_1 to column_{len(cells)}. If it names the columns, add "
                "--header yes."
            )
        return [f"column_{j + 1}" for j in range(len(cells))], True
    if header is None and numbers:
        notes.append(
            f"The first line of {name} was taken for the names of the columns. If it is data, add "
            "--header no."
        )
    if len(second) == len(cells) + 1:  # as R writes tables with names of rows
        notes.append(f"The first column of {name} has no name, and was taken for names of rows.")
        cells = ["", *cells]
    return cells, False


def _are_names(numbers: Sequence[float]) -> bool:
    """Whether numbers in the first line may be names: 0, 1, 2, ... or years."""
    rising = all(a < b for a, b in pairwise(numbers))
    return len(numbers) > 1 and rising and all(n.is_integer() and n >= 0 for n in numbers)


def _columns(name: str, names: list[str], rows: Iterator[tuple[int, list[str]]]) -> list[list[str]]:
    """The cells by column."""
    columns: list[list[str]] = [[] for _ in names]
    for line, row in rows:
        if len(row) != len(names):
            cells = "1 cell" if len(row) == 1 else f"{len(row)} cells"
            raise ValueError(
                f"Line {line} of {name} has {cells}, but there are {len(names)} columns."
            )
        for column, cell in zip(columns, row, strict=True):
            column.append(cell)
    return columns


def _checked(name: str, names: list[str], columns: list[list[str]]) -> dict[str, list[Any]]:
    """The columns by name, without empty columns that a separator at the end of lines makes."""
    if not columns[0]:
        raise ValueError(f"{name} has names of columns, but no rows.")
    kept = [j for j, own in enumerate(names) if own or any(cell.strip() for cell in columns[j])]
    check_names(name, [names[j] for j in kept])
    return {names[j]: columns[j] for j in kept}


def check_names(name: str, names: Sequence[str]) -> None:
    """Raise an error if a column has no name, or the name of another one."""
    # R and pandas leave the name of the first column empty if it contains the names of the rows.
    if "" in names[1:]:
        raise ValueError(f"Column {list(names).index('', 1) + 1} of {name} has no name.")
    repeated = [own for own in names if names.count(own) > 1]
    if repeated:
        raise ValueError(f"{name} has several columns named {repeated[0]!r}.")
