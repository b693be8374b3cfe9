"""The export runs in ArviZ: InferenceData before version 1, DataTree since."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from xarray import DataTree

from bnpcluster import DPMixture, PitmanYorMixture
from bnpcluster._estimators import exports
from bnpcluster._predict.leave_one_out import left_out
from bnpcluster.diagnostics import diagnose
from bnpcluster.posterior import Posterior

LEARNED = ("log_scale", "shape")  # of one column


@pytest.fixture(scope="module")
def model():
    X = np.random.default_rng(0).normal(size=(12, 1)) + 4.0 * (np.arange(12) % 2)[:, None]
    parameters = {"n_draws": 80, "n_warmup": 20, "n_chains": 3, "random_state": 0}
    with pytest.warns(match="effective draws|disagree"):  # few draws, so that tests are quick
        return PitmanYorMixture(alpha=(1.0, 1.0), discount=(1.0, 3.0), **parameters).fit(X)


@pytest.fixture
def arviz(model, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    model.to_arviz()  # the old version announces the new one at import, which the export hushes
    import arviz

    yield arviz
    from matplotlib import pyplot

    pyplot.close("all")


def test_the_kind_of_object_is_that_of_the_installed_version(arviz, model):
    tree = model.to_arviz()
    if int(arviz.__version__.split(".")[0]) >= 1:
        assert isinstance(tree, DataTree)
        assert {"posterior", "sample_stats"} <= set(tree.children)
    else:
        assert isinstance(tree, arviz.InferenceData)
        assert tree.groups() == ["posterior", "sample_stats"]
    for name in ("alpha", "discount", "n_clusters", *LEARNED):
        assert tree["posterior"][name].dims == ("chain", "draw")
        np.testing.assert_array_equal(tree["posterior"][name], model.posterior_.traces[name])
    assert tree["sample_stats"]["lp"].dims == ("chain", "draw")


def test_the_summary_agrees_with_the_diagnostics(arviz, model):
    summary = arviz.summary(model.to_arviz(), round_to="none")
    assert set(summary.index) == {"alpha", "discount", "n_clusters", "log_density", *LEARNED}
    table = diagnose(model.posterior_).table
    for name, row in summary.iterrows():
        assert row["mean"] == pytest.approx(model.posterior_.traces[name].mean())
        assert row["ess_bulk"] == pytest.approx(table[name]["ess_bulk"])
        assert row["r_hat"] == pytest.approx(table[name]["rhat"])


# ArviZ 0.23 itself calls matplotlib in a way that version 3.11 announces the end of.
@pytest.mark.filterwarnings("ignore:Passing a dict or None as alias_mapping")
def test_the_plot_shows_every_trace_of_every_chain(arviz, model):
    from matplotlib import pyplot

    arviz.plot_trace(model.to_arviz())
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    lines = [line for figure in figures for ax in figure.axes for line in ax.get_lines()]
    drawn = [np.asarray(line.get_ydata(), float) for line in lines]
    for name in ("alpha", "discount", "n_clusters", *LEARNED):
        for chain in model.posterior_.traces[name]:
            assert any(len(y) == len(chain) and np.allclose(y, chain) for y in drawn)


@pytest.fixture(scope="module")
def clear():
    X = np.repeat([[0.0, 0.0], [9.0, 9.0]], [20, 10], axis=0)
    X = X + np.random.default_rng(1).normal(size=(30, 2))
    parameters = {"n_draws": 60, "n_warmup": 40, "n_chains": 2, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return X, DPMixture(**parameters).fit(X)


def test_nothing_more_is_exported_than_asked(arviz, clear):
    _, model = clear
    tree = model.to_arviz()
    assert not {"labels", "weights", "means"} & set(tree["posterior"].data_vars)
    assert all(name not in tree for name in ("log_likelihood", "observed_data"))


def test_labels_and_parameters_are_exported(arviz, clear):
    _, model = clear
    data = model.to_arviz(labels=True, parameters=True)["posterior"]
    assert data["labels"].dims == ("chain", "draw", "item")
    np.testing.assert_array_equal(data["labels"], model.posterior_.labels)
    assert data["weights"].dims == ("chain", "draw", "cluster")
    assert data["means"].dims[:3] == ("chain", "draw", "cluster")
    assert data["covariances"].shape == (2, 60, model.n_clusters_, 2, 2)  # of all draws
    found = model.posterior_.parameters(max_draws=None)
    np.testing.assert_allclose(data["means"].mean(("chain", "draw")), found.mean("means"))


# The few draws of this fit make ArviZ unsure of some rows.
@pytest.mark.filterwarnings("ignore:Estimated shape parameter of Pareto")
def test_the_data_and_the_density_of_every_row_given_the_others_are_exported(arviz, clear):
    X, model = clear
    tree = model.to_arviz(log_likelihood=True, observed=True)
    np.testing.assert_array_equal(tree["observed_data"]["x"], X)
    logs = np.asarray(tree["log_likelihood"]["x"])
    assert logs.shape == (2, 60, 30)
    np.testing.assert_array_equal(logs[1, 0], left_out(model._fitted, np.array([60]))[0])
    loo = arviz.loo(tree)
    value = getattr(loo, "elpd", None)
    value = loo.elpd_loo if value is None else value
    # The harmonic mean over draws, row by row, is the density given the others.
    expected = -np.log(np.exp(-logs.reshape(-1, 30)).mean(axis=0)).sum()
    assert float(value) == pytest.approx(expected, abs=2.0)


def test_parameters_of_mixed_columns_have_the_column_in_their_name(arviz):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=20), rng.poisson(3.0, 20)])
    model = DPMixture(likelihood={0: "nig", 1: "poisson"}, n_chains=1, n_draws=20, n_warmup=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X)
    names = set(model.to_arviz(parameters=True)["posterior"].data_vars)
    assert {"weights", "means[0]", "variances[0]", "rates[1]"} <= names


def test_items_are_numbers_of_the_rows_of_the_data(arviz):
    X = np.random.default_rng(0).normal(size=(12, 2))
    X[[0, 5]] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = DPMixture(likelihood="nig", n_chains=1, n_draws=8, n_warmup=2).fit(X)
    tree = model.to_arviz(labels=True, log_likelihood=True, observed=True, predictive=True)
    kept = [1, 2, 3, 4, 6, 7, 8, 9, 10, 11]
    assert model.observed_rows_.tolist() == kept
    for group, name in (
        ("posterior", "labels"),
        ("log_likelihood", "x"),
        ("observed_data", "x"),
        ("posterior_predictive", "x"),
    ):
        assert tree[group][name]["item"].to_numpy().tolist() == kept
    np.testing.assert_array_equal(tree["observed_data"]["x"].sel(item=6), X[6])


def test_items_of_a_posterior_alone_are_counted(arviz):
    tree = Posterior([[[0, 1, 0], [0, 0, 1]]]).to_arviz(labels=True)
    assert tree["posterior"]["item"].to_numpy().tolist() == [0, 1, 2]


def test_new_rows_of_every_draw_are_exported(arviz, clear):
    X, model = clear
    tree = model.to_arviz(predictive=True, observed=True)
    rows = tree["posterior_predictive"]["x"]
    assert rows.dims[:3] == ("chain", "draw", "item") and rows.shape == (2, 60, 30, 2)
    assert rows.dims[2:] == tree["observed_data"]["x"].dims
    expected = model.sample(30, random_state=0, by_draw=True)
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_allclose(rows.mean(("chain", "draw", "item")), X.mean(axis=0), atol=0.5)


def test_new_rows_that_need_too_much_memory_are_refused(arviz, clear, monkeypatch):
    _, model = clear
    monkeypatch.setattr(exports, "MOST_BYTES", 8 * 2 * 60 * 30 * 2 - 1)
    with pytest.raises(ValueError, match=r"120 draws of 30 rows .*by_draw=True"):
        model.to_arviz(predictive=True)
