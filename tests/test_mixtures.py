"""The estimators' own interface, beyond what scikit-learn checks."""

import copy
import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest
from scipy.stats import gamma
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from bnpcluster import (
    BNPMixture,
    DPMixture,
    FiniteDirichletMixture,
    MFMMixture,
    NGGMixture,
    PitmanYorMixture,
)
from bnpcluster._core.jit import DISABLED, KERNELS
from bnpcluster._core.state import State
from bnpcluster._fitting import chain_runs
from bnpcluster._fitting.lengths import Asked, Lengths
from bnpcluster._fitting.rounds import BOUNDARY, Chain, Stop, _fixed_round_ends, run_chains
from bnpcluster.likelihoods import NormalInverseGamma
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import Gibbs, SplitMerge
from bnpcluster.samplers.gibbs import sweep
from bnpcluster.testing import exact_posterior
from tests._predict.test_predictive import enumerated_row

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = {"n_draws": 40, "n_warmup": 60, "random_state": 0}


def same_draws(one, other):
    assert one.posterior_.labels.dtype == other.posterior_.labels.dtype
    np.testing.assert_array_equal(one.posterior_.labels, other.posterior_.labels)
    for name, trace in one.posterior_.traces.items():
        np.testing.assert_array_equal(trace, other.posterior_.traces[name])


def test_finds_the_clusters(fitted, blobs):
    labels = blobs[1]
    assert fitted.n_clusters_ == 3
    assert adjusted_rand_score(labels, fitted.labels_) == 1.0
    assert fitted.converged_
    assert not fitted.interrupted_
    assert fitted.n_iter_ == 1200
    assert fitted.n_clusters_posterior_[3] > 0.5
    assert sum(fitted.n_clusters_posterior_.values()) == pytest.approx(1.0)


def test_labels_are_ordered_by_size_then_first_row(blobs):
    X, labels = blobs
    X = np.vstack([X[labels == 1][:4], X[labels == 0][:9], X[labels == 2][:9]])
    model = DPMixture(**QUICK).fit(X)
    assert model.labels_.tolist() == [2] * 4 + [0] * 9 + [1] * 9


def test_fit_predict_equals_labels(blobs):
    model = DPMixture(**QUICK)
    np.testing.assert_array_equal(model.fit_predict(blobs[0]), model.labels_)


def test_methods_agree_with_one_another(fitted, blobs):
    X = blobs[0]
    probabilities = fitted.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(fitted.predict(X), probabilities.argmax(axis=1))
    np.testing.assert_array_equal(fitted.transform(X), probabilities)
    assert list(fitted.get_feature_names_out()) == ["dpmixture0", "dpmixture1", "dpmixture2"]
    assert fitted.score(X) == pytest.approx(fitted.score_samples(X).mean())
    assert fitted.novelty(X).max() < 0.1 < fitted.novelty([[9.0, -9.0]])[0]


def test_coclustering_is_lazy_and_right(fitted):
    draws = fitted.posterior_.labels.reshape(-1, 60)
    dense = np.mean(draws[:, :, None] == draws[:, None, :], axis=0)
    np.testing.assert_allclose(np.asarray(fitted.coclustering_), dense)
    np.testing.assert_allclose(fitted.coclustering_[3:9, 40], dense[3:9, 40])
    assert fitted.coclustering_.shape == (60, 60)


def test_samples_look_like_the_data(fitted, blobs):
    new = fitted.sample(500, random_state=1)
    assert new.shape == (500, 2)
    np.testing.assert_array_equal(new, fitted.sample(500, random_state=1))
    counts = np.bincount(fitted.predict(new), minlength=3)
    assert (counts > 120).all()
    assert abs(np.median(new)) < 0.5


@pytest.mark.parametrize("alpha", [1.0, "auto", (2.0, 4.0)])
def test_posterior_is_the_enumerated_one(alpha):
    """The whole chain, hyper-parameter updates included, against the exact posterior."""
    X = np.array([[-1.0], [-0.8], [0.1], [1.2], [0.9]])
    guess = NormalInverseGamma(shape="data", scale="data")
    model = DPMixture(alpha=alpha, likelihood=guess, n_draws=5000, n_warmup=50, random_state=1)
    model.fit(X)
    prior = DirichletProcess(alpha)
    values = [alpha]
    if alpha != 1.0:
        rng = np.random.default_rng(0)
        values = [prior.draw(rng)["alpha"] for _ in range(400)]
    exact = [exact_posterior(X, guess, DirichletProcess(a)) for a in values]
    evidence = np.exp([e.log_evidence for e in exact])
    expected = np.einsum("a,aij->ij", evidence, [e.coclustering() for e in exact])
    tolerance = 0.02 if alpha == 1.0 else 0.04  # the second is Monte Carlo over alpha, too
    np.testing.assert_allclose(
        np.asarray(model.coclustering_), expected / evidence.sum(), atol=tolerance
    )
    assert ("alpha" in model.posterior_.traces) == (alpha != 1.0)


def test_novelty_and_memberships_are_the_enumerated_ones():
    """Those of a whole fit, against the partitions of its rows and the new one."""
    X = np.array([[-1.3], [-1.0], [-0.6], [0.4], [0.9], [1.3]])
    new = np.array([[-1.1], [-0.1], [4.0], [40.0]])
    likelihood = NormalInverseGamma(mean=0.0, kappa=0.3, shape=2.0, scale=0.3)
    settings = {"n_draws": 5000, "n_warmup": 50, "random_state": 1}
    model = DPMixture(alpha=0.5, likelihood=likelihood, max_prediction_draws=None, **settings).fit(
        X
    )
    prior = DirichletProcess(0.5)
    rows = [enumerated_row(likelihood, prior, np.vstack([X, [x]]), model.labels_) for x in new]
    novelty, ess = model.novelty(new, return_ess=True)
    np.testing.assert_allclose(novelty, [row.novelty for row in rows], atol=0.015)
    assert abs(rows[2].novelty - rows[2].plain[0]) > 0.05
    membership = [row.membership for row in rows]
    np.testing.assert_allclose(model.predict_proba(new), membership, atol=0.015)
    np.testing.assert_array_equal(model.novelty(new), novelty)
    assert ((ess > 1000) & (ess < 20000)).all()


def test_draws_are_the_states_that_the_schedule_names(blobs):
    """After warm-up every third state of the same chain, and no other."""
    # A fixed number of moves: what "auto" makes of warm-up depends on how long it is.
    sampler = SplitMerge(n_moves=2)
    small = {"likelihood": "nig", "sampler": sampler, "n_chains": 2, "random_state": 0}
    every = DPMixture(n_draws=30, n_warmup=0, **small).fit(blobs[0][::5]).posterior_
    model = DPMixture(n_draws=8, n_warmup=5, thin=3, **small).fit(blobs[0][::5])
    assert model.n_iter_ == 29
    assert model.posterior_.labels.shape == (2, 8, 12)
    np.testing.assert_array_equal(model.posterior_.labels, every.labels[:, 7::3])
    np.testing.assert_array_equal(model.posterior_.alpha, every.alpha[:, 7::3])


def test_chains_and_iterations_have_randomness_of_their_own(blobs):
    seen = []

    class Watched(Gibbs):
        def step(self, state, rng):
            seen.append(rng.random())
            return super().step(state, rng)

    bound = NormalInverseGamma().bind(blobs[0][::5])
    rngs = map(np.random.default_rng, range(3))
    start = [Chain(np.zeros(12, int), DirichletProcess(), rng) for rng in rngs]
    chains = run_chains(start, bound, Watched(), Lengths(Asked(7, 0, 1, 7)), stop=Stop())
    assert len(set(seen)) == len(seen) == 21
    assert len({trace["alpha"] for chain in chains for trace in chain.traces}) == 21


def test_chains_of_a_fit_go_separate_ways():
    X = np.random.default_rng(0).normal(size=(12, 1))
    model = DPMixture(likelihood="nig", init="one", n_draws=20, n_warmup=0, random_state=0)
    assert len({chain.tobytes() for chain in model.fit(X).posterior_.labels}) == 4


def test_rounds_change_no_bit(blobs):
    bound, ends = NormalInverseGamma().bind(blobs[0][::5]), []
    for length in (None, 1, 60):
        start = Chain(np.zeros(12, int), DirichletProcess(), np.random.default_rng(0))
        lengths = Lengths(Asked(130, 0, 1, 130))
        (end,) = run_chains([start], bound, Gibbs(), lengths, stop=Stop(), round_length=length)
        assert end.prior.values["alpha"] == end.traces[-1]["alpha"]
        ends.append((np.array(end.draws).tolist(), end.traces, end.iteration))
    assert ends[0] == ends[1] == ends[2]


@pytest.mark.parametrize("length", [None, 1, 60, 170])
@pytest.mark.parametrize("start", [0, 70])
def test_rounds_end_at_boundaries(start, length):
    ends = list(_fixed_round_ends(start, 430, length))
    assert ends[-1] == 430
    assert all(end % BOUNDARY == 0 for end in ends[:-1])


@pytest.mark.parametrize("n_blocks", [256, 257])
def test_draws_of_many_clusters_are_kept_whole(n_blocks):
    rows = np.random.default_rng(0).normal(size=(n_blocks, 1))
    state = State(NormalInverseGamma().bind(rows), DirichletProcess(1.0), np.arange(n_blocks))
    chain = Chain(state.labels, state.prior, np.random.default_rng(0))
    chain.append_draw(state)
    assert chain.draws[0].tolist() == list(range(n_blocks))


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_n_jobs_changes_no_bit(blobs, n_jobs):
    one = DPMixture(**QUICK).fit(blobs[0])
    same_draws(one, DPMixture(n_jobs=n_jobs, **QUICK).fit(blobs[0]))


def test_processes_change_no_bit(blobs):
    from joblib import parallel_config

    with parallel_config(backend="loky", n_jobs=2):
        other = DPMixture(**QUICK).fit(blobs[0])
    same_draws(DPMixture(**QUICK).fit(blobs[0]), other)


@pytest.mark.parametrize(
    "make", [lambda: 7, lambda: np.random.RandomState(7), lambda: np.random.default_rng(7)]
)
def test_random_states(blobs, make):
    quick = {**QUICK, "n_draws": 5, "n_warmup": 5}
    one, two = (DPMixture(**{**quick, "random_state": make()}).fit(blobs[0]) for _ in range(2))
    same_draws(one, two)


def test_continue_fit_appends(blobs):
    model = DPMixture(**QUICK).fit(blobs[0])
    before = model.posterior_.labels.copy()
    model.continue_fit(30)
    assert model.posterior_.n_draws == 70
    assert model.n_iter_ == 130
    np.testing.assert_array_equal(model.posterior_.labels[:, :40], before)
    assert model.posterior_.log_posterior.shape == (4, 70)


def test_continue_fit_at_a_boundary_is_one_long_fit(blobs):
    model = DPMixture(**QUICK).fit(blobs[0]).continue_fit(40)
    same_draws(model, DPMixture(**{**QUICK, "n_draws": 80}).fit(blobs[0]))


def test_warm_start_goes_on_from_the_last_states(blobs):
    X = blobs[0]
    model = DPMixture(n_draws=1, n_warmup=0, init="singletons", warm_start=True, random_state=0)
    model.fit(X)
    first = model.posterior_.log_posterior.mean()
    for _ in range(30):
        model.fit(X)
    assert model.posterior_.log_posterior.mean() > first
    assert model.n_iter_ == 1
    model.fit(X[:30])  # another number of rows: a fresh start
    assert model.posterior_.n_items == 30


def test_warm_starts_do_not_repeat_their_random_numbers():
    """With an integer seed, too: otherwise 200 warm starts would return one partition for ever."""
    X = np.array([[-1.0], [-0.8], [0.1], [1.2], [0.9]])
    model = DPMixture(alpha=1.0, n_draws=1, n_warmup=1, n_chains=1, warm_start=True, random_state=0)
    seen = {model.fit(X).posterior_.labels.tobytes() for _ in range(200)}
    assert len(seen) > 5


def test_warm_start_obeys_a_changed_prior(blobs):
    X = np.random.default_rng(0).normal(size=(40, 1))
    warm = DPMixture(alpha=0.01, warm_start=True, **QUICK).fit(X)
    warm.set_params(alpha=30.0).fit(X)
    fresh = DPMixture(alpha=30.0, **{**QUICK, "n_draws": 400}).fit(X)
    assert warm.posterior_.n_clusters.mean() == pytest.approx(
        fresh.posterior_.n_clusters.mean(), rel=0.2
    )


def test_continue_fit_goes_on_with_what_was_fitted(blobs):
    model = DPMixture(**QUICK).fit(blobs[0])
    model.set_params(alpha=50.0, likelihood="bernoulli").continue_fit(10)
    assert model.posterior_.alpha.shape == (4, 50)
    assert np.isfinite(model.score(blobs[0]))
    model.set_params(sampler="gibbs", thin=7).continue_fit(10)
    assert model.n_iter_ == 120
    assert "NormalInverseWishart(), sampler SplitMerge()" in str(model.report())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_continued_draws_keep_the_thinning_of_the_fit(blobs):
    model = DPMixture(**{**QUICK, "n_draws": 5, "n_warmup": 5, "thin": 3}).fit(blobs[0])
    assert model.set_params(thin=1).continue_fit(10).n_iter_ == 5 + 3 * 15


def test_continue_fit_after_chains_were_stopped_apart(blobs):
    model = DPMixture(**QUICK).fit(blobs[0])
    for arrays, iteration in zip(model._fitted.states, (29, 50, 40, 3), strict=True):
        arrays["meta"] = np.array(
            str(arrays["meta"]).replace('"iteration": 100', f'"iteration": {iteration}')
        )
    model.continue_fit(10)
    assert model.posterior_.n_draws == 50


@pytest.mark.parametrize("init", ["one", "singletons", "prior", "kmeans", "auto"])
def test_inits(blobs, init):
    model = DPMixture(init=init, n_draws=5, n_warmup=300, random_state=0).fit(blobs[0])
    # From one cluster, Gibbs sampling may need longer to split all three.
    assert model.n_clusters_ >= (2 if init == "one" else 3)


def test_init_by_labels(blobs):
    X, labels = blobs
    rows = np.stack([labels, labels * 0, np.arange(60), labels + 5])
    for init in (labels, rows, rows.tolist()):
        DPMixture(init=init, n_draws=2, n_warmup=0, random_state=0).fit(X)


def test_auto_starts_differ_between_chains(blobs):
    from bnpcluster._fitting.initial_labels import initial_labels

    rngs = [np.random.default_rng(c) for c in range(4)]
    rows = initial_labels("auto", blobs[0], NormalInverseGamma(), DirichletProcess(1.0), rngs)
    assert len({row.tobytes() for row in rows}) == 4


def test_the_map_estimate_counts_the_hyper_prior():
    """log_posterior is the joint density of partition and alpha, not given alpha alone."""
    X = np.random.default_rng(0).normal(size=(12, 1))
    guess = NormalInverseGamma(shape="data", scale="data")
    model = DPMixture(alpha=(3.0, 2.0), likelihood=guess, **QUICK).fit(X)
    trace, alpha = model.posterior_.log_posterior, model.posterior_.alpha
    labels = model.posterior_.labels[0, 0].astype(int)
    prior = DirichletProcess(float(alpha[0, 0]))
    bound = model._fitted.likelihood.bind(X)
    from bnpcluster._core.state import State

    joint = State(bound, prior, labels).log_joint()
    assert trace[0, 0] == pytest.approx(joint + gamma(3.0, scale=0.5).logpdf(alpha[0, 0]))


@pytest.mark.parametrize("point_estimate", ["vi", "binder", "map"])
def test_point_estimates(blobs, point_estimate):
    X, labels = blobs
    model = DPMixture(point_estimate=point_estimate, **QUICK).fit(X)
    assert adjusted_rand_score(labels, model.labels_) > 0.95
    np.testing.assert_array_equal(model.labels_, model.posterior_.point_estimate(point_estimate))


def test_max_time_keeps_what_there_is(blobs):
    begin = time.perf_counter()
    model = DPMixture(n_draws=10**6, n_warmup=20, max_time=0.5, random_state=0)
    model.fit(blobs[0])
    assert time.perf_counter() - begin < 20
    assert 1 < model.posterior_.n_draws < 10**6
    assert not model.interrupted_


def test_max_time_before_the_end_of_warm_up(blobs):
    model = DPMixture(n_draws=10, n_warmup=10**7, max_time=0.2, random_state=0)
    with pytest.warns(ConvergenceWarning, match="before warm-up was over.*raise max_time"):
        model.fit(blobs[0])
    assert model.posterior_.labels.shape == (4, 1, 60)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_interrupt_returns_a_fitted_estimator(blobs, interrupts, n_jobs):
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    model = DPMixture(n_draws=10**7, n_warmup=10, n_jobs=n_jobs, random_state=0)
    timer.start()
    model.fit(blobs[0])
    assert model.interrupted_
    assert len(model.predict(blobs[0])) == 60
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_after_sampling_loses_nothing(blobs, interrupts, monkeypatch):
    diagnose = chain_runs.diagnose

    def late(*arguments, **settings):
        os.kill(os.getpid(), signal.SIGINT)
        return diagnose(*arguments, **settings)

    monkeypatch.setattr(chain_runs, "diagnose", late)
    try:
        model = DPMixture(**QUICK).fit(blobs[0])
    except KeyboardInterrupt:  # which would end the whole session of tests
        pytest.fail("the draws are lost")
    assert model.interrupted_
    assert model.posterior_.n_draws == 40
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    monkeypatch.setattr(chain_runs, "diagnose", diagnose)
    model.continue_fit(3)
    assert model.posterior_.n_draws == 43


def test_checkpoint_resumes_bit_for_bit(blobs, tmp_path, monkeypatch):
    X = blobs[0]
    parameters = {"n_draws": 150, "n_warmup": 50, "random_state": 0, "thin": 2}
    whole = DPMixture(**parameters).fit(X)
    # A fit that dies after its second save, then one that finds what was saved.
    monkeypatch.setattr("bnpcluster._fitting.checkpoint.EVERY", 0.0)
    from bnpcluster._fitting.checkpoint import Checkpoint

    save, saved = Checkpoint.save, []

    def dies(self, chains, force=False):
        save(self, chains, force)
        saved.append(chains[0].iteration)
        if len(saved) == 2:
            raise KeyError("the machine stopped")

    monkeypatch.setattr(Checkpoint, "save", dies)
    with pytest.raises(KeyError):
        DPMixture(checkpoint=tmp_path, **parameters).fit(X)
    monkeypatch.setattr(Checkpoint, "save", save)
    assert 0 < saved[-1] < 350
    resumed = DPMixture(checkpoint=tmp_path, **parameters).fit(X)
    same_draws(whole, resumed)
    assert resumed.n_iter_ == 350
    same_draws(whole, DPMixture(checkpoint=tmp_path, **parameters).fit(X))  # nothing left to do
    other = DPMixture(checkpoint=tmp_path, **{**parameters, "random_state": 1}).fit(X)
    assert not np.array_equal(other.posterior_.labels, whole.posterior_.labels)
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("calls", [7, 130, 300])
def test_a_stopped_fit_resumes_bit_for_bit(tmp_path, monkeypatch, calls):
    """Stopped between any two kernel calls, in the middle of a sweep, too."""
    from bnpcluster._core.state import State
    from bnpcluster._fitting.rounds import Stop

    X = np.random.default_rng(0).normal(size=(300, 2))
    parameters = {"n_draws": 60, "n_warmup": 30, "n_chains": 2, "random_state": 0}
    whole = DPMixture(**parameters).fit(X)
    step = State._fit_chunk
    monkeypatch.setattr(State, "_fit_chunk", lambda self, *a: setattr(self, "_chunk", 100))
    asked = iter(range(10**9))
    with monkeypatch.context() as patch:
        patch.setattr(Stop, "__call__", lambda self: next(asked) > calls)
        DPMixture(checkpoint=tmp_path, **parameters).fit(X)
    monkeypatch.setattr(State, "_fit_chunk", step)
    same_draws(whole, DPMixture(checkpoint=tmp_path, **parameters).fit(X))


def test_a_spoilt_checkpoint_is_refused_and_left_alone(blobs, tmp_path):
    parameters = {"n_draws": 5, "n_warmup": 5, "random_state": 0, "checkpoint": tmp_path}
    DPMixture(**parameters).fit(blobs[0])
    (file,) = tmp_path.iterdir()
    for content in (b"", file.read_bytes()[:200], b"not a checkpoint"):
        file.write_bytes(content)
        with pytest.raises(ValueError, match=r"cannot be read.*move it away"):
            DPMixture(**parameters).fit(blobs[0])
        assert file.read_bytes() == content


def test_objects_instead_of_names(blobs):
    by_name = DPMixture(alpha=1.0, likelihood="nig", sampler="gibbs", **QUICK).fit(blobs[0])
    likelihood, sampler, prior = NormalInverseGamma(), Gibbs(), DirichletProcess(1.0)
    by_object = BNPMixture(prior=prior, likelihood=likelihood, sampler=sampler, **QUICK)
    same_draws(by_name, by_object.fit(blobs[0]))


def test_parameters_are_stored_untouched_and_fit_leaves_them_alone(blobs):
    likelihood = NormalInverseGamma(kappa=0.2)
    model = DPMixture(likelihood=likelihood, **QUICK)
    before = copy.deepcopy(model.get_params())
    model.fit(blobs[0])
    assert model.likelihood is likelihood
    assert repr(model.get_params()) == repr(before)


@pytest.mark.parametrize("likelihood", ["niw", "nig"])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_units_and_offsets_do_not_matter(likelihood, d):
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal(c, 0.2, (15, d)) for c in (0, 2)])
    scale, offset = np.ones(d), np.zeros(d)
    scale[0], offset[-1] = 1000.0, 1e6
    one = DPMixture(likelihood=likelihood, **QUICK).fit(X)
    other = DPMixture(likelihood=likelihood, **QUICK).fit(X * scale + offset)
    np.testing.assert_array_equal(one.posterior_.labels, other.posterior_.labels)
    shift = one.score_samples(X) - other.score_samples(X * scale + offset)
    np.testing.assert_allclose(shift, np.log(1000.0), atol=1e-6)


def test_report_says_what_was_found(fitted):
    text = str(fitted.report())
    for part in ("DPMixture", "60 rows, 2 columns", "3 in the point estimate", "alpha", "agree"):
        assert part in text
    assert fitted.diagnostics_.verdict in text
    assert "<table" in fitted.report().to_html() == fitted.report()._repr_html_()
    assert "note" not in fitted.report().found


def test_report_notes_an_estimate_that_no_draw_resembles():
    """Coins tell nothing of clusters: every item apart is best, though no draw is like that."""
    X = np.random.default_rng(0).integers(2, size=(60, 4)).astype(float)
    quick = {**QUICK, "n_draws": 200, "point_estimate": "vi"}
    model = DPMixture(likelihood="bernoulli", **quick).fit(X)
    assert model.n_clusters_ > max(model.n_clusters_posterior_)
    assert "more clusters than any draw" in str(model.report())


def test_report_counts_rows_with_few_effective_draws(monkeypatch):
    monkeypatch.setattr("bnpcluster._estimators.mixture.COMPARED_ROWS", 60)
    X = np.random.default_rng(0).standard_t(3, size=(120, 2))
    quick = {"likelihood": "nig", "n_warmup": 0, "random_state": 0}
    model = DPMixture(n_draws=6, **quick).fit(X)
    few = (model.novelty(X[::2], return_ess=True)[1] < 20).sum()
    assert 0 < few < 60
    report = model.report()
    start = f"novelty and memberships of {few} of 60 rows rest on fewer than 20 effective "
    assert report.found["predictions"] == start + "draws: raise n_draws"
    assert report.in_shell_words().found["predictions"] == start + "draws: raise --draws"
    # If there are too few draws for any row, other sentences say so; if there are enough, none.
    assert "predictions" not in DPMixture(n_draws=4, **quick).fit(X).report().found
    assert "predictions" not in DPMixture(n_draws=40, **quick).fit(X).report().found
    particles = {"sampler": "urn_smc", "n_particles": 12, "n_chains": 2, "alpha": 1.0}
    told = DPMixture(**particles, likelihood="nig", random_state=0).fit(X).report()
    assert told.found["predictions"].endswith("effective particles: raise n_particles")
    shell = told.in_shell_words().found["predictions"]
    assert shell.endswith("effective particles: raise --particles")


def test_report_of_a_data_frame(blobs):
    import pandas as pd

    model = DPMixture(**QUICK).fit(pd.DataFrame(blobs[0], columns=["a", "b"]))
    assert "agreement" in str(model.report())


def test_pickled_models_predict_the_same(fitted, blobs):
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_proba(blobs[0]), fitted.predict_proba(blobs[0]))
    same_draws(fitted, again)


def test_sampler_stats(fitted):
    assert fitted.sampler_stats_["sweeps"] == [1200] * 4
    assert fitted.sampler_stats_["iterations"] == [1200] * 4
    assert all(s > 0 for s in fitted.sampler_stats_["seconds"])


PRESETS = {
    DPMixture: {"alpha": (2.0, 1.0)},
    PitmanYorMixture: {"alpha": (2.0, 1.0), "discount": (1.0, 3.0)},
    FiniteDirichletMixture: {"n_components": 5, "concentration": (1.0, 1.0)},
    MFMMixture: {"gamma": (2.0, 2.0)},
    NGGMixture: {"tau": (1.0, 1.0), "sigma": (1.0, 3.0)},
}


@pytest.mark.parametrize("preset", PRESETS, ids=lambda p: p.__name__)
def test_presets_fit_fixed_and_sampled(preset, blobs):
    X, labels = blobs
    sampled = {k for k, v in PRESETS[preset].items() if isinstance(v, tuple)}
    model = preset(**PRESETS[preset], **QUICK).fit(X)
    learned = {"log_scale", "nu", "log_density"}
    assert set(model.posterior_.traces) == {"n_clusters", "log_posterior", *learned, *sampled}
    for name in sampled:
        assert len(np.unique(model.posterior_.traces[name])) > 4
    assert adjusted_rand_score(labels, model.labels_) > 0.9
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert np.isfinite(model.score(X))
    fixed = preset(**({"alpha": 0.7} if preset is PitmanYorMixture else {}), **QUICK).fit(X)
    assert fixed.n_clusters_ >= 3


def test_a_finite_mixture_never_exceeds_its_components(blobs):
    for init in ("auto", "singletons", "prior"):
        model = FiniteDirichletMixture(n_components=2, init=init, **QUICK).fit(blobs[0])
        assert model.posterior_.n_clusters.max() <= 2
    with pytest.raises(ValueError, match="more clusters than the prior allows: use at most 2"):
        FiniteDirichletMixture(n_components=2, init=blobs[1], **QUICK).fit(blobs[0])


def test_one_kernel_serves_all_priors(blobs):
    """Priors are data: after one of them, all the others compile nothing new."""
    if DISABLED:
        return  # interpreted: there is nothing to count
    quick = {**QUICK, "n_draws": 30}
    X = blobs[0]

    def signatures():
        return {kernel.py_func: len(kernel.signatures) for kernel in KERNELS}

    DPMixture(alpha=(2.0, 1.0), **quick).fit(X).predict(X)
    before = signatures()
    for preset, parameters in PRESETS.items():
        preset(**parameters, **quick).fit(X).predict(X)
    assert signatures() == before
    assert before[sweep.py_func] >= 1
