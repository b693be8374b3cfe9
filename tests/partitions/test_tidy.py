"""Draws as tidy files."""

import csv
import sys

import numpy as np
import pytest

from bnpcluster import DPMixture
from bnpcluster.posterior import Posterior

POSTERIOR = Posterior(
    [[[0, 0, 1], [0, 1, 1]], [[0, 1, 2], [0, 0, 0]]],
    weights=[[1, 1], [2, 4]],
    traces={"alpha": [[1.5, 2.5], [3.5, 4.5]]},
)


def test_one_line_per_draw(tmp_path):
    with POSTERIOR.to_csv(tmp_path / "draws.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [line["chain"] + line["draw"] for line in lines] == ["00", "01", "10", "11"]
    assert [float(line["weight"]) for line in lines] == [0.125, 0.125, 0.25, 0.5]
    assert [line["alpha"] for line in lines] == ["1.5", "2.5", "3.5", "4.5"]
    assert [line["n_clusters"] for line in lines] == ["2", "2", "3", "1"]


def test_one_line_per_draw_and_item(tmp_path):
    with POSTERIOR.to_csv(str(tmp_path / "labels.csv"), "labels").open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 12
    assert [line["item"] for line in lines[:4]] == ["0", "1", "2", "0"]
    found = np.array([int(line["label"]) for line in lines]).reshape(2, 2, 3)
    np.testing.assert_array_equal(found, POSTERIOR.labels)


def test_parquet_files_have_the_same_columns(tmp_path):
    pandas = pytest.importorskip("pandas")
    try:
        file = POSTERIOR.to_parquet(tmp_path / "draws.parquet")
    except ImportError as error:
        assert "pip install pyarrow" in str(error)
        return
    assert pandas.read_parquet(file)["alpha"].tolist() == [1.5, 2.5, 3.5, 4.5]


def test_other_contents_are_refused(tmp_path):
    with pytest.raises(ValueError, match="what must be 'traces' or 'labels', got 'draws'"):
        POSTERIOR.to_csv(tmp_path / "x.csv", "draws")


def test_items_of_a_fit_are_numbered_as_its_rows(tmp_path):
    X = np.random.default_rng(0).normal(size=(12, 2))
    X[4] = np.nan
    model = DPMixture(n_chains=1, n_draws=3, n_warmup=2, random_state=0)
    with pytest.warns(UserWarning, match="Row 4"):
        model.fit(X)
    file = model.posterior_.to_csv(tmp_path / "labels.csv", what="labels")
    found = np.genfromtxt(file, delimiter=",", names=True)
    np.testing.assert_array_equal(found["item"][:11], np.delete(np.arange(12), 4))


@pytest.mark.parametrize("what", ["traces", "labels"])
def test_a_data_frame_has_the_columns_of_the_file(what, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = POSTERIOR.to_frame(what)
    written = pandas.read_csv(POSTERIOR.to_csv(tmp_path / "draws.csv", what))
    pandas.testing.assert_frame_equal(frame, written, check_dtype=False)


def test_a_data_frame_needs_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        POSTERIOR.to_frame()
