"""Formats of tables: text, Parquet, AnnData, and what is none."""

import sys
import types

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from bnpcluster import DPMixture
from bnpcluster.cli.cells import Marks
from bnpcluster.cli.formats import read_table
from bnpcluster.cli.rows import select_rows
from tests.tools.shell import QUICK, columns_of, fit, refused


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".txt", ".parquet"])
def test_all_formats_give_the_same_labels(frame, tmp_path, ending, capsys):
    path = tmp_path / f"table{ending}"
    if ending == ".parquet":
        frame.to_parquet(path)
    else:
        separator = {".csv": ";", ".tsv": "\t", ".txt": ","}[ending]
        frame.to_csv(path, sep=separator, index=False, encoding="utf-8-sig")
    _, folder = fit(path, "--id-column", "name", *QUICK)
    X = frame[["height", "weight"]].to_numpy()
    model = DPMixture(n_draws=20, n_warmup=20, n_chains=2, random_state=0).fit(X)
    np.testing.assert_array_equal(np.load(folder / "draws.npz")["labels"], model.posterior_.labels)
    assert columns_of(folder / "labels.csv")["name"][0] == "n00"


def test_files_that_are_no_tables(tmp_path, capsys):
    for name, message in {
        "table.xml": "must end in .csv",
        "table.csv": "not text in UTF-8",
        "table.parquet": "not a Parquet file",
    }.items():
        (tmp_path / name).write_bytes(b"\xff\xe9,\xe9\n1,2\n")
        status, _ = fit(tmp_path / name)
        assert message in refused(capsys, status)


def test_parquet_asks_for_pyarrow(frame, tmp_path, capsys, monkeypatch):
    frame.to_parquet(tmp_path / "table.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    status, _ = fit(tmp_path / "table.parquet")
    assert "bnpcluster[tables]" in refused(capsys, status)


class FakeAnnData:
    """What the command line uses of AnnData."""

    def __init__(self, n, variables, obsm):
        rng = np.random.default_rng(0)
        self.obs_names = [f"cell{i}" for i in range(n)]
        self.var_names = [f"gene{j}" for j in range(variables)]
        self.X = csr_array(rng.normal(size=(n, variables)))
        self.obsm = {name: rng.normal(size=(n, 3)) for name in obsm}
        self.shape = self.X.shape


@pytest.fixture
def cells(tmp_path, monkeypatch):
    """A module that reads a file of cells; the file holds a function call."""
    module = types.ModuleType("anndata")
    made = {}

    def read_h5ad(path):
        if path.name not in made:
            raise OSError("no HDF5")
        return made[path.name]

    module.read_h5ad = read_h5ad
    monkeypatch.setitem(sys.modules, "anndata", module)

    def make(*given):
        (tmp_path / "cells.h5ad").write_bytes(b"HDF")
        made["cells.h5ad"] = FakeAnnData(*given)
        return tmp_path / "cells.h5ad"

    return make


def test_cells_are_clustered_by_their_principal_components(cells):
    table = read_table(cells(30, 500, ["X_umap", "X_pca"]))
    assert list(table.columns) == ["", "pca_1", "pca_2", "pca_3"]
    assert table.columns[""][:2] == ["cell0", "cell1"]
    assert table.notes == ["cells.h5ad: the cells are clustered by obsm['X_pca']."]


def test_cells_of_few_variables_are_clustered_by_them(cells, capsys):
    path = cells(30, 2, ["X_umap"])
    table = read_table(path)
    assert list(table.columns) == ["", "gene0", "gene1"]
    assert table.notes == ["cells.h5ad: X is clustered."]
    status, folder = fit(path, *QUICK)
    assert status in (0, 3)
    assert columns_of(folder / "labels.csv")["row"][:2] == ["cell0", "cell1"]


def test_many_variables_need_principal_components(cells, tmp_path):
    with pytest.raises(ValueError, match=r"500 variables and no principal .* run scanpy\.pp\.pca"):
        read_table(cells(30, 500, []))
    (tmp_path / "other.h5ad").write_bytes(b"no")
    with pytest.raises(ValueError, match=r"other\.h5ad is not a file of AnnData"):
        read_table(tmp_path / "other.h5ad")


def test_cells_ask_for_anndata(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "anndata", None)
    (tmp_path / "cells.h5ad").write_bytes(b"HDF")
    message = refused(capsys, fit(tmp_path / "cells.h5ad")[0])
    assert "needs anndata: run pip install anndata, or save the principal components" in message


def test_parquet_keeps_types(tmp_path):
    days = pd.date_range("2026-01-01", periods=12)
    frame = pd.DataFrame(
        {"size": np.arange(12) / 3, "day": days, "n": range(12), "ill": [True] * 12}
    )
    frame.loc[2, "size"] = None
    frame.to_parquet(tmp_path / "t.parquet")
    found = select_rows(read_table(tmp_path / "t.parquet"), None, [], "niw", Marks())
    assert list(found.columns) == ["size", "ill"]
    assert np.isnan(found.columns["size"][2])
    assert found.columns["ill"].tolist() == [1.0] * 12
    assert "'day' contains dates" in found.notes[0] and "'n' looks like" in found.notes[0]
