"""`bnpcluster network`: cluster the vertices of a network, given as a list of links."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnpcluster.cli.cells import Marks, as_numbers
from bnpcluster.cli.clustering import read
from bnpcluster.cli.interrupts import raising
from bnpcluster.cli.rows import Rows, check_column, ends_of_links
from bnpcluster.cli.text_tables import Table
from bnpcluster.cli.usage import print_message

WEIGHTS = ("weight", "value", "link", "links", "count", "n")
"""Names of the column that says whether a pair links, in lower case."""
SHOWN = 5  # vertices that a message names


class Links(NamedTuple):
    """The pairs of a list of links.

    Attributes
    ----------
    vertices : list of str
        The names of the vertices, in the order of first appearance.
    pairs : dict of (int, int) to float
        1 for a link, 0 for none, NaN for unknown, by numbers of vertices.
    notes : list of str
        What was assumed or left out, in sentences.
    """

    vertices: list[str]
    pairs: dict[tuple[int, int], float]
    notes: list[str]


def network(options: SimpleNamespace) -> int:
    """Cluster the vertices of a network."""
    table, marks = read(options)
    links = read_links(table, options, marks)
    from bnpcluster.cli.files import prepared
    from bnpcluster.cli.models import build_network_model, finish, fit_model
    from bnpcluster.cli.results import FILES

    model = build_network_model(options)
    rows = Rows("vertex", links.vertices, {}, {}, links.notes)
    with raising(), prepared(options.out, FILES, options.force, options.quote_formulas) as folder:
        for note in links.notes:
            print_message(note)
        doubtful = fit_model(model, adjacency(links, options.directed))
        named = model._named(links.vertices)
        return finish(options, folder, model, named, rows, FILES, doubtful)


def read_links(table: Table, options: SimpleNamespace, marks: Marks) -> Links:
    """The pairs of a table."""
    notes = list(table.notes)
    start, end = _ends(table, options, notes)
    weights = _weights(table, options, (start, end), marks, notes)
    vertices: dict[str, int] = {}
    pairs: dict[tuple[int, int], float] = {}
    loops = []
    for row, ends in enumerate(zip(table.columns[start], table.columns[end], strict=True)):
        i, j = (_vertex(cell, vertices, marks) for cell in ends)
        if i is None and j is None:
            raise ValueError(f"Row {row + 1} of {table.name} names no vertex.")
        if i is None or j is None:
            continue  # a vertex without links
        if i == j:
            loops.append(str(ends[0]).strip())
            continue
        pair = (i, j) if options.directed else (min(i, j), max(i, j))
        if pair in pairs and not _same(pairs[pair], weights[row]):
            raise ValueError(
                f"The link {str(ends[0])!r} - {str(ends[1])!r} is given twice, with different "
                "values: keep one of them."
            )
        pairs[pair] = weights[row]
    if not pairs:
        raise ValueError(f"{table.name} has no links between different vertices.")
    if loops:
        shown = ", ".join(map(repr, dict.fromkeys(loops[:SHOWN])))
        notes.append(f"Links of a vertex with itself are not modelled, and left out: {shown}.")
    return Links(list(vertices), pairs, notes)


def _ends(table: Table, options: SimpleNamespace, notes: list[str]) -> tuple[str, str]:
    """The columns with the ends of links."""
    names = [name for name in table.columns if name]
    start, end = getattr(options, "start", None), getattr(options, "end", None)
    if start is not None or end is not None:
        if start is None or end is None:
            raise ValueError("--from and --to go together: name both columns.")
        check_column(table, start, "--from")
        check_column(table, end, "--to")
        return start, end
    found = ends_of_links(names)
    if found is None and len(names) == 2:
        notes.append(f"Columns {names[0]!r} and {names[1]!r} were taken for the ends of links.")
        found = names[0], names[1]
    if found is None:
        raise ValueError(
            f"{table.name} (columns {', '.join(names)}) names no two ends of links: use --from and "
            "--to."
        )
    return found


def _weights(
    table: Table, options: SimpleNamespace, ends: tuple[str, str], marks: Marks, notes: list[str]
) -> Sequence[float]:
    """1 for links, 0 for none and NaN for unknown, by row."""
    name = getattr(options, "weight", None)
    if name is None:
        others = [own for own in table.columns if own not in ends]
        name = next((own for own in others if own.lower() in WEIGHTS), None)
        ignored = [own for own in others if own != name and own]
        if ignored:
            notes.append(f"Not used: column {', '.join(map(repr, ignored))}.")
    else:
        check_column(table, name, "--weight")
    threshold = getattr(options, "threshold", None)
    if name is None:
        if threshold is not None:
            raise ValueError("--threshold needs a column of weights: name it with --weight.")
        return [1.0] * len(table.columns[ends[0]])
    values = as_numbers(name, table.columns[name], marks)
    if threshold is not None:
        values = np.where(np.isnan(values), np.nan, values >= threshold)
    other = ~np.isnan(values) & (values != 0) & (values != 1)
    if other.any():
        row = int(np.argmax(other))
        raise ValueError(
            f"Column {name!r} must contain only 0 and 1, but has {values[row]:g} in row {row + 1}: "
            "add --threshold X to take weights of at least X for links."
        )
    return values.tolist()


def _vertex(cell: Any, vertices: dict[str, int], marks: Marks) -> int | None:
    """The number of a vertex; None if the cell is empty."""
    if marks.is_missing(cell):
        return None
    return vertices.setdefault(str(cell).strip(), len(vertices))


def _same(a: float, b: float) -> bool:
    return a == b or (np.isnan(a) and np.isnan(b))


def adjacency(links: Links, directed: bool) -> Any:
    """The adjacency matrix of a list of links, in a sparse form."""
    from scipy.sparse import coo_array, csr_array

    ends: NDArray = np.array(list(links.pairs), dtype=np.intp)
    values = np.array(list(links.pairs.values()))
    if not directed:
        ends, values = np.concatenate([ends, ends[:, ::-1]]), np.tile(values, 2)
    n = len(links.vertices)
    return csr_array(coo_array((values, (ends[:, 0], ends[:, 1])), shape=(n, n)))
