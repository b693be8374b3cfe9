"""What the report says of priors, so that a fit can be described in a paper."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

import bnpcluster
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


def quick(data=X, **parameters):
    """A short fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lengths = {"n_chains": 1, "n_draws": 8, "n_warmup": 8}
        return DPMixture(**{**lengths, "random_state": 7, **parameters}).fit(data)


def test_the_report_says_what_repeats_the_fit():
    found = quick().report().found
    assert found["version"] == f"bnpcluster {bnpcluster.__version__}"
    assert (found["seed"], found["seed"].shell) == ("random_state=7", "--seed 7")
    assert quick(random_state=None).report().found["seed"].startswith("none, so another fit")
    generator = np.random.default_rng(0)
    assert quick(random_state=generator).report().found["seed"] == "a Generator object"


def test_missing_cells_are_counted_in_the_rows_and_columns_of_the_fit():
    data = np.column_stack([X[:, 0], X[::-1, 0], np.ones(30)])
    assert quick(data).report().found["data"] == "30 rows, 3 columns, no missing cells"
    data[3, 0] = np.nan
    found = quick(data, likelihood="nig").report().found
    assert found["data"] == "30 rows, 3 columns, 1 missing cell"
    data[[5, 6], 1] = np.nan
    data[8] = np.nan
    found = quick(data, likelihood="nig").report().found
    assert found["data"] == "29 rows, 3 columns, 3 missing cells"


def test_the_numbers_of_mixed_columns_are_explained():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"height": rng.normal(size=30), "city": ["Oslo", "Rome"] * 15, "width": X[:, 0]}
    )
    found = quick(frame, likelihood="columns").report().found
    assert found["name endings"] == "_0: height, width (NormalInverseGamma); _1: city (Categorical)"
    assert {"shape_0", "concentration_1"} <= set(found)
    assert "name endings" not in quick().report().found


def test_the_parts_of_mixed_columns_are_named():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"n": rng.poisson(3.0, 20), "x": rng.normal(size=20)})
    model = DPMixture(likelihood={"x": "nig", "n": "poisson"}, n_draws=5, n_warmup=5, n_chains=1)
    text = str(model.set_params(random_state=0).fit(X).report())
    assert "Columns: NormalInverseGamma() of x; Poisson() of n, sampler" in text
    assert "  1 chain of 5, " in text


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_numbers_of_columns_do_not_look_like_values():
    X = np.repeat([[0.0], [9.0]], 30, axis=0) + np.random.default_rng(0).normal(size=(60, 1))
    text = str(DPMixture(n_draws=20, n_warmup=20, random_state=0).fit(X).report())
    assert "  60 rows, 1 column, no missing cells" in text
    assert re.search(r"told apart by column 0 -?\d", text)


def test_sentinels_are_recognised():
    data = np.concatenate([X[:15] - 999.0, X[:15] + 50.0])
    report = str(quick(data).report())
    assert "e+0" not in report and "-999" in report
