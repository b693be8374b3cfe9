"""Files to write: a missing folder is named before anything is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def file_to_write(path: Any) -> Path:
    """The path of a file that can be written, as far as its folder tells."""
    file = Path(path).expanduser()
    if not file.parent.exists():
        raise FileNotFoundError(
            f"There is no folder {str(file.parent)!r}: create it first, or choose another one."
        )
    if not file.parent.is_dir():
        raise NotADirectoryError(f"{str(file.parent)!r} is a file: name a folder before the file.")
    if file.is_dir():
        raise IsADirectoryError(f"{str(file)!r} is a folder: add the name of a file.")
    return file
