"""What the report says of priors, so that a fit can be described in a paper."""

import numpy as np
import pytest

from bnpcluster import DPMixture
from bnpcluster._estimators.report import _describe_prior
from bnpcluster.priors import (
    MFM,
    NGG,
    DirichletProcess,
    FiniteDirichlet,
    PitmanYor,
)

X = np.repeat([[0.0], [900.0]], 15, axis=0) + np.random.default_rng(0).normal(size=(30, 1))


@pytest.mark.parametrize(
    ("prior", "expected"),
    [
        (DirichletProcess(), "DirichletProcess, alpha ~ Gamma(shape 1, rate 0.1)"),
        (DirichletProcess(2), "DirichletProcess, alpha = 2"),
        (
            PitmanYor(alpha=1.5, discount=(1, 3)),
            "PitmanYor, alpha = 1.5, discount ~ Beta(a 1, b 3)",
        ),
        (
            FiniteDirichlet(n_components=7, concentration=0.5),
            "FiniteDirichlet, concentration = 0.5, n_components = 7",
        ),
    ],
    ids=str,
)
def test_priors_are_described_with_what_is_fixed_and_what_is_learned(prior, expected):
    found = _describe_prior(prior)
    assert sorted(found.split(", ")) == sorted(expected.split(", "))


@pytest.mark.parametrize("prior", [MFM(), NGG()], ids=str)
def test_every_prior_is_described(prior):
    found = _describe_prior(prior)
    assert all(name in found for name in prior.get_params(deep=False))


def test_the_report_has_the_prior_and_hyper_parameters_in_units_of_the_data():
    found = DPMixture(n_chains=1, n_draws=40, n_warmup=40, random_state=0).fit(X).report().found
    assert found["prior"] == "DirichletProcess, alpha ~ Gamma(shape 1, rate 0.1)"
    assert found["mean"].endswith(", fixed")
    assert float(found["mean"].split(",")[0]) == pytest.approx(np.median(X), rel=0.01)
    assert found["expected sd"].endswith("learned")
    assert 0.3 < float(found["expected sd"].split()[0]) < 5.0  # that of a cluster, not of all rows


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_particles_say_what_auto_stands_for():
    model = DPMixture(sampler="urn_smc", n_chains=2, n_particles=50, random_state=0).fit(X)
    assert model.report().found["prior"] == "DirichletProcess, alpha = 1"
