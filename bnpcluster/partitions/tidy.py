"""Draws as tidy columns: one line per draw, or one per draw and item."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core.messages import shown
from bnpcluster._core.saving import file_to_write

CONTENTS = ("traces", "labels")


def tidy(posterior: Any, what: str, items: NDArray | None = None) -> dict[str, NDArray]:
    """Columns of equal length: chain, draw, weight, and the traces or the items and labels.

    `items` are the numbers of the items; by default they are counted from 0.
    """
    if not isinstance(what, str) or what not in CONTENTS:
        raise ValueError(f"what must be 'traces' or 'labels', got {shown(what)}.")
    n_chains, n_draws, n_items = posterior.labels.shape
    chain, draw = (part.ravel() for part in np.indices((n_chains, n_draws)))
    columns = {"chain": chain, "draw": draw, "weight": posterior.weights.ravel()}
    if what == "traces":
        columns.update({name: values.ravel() for name, values in posterior.traces.items()})
        return columns
    columns = {name: np.repeat(values, n_items) for name, values in columns.items()}
    numbers = np.arange(n_items) if items is None else items
    columns["item"] = np.tile(numbers, n_chains * n_draws)
    columns["label"] = posterior.labels.ravel()
    return columns


def as_frame(columns: dict[str, NDArray]) -> Any:
    """Columns as a data frame of pandas."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("A data frame needs pandas: pip install pandas.") from error
    return pandas.DataFrame(columns)


def write_csv(path: Any, columns: dict[str, NDArray]) -> Path:
    """Write columns to a file of comma-separated values."""
    file = file_to_write(path)
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*(values.tolist() for values in columns.values()), strict=True))
    return file


def write_parquet(path: Any, columns: dict[str, NDArray]) -> Path:
    """Write columns to a Parquet file."""
    file = file_to_write(path)
    try:
        import pandas

        pandas.DataFrame(columns).to_parquet(file, index=False)
    except ImportError as error:
        raise ImportError("Parquet files need pandas and pyarrow: pip install pyarrow.") from error
    return file
