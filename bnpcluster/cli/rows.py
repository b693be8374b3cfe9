"""The rows to cluster: which columns of a table are data, and of what kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core.suggestions import nearest
from bnpcluster.cli.cells import Marks, NotNumbers, as_codes, as_numbers, may_be_grouped
from bnpcluster.cli.text_tables import Table

if TYPE_CHECKING:
    from bnpcluster._estimators.suspicious_columns import Suspicion

LINKS = (
    ("from", "to"),
    ("source", "target"),
    ("src", "dst"),
    ("start", "end"),
    ("sender", "receiver"),
    ("node1", "node2"),
    ("vertex1", "vertex2"),
    ("u", "v"),
)
"""Names of the two ends of links, in lower case."""
LINK_COLUMNS = 4  # a list of links has no more
READS = {"mutation_id", "ref_counts"}
TRUTH = {"true", "false", "yes", "no"}
WORDS = {"categorical": "all", "columns": "text"}
"""Which columns may contain words, by likelihood."""


class Rows(NamedTuple):
    """The rows to cluster: named rows and named columns of numbers.

    Attributes
    ----------
    name : str
        The name of the column of row names.
    ids : sequence
        The names of the rows.
    columns : dict of str to ndarray
        The columns of numbers.
    words : dict of str to list of str
        For each column of codes, the words that the codes stand for.
    notes : list of str
        What was assumed or left out, in sentences.
    """

    name: str
    ids: Sequence[Any]
    columns: dict[str, NDArray[np.float64]]
    words: dict[str, list[str]]
    notes: list[str]

    def array(self) -> NDArray[np.float64]:
        """The columns side by side."""
        return np.column_stack(list(self.columns.values()))


def select_rows(
    table: Table, id_column: str | None, chosen: Sequence[str], likelihood: str, marks: Marks
) -> Rows:
    """The rows of a table, with the `chosen` columns, or all that look like data."""
    id_column = name_of_ids(table, id_column)
    notes = list(table.notes)
    if chosen:
        taken = _named(table, id_column, chosen, marks)
    else:
        taken = _like_data(table, id_column, marks, notes)
    columns, words = read_columns(table, taken, likelihood, marks)
    notes += [
        f"Points in column {name!r} were taken for decimal marks, although all have three digits "
        "after them, or no point: add --thousands . --decimal , if they group digits."
        for name in columns
        if name not in words and may_be_grouped(table.columns[name], marks)
    ]
    return Rows(id_column or "row", names_of_rows(table, id_column), columns, words, notes)


def _named(table: Table, id_column: str | None, chosen: Sequence[str], marks: Marks) -> list[str]:
    """The columns that --columns names, after a check. Dates are refused."""
    for name in chosen:
        check_column(table, name, "--columns")
    if id_column in chosen:
        raise ValueError(f"{id_column!r} is both the --id-column and one of --columns.")
    for suspicion in suspicions(table, chosen, marks):
        if suspicion.kind == "dates" and "as text" in suspicion.reason:
            raise ValueError(
                f"Column {chosen[suspicion.column]!r} {suspicion.reason}: convert it to numbers, "
                "such as days since the earliest date."
            )
    return list(chosen)


def _like_data(table: Table, id_column: str | None, marks: Marks, notes: list[str]) -> list[str]:
    """The columns that look like data. What is left out is added to the notes."""
    _refuse_other_kinds(table)
    names = [name for name in table.columns if name != id_column]
    found = suspicions(table, names, marks)
    if found:
        notes.append(_left_out([f"{names[s.column]!r} {s.reason}" for s in found]))
    left_out = {suspicion.column for suspicion in found}
    taken = [name for j, name in enumerate(names) if j not in left_out]
    if not taken:
        reason = f": {notes[-1]}" if found else "."
        raise ValueError(f"{table.name} has no column to cluster by{reason}")
    return taken


def name_of_ids(table: Table, id_column: str | None) -> str | None:
    """The column with the names of the rows: the given one, or a first one without a name."""
    if id_column is not None:
        check_column(table, id_column, "--id-column")
        return id_column
    return "" if "" in table.columns else None


def names_of_rows(table: Table, id_column: str | None) -> Sequence[Any]:
    """The names of the rows, or their numbers from 1."""
    if id_column is not None:
        return table.columns[id_column]
    return range(1, len(next(iter(table.columns.values()))) + 1)


def check_column(table: Table, name: str, option: str) -> None:
    """Raise an error if a table lacks a column that an option names."""
    if name in table.columns:
        return
    parts = name.split()
    if len(parts) > 1 and all(part in table.columns for part in parts):
        raise ValueError(f"{option} {name!r}: separate the names by commas, as {','.join(parts)}.")
    near = nearest(name, table.columns)
    hint = f" Did you mean {near!r}?" if near else ""
    known = ", ".join(own or "a first column without a name" for own in table.columns)
    raise ValueError(f"{table.name} has no column {name!r}.{hint} It has {known}.")


def _refuse_other_kinds(table: Table) -> None:
    """Raise an error for a list of links and for read counts."""
    ends = ends_of_links(list(table.columns))
    if ends is not None and len(table.columns) <= LINK_COLUMNS:
        raise ValueError(
            f"{table.name} looks like a list of links (columns {ends[0]!r}, {ends[1]!r}): use "
            f"bnpcluster network {table.name}, or name the columns to cluster by with --columns."
        )
    if set(table.columns) >= READS:
        raise ValueError(
            f"{table.name} looks like a table of read counts of mutations: use bnpcluster pyclone "
            f"{table.name}, or name the columns to cluster by with --columns."
        )


def ends_of_links(names: Sequence[str]) -> tuple[str, str] | None:
    """The columns with the two ends of links, by their names."""
    lower = {name.lower().replace("_", "").replace(" ", ""): name for name in names}
    for start, end in LINKS:
        if start in lower and end in lower:
            return lower[start], lower[end]
    return None


def suspicions(table: Table, names: Sequence[str], marks: Marks) -> list[Suspicion]:
    """Columns that look like identifiers or dates."""
    # Imported here: a table that is not there is refused at once.
    from bnpcluster._estimators.suspicious_columns import suspicious_columns

    columns = [_typed(table.columns[name], marks) for name in names]
    found = suspicious_columns(columns, names)
    return [suspicion for suspicion in found if suspicion.kind != "numbers"]


def _typed(cells: Sequence[Any], marks: Marks) -> list:
    """Cells as text, or as integers if all are whole; nothing for a column of other numbers."""
    present = [cell for cell in cells if not marks.is_missing(cell)]
    numbers = [number for cell in present if (number := _number(cell, marks)) is not None]
    if len(numbers) < len(present):
        # Among numbers, the others are mistakes, of which reading the column tells.
        return [] if 2 * len(numbers) >= len(present) else list(map(str, present))
    whole = all(
        cell.strip().lstrip("+-").isdigit() if isinstance(cell, str) else isinstance(cell, int)
        for cell in present
    )
    return list(map(int, numbers)) if whole else []


def _number(cell: Any, marks: Marks) -> float | None:
    try:
        return marks.number(cell)
    except (TypeError, ValueError):
        return None


def _left_out(reasons: Sequence[str]) -> str:
    one = len(reasons) == 1
    which = ", ".join(f"column {reason}" for reason in reasons)
    return (
        f"{which[0].upper()}{which[1:]}, and {'is' if one else 'are'} left out. Name the rows with "
        "--id-column, or choose the columns to cluster by with --columns."
    )


def read_columns(
    table: Table, names: Sequence[str], likelihood: str, marks: Marks
) -> tuple[dict[str, NDArray[np.float64]], dict[str, list[str]]]:
    """The columns as numbers or codes, and the words of the codes. Errors name all columns."""
    columns, words = {}, {}
    bad: list[NotNumbers] = []
    takes = WORDS.get(likelihood, "none")
    for name in names:
        cells = table.columns[name]
        if takes == "all":
            columns[name], words[name] = as_codes(cells, marks)
            continue
        try:
            columns[name] = _finite(name, as_numbers(name, cells, marks))
        except NotNumbers as error:
            if takes == "text" and not error.looks_numeric:
                columns[name], words[name] = as_codes(cells, marks)
            else:
                bad.append(error)
    if bad:
        raise ValueError(_described(bad))
    return columns, words


def _finite(name: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values. Raise an error if one is infinite."""
    if np.isinf(values).any():
        row = int(np.argmax(np.isinf(values))) + 1
        raise ValueError(
            f"There is infinity in column {name!r}, row {row}: write a number, or leave the cell "
            "empty."
        )
    return values


def _described(bad: Sequence[NotNumbers]) -> str:
    """What is wrong with columns that are not numbers."""
    numeric = [error.sentence() for error in bad if error.remedy()]
    text = [error for error in bad if not error.remedy()]
    if not text:
        return " ".join(numeric)
    if len(text) == 1:
        start = f"Column {text[0].column!r} contains text {text[0].example}"
    else:
        which = ", ".join(f"{error.column!r} {error.example}" for error in text)
        start = f"Columns {which} contain text"
    remedy = (
        "choose columns of numbers with --columns, name the rows with --id-column, or use "
        "--likelihood columns for mixed tables"
    )
    if all(error.cell.strip().lower() in TRUTH for error in text):
        remedy = "write 1 and 0, or use --likelihood columns"
    return " ".join([f"{start}: {remedy}.", *numeric])


def column_likelihoods(rows: Rows) -> dict[int, str]:
    """The likelihood of each column of a mixed table, depending on its values."""
    chosen = {}
    for j, (name, values) in enumerate(rows.columns.items()):
        is_binary = np.isin(values[~np.isnan(values)], (0.0, 1.0)).all()
        is_coded = name in rows.words
        chosen[j] = "categorical" if is_coded else "bernoulli" if is_binary else "nig"
    return chosen
