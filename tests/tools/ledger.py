"""A committed file of results: one row for each thing that was tried."""

from __future__ import annotations

import csv
import fcntl
import os
from collections.abc import Container, Iterator
from contextlib import contextmanager
from pathlib import Path

Row = dict[str, str]


class Ledger:
    """Rows of text in a CSV file, sorted by their names, so that diffs are small.

    Programs that run at the same time may write to it: each change reads the file again and
    replaces it as a whole, while a lock keeps the others out.

    Attributes
    ----------
    path : Path: the file; it need not exist
    columns : tuple of str
    name : tuple of str: the columns that tell rows apart
    """

    def __init__(self, path: Path, columns: tuple[str, ...], name: tuple[str, ...]):
        self.path, self.columns, self.name = path, columns, name

    def rows(self) -> dict[tuple[str, ...], Row]:
        """All rows by name."""
        if not self.path.exists():
            return {}
        with self.path.open(newline="", encoding="utf-8") as file:
            return {self.name_of(row): row for row in csv.DictReader(file)}

    def name_of(self, row: Row) -> tuple[str, ...]:
        """The name of a row."""
        return tuple(row[column] for column in self.name)

    def put(self, row: Row) -> None:
        """Add a row, in place of the one with the same name."""
        with self._locked():
            self._write({**self.rows(), self.name_of(row): row})

    def keep(self, names: Container[tuple[str, ...]]) -> None:
        """Drop the rows with other names."""
        with self._locked():
            rows = self.rows()
            kept = {name: row for name, row in rows.items() if name in names}
            if len(kept) < len(rows):
                self._write(kept)

    def _write(self, rows: dict[tuple[str, ...], Row]) -> None:
        # Readers, and a program that is killed, see the old file or the new one, never half of it.
        temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        with temporary.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, self.columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows[name] for name in sorted(rows))
        temporary.replace(self.path)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep other writers out; the lock is on the folder, because the file is replaced."""
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)
