"""Random hostile fits and calls are consistent, or refused in one sentence.

The seed is the date; it is printed with a case that fails. `BNPCLUSTER_FUZZ_MINUTES` sets how long
this goes on.
"""

import datetime
import inspect
import os
import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st

from bnpcluster import BNPMixture, DPMixture, mixtures, partitions
from bnpcluster.likelihoods import (
    LIKELIHOODS,
    NormalInverseGamma,
    NormalInverseWishart,
    Wishart,
)
from bnpcluster.posterior import Posterior
from bnpcluster.priors import PRIORS
from bnpcluster.samplers import SAMPLERS
from tests.tools import fuzz

BATCH = 200  # cases between two looks at the clock
CASES = 400  # by default


def batch(number, counts):
    """Run some cases with a seed."""

    @seed(number)
    @settings(
        max_examples=BATCH, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(fuzz.MODELS, fuzz.OPTIONS, fuzz.tables(), st.lists(fuzz.CALLS, max_size=3))
    def cases(kind, parameters, table, calls):
        note(f"seed {number}")
        counts["cases"] += 1
        counts.update(fuzz.run_case(kind, parameters, table, calls))

    cases()


@pytest.mark.slow
def test_hostile_fits_and_calls():
    today = int(os.environ.get("BNPCLUSTER_FUZZ_SEED", f"{datetime.date.today():%Y%m%d}"))
    minutes = float(os.environ.get("BNPCLUSTER_FUZZ_MINUTES", "0"))
    end, counts, number = time.monotonic() + 60.0 * minutes, Counter(), 1000 * today
    while counts["cases"] < CASES or time.monotonic() < end:
        batch(number, counts)
        number += 1
    print(f"seeds {1000 * today} to {number - 1}: {dict(counts)}")
    assert counts[fuzz.CONSISTENT] > counts["cases"] / 4
    assert counts[fuzz.REFUSED] > counts["cases"] / 10


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Odd words are names of folders, too, for checkpoints."""
    monkeypatch.chdir(tmp_path)


SHORT = {"n_draws": 1, "n_warmup": 1, "n_chains": 1, "random_state": 0}


@pytest.mark.parametrize("kind", mixtures.PRESETS.values(), ids=lambda kind: kind.__name__)
def test_odd_parameters_of_models(kind):
    own = set(inspect.signature(kind).parameters) - set(inspect.signature(DPMixture).parameters)
    names = None if kind is DPMixture else sorted(own)
    assert not [*fuzz.odd_replies(lambda model: model.set_params(**SHORT), kind, names)]


@pytest.mark.parametrize("kind", LIKELIHOODS.values(), ids=lambda kind: kind.__name__)
def test_odd_parameters_of_likelihoods(kind):
    assert not [*fuzz.odd_replies(lambda odd: DPMixture(likelihood=odd, **SHORT), kind)]


def test_odd_parameters_of_hyper_priors():
    nested = [
        lambda odd: DPMixture(likelihood=NormalInverseWishart(scale=odd), **SHORT),
        lambda odd: DPMixture(likelihood=NormalInverseGamma(scale=odd), **SHORT),
    ]
    assert not [reply for make in nested for reply in fuzz.odd_replies(make, Wishart)]


@pytest.mark.parametrize("kind", SAMPLERS.values(), ids=lambda kind: kind.__name__)
def test_odd_parameters_of_samplers(kind):
    assert not [*fuzz.odd_replies(lambda odd: DPMixture(sampler=odd, **SHORT), kind)]


@pytest.mark.parametrize("kind", PRIORS.values(), ids=lambda kind: kind.__name__)
def test_odd_parameters_of_priors(kind):
    assert not [*fuzz.odd_replies(lambda odd: BNPMixture(prior=odd, **SHORT), kind)]


@pytest.mark.parametrize("name", [*fuzz.OF_ARGUMENTS, "coclustering_"])
def test_odd_arguments(name):
    X = np.random.default_rng(0).normal(size=(8, 2))
    model = DPMixture(**SHORT).fit(X)
    for value in fuzz.ODD_PARAMETERS:
        fuzz.replied(lambda value=value: fuzz.call(model, name, value))


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        *[("point_estimate", each) for each in ("loss", "cost", "max_clusters", "random_state")],
        *[("credible_ball", each) for each in ("loss", "level", "estimate")],
        *[("modes", each) for each in ("loss", "separation", "min_mass")],
        *[("coclustering", each) for each in ("rows", "columns", "threshold", "pairs")],
        *[("coclustering_strips", each) for each in ("rows", "columns", "threshold", "height")],
        *[("item_uncertainty", each) for each in ("loss", "estimate")],
        ("to_frame", "what"),
        ("parameters", "max_draws"),
    ],
)
def test_odd_arguments_of_posteriors(name, parameter):
    X = np.random.default_rng(0).normal(size=(8, 2))
    method = getattr(DPMixture(**SHORT).fit(X).posterior_, name)
    for value in fuzz.ODD_PARAMETERS:
        fuzz.replied(lambda value=value: method(**{parameter: value}))


@pytest.mark.parametrize(
    "function",
    [
        partitions.coclustering,
        partitions.merge_tree,
        partitions.modes,
        partitions.point_estimate,
        partitions.relabel,
        Posterior,
    ],
)
def test_odd_partitions(function):
    for value in fuzz.ODD_PARAMETERS:
        fuzz.replied(lambda value=value: function(value))


def test_sound_fits_are_consistent():
    X = np.random.default_rng(0).normal(size=(8, 2))
    parameters = {"n_draws": 3, "n_warmup": 1, "n_chains": 1, "random_state": 0}
    calls = [("predict_proba", X), ("score_samples", X), ("coclustering_", 0)]
    replies = fuzz.run_case("DPMixture", parameters, X, calls)
    assert replies == [fuzz.CONSISTENT] * 5
    replies = fuzz.run_case("DPMixture", parameters, X[:1], [("predict", X)])
    assert replies == [fuzz.CONSISTENT, fuzz.REFUSED, fuzz.REFUSED]


@pytest.mark.parametrize(
    "work",
    [
        lambda: 1 / 0,
        lambda: [][3],
        lambda: np.linalg.inv(np.zeros((2, 2))),
        lambda: np.float64(1e300) ** 2,
        lambda: int("x"),
    ],
    ids=range(5),
)
def test_other_replies_are_failures(work):
    with pytest.raises(fuzz.Unkind):
        fuzz.replied(work)


def test_contradictions_are_failures():
    X = np.random.default_rng(0).normal(size=(8, 2))
    model = DPMixture(n_draws=3, n_warmup=1, n_chains=1, random_state=0).fit(X)
    fuzz.check_fit(model)
    model.n_clusters_ = 9
    with pytest.raises(fuzz.Unkind, match="number of clusters"):
        fuzz.check_fit(model)
    with pytest.raises(fuzz.Unkind, match="memberships"):
        fuzz.check_result("predict_proba", np.array([[0.4, -0.1]]), model)
