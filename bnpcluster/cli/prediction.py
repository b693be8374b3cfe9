"""`bnpcluster predict`: the clusters of new rows."""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnpcluster.cli.cells import Marks
from bnpcluster.cli.clustering import read
from bnpcluster.cli.formats import local
from bnpcluster.cli.interrupts import raising
from bnpcluster.cli.rows import (
    Rows,
    check_column,
    name_of_ids,
    names_of_rows,
    read_columns,
)
from bnpcluster.cli.text_tables import Table
from bnpcluster.cli.usage import DONE, print_message, print_result

FILES = ("predictions.csv", "probabilities.csv")


def predict(options: SimpleNamespace) -> int:
    """Find the clusters of new rows."""
    from bnpcluster.cli.saved_models import load_model

    saved = load_model(local(options.model))
    table, marks = read(options)
    rows = new_rows(table, options.id_column, saved, marks)
    from bnpcluster.cli.files import prepared
    from bnpcluster.cli.models import print_warnings
    from bnpcluster.cli.results import shown

    with raising(), prepared(options.out, FILES, options.force, options.quote_formulas) as folder:
        for note in rows.notes:
            print_message(note)
        X = rows.array()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            labels, shares = saved.model.predict(X), saved.model.predict_proba(X)
            novelty, strange = saved.model.novelty(X), saved.model.outlier_score(X)
        print_warnings([warning.message for warning in caught], saved.columns)
        own = [map(shown, _own(X, labels, shares)), map(shown, novelty), map(shown, strange)]
        folder.write_table(
            FILES[0],
            [rows.name, "cluster", "probability", "novelty", "outlier_score"],
            zip(rows.ids, labels, *own, strict=True),
        )
        folder.write_table(
            FILES[1],
            [rows.name, *(f"cluster_{k}" for k in range(shares.shape[1]))],
            ([i, *map(shown, row)] for i, row in zip(rows.ids, shares, strict=True)),
        )
    if not options.quiet:
        print_result(f"{_counted(labels)}\n\nIn {options.out}: {', '.join(FILES)}")
    return DONE


def new_rows(table: Table, id_column: str | None, saved: Any, marks: Marks) -> Rows:
    """The columns of the fit in a new table, with the codes of the fit."""
    for name in saved.columns:
        check_column(table, name, "the model")
    columns, words = read_columns(table, saved.columns, saved.likelihood, marks)
    for name, known in saved.words.items():
        cells = [None if marks.is_missing(c) else str(c).strip() for c in table.columns[name]]
        columns[name] = _codes(name, cells, known)
    for name in words:
        if name not in saved.words:
            raise ValueError(f"Column {name!r} contains text, but contained numbers in the fit.")
    if id_column is None and saved.id_column in table.columns:
        id_column = saved.id_column
    id_column = name_of_ids(table, id_column)
    ids = names_of_rows(table, id_column)
    return Rows(id_column or "row", ids, columns, saved.words, list(table.notes))


def _codes(name: str, cells: list[str | None], known: list[str]) -> NDArray[np.float64]:
    """The codes of words that occurred in the fit."""
    code: dict[str | None, float] = {word: float(c) for c, word in enumerate(known)}
    new = [word for word in dict.fromkeys(cells) if word is not None and word not in code]
    if new:
        raise ValueError(
            f"Column {name!r} contains {new[0]!r}, which did not occur in the fit: to take it for "
            f"missing, add --missing {new[0]!r}."
        )
    return np.array([code.get(cell, np.nan) for cell in cells])


def _own(X: NDArray, labels: NDArray, shares: NDArray) -> NDArray[np.float64]:
    """The probability of each row's own cluster, or of being in none; NaN for empty rows."""
    none = np.clip(1.0 - shares.sum(axis=1, keepdims=True), 0.0, 1.0)
    own = np.hstack([shares, none])[np.arange(len(labels)), labels]
    return np.where(np.isnan(X).all(axis=1), np.nan, own)


def _counted(labels: NDArray) -> str:
    """How many rows are in each cluster."""
    numbers, counts = np.unique(labels, return_counts=True)
    pairs = sorted(zip(numbers.tolist(), counts.tolist(), strict=True), key=lambda p: p[0] % 2**40)
    return "\n".join(
        f"{'no cluster' if k < 0 else f'cluster {k}'}: {n} {'row' if n == 1 else 'rows'}"
        for k, n in pairs
    )
