"""What a fit says about values far from all others, and about tables that hide their entries."""

import datetime
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

from bnpcluster import DPMixture
from bnpcluster._core.messages import ColumnsError, ColumnsWarning, in_shell_words
from bnpcluster._fitting.wild_values import check_reach, warn_of_wild_values
from bnpcluster.likelihoods import Columns, NormalInverseGamma, NormalInverseWishart, Poisson

ROWS = np.random.default_rng(0).normal(size=(60, 3))
SHORT = {"n_warmup": 5, "n_draws": 5, "n_chains": 1, "random_state": 0}


def said(X, likelihood, names=("age", "mass", "size")):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_wild_values(X, likelihood, names)
    assert all(issubclass(w.category, ColumnsWarning) for w in caught)
    return [str(w.message) for w in caught]


def with_cells(values):
    X = ROWS.copy()
    for (i, j), value in values.items():
        X[i, j] = value
    return X


@pytest.mark.parametrize("likelihood", [NormalInverseWishart(), NormalInverseGamma()])
def test_mistyped_cells_and_marks_are_named(likelihood):
    assert said(ROWS, likelihood) == []
    far = "more than 50 robust standard deviations from the median"
    assert said(with_cells({(3, 1): 1e4}), likelihood) == [
        f"Column 'mass': 1 value (10000) is {far}. Is it mistyped?"
    ]
    assert said(with_cells({(3, 0): 1e4, (5, 0): -2e4}), likelihood) == [
        f"Column 'age': 2 values are {far}. Are they mistyped?"
    ]
    marked = with_cells({(i, 2): -999.0 for i in range(6)})
    assert said(marked, likelihood) == [
        f"Column 'size': 6 values are -999, {far}. If this marks missing values, replace it by NaN."
    ]


def test_all_columns_are_in_one_warning():
    (text,) = said(with_cells({(3, 1): 1e4, (4, 2): 1e5}), NormalInverseGamma())
    assert text.startswith("Column 'mass': 1 value (10000) is more than 50")
    assert "Is it mistyped? Column 'size': 1 value (100000) is more than" in text
    many = np.tile(ROWS, 3)
    many[3] = 1e6
    (text,) = said(many, NormalInverseGamma(), [f"c{j}" for j in range(9)])
    assert text.count("Column 'c") == 5
    assert text.endswith("Is it mistyped? So have 4 other columns.")


def test_names_may_come_later():
    """On the command line the columns of an array get their names after the fit."""
    X = with_cells({(3, 1): 1e4, (4, 2): 1e5})
    with pytest.warns(ColumnsWarning) as caught:
        warn_of_wild_values(X, NormalInverseGamma(), None)
    early = pickle.loads(pickle.dumps(caught[0].message))
    assert str(early).startswith("Column 1: 1 value")
    marked = with_cells({(i, 2): -999.0 for i in range(6)})
    with pytest.warns(ColumnsWarning) as caught:
        warn_of_wild_values(marked, NormalInverseGamma(), None)
    shell = in_shell_words(caught[0].message.renamed(["age", "mass", "size"]))
    assert shell.startswith("Column 'size': 6 values are -999")
    assert shell.endswith("If this marks missing values, add --missing -999.")
    late = str(early.renamed(["age", "mass", "size"]))
    assert late.startswith("Column 'mass': 1 value")
    assert "Column 'size': 1 value" in late


def test_new_rows_out_of_all_reach_are_refused():
    with pytest.raises(ColumnsError, match=r"The value 1e\+300 is too large .* in column 1"):
        check_reach(ROWS, with_cells({(3, 1): 1e300}), NormalInverseWishart())
    check_reach(ROWS, with_cells({(3, 1): np.nan, (4, 0): 1e30}), NormalInverseWishart())
    check_reach(ROWS, with_cells({(3, 1): 1e300}), Poisson())


def test_only_columns_of_measurements_are_judged():
    X = np.abs(np.round(ROWS))
    X[3, 0] = X[4, 2] = 1e6
    assert said(X, Poisson()) == []
    parts = Columns([(Poisson(), [0, 1]), (NormalInverseGamma(), [2])]).resolved(
        list("abc"), ["number"] * 3, X
    )
    assert [text[:14] for text in said(X, parts)] == ["Column 'size':"]


def test_a_fit_says_it_and_goes_on():
    X = with_cells({(3, 1): 1e5})
    model = DPMixture(likelihood="nig", **SHORT)
    with pytest.warns(ColumnsWarning, match=r"Column 1: 1 value \(100000\) is more than 50"):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Too few|.*effective|The halves")
            model.fit(X)
    assert len(model.labels_) == 60


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_masked_entries_are_missing():
    X = np.ma.masked_array(ROWS.copy(), mask=np.zeros(ROWS.shape, bool))
    X.data[:2, 0] = 1e6
    X.mask[:2, 0] = True
    model = DPMixture(likelihood="nig", **SHORT).fit(X)
    assert np.isnan(model._fitted.X).sum() == 2
    holed = ROWS.copy()
    holed[:2, 0] = np.nan
    np.testing.assert_array_equal(model.score_samples(X), model.score_samples(holed))


@pytest.mark.parametrize(
    "X",
    [
        np.arange(10).astype("datetime64[D]")[:, None],
        np.arange(10).astype("timedelta64[s]")[:, None],
        [[datetime.date(2020, 1, day), 1.0] for day in range(1, 9)],
        [[None, 1.0], *([datetime.date(2020, 1, day), 1.0] for day in range(1, 9))],
    ],
)
def test_arrays_of_dates_are_refused(X):
    with pytest.raises(ValueError, match="X contains dates or times: convert them to numbers"):
        DPMixture(**SHORT).fit(X)


def test_large_counts_are_refused_as_large():
    X = np.array([[2937130000.0], [3.0], [5.0]])
    with pytest.raises(ValueError, match=r"counts up to 1,073,741,824, found 2\.93713e\+09"):
        DPMixture(likelihood="poisson", **SHORT).fit(X)


@pytest.mark.parametrize(
    "cell", [datetime.date(2020, 1, 3), datetime.time(3), np.datetime64("now")]
)
def test_frames_with_columns_of_dates_as_objects_are_refused(cell):
    """They would be categories, nearly one for each row."""
    table = pd.DataFrame({"mass": ROWS[:, 0], "day": pd.Series([None, *[cell] * 59], dtype=object)})
    with pytest.raises(ValueError, match="Column 'day' contains dates or times: drop it"):
        DPMixture(likelihood="columns", **SHORT).fit(table)
