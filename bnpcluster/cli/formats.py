"""Read tables: text, Parquet and AnnData. The ending of a file tells its format."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from bnpcluster._core.suggestions import nearest
from bnpcluster.cli.text_tables import CONVENTION, Table, check_names, read_text

TEXT = tuple(CONVENTION)
PARQUET = (".parquet", ".pq")
ANNDATA = ".h5ad"
WORKBOOKS = {
    ".xlsx": "Excel",
    ".xls": "Excel",
    ".xlsm": "Excel",
    ".ods": "LibreOffice",
}
ARCHIVES = (".zip", ".bz2", ".xz", ".7z", ".tar", ".tgz", ".zst", ".rar")
REPRESENTATIONS = ("X_pca", "X_scVI", "X_lsi")
"""Arrays of cells by few columns in `obsm`, the most usual first."""
MANY = 100  # columns of X that are too many to cluster by


def read_table(path: Path, separator: str | None = None, header: str | None = None) -> Table:
    """The columns of a file."""
    _check_file(path)
    endings = [ending.lower() for ending in path.suffixes[-2:]] or [""]
    ending = endings[-1]
    if ending == ".gz" and endings[0] in TEXT:
        return read_text(path, endings[0], separator, header)
    if ending in TEXT:
        return read_text(path, ending, separator, header)
    if ending in PARQUET:
        return _read_parquet(path)
    if ending == ANNDATA:
        return _read_anndata(path)
    if ending in WORKBOOKS:
        raise ValueError(
            f"{path.name} is a workbook of {WORKBOOKS[ending]}: save the sheet as CSV, and give "
            "that file."
        )
    if ending in ARCHIVES:
        raise ValueError(f"{path.name} is an archive: unpack it first.")
    known = ", ".join((*TEXT, *(f"{e}.gz" for e in TEXT[:2]), *PARQUET, ANNDATA))
    raise ValueError(f"The format of {path.name} is unknown: its name must end in {known}.")


def local(name: str) -> Path:
    """The path of a file. Raise an error for the address of one on the web."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", name):
        raise ValueError(f"{name} is a web address: download it first, and give the file.")
    return Path(name).expanduser()


def _check_file(path: Path) -> None:
    """Raise an error if there is no such file."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder, not a table.")
    if not path.exists():
        folder = path.parent
        others = [p.name for p in folder.iterdir() if p.is_file()] if folder.is_dir() else []
        near = nearest(path.name, others)
        hint = f" Did you mean {folder / near}?" if near else ""
        raise ValueError(f"{path}: No such file or directory.{hint}")


def _read_parquet(path: Path) -> Table:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise ImportError(
            'Parquet files need pyarrow: run pip install "bnpcluster[tables]".'
        ) from error
    try:
        with path.open("rb") as file:
            table = ParquetFile(file).read()
    except ArrowException:
        raise ValueError(f"{path.name} is not a Parquet file.") from None
    check_names(path.name, table.column_names)
    if not table.num_rows:
        raise ValueError(f"{path.name} has names of columns, but no rows.")
    columns = dict(zip(table.column_names, (c.to_pylist() for c in table.columns), strict=True))
    return Table(path.name, columns, [])


def _read_anndata(path: Path) -> Table:
    """Principal components of cells, or their few variables."""
    try:
        from anndata import read_h5ad
    except ImportError as error:
        raise ImportError(
            f"{path.name} needs anndata: run pip install anndata, or save the principal components "
            "as CSV."
        ) from error
    try:
        data = read_h5ad(path)
    except OSError:
        raise ValueError(f"{path.name} is not a file of AnnData.") from None
    name = next((key for key in REPRESENTATIONS if key in data.obsm), None)
    if name is not None:
        array, names = data.obsm[name], None
        note = f"{path.name}: the cells are clustered by obsm[{name!r}]"
    elif data.shape[1] <= MANY:
        array, names, note = data.X, list(map(str, data.var_names)), f"{path.name}: X is clustered"
    else:
        raise ValueError(
            f"{path.name} has {data.shape[1]} variables and no principal components: run "
            "scanpy.pp.pca, which writes them to obsm['X_pca'], and save the file again."
        )
    return Table(path.name, _cells_by_column(data, array, names, name), [note + "."])


def _cells_by_column(data: Any, array: Any, names: list[str] | None, prefix: str | None) -> dict:
    """The columns of an array of AnnData, after the names of the cells."""
    if hasattr(array, "toarray"):
        array = array.toarray()
    names = names or [f"{str(prefix)[2:]}_{j + 1}" for j in range(array.shape[1])]
    check_names("X", names)
    columns: dict[str, list] = {"": list(map(str, data.obs_names))}
    columns.update({own: array[:, j].tolist() for j, own in enumerate(names)})
    return columns
