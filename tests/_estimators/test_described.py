"""What clusters are: the columns that tell them apart, the table, and lines of the report."""

import builtins

import numpy as np
import pytest
from scipy import stats

from bnpcluster import DPMixture
from bnpcluster._estimators.columns_of_clusters import Column
from bnpcluster._estimators.description import Description, in_words, typical_rows
from bnpcluster._estimators.table import Table

RNG = np.random.default_rng(3)
QUICK = {"n_chains": 1, "n_draws": 30, "n_warmup": 30, "random_state": 0}
LABELS = np.repeat([0, 1, 2], [40, 30, 20])


def column(kind, centre, spread=None, categories=None, name="x"):
    centre = np.asarray(centre, float)
    spread = None if spread is None else np.asarray(spread, float)
    return Column(name, kind, centre, centre - 0.1, centre + 0.1, spread, categories)


def told_by_simulation(w, draw, log_density, c, n=200_000):
    """The share that a column tells of being in cluster c, from simulated values."""
    rng = np.random.default_rng(0)
    k = rng.choice(len(w), n, p=w)
    x = draw(rng, k)
    p = np.exp(log_density(x)) * w
    chance = (p / p.sum(axis=1, keepdims=True))[:, c]
    after = stats.entropy([chance, 1 - chance], axis=0).mean()
    return 1 - after / stats.entropy([w[c], 1 - w[c]])


WEIGHTS = np.array([0.5, 0.3, 0.2])


def test_what_a_normal_column_tells():
    mean, sd = np.array([0.0, 1.0, 4.0]), np.array([1.0, 0.5, 2.0])
    found = column("mean", mean, sd).tells(WEIGHTS)
    for c in range(3):
        expected = told_by_simulation(
            WEIGHTS,
            lambda rng, k: rng.normal(mean[k], sd[k]),
            lambda x: stats.norm.logpdf(x[:, None], mean, sd),
            c,
        )
        assert found[c] == pytest.approx(expected, abs=0.01)


def test_what_counts_tell():
    rate = np.array([1.0, 3.0, 40.0])
    found = column("rate", rate).tells(WEIGHTS)
    for c in range(3):
        expected = told_by_simulation(
            WEIGHTS,
            lambda rng, k: rng.poisson(rate[k]),
            lambda x: stats.poisson.logpmf(x[:, None], rate),
            c,
        )
        assert found[c] == pytest.approx(expected, abs=0.01)


def test_large_counts_are_told_by_intervals():
    rate = np.array([1e5, 1.02e5, 1e5])
    found = column("rate", rate).tells(WEIGHTS)
    normal = column("mean", rate, np.sqrt(rate)).tells(WEIGHTS)
    np.testing.assert_allclose(found, normal, atol=0.05)


def test_what_categories_and_binary_values_tell():
    p = np.array([0.9, 0.2, 0.5])
    both = np.column_stack([1 - p, p])
    binary = column("probability", p).tells(WEIGHTS)
    np.testing.assert_allclose(
        column("categories", both, categories=["a", "b"]).tells(WEIGHTS), binary
    )
    joint = WEIGHTS[:, None] * both
    for c in range(3):
        table = np.array([joint[c], joint.sum(axis=0) - joint[c]])
        told = stats.entropy(table.ravel(), np.outer(table.sum(1), table.sum(0)).ravel())
        assert binary[c] == pytest.approx(told / stats.entropy(table.sum(axis=1)))


def test_equal_columns_tell_nothing_and_separate_ones_all():
    same = column("mean", [2.0, 2, 2], [1.0, 1, 1]).tells(WEIGHTS)
    np.testing.assert_allclose(same, 0.0, atol=1e-12)
    apart = column("mean", [0.0, 100, 200], [1.0, 1, 1]).tells(WEIGHTS)
    np.testing.assert_allclose(apart, 1.0, atol=1e-12)
    never = column("categories", [[1.0, 0, 0], [0, 1, 0], [0, 0, 1]], categories="abc")
    np.testing.assert_allclose(never.tells(WEIGHTS), 1.0)
    assert np.isnan(column("mean", [0.0], [1.0]).tells(np.ones(1))).all()


def test_values_in_words():
    words = column("categories", [[0.06, 0.9, 0.04]], categories=["red", "blue", "green"])
    assert in_words(words, 0) == "blue 0.90, red 0.06"
    assert in_words(column("mean", [1234.5], [20.0]), 0) == "1234 +- 20"
    assert in_words(column("rate", [3.0]), 0) == "3 (2.9 to 3.1) on average"


def test_typical_rows_are_those_of_the_highest_score():
    labels, score = np.array([0, 0, 1, 0, -1, 1]), np.array([1.0, 3, 0, 2, 9, 1])
    assert typical_rows(labels, score, None) == [[1, 3, 0], [5, 2]]
    assert typical_rows(labels, score, list("abcdef")) == [["b", "d", "a"], ["f", "c"]]


def test_rows_with_holes_are_typical_only_if_there_are_no_others():
    labels, score = np.array([0, 0, 1, 0, 0]), np.array([9.0, 1, 0, 2, 3])
    assert typical_rows(labels, score, None, np.array([1, 0, 2, 0, 0])) == [[4, 3, 1], [2]]
    X = np.column_stack([RNG.normal(size=40), RNG.normal(size=40)])
    X[:20, 1] = np.nan
    model = DPMixture(likelihood="nig", **QUICK).fit(X)
    rows = [int(i) for i in model.describe()["typical_rows"][0].split(", ")]
    assert min(rows) >= 20


@pytest.fixture(scope="module")
def planted():
    """Three groups that differ in one column of each kind; the other columns are noise."""
    pandas = pytest.importorskip("pandas")
    n = len(LABELS)
    table = pandas.DataFrame(
        {
            "noise": RNG.normal(size=n),
            "length": RNG.normal(size=n) + np.array([0.0, 8.0, 8.0])[LABELS],
            "visits": RNG.poisson(np.array([3.0, 3.0, 60.0])[LABELS]).astype(float),
            "town": np.where(RNG.random(n) < 0.5, "Ulm", "Bonn"),
        },
        index=[f"row {i}" for i in range(n)],
    )
    model = DPMixture(likelihood="columns", **QUICK).fit(table)
    assert model.n_clusters_ == 3
    return table, model


def test_the_table_names_the_planted_columns(planted):
    table, model = planted
    found = model.describe()
    assert found["size"].tolist() == [40, 30, 20] and found.index.name == "cluster"
    assert found["told_by"][0].startswith("length") and found["told_by"][2].startswith("visits")
    assert not found["told_by"].str.contains("noise|town").any()
    assert (found["share_low"] < found["share"]).all()
    assert (found["share"] < found["share_high"]).all()
    for name in ("noise", "length", "visits"):
        inside = table.groupby(model.labels_)[name]
        np.testing.assert_allclose(found[name], inside.mean(), atol=2.0)
        assert ((found[f"{name}_low"] < found[name]) & (found[name] < found[f"{name}_high"])).all()
        np.testing.assert_allclose(found[f"{name}_spread"], inside.std(), rtol=0.5)
    assert "Ulm 0." in found["town"][0] and "Bonn 0." in found["town"][0]
    assert (found["certainty"] > 0.95).all()
    rows = [name.strip() for name in found["typical_rows"][1].split(",")]
    assert (model.labels_[[table.index.get_loc(name) for name in rows]] == 1).all()


def test_the_report_has_a_line_for_every_cluster(planted):
    _, model = planted
    text = str(model.report())
    assert "cluster 0  40 rows, share" in text and "told apart by length" in text
    assert "cluster 2" in text and "cluster 3" not in text


def test_many_clusters_are_cut_in_the_report(planted, monkeypatch):
    _, model = planted
    monkeypatch.setattr("bnpcluster._estimators.description.MOST_LINES", 1)
    text = str(model.report())
    assert "2 more: see describe()" in text and "cluster 1" not in text


def test_without_pandas_there_is_a_table_that_prints(planted, monkeypatch):
    _, model = planted
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "pandas":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    found = model.describe()
    assert isinstance(found, Table) and found["size"] == [40, 30, 20]
    assert "told_by" in str(found) and "<th>length</th>" in found.to_html()


def test_a_table_as_text_and_html():
    table = Table("cluster", [0, 1], {"a<b": [0.123456, 2.0], "text": ["x, y", 'say "z"']})
    assert table.to_csv() == 'cluster,a<b,text\n0,0.1235,"x, y"\n1,2,"say ""z"""\n'
    assert str(table).splitlines()[0] == "cluster       0        1"
    assert "a&lt;b" in table.to_html() and "<b>" not in table._repr_html_()


def test_rows_in_no_cluster_are_left_out_of_the_table():
    X = np.concatenate([RNG.normal(size=(40, 1)), RNG.normal(size=(3, 1)) + 30])
    model = DPMixture(min_cluster_size=10, **QUICK).fit(X)
    assert model.describe()["size"].tolist() == [40]
    assert model.describe()["told_by"].tolist() == [""]


def test_every_kind_of_data_is_described():
    z = np.repeat([0, 1], 20)
    reads = np.column_stack(
        [*RNG.binomial(60, [0.9 - 0.6 * z, 0.1 + 0.6 * z]), 2 + 0 * z, 2 + 0 * z, 1 + 0 * z]
    )
    reads = np.column_stack([reads, np.ones(40)]).astype(float)
    for likelihood, X in (
        ("bernoulli", RNG.random((40, 2)) < 0.1 + 0.8 * z[:, None]),
        ("categorical", (RNG.random((40, 2)) < 0.1 + 0.8 * z[:, None]) * 2),
        ("poisson", RNG.poisson(2 + 30 * z[:, None], size=(40, 2))),
        ("nig", RNG.normal(size=(40, 2)) + 6 * z[:, None]),
        ("pyclone", reads),
    ):
        model = DPMixture(likelihood=likelihood, **QUICK).fit(X)
        found = model.describe()
        assert found["size"].sum() == 40
        assert isinstance(model._description().lines()["cluster 0"], str)


def test_a_description_says_only_what_tells():
    columns = [column("mean", [0.0, 9], [1.0, 1], name="a"), column("rate", [3.0, 3], name="b")]
    told = np.array([c.tells(np.array([0.5, 0.5])) for c in columns]).T
    ends = np.array([0.4, 0.4]), np.array([0.5, 0.5]), np.array([0.6, 0.6])
    found = Description(
        np.array([5, 1]), ends[1], ends[0], ends[2], np.ones(2), columns, told, [[], []]
    )
    assert found.lines()["cluster 1"] == (
        "1 row, share 50 % (40 to 60), certainty 1.00; told apart by a 9 +- 1"
    )
