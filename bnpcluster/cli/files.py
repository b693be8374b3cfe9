"""Write files: beside their place and then renamed, so that none is ever half written."""

from __future__ import annotations

import csv
import io
import os
import secrets
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""What a cell begins with that a spreadsheet takes for a formula."""


class Folder(NamedTuple):
    """The folder of the results.

    Attributes
    ----------
    path : Path
        Where it is.
    quotes_formulas : bool
        Whether text that a spreadsheet takes for a formula gets a quote before it.
    """

    path: Path
    quotes_formulas: bool = False

    def write(self, name: str, write: Callable[[BinaryIO], Any]) -> None:
        """Write a file. A link of that name is replaced, and what it leads to is left alone.

        Parameters
        ----------
        name : str
            The name of the file.
        write : callable
            Writes to an open file.
        """
        path = self.path / name
        part = self.path / f".{name}.{secrets.token_hex(4)}.part"
        try:
            with part.open("xb") as file:
                write(file)
            os.replace(part, path)
        except BaseException as error:
            with suppress(OSError):
                part.unlink()
            if isinstance(error, OSError):
                reason = error.strerror or str(error)
                raise OSError(error.errno, reason, str(path)) from error
            raise

    def write_text(self, name: str, text: str) -> None:
        """Write text."""
        self.write(name, lambda file: file.write(text.encode()))

    def write_table(
        self, name: str, head: Sequence[Any], rows: Iterable[Sequence[Any]], separator: str = ","
    ) -> None:
        """Write a table of text."""

        def write(file: BinaryIO) -> None:
            with io.TextIOWrapper(file, encoding="utf-8", newline="") as text:
                lines = csv.writer(text, delimiter=separator, lineterminator="\n")
                lines.writerow([self._cell(cell) for cell in head])
                lines.writerows([self._cell(cell) for cell in row] for row in rows)

        self.write(name, write)

    def _cell(self, cell: Any) -> Any:
        """A cell. Text that a spreadsheet would calculate is quoted on request, numbers never."""
        is_formula = isinstance(cell, str) and cell.startswith(FORMULAS) and not _is_number(cell)
        return "'" + cell if self.quotes_formulas and is_formula else cell


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@contextmanager
def prepared(path: Path, names: Sequence[str], force: bool, quotes: bool) -> Iterator[Folder]:
    """A folder that the files can be written to. Call this before a long fit.

    If nothing was written in the end, folders that were made are removed.
    """
    _check_folder(path, names, force)
    made = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    tempfile.TemporaryFile(dir=path).close()
    try:
        yield Folder(path, quotes)
    except BaseException:
        with suppress(OSError):  # there is something in it
            for folder in made:
                folder.rmdir()
        raise


def _check_folder(path: Path, names: Sequence[str], force: bool) -> None:
    if path.exists() and not path.is_dir():
        raise ValueError(f"--out must name a folder, but {path} is a file.")
    existing = [name for name in names if os.path.lexists(path / name)]
    if existing and not force:
        raise ValueError(
            f"{path} already contains {', '.join(existing)}: choose another --out, or add "
            "--force to replace them."
        )
    for name in existing:
        if (path / name).is_dir() and not (path / name).is_symlink():
            raise ValueError(f"{path / name} is a folder: choose another --out.")
