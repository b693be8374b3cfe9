"""Mistakes with data, written from the documentation alone, and what the reply must contain."""

import datetime
import io
from decimal import Decimal
from enum import Enum
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse

from bnpcluster import InfiniteRelationalModel
from bnpcluster.likelihoods import Columns
from tests.tools.mistakes import N, X, check, fit, frame, spoilt, table

Size = Enum("Size", ["SMALL", "LARGE"])
DAYS = np.datetime64("2026-01-01") + np.arange(2 * N).reshape(N, 2)
RECORDS = np.array([(1.0, 2.0)] * N, dtype=[("height", float), ("width", float)])
ADATA = SimpleNamespace(X=X, obs=frame(), var=frame(), obsm={"X_umap": X, "X_pca": X}, n_obs=N)


def class_named(name, **attributes):
    """An object of a class with this name, for packages that are not installed here."""
    return type(name, (), attributes)()


@table(
    ("nothing", lambda: fit(None), "X is None"),
    ("name of a file", lambda: fit("data.csv"), "read the file first"),
    ("path", lambda: fit(Path("data.csv")), "pandas.read_csv"),
    ("bytes", lambda: fit(b"1,2\n3,4"), "X is bytes"),
    ("open file", lambda: fit(io.StringIO("1,2")), "read the file first"),
    ("dict of columns", lambda: fit({"a": X[:, 0], "b": X[:, 1]}), "pandas.DataFrame(X)"),
    ("generator", lambda: fit(row for row in X), "list(X)"),
    ("map", lambda: fit(map(list, X)), "list(X)"),
    ("zip", lambda: fit(zip(X[:, 0], X[:, 1], strict=True)), "list(X)"),
    ("set", lambda: fit({1.0, 2.0}), "list(X)"),
    ("function", lambda: fit(len), "a table of numbers"),
    ("number", lambda: fit(3.0), "a table of numbers"),
    ("ragged list", lambda: fit([[1, 2], [3, 4], [5]]), "row 2 has 1 value, but row 0 has 2"),
    ("ragged arrays", lambda: fit([X[0], X[1, :1]]), "row 1 has 1 value, but row 0 has 2"),
    ("rows and a number", lambda: fit([[1, 2], 3]), "row 1 is not a row of values"),
    ("one dimension", lambda: fit(X[:, 0]), "reshape(-1, 1)"),
    ("series", lambda: fit(pd.Series(X[:, 0])), "to_frame()"),
    ("three dimensions", lambda: fit(X[None]), "X.reshape(len(X), -1)"),
    ("empty list", lambda: fit([]), "X has no rows"),
    ("empty frame", lambda: fit(pd.DataFrame()), "X has no columns"),
    ("frame of a header", lambda: fit(frame()[:0]), "X has no rows"),
    ("no columns", lambda: fit(frame()[[]]), "X has no columns"),
    ("empty array", lambda: fit(X[:0]), "X has no rows"),
    ("array without columns", lambda: fit(X[:, :0]), "X has no columns"),
    ("polars without rows", lambda: fit(pl.DataFrame({"a": []})), "X has no rows"),
    ("one row", lambda: fit(X[:1]), "at least 2 rows"),
    ("one row of mixed columns", lambda: fit(frame()[:1], likelihood="columns"), "2 rows"),
    ("infinity", lambda: fit(spoilt(np.inf)), "infinity in row 3, column 1"),
    ("minus infinity", lambda: fit(frame(z=-np.inf)), "infinity in row 0, column 'z'"),
    (
        "infinity in mixed columns",
        lambda: fit(frame(z=[np.inf, *X[1:, 0]]), likelihood="columns"),
        "infinity in row 0, column 'z'",
    ),
    ("huge integer", lambda: fit(spoilt(10**400)), "too large"),
    ("complex numbers", lambda: fit(X + 1j), "complex"),
    ("complex list", lambda: fit([[1, 2j], [3, 4]]), "complex numbers in row 0, column 1;"),
    ("complex frame", lambda: fit(frame(z=X[:, 0] + 1j)), "complex numbers in row 0, column 'z'"),
    ("complex objects", lambda: fit(spoilt(1j)), "complex numbers in row 3, column 1"),
    (
        "complex mixed columns",
        lambda: fit(frame(z=X[:, 0] + 1j, city="Oslo"), likelihood="columns"),
        "complex numbers in row 0, column 'z'",
    ),
    ("text", lambda: fit(spoilt("red")), "X contains text ('red')"),
    ("text in a frame", lambda: fit(frame(city="Oslo")), "or use likelihood='columns'"),
    (
        "column of text",
        lambda: fit(frame(city="Oslo")),
        "Column 'city' of X contains text ('Oslo'): encode",
    ),
    (
        "columns of text",
        lambda: fit(frame(city="Oslo", name="Ole")),
        "Columns 'city' ('Oslo'), 'name' ('Ole') of X contain text: encode",
    ),
    (
        "many columns of text",
        lambda: fit(frame(**{c: "x" for c in "abcdefg"})),
        "'e' ('x'), ... (7 in all) of X contain text",
    ),
    (
        "text in polars",
        lambda: fit(pl.DataFrame({"a": ["x", "y"]})),
        "Column 'a' of X contains text ('x')",
    ),
    ("decimal commas", lambda: fit(frame(z="1,5")), "Column 'z' of X contains numbers with a com"),
    ("list in a cell", lambda: fit(spoilt([1, 2])), "row 3, column 1 of X contains a list"),
    ("range in a cell", lambda: fit(spoilt(range(2))), "row 3, column 1 of X contains a range"),
    (
        "range in a list of rows",
        lambda: fit([[1, 2], [range(2), 3]]),
        "row 1, column 0 of X contains a range",
    ),
    ("text as bytes", lambda: fit(spoilt(b"red")), "X contains text ('red')"),
    (
        "object",
        lambda: fit(spoilt(Size.LARGE)),
        "of the type Size, which is not a number, in row 3",
    ),
    ("missing among objects", lambda: fit(spoilt(pd.NA)), ".astype('Float64')"),
    ("signalling NaN", lambda: fit(spoilt(Decimal("sNaN"))), "signalling NaN in row 3, column 1"),
    (
        "categories without an order",
        lambda: fit(frame(size=[Size.LARGE, Size.SMALL] * (N // 2)), likelihood="columns"),
        "values of the type Size, which have no order: replace them by their names",
    ),
    (
        "list in a cell of mixed columns",
        lambda: fit(frame(z=[[1, 2]] * N), likelihood="columns"),
        "row 0, column 'z' of X contains a list",
    ),
    (
        "same name twice",
        lambda: fit(pd.DataFrame(X, columns=["a", "a"])),
        "several columns named 'a'",
    ),
    (
        "same name twice in mixed columns",
        lambda: fit(pd.DataFrame(X, columns=["a", "a"]), likelihood="columns"),
        "several columns named 'a'",
    ),
    ("names and numbers", lambda: fit(pd.DataFrame(X, columns=["a", 1])), ".astype(str)"),
    (
        "two levels of names",
        lambda: fit(pd.DataFrame(X, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]))),
        "levels",
    ),
    ("lazy frame", lambda: fit(pl.LazyFrame({"a": [1.0, 2.0]})), ".collect()"),
    ("arrow table", lambda: fit(pa.table({"a": X[:, 0]})), ".to_pandas()"),
    ("frame of dask", lambda: fit(class_named("DataFrame", compute=len)), ".compute()"),
    ("structured array", lambda: fit(RECORDS), "pandas.DataFrame(X)"),
    ("records", lambda: fit(RECORDS.view(np.recarray)), "pandas.DataFrame(X)"),
    ("matrix", lambda: fit(np.matrix(X)), "np.asarray(X)"),
    ("sparse matrix", lambda: fit(scipy.sparse.csr_array(X)), ".toarray()"),
    ("dates", lambda: fit(DAYS), "X contains dates or times"),
    ("spans of time", lambda: fit(DAYS - DAYS[0, 0]), "X contains dates or times"),
    ("dates in lists", lambda: fit([[datetime.date(2026, 1, d)] for d in (1, 2)]), "dates"),
    ("periods", lambda: fit(frame(p=pd.period_range("2020", periods=N))), "Column 'p' contains"),
    ("annotated data", lambda: fit(ADATA), 'adata.obsm["X_pca"]'),
    ("annotated data without PCA", lambda: fit(SimpleNamespace(X=X, obs=0, var=0)), "adata.X"),
    ("annotated data, mixed", lambda: fit(ADATA, likelihood="columns"), 'adata.obsm["X_pca"]'),
    (
        "graph",
        lambda: fit(class_named("Graph", nodes=[], edges=[])),
        "InfiniteRelationalModel",
    ),
    ("missing column", lambda: fit(frame(z=np.nan)), "Column 'z' is entirely missing"),
    ("all missing", lambda: fit(np.full((9, 2), np.nan)), "is entirely missing"),
    ("all equal", lambda: fit(np.ones((9, 2))), "All rows are equal"),
)
def test_tables(mistake, fragment):
    check(mistake, fragment)


@table(
    ("two of 0/1", lambda: fit(np.arange(12).reshape(6, 2), likelihood="bernoulli"), "0/1"),
    ("yes and no", lambda: fit([["yes"], ["no"]], likelihood="bernoulli"), "text ('yes')"),
    ("negative counts", lambda: fit(-np.eye(4), likelihood="poisson"), "found -1 in column 0"),
    ("counts of halves", lambda: fit(np.eye(4) / 2, likelihood="poisson"), "0.5"),
    ("negative codes", lambda: fit(-np.eye(4), likelihood="categorical"), "column 0"),
    ("measured codes", lambda: fit(X, likelihood="categorical"), "column 0"),
    (
        "identifier",
        lambda: fit(frame(name=[f"n{i}" for i in range(N)]), likelihood="columns"),
        "Column 'name' looks like an identifier",
    ),
    (
        "number of the customer",
        lambda: fit(frame(customer_id=np.arange(N) ** 2), likelihood="columns"),
        "Column 'customer_id' looks like an identifier",
    ),
    (
        "dates as text",
        lambda: fit(frame(day=[f"2026-01-{d + 1:02}" for d in range(N)]), likelihood="columns"),
        "Column 'day' contains dates or times as text",
    ),
    (
        "numbers as text",
        lambda: fit(frame(z=[f"{x:.4f}" for x in X[:, 0]]), likelihood="columns"),
        "Column 'z' contains numbers as text",
    ),
    (
        "unknown column of a likelihood",
        lambda: fit(frame(), likelihood={"heigth": "nig", "width": "nig"}),
        "Did you mean 'height'",
    ),
    (
        "column without a likelihood",
        lambda: fit(frame(), likelihood={"height": "nig"}),
        "Column 'width' has no likelihood: name one",
    ),
    (
        "text under a likelihood of numbers",
        lambda: fit(frame(c=["a", "b"] * 7), likelihood={"c": "nig", 0: "nig", 1: "nig"}),
        "Column 'c' contains text",
    ),
    (
        "column in two parts",
        lambda: fit(frame(), likelihood=Columns([("nig", [0, 1]), ("niw", ["width"])])),
        "Column 'width' has more than one likelihood",
    ),
    (
        "likelihood of mixed columns within columns",
        lambda: fit(X, likelihood={0: "columns", 1: "nig"}),
        "cannot be a part of Columns",
    ),
    ("no likelihoods", lambda: fit(likelihood={}), "likelihood"),
)
def test_values(mistake, fragment):
    check(mistake, fragment)


def network(data):
    """A short fit of a network."""
    return fit(data, InfiniteRelationalModel)


RING = np.roll(np.eye(6), 1, axis=1)


@table(
    ("list of links", lambda: network([(0, 1), (1, 2), (2, 0)]), "scipy.sparse.coo_array"),
    ("array of links", lambda: network(np.array([(0, 1), (1, 2), (2, 0)])), "coo_array"),
    (
        "frame of links",
        lambda: network(pd.DataFrame({"from": [0, 1], "to": [1, 2], "w": 1})),
        "A.col",
    ),
    ("two links", lambda: network([(0, 1), (1, 2)]), "looks like a list of links"),
    ("links with names", lambda: network([("a", "b"), ("b", "c")]), "looks like a list of links"),
    ("links with weights", lambda: network([(0, 1, 2.5), (1, 2, 1.0), (3, 1, 1)]), "from_edgelist"),
    ("set of links", lambda: network({(0, 1), (1, 2)}), "looks like a list of links"),
    ("more columns than rows", lambda: network(np.zeros((3, 5))), "square adjacency matrix, got"),
    ("dict of neighbours", lambda: network({0: [1], 1: [0]}), "networkx.from_dict_of_lists"),
    ("graph", lambda: network(class_named("Graph", nodes=[], edges=[])), "to_scipy_sparse_array"),
    ("no network", lambda: network(None), "A is None"),
    ("file of links", lambda: network("edges.csv"), "read the file first"),
    ("weights", lambda: network((RING + RING.T) * 0.4), "threshold the weights"),
    ("one direction", lambda: network(RING), "directed=True"),
    ("self-links", lambda: network(np.eye(6)), "self-link at vertex 0"),
    ("words", lambda: network([["a", "b"], ["b", "a"]]), "text"),
    ("infinite link", lambda: network(np.where(RING + RING.T, np.inf, 0)), "only 0 and 1"),
    ("one vertex", lambda: network([[0]]), "at least 2"),
)
def test_networks(mistake, fragment):
    check(mistake, fragment)
