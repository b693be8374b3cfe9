"""Conversion of tidy tables of read counts to one row per mutation."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bnpcluster._core.messages import Action, Message
from bnpcluster.likelihoods.pyclone.genotypes import COLUMNS

KEYS = ("mutation_id", "sample_id")
PURITY = "tumour_content"


class RowIndex(NamedTuple):
    """The position of each row of a tidy table in an array of mutations by samples."""

    mutations: np.ndarray  # their names, in the order of first appearance
    samples: np.ndarray  # their names, sorted
    mutation: np.ndarray  # by row of the table
    sample: np.ndarray


def is_tidy(X: Any) -> bool:
    """Whether `X` looks like a data frame with one row per mutation and sample."""
    return any(name in getattr(X, "columns", ()) for name in (*KEYS, *COLUMNS))


def index_rows(table: Any) -> RowIndex:
    """Find the mutations and samples of a tidy table."""
    missing = [name for name in KEYS if name not in table.columns]
    if missing:
        raise ValueError(
            f"The table has no column {missing[0]!r}.{_spelling_hint(missing[0], table)}"
        )
    for name in KEYS:
        empty = [i for i, key in enumerate(table[name]) if key is None or key != key or key == ""]
        if empty:
            raise ValueError(f"Column {name!r} is empty in row {empty[0] + 1}.")
    mutations, first, mutation = np.unique(
        np.asarray(table["mutation_id"]).astype(str), return_index=True, return_inverse=True
    )
    samples, sample = np.unique(np.asarray(table["sample_id"]).astype(str), return_inverse=True)
    order = np.argsort(first)
    mutation = np.argsort(order)[mutation]
    pairs, count = np.unique(mutation * len(samples) + sample, return_counts=True)
    if (count > 1).any():
        m, s = divmod(int(pairs[np.argmax(count > 1)]), len(samples))
        raise ValueError(
            f"The table has several rows for mutation {str(mutations[order[m]])!r} in sample "
            f"{str(samples[s])!r}: give each mutation its own identifier."
        )
    return RowIndex(mutations[order], samples, mutation, sample)


def wide(table: Any, error_rate: float, known: Sequence[str] | None = None) -> Any:
    """One row per mutation and six columns per sample, in a data frame of the same kind.

    NaN marks samples without the mutation, or without its reads. The columns are those of the
    samples of the table, or the `known` columns of a fit.
    """
    at = index_rows(table)
    if "error_rate" in table.columns and (np.asarray(table["error_rate"]) != error_rate).any():
        given = Action("give PyClone(error_rate=...)", "use --error-rate")
        raise ValueError(
            Message(
                "The table has a column error_rate, but PyClone uses one rate for all reads: drop "
                "the column and ",
                given,
                f", which is {error_rate!r} now.",
            )
        )
    out = np.full((len(at.samples), len(COLUMNS), len(at.mutations)), np.nan)
    for c, name in enumerate(COLUMNS):
        out[at.sample, c, at.mutation] = _column(table, name)
    out.transpose(0, 2, 1)[np.isnan(out[:, :2]).all(axis=1)] = np.nan
    check_reads(out.transpose(2, 0, 1), at.mutations.tolist(), at.samples.tolist())
    names = [f"{sample} {name}" for sample in at.samples for name in COLUMNS]
    rows = dict(zip(names, out.reshape(len(names), -1), strict=True))
    if known is not None:
        new = [sample for sample in at.samples if f"{sample} {COLUMNS[0]}" not in known]
        if new:
            raise ValueError(f"The fit had no sample {str(new[0])!r}.")
        nothing = np.full(len(at.mutations), np.nan)
        rows = {name: rows.get(name, nothing) for name in known}
    return type(table)(rows)


def samples_of(names: Sequence[str] | None) -> list[str] | None:
    """The samples, given the names of the columns of one row per mutation."""
    if names is None:
        return None
    return [name.removesuffix(f" {COLUMNS[0]}") for name in names[:: len(COLUMNS)]]


def _column(table: Any, name: str) -> np.ndarray:
    if name in table.columns:
        values = np.asarray(table[name], float)
        if np.isnan(values).all():
            raise ValueError(f"The column {name!r} of the table contains no numbers.")
        return values
    if name == PURITY:
        return np.ones(len(table))  # as PyClone-VI has it; see `warn_of_purity`
    raise ValueError(f"The table has no column {name!r}.{_spelling_hint(name, table)}")


def warn_of_purity(table: Any) -> None:
    """Warn if a tidy table has no column for the tumour content of samples."""
    if PURITY not in table.columns:
        warnings.warn(
            f"The table has no column {PURITY!r}: all samples are assumed to be pure tumour (1.0)."
            f"{_spelling_hint(PURITY, table)}",
            stacklevel=5,
        )


def _spelling_hint(name: str, table: Any) -> str:
    """A suggestion of a column with a similar name."""
    found = difflib.get_close_matches(name, [str(other) for other in table.columns], n=1)
    return f" Did you mean {found[0]!r}?" if found else ""


def as_reads(X: np.ndarray) -> np.ndarray:
    """Rows as an array (mutation, sample, column), all NaN for missing samples."""
    if X.shape[1] % len(COLUMNS):
        raise ValueError(
            f"PyClone needs a table with the columns {', '.join((*KEYS, *COLUMNS))}, or the last "
            f"six of these for each sample, side by side; got {X.shape[1]} columns."
        )
    reads = X.reshape(len(X), -1, len(COLUMNS))
    check_reads(reads, range(len(X)), range(reads.shape[1]))
    return reads


def check_reads(reads: np.ndarray, mutations: Sequence, samples: Sequence) -> None:
    """Raise an error that names the first mutation and sample with impossible values, if any."""
    normal, major, minor, content = np.moveaxis(reads[..., 2:], 2, 0)
    missing = np.isnan(reads)
    whole = (reads[..., :5] >= 0) & (reads[..., :5] == np.floor(reads[..., :5]))
    for needs, good in (
        ("either all six values of a sample or none", missing.all(axis=2) | ~missing.any(axis=2)),
        ("counts and copy numbers 0, 1, 2, ...", whole.all(axis=2)),
        ("normal_cn of at least 1", normal >= 1),
        ("major_cn of at least 1 (drop deleted loci)", major >= 1),
        ("minor_cn of at most major_cn", minor <= major),
        ("tumour_content above 0 and at most 1", (content > 0) & (content <= 1)),
    ):
        bad = ~good & ~missing.all(axis=2)
        if bad.any():
            i, s = np.argwhere(bad)[0]
            found = ", ".join(
                f"{name} {value:g}" for name, value in zip(COLUMNS, reads[i, s], strict=True)
            )
            raise ValueError(
                f"PyClone needs {needs}; mutation {mutations[i]!r} in sample {samples[s]!r} has "
                f"{found}."
            )
