"""The blocked sampler in a fit: settings, refusals, checkpoints, agreement with another sampler."""

from collections import Counter

import numpy as np
import pytest

from bnpcluster import BNPMixture, DPMixture
from bnpcluster._core.jit import DISABLED
from bnpcluster._core.state import State
from bnpcluster.likelihoods import Bernoulli, NormalInverseGamma, NormalInverseWishart
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import Blocked
from bnpcluster.samplers.blocked import division, restricted_sweep
from bnpcluster.testing import check_sampler

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 2)) + 4.0 * RNG.integers(3, size=(300, 1))
SHORT = {"n_draws": 60, "n_warmup": 60, "n_chains": 2, "random_state": 0}


@pytest.mark.parametrize("n_scanned", [0, -1, 1.5, True, "all"])
def test_a_wrong_number_of_rows_to_scan_is_refused(n_scanned):
    with pytest.raises(ValueError, match="n_scanned must be an integer of at least 1"):
        DPMixture(sampler=Blocked(n_scanned=n_scanned), **SHORT).fit(X)


@pytest.mark.parametrize("n_batches", [-1, 1.5, True, "auto"])
def test_a_wrong_number_of_batches_is_refused(n_batches):
    with pytest.raises(ValueError, match="n_batches must be an integer of at least 0"):
        DPMixture(sampler=Blocked(n_batches=n_batches), **SHORT).fit(X)


@pytest.mark.parametrize("n_jobs", [0, 1.5, True, "all"])
def test_a_wrong_number_of_threads_is_refused(n_jobs):
    with pytest.raises(ValueError, match="n_jobs of Blocked must be None or an integer"):
        DPMixture(sampler=Blocked(n_jobs=n_jobs), **SHORT).fit(X)


@pytest.mark.parametrize("likelihood", ["niw", "nig"])
def test_missing_entries_are_refused_in_a_sentence(likelihood):
    holed = X.copy()
    holed[3, 1] = np.nan
    with pytest.raises(TypeError, match="Blocked does not work with missing entries: impute"):
        DPMixture(likelihood=likelihood, sampler="blocked", **SHORT).fit(holed)


def test_a_likelihood_without_parameters_is_refused_in_a_sentence():
    reads = np.tile([40.0, 10.0, 2.0, 1.0, 1.0, 0.9], (12, 1))
    with pytest.raises(TypeError, match=r"Blocked does not work with PyClone: .*draw_parameters"):
        DPMixture(likelihood="pyclone", sampler="blocked", **SHORT).fit(reads)


def test_a_part_without_the_operations_is_refused():
    mixed = np.column_stack([X, RNG.integers(2, size=300)])
    mixed[5, 2], parts = np.nan, {0: "niw", 1: "niw", 2: "bernoulli"}
    with pytest.raises(TypeError, match="Blocked does not work with missing entries"):
        DPMixture(likelihood=parts, sampler="blocked", **SHORT).fit(mixed)


@pytest.mark.parametrize("prior", ["dp", "py", "ngg", "mfm", "finite"])
def test_fits_agree_with_split_merge(prior):
    """Hyper-parameters of prior and likelihood are learned, too."""
    lengths = {"n_draws": 2, "n_warmup": 2} if DISABLED else {"n_draws": 400, "n_warmup": 200}
    one, two = (
        BNPMixture(prior=prior, sampler=sampler, random_state=1, **lengths).fit(X).posterior_
        for sampler in ("blocked", "split_merge")
    )
    if DISABLED:
        return  # too short to agree
    rows = np.arange(0, 300, 6)
    gap = np.abs(one.coclustering(rows, rows) - two.coclustering(rows, rows))
    assert gap.mean() < 0.03
    for name in one.traces:
        means = np.array([p.traces[name].mean(axis=1) for p in (one, two)])
        error = np.sqrt((means.var(axis=1, ddof=1) / means.shape[1]).sum())
        spread = max(one.traces[name].std(), two.traces[name].std())
        assert abs(np.diff(means.mean(axis=1))[0]) < max(5 * error, 0.3 * spread), name


def test_draws_do_not_depend_on_threads_chains_at_once_or_interruptions(tmp_path, monkeypatch):
    """With hyper-parameters learned; a checkpoint resumes bit for bit."""
    monkeypatch.setattr(restricted_sweep, "CHUNK", 128)
    monkeypatch.setattr(division, "CHUNK", 64)
    whole = DPMixture(sampler=Blocked(), **SHORT).fit(X).posterior_
    for settings in ({"n_jobs": 2}, {}):
        model = DPMixture(sampler=Blocked(n_jobs=2), **SHORT, **settings).fit(X)
        np.testing.assert_array_equal(model.posterior_.labels, whole.labels)
    saved = {**SHORT, "sampler": Blocked(n_jobs=2), "checkpoint": tmp_path}
    calls, draw = [], restricted_sweep.draw_message

    def interrupted(state, rng):
        calls.append(1)
        if len(calls) == 170:
            raise RuntimeError("the lights went out")
        return draw(state, rng)

    monkeypatch.setattr("bnpcluster.samplers.blocked.restricted_sweep.draw_message", interrupted)
    with pytest.raises(RuntimeError, match="lights"):
        DPMixture(**saved).fit(X)
    assert list(tmp_path.iterdir())
    again = DPMixture(**saved).fit(X).posterior_
    assert len(calls) < 170 + 240
    np.testing.assert_array_equal(again.labels, whole.labels)
    for name in whole.traces:
        np.testing.assert_array_equal(again.traces[name], whole.traces[name])


@pytest.mark.parametrize("n", [5, 199, 4001])
def test_auto_scans_a_twentieth_and_at_least_two_hundred(n):
    state = State(Bernoulli().bind(np.eye(n, 2)), DirichletProcess(1.0), np.zeros(n, int))
    counts = Blocked(n_batches=0).step(state, np.random.default_rng(0))
    counts = {name: count for name, count in counts.items() if count}
    assert counts == {"sweeps": 1, "scanned": max(min(n, 200), n // 20)}


def test_moves_are_counted():
    state = State(Bernoulli().bind(np.eye(40, 2)), DirichletProcess(1.0), np.arange(40) % 4)
    rng, sampler = np.random.default_rng(0), Blocked(n_batches=3)
    tally = Counter()
    for _ in range(20):
        tally.update(sampler.step(state, rng))
    assert tally["splits"] > tally["splits_accepted"] > 0
    assert tally["merges"] >= tally["merges_accepted"] + tally["lazy_merges"] > 0


def test_room_runs_out_within_a_scan():
    """Nothing depends on the number of slots, nor on how often kernels are called."""
    rows, paths = RNG.normal(size=(400, 1)), []
    for capacity in (2, 64):
        likelihood = NormalInverseGamma(shape=2.0, scale=0.1, kappa=1.0)
        bound, labels = likelihood.bind(rows, 2), np.zeros(400, int)
        state = State(bound, DirichletProcess(30.0), labels, capacity=capacity)
        rng, sampler = np.random.default_rng(0), Blocked(n_scanned=3000)
        for _ in range(3):
            sampler.step(state, rng)
        paths.append(state.labels.tolist())
    assert paths[0] == paths[1]
    assert max(paths[0]) > 15


def test_the_check_has_power_for_the_restricted_sweep():
    """Nine columns use the steps of wide tiles; the sweep alone, without the scan."""

    class Alone(Blocked):
        def step(self, state, rng):
            restricted_sweep.restricted_sweep(state, None, rng)
            return {}

    rows = 0.7 * np.random.default_rng(1).normal(size=(4, 9))
    likelihood = NormalInverseWishart(mean=0.0, kappa=0.5, nu=12.0, scale=4.0)
    n_replicates = 200 if DISABLED else 5000
    check_sampler(Alone(), likelihood, DirichletProcess(2.0), rows, n_replicates=n_replicates)
