"""Mixtures of dask collections: the same draws on any workers, lazy predictions, refusals."""

import os
import pickle
import signal
import threading
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from bnpcluster import DPMixture
from bnpcluster._core.jit import DISABLED
from bnpcluster._estimators import dask_collections
from bnpcluster._fitting import chains_elsewhere, dask_rows, walks
from bnpcluster.samplers import Blocked
from tests.tools.elsewhere import blobs, fit

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.skipif(DISABLED, reason="workers compile kernels"),
]
X, Y = blobs(2000)
TABLE = da.from_array(X.astype(np.float32), chunks=(600, 2))
BLURRED = da.from_array(0.3 * X + np.random.default_rng(1).normal(size=X.shape), chunks=(600, 2))
SHORT = {"n_draws": 20, "n_warmup": 20, "n_chains": 2, "random_state": 0}


def cluster(n_workers=1, processes=False):
    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=processes,
        dashboard_address=":0",
    )


@pytest.fixture(scope="module")
def client():
    with cluster() as workers, distributed.Client(workers) as found:
        yield found


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    for module in (walks, chains_elsewhere):
        monkeypatch.setattr(module, "N_REFERENCE", 200)
    monkeypatch.setattr("bnpcluster._estimators.dask_collections.N_START", 400)
    monkeypatch.setattr("tests.tools.elsewhere.N_START", 400)


@pytest.fixture(scope="module")
def model(client):
    with pytest.MonkeyPatch.context() as patch:
        for module in (walks, chains_elsewhere):
            patch.setattr(module, "N_REFERENCE", 200)
        patch.setattr("bnpcluster._estimators.dask_collections.N_START", 400)
        return DPMixture(**SHORT).fit(TABLE)


@pytest.fixture(scope="module")
def blurred(model, client):
    """A model of clusters that overlap, so that labels depend on all random numbers."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (walks, chains_elsewhere):
            patch.setattr(module, "N_REFERENCE", 200)
        patch.setattr("bnpcluster._estimators.dask_collections.N_START", 400)
        return DPMixture(**SHORT).fit(BLURRED)


def same_clusters(labels):
    return len(np.unique(np.column_stack([labels, Y]), axis=0)) == 3


def test_labels_and_predictions_are_dask_arrays(model):
    assert isinstance(model.labels_, da.Array)
    assert model.labels_.chunks == (TABLE.chunks[0],)
    assert model.labels_.dtype == np.int32
    labels = model.labels_.compute()
    assert same_clusters(labels)
    rows = np.asarray(TABLE, float)
    assert np.array_equal(model.fit_predict(TABLE).compute(), labels)
    methods = ("predict", "predict_proba", "transform", "score_samples", "novelty", "outlier_score")
    for method in methods:
        lazy = getattr(model, method)(TABLE)
        here = getattr(model, method)(rows)
        assert lazy.shape == here.shape
        assert lazy.compute() == pytest.approx(here, rel=1e-5, abs=1e-6)
    assert model.score(TABLE) == pytest.approx(model.score(rows), rel=1e-5)
    assert np.array_equal(labels, model.predict(rows))


def test_what_is_known_of_the_clusters(model):
    table = model.describe()
    assert table["size"].sum() == pytest.approx(2000, abs=2)
    assert list(table["size"]) == pytest.approx(np.sort(np.bincount(Y))[::-1], rel=0.2)
    assert model.weights_ == pytest.approx(np.sort(np.bincount(Y))[::-1] / 2000, abs=0.05)
    text = str(model.report())
    assert "2000 rows, 2 columns; posterior_ and what follows from it are about 200 random" in text
    assert "sampler='" not in text
    assert len(model.reference_rows_) == model.posterior_.n_items == 200
    assert model.posterior_.coclustering([0], [0]) == 1.0
    assert set(table["typical_rows"].str.split(", ").explode().astype(int)) <= set(
        model.reference_rows_
    )


def test_labels_of_draws_are_made_again(blurred):
    labels = blurred.draw_labels(BLURRED, 1, 7)
    assert labels.chunks == (BLURRED.chunks[0],)
    found, reference = labels.compute(), blurred.reference_rows_
    kept = blurred.posterior_.labels[1, 7]
    assert len({*zip(found[reference].tolist(), kept.tolist(), strict=True)}) == kept.max() + 1
    sizes = np.bincount(found)
    assert np.array_equal(np.sort(sizes), np.sort(blurred._fitted.elsewhere.draws[27].sizes))
    some = blurred.draw_coclustering(BLURRED, reference[[5, 3, 90]])
    assert some == pytest.approx(blurred.posterior_.coclustering([5, 3, 90], [5, 3, 90]))


def test_workers_get_no_rows_with_the_model(model):
    lazy = model.predict(TABLE)
    sent = pickle.dumps(model._carried())
    assert "labels_" not in vars(pickle.loads(sent))
    assert len(sent) < 400_000
    assert all(draw.message is None for draw in model._carried()._fitted.elsewhere.draws)
    assert all(draw.message is not None for draw in model._fitted.elsewhere.draws)
    assert lazy.compute().shape == (2000,)
    assert hasattr(model, "labels_")


def test_a_large_model_goes_to_workers_once(model, monkeypatch):
    here = model.predict_proba(X)
    small = len(pickle.dumps(model.predict_proba(TABLE)))
    monkeypatch.setattr(dask_collections, "LARGEST", 0)
    lazy = model.predict_proba(TABLE)
    assert lazy.compute() == pytest.approx(here, abs=1e-4)
    assert len(pickle.dumps(lazy)) < small - 30_000


def draws(model):
    posterior = model.posterior_
    return posterior.labels.tolist(), {k: v.tolist() for k, v in posterior.traces.items()}


def test_frames_have_names(client):
    import dask.dataframe as dd

    frame = pd.DataFrame(X, columns=["length", "width"]).assign(flat=1.0)
    table = dd.from_pandas(frame, npartitions=3)
    with pytest.warns(UserWarning, match="'flat'"):
        model = DPMixture(**SHORT).fit(table)
    assert model.feature_names_in_.tolist() == ["length", "width", "flat"]
    assert same_clusters(model.labels_.compute())
    assert same_clusters(model.predict(table).compute())
    assert "length" in model.describe().columns


def test_columns_of_text_are_refused(client):
    import dask.dataframe as dd

    frame = pd.DataFrame(X, columns=["length", "width"]).assign(kind="a")
    with pytest.raises(TypeError, match=r"Column 'kind' has values of type .*Encode or drop it"):
        DPMixture(**SHORT).fit(dd.from_pandas(frame, npartitions=3))


def test_every_likelihood_is_served(client):
    rng = np.random.default_rng(0)
    coins = (rng.random((600, 5)) < np.where(rng.integers(2, size=600), 0.9, 0.1)[:, None]).astype(
        int
    )
    for likelihood in (
        "bernoulli",
        "categorical",
        "poisson",
        "nig",
        {k: "bernoulli" for k in range(5)},
    ):
        model = DPMixture(likelihood=likelihood, n_draws=2, n_warmup=2, n_chains=1, random_state=0)
        model.fit(da.from_array(coins, chunks=(250, 3)))
        assert model.labels_.compute().shape == (600,)
        assert np.isfinite(model.score(coins))


@pytest.fixture(scope="module")
def expected(blurred):
    return draws(blurred)


def test_draws_are_those_of_passes_in_this_process(expected):
    outcome, _ = fit(
        np.asarray(BLURRED), n_parts=[600, 1200, 1800], n_warmup=20, n_draws=20, n_scanned=200
    )
    assert draws(SimpleNamespace(posterior_=outcome.fitted.posterior)) == expected


def test_draws_are_the_same_on_two_workers(expected):
    with cluster(2, processes=True) as workers, distributed.Client(workers):
        assert draws(DPMixture(**SHORT).fit(BLURRED)) == expected
        assert draws(DPMixture(sampler=Blocked(n_jobs=2), **SHORT).fit(BLURRED)) == expected


def test_a_killed_worker_changes_nothing(expected, monkeypatch):
    killed, run = [], dask_rows.DaskRows._run

    def kills(self, *arguments):
        if self._passes in (9, 30):
            pids = self.client.run(os.getpid)
            victim = sorted(pids.values())[0]
            killed.append(victim)
            threading.Timer(0.001, os.kill, (victim, signal.SIGKILL)).start()
        return run(self, *arguments)

    monkeypatch.setattr(dask_rows.DaskRows, "_run", kills)
    with cluster(2, processes=True) as workers, distributed.Client(workers):
        assert draws(DPMixture(**SHORT).fit(BLURRED)) == expected
    assert len(killed) == 2


def test_a_fit_resumes(client, expected, tmp_path):
    model = DPMixture(**SHORT, checkpoint=tmp_path).fit(BLURRED)
    assert draws(model) == expected
    assert len([*tmp_path.glob("*.npz")]) == 1
    assert draws(DPMixture(**SHORT, checkpoint=tmp_path).fit(BLURRED)) == expected


def test_a_time_limit_and_interrupts_keep_what_was_drawn(client, monkeypatch, interrupts):
    with pytest.warns(match="Sampling stopped before warm-up was over. .*: raise max_time"):
        model = DPMixture(n_chains=1, max_time=1e-9, random_state=0).fit(TABLE)
    assert model.posterior_.n_draws == 1
    calls, iterate = [], walks.iterate

    def interrupts(*arguments):
        calls.append(1)
        if len(calls) == 35:
            signal.raise_signal(signal.SIGINT)
        iterate(*arguments)

    monkeypatch.setattr(chains_elsewhere, "iterate", interrupts)
    model = DPMixture(**SHORT).fit(TABLE)
    assert model.interrupted_
    assert model.posterior_.n_draws == 15
    assert same_clusters(model.labels_.compute())


WRONG = [
    ({"sampler": "gibbs"}, TABLE, "sampler Gibbs.. needs all rows in one memory"),
    ({"sampler": "urn_smc"}, TABLE, "needs all rows in one memory"),
    ({"init": np.zeros(2000, int)}, TABLE, "init must be 'auto', 'kmeans' or 'one'"),
    ({"init": "singletons"}, TABLE, "init must be 'auto', 'kmeans' or 'one'"),
    ({"warm_start": True}, TABLE, "has no warm start"),
    ({"likelihood": "columns"}, TABLE, "name the likelihood of every column"),
    ({"likelihood": "bernoulli"}, TABLE, "Bernoulli needs 0/1 values"),
    ({}, da.where(TABLE > 9, np.nan, TABLE), "Chunk 0 of X contains NaN"),
    ({}, da.where(TABLE > 9, np.inf, TABLE), "Chunk 0 of X contains infinity"),
    ({}, TABLE[:, 0], "Expected 2D array"),
    ({}, TABLE[:1], "The number of rows is 1: it must be 2 to"),
    ({}, TABLE.astype("U9"), "takes numbers alone"),
]


@pytest.mark.parametrize(("settings", "table", "message"), WRONG)
def test_what_cannot_be_fitted_is_refused_in_a_sentence(client, settings, table, message):
    with pytest.raises((TypeError, ValueError), match=message):
        DPMixture(**{**SHORT, **settings}).fit(table)


def test_methods_that_need_all_rows_here_refuse(model):
    with pytest.raises(ValueError, match="continue_fit is not available after a fit of a dask"):
        model.continue_fit(10)
    with pytest.raises(ValueError, match="align is not available after a fit of a dask"):
        model.align(Y)
    with pytest.raises(ValueError, match="X has 1 features, but DPMixture is expecting 2"):
        model.predict(TABLE[:, :1])
    with pytest.raises(ValueError, match="return_ess is not available for a dask collection"):
        model.novelty(TABLE, return_ess=True)
    with pytest.raises(ValueError, match=r"the rows of the fit have \(2000, 2\)"):
        model.draw_labels(TABLE[:50], 0, 0)
    here = DPMixture(**SHORT).fit(X[:50])
    with pytest.raises(ValueError, match="draw_labels is for fits of dask collections"):
        here.draw_labels(TABLE, 0, 0)


def test_without_a_client_there_is_a_sentence(monkeypatch):
    def none():
        raise ValueError("No global client found and no address provided")

    monkeypatch.setattr(distributed, "get_client", none)
    with pytest.raises(RuntimeError, match="there is no dask client: create one first"):
        DPMixture(**SHORT).fit(TABLE)


def test_unknown_lengths_and_empty_chunks_are_found_out(client):
    lazy = TABLE[TABLE[:, 0] < 1e9]
    assert np.isnan(lazy.shape[0])
    lazy = da.concatenate([lazy, TABLE[:0]])
    labels = DPMixture(**SHORT).fit(lazy).labels_
    assert same_clusters(labels.compute())
