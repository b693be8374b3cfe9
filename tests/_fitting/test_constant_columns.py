"""Constant columns say nothing about clusters: a fit leaves them out and says so."""

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest

from bnpcluster import DPMixture
from bnpcluster._core.messages import ColumnsWarning
from bnpcluster.likelihoods import (
    Bernoulli,
    Categorical,
    Columns,
    NormalInverseGamma,
    NormalInverseWishart,
    Poisson,
)
from bnpcluster.plotting import ClusterDisplay, DensityDisplay
from tests.conftest import three_blobs

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = {"n_draws": 30, "n_warmup": 20, "n_chains": 2, "random_state": 0}
SHORT = {"n_draws": 4, "n_warmup": 2, "n_chains": 2, "random_state": 0}
ROWS = three_blobs()[0]  # 60 rows of two columns
SPREAD = np.column_stack([ROWS[:, 0], np.full(60, 3.0), ROWS[:, 1]])  # column 1 is constant
FRAME = pd.DataFrame(SPREAD, columns=["a", "k", "b"])
MIXED = FRAME.assign(word=np.repeat(["x", "y", "z"], 20), coin=np.arange(60) % 2)
LEFT_OUT = "^Constant column 1 was left out: it says nothing about clusters.$"
CHANGED = "^Column 1 was constant in the fit, and left out: new values are ignored.$"


def said(action, *arguments):
    """What an action returns, and the warnings about columns on the way."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = action(*arguments)
    return result, [str(w.message) for w in caught if issubclass(w.category, ColumnsWarning)]


def fit(X=SPREAD, settings=QUICK, **parameters):
    return said(DPMixture(**{**settings, **parameters}).fit, X)[0]


@pytest.fixture(scope="module")
def model():
    return fit()


@pytest.fixture(scope="module")
def mixed():
    return fit(MIXED, likelihood="columns")


@pytest.mark.parametrize("name", ["niw", "nig"])
def test_a_fit_is_that_of_the_other_columns(name):
    whole, part = fit(likelihood=name), DPMixture(likelihood=name, **QUICK).fit(ROWS)
    np.testing.assert_array_equal(whole.posterior_.labels, part.posterior_.labels)
    for ask in ("predict", "predict_proba", "transform", "score_samples", "novelty"):
        expected = getattr(part, ask)(ROWS[::5])
        np.testing.assert_array_equal(getattr(whole, ask)(SPREAD[::5]), expected)
    assert whole.score(SPREAD) == part.score(ROWS)
    assert whole.n_features_in_ == 3
    assert whole._fitted.likelihood.get_params() == part._fitted.likelihood.get_params()


def test_the_warning_names_the_columns():
    for X, message in ((SPREAD, LEFT_OUT), (FRAME, LEFT_OUT.replace("1", "'k'"))):
        with pytest.warns(UserWarning, match=message) as caught:
            DPMixture(**SHORT).fit(X)
        assert [w.filename for w in caught if w.category is ColumnsWarning] == [__file__]
    many = pd.DataFrame(np.ones((60, 7)), columns=list("cdefghi")).assign(a=ROWS[:, 0])
    _, messages = said(DPMixture(**SHORT).fit, many)
    assert messages == [
        "Constant columns 'c', 'd', 'e', 'f', 'g', ... were left out: they say nothing about "
        "clusters."
    ]
    _, messages = said(DPMixture(**SHORT).fit, many.iloc[:, 2:])
    assert "columns 'e', 'f', 'g', 'h', 'i' were" in messages[0]


def test_columns_are_constant_up_to_rounding_and_missing_entries():
    X = np.column_stack([ROWS, np.where(np.arange(60) % 2, 0.1 + 0.2, 0.3)])
    X[7, 2] = np.nan
    model, messages = said(DPMixture(likelihood="nig", **SHORT).fit, X)
    assert len(messages) == 1
    assert model._fitted.X.shape == (60, 2)
    assert said(model.predict, X)[1] == []
    np.testing.assert_allclose(model.impute(X)[:, 2], 0.3, rtol=1e-15)
    X[7, 2] = 0.30000001
    assert said(DPMixture(likelihood="nig", **SHORT).fit, X)[1] == []


@pytest.mark.parametrize(
    ("likelihood", "expected"),
    [
        (NormalInverseWishart(mean=[1.0, 2.0, 3.0]), NormalInverseWishart(mean=[1.0, 3.0])),
        (NormalInverseWishart(scale=[1.0, 2.0, 3.0]), NormalInverseWishart(scale=[1.0, 3.0])),
        (
            NormalInverseWishart(mean=0.5, scale=np.diag([1.0, 2.0, 3.0]) + 0.1),
            NormalInverseWishart(mean=0.5, scale=[[1.1, 0.1], [0.1, 3.1]]),
        ),
        (
            NormalInverseGamma(mean=np.arange(3.0), scale=(1.0, 2.0, 3.0), shape=2.0),
            NormalInverseGamma(mean=[0.0, 2.0], scale=[1.0, 3.0], shape=2.0),
        ),
    ],
)
def test_hyper_parameters_by_column_are_cut(likelihood, expected):
    model, other = fit(likelihood=likelihood), fit(ROWS, likelihood=expected)
    np.testing.assert_array_equal(model.posterior_.labels, other.posterior_.labels)
    np.testing.assert_allclose(model.score_samples(SPREAD), other.score_samples(ROWS), rtol=1e-12)
    assert model.likelihood is likelihood
    with pytest.raises(ValueError, match=r"has shape \(3,\), but X has 5 columns"):
        fit(np.column_stack([SPREAD, ROWS]), likelihood=NormalInverseGamma(mean=[1.0, 2.0, 3.0]))


def test_hyper_parameters_of_every_likelihood_can_be_cut():
    rate = Poisson(shape=[1.0, 2.0, 3.0], rate=0.5).of_columns([2, 0], 3)
    assert rate.get_params() == {"shape": [3.0, 1.0], "rate": 0.5}
    assert Bernoulli(a=[1.0, 2.0]).of_columns([1], 2).a == [2.0]
    assert Categorical(n_categories=[2, 3]).of_columns([1], 2).n_categories == [3]
    wish = NormalInverseWishart(scale=[[2.0, 1.0], [1.0, 3.0]]).of_columns([1], 2)
    assert wish.get_params()["scale"] == [[3.0]]


@pytest.mark.parametrize(
    "likelihood",
    [
        "columns",
        {0: "nig", 1: "niw", 2: "nig"},
        Columns([(NormalInverseWishart(mean=[5.0, 1.0, 2.0]), [1, 0, 2])]),
        Columns([("nig", [1]), (NormalInverseWishart(), [2, 0])]),
    ],
)
def test_parts_of_mixed_columns(likelihood):
    model, messages = said(DPMixture(likelihood=likelihood, **SHORT).fit, SPREAD)
    assert [re.fullmatch(LEFT_OUT, text) is not None for text in messages] == [True]
    numbers = sorted(j for _, own in model._fitted.likelihood.parts for j in own)
    assert numbers == [0, 1]
    assert model._fitted.X.shape == (60, 2)
    assert model.sample(5).shape == (5, 3)
    rest = fit(ROWS, SHORT, likelihood=Columns([("nig", [0, 1])]))
    if likelihood == "columns":
        np.testing.assert_array_equal(model.posterior_.labels, rest.posterior_.labels)


def test_the_parts_of_columns_keep_their_parameters():
    parts = [(NormalInverseWishart(mean=[5.0, 1.0, 2.0]), [1, 0, 2]), ("bernoulli", 3)]
    X = np.column_stack([SPREAD, np.arange(60) % 2])
    model = fit(X, SHORT, likelihood=Columns(parts))
    (niw, own), (_, coins) = model._fitted.likelihood.parts
    assert (niw.mean, own, coins) == ([1.0, 2.0], [0, 1], [2])


@pytest.mark.parametrize(("name", "value"), [("poisson", 2.0), ("bernoulli", 1.0)])
def test_other_likelihoods_model_constant_columns(name, value):
    X = np.column_stack([np.arange(20) % 2, np.full(20, value)])
    model, messages = said(DPMixture(likelihood=name, **SHORT).fit, X)
    assert messages == []
    assert model._fitted.X.shape == (20, 2)
    assert "columns" not in model.report().found


@pytest.mark.parametrize("ask", "predict predict_proba transform score_samples novelty".split())
def test_new_rows_may_vary_and_the_column_is_ignored_with_one_warning(model, ask):
    new = SPREAD[::7].copy()
    expected, messages = said(getattr(model, ask), new)
    assert messages == []
    new[:, 1] = 3.0 * (1.0 + 1e-15)
    assert said(getattr(model, ask), new)[1] == []
    new[:3, 1] = 4.0, 5.0, np.nan
    found, messages = said(getattr(model, ask), new)
    assert [re.fullmatch(CHANGED, text) is not None for text in messages] == [True]
    np.testing.assert_array_equal(found, expected)
    assert len(said(model.score, new)[1]) == 1
    with pytest.warns(ColumnsWarning) as caught:
        getattr(model, ask)(new)
    assert caught[0].filename == __file__


def test_several_columns_may_vary_in_new_rows():
    X = FRAME.assign(c=1.0, d=0.0)
    model, new = fit(X, SHORT), X.copy()
    new.loc[3, ["k", "d"]] = 1.0
    _, messages = said(model.predict, new)
    assert messages == [
        "Columns 'k', 'd' were constant in the fit, and left out: new values are ignored."
    ]


def test_samples_and_imputed_rows_have_all_columns(model):
    rows = model.sample(20, random_state=0)
    assert rows.shape == (20, 3)
    assert (rows[:, 1] == 3.0).all()
    part = fit(ROWS)
    np.testing.assert_array_equal(rows[:, [0, 2]], part.sample(20, random_state=0))
    holes = SPREAD.copy()
    holes[2], holes[3, 0], holes[4, 1], holes[5, 1] = [1.0, np.nan, np.nan], np.nan, 8.0, np.nan
    found, messages = said(model.impute, holes)
    assert len(messages) == 1
    expected = part.impute(holes[:, [0, 2]])
    np.testing.assert_array_equal(found[:, [0, 2]], expected)
    assert found[[2, 3, 4, 5], 1].tolist() == [3.0, 3.0, 8.0, 3.0]  # observed entries stay
    np.testing.assert_array_equal(model.impute(), SPREAD)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_imputed_data_frames(kind):
    X = FRAME.copy()
    X.loc[[3, 5], "k"] = X.loc[3, "a"] = np.nan
    if kind == "polars":
        polars = pytest.importorskip("polars")
        X = polars.from_pandas(X)
    model = fit(X, SHORT, likelihood="nig")
    filled = model.impute(X)
    assert type(filled) is type(X)
    assert list(filled.columns) == ["a", "k", "b"]
    assert set(np.asarray(filled["k"])) == {3.0}
    assert not np.isnan(np.asarray(filled, float)).any()
    assert np.isnan(np.asarray(X["k"], float)).sum() == 2


def test_imputed_rows_of_the_fit_use_their_own_clusters():
    X = SPREAD.copy()
    X[0, 0] = X[0, 1] = np.nan
    model = fit(X)
    np.testing.assert_array_equal(model.impute(), model.impute(X))


def test_mixed_tables(mixed):
    assert list(mixed.feature_names_in_) == ["a", "k", "b", "word", "coin"]
    assert mixed.n_features_in_ == 5
    rows = mixed.sample(9, random_state=0)
    assert list(rows.columns) == list(MIXED.columns)
    assert (rows["k"] == 3.0).all()
    assert set(rows["word"]) <= set(MIXED["word"])
    assert set(rows["coin"]) <= set(MIXED["coin"])
    holes = MIXED.copy()
    holes.loc[0, "k"] = np.nan
    holes.loc[1, "word"] = None
    filled, messages = said(mixed.impute, holes)
    assert messages == []
    assert filled.loc[0, "k"] == 3.0
    assert filled.loc[1, "word"] in ("x", "y", "z")
    holes.loc[0, "k"] = 7.0
    assert said(mixed.predict, holes)[1] == [CHANGED.strip("^$").replace("1", "'k'")]


def test_marginal_and_conditional_densities_use_numbers_of_all_columns(model):
    part = fit(ROWS)
    x = ROWS[:5, 1]
    found, expected = model.marginal(2), part.marginal(1)
    assert found.columns == [2]
    assert repr(found) == "<density of column 2>"
    np.testing.assert_array_equal(found.score_samples(x), expected.score_samples(x))
    found, expected = model.conditional({2: 1.0}), part.conditional({1: 1.0})
    assert (found.columns, found.given) == ([0], [2])
    np.testing.assert_array_equal(found.score_samples(x), expected.score_samples(x))
    chosen = model.conditional({0: 1.0}, 2)
    np.testing.assert_array_equal(chosen.mean(), part.conditional({0: 1.0}, 1).mean())
    assert model.conditional({0: 1.0}).columns == [2]
    for ask in (model.marginal, lambda j: model.conditional({j: 3.0})):
        with pytest.raises(ValueError, match=r"Column 1 was constant in the fit and left out"):
            ask(1)
    with pytest.raises(ValueError, match="Column 1 was constant"):
        model.conditional({0: 1.0}, [1])
    with pytest.raises(ValueError, match="from 0 to 2"):
        model.marginal(3)
    with pytest.raises(ValueError, match="All columns have given values"):
        model.conditional({0: 1.0, 2: 0.0})


def test_marginal_densities_by_name():
    model = fit(FRAME, SHORT)
    assert model.marginal("b").columns == ["b"]
    assert model.marginal(["b", "a"]).sample(3, random_state=0).shape == (3, 2)
    assert model.conditional({"a": 0.0}).columns == ["b"]
    with pytest.raises(ValueError, match="Column 'k' was constant"):
        model.marginal("k")
    with pytest.raises(ValueError, match=r"Unknown column 'c'.*'a', 'k', 'b'"):
        model.marginal("c")


def test_the_report_says_which_columns_the_density_covers(model, mixed):
    assert model.report().found["columns"] == (
        "the density covers columns 0, 2; constant, and so left out: column 1"
    )
    assert "columns 'a', 'b', 'word', 'coin'; constant, and so left out: column 'k'" in str(
        mixed.report()
    )
    many = np.column_stack([np.ones((60, 7)), ROWS])
    assert "left out: columns 0, 1, 2, 3, 4, ..." in str(fit(many, SHORT).report())
    assert "columns" not in fit(ROWS, SHORT).report().found


@pytest.mark.parametrize("likelihood", ["niw", "nig", "columns"])
def test_a_table_of_constants_is_refused(likelihood):
    with pytest.raises(ValueError, match=r"All rows are equal up to rounding \(columns 0, 1\)"):
        fit(np.ones((8, 2)), likelihood=likelihood)
    with pytest.raises(ValueError, match=r"All rows are equal.*'a', 'b'"):
        fit(pd.DataFrame({"a": np.ones(8), "b": 2.0}), likelihood=likelihood)


def test_entirely_missing_columns_are_refused_as_before():
    X = SPREAD.copy()
    X[:, 2] = np.nan
    with pytest.raises(ValueError, match="Column 2 is entirely missing"):
        fit(X)


@pytest.mark.parametrize(
    ("X", "likelihood"),
    [
        ([[1.0, 2.0]], "niw"),
        (SPREAD[:1], "nig"),
        (FRAME[:1], "niw"),
        (FRAME[:1], "columns"),
        (MIXED[:1], "columns"),
        (MIXED[:1], {"a": "nig", "k": "nig", "b": "nig", "word": "categorical", "coin": "nig"}),
        ([["red", 1.0]], "columns"),
        (np.array([["red", 1.0]], object), "columns"),
        (np.ones((1, 2)), "bernoulli"),
        (np.ones((1, 2)), "poisson"),
    ],
)
def test_a_single_row_is_refused(X, likelihood):
    with pytest.raises(ValueError, match="X has 1 sample: at least 2 rows are needed"):
        fit(X, likelihood=likelihood)


def test_errors_name_columns_of_the_whole_table():
    X = np.column_stack([np.ones(12), np.arange(12.0), -np.arange(12.0)])
    parts = {0: "nig", 1: "nig", 2: "poisson"}
    with pytest.raises(ValueError, match="found -1 in column 2"):
        fit(X, likelihood=parts)
    with pytest.raises(ValueError, match="found -1 in column 'n'"):
        fit(pd.DataFrame(X, columns=["one", "w", "n"]), likelihood=parts)
    X[:, 2] *= -1.0
    model = fit(X, SHORT, likelihood=parts)
    X[0, 2] = -1.0
    with pytest.raises(ValueError, match="found -1 in column 2"):
        model.predict(X)
    model = fit(X[1:, [2, 1]], SHORT, likelihood={0: "poisson", 1: "nig"})  # none is left out
    with pytest.raises(ValueError, match="found -1 in column 0"):
        model.predict(X[:, [2, 1]])
    with pytest.raises(ValueError, match="found -1 in column 2"):
        fit(X[1:], SHORT, likelihood={0: "bernoulli", 1: "nig", 2: "poisson"}).predict(X)


def test_partial_fit_uses_the_columns_of_the_first_batch():
    settings = {"sampler": "urn_smc", "n_particles": 20, "likelihood": "nig", "random_state": 0}
    whole, part = DPMixture(**settings), DPMixture(**settings)
    assert len(said(whole.partial_fit, SPREAD[:30])[1]) == 1
    part.partial_fit(ROWS[:30])
    later = SPREAD[30:].copy()
    later[4, 1] = 9.0
    _, messages = said(whole.partial_fit, later)
    assert [re.fullmatch(CHANGED, text) is not None for text in messages] == [True]
    part.partial_fit(ROWS[30:])
    np.testing.assert_array_equal(whole.posterior_.labels, part.posterior_.labels)
    assert whole.predict(SPREAD).shape == (60,)
    assert whole.sample(2).shape == (2, 3)


def test_continued_and_warm_fits():
    model, part = (
        fit(MIXED, likelihood="columns"),
        fit(MIXED.drop(columns="k"), likelihood="columns"),
    )
    for one in (model, part):
        one.continue_fit(10)
    np.testing.assert_array_equal(model.posterior_.labels, part.posterior_.labels)
    assert model.predict(MIXED).shape == (60,)
    assert model.sample(2).shape == (2, 5)
    assert "left out" in str(model.report())
    again = fit(SPREAD, SHORT, warm_start=True)
    before = again.labels_
    said(again.fit, SPREAD)
    assert again.predict(SPREAD).shape == before.shape
    assert fit(ROWS, SHORT, warm_start=True).set_params(n_draws=3).fit(ROWS).n_features_in_ == 2


def test_checkpoints_resume(tmp_path):
    first = fit(checkpoint=tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    other = SPREAD.copy()
    other[:, 1] = 8.0  # the same fit of the other columns
    again = fit(other, checkpoint=tmp_path)
    np.testing.assert_array_equal(first.posterior_.labels, again.posterior_.labels)
    assert len(list(tmp_path.iterdir())) == 1
    assert (again.sample(2)[:, 1] == 8.0).all()


def test_pickled_models_know_the_columns(model):
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.sample(3, random_state=0), model.sample(3, random_state=0))


def test_pictures_show_the_columns_by_their_numbers(model):
    named = fit(FRAME, SHORT)
    display = DensityDisplay.from_estimator(named)
    assert display.names == ("a", "b")
    display = DensityDisplay.from_estimator(model, columns=2)
    assert display.names == ("column 2",)
    np.testing.assert_array_equal(display.data[:, 0], ROWS[:, 1])
    with pytest.raises(ValueError, match="Column 'k' was constant"):
        DensityDisplay.from_estimator(named, columns="k")
    display = ClusterDisplay.from_estimator(named)
    assert display.names == ("a", "b")
    np.testing.assert_array_equal(display.points, ROWS)
    display = ClusterDisplay.from_estimator(named, columns=["k", "b"])
    assert display.names == ("k", "b")
    np.testing.assert_array_equal(display.points[:, 0], SPREAD[:, 1])
