"""The files of a fit: labels, probabilities, clusters, draws and a report."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from bnpcluster.partitions import coclustering
from bnpcluster.partitions.memberships import membership
from bnpcluster.posterior import Posterior
from tests.tools.shell import QUICK, fit


def test_probabilities_are_mean_shares_of_blocks():
    rng = np.random.default_rng(0)
    posterior = Posterior(rng.integers(3, size=(2, 5, 6)), weights=rng.random((2, 5)))
    labels = np.array([0, 0, 0, 1, 1, 2])
    expected = np.zeros((6, 3))
    draws = posterior.labels.reshape(-1, 6)
    for row, weight in zip(draws, posterior.weights.ravel(), strict=True):
        for i in range(6):
            for j in np.flatnonzero(row == row[i]):
                expected[i, labels[j]] += weight / np.sum(row == row[i])
    found = membership(posterior, labels)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    alone = membership(posterior, np.arange(6))  # each cluster a row: co-clustering over sizes
    assert (alone[coclustering(draws, posterior.weights.ravel()) == 0] == 0).all()


def test_the_report_is_one_page_with_pictures(table, capsys):
    status, folder = fit(table, "--columns", "weight, height", *QUICK, "--quiet")
    text = (folder / "report.html").read_text()
    assert status == 3
    assert text.count("data:image/png;base64,") == 5
    assert "table.csv" in text
    assert "<th>height</th>" in text
    for python in ("labels_", "predict(X)", "n_draws", "random_state", "init=", "describe()"):
        assert python not in text
    assert not re.search(r"(src|href)=['\"](?!data:)", text)  # it needs no other file


def test_without_matplotlib_the_report_has_no_pictures(table, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    _, folder = fit(table, "--columns", "height", *QUICK)
    assert "bnpcluster[plot]" in (folder / "report.html").read_text()


def test_the_draws_are_read_as_the_guide_says(table, capsys, monkeypatch):
    fit(table, "--columns", "height", *QUICK)
    page = (Path(__file__).parents[2] / "doc" / "command_line.md").read_text()
    monkeypatch.chdir(table.parent)
    names = {}
    exec(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1], names)
    assert sum(names["posterior"].n_clusters_pmf().values()) == pytest.approx(1.0)
    assert names["posterior"].alpha.shape == (2, 20)
