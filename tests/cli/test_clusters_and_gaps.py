"""Files of clusters that are not the components, and of rows without values."""

import csv

import numpy as np
import pytest

from bnpcluster.cli import main
from tests._estimators.test_clusters import X

QUICK = ["--draws", "40", "--warmup", "60", "--chains", "2", "--seed", "0", "--quiet"]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "rows.csv"
    lines = ["name,a,b", *(f"r{i},{a},{b}" for i, (a, b) in enumerate(X))]
    lines.insert(3, "gap,,NA")
    path.write_text("\n".join(lines) + "\n")
    return path


def cells(path):
    with path.open(newline="") as file:
        return list(csv.reader(file))


def run(table, *options):
    out = table.parent / "out"
    status = main(["fit", str(table), "--out", str(out), "--id-column", "name", *QUICK, *options])
    assert status in (0, 3)
    return out


def test_clusters_of_components_and_rows_in_none(table, capsys):
    cost = ["--point-estimate", "vi,1.2", "--merge", "0.01"]
    out = run(table, *cost, "--min-cluster-size", "10", "--max-clusters", "9")
    head, *rows = cells(out / "labels.csv")
    assert head == ["name", "cluster", "probability", "component"]
    found = {row[0]: row[1:] for row in rows}
    assert found["gap"] == ["-1", "", "-1"]
    assert found["r0"][0] == "-1"
    assert float(found["r0"][1]) == 1.0  # of being in no large cluster
    assert len({row[3] for row in rows}) > 4
    assert {row[1] for row in rows} == {"-1", "0", "1"}
    head, *rows = cells(out / "probabilities.csv")
    assert head == ["name", "cluster_0", "cluster_1"]
    shares = {row[0]: row[1:] for row in rows}
    assert shares["gap"] == ["", ""]
    assert float(shares["r9"][0]) == float(found["r9"][1]) > 0.9
    with np.load(out / "draws.npz") as file:
        assert file["labels"].shape[2] == len(X)
        assert file["observed_rows"].tolist() == [0, 1, *range(3, len(X) + 1)]
    page = (out / "report.html").read_text()
    assert "<h1>2 clusters</h1>" in page
    assert "rows in no cluster of at least 10: 3" in page
    error = capsys.readouterr().err
    assert "Row 3 (counted from 1) has no value" in error
    assert "draws.npz is about the other rows" in error


def test_without_joins_there_is_no_column_of_components(table):
    out = run(table)
    assert cells(out / "labels.csv")[0] == ["name", "cluster", "probability"]


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--merge", "2", "--merge must be auto, or a number"),
        ("--max-clusters", "0", "--max-clusters must be at least 1"),
        ("--min-cluster-size", "0", "--min-cluster-size must be at least 1"),
        ("--point-estimate", "vi,3", "above 0 and below 2, got 3"),
        ("--point-estimate", "median", "Unknown point_estimate 'median'"),
    ],
)
def test_wrong_options_are_named(table, option, value, words, capsys):
    out = str(table.parent / "out")
    assert main(["fit", str(table), "--out", out, "--id-column", "name", option, value]) == 2
    assert words in capsys.readouterr().err
