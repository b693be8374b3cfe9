"""What clusters are like, as a heat map: centres against those of all rows."""

import numpy as np
import pandas as pd
import pytest

from bnpcluster import DPMixture
from bnpcluster.plotting import ProfileDisplay

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
pyplot = pytest.importorskip("matplotlib.pyplot")
RNG = np.random.default_rng(3)
GROUP = np.repeat([0, 1], [60, 40])
TABLE = pd.DataFrame(
    {
        "noise": RNG.normal(size=100),
        "length": RNG.normal(8.0 * GROUP),
        "town": np.where(RNG.random(100) < 0.1 + 0.8 * GROUP, "Ulm", "Bonn"),
        "colour": np.array(["red", "green", "blue"])[RNG.integers(3, size=100)],
    }
)


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def model():
    return DPMixture(likelihood="columns", n_chains=1, n_draws=40, n_warmup=40, random_state=0).fit(
        TABLE
    )


def test_telling_columns_come_first_with_names_of_categories(model):
    display = ProfileDisplay.from_estimator(model)
    assert display.columns[:2] == ["length", "town: Ulm"]  # two categories need one column
    assert set(display.columns[2:]) == {
        "noise",
        *(f"colour: {c}" for c in ("red", "green", "blue")),
    }
    assert display.sizes.tolist() == [60, 40]
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert names == ["0 (60)", "1 (40)"]


def test_values_are_in_standard_deviations_of_all_rows(model):
    display = ProfileDisplay.from_estimator(model)
    numbers = pd.get_dummies(TABLE, dtype=float).rename(columns={"town_Ulm": "town: Ulm"})
    for j, name in enumerate(["length", "town: Ulm"]):
        column = numbers[name]
        expected = (column.groupby(GROUP).mean() - column.mean()) / column.std()
        np.testing.assert_allclose(display.values[:, j], expected, atol=0.15)
    np.testing.assert_array_equal(display.image_.get_array(), display.values)
    assert display.image_.get_clim() == (-2.0, 2.0)


def test_only_the_first_columns_are_shown_and_long_names_are_cut(model):
    assert ProfileDisplay.from_estimator(model, max_columns=1).columns == ["length"]
    long = ProfileDisplay([[0.0]], ["x" * 100], [1]).plot()
    assert len(long.ax_.get_xticklabels()[0].get_text()) == 24
    assert long.columns == ["x" * 100]


def test_small_maps_have_numbers_without_negative_zeros():
    display = ProfileDisplay([[-0.01, 1.96], [0.0, -1.96]], ["a", "b"], [3, 2]).plot()
    texts = [text.get_text() for text in display.ax_.texts]
    assert texts == ["0.0", "2.0", "0.0", "-2.0"]
    many = ProfileDisplay(np.zeros((20, 20)), list(map(str, range(20))), np.ones(20, int)).plot()
    assert len(many.ax_.texts) == 0
