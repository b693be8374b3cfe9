"""The export runs in ArviZ: InferenceData before version 1, DataTree since."""

import numpy as np
import pytest
from xarray import DataTree

from bnpcluster import PitmanYorMixture
from bnpcluster.diagnostics import diagnose

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
