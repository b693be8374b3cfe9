"""Fits of rows that are elsewhere: draws, predictions, checkpoints; without a cluster."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from bnpcluster import DPMixture
from bnpcluster._core.jit import DISABLED
from bnpcluster._core.state import State
from bnpcluster._fitting import chains_elsewhere, large_starts, walk_checkpoint, walks
from bnpcluster._fitting.fitted import prior_of, urn_weights
from bnpcluster._fitting.rows_elsewhere import Memory
from bnpcluster._predict.cluster_parameters import of_clusters
from bnpcluster._predict.leave_one_out import left_out
from bnpcluster._predict.predictive import draw_log_densities, predict
from bnpcluster.likelihoods import (
    Bernoulli,
    Categorical,
    Columns,
    NormalInverseGamma,
    NormalInverseWishart,
    Poisson,
)
from bnpcluster.posterior import Posterior
from bnpcluster.priors import MFM, DirichletProcess, PitmanYor
from bnpcluster.samplers import Blocked
from tests.tools.elsewhere import blobs, fit

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
RNG = np.random.default_rng(0)
N = 300 if DISABLED else 1200
SHORT = {"n_warmup": 2, "n_draws": 2} if DISABLED else {}


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    """So that a small table has rows that are neither for the start nor for reference."""
    monkeypatch.setattr(walks, "N_REFERENCE", 100)
    monkeypatch.setattr(chains_elsewhere, "N_REFERENCE", 100)
    monkeypatch.setattr("tests.tools.elsewhere.N_START", 200)


def labels_of_draws(outcome, rows):
    """The labels of all rows, by draw."""
    return np.array([rows.labels(draw.message) for draw in outcome.fitted.elsewhere.draws])


def in_memory(outcome, rows, X):
    """The record of a fit with the same draws, whose rows are all here."""
    fitted = outcome.fitted
    shape = (*fitted.posterior.weights.shape, len(X))
    labels = [
        np.argsort(draw.order)[z]
        for draw, z in zip(fitted.elsewhere.draws, labels_of_draws(outcome, rows), strict=True)
    ]
    posterior = Posterior(np.array(labels).reshape(shape), traces=fitted.posterior.traces)
    return fitted._replace(
        posterior=posterior,
        bound=fitted.likelihood.rows(fitted.bound, X),
        log_urn=urn_weights(fitted.prior, posterior),
        X=X,
        elsewhere=None,
    )


def coins(n):
    y = RNG.integers(2, size=n)
    return (RNG.random((n, 6)) < np.where(y, 0.8, 0.1)[:, None]).astype(float)


def tables():
    """A likelihood and rows of every kind."""
    n = N
    y = RNG.integers(2, size=n)
    counts = RNG.poisson(np.where(y, 12.0, 2.0)[:, None], (n, 3)).astype(float)
    words = np.where(y[:, None] == 1, RNG.integers(2, size=(n, 3)), RNG.integers(1, 4, size=(n, 3)))
    wide = blobs(n, d=4)[0]
    mixed = np.column_stack([blobs(n)[0], coins(n)[:, 0]])
    parts = Columns({0: "niw", 1: "niw", 2: "bernoulli"}).resolved(None, ["float"] * 3, mixed)
    return [
        pytest.param(NormalInverseWishart(), blobs(n)[0], id="niw"),
        pytest.param(NormalInverseWishart(), wide, id="wide"),
        pytest.param(NormalInverseGamma(), wide, id="nig"),
        pytest.param(Bernoulli(), coins(n), id="bernoulli"),
        pytest.param(Categorical(), words.astype(float), id="categorical"),
        pytest.param(Poisson(), counts, id="poisson"),
        pytest.param(parts, mixed, id="columns"),
    ]


@pytest.mark.parametrize(("likelihood", "X"), tables())
def test_draws_predict_as_if_all_rows_were_here(likelihood, X):
    outcome, rows = fit(X, likelihood, **SHORT)
    fitted, whole = outcome.fitted, in_memory(outcome, rows, X)
    assert fitted.posterior.n_items == 100
    at = fitted.posterior.labels.reshape(-1, 100)
    reference = fitted.elsewhere.numbers
    flat = whole.posterior.labels.reshape(-1, len(X))
    assert np.array_equal(at, flat[:, reference])
    for r, draw in enumerate(fitted.elsewhere.draws):
        assert np.array_equal(np.bincount(flat[r]), draw.sizes)
        assert np.array_equal(fitted.sizes(r), draw.sizes)
    assert fitted.log_urn == pytest.approx(whole.log_urn[:, : fitted.log_urn.shape[1]], abs=1e-9)
    draws, new = np.arange(0, len(at), 5), X[:40]
    one, two = (draw_log_densities(record, new, draws) for record in (fitted, whole))
    assert one == pytest.approx(two, rel=1e-7, abs=1e-7)
    levels = []
    for r in draws:
        state = State(whole.bound, prior_of(fitted.prior, fitted.posterior, r), flat[r].astype(int))
        if fitted.learned is not None:
            state.set_learned(fitted.learned_draws[r])
        levels.append(state.log_posterior())
    traced = fitted.posterior.traces["log_posterior"].ravel()[draws]
    assert traced == pytest.approx(levels, rel=1e-9)


def test_what_is_said_of_reference_rows_follows_from_all():
    X, y = blobs(N)
    outcome, rows = fit(X, **SHORT)
    whole, estimate = in_memory(outcome, rows, X), y[outcome.fitted.elsewhere.numbers]
    fitted = outcome.fitted._replace(estimate=estimate)
    draws = np.arange(4)
    one = left_out(fitted, draws)
    two = left_out(whole, draws)[:, fitted.elsewhere.numbers]
    assert one == pytest.approx(two, rel=1e-6)
    found = predict(fitted, X[:50])
    assert np.array_equal(found.membership.argmax(axis=1), y[:50])
    theta = {"weights": np.array([0.3, 0.4, 0.2, 0.1]), "means": np.arange(3.0)[:, None]}
    fitted = fitted._replace(
        posterior=Posterior([[[0, 0, 1]]]), estimate=np.array([0, 0, 1]), elsewhere=None
    )
    result = of_clusters(fitted, 0, theta, np.array([0, 0, 1]))  # block 2 has no reference row
    assert result["weights"].tolist() == [0.3, 0.4]
    assert result["means"].ravel().tolist() == [0.0, 1.0]


def test_collinear_columns_are_warned_of():
    X = blobs(N)[0]
    narrow = NormalInverseWishart(mean=0.0, kappa=0.01, nu=6.0, scale=1e-9)
    collinear = np.column_stack([X, X.sum(axis=1)])
    with pytest.warns(UserWarning, match="nearly linear combinations of others within a cluster"):
        fit(collinear, narrow, init="one", **SHORT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(X, **SHORT)


def draws_of(outcome):
    """All that was drawn."""
    posterior = outcome.fitted.posterior
    return posterior.labels.tolist(), {k: v.tolist() for k, v in posterior.traces.items()}


def test_draws_do_not_depend_on_threads_and_a_forgotten_pass(monkeypatch):
    X = 0.3 * blobs(N)[0] + np.random.default_rng(1).normal(size=(N, 2))
    one = draws_of(fit(X, **SHORT)[0])
    assert draws_of(fit(X, n_threads=3, **SHORT)[0]) == one

    def forget(self, likelihood, bound, plans, chunk, n_threads):
        self._labels.clear()
        return kept(self, likelihood, bound, plans, chunk, n_threads)

    kept = Memory.divide
    monkeypatch.setattr("bnpcluster._fitting.rows_elsewhere.Memory.divide", forget)
    assert draws_of(fit(X, **SHORT)[0]) == one


@pytest.mark.skipif(DISABLED, reason="too slow without machine code")
def test_a_fit_resumes_from_its_checkpoint(tmp_path, monkeypatch):
    X = 0.3 * blobs(N, d=4)[0] + np.random.default_rng(1).normal(size=(N, 4))
    lengths = {"n_warmup": 70, "n_draws": 80}
    whole = draws_of(fit(X, **lengths)[0])
    monkeypatch.setattr("bnpcluster._fitting.checkpoint.EVERY", 0.0)
    iterate, count = walks.iterate, [0]

    def stops(chains, rows, schedule):
        count[0] += 1
        if count[0] == 121:
            raise RuntimeError("stopped")
        iterate(chains, rows, schedule)

    monkeypatch.setattr(chains_elsewhere, "iterate", stops)
    with pytest.raises(RuntimeError, match="stopped"):
        fit(X, checkpoint=tmp_path, **lengths)
    assert draws_of(fit(X, checkpoint=tmp_path, **lengths)[0]) == whole
    assert count[0] == 121 + 50
    (file,) = tmp_path.glob("*.npz")
    assert file.stat().st_size < 160 * 4_000
    assert draws_of(fit(X, checkpoint=tmp_path, **lengths)[0]) == whole
    content = file.read_bytes()
    file.write_bytes(content[:2000] + bytes([content[2000] ^ 1]) + content[2001:])
    with pytest.raises(ValueError, match=r"The checkpoint .* cannot be read"):
        fit(X, checkpoint=tmp_path, **lengths)


def test_reference_rows_number_the_blocks(monkeypatch):
    """By their first rows; blocks without reference rows come last."""
    monkeypatch.setattr(walks, "labels_of_rows", lambda *arguments: np.array([2, 2, 0, 3, 0]))
    shown = []
    root = SimpleNamespace(
        likelihood=None,
        problem=SimpleNamespace(likelihood=None),
        sent=SimpleNamespace(message=None),
        n_blocks=5,
        show=lambda rows, labels: shown.append(labels),
    )
    sample = walks.Sample(np.zeros((5, 2)), np.arange(5), None)
    walk = walks.Walk(root, SimpleNamespace(), sample)
    assert walk.show_reference().tolist() == [2, 0, 3, 1, 4]
    assert shown[0].tolist() == walk.chain.labels.tolist() == [0, 0, 1, 2, 1]


def test_values_of_a_checkpoint_are_checked():
    X = blobs(300)[0]
    outcome, _ = fit(X, n_warmup=1, n_draws=1)
    draw = outcome.fitted.elsewhere.draws[0]
    walk_checkpoint.check_draw(draw, 300)
    for wrong in (
        draw._replace(sizes=-draw.sizes),
        draw._replace(order=draw.order + 1),
        draw._replace(slots=draw.slots | {"mean0": np.nan * draw.slots["mean0"]}),
    ):
        with pytest.raises(ValueError, match="impossible"):
            walk_checkpoint.check_draw(wrong, 300)
    content, shapes = walk_checkpoint.packed(draw)
    again = walk_checkpoint.Packed(content, shapes).like(draw)
    pairs = zip(walk_checkpoint.leaves(draw), walk_checkpoint.leaves(again), strict=True)
    assert all(np.array_equal(a, b) for a, b in pairs)
    with pytest.raises(ValueError, match="wrong type"):
        walk_checkpoint.Packed(content, [["<O", [1]]] * len(shapes)).like(draw)


@pytest.mark.skipif(DISABLED, reason="too short to agree without machine code")
@pytest.mark.parametrize("prior", [DirichletProcess(), PitmanYor(), MFM()])
def test_fits_agree_with_chains_in_memory(prior, monkeypatch):
    monkeypatch.setattr("tests.tools.elsewhere.N_START", 900)  # so that guesses are the same
    X = np.random.default_rng(3).normal(size=(900, 2)) + 0.35 * blobs(900, k=4)[0]
    lengths = {"n_draws": 500, "n_warmup": 200}
    outcome, _ = fit(X, prior=prior, n_chains=4, **lengths)
    elsewhere, numbers = outcome.fitted.posterior, outcome.fitted.elsewhere.numbers
    here = chains_in_memory(X, prior, lengths)
    gap = np.abs(elsewhere.coclustering() - here.coclustering(numbers, numbers))
    assert gap.mean() < 0.03
    for name in ("n_clusters", "log_posterior", "log_scale", *prior.sampled):
        one, two = elsewhere.traces[name], here.traces[name]
        means = np.array([trace.mean(axis=1) for trace in (one, two)])
        error = np.sqrt((means.var(axis=1, ddof=1) / means.shape[1]).sum())
        spread = max(one.std(), two.std())
        assert abs(np.diff(means.mean(axis=1))[0]) < max(5 * error, 0.3 * spread), name


def chains_in_memory(X, prior, lengths):
    from bnpcluster import BNPMixture

    return BNPMixture(prior=prior, random_state=1, **lengths).fit(X).posterior_


@pytest.mark.skipif(DISABLED, reason="too slow without machine code")
def test_many_rows_start_from_some(monkeypatch):
    X, y = blobs(3000, k=5, seed=2)
    lengths = {"n_warmup": 1, "n_draws": 1, "n_chains": 2, "random_state": 0}
    calls = []
    monkeypatch.setattr(large_starts, "LARGE", 2000)
    monkeypatch.setattr(large_starts, "PART", 700)
    real = large_starts.start_from_some
    monkeypatch.setattr(
        "bnpcluster._fitting.chain_runs.start_from_some",
        lambda *arguments: calls.append(real(*arguments)) or calls[-1],
    )
    model = DPMixture(sampler="blocked", **lengths).fit(X)
    assert len(calls) == 1
    assert all(len(chain.learned) == 5 and chain.prior.values["alpha"] != 1 for chain in calls[0])
    for labels in model.posterior_.labels[:, 0]:
        both = np.unique(np.column_stack([labels, y]), axis=0)
        assert len(both) < 5 + 4  # hardly any cluster is divided or joined
    again = DPMixture(sampler=Blocked(n_jobs=2), **lengths).fit(X)
    assert np.array_equal(again.posterior_.labels, model.posterior_.labels)
    DPMixture(sampler="blocked", init="one", **lengths).fit(X)
    DPMixture(**lengths).fit(X)
    assert len(calls) == 2
