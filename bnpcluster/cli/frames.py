"""A minimal data frame for tidy tables of mutations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnpcluster.cli.cells import Marks, NotNumbers, as_numbers
from bnpcluster.cli.text_tables import Table


class Frame:
    """A minimal data frame: named columns of one length."""

    def __init__(self, columns: dict[str, Any]):
        self._columns = {name: np.asarray(cells) for name, cells in columns.items()}

    @classmethod
    def of(cls, table: Table, numbers: Sequence[str], marks: Marks) -> Frame:
        """A frame from a table. The columns named in `numbers` must contain only numbers."""
        columns: dict[str, Any] = dict(table.columns)
        bad = []
        for name in set(columns) & set(numbers):
            try:
                columns[name] = as_numbers(name, columns[name], marks)
            except NotNumbers as error:
                bad.append(error.sentence().rstrip("."))
        if bad:
            raise ValueError(f"{'; '.join(sorted(bad))}: only numbers are allowed.")
        return cls(columns)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return len(self), len(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def __getitem__(self, name: str) -> NDArray:
        return self._columns[name]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray:
        return np.column_stack(list(self._columns.values())).astype(dtype or float)

    def taken(self, kept: NDArray[np.bool_]) -> Frame:
        """Some of the rows."""
        return Frame({name: cells[kept] for name, cells in self._columns.items()})

    def rows(self) -> Iterator[tuple]:
        """The rows, with whole numbers written without a decimal point."""
        columns = [column.tolist() for column in self._columns.values()]
        texts = [[f"{x:.10g}" if isinstance(x, float) else x for x in cells] for cells in columns]
        return zip(*texts, strict=True)
