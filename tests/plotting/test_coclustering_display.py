"""The matrix of a single cluster says something, too."""

import numpy as np
import pytest

from bnpcluster.plotting import CoclusteringDisplay

pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def test_a_single_cluster_is_described_in_words():
    together = np.zeros((3, 40), int)
    apart = np.repeat([[0, 1]], 20, axis=1)
    draws = np.concatenate([together, apart])
    display = CoclusteringDisplay.from_draws(draws, labels=np.zeros(40, int))
    text = display.text_.get_text()
    pairs = np.mean([row[:, None] == row for row in draws], axis=0)[~np.eye(40, dtype=bool)]
    assert text.startswith("one cluster\n")
    assert f"{np.median(pairs):.2f} for the middle pair" in text
    assert f"at least {np.quantile(pairs, 0.05):.2f} for 95 % of the pairs" in text
    assert display.image_.cmap(1.0)[2] > 0.3  # dark blue: no black square


def test_several_clusters_and_single_rows_need_no_words():
    draws = [[0, 0, 1, 1]]
    assert CoclusteringDisplay.from_draws(draws, labels=[0, 0, 1, 1]).text_ is None
    assert CoclusteringDisplay.from_draws([[0]], labels=[0]).text_ is None
