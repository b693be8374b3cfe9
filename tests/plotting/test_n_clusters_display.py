"""The prior beside the posterior is seen."""

import numpy as np
import pytest

from bnpcluster.plotting import NumberOfClustersDisplay

pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def height(display, probability):
    """Where a probability is drawn, as a share of the height of the picture."""
    at = display.ax_.transData.transform((1.0, probability))
    return display.ax_.transAxes.inverted().transform(at)[1]


def test_a_small_prior_is_above_the_floor():
    display = NumberOfClustersDisplay([1, 2, 3], [0.0, 0.95, 0.05], [0.02, 0.02, 0.02]).plot()
    assert height(display, 0.02) > 0.1
    assert height(display, 1.0) < 1.0
    np.testing.assert_allclose(height(display, 0.25) * 2, height(display, 1.0), rtol=1e-6)
    assert display.ax_.get_ylabel() == "probability (square-root scale)"
    assert display.ax_.get_yticks().tolist()[:3] == [0.0, 0.01, 0.05]


def test_without_a_prior_the_scale_is_the_usual_one():
    display = NumberOfClustersDisplay([1, 2], [0.5, 0.5]).plot()
    assert display.ax_.get_ylabel() == "probability"
    assert display.ax_.get_yscale() == "linear"
