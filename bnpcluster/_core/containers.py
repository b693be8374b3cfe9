"""Check what is passed as a table, before any other package does: errors that say what to pass."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core.messages import Action, Message
from bnpcluster._core.odd_cells import COMPLEX, about_cell, about_complex, is_collection

READ_FIRST = "read the file first, for instance with pandas.read_csv"
CONVERSIONS = {
    "collect": "collect()",  # lazy frames of polars
    "to_pandas": "to_pandas()",  # tables of pyarrow
    "toPandas": "toPandas()",  # frames of Spark
    "to_dataframe": "to_dataframe()",  # data sets of xarray
    "compute": "compute()",  # of dask
}
"""Methods of tables that live elsewhere, and the calls that bring them here."""


def check_container(X: Any, name: str = "X") -> None:
    """Raise an error unless `X` is an array, a data frame, or a list of rows.

    `name` is that of the argument, for the error.
    """
    from scipy.sparse import issparse  # late: the command line must start at once

    kind = type(X).__name__
    if issparse(X):
        return
    if isinstance(X, (list, tuple)):
        _check_rows(X, name)
        return
    if isinstance(X, np.ndarray):
        _check_array(X, name)
        return
    remedy = _remedy_of_text(X) or _remedy_of_other_package(X) or _remedy_of_collection(X, name)
    if remedy:
        raise TypeError(f"{name} is {_described(X)}: {remedy}.")
    if hasattr(X, "columns"):
        _check_names(X, name)
        for column, kind in zip(X.columns, getattr(X, "dtypes", ()), strict=False):
            if str(kind).startswith("complex"):
                raise ValueError(about_complex(name, 0, column))
    elif not any(hasattr(X, method) for method in ("__array__", "shape", "__getitem__")):
        raise TypeError(
            f"{name} must be a table of numbers, such as an array or a data frame, got {kind}."
        )
    _check_size(X, name)


def _described(X: Any) -> str:
    """What an object is, in a word or two."""
    if X is None:
        return "None"
    if isinstance(X, (str, os.PathLike)):
        return f"text or the name of a file ({str(X)[:60]!r})"
    kind = type(X).__name__
    if kind in ("bytes", "bytearray"):
        return kind
    return f"{'an' if kind[0].lower() in 'aeio' else 'a'} {kind}"


def _remedy_of_text(X: Any) -> str:
    """What to do with something that is no table yet; empty if it is."""
    if X is None:
        return "pass a table of numbers with one row per item"
    if isinstance(X, (str, os.PathLike)) or (hasattr(X, "read") and not hasattr(X, "__array__")):
        return READ_FIRST
    if isinstance(X, (bytes, bytearray)):
        return "pass a table of numbers with one row per item"
    return ""


def _remedy_of_other_package(X: Any) -> str:
    """What to do with an object of another package that contains the data; empty if it is fine."""
    if all(hasattr(X, part) for part in ("X", "obs", "var")):
        if "X_pca" in getattr(X, "obsm", {}):
            return 'pass one of its arrays, such as adata.obsm["X_pca"]'
        return (
            'pass one of its arrays: adata.obsm["X_pca"] after scanpy.pp.pca(adata), or adata.X if '
            "it has few columns"
        )
    if hasattr(X, "nodes") and hasattr(X, "edges"):
        return (
            "networks are clustered by InfiniteRelationalModel, from "
            "networkx.to_scipy_sparse_array(graph, weight=None)"
        )
    if hasattr(X, "dtype"):
        return ""
    for method, call in CONVERSIONS.items():
        # Frames of polars have `to_pandas`, too, but they are fine as they are.
        if hasattr(X, method) and not (method == "to_pandas" and hasattr(X, "dtypes")):
            return f"pass X.{call}"
    return ""


def _remedy_of_collection(X: Any, name: str) -> str:
    """What to do with a collection of Python or a single column; empty if it is a table."""
    if isinstance(X, Mapping):
        return f"pass pandas.DataFrame({name})"
    if hasattr(X, "to_frame") and hasattr(X, "dtype"):
        return (
            f"pass {name}.to_frame() if it is one column, or {name}.to_frame().T if it is one row "
            "(Reshape your data)"
        )
    is_sequence = hasattr(X, "__len__") and hasattr(X, "__getitem__")
    if hasattr(X, "__iter__") and not is_sequence and not hasattr(X, "__array__"):
        return f"pass list({name}), a list of rows"
    return ""


def _check_array(X: np.ndarray, name: str) -> None:
    if X.dtype.names is not None:
        names = ", ".join(map(repr, X.dtype.names[:5]))
        raise TypeError(
            f"{name} is a structured array with the fields {names}: pass pandas.DataFrame({name})."
        )
    if isinstance(X, np.matrix):
        raise TypeError(f"{name} is a numpy.matrix: pass np.asarray({name}).")
    if X.dtype.kind == "c":
        raise ValueError(about_complex(name))
    if X.dtype.kind == "O" and X.ndim == 1 and len(X):
        _check_rows(X, name)
    _check_size(X, name)


def _check_rows(rows: Sequence[Any] | np.ndarray, name: str) -> None:
    """Raise an error unless rows have the same lengths, and cells are no collections."""
    if len(rows) and isinstance(rows[0], Mapping):
        raise TypeError(f"The rows of {name} are dicts: pass pandas.DataFrame({name}).")
    lengths = [_length(row) for row in rows]
    flat = [i for i, length in enumerate(lengths) if length is None]
    if flat and len(flat) < len(rows):
        raise ValueError(
            f"{name} must be a list of rows, but row {flat[0]} is not a row of values."
        )
    if flat or not len(rows):
        _check_shape((len(rows),), name)
        return
    uneven = [i for i, length in enumerate(lengths) if length != lengths[0]]
    if uneven:
        own, first = lengths[uneven[0]], lengths[0]
        raise ValueError(
            f"The rows of {name} must have the same length: row {uneven[0]} has {own} "
            f"value{'' if own == 1 else 's'}, but row 0 has {first}."
        )
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            if is_collection(cell):
                raise ValueError(about_cell(name, i, j, cell))
            if isinstance(cell, COMPLEX):
                raise ValueError(about_complex(name, i, j))
    _check_shape((len(rows), len(rows[0])), name)


def _length(row: Any) -> int | None:
    """The number of values in a row; None if it is not a row."""
    if isinstance(row, (list, tuple)):
        return len(row)
    is_array = hasattr(row, "shape") and hasattr(row, "__len__") and row.shape != ()
    return len(row) if is_array else None


def check_finite(rows: np.ndarray, names: Sequence[Any] | None, name: str = "X") -> None:
    """Raise an error that names the first infinite cell, if there is one."""
    infinite = np.argwhere(np.isinf(rows))
    if len(infinite):
        i, j = infinite[0].tolist()
        column = repr(j if names is None else names[j])
        more = f" and in {len(infinite) - 1} other cells" if len(infinite) > 1 else ""
        raise ValueError(
            Message(
                f"{name} contains infinity in ",
                Action(f"row {i}", f"row {i + 1}"),
                f", column {column}{more}: replace it by a number, or by NaN if it is missing.",
            )
        )


def _check_names(X: Any, name: str) -> None:
    """Raise an error if columns of a data frame cannot be told apart by their names."""
    if getattr(X.columns, "nlevels", 1) > 1:
        raise ValueError(
            f"The columns of {name} have {X.columns.nlevels} levels of names: join them, for "
            f"instance with {name}.columns = ['_'.join(map(str, c)) for c in {name}.columns]."
        )
    repeated = [column for column, times in Counter(list(X.columns)).items() if times > 1]
    if repeated:
        raise ValueError(f"{name} has several columns named {repeated[0]!r}: rename them.")


def _check_size(X: Any, name: str) -> None:
    shape = getattr(X, "shape", None)
    if isinstance(shape, tuple) and all(isinstance(n, (int, np.integer)) for n in shape):
        _check_shape(shape, name)


def _check_shape(shape: tuple[int, ...], name: str) -> None:
    """Raise an error unless a shape is that of a table with rows and columns."""
    if len(shape) == 0:
        raise ValueError(f"{name} must be a table of numbers, got a single value.")
    if len(shape) > 1 and shape[1] == 0:
        # scikit-learn's checks of estimators look for the text after the colon.
        raise ValueError(
            f"{name} has no columns: 0 feature(s) (shape={shape}) while a minimum of 1 is required."
        )
    if shape[0] == 0:
        raise ValueError(f"{name} has no rows: its shape is {shape}.")
    if len(shape) == 1:
        raise ValueError(
            f"{name} must be a table with rows and columns, got one dimension. Reshape your data: "
            f"{name}.reshape(-1, 1) if it is one column, {name}.reshape(1, -1) if it is one row."
        )
    if len(shape) > 2:
        raise ValueError(
            f"{name} must be a table with rows and columns, got {len(shape)} dimensions: "
            f"{name}.reshape(len({name}), -1) makes one row of each item."
        )


def as_array(value: Any) -> NDArray[Any]:
    """An array; one of lists if they differ in length, which numpy refuses."""
    try:
        return np.asarray(value)
    except ValueError:
        array = np.empty(len(value), object)
        array[:] = value
        return array
