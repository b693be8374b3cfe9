"""Mixed columns and missing entries, through the estimators."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from sklearn.base import clone
from sklearn.compose import make_column_selector
from sklearn.model_selection import GridSearchCV

from bnpcluster import DPMixture
from bnpcluster._core import operations as ops
from bnpcluster.likelihoods import (
    Bernoulli,
    Categorical,
    Columns,
    Likelihood,
    NormalInverseGamma,
    NormalInverseWishart,
    Relational,
)
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import Gibbs
from bnpcluster.testing import check_likelihood, check_sampler
from tests._predict.test_predictive import against_enumeration

JITTED = hasattr(__import__("bnpcluster.samplers.gibbs", fromlist=["sweep"]).sweep, "py_func")
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = {"sampler": "gibbs", "n_draws": 20, "n_warmup": 20, "n_chains": 2, "random_state": 0}
RNG = np.random.default_rng(0)
GROUPS = np.repeat([0, 1], 15)


@pytest.fixture(scope="module")
def frame():
    """Two groups, seen in four kinds of columns; two entries are missing."""
    table = pd.DataFrame(
        {
            "age": RNG.normal(GROUPS * 5.0, 1.0),
            "city": np.where(RNG.random(30) < 0.9, np.array(["Oslo", "Rome"])[GROUPS], "Bern"),
            "ill": RNG.random(30) < 0.2 + 0.6 * GROUPS,
            "visits": RNG.poisson(1 + 9 * GROUPS),
        }
    )
    table.loc[3, "age"] = np.nan
    table.loc[20, "city"] = None
    return table


PARTS = {"age": "nig", "city": "categorical", "ill": "bernoulli", "visits": "poisson"}


@pytest.fixture(scope="module")
def model(frame):
    return DPMixture(likelihood=PARTS, **QUICK).fit(frame)


def encoded(frame):
    """The frame as numbers, encoded by hand."""
    cities = {"Bern": 0.0, "Oslo": 1.0, "Rome": 2.0, None: np.nan}
    columns = [frame.age, frame.city.astype(object).map(cities), frame.ill, frame.visits]
    return np.column_stack([np.asarray(column, float) for column in columns])


LISTED = [("nig", 0), ("categorical", 1), ("bernoulli", 2), ("poisson", 3)]


def read(likelihood, table):
    """The parts and the numbers that a table amounts to in a fit, without the fit."""
    model = DPMixture(likelihood=likelihood)
    X, resolved, _ = model._read_rows(table, model._likelihood())
    return [(repr(part), numbers) for part, numbers in resolved.parts], X


def assert_same(one, two):
    assert one[0] == two[0]
    np.testing.assert_array_equal(one[1], two[1])


def same_draws(one, two):
    return np.array_equal(one.posterior_.labels, two.posterior_.labels)


def test_groups_are_found(model):
    assert np.mean(model.labels_ == GROUPS) > 0.9


def test_a_frame_is_its_codes(frame, model):
    X = encoded(frame)
    plain = DPMixture(likelihood=Columns(LISTED), **QUICK).fit(X)
    assert same_draws(model, plain)
    assert list(model.feature_names_in_) == list(frame.columns)
    np.testing.assert_array_equal(model.score_samples(frame), plain.score_samples(X))


@pytest.mark.parametrize(
    "table",
    [
        lambda frame: pl.from_pandas(frame),
        lambda frame: pl.from_pandas(frame).with_columns(pl.col("city").cast(pl.Categorical)),
        lambda frame: frame.astype({"city": "category"}),
        lambda frame: frame.convert_dtypes(),
    ],
)
def test_all_kinds_of_frames_are_read_alike(frame, model, table):
    assert_same(read(PARTS, table(frame)), read(PARTS, frame))
    np.testing.assert_array_equal(model.predict(frame), model.predict(table(frame)))


def test_arrays_of_objects_and_lists(frame):
    np.testing.assert_array_equal(read(PARTS, frame)[1], encoded(frame))
    for table in (frame.to_numpy(object), frame.to_numpy(object).tolist()):
        assert_same(read(Columns(LISTED), table), read(PARTS, frame))


@pytest.mark.parametrize(
    "parts",
    [
        [("nig", "age"), ("categorical", ["city"]), ("bernoulli", [2]), ("poisson", -1)],
        [("nig", slice(0, 1)), ("categorical", slice("city", "city")), *LISTED[2:]],
        [("nig", [True, False, False, False]), *LISTED[1:]],
        [
            ("nig", make_column_selector(dtype_include="float")),
            ("categorical", make_column_selector(pattern="city")),
            ("bernoulli", make_column_selector(dtype_include=bool)),
            ("poisson", lambda table: ["visits"]),
        ],
    ],
)
def test_columns_are_chosen_in_many_ways(frame, parts):
    assert_same(read(Columns(parts), frame), read(PARTS, frame))


def chosen(parts, table):
    """A summary of the parts."""
    return [(likelihood.split("(")[0], numbers) for likelihood, numbers in read(parts, table)[0]]


def test_automatic_choice_goes_by_types(frame):
    flags = frame.assign(flag=GROUPS, age2=frame.age)
    expected = [
        ("NormalInverseGamma", [0, 3, 5]),
        ("Categorical", [1]),
        ("Bernoulli", [2, 4]),
    ]
    assert chosen("columns", flags) == expected
    assert chosen(Columns(), pl.from_pandas(flags)) == expected
    assert chosen("columns", encoded(frame)) == [("NormalInverseGamma", [0, 1, 2, 3])]


def test_a_dict_groups_columns_of_one_name(frame):
    parts = {"ill": "bernoulli", "age": "nig", "visits": "nig", "city": Categorical()}
    assert chosen(parts, frame) == [
        ("Bernoulli", [2]),
        ("NormalInverseGamma", [0, 3]),
        ("Categorical", [1]),
    ]


def test_a_single_part_may_reorder_columns(frame):
    X = encoded(frame)[:, [0, 3]]
    one = DPMixture(likelihood=Columns([("nig", [1, 0])]), **QUICK).fit(X)
    other = DPMixture(likelihood="nig", **QUICK).fit(X[:, [1, 0]])
    assert same_draws(one, other)
    np.testing.assert_array_equal(one.sample(3, 1)[:, [1, 0]], other.sample(3, 1))


def test_the_density_is_the_product_of_the_parts(frame):
    X = encoded(frame)
    likelihood = Columns([("bernoulli", 2), ("nig", [3, 0]), ("categorical", 1)])
    bound = likelihood.bind(X, 4)
    parts = [
        likelihood.bind(X[:, j], 4)
        for likelihood, j in (
            (Bernoulli(), [2]),
            (NormalInverseGamma(), [3, 0]),
            (Categorical(), [1]),
        )
    ]
    for data in (bound, *parts):
        ops.clear(data, 0)
        for i in range(12):
            ops.add(data, 0, i)
    for operation, arguments in (
        (ops.log_predictive, (0, 20)),
        (ops.log_predictive_without, (0, 4)),
        (ops.log_marginal, (0,)),
    ):
        total = sum(operation(part, *arguments) for part in parts)
        assert operation(bound, *arguments) == pytest.approx(total, rel=1e-12)
    expected = np.column_stack(
        [
            likelihood.features(X[:, [j]])
            for likelihood, j in zip(
                (Bernoulli(), NormalInverseGamma(), Categorical()), (2, 3, 1), strict=True
            )
        ]
    )
    features = likelihood.features(X)
    assert features.shape[1] == expected.shape[1] + 1
    np.testing.assert_array_equal(features[:, :2], expected[:, :2])


def test_three_parts_with_missing_entries_keep_the_contract_and_the_posterior():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=6), rng.integers(2, size=6), rng.poisson(3.0, size=6)])
    X[[0, 2, 3, 5, 5], [1, 0, 2, 0, 1]] = np.nan
    likelihood = Columns([("poisson", [2]), ("nig", [0]), ("bernoulli", [1])])
    check_likelihood(likelihood, X)
    size = 10_000 if JITTED else 300
    check_sampler(Gibbs(), likelihood, DirichletProcess(1.0), X[:5], n_replicates=size)
    against_enumeration(likelihood.frozen(X), DirichletProcess(1.0), X)


def test_coordinates_are_those_of_the_parts():
    X = RNG.normal(size=(8, 5))
    X[:, 2] = RNG.integers(2, size=8)
    bound = Columns([("nig", [0, 4]), ("bernoulli", 2), ("nig", [1, 3])]).bind(X, 4)
    parts = [NormalInverseGamma().bind(X[:, j], 4) for j in ([0, 4], [1, 3])]
    assert ops.n_coordinates(bound) == 4
    for d in range(4):
        assert ops.coordinate(bound, 3, d) == ops.coordinate(parts[d // 2], 3, d % 2)
    for data in (bound, *parts):
        ops.clear(data, 0)
        ops.add(data, 0, 5)
    v = np.arange(1.0, 5.0)
    w = v.copy()
    ops.whiten(bound, 0, v)
    for part, piece in zip(parts, (w[:2], w[2:]), strict=True):
        ops.whiten(part, 0, piece)
    np.testing.assert_array_equal(v, w)


def test_samples_have_the_columns_in_their_places(model):
    rows = model.sample(200, random_state=0)
    assert list(rows.columns) == ["age", "city", "ill", "visits"]
    assert set(rows["city"]) <= {"Bern", "Oslo", "Rome"}
    assert set(rows["ill"]) == {False, True}
    assert (rows["visits"] == np.floor(rows["visits"])).all()
    assert (rows["age"] != np.floor(rows["age"])).all()


def test_grid_search_over_parts(frame):
    X = encoded(frame)[:, [0, 2]]
    X[3, 0] = 0.0
    likelihood = Columns([(NormalInverseGamma(), 0), (Bernoulli(), 1)])
    grid = {
        "likelihood__0__kappa": [0.01, 1.0],
        "likelihood__1__a": [0.5],
        "likelihood__0": [NormalInverseGamma(shape=2.0)],
    }
    estimator = DPMixture(likelihood=likelihood, **QUICK)
    search = GridSearchCV(estimator, grid, cv=2).fit(X[::2])
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    best = search.best_estimator_.likelihood
    assert best.parts[0][0].shape == 2.0
    assert best.parts[0][0].kappa == search.best_params_["likelihood__0__kappa"]
    assert best.parts[1][0].a == 0.5
    assert likelihood.parts[0][0].kappa == "auto"  # the one that was given is untouched


def test_clone_pickle_and_skops(frame, model):
    assert repr(clone(model)) == repr(model)
    again = pickle.loads(pickle.dumps(model))
    data = skops.io.dumps(model)
    loaded = skops.io.loads(data, trusted=skops.io.get_untrusted_types(data=data))
    for other in (again, loaded):
        np.testing.assert_array_equal(other.predict(frame), model.predict(frame))


def test_partial_fit_and_particles(frame):
    X = encoded(frame)[:, [0, 2]]
    likelihood = Columns([("nig", 0), ("bernoulli", 1)])
    particles = {"sampler": "urn_smc", "n_particles": 30}
    model = DPMixture(likelihood=likelihood, **{**QUICK, **particles})
    model.partial_fit(X[::2]).partial_fit(X[1::2])
    assert model.labels_.shape == (30,)
    assert np.isfinite(model.log_evidence_)


def test_rows_may_lack_entries_in_prediction_alone(frame):
    """The marginal of what is observed, from a fit to complete rows."""
    complete = frame.dropna()[["age", "ill"]]
    model = DPMixture(likelihood="columns", **QUICK).fit(complete)
    some = complete.head(3).astype({"ill": object})
    some.loc[some.index[0], ["age"]] = np.nan
    some.loc[some.index[1], ["age", "ill"]] = None
    log_density = model.score_samples(some)
    full = model.score_samples(complete.head(3))
    assert log_density[0] > full[0]
    assert log_density[1] == pytest.approx(0.0, abs=1e-12)
    assert log_density[2] == pytest.approx(full[2], rel=1e-12)
    assert model.predict_proba(some).shape == (3, model.n_clusters_)


def test_a_complete_row_is_judged_alike_beside_others(frame, model):
    rows = encoded(frame)[:6]
    assert np.isnan(rows).any()
    together = model.score_samples(frame.head(6))
    alone = np.concatenate([model.score_samples(frame.iloc[[i]]) for i in range(6)])
    np.testing.assert_allclose(together, alone, rtol=1e-12)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"age": "nig"}, "Each of the columns 'city', 'ill', 'visits' has no likelihood"),
        ([("nig", [0, 0]), *LISTED[1:]], "Column 'age' has more than one likelihood: name one"),
        ([("nig", "aged"), *LISTED[1:]], "Unknown column 'aged'. Did you mean 'age'"),
        ([("nig", 7), *LISTED[1:]], "Column 7 was selected, but X has 4 columns"),
        ([("nig", [True]), *LISTED[1:]], "mask of columns has 1 entries, but X has 4"),
        ([("nig", 0.5), *LISTED[1:]], "by index, name"),
        ([("nig", [0.5]), *LISTED[1:]], "by index, name"),
        ([("nigg", 0), *LISTED[1:]], "Unknown likelihood 'nigg'. Did you mean 'nig'"),
        ([("nig", [0, 1]), *LISTED[2:]], "Column 'city' contains text, which NormalInverseGamma"),
        (["nig"], r"must be \(likelihood, columns\)"),
        ([], "parts of Columns must be"),
        (3, "parts of Columns must be"),
        ([(Relational(), 0), *LISTED[1:]], r"Relational\(\) is a likelihood for networks"),
    ],
)
def test_bad_parts_get_one_sentence(frame, parts, message):
    with pytest.raises((ValueError, TypeError), match=message) as error:
        DPMixture(likelihood=Columns(parts), **QUICK).fit(frame)
    assert str(error.value).count("\n") == 0


def test_names_need_a_frame(frame):
    with pytest.raises(ValueError, match="'age' was selected, but X has no column names"):
        DPMixture(likelihood=PARTS, **QUICK).fit(encoded(frame))


def test_unknown_categories_and_changed_columns_get_one_sentence(frame, model):
    with pytest.raises(ValueError, match=r"Column 'city' contains 'Paris', a category.*missing"):
        model.predict(frame.assign(city="Paris"))
    with pytest.raises(ValueError, match=r"Column 'age' contains 'old', but it contained"):
        model.predict(frame.assign(age="old"))
    with pytest.raises(ValueError, match="another order than in the fit"):
        model.predict(frame[["city", "age", "ill", "visits"]])
    with pytest.raises(ValueError, match="dates or times"):
        DPMixture(likelihood="columns").fit(frame.assign(age=pd.Timestamp("2020-01-01")))
    with pytest.raises(ValueError, match=r"Column 'age' is entirely missing"):
        DPMixture(likelihood="columns").fit(frame.assign(age=np.nan))


class Bare(Likelihood):
    """A likelihood without the operations for columns, which does not accept NaN."""

    def bind(self, X, capacity=16):
        return (X,)


def test_likelihoods_that_cannot_take_part_get_one_sentence(frame):
    X = encoded(frame)[:, [2, 3]]
    with pytest.raises(TypeError, match="Columns does not accept tuple: it has no operation clear"):
        DPMixture(likelihood=Columns([("nig", 0), (Bare(), 1)]), **QUICK).fit(X)
    X[4, 0] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN, which Bare cannot take.*'nig'"):
        DPMixture(likelihood=Bare(), **QUICK).fit(X)


@pytest.mark.parametrize(
    ("likelihood", "allowed"),
    [
        ("nig", True),
        ("poisson", True),
        ("columns", True),
        ({0: "nig"}, True),
        (Columns([("nig", 0), (Bare(), 1)]), False),
        (Bare(), False),
        ("nonsense", False),
    ],
)
def test_tags_are_truthful(likelihood, allowed):
    tags = DPMixture(likelihood=likelihood).__sklearn_tags__()
    assert tags.input_tags.allow_nan is allowed


def test_gaussians_with_covariances_are_parts_like_others(frame):
    X = np.column_stack([encoded(frame)[:, [2, 3]], RNG.normal(size=(30, 2))])
    likelihood = NormalInverseWishart(kappa=0.5)
    bound, part = (
        Columns([("bernoulli", [0]), (likelihood, [1, 2, 3])]).bind(X, 4),
        likelihood.bind(X[:, 1:], 4),
    )
    coins = Bernoulli().bind(X[:, :1], 4)
    for data in (bound, part, coins):
        ops.clear(data, 0)
    total = ops.log_predictive(part, 0, 3) + ops.log_predictive(coins, 0, 3)
    assert ops.log_predictive(bound, 0, 3) == pytest.approx(total, rel=1e-12)
