"""Hostile fits and calls: what they are drawn from, and what the replies may be.

There are three classes of replies. A result is consistent, or the call is refused in one sentence
that this package or the validation of scikit-learn raises. Anything else is a failure.
"""

from __future__ import annotations

import inspect
import traceback
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import strategies as st

import bnpcluster
from bnpcluster import mixtures
from bnpcluster.likelihoods import Categorical, NormalInverseGamma, NormalInverseWishart, Poisson

CONSISTENT, REFUSED = "consistent", "refused"
KINDS = (ValueError, TypeError, AttributeError, IndexError, KeyError, MemoryError)
LONGEST = 700  # characters of a refusal; scikit-learn shows some data in its own
OURS = (str(Path(bnpcluster.__file__).parent), "sklearn/utils", "sklearn/base")


class Unkind(AssertionError):
    """A reply of the third class."""


FLOATS = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 0.5, 2.0, 3.0, 1e-12]),
    st.floats(-5, 5, width=32),
    st.sampled_from([np.nan] * 4 + [np.inf, -np.inf, 1e300, -1e300, 1e155, 5e-324, 1e16, -999.0]),
)
TAME = st.floats(-5, 5, width=32)
COUNTS = st.integers(0, 4).map(float)
WORDS = st.sampled_from(["a", "b", "c", "", " ", "1,5", "2026-01-03", "nan", "é", None])
ODD = st.sampled_from(
    [None, "x", "", -1, 0, 2, 2.5, np.nan, np.inf, True, (), [], {}, b"x", 10**400]
)
CELLS = [TAME, TAME, FLOATS, COUNTS, COUNTS, WORDS, st.booleans(), st.integers(-2, 10**12), ODD]


@st.composite
def tables(draw, width=None):
    """A table, mostly of sound values, in one of many containers."""
    n = draw(st.sampled_from([8, 12, 2, 3, 5, 8, 12, 12, 12, 1, 0]))
    d = draw(st.sampled_from([2, 1, 2, 2, 1, 3, 2, 0])) if width is None else width
    is_sound = draw(st.integers(0, 2)) < 2
    cells = [TAME, COUNTS, st.booleans(), st.sampled_from(["a", "b"])] if is_sound else CELLS
    kinds = [draw(st.sampled_from(cells)) for _ in range(d)]
    if d and draw(st.integers(0, 2)) < 2:
        kinds = [kinds[0]] * d
    columns = [draw(st.lists(kind, min_size=n, max_size=n)) for kind in kinds]
    if n and d and draw(st.booleans()):
        columns[-1][-1] = draw(st.sampled_from([np.nan, 1e9, columns[0][0]]))
    return draw(st.sampled_from(CONTAINERS if not is_sound else CONTAINERS[:12]))(columns, n)


def _objects(columns, n):
    array = np.empty((n, len(columns)), object)
    for j, column in enumerate(columns):
        for i, cell in enumerate(column):
            array[i, j] = cell
    return array


def _array(columns, n):
    """An array of floats if that is possible, and of objects if not."""
    try:
        return np.array(columns, float).T.reshape(n, len(columns))
    except (ValueError, TypeError, OverflowError):
        return _objects(columns, n)


def _frame(columns, n):
    return pd.DataFrame({f"c{j}": pd.Series(c) for j, c in enumerate(columns)}, index=range(n))


def _polars(columns, n):
    try:
        return pl.DataFrame({f"c{j}": c for j, c in enumerate(columns)}, strict=False)
    except Exception:  # polars has no such cells
        return _frame(columns, n)


def _masked(columns, n):
    array = _array(columns, n)
    return np.ma.masked_array(array, mask=np.arange(array.size).reshape(array.shape) % 5 == 0)


def _as(kind):
    def convert(columns, n):
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return _array(columns, n).astype(kind)
        except (ValueError, TypeError, OverflowError):
            return _objects(columns, n)

    return convert


CONTAINERS = [
    *[_array] * 6,
    *[_frame] * 4,
    _objects,
    _polars,
    _masked,
    _as(np.float32),
    _as(np.int8),
    _as(np.float16),
    _as(str),
    _as("datetime64[s]"),
    _as(np.longdouble),
    lambda c, n: _array(c, n).tolist(),
    lambda c, n: [tuple(row) for row in _objects(c, n)],
    lambda c, n: np.asfortranarray(_array(c, n)),
    lambda c, n: _array(c, n)[::-1],
    lambda c, n: _array(c, n).ravel(),
    lambda c, n: _frame(c, n).convert_dtypes(),
    lambda c, n: _frame(c, n).set_axis(["a"] * len(c), axis=1),
    lambda c, n: _frame(c, n).set_axis(range(len(c)), axis=1),
    lambda c, n: c,
    lambda c, n: dict(enumerate(c)),
    lambda c, n: iter(c),
    lambda c, n: (c or [None])[0],
]

LIKELIHOODS = st.sampled_from(
    ["niw"] * 8
    + ["nig"] * 8
    + ["bernoulli", "categorical", "poisson"] * 4
    + ["columns"] * 6
    + [
        {0: "nig", 1: "categorical"},
        {0: "columns", 1: "nig"},
        {"c0": "nig", "c1": "bernoulli"},
        {},
        NormalInverseWishart(kappa=0.1, nu=1e6),
        NormalInverseWishart(mean=[0.0, 1.0], scale=1e-8),
        NormalInverseGamma(shape=[1.0, 2.0], scale="data"),
        Categorical(n_categories=3),
        Poisson(shape=1.0, rate=1.0),
        "gaussian",
        None,
        NormalInverseGamma,
    ]
)
SAMPLERS = st.sampled_from(
    ["split_merge"] * 10
    + ["gibbs"] * 6
    + ["blocked"] * 2
    + ["urn_smc"] * 4
    + ["annealed_smc", "arm"] * 2
    + ["nuts"]
)


PARAMETERS = {
    "alpha": ["auto", 1.0, 0.01, 50.0, (1.0, 1.0), 1e-8, 1e8],
    "thin": [1, 2],
    "n_jobs": [None, 1],
    "init": ["auto", "one", "singletons", "prior", "kmeans"],
    "point_estimate": ["vi", "binder", "map", ("vi", 1.5)],
    "merge": [None, "auto", 0.3, 1.0],
    "max_clusters": [None, 1, 2, 5],
    "min_cluster_size": [None, 1, 3, 100],
    "max_time": [None, 10.0],
    "warm_start": [False, True],
    "random_state": [0, 1, 2**31],
    "verbose": [0],
    "handle_unknown": ["error", "missing"],
}
LENGTHS = {"n_draws": [1, 2, 3, 5], "n_warmup": [0, 1, 2], "n_chains": [1, 2]}

ODD_PARAMETERS = [
    *[None, "x", "", "auto", -1, 0, 1, 2.5, np.nan, np.inf, -np.inf, True, b"x", 1j, int, ...],
    *[
        10**400,
        -(10**400),
        10**30,
        1e300,
        5e-324,
        Fraction(1, 3),
        Fraction(10**400),
        Decimal("nan"),
    ],
    *[np.float16(1), np.int8(1), np.array(1.0), np.array([1.0, 2.0]), np.datetime64("2020-01-01")],
    *[(), [], {}, set(), range(3), slice(2), object(), np.ma.masked, lambda x: x],
    *[(10**400, 1.0), [10**400, 1.0], (1.0, "x"), ("vi", 10**400), ("vi", "x"), ("binder", 1.0, 2)],
    *[{0: 10**400}, {0: "x"}, {"a": 1}, [[1.0, 2.0], [3.0]], ([],), ({}, 1.0)],
]


@st.composite
def options(draw):
    """Parameters of a model; in one case of three, one or two of them are odd."""
    chosen = {"likelihood": draw(LIKELIHOODS), "sampler": draw(SAMPLERS)}
    known = {**LENGTHS, **PARAMETERS}
    more = draw(st.lists(st.sampled_from(sorted(PARAMETERS)), max_size=4, unique=True))
    for name in [*LENGTHS, *more]:
        chosen[name] = draw(st.sampled_from(known[name]))
    if draw(st.integers(0, 2)) == 2:
        for name in draw(st.lists(st.sampled_from(sorted(known)), min_size=1, max_size=2)):
            chosen[name] = draw(ODD)
    return chosen


OPTIONS = options()
MODELS = st.sampled_from(["DPMixture"] * 6 + sorted(m.__name__ for m in mixtures.PRESETS.values()))
ARGUMENTS = st.one_of(
    ODD,
    st.integers(-3, 15),
    st.lists(st.integers(-1, 9), max_size=3),
    st.sampled_from(["c0", "age", {0: 1.0}, {0: [1.0, 2.0]}, {"c0": 0.5}, {9: 1}, slice(0, 2)]),
)
OF_ROWS = (
    "predict predict_proba transform score_samples score novelty impute outlier_score fit "
    "fit_predict partial_fit"
).split()
OF_ARGUMENTS = "continue_fit sample marginal conditional align".split()
PLAIN = (
    "describe report to_arviz weights_ means_ variances_ covariances_ probabilities_ rates_ "
    "log_evidence_ outlier_scores_ merge_tree_ hyper_parameters_ observed_rows_ n_clusters_ "
    "cluster_centers_ get_feature_names_out"
).split()
CALLS = st.one_of(
    st.tuples(st.sampled_from(OF_ROWS), tables()),
    st.tuples(st.sampled_from(OF_ROWS), tables(width=2)),
    st.tuples(st.sampled_from([*OF_ARGUMENTS, "coclustering_"]), ARGUMENTS),
    st.tuples(st.sampled_from(PLAIN), st.none()),
    st.tuples(st.just("set_params"), st.sampled_from([{"max_clusters": 1}, {"n_draws": "x"}])),
)


def replied(work):
    """The result of a call and its class. Raise `Unkind` for the third class."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = work()
        except Exception as error:
            check_refusal(error)
            return None, REFUSED
    odd = [w for w in caught if issubclass(w.category, RuntimeWarning)]
    if odd:
        raise Unkind(f"RuntimeWarning: {odd[0].message} ({odd[0].filename}:{odd[0].lineno})")
    return result, CONSISTENT


def check_refusal(error):
    """Raise `Unkind` unless an error is one sentence that was raised on purpose."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    text, about = str(error), f"{type(error).__name__}: {error}"
    on_purpose = any(part in last.filename for part in OURS) and "raise" in (last.line or "")
    if not isinstance(error, KINDS) or not on_purpose or not 10 <= len(text) <= LONGEST:
        raise Unkind(f"{about} ({last.filename}:{last.lineno})") from error


def check_fit(model):
    """Raise `Unkind` if the attributes of a fit contradict one another."""
    labels = model.labels_
    n = len(labels)
    _must(labels.dtype.kind == "i" and labels.min() >= -1, "labels")
    _must(model.n_clusters_ == labels.max() + 1, "number of clusters")
    _must(set(range(model.n_clusters_)) <= set(labels.tolist()), "gaps in labels")
    _must(len(model.component_labels_) == n, "components")
    _must(abs(sum(model.n_clusters_posterior_.values()) - 1) < 1e-9, "posterior of K")
    _must(np.isfinite(model.posterior_.log_posterior).all(), "log posterior")
    _must(np.isclose(model.posterior_.weights.sum(), 1), "weights")
    together = np.asarray(model.coclustering_)
    _must(((together >= 0) & (together <= 1 + 1e-12)).all(), "co-clustering")


def check_result(name, result, model):
    """Raise `Unkind` if a result is impossible."""
    if name in ("fit", "partial_fit", "continue_fit", "align"):
        check_fit(model)
    elif name in ("predict", "fit_predict"):
        _must(((result >= -1) & (result < max(model.n_clusters_, 1))).all(), "predictions")
    elif name in ("predict_proba", "transform"):
        _must(((result >= 0) & (result <= 1 + 1e-9)).all(), "memberships")
        if model.min_cluster_size is None:
            _must(np.allclose(result.sum(axis=1), 1), "sums of memberships")
    elif name in ("score_samples", "score"):
        _must(not np.isnan(result).any() and (np.asarray(result) < np.inf).all(), "densities")
    elif name in ("novelty", "outlier_score", "outlier_scores_"):
        _must((((result >= 0) & (result <= 1 + 1e-9)) | np.isnan(result)).all(), "shares")


def _must(holds, what):
    if not holds:
        raise Unkind(f"inconsistent: {what}")


def run_case(kind, parameters, table, calls):
    """Run a fit and calls; return the class of each reply."""
    model, reply = replied(lambda: getattr(mixtures, kind)(**parameters))
    replies = [reply]
    if reply == REFUSED:
        return replies
    fitted, reply = replied(lambda: model.fit(table))
    replies.append(reply)
    if fitted is not None:
        check_fit(model)
    for name, given in calls:
        result, reply = replied(lambda name=name, given=given: call(model, name, given))
        replies.append(reply)
        if reply == CONSISTENT:
            check_result(name, result, model)
    return replies


def odd_replies(make, kind, names=None):
    """Give odd values to each parameter of a class; yield those whose reply is of the third class.

    `make` returns a model that has the object of that class.
    """
    X = np.abs(np.round(np.random.default_rng(0).normal(size=(8, 2))))
    for name in names or list(inspect.signature(kind).parameters):
        for value in ODD_PARAMETERS:
            try:
                replied(lambda name=name, value=value: make(kind(**{name: value})).fit(X))
            except Unkind as error:
                yield f"{kind.__name__}({name}={value!r}): {error}"


def call(model, name, given):
    """Call a method, or look at an attribute."""
    if name == "coclustering_":
        return model.coclustering_[given]
    if name == "set_params":
        return model.set_params(**given)
    found = getattr(model, name)
    if not callable(found):
        return found
    return found(given) if name in (*OF_ROWS, *OF_ARGUMENTS) else found()
