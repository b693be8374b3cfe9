"""How many draws predictions use, and their Monte Carlo errors."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from bnpcluster import DPMixture
from bnpcluster._predict import prediction_errors, predictive
from bnpcluster._predict.predictive import predict, subset, thinned


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(c, 1.0, (25, 2)) for c in (0.0, 3.0, 6.0)])


@pytest.fixture(scope="module")
def model(data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the clusters overlap
        return DPMixture(n_chains=2, n_warmup=50, n_draws=150, random_state=0).fit(data)


NEW = np.array([[0.0, 0.1], [1.5, 1.4], [3.1, 2.8], [9.0, -4.0], [40.0, 40.0]])


def test_predictions_average_evenly_spaced_draws(model):
    fitted = model._fitted
    draws = ((np.arange(200) + 0.5) * 300 / 200).astype(int)
    expected = predict(subset(fitted, draws, np.ones(200)), NEW)
    np.testing.assert_array_equal(model.score_samples(NEW), expected.log_density)
    np.testing.assert_array_equal(model.novelty(NEW), expected.novelty)
    np.testing.assert_allclose(model.predict_proba(NEW), expected.membership)
    assert abs(model.score_samples(NEW) - predict(fitted, NEW).log_density).max() > 0


def test_none_means_all_draws_and_needs_no_refit(model, data):
    everything = predict(model._fitted, NEW)
    model.set_params(max_prediction_draws=None)
    try:
        np.testing.assert_array_equal(model.score_samples(NEW), everything.log_density)
    finally:
        model.set_params(max_prediction_draws=200)
    short = DPMixture(n_chains=1, n_warmup=20, n_draws=30, random_state=0).fit(data)
    np.testing.assert_array_equal(short.score_samples(NEW), predict(short._fitted, NEW).log_density)


def test_particles_are_chosen_by_their_weights(data):
    model = DPMixture(sampler="urn_smc", n_particles=500, n_chains=1, random_state=0).fit(data)
    fitted = model._fitted
    few = thinned(fitted, 100)
    weights, kept = fitted.posterior.weights.ravel(), few.posterior.weights.ravel()
    assert kept.size <= 100
    assert kept.sum() == pytest.approx(1.0)
    # One particle in a hundred of the weight, as often as it weighs.
    for row, weight in zip(few.posterior.labels[0], kept, strict=True):
        same = (fitted.posterior.labels.reshape(-1, len(data)) == row).all(axis=1)
        assert weight <= weights[same].sum() + 0.01


def test_the_number_is_checked_before_sampling(data):
    with pytest.raises(ValueError, match="max_prediction_draws must be at least 1"):
        DPMixture(max_prediction_draws=0).fit(data)


def test_errors_are_those_of_the_jackknife(model, monkeypatch):
    """Against predictions that leave out one twentieth of the draws after another."""
    monkeypatch.setattr(prediction_errors, "MOST_ENTRIES", 200)  # a few rows at a time
    fitted = thinned(model._fitted, 200)
    found = model.prediction_errors(NEW)
    parts = np.array_split(np.arange(200), 20)
    others = [np.setdiff1d(np.arange(200), part) for part in parts]
    without = [predict(subset(fitted, some, np.ones(len(some))), NEW) for some in others]
    for name, field in (
        ("log_density", "log_density"),
        ("novelty", "novelty"),
        ("probabilities", "membership"),
    ):
        values = np.array([getattr(one, field) for one in without])
        error = np.sqrt(19 / 20 * ((values - values.mean(axis=0)) ** 2).sum(axis=0))
        np.testing.assert_allclose(getattr(found, name), error, rtol=1e-6, atol=1e-12)


def test_a_single_draw_has_no_error(model):
    found = model.set_params(max_prediction_draws=1).prediction_errors(NEW)
    model.set_params(max_prediction_draws=200)
    assert np.isnan(found.log_density).all()
    assert found.probabilities.shape == (len(NEW), model.n_clusters_)


def test_memory_does_not_depend_on_rows_times_clusters(model, monkeypatch):
    labels = model.predict(NEW)
    proba = model.predict_proba(NEW)
    monkeypatch.setattr(predictive, "MOST_ENTRIES", 2)
    np.testing.assert_array_equal(model.predict(NEW), labels)
    np.testing.assert_array_equal(model.predict_proba(NEW), proba)
    largest = []
    monkeypatch.setattr(
        predictive,
        "empty_sums",
        lambda n, k, make=predictive.empty_sums: largest.append(n * k) or make(n, k),
    )
    model.predict(NEW)
    model.score_samples(NEW)
    assert max(largest) <= 3
