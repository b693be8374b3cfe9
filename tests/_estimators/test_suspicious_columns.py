"""Which columns are not data to cluster by."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bnpcluster import DPMixture
from bnpcluster._estimators.suspicious_columns import Suspicion, suspicious_columns

RNG = np.random.default_rng(0)
N = 30
DAYS = pd.date_range("2025-01-29", periods=N)


def kind(column, name="x"):
    found = suspicious_columns([column], [name])
    return found[0].kind if found else None


@pytest.mark.parametrize(
    "column",
    [
        [f"name {i}" for i in range(N)],
        [f"name {i % 20}" for i in range(N)],
        [f"{i:032x}z" for i in range(N)],
        [None, np.nan, *(f"name {i}" for i in range(N))],
        pd.Series([f"name {i}" for i in range(N)]),
        pd.Series([f"name {i}" for i in range(N)], dtype="string[pyarrow]"),
        pd.Series([pd.NA, *(f"name {i}" for i in range(N))], dtype="string"),
        pl.Series([f"name {i}" for i in range(N)]),
        np.array([f"name {i}" for i in range(N)]),
        RNG.permutation(N) + 500,
        pd.Series(range(N), dtype="Int64"),
    ],
    ids=range(11),
)
def test_identifiers(column):
    assert kind(column) == "identifier"


@pytest.mark.parametrize(
    "name", ["id", "customer_id", "customerId", "CustomerID", "Patient ID", "key", "sample.no"]
)
def test_integers_that_are_called_identifiers(name):
    values = RNG.choice(10**6, N, replace=False)
    assert kind(values, name) == "identifier"
    assert kind(values, "mass") is None
    assert kind(values.astype(float), name) is None
    assert kind(np.repeat(values, 2), name) is None


@pytest.mark.parametrize("name", ["android", "paid", "index_of_refraction", "casino", "liquid"])
def test_names_that_only_end_like_identifiers(name):
    assert kind(RNG.choice(10**6, N, replace=False), name) is None


@pytest.mark.parametrize(
    "form",
    [
        "%Y-%m-%d",
        "%Y-%m",
        "%Y-%m-%dT%H:%M:%S",
        "%Y-%m-%d %H:%M:%S.%f",
        "%Y-%m-%dT%H:%M:%SZ",
        "%Y/%m/%d",
        "%d.%m.%Y",
        "%d. %m. %Y",
        "%d.%m.%y",
        "%m/%d/%Y",
        "%m/%d/%y %I:%M %p",
        "%d %b %Y",
        "%d-%b-%y",
        "%B %d, %Y",
        "%H:%M:%S",
    ],
)
def test_dates(form):
    written = DAYS.strftime(form).tolist()
    assert kind(written) == "dates"
    assert kind(["unknown", *written]) == "dates"


def test_dates_as_numbers():
    assert kind(DAYS.strftime("%Y%m%d").astype(int)) == "dates"
    assert kind(RNG.integers(19000101, 21001231, N)) is None


def test_numbers_as_text():
    numbers = [f"{x:.3f}" for x in RNG.normal(size=N)]
    assert suspicious_columns([[*numbers, "n/a"]]) == [
        Suspicion(0, "numbers", f"contains numbers as text ({numbers[0]!r} and 'n/a')")
    ]
    assert kind([f"{x:.1f}" for x in RNG.integers(2, size=N)]) == "numbers"
    assert kind([f"{1000 + i:,}" for i in range(N)]) == "numbers"
    assert kind([str(i % 5) for i in range(N)]) is None


@pytest.mark.parametrize(
    "column",
    [
        ["a", "b", "c"] * 10,
        [f"city {i % 15}" for i in range(N)],
        [f"name {i}" for i in range(9)],
        [f"name {i}" for i in range(9)] + [None] * 40,
        RNG.normal(size=N),
        np.arange(N) / 2,
        np.arange(N, dtype=float),
        np.arange(N) > 3,
        RNG.choice(10**6, N, replace=False),
        RNG.integers(5, size=N),
        np.arange(N) * 2,
        pd.Series(["a", "b", None] * 10, dtype="category"),
        [1, "a"] * 10,
        [None] * N,
        [],
    ],
    ids=range(15),
)
def test_data(column):
    assert kind(column) is None


def test_columns_are_named_and_numbered():
    columns = [RNG.normal(size=N), [f"name {i}" for i in range(N)], ["a", "b"] * 15, range(N)]
    found = suspicious_columns(columns, ["mass", "name", "group", "row"])
    assert [f.column for f in found] == [1, 3]
    assert found[0].reason == "looks like an identifier (30 different values in 30 rows)"
    assert [f.column for f in suspicious_columns(columns)] == [1, 3]


def test_measurements_with_an_identifier_get_a_warning():
    X = pd.DataFrame({"x": RNG.normal(size=N), "customer_id": np.arange(N) + 500})
    model = DPMixture(n_chains=1, n_draws=5, n_warmup=5, random_state=0)
    with pytest.warns(UserWarning, match=r"^Column 'customer_id' looks like .*: drop it"):
        model.fit(X)
    with pytest.warns(UserWarning, match="customer_id"):
        model.fit(pl.DataFrame(X.to_dict("list")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X.rename(columns={"customer_id": "time"}))  # the name does not say so
        model.fit(X.astype(float))
        model.fit(X.assign(customer_id=np.arange(N) // 2))  # nor do values that repeat
        model.set_params(likelihood={"x": "nig", "customer_id": "nig"}).fit(X)  # on purpose
