"""Tables that are read without complaint, new categories, and refits that fail."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from bnpcluster import DPMixture, InfiniteRelationalModel
from bnpcluster.likelihoods import Categorical
from tests.tools.mistakes import QUICK, X, fit, frame

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
HOLED = np.where(np.abs(X) > 1.5, np.nan, X)
WORDS = ["Oslo", "Rome"] * 7


def mixed(city=WORDS, **more):
    """Two measurements and a column of words."""
    return frame(city=city, **more)


def draws(data, **parameters):
    return fit(data, **parameters).posterior_.labels


@pytest.mark.parametrize(
    "convert",
    [
        pd.DataFrame.convert_dtypes,
        lambda t: t.convert_dtypes(dtype_backend="pyarrow"),
        pl.from_pandas,
    ],
    ids=["nullable", "arrow", "polars"],
)
def test_columns_of_all_kinds_are_read_alike(convert):
    table = pd.DataFrame(HOLED, columns=["a", "b"])
    np.testing.assert_array_equal(draws(convert(table)), draws(table))
    counts = pd.DataFrame({"n": [1.0, np.nan] * 7, "m": [3.0, 4.0, 5.0, 6.0] * 3 + [0.0, 2.0]})
    same = draws(counts, likelihood="poisson")
    np.testing.assert_array_equal(draws(convert(counts), likelihood="poisson"), same)
    table = table.assign(city=[None, *WORDS[1:]], coin=[True, False] * 7)
    same = draws(table, likelihood="columns")
    np.testing.assert_array_equal(draws(convert(table), likelihood="columns"), same)


def test_masks_are_missing_entries_in_all_likelihoods():
    masked = np.ma.masked_invalid(HOLED)
    np.testing.assert_array_equal(draws(masked), draws(HOLED))
    coins = np.ma.masked_array(np.arange(28).reshape(14, 2) % 2, mask=np.isnan(HOLED))
    holed = np.where(np.isnan(HOLED), np.nan, coins.data)
    same = draws(holed, likelihood="bernoulli")
    np.testing.assert_array_equal(draws(coins, likelihood="bernoulli"), same)
    np.testing.assert_array_equal(draws(coins, likelihood={0: "bernoulli", 1: "bernoulli"}), same)


def test_an_explicit_likelihood_keeps_a_column_that_looks_like_an_identifier():
    table = frame(name=[f"n{i}" for i in range(14)])
    with pytest.raises(ValueError, match="looks like an identifier"):
        fit(table, likelihood="columns")
    given = {"height": "nig", "width": "nig", "name": "categorical"}
    assert fit(table, likelihood=given).n_features_in_ == 3
    assert fit(table.drop(columns="name"), likelihood="columns").n_features_in_ == 2


def test_new_categories_are_missing_on_request():
    new, gap = mixed(["Bern", "Oslo"] * 7), mixed([None, "Oslo"] * 7)
    model = fit(mixed(), likelihood="columns")
    with pytest.raises(ValueError, match="handle_unknown='missing', replace it"):
        model.predict(new)
    expected = model.score_samples(gap)
    model.set_params(handle_unknown="missing")
    np.testing.assert_array_equal(model.score_samples(new), expected)
    np.testing.assert_array_equal(model.predict_proba(new), model.predict_proba(gap))
    assert set(model.impute(new)["city"]) <= {"Oslo", "Rome", "Bern"}
    rows = mixed([None, "Bern"] * 7).assign(height=np.nan, width=np.nan)
    assert model.predict(rows).tolist() == [-1] * 14


@pytest.mark.parametrize("likelihood", ["categorical", Categorical(n_categories=[3, 2])])
@pytest.mark.parametrize("holed", [False, True])
def test_new_codes_are_missing_on_request(likelihood, holed):
    codes = np.array([[0, 1], [1, 0], [2, 1], [0, 0]] * 3, float)
    if holed:
        codes[0, 0] = np.nan
    model = fit(codes, likelihood=likelihood, handle_unknown="missing")
    np.testing.assert_array_equal(
        model.score_samples([[7, 1], [2, 9], [2, 1]]),
        model.score_samples([[np.nan, 1], [2, np.nan], [2, 1]]),
    )
    with pytest.raises(ValueError, match="only 0 to 2 are known"):
        model.set_params(handle_unknown="error").predict([[7, 1]])


def test_data_frames_are_not_written_to():
    coins = pd.DataFrame({"a": [True, False] * 7, "b": [True] * 3 + [False] * 11})
    model = fit(coins, likelihood="bernoulli", handle_unknown="missing")
    assert model.predict(coins).shape == (14,)
    assert coins.dtypes.tolist() == [bool, bool]


def test_codes_of_parts_are_known_by_part():
    table = np.column_stack([X, np.arange(14) % 3, np.arange(14) % 2])
    parts = {0: "nig", 1: "nig", 2: "categorical", 3: "categorical"}
    model = fit(table, likelihood=parts, handle_unknown="missing")
    new, gap = table[:4].copy(), table[:4].copy()
    new[0, 2], new[1, 3], gap[0, 2], gap[1, 3] = 5, 3, np.nan, np.nan
    np.testing.assert_array_equal(model.score_samples(new), model.score_samples(gap))


def test_a_rare_word_does_not_spoil_a_search():
    table = mixed([*WORDS[:-1], "Bern"])
    model = DPMixture(likelihood="columns", **QUICK)
    lenient = clone(model).set_params(handle_unknown="missing")
    assert np.isfinite(cross_val_score(lenient, table, cv=7)).all()
    search = GridSearchCV(lenient, {"alpha": [0.1, 1.0]}, cv=7).fit(table)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    with pytest.warns(Warning, match="Scoring failed"):
        assert np.isnan(cross_val_score(model, table, cv=7)).sum() == 1


@pytest.mark.parametrize("bad", [None, X[:, :1] * np.inf, frame(z=["a", "b"] * 7)], ids=range(3))
def test_a_refit_that_fails_keeps_the_earlier_fit(bad):
    model = fit()
    before, attributes = model.predict_proba(X), set(vars(model))
    with pytest.raises((ValueError, TypeError)):
        model.fit(bad)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert set(vars(model)) == attributes
    assert model.n_features_in_ == 2


def test_a_first_fit_that_fails_leaves_no_fit():
    model = DPMixture(likelihood="poisson", **QUICK)
    with pytest.raises(ValueError, match="Poisson needs counts"):
        model.fit(frame())
    with pytest.raises(ValueError, match="not fitted"):
        model.predict(X)
    assert not [name for name in vars(model) if name.endswith("_")]


def test_a_network_that_cannot_be_refitted_keeps_its_fit():
    ring = np.roll(np.eye(6), 1, axis=1) + np.roll(np.eye(6), -1, axis=1)
    model = fit(ring, InfiniteRelationalModel)
    with pytest.raises(ValueError, match="A must contain only 0 and 1"):
        model.fit(np.full((4, 4), 3.0))
    assert model.n_features_in_ == 6
    assert model.predict_links([[0, 5]]).shape == (1,)


def test_attributes_that_are_missing_do_not_hinder_copies():
    model = pickle.loads(pickle.dumps(clone(fit())))
    assert not hasattr(model, "labels_")
    assert not hasattr(model, "_fitted")
    assert not hasattr(model, "partial_fit")
    assert hasattr(DPMixture(sampler="urn_smc"), "partial_fit")
    assert hasattr(fit(), "labels_")


def test_subclasses_may_have_parameters_of_their_own():
    class Own(DPMixture):
        def __init__(self, alpha=1.0, extra=2):
            super().__init__(alpha=alpha)
            self.extra = extra

    assert Own(3.0, extra=4).alpha == 3.0
    with pytest.raises(TypeError, match="Own has no parameter 'n_draws'"):
        Own(n_draws=3)
