"""Estimators fitted by particles: fitted attributes, the evidence, further rows."""

import pickle
import re

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student
from sklearn.exceptions import ConvergenceWarning

from bnpcluster import (
    DPMixture,
    FiniteDirichletMixture,
    MFMMixture,
    NGGMixture,
    PitmanYorMixture,
    bayes_factor,
)
from bnpcluster._fitting import smc_runs
from bnpcluster._fitting.smc_runs import _weighted_posterior, combined_evidence
from bnpcluster.diagnostics.runs import diagnose_runs
from bnpcluster.likelihoods import NormalInverseGamma
from bnpcluster.priors import DirichletProcess, PitmanYor
from bnpcluster.samplers import SAMPLERS, AnnealedSMC, Run, UrnSMC
from bnpcluster.testing import exact_posterior
from tests.conftest import three_blobs

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
FIXED = NormalInverseGamma(mean=0.0, kappa=0.1, shape=2.0, scale=0.5)
PARTICLES = [name for name, cls in SAMPLERS.items() if cls.weighted]
X, TRUTH = three_blobs()
ORDER = np.random.default_rng(1).permutation(60)
X, TRUTH = X[ORDER], TRUTH[ORDER]
NEAR = np.array([[-1.0], [0.7], [-0.7], [-1.2], [1.0]])


def fitted(data=X, cls=PitmanYorMixture, **parameters):
    given = {"sampler": "urn_smc", "n_particles": 200, "random_state": 0, "likelihood": FIXED}
    return cls(**{**given, **parameters}).fit(data)


@pytest.mark.parametrize("sampler", PARTICLES)
def test_a_fit_has_all_attributes_and_methods(sampler):
    model = fitted(sampler=sampler)
    posterior = model.posterior_
    assert posterior.labels.shape == (4, 200, 60)
    assert posterior.weights.sum() == pytest.approx(1.0)
    assert model.n_clusters_ == 3
    assert (model.predict(X) == model.labels_).mean() > 0.95
    assert np.isfinite(model.score(X))
    assert model.sample(3, random_state=0).shape == (3, 2)
    assert model.converged_ in (True, False)
    assert "log evidence" in str(model.report())
    assert "4 runs of 200" in str(model.report())
    assert "run 4" in model.report()._repr_html_()
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict_proba(X) == model.predict_proba(X)).all()


@pytest.mark.parametrize("sampler", PARTICLES)
def test_evidence_and_posterior_are_those_of_enumeration(sampler):
    prior = PitmanYor(0.5, 0.3)
    exact = exact_posterior(NEAR, FIXED, prior)
    model = fitted(NEAR, sampler=sampler, alpha=0.5, discount=0.3, n_particles=2000)
    assert abs(model.log_evidence_ - exact.log_evidence) < 5 * model.log_evidence_se_ + 1e-3
    assert model.log_evidence_se_ < 0.05
    gap = np.abs(np.asarray(model.coclustering_) - exact.coclustering()).max()
    assert gap < 0.05
    for k, p in enumerate(exact.n_clusters_pmf(), start=1):
        assert abs(model.n_clusters_posterior_.get(k, 0.0) - p) < 0.05


@pytest.mark.parametrize("cls", [DPMixture, FiniteDirichletMixture, MFMMixture, NGGMixture])
def test_every_preset_can_be_fitted(cls):
    assert fitted(cls=cls, n_particles=300).n_clusters_ >= 3


@pytest.mark.parametrize("sampler", PARTICLES)
def test_no_result_depends_on_n_jobs(sampler):
    one, two = (fitted(sampler=sampler, n_particles=20, n_jobs=j, n_chains=3) for j in (1, 2))
    assert (one.posterior_.labels == two.posterior_.labels).all()
    assert one.log_evidence_ == two.log_evidence_


@pytest.mark.parametrize("sampler", PARTICLES)
def test_rows_in_two_parts_are_the_rows_at_once(sampler):
    """The same seed makes the same choices, up to the rounding of other units of the data."""
    at_once = fitted(sampler=sampler, n_particles=50)
    parts = PitmanYorMixture(sampler=sampler, n_particles=50, likelihood=FIXED, random_state=0)
    for rows in (X[:20], X[20:21], X[21:]):
        parts.partial_fit(rows)
    assert parts.log_evidence_ == pytest.approx(at_once.log_evidence_, abs=1e-6)
    assert (parts.posterior_.labels == at_once.posterior_.labels).all()
    assert (parts.labels_ == at_once.labels_).all()
    assert parts.posterior_.log_posterior == pytest.approx(at_once.posterior_.log_posterior)


def test_hyper_parameters_freeze_at_the_first_batch():
    model = DPMixture(sampler="urn_smc", n_particles=50, random_state=0).partial_fit(X[:30])
    model.partial_fit(100.0 + X[30:50]).partial_fit(X[50:])
    frozen = model._fitted.frozen
    bound = model._fitted.likelihood.bind(X[:30], 4)
    assert frozen.kappa == pytest.approx(bound.prior[0])
    again = DPMixture(
        sampler="urn_smc", n_particles=50, random_state=0, likelihood=frozen, alpha=1.0
    ).fit(np.vstack([X[:30], 100.0 + X[30:50], X[50:]]))
    assert again.log_evidence_ == pytest.approx(model.log_evidence_, abs=0.5)


def test_partial_fit_is_there_only_for_particles():
    assert not hasattr(DPMixture(), "partial_fit")
    assert not hasattr(DPMixture(sampler="unknown"), "partial_fit")
    assert hasattr(DPMixture(sampler=UrnSMC()), "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit"):
        DPMixture().partial_fit(X)


def test_partial_fit_refuses_other_columns_and_other_paths():
    model = fitted()
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :1])
    whole = fitted(NEAR, sampler=AnnealedSMC(n_particles=4, path="temperature"), n_particles=None)
    with pytest.raises(ValueError, match="takes no further rows"):
        whole.partial_fit(NEAR)


def test_hyper_priors_are_sampled_where_there_are_moves():
    sampler = AnnealedSMC(n_particles=40, path="temperature", n_moves=2)
    model = fitted(X[:30], sampler=sampler, alpha=(2.0, 1.0), n_particles=None, n_chains=2)
    assert model.posterior_.alpha.shape == (2, 40)
    assert len(np.unique(model.posterior_.alpha)) > 20
    assert "alpha" in str(model.report())
    assert np.isfinite(model.score_samples(X)).all()
    with pytest.raises(ValueError, match="UrnSMC needs a fixed alpha"):
        fitted(alpha=(1.0, 1.0))


def test_chains_and_particles_do_not_mix():
    model = fitted()
    with pytest.raises(ValueError, match="refit with more n_particles"):
        model.continue_fit(10)
    with pytest.raises(ValueError, match="keeps no checkpoints"):
        fitted(checkpoint="somewhere")
    with pytest.raises(ValueError, match="AuxiliarySMC does not work with DirichletProcess"):
        fitted(cls=DPMixture, sampler="auxiliary_smc")
    model.set_params(sampler="gibbs", n_particles=None, n_draws=20, n_warmup=5, warm_start=True)
    with pytest.warns(ConvergenceWarning):
        model.fit(X)
    assert not hasattr(model, "log_evidence_")
    assert model.posterior_.n_draws == 20


def test_runs_left_out_for_want_of_time():
    model = fitted(max_time=1e-9, n_jobs=1)
    assert model.posterior_.n_chains == 1
    assert model.converged_ is None
    assert not model.interrupted_


def test_progress_is_printed(capsys):
    fitted(NEAR, n_particles=8, n_chains=2, verbose=1)
    out, err = capsys.readouterr()
    assert (out, err.count("log evidence")) == ("", 2)


def test_runs_that_disagree_are_reported():
    apart = np.concatenate([X, X + 30.0, X - 30.0])
    with pytest.warns(ConvergenceWarning, match="the report says why.*raise n_particles"):
        model = fitted(apart, n_particles=2, alpha=0.01, discount=0.0)
    assert model.converged_ is False
    verdict = model.diagnostics_.verdict
    assert re.search("runs disagree on the evidence .* try sampler='annealed_smc'", verdict)


def run_of(log_evidence, log_weight=(0.0, 0.0), relative_variance=0.04):
    n = len(log_weight)
    return Run(
        labels=np.zeros((n, 3), int),
        log_weight=np.array(log_weight),
        log_evidence=log_evidence,
        relative_variance=relative_variance,
        log_joint=np.zeros(n),
        values={},
        origin=np.arange(n),
        counts={},
        seconds=0.0,
    )


def test_evidences_are_averaged_not_their_logarithms():
    log_z, error = combined_evidence([run_of(-1000.0), run_of(-1000.0 + np.log(3.0))])
    assert log_z == pytest.approx(-1000.0 + np.log(2.0))
    # Values 1 and 3: standard deviation sqrt 2, of the mean 1, relative to 2. Two of the error are
    # half an interval of 95.45 % with one degree of freedom.
    assert error == pytest.approx(0.5 * student.ppf(norm.cdf(2.0), 1) / 2)
    assert combined_evidence([run_of(-7.0)]) == pytest.approx((-7.0, 0.2))
    for cannot_tell in (0.0, -0.1, np.nan):
        assert np.isnan(combined_evidence([run_of(-7.0, relative_variance=cannot_tell)])[1])


def test_a_weight_is_a_share_of_the_evidence_of_its_run():
    runs = [run_of(-1000.0, (0.0, np.log(3.0))), run_of(-1000.0 + np.log(2.0), (-5.0, -5.0))]
    weights = _weighted_posterior(runs).weights
    assert weights == pytest.approx(np.array([[0.25, 0.75], [1.0, 1.0]]) / 3)


def test_diagnostics_count_draws_and_lines():
    weights = np.array([[0.25, 0.25], [0.5, 0.0]])
    origins = np.array([[0, 0], [0, 1]])
    found = diagnose_runs(np.array([-3.0, -3.2]), -3.1, weights, origins)
    assert found.table["run 1"] == {"log_evidence": -3.0, "ess": 2.0, "lines": 1.0}
    assert found.table["all runs"]["ess"] == pytest.approx(1 / 0.375)
    assert found.table["all runs"]["lines"] == pytest.approx(2.0)
    assert found.converged is False
    assert "100 wanted" in found.verdict
    none = diagnose_runs(np.array([-3.0, -900.0]), -3.7, np.array([[0.5, 0.5], [0, 0]]), origins)
    assert none.table["run 2"]["ess"] == 0.0
    assert "disagree" in none.verdict


def test_a_bayes_factor_is_the_ratio_of_evidences():
    few, many = (fitted(NEAR, cls=DPMixture, alpha=a, random_state=a) for a in (1, 5))
    exact = [exact_posterior(NEAR, FIXED, DirichletProcess(a)).log_evidence for a in (1.0, 5.0)]
    factor = bayes_factor(few, many)
    assert abs(factor.log - (exact[0] - exact[1])) < 4 * factor.standard_error + 1e-3
    expected = np.hypot(few.log_evidence_se_, many.log_evidence_se_)
    assert factor.standard_error == pytest.approx(expected)
    assert bayes_factor(many, few).log == pytest.approx(-factor.log)


def test_bayes_factors_need_evidences_of_the_same_rows(blobs):
    chain = DPMixture(n_draws=20, n_warmup=5, n_chains=1, sampler="gibbs")
    chain.fit(NEAR)
    with pytest.raises(ValueError, match="does not estimate the evidence"):
        bayes_factor(chain, chain)
    with pytest.raises(ValueError, match="the same rows"):
        bayes_factor(fitted(NEAR), fitted(NEAR[::-1]))
    holed = np.column_stack([NEAR, NEAR])
    holed[0, 1] = np.nan
    assert bayes_factor(fitted(holed), fitted(holed)).log == 0.0


@pytest.mark.parametrize("done", [0, 1])
def test_ctrl_c_keeps_the_runs_that_are_done(done, monkeypatch):
    stops = []

    class Recorded(smc_runs.Stop):
        def __init__(self, seconds=None):
            super().__init__(seconds)
            stops.append(self)

    class Interrupted(UrnSMC):
        def run(self, *arguments):
            if done == 0:
                stops[-1].requested.set()
            run = super().run(*arguments)
            stops[-1].requested.set()
            return run

    monkeypatch.setattr(smc_runs, "Stop", Recorded)
    if done == 0:
        with pytest.raises(KeyboardInterrupt):
            fitted(sampler=Interrupted(), n_jobs=1)
        return
    model = fitted(sampler=Interrupted(), n_jobs=1)
    assert model.interrupted_
    assert model.posterior_.n_chains == 1


HOLE_VALUES = {
    "niw": np.linspace(-80.0, 80.0, 8001),
    "nig": np.linspace(-80.0, 80.0, 8001),
    "poisson": np.arange(300.0),
    "bernoulli": np.array([0.0, 1.0]),
    "categorical": np.arange(3.0),
}


@pytest.mark.parametrize("name", list(HOLE_VALUES))
def test_a_hole_is_the_integral_over_its_values_after_every_batch(name):
    rng, values = np.random.default_rng(0), HOLE_VALUES[name]
    width = values[1] - values[0]
    model = DPMixture(likelihood=name, sampler="urn_smc", n_particles=20, random_state=0)
    for batch in range(3):
        X = rng.normal(size=(30, 2)) * (1.0 + 2.0 * batch) + 6.0 * batch
        if name not in ("niw", "nig"):
            X = np.clip(np.round(np.abs(X)), 0, values[-1])
            X[:3, 0] = X[:3, 1] = [0.0, 1.0, values[min(2, len(values) - 1)]]
        model.partial_fit(X)
        rows = np.column_stack([np.full(len(values), 1.0), values])
        total = np.log(np.exp(model.score_samples(rows)).sum() * width)
        assert model.score_samples([[1.0, np.nan]])[0] == pytest.approx(total, abs=1e-4)
