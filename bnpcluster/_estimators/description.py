"""The table that says what each cluster is: `describe`, and the same in a report."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core.messages import Action, Message
from bnpcluster._estimators.columns_of_clusters import Column
from bnpcluster._estimators.digits import count, short
from bnpcluster._estimators.table import Table

TELLING = 3  # columns that are named as telling a cluster apart
LEAST_TOLD = 0.05  # and the share of the membership that they must tell
SAMPLES = 6  # samples whose prevalences a line of a report has
TYPICAL = 3  # rows that are named as typical
MOST_LINES = 12  # clusters in a report
LIKELY = 0.05  # categories that are rarer are not named


class Description(NamedTuple):
    """What each cluster is.

    Attributes
    ----------
    sizes : ndarray of int
        Numbers of rows, by cluster.
    share, low, high : ndarray
        Posterior means of the weights of the clusters, and ends of their intervals.
    certainty : ndarray
        How surely the rows of a cluster belong to it, on average.
    columns : list of Column
        What each column is like in the clusters.
    told : ndarray of shape (n_clusters, n_columns)
        How much of the membership of a cluster a column tells, from 0 to 1.
    typical : list of list
        Names or numbers of the most typical rows of each cluster.
    """

    sizes: NDArray[np.intp]
    share: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    certainty: NDArray[np.float64]
    columns: list[Column]
    told: NDArray[np.float64]
    typical: list[list]

    def telling(self, c: int) -> list[int]:
        """Numbers of the columns that tell cluster `c` apart, the best first."""
        told = np.nan_to_num(self.told[c])
        order = np.argsort(-told, kind="stable")[:TELLING]
        return [int(j) for j in order if told[j] >= LEAST_TOLD]

    def table(self) -> Table:
        """One row per cluster."""
        found: dict[str, list] = {
            "size": self.sizes.tolist(),
            "share": self.share.tolist(),
            "share_low": self.low.tolist(),
            "share_high": self.high.tolist(),
            "certainty": self.certainty.tolist(),
            "told_by": [self._told_by(c) for c in range(len(self.sizes))],
            "typical_rows": [", ".join(map(str, rows)) for rows in self.typical],
        }
        for column in self.columns:
            found.update(_cells(column))
        return Table("cluster", list(range(len(self.sizes))), found)

    def lines(self, item: str = "row") -> dict[str, str]:
        """One line per cluster, for a report; `item` is what a row is called."""
        return {f"cluster {c}": self._line(c, item) for c in range(len(self.sizes))}

    def _told_by(self, c: int) -> str:
        """The columns that tell a cluster apart, and how much they tell."""
        return ", ".join(
            f"{self.columns[j].name} ({100 * self.told[c, j]:.0f} %)" for j in self.telling(c)
        )

    def _line(self, c: int, item: str) -> str:
        line = (
            f"{count(self.sizes[c], item)}, share {100 * self.share[c]:.0f} % "
            f"({100 * self.low[c]:.0f} to {100 * self.high[c]:.0f}), "
            f"certainty {self.certainty[c]:.2f}"
        )
        start, columns = "told apart by", [self.columns[j] for j in self.telling(c)]
        if self.columns and self.columns[0].kind == "prevalence":
            start, columns = "prevalence", self.columns[:SAMPLES]
        parts = [f"{column.label} {in_words(column, c)}" for column in columns]
        return f"{line}; {start} {'; '.join(parts)}" if parts else line


def first_lines(lines: dict[str, str]) -> dict[str, Any]:
    """The lines of the largest clusters, and where to find the others."""
    shown: dict[str, Any] = dict(list(lines.items())[:MOST_LINES])
    left = len(lines) - len(shown)
    if left:
        shown["and"] = Message(f"{left} more: see ", Action("describe()", "clusters.csv"))
    return shown


def _cells(column: Column) -> dict[str, list]:
    """The columns of the table that describe one column of the data."""
    name = str(column.name)
    if column.kind == "categories":
        return {name: [in_words(column, c) for c in range(len(column.centre))]}
    cells = {
        name: column.centre.tolist(),
        f"{name}_low": column.low.tolist(),
        f"{name}_high": column.high.tolist(),
    }
    if column.spread is not None:
        cells[f"{name}_spread"] = column.spread.tolist()
    return cells


def in_words(column: Column, c: int) -> str:
    """What a column is like in one cluster."""
    if column.kind == "categories":
        assert column.categories is not None
        order = np.argsort(-column.centre[c], kind="stable")
        named = [
            f"{column.categories[k]} {column.centre[c, k]:.2f}"
            for k in order[:TELLING]
            if k == order[0] or column.centre[c, k] >= LIKELY
        ]
        return ", ".join(named)
    if column.spread is not None:
        return f"{short(column.centre[c])} +- {short(column.spread[c])}"
    text = f"{short(column.centre[c])} ({short(column.low[c])} to {short(column.high[c])})"
    return text if column.kind == "prevalence" else f"{text} {_unit(column)}".strip()


def _unit(column: Column) -> str:
    return "on average" if column.kind == "rate" else ""


def typical_rows(
    labels: NDArray, score: NDArray, names: Any, n_missing: NDArray | int = 0
) -> list[list]:
    """Names or numbers of the rows of each cluster that have the highest score.

    Rows with fewer missing entries come first: densities of other columns do not compare.
    """
    n_missing = np.broadcast_to(n_missing, score.shape)
    result = []
    for c in range(labels.max() + 1):
        rows = np.flatnonzero(labels == c)
        best = rows[np.lexsort((-score[rows], n_missing[rows]))[:TYPICAL]]
        result.append([int(i) if names is None else names[i] for i in best])
    return result
