"""Learned hyper-parameters are part of the state: resume, continue, warm starts, predictions."""

import warnings

import numpy as np
import pytest

from bnpcluster import DPMixture
from bnpcluster._core.operations import clear, log_predictive, renew_rows, set_learned
from bnpcluster._core.state import State, grown_bound
from bnpcluster._estimators.hyper_parameters import describe, hyper_parameters
from bnpcluster._fitting import rounds
from bnpcluster._predict.predictive import draw_log_densities, new_workspace
from bnpcluster.likelihoods import (
    Bernoulli,
    Categorical,
    Columns,
    NormalInverseGamma,
    NormalInverseWishart,
    Poisson,
    Wishart,
)
from bnpcluster.likelihoods.gaussian.learned_covariance import CovariancePrior
from bnpcluster.likelihoods.gaussian.learned_grid import (
    allowed_grid,
    hyper_parameters_of_covariances,
)
from bnpcluster.samplers import AnnealedSMC

RNG = np.random.default_rng(3)
NEAR = np.repeat([-1.5, 1.5], 12)[:, None]
ROWS = NEAR + RNG.normal(size=(24, 3))
HOLED = ROWS.copy()
HOLED[[1, 4, 7], [0, 1, 0]] = np.nan
NESTED = ROWS.copy()
NESTED[:5, 2] = np.nan
BITS = (RNG.random((24, 3)) < 0.5 + 0.2 * NEAR).astype(float)
MIXED = np.column_stack([ROWS[:, 0], BITS[:, 0], RNG.poisson(2 + NEAR[:, 0] ** 2)])
PARTS = Columns([("nig", 0), ("bernoulli", 1), ("poisson", 2)])
CASES = {
    "niw": ("niw", ROWS),
    "niw_plane": ("niw", ROWS[:, :2]),
    "niw_column": ("niw", ROWS[:, :1]),
    "niw_imputed": ("niw", HOLED),
    "niw_nested": ("niw", NESTED),
    "niw_kappa": (NormalInverseWishart(kappa=(1.0, 50.0)), ROWS),
    "nig": ("nig", ROWS),
    "nig_missing": ("nig", HOLED),
    "bernoulli": ("bernoulli", BITS),
    "categorical": ("categorical", BITS),
    "poisson": ("poisson", MIXED[:, 2:]),
    "columns": (PARTS, MIXED),
}
SHORT = {"n_draws": 30, "n_warmup": 30, "n_chains": 2, "random_state": 0}

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def fitted(name, **settings):
    likelihood, X = CASES[name]
    return DPMixture(likelihood=likelihood, **{**SHORT, **settings}).fit(X), X


def same(a, b):
    assert np.array_equal(a.posterior_.labels, b.posterior_.labels)
    assert np.array_equal(a._fitted.learned, b._fitted.learned)
    assert np.array_equal(a.posterior_.log_posterior, b.posterior_.log_posterior)


@pytest.mark.parametrize("name", list(CASES))
def test_a_stopped_fit_resumes_bit_by_bit(name, tmp_path, monkeypatch):
    whole, _ = fitted(name, n_draws=60, n_warmup=60)
    stop_at = 70

    def interrupted(chain, state, sampler, schedule, iterate=rounds.iterate):
        if chain.iteration >= stop_at:
            raise rounds.Stopped
        iterate(chain, state, sampler, schedule)

    monkeypatch.setattr(rounds, "iterate", interrupted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted(name, n_draws=60, n_warmup=60, checkpoint=tmp_path)
    monkeypatch.undo()
    resumed, _ = fitted(name, n_draws=60, n_warmup=60, checkpoint=tmp_path)
    same(whole, resumed)


@pytest.mark.parametrize("name", ["niw", "niw_nested", "columns", "poisson"])
def test_chains_continue_with_their_values(name):
    whole, _ = fitted(name, n_draws=60)
    part, _ = fitted(name, n_draws=20)
    part.continue_fit(40)
    same(whole, part)
    assert part._fitted.learned.shape[:2] == (2, 60)


def test_a_warm_start_keeps_the_values(monkeypatch):
    model, X = fitted("niw")
    monkeypatch.setattr(rounds.State, "move_learned", lambda state, rng: None)
    last = model._fitted.learned[:, -1]
    model.set_params(warm_start=True, n_warmup=0, n_draws=1).fit(X)
    assert np.array_equal(model._fitted.learned[:, 0], last)


@pytest.mark.parametrize("name", list(CASES))
def test_each_draw_predicts_with_its_own_values(name):
    model, X = fitted(name)
    record = model._served(X[:6])
    every = draw_log_densities(record, X[:6], np.arange(60))
    mean = np.logaddexp.reduce(every, axis=0) - np.log(60)
    np.testing.assert_allclose(model.score_samples(X[:6]), mean, atol=1e-9)
    # A single draw, alone, with its own values:
    learned = record.learned_draws
    assert (learned != learned[0]).any()
    alone = draw_log_densities(
        record._replace(
            learned=np.repeat(learned[41:42], 60, axis=0).reshape(record.learned.shape)
        ),
        X[:6],
        np.array([41]),
    )
    np.testing.assert_allclose(alone[0], every[41], atol=1e-9)
    plugged = draw_log_densities(
        record._replace(learned=np.repeat(learned[:1], 60, axis=0).reshape(record.learned.shape)),
        X[:6],
        np.array([41]),
    )
    assert (learned[41] == learned[0]).all() or not np.allclose(plugged[0], every[41], atol=1e-9)


@pytest.mark.parametrize("name", ["niw", "niw_plane", "niw_nested", "nig", "bernoulli", "poisson"])
def test_a_new_cluster_has_the_values_of_the_draw(name):
    model, X = fitted(name)
    record, draws = model._served(X[:6]), np.arange(0, 60, 9)
    sizes = [record.sizes(r) for r in range(60)]
    urn = np.full(record.log_urn.shape, -np.inf)
    urn[np.arange(60), list(map(len, sizes))] = 0.0  # every row is of a new cluster
    found = draw_log_densities(record._replace(log_urn=urn), X[:6], draws)
    for row, r in zip(found, draws, strict=True):
        bound, _ = new_workspace(record)
        set_learned(bound, record.learned_draws[r])
        rows = record.likelihood.rows(bound, X[:6])
        clear(rows, 0)
        expected = [log_predictive(rows, 0, i) for i in range(6)]
        np.testing.assert_allclose(row, expected, atol=1e-9)


@pytest.mark.parametrize("name", ["niw", "niw_plane", "nig", "niw_column"])
def test_marginals_use_the_values_of_each_draw(name):
    model, X = fitted(name)
    d = X.shape[1]
    together = model.marginal(list(range(d))).score_samples(X[:5])
    np.testing.assert_allclose(together, model.score_samples(X[:5]), atol=1e-8)


@pytest.mark.parametrize("name", list(CASES))
def test_traces_and_hyper_parameters(name):
    model, _ = fitted(name)
    found = model.hyper_parameters_
    learned = [key for key, value in found.items() if np.shape(value)[:2] == (2, 30)]
    assert learned
    traces = set(model.posterior_.traces) - {"alpha", "n_clusters", "log_posterior", "log_density"}
    assert traces and all(np.isfinite(model.posterior_.traces[t]).all() for t in traces)
    text = str(model.report())
    assert ", learned" in text and "log_scale  " not in text.split("R-hat")[0]


def test_the_log_posterior_has_the_density_of_the_values():
    model, _ = fitted("niw")
    bound, prior = model._fitted.bound, model._fitted.prior
    state = rounds.State(
        bound,
        prior.at(alpha=model.posterior_.alpha[1, 7]),
        model.posterior_.labels[1, 7].astype(int),
    )
    state.set_learned(model._fitted.learned[1, 7])
    assert state.log_posterior() == pytest.approx(model.posterior_.log_posterior[1, 7], abs=1e-8)
    assert state.log_posterior() != pytest.approx(
        state.log_joint() + state.prior.log_hyper_density(), abs=1e-3
    )


@pytest.mark.parametrize(
    ("likelihood", "what"),
    [
        (NormalInverseWishart(scale="data", nu="data"), set()),
        (NormalInverseWishart(scale="data"), {"nu"}),
        (NormalInverseWishart(nu=7.0), {"log_scale"}),
        (NormalInverseWishart(scale=2.0), set()),
        (NormalInverseWishart(scale=Wishart(df=9, mean=2.0)), {"log_scale", "nu"}),
        (NormalInverseWishart(kappa=(1.0, 9.0)), {"log_scale", "nu", "kappa"}),
        (NormalInverseGamma(scale="data", shape="data"), set()),
        (NormalInverseGamma(scale="data"), {"shape"}),
        (NormalInverseGamma(scale=[1.0, 2.0, 3.0]), set()),
        (NormalInverseGamma(scale=Wishart(df=9)), {"log_scale", "shape"}),
        (NormalInverseGamma(kappa=(1.0, 9.0), scale="data"), {"shape", "kappa"}),
    ],
)
def test_what_is_learned(likelihood, what):
    model = DPMixture(alpha=1.0, likelihood=likelihood, **SHORT).fit(ROWS)
    assert set(model.posterior_.traces) - {"n_clusters", "log_posterior", "log_density"} == what
    assert (model._fitted.learned is None) == (not what)


@pytest.mark.parametrize("cls", [Bernoulli, Categorical, Poisson])
def test_guesses_of_discrete_data_are_fixed(cls):
    data = cls(**dict.fromkeys(cls.learnable, "data"))
    model = DPMixture(alpha=1.0, likelihood=data, **SHORT).fit(BITS)
    assert model._fitted.learned is None
    assert set(model.posterior_.traces) == {"n_clusters", "log_posterior", "log_density"}


def test_particles_keep_the_guess():
    model = DPMixture(sampler="urn_smc", n_particles=30, random_state=0).fit(ROWS)
    guess = DPMixture(
        sampler="urn_smc",
        likelihood=NormalInverseWishart(mean="data", kappa="data", nu="data", scale="data"),
        n_particles=30,
        random_state=0,
    ).fit(ROWS)
    assert model.log_evidence_ == guess.log_evidence_
    assert "the prior has seen the data" in " ".join(str(model.report()).split())
    given = NormalInverseWishart(mean=0.0, kappa=0.1, nu=5.0, scale=1.0)
    fixed = DPMixture(sampler="urn_smc", likelihood=given, n_particles=30, random_state=0)
    assert "caution" not in str(fixed.fit(ROWS).report())


def particles(name, n_particles=12, **settings):
    """A fit with particles that carry the values."""
    sampler = AnnealedSMC(n_particles=n_particles, path="temperature", temperatures=[0.2, 1.0])
    return fitted(name, sampler=sampler, alpha=1.0, **settings)


CARRIED = [name for name in CASES if name not in ("niw_imputed", "niw_nested")]


@pytest.mark.parametrize("name", CARRIED)
def test_each_particle_predicts_with_its_own_values(name):
    model, X = particles(name)
    record, weights = model._served(X[:6]), model.posterior_.weights.ravel()
    assert model._fitted.learned.shape[:2] == (2, 12)
    assert len(np.unique(record.learned_draws, axis=0)) > 2
    every = draw_log_densities(record, X[:6], np.arange(24))
    mean = np.log(weights @ np.exp(every) / weights.sum())
    np.testing.assert_allclose(model.score_samples(X[:6]), mean, atol=1e-9)
    # The last particle, by hand:
    bound, labels = grown_bound(record.bound, 40), model.posterior_.labels[1, 11].astype(int)
    state = State(bound, model._fitted.prior, labels)
    state.set_learned(model._fitted.learned[1, 11])
    assert state.log_posterior() == pytest.approx(model.posterior_.log_posterior[1, 11], abs=1e-7)
    new = model._fitted.likelihood.rows(state.problem.likelihood, X[:6])
    renew_rows(new)
    urn = np.exp(model._fitted.prior.predictive(state.sizes))
    by_hand = [
        np.log(sum(w * np.exp(log_predictive(new, k, i)) for k, w in enumerate(urn)))
        for i in range(6)
    ]
    np.testing.assert_allclose(every[-1], by_hand, atol=1e-8)


def test_particles_report_their_values():
    model, X = particles("niw")
    found = model.hyper_parameters_
    assert found["expected_covariance"].shape == (2, 12, 3, 3)
    assert np.array_equal(found["nu"], model.posterior_.nu)
    mean_log = np.linalg.slogdet(found["expected_covariance"])[1] / 3
    np.testing.assert_allclose(model.posterior_.log_scale, mean_log, atol=1e-8)
    text = " ".join(str(model.report()).split())
    assert text.count(", learned") == 2
    assert "the centres of their hyper-priors, were guessed" in text
    marginal = model.marginal([0, 1, 2]).score_samples(X[:5])
    np.testing.assert_allclose(marginal, model.score_samples(X[:5]), atol=1e-8)
    assert np.isfinite(model.sample(5, random_state=0)).all()


def test_a_hyper_prior_from_the_data_gets_a_caution():
    for mean, cautioned in (("data", True), (1.0, False)):
        given = NormalInverseWishart(mean=0.0, kappa=0.1, nu=5.0, scale=Wishart(mean=mean))
        sampler = AnnealedSMC(n_particles=8, path="temperature")
        model = DPMixture(sampler=sampler, likelihood=given, **SHORT).fit(ROWS)
        assert ("caution" in str(model.report())) == cautioned
        assert model._fitted.learned is not None


def test_particles_on_other_paths_and_with_nested_entries_keep_the_guess():
    guess = NormalInverseWishart().guessed()
    for sampler, X in (
        (AnnealedSMC(n_particles=8), ROWS),
        (AnnealedSMC(n_particles=8, path="temperature"), NESTED),
    ):
        both = [
            DPMixture(sampler=sampler, likelihood=likelihood, **SHORT).fit(X)
            for likelihood in ("niw", guess)
        ]
        assert both[0].log_evidence_ == both[1].log_evidence_
        assert both[0]._fitted.learned is None
        assert "learned" not in str(both[0].report())


def test_nested_entries_need_fixed_values():
    sampler = AnnealedSMC(n_particles=8, path="temperature")
    given = NormalInverseWishart(kappa=(1.0, 2.0))
    with pytest.raises(ValueError, match="of the likelihood where entries are missing"):
        DPMixture(sampler=sampler, likelihood=given, **SHORT).fit(NESTED)


@pytest.mark.parametrize("given", [{"kappa": (1.0, 2.0)}, {"scale": Wishart()}])
def test_particles_need_fixed_values(given):
    model = DPMixture(sampler="urn_smc", likelihood=NormalInverseWishart(**given), n_particles=9)
    with pytest.raises(ValueError, match="fixed hyper-parameters of the likelihood"):
        model.fit(ROWS)


@pytest.mark.parametrize(
    "given",
    [
        {"kappa": (1.0,)},
        {"kappa": (1.0, -2.0)},
        {"kappa": "wide"},
        {"scale": "wide"},
        {"scale": Wishart(df=1)},
        {"scale": Wishart(mean=-1.0)},
        {"nu": "wide"},
    ],
)
def test_wrong_values(given):
    with pytest.raises((ValueError, TypeError)):
        DPMixture(likelihood=NormalInverseWishart(**given), **SHORT).fit(ROWS)


def test_collinear_copied_and_rounded_columns():
    """Clusters without scatter in some direction do not make the scale run away."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    x = rng.normal(size=(120, 2)) + 6 * y[:, None]
    for X in (
        np.column_stack([x, x[:, 0]]),
        np.column_stack([x, x @ [0.3, -1.2]]),
        np.round(x, 1),
    ):
        model = DPMixture(n_draws=300, random_state=0).fit(X)
        assert model.n_clusters_ == 2
        assert np.isfinite(model.posterior_.log_scale).all()
        assert np.ptp(model.posterior_.log_scale[:, 100:].mean(axis=1)) < 2.0
        assert np.isfinite(model.score(X))


def test_fewer_rows_than_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 30)) + 3 * np.repeat([0, 1], 6)[:, None]
    model = DPMixture(n_draws=100, n_warmup=100, random_state=0).fit(X)
    assert np.isfinite(model.posterior_.log_posterior).all()
    assert np.isfinite(model.score(X))


def test_values_by_column_are_no_draws():
    """As many columns as draws."""
    X = np.random.default_rng(0).normal(size=(20, 6))
    model = DPMixture(n_draws=3, n_warmup=5, n_chains=2, random_state=0).fit(X)
    found = model.hyper_parameters_
    assert found["mean"].shape == (6,)
    assert found["expected_covariance"].shape == (2, 3, 6, 6)


def test_the_report_names_the_columns_of_parts():
    X = MIXED[:, [1, 0, 0]] + [[0.0, 0.0, 1.0]]
    parts = Columns([("bernoulli", 0), ("nig", [1, 2])])
    text = str(DPMixture(likelihood=parts, **SHORT).fit(X).report())
    line = next(line for line in text.splitlines() if "expected sd_1" in line)
    assert "1: " in line and "2: " in line and "0: " not in line


def test_nested_missing_entries_move_at_temperature_one_only():
    bound = NormalInverseWishart().bind(NESTED)
    for beta, moves in ((1.0, True), (0.5, False)):
        state = rounds.State(bound, DPMixture(alpha=1.0)._prior(), np.arange(24) // 12, beta=beta)
        before, joint = state.learned, state.log_joint()
        state.move_learned(np.random.default_rng(0))
        assert np.array_equal(before, state.learned) != moves
        assert (state.log_joint() == joint) != moves


def test_a_hyper_prior_follows_the_columns_that_are_left():
    X = np.insert(ROWS[:, :2], 1, 7.0, axis=1)
    given = NormalInverseWishart(scale=Wishart(mean=[1.0, 5.0, 2.0]))
    with pytest.warns(UserWarning, match="Constant column"):
        model = DPMixture(likelihood=given, **SHORT).fit(X)
    assert model._fitted.likelihood.scale.mean == [1.0, 2.0]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"kappa": "wide"}, "'auto', 'data', a number or a pair"),
        ({"kappa": (1.0, "auto")}, "The rate of kappa must be a number"),
        ({"scale": Wishart(df="data")}, "df must be 'auto' or a number"),
    ],
)
def test_errors_say_what_is_allowed(given, words):
    with pytest.raises(TypeError, match=words):
        DPMixture(likelihood=NormalInverseWishart(**given), **SHORT).fit(ROWS)


@pytest.mark.parametrize(
    ("case", "learned", "fixed"),
    [
        ("niw", {"nu", "expected sd"}, {"kappa"}),
        ("niw_column", {"nu", "expected sd", "kappa"}, set()),
        ("niw_kappa", {"nu", "kappa", "expected sd"}, set()),
        ("nig", {"shape", "expected sd"}, {"kappa"}),
        ("poisson", {"shape", "rate"}, set()),
        ("bernoulli", {"a", "b"}, set()),
        (("niw", NormalInverseWishart(nu=7.0)), {"expected sd"}, {"nu", "kappa"}),
        (("niw", NormalInverseWishart(scale="data")), {"nu"}, {"expected sd", "kappa"}),
        (("nig", NormalInverseGamma(scale="data")), {"shape"}, {"expected sd", "kappa"}),
        (("poisson", Poisson(shape=2.0)), {"rate"}, {"shape"}),
        (("poisson", Poisson(rate="data")), {"shape", "rate"}, set()),
    ],
    ids=lambda value: str(sorted(value) if isinstance(value, set) else value),
)
def test_what_is_learned_does_not_depend_on_the_draws(case, learned, fixed):
    """Nor on their number: with much data, all draws of a value on a grid are the same."""
    case, likelihood = case if isinstance(case, tuple) else (case, CASES[case][0])
    settings = {**SHORT, "n_draws": 3, "n_warmup": 3}
    model = DPMixture(likelihood=likelihood, **settings).fit(CASES[case][1])
    record = model._fitted
    same = record._replace(learned=np.broadcast_to(record.learned[:1, :1], record.learned.shape))
    for each in (record, same):
        lines = describe(each, None)
        said = {name: line.rsplit(", ", 1)[1] for name, line in lines.items() if name != "mean"}
        assert said == dict.fromkeys(learned, "learned") | dict.fromkeys(fixed, "fixed")
        drawn = {k for k, v in hyper_parameters(each).items() if np.shape(v)[:2] == (2, 3)}
        assert {k.split("_")[0] for k in drawn} == {k.split()[0] for k in learned}


def test_a_single_draw_of_a_learned_value_is_a_draw():
    model = DPMixture(n_draws=1, n_warmup=1, n_chains=1, random_state=0).fit(ROWS)
    assert model.hyper_parameters_["nu"].shape == (1, 1)
    assert np.ndim(model.hyper_parameters_["kappa"]) == 0
    assert describe(model._fitted, None)["nu"].endswith("learned")


def test_a_grid_of_one_value_is_fixed():
    """With 300,000 rows, the guess of nu allows no smaller value than the largest of the grid."""
    hyper = CovariancePrior.of(np.eye(2), df=np.array([3.0]), grid=allowed_grid(600.0))
    bound = NormalInverseWishart().bind(ROWS[:, :2])._replace(hyper=hyper)
    values = hyper_parameters_of_covariances(bound, np.ones((4, 5)))
    assert np.ndim(values["nu"]) == 0
    assert values["expected_covariance"].shape == (4, 2, 2)
