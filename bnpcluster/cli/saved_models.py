"""Models in files, for `bnpcluster predict`.

The content is a pickle, which can run any program when it is opened. The first line tells files of
this package from all others, so that a wrong file is refused before anything in it runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import joblib

from bnpcluster._version import __version__
from bnpcluster.cli.files import Folder
from bnpcluster.cli.rows import Rows

MODEL = "model.joblib"
FIRST_LINE = b"bnpcluster model 1\n"


class Saved(NamedTuple):
    """What a file of a model contains.

    Attributes
    ----------
    version : str
        The version of the package that wrote it.
    model : estimator
        The fitted model.
    likelihood : str
        The name of its likelihood.
    columns : list of str
        The columns of the table of the fit.
    words : dict of str to list of str
        The categories of columns of words.
    id_column : str
        The column with the names of the rows, or another word if there was none.
    """

    version: str
    model: Any
    likelihood: str
    columns: list[str]
    words: dict[str, list[str]]
    id_column: str


def save_model(folder: Folder, model: Any, likelihood: str, rows: Rows) -> None:
    """Write a fitted model."""
    content = tuple(
        Saved(__version__, model, likelihood, list(rows.columns), rows.words, rows.name)
    )

    def write(file: BinaryIO) -> None:
        file.write(FIRST_LINE)
        joblib.dump(content, file)

    folder.write(MODEL, write)


def load_model(path: Path) -> Saved:
    """Read a model that `save_model` wrote."""
    if path.is_dir():
        if not (path / MODEL).exists():
            raise ValueError(f"{path} has no file {MODEL}: fit with --save-model.")
        path = path / MODEL
    with path.open("rb") as file:
        if file.read(len(FIRST_LINE)) != FIRST_LINE:
            raise ValueError(
                f"{path} is not a model that bnpcluster saved: fit with --save-model, and name "
                f"its {MODEL}."
            )
        try:
            saved = Saved(*joblib.load(file))
        except Exception as error:
            raise ValueError(
                f"{path} is damaged, or was saved by another version of a package that it needs: "
                "fit again."
            ) from error
    if saved.version != __version__:
        raise ValueError(
            f"{path} was saved by bnpcluster {saved.version}, and this is {__version__}: fit again."
        )
    return saved
