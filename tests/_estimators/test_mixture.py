"""Drawn rows are like the table of the fit: frames, categories, or one set per draw."""

import numpy as np
import pandas as pd
import pytest

from bnpcluster import DPMixture

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = {"n_chains": 2, "n_draws": 25, "n_warmup": 30, "random_state": 0}
RNG = np.random.default_rng(0)
GROUP = np.repeat([0, 1], 30)


@pytest.fixture(scope="module")
def table():
    return pd.DataFrame(
        {
            "length": RNG.normal(9.0 * GROUP),
            "town": pd.Categorical(np.where(GROUP == 1, "Ulm", "Bonn"), ["Ulm", "Bonn", "Kiel"]),
            "visits": RNG.poisson(3 + 20 * GROUP),
            "member": RNG.random(60) < 0.2 + 0.6 * GROUP,
            "same": np.full(60, 7.5),
        }
    )


@pytest.fixture(scope="module")
def model(table):
    likelihood = {
        "length": "nig",
        "town": "categorical",
        "visits": "poisson",
        "member": "bernoulli",
        "same": "nig",
    }
    with pytest.warns(UserWarning, match="same"):
        return DPMixture(likelihood=likelihood, **QUICK).fit(table)


def test_samples_are_frames_like_that_of_the_fit(model, table):
    rows = model.sample(200, random_state=0)
    assert list(rows.columns) == list(table.columns)
    assert rows.dtypes.to_dict() == table.dtypes.to_dict()
    assert set(rows["town"]) == {"Ulm", "Bonn"}
    assert (rows["same"] == 7.5).all()
    # Columns of one row belong together: towns tell lengths.
    means = rows.groupby("town", observed=True)["length"].mean()
    assert abs(means["Bonn"]) < 1.5 and abs(means["Ulm"] - 9.0) < 1.5
    assert model.predict(rows).shape == (200,)
    pd.testing.assert_frame_equal(rows, model.sample(200, random_state=0))


def test_samples_of_arrays_are_arrays():
    X = RNG.normal(size=(30, 2))
    assert type(DPMixture(**QUICK).fit(X).sample(3)) is np.ndarray


def test_samples_by_draw_have_the_clusters_of_their_draw(model):
    rows = model.sample(400, random_state=0, by_draw=True)
    assert rows.shape == (2, 25, 400, 5)
    assert (rows[..., 4] == 7.5).all()
    assert set(np.unique(rows[..., 1])) <= {0.0, 1.0, 2.0}  # codes
    towns = [list(model._fitted.encoding.categories[1]).index(name) for name in ("Bonn", "Ulm")]
    near = np.abs(rows[..., 0] - 9.0 * (rows[..., 1] == towns[1])) < 4.0
    assert near.mean() > 0.9


def test_every_draw_counts_the_same_by_draw():
    """Unlike other samples, in which draws take part by their weights."""
    X = np.repeat([[0.0], [50.0]], [10, 30], axis=0) + RNG.normal(size=(40, 1))
    model = DPMixture(**QUICK).fit(X)
    rows = model.sample(500, random_state=0, by_draw=True)
    share = (np.abs(rows[..., 0] - 50.0) < 10.0).mean(axis=2)
    assert share.shape == (2, 25)
    np.testing.assert_allclose(share, 0.75, atol=0.2)
    assert len(np.unique(rows)) == rows.size  # no draw repeats another
