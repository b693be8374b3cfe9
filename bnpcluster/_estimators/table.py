"""A small table, for those without pandas and for reports."""

from __future__ import annotations

import csv
import html
import io
from dataclasses import dataclass
from typing import Any

from bnpcluster._estimators.digits import short


@dataclass(frozen=True)
class Table:
    """A table with one line per item.

    Attributes
    ----------
    index_name : str
        What the lines are about.
    index : list
        Numbers or names of the lines.
    columns : dict of str to list
        The columns by name.
    """

    index_name: str
    index: list
    columns: dict[str, list]

    def __getitem__(self, name: str) -> list:
        """A column by its name."""
        return self.columns[name]

    def to_pandas(self) -> Any:
        """The table as a data frame of pandas; the table itself if pandas is not installed."""
        try:
            import pandas
        except ImportError:
            return self
        index = pandas.Index(self.index, name=self.index_name)
        return pandas.DataFrame(self.columns, index=index)

    def to_csv(self) -> str:
        """The table as comma-separated text."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([self.index_name, *self.columns])
        for k, name in enumerate(self.index):
            writer.writerow([name, *(_cell(values[k]) for values in self.columns.values())])
        return out.getvalue()

    def __str__(self) -> str:
        cells = [[str(k) for k in self.index]]
        cells += [[_cell(v) for v in values] for values in self.columns.values()]
        names = [self.index_name, *self.columns]
        # One line per column of the table: it may have many columns, but has few items.
        widths = [max(len(row[k]) for row in cells) for k in range(len(self.index))]
        first = max(map(len, names))
        lines = [
            f"{name:>{first}}  " + "  ".join(f"{v:>{w}}" for v, w in zip(row, widths, strict=True))
            for name, row in zip(names, cells, strict=True)
        ]
        return "\n".join(line.rstrip() for line in lines)

    __repr__ = __str__

    def to_html(self) -> str:
        """The table as HTML, with the items as columns."""
        head = "".join(f"<th>{html.escape(str(k))}</th>" for k in self.index)
        rows = "".join(
            f"<tr><th>{html.escape(name)}</th>"
            + "".join(f"<td>{html.escape(_cell(v))}</td>" for v in values)
            + "</tr>"
            for name, values in self.columns.items()
        )
        return f"<table><tr><th>{html.escape(self.index_name)}</th>{head}</tr>{rows}</table>"

    def _repr_html_(self) -> str:
        return self.to_html()


def _cell(value: Any) -> str:
    """A value as text; numbers with four digits."""
    return short(value, 4) if isinstance(value, float) else str(value)
