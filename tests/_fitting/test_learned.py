"""Learned hyper-parameters are part of the state: resume, continue, warm starts, predictions."""

import warnings

import numpy as np
import pytest

from bnpcluster import DPMixture
from bnpcluster._fitting import rounds
from bnpcluster._predict.predictive import draw_log_densities
from bnpcluster.likelihoods import (
    Bernoulli,
    Categorical,
    Columns,
    NormalInverseGamma,
    NormalInverseWishart,
    Poisson,
    Wishart,
)

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
    labels, learned = record.posterior.labels.reshape(60, -1), record.learned_draws
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
    assert labels.shape[1] == len(X)


@pytest.mark.parametrize("name", ["niw", "niw_plane", "nig", "niw_column"])
def test_marginals_use_the_values_of_each_draw(name):
    model, X = fitted(name)
    d = X.shape[1]
    together = model.marginal(list(range(d))).score_samples(X[:5])
    np.testing.assert_allclose(together, model.score_samples(X[:5]), atol=1e-8)


@pytest.mark.parametrize("name", list(CASES))
def test_traces_and_hyper_parameters(name):
    model, X = fitted(name)
    found = model.hyper_parameters_
    learned = [key for key, value in found.items() if np.shape(value)[:2] == (2, 30)]
    assert learned
    traces = set(model.posterior_.traces) - {"alpha", "n_clusters", "log_posterior"}
    assert traces and all(np.isfinite(model.posterior_.traces[t]).all() for t in traces)
    text = str(model.report())
    assert ", learned" in text and "log_scale  " not in text.split("R-hat")[0]
    assert not (set(traces) & {"labels", "weights"})
    assert X.shape[0] == 24


def test_the_log_posterior_has_the_density_of_the_values():
    model, X = fitted("niw")
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
    assert len(X) == bound.X.shape[0]


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
    assert set(model.posterior_.traces) - {"n_clusters", "log_posterior"} == what
    assert (model._fitted.learned is None) == (not what)


@pytest.mark.parametrize("cls", [Bernoulli, Categorical, Poisson])
def test_guesses_of_discrete_data_are_fixed(cls):
    data = cls(**dict.fromkeys(cls.learnable, "data"))
    model = DPMixture(alpha=1.0, likelihood=data, **SHORT).fit(BITS)
    assert model._fitted.learned is None
    assert set(model.posterior_.traces) == {"n_clusters", "log_posterior"}


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
