"""Checks of discrete data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core.messages import Action, ColumnsError, Message


def check_entries(needs: str, X: NDArray, bad: NDArray, remedy: str | Action) -> None:
    """Raise an error for the first column of `X` with a bad entry, if any."""
    columns = np.flatnonzero(bad.any(axis=0))
    if len(columns):
        d = int(columns[0])
        found = X[np.argmax(bad[:, d]), d]
        end = Message(": ", remedy, ".")
        raise ColumnsError(f"{needs}, found {found:g} in column ", [d], end)


def is_whole(X: NDArray) -> NDArray:
    """Whether each entry of `X` is one of 0, 1, 2, ..."""
    return (X >= 0) & (X == np.floor(X))
