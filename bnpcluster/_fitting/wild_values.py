"""Values that are far from all others in their column, which may be mistyped or mark missing ones.

A fit survives them: units are robust, and such rows get clusters of their own. It says so, because
nobody wants clusters of typing errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bnpcluster._core.messages import Action, ColumnsError, ColumnsWarning, Message
from bnpcluster._fitting.constant_columns import SHOWN, warn_at_caller
from bnpcluster.likelihoods import Likelihood
from bnpcluster.likelihoods.gaussian.units import units

FARTHEST = 1e40  # from the rows of a fit, in units of their spread
FAR = 50.0  # robust standard deviations from the median
REPEATED = 3  # times that a value may mark missing ones


class WildValues(ColumnsWarning):
    """One warning about extreme values in some columns, with a sentence for each of them.

    Parameters
    ----------
    before : str
        What a column is called in front of its name.
    columns : sequence of int or str
        Numbers or names of columns.
    after : sequence of str
        What is said of each column.
    """

    def __init__(self, before: str, columns: Sequence[int | str], after: Any):
        super().__init__(before, columns)
        self.after = after
        parts: list[str] = []
        for c, said in zip(columns, after, strict=False):
            parts += [f"{' ' if parts else ''}{before}{c!r}: ", said]
        if len(after) > len(columns):
            parts += [" ", after[-1]]
        self.args = (Message(*parts),)


def warn_of_wild_values(
    X: np.ndarray, likelihood: Likelihood, names: Sequence[str | int] | None
) -> None:
    """Say in one warning which columns of measurements have extreme values, and which values."""
    columns = likelihood.measured_columns(X.shape[1])
    if not len(columns):
        return
    with np.errstate(over="ignore", invalid="ignore"):
        wild = np.abs(units(X[:, columns]).to_internal(X[:, columns])) > FAR
    found = np.flatnonzero(wild.any(axis=0))
    if not len(found):
        return
    said = [_described(X[wild[:, j], columns[j]]) for j in found[:SHOWN]]
    if len(found) > SHOWN:
        said.append(f"So have {len(found) - SHOWN} other columns.")
    warning = WildValues("Column ", columns[found[:SHOWN]].tolist(), said)
    warn_at_caller(warning if names is None else warning.renamed(names))


def check_reach(X: np.ndarray, rows: np.ndarray, likelihood: Likelihood) -> None:
    """Raise an error if new rows are so far from those of the fit that their spread is nothing."""
    columns = likelihood.measured_columns(X.shape[1])
    if not len(columns):
        return
    with np.errstate(over="ignore", invalid="ignore"):
        new = np.abs(units(X[:, columns]).to_internal(rows[:, columns]))
    beyond = np.argwhere(~(new <= FARTHEST) & ~np.isnan(rows[:, columns]))
    if len(beyond):
        i, j = beyond[0]
        raise ColumnsError(
            f"The value {rows[i, columns[j]]:g} is too large beside the rows of the fit in column ",
            [int(columns[j])],
            ": replace it by NaN, or fit all rows again.",
        )


def _described(values: np.ndarray) -> str | Message:
    far = f"more than {FAR:g} robust standard deviations from the median"
    found, counts = np.unique(values, return_counts=True)
    k = int(counts.argmax())
    if counts[k] >= REPEATED:
        return Message(
            f"{counts[k]} values are {found[k]:g}, {far}. If this marks missing values, ",
            Action("replace it by NaN", f"add --missing {found[k]:.15g}"),
            ".",
        )
    if len(values) == 1:
        return f"1 value ({values[0]:g}) is {far}. Is it mistyped?"
    return f"{len(values)} values are {far}. Are they mistyped?"
