"""Drawn rows are like the table of the fit: frames, categories, or one set per draw."""

import numpy as np
import pandas as pd
import pytest

from bnpcluster import DPMixture
from bnpcluster._estimators.encoding import FrameLike

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
    assert rows.shape == (2 * 25 * 400, 5)
    assert rows.index.names == ["chain", "draw", "row"] and rows.index[-1] == (1, 24, 399)
    pd.testing.assert_series_equal(rows.dtypes, model.sample(3).dtypes)
    assert (rows["same"] == 7.5).all() and set(rows["town"]) == {"Ulm", "Bonn"}
    near = np.abs(rows["length"] - 9.0 * (rows["town"] == "Ulm")) < 4.0
    assert near.mean() > 0.9


def test_samples_by_draw_are_the_same_in_frames_and_arrays():
    X = pd.DataFrame(RNG.normal(size=(30, 2)), columns=["a", "b"])
    frame, array = (
        DPMixture(**QUICK).fit(data).sample(3, random_state=0, by_draw=True)
        for data in (X, X.to_numpy())
    )
    assert array.shape == (2, 25, 3, 2)
    np.testing.assert_array_equal(frame.loc[(1, 7)].to_numpy(), array[1, 7])


def test_prior_samples_of_frames_have_their_categories(model, table):
    with pytest.warns(UserWarning, match="same"):
        sets = model.sample_prior(table, 4, random_state=0)
    assert sets.index.names == ["set", "row"] and sets.index[-1] == (3, len(table) - 1)
    assert list(sets.columns) == list(table.columns)
    assert set(sets["town"]) <= set(table["town"]) and (sets["same"] == 7.5).all()


def test_samples_that_a_type_of_column_has_no_room_for_are_not_cut():
    small = FrameLike(["n", "m"], [np.dtype("uint8"), pd.Int8Dtype()])
    rows = small.filled(np.array([[255.0, 127.0], [3.0, 0.0]]), None)
    assert rows.dtypes.tolist() == small.dtypes
    rows = small.filled(np.array([[256.0, 128.0], [3.0, 0.0]]), None)
    assert rows["n"].tolist() == [256, 3] and rows["m"].tolist() == [128, 0]


def test_every_draw_counts_the_same_by_draw():
    """Unlike other samples, in which draws take part by their weights."""
    X = np.repeat([[0.0], [50.0]], [10, 30], axis=0) + RNG.normal(size=(40, 1))
    model = DPMixture(**QUICK).fit(X)
    rows = model.sample(500, random_state=0, by_draw=True)
    share = (np.abs(rows[..., 0] - 50.0) < 10.0).mean(axis=2)
    assert share.shape == (2, 25)
    np.testing.assert_allclose(share, 0.75, atol=0.2)
    assert len(np.unique(rows)) == rows.size  # no draw repeats another
