"""Rows without any value are left out of a fit, which changes nothing for the others."""

import warnings

import numpy as np
import pandas as pd
import pytest

from bnpcluster import DPMixture
from bnpcluster._fitting.empty_rows import ObservedRows
from bnpcluster.plotting import ClusterDisplay, CoclusteringDisplay
from bnpcluster.pyclone import prevalences

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = {"n_draws": 20, "n_warmup": 20, "n_chains": 2, "random_state": 0}
EMPTY = [0, 3, 14]
LEFT_OUT = "Rows 0, 3, 14 .* left out of the fit, and their label is -1. posterior_"


def rows(seed=0):
    """Twelve rows around two centres, one of them with a hole."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 2)) + np.repeat([[-3.0], [3.0]], [7, 5], axis=0)
    X[4, 1] = np.nan
    return X


def with_empty(X):
    """The rows, with empty ones so that these have the numbers EMPTY."""
    return np.insert(X, [0, 2, 12], np.nan, axis=0)


X = rows()
Y = with_empty(X)
KEPT = np.setdiff1d(np.arange(15), EMPTY)


def fitted(data, **parameters):
    return DPMixture(**{**QUICK, **parameters}).fit(data)


def fitted_with_empty(data, **parameters):
    with pytest.warns(UserWarning, match=LEFT_OUT):
        return fitted(data, **parameters)


@pytest.mark.parametrize(
    "parameters",
    [
        {"likelihood": "niw"},
        {"likelihood": "nig"},
        {"likelihood": {0: "nig", 1: "niw"}},
        {"likelihood": "nig", "sampler": "urn_smc", "n_particles": 30},
        {"merge": 0.2, "min_cluster_size": 6},
    ],
)
def test_all_other_results_are_those_without_them(parameters):
    one, two = fitted(X, **parameters), fitted_with_empty(Y, **parameters)
    np.testing.assert_array_equal(one.posterior_.labels, two.posterior_.labels)
    for name, trace in one.posterior_.traces.items():
        np.testing.assert_array_equal(trace, two.posterior_.traces[name])
    for name in ("labels_", "component_labels_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name)[KEPT])
        assert getattr(two, name)[EMPTY].tolist() == [-1] * 3
    assert one.n_clusters_ == two.n_clusters_
    np.testing.assert_array_equal(two.observed_rows_, KEPT)
    np.testing.assert_array_equal(one.observed_rows_, np.arange(12))
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    np.testing.assert_array_equal(one.score_samples(X), two.score_samples(X))
    np.testing.assert_array_equal(one.sample(5, 1), two.sample(5, 1))
    np.testing.assert_array_equal(np.asarray(one.coclustering_), np.asarray(two.coclustering_))
    np.testing.assert_array_equal(one.impute(), two.impute()[KEPT])
    assert "3 rows without any value: 0, 3, 14" in str(two.report())
    assert "12 rows, 2 columns" in str(two.report())
    assert "without any value" not in str(one.report())


def test_empty_new_rows_have_the_memberships_of_the_prior_and_no_label():
    model = fitted(X, likelihood="nig")
    new = np.array([[np.nan, np.nan], [-3.0, np.nan]])
    shares = model.predict_proba(new)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert shares[0].min() > 0.2
    assert model.predict(new).tolist() == [-1, model.labels_[0]]


def test_predict_agrees_with_labels():
    model = fitted_with_empty(Y, likelihood="nig")
    np.testing.assert_array_equal(model.predict(Y), model.labels_)
    with pytest.warns(UserWarning, match=LEFT_OUT):
        np.testing.assert_array_equal(model.fit_predict(Y), model.labels_)


def test_imputed_rows_are_in_the_order_of_the_table():
    model = fitted_with_empty(Y, likelihood="nig")
    filled = model.impute()
    np.testing.assert_array_equal(filled, model.impute(Y))
    np.testing.assert_array_equal(filled[KEPT][~np.isnan(X)], X[~np.isnan(X)])
    np.testing.assert_array_equal(filled[EMPTY], model.impute(np.full((3, 2), np.nan)))
    shuffled = model.impute(Y[::-1])  # new rows, not those of the fit
    assert np.isfinite(shuffled).all()
    assert shuffled[8, 1] != filled[6, 1]


def test_continued_and_warm_fits_keep_the_numbers():
    model = fitted_with_empty(Y).continue_fit(5)
    np.testing.assert_array_equal(model.observed_rows_, KEPT)
    assert model.labels_.shape == (15,)
    assert model.labels_[EMPTY].tolist() == [-1] * 3
    warm = DPMixture(warm_start=True, **QUICK)
    with pytest.warns(UserWarning, match=LEFT_OUT):
        warm.fit(Y)
    before = warm.posterior_.labels[:, -1]
    with pytest.warns(UserWarning, match=LEFT_OUT):
        warm.set_params(n_warmup=0, n_draws=1, sampler="gibbs").fit(Y)
    assert warm.posterior_.labels.shape == (2, 1, 12)
    assert (warm.posterior_.labels[:, 0] == before).mean() > 0.5


def test_a_checkpoint_of_the_other_rows_serves(tmp_path):
    one = fitted(X, checkpoint=tmp_path)
    two = fitted_with_empty(Y, checkpoint=tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    np.testing.assert_array_equal(one.posterior_.labels, two.posterior_.labels)


@pytest.mark.parametrize("n_chains", [1, 2])
def test_initial_labels_are_of_all_rows(n_chains):
    init = np.random.default_rng(0).integers(3, size=(n_chains, 15))
    small = {"n_chains": n_chains, "n_warmup": 0, "n_draws": 1, "sampler": "gibbs"}
    two = fitted_with_empty(Y, init=init[0] if n_chains == 1 else init, **small)
    one = fitted(X, init=init[:, KEPT], **small)
    np.testing.assert_array_equal(one.posterior_.labels, two.posterior_.labels)
    with pytest.raises(ValueError, match="init as an array"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted(Y, init=init[:, :13], **small)


def test_frames_of_mixed_columns_keep_their_kinds():
    table = pd.DataFrame({"a": [1.5, 2.5, -3.0] * 4, "b": ["x", "y", "x"] * 4, "c": [0, 1, 1] * 4})
    table = table.astype({"b": object, "c": "Int64"})
    gaps = table.reindex([-1, 0, 1, -2, *range(2, 12), -3])
    one, two = fitted(table, likelihood="columns"), fitted_with_empty(gaps, likelihood="columns")
    assert repr(one._fitted.likelihood) == repr(two._fitted.likelihood)
    np.testing.assert_array_equal(one.posterior_.labels, two.posterior_.labels)
    assert set(two.impute(gaps)["b"]) == {"x", "y"}
    np.testing.assert_array_equal(two.predict(gaps)[KEPT], one.predict(table))


def test_a_value_in_a_constant_column_alone_is_none():
    table = np.column_stack([np.full(15, 7.0), Y])
    with pytest.warns(UserWarning) as caught:
        model = fitted(table)
    assert any("Rows 0, 3, 14" in str(warning.message) for warning in caught)
    assert model.labels_[EMPTY].tolist() == [-1] * 3
    assert (model.impute()[:, 0] == 7.0).all()
    assert model.predict(table[:1]).tolist() == [-1]


def test_batches_count_their_rows_on():
    small = {"likelihood": "nig", "sampler": "urn_smc", "n_particles": 20}
    with pytest.warns(UserWarning, match=LEFT_OUT):
        model = DPMixture(**small, **QUICK).partial_fit(Y)
    other = DPMixture(**small, **QUICK).partial_fit(X)
    batch = np.array([[np.nan, np.nan], [-3.0, 0.0]])
    with pytest.warns(UserWarning, match=r"Row 0 \(counted from 0\) has no value: it is"):
        model.partial_fit(batch)
    other.partial_fit(batch[1:])
    np.testing.assert_array_equal(model.posterior_.labels, other.posterior_.labels)
    assert model.observed_rows_.tolist() == [*KEPT, 16]
    assert model.labels_.shape == (17,)
    assert np.flatnonzero(model.labels_ < 0).tolist() == [*EMPTY, 15]
    before = model.posterior_.labels.copy()
    with pytest.warns(UserWarning, match="Row 0"):
        model.partial_fit(batch[:1])
    np.testing.assert_array_equal(model.posterior_.labels, before)
    assert model.labels_.shape == (18,)


def test_too_few_rows_are_refused():
    data = np.full((4, 2), np.nan)
    data[1] = [1.0, 2.0]
    with pytest.raises(ValueError, match=r"Only 1 of 4 rows has a value.*at least 2"):
        fitted(data)


def test_many_empty_rows_are_counted():
    observed = ObservedRows.of(np.where(np.arange(30)[:, None] < 5, 0.0, np.nan))
    with pytest.warns(
        UserWarning, match=r"Rows 5, .*, 14, ... \(25 in all\) \(counted from 0\)"
    ) as w:
        observed.warn()
    assert "draws.npz is about the other rows" in w[0].message.args[0].shell
    assert "Rows 6, 7," in w[0].message.args[0].shell


def test_pictures_show_the_other_rows():
    model = fitted_with_empty(Y, likelihood="nig")
    display = ClusterDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.labels, model.labels_[KEPT])
    np.testing.assert_array_equal(display.points, model.impute()[KEPT])
    given = ClusterDisplay.from_estimator(model, labels=np.arange(15) % 2)
    np.testing.assert_array_equal(given.labels, (np.arange(15) % 2)[KEPT] != KEPT[0] % 2)
    assert CoclusteringDisplay.from_estimator(model).boundaries[-1] == 12


def test_a_mutation_without_reads_has_no_prevalence():
    table = pd.DataFrame({"mutation_id": [f"m{i}" for i in range(6)], "sample_id": "a"})
    table["ref_counts"] = [60, 62, np.nan, 61, 90, 88]
    table["alt_counts"] = 100 - table["ref_counts"]
    table = table.assign(normal_cn=2, major_cn=1, minor_cn=1, tumour_content=1.0)
    with pytest.warns(UserWarning, match="Row 2"):
        model = fitted(table, likelihood="pyclone")
    found = prevalences(model, table)
    assert found["cluster_id"].tolist()[2] == -1
    assert found["cellular_prevalence"].isna().tolist() == [False, False, True] + [False] * 3
