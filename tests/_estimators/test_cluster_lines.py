"""What a report says about an estimate that does not have the most probable number of clusters."""

from types import SimpleNamespace

import numpy as np
import pytest

from bnpcluster import DPMixture
from bnpcluster._estimators.cluster_lines import describe_clusters, notes
from bnpcluster._fitting.fitted import Fitted
from bnpcluster.posterior import Posterior


def model_of(draws, estimate, **parameters):
    """As much of a fitted model as the lines need."""
    posterior = Posterior([draws])
    fitted = Fitted(None, None, posterior, None, np.array(estimate))
    settings = {"point_estimate": "vi", "_joins": lambda: (None, None), "_counted": "rows"}
    return SimpleNamespace(
        _fitted=fitted,
        posterior_=posterior,
        n_clusters_posterior_=posterior.n_clusters_pmf(),
        n_clusters_=max(estimate) + 1,
        min_cluster_size=None,
        **{**settings, **parameters},
    )


def test_many_numbers_of_clusters_are_summarised():
    few, many = ([np.arange(20) % k for k in range(1, most)] for most in (13, 20))
    name = "number of clusters"
    assert describe_clusters(model_of(few, few[0]))[name].startswith("1: 0.08, 2: 0.08, ")
    text = describe_clusters(model_of(many, many[0]))[name]
    assert text == (
        "10 (median), 90 % interval 1 to 19; n_clusters_posterior_ has all probabilities"
    )
    assert text.shell.endswith("1 to 19; report.html shows all")


def test_the_most_probable_number_needs_no_words():
    assert notes(model_of([[0, 0, 1], [0, 1, 2], [0, 0, 1]], [0, 0, 1])) == {}


def test_an_estimate_with_more_clusters_says_how_often_the_smallest_stands_alone():
    """The last row is with the first two, with the next two, or alone."""
    draws = [[0, 0, 1, 1, 0], [0, 0, 1, 1, 1], [0, 0, 1, 1, 0], [0, 0, 1, 1, 2], [0, 0, 1, 1, 1]]
    text = notes(model_of(draws, [0, 0, 1, 1, 2]))["note"]
    assert "has 3 clusters, but 2 is the most probable number (probability 0.80)" in text
    assert "smallest of the 3 (size 1) is a cluster of its own, without others, in 20 %" in text
    assert "cost" not in text


def test_an_estimate_with_fewer_clusters_says_how_small_the_others_are():
    """Draws agree that one row is apart, and not which."""
    draws = [[0, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]
    text = notes(model_of(draws, [0, 0, 0, 0], point_estimate=("vi", 1.5)))["note"]
    assert "has 1 clusters" not in text
    assert "has 1 cluster, but 2 is the most probable number (probability 0.80)" in text
    assert "In most draws with 2 clusters, the smallest has at most 1 row." in text
    assert "A cost of 1.5 in point_estimate moves it, too" in text


def test_a_single_draw_is_said_to_be_one():
    draws = [[0, 0, 1], [0, 0, 1], [0, 1, 2]]
    text = notes(model_of(draws, [0, 1, 2], point_estimate="map"))["note"]
    assert "The estimate is a single draw" in text


def test_more_clusters_than_any_draw():
    text = notes(model_of([[0, 0, 1], [0, 1, 1]], [0, 1, 2]))["note"]
    assert "more clusters than any draw" in text


def test_lines_speak_of_components_if_clusters_are_something_else():
    model = model_of([[0, 0, 1, 2]] * 3, [0, 0, 1, 2])
    assert list(describe_clusters(model)) == ["clusters", "number of clusters"]
    model._fitted = model._fitted._replace(clusters=np.array([0, 0, -1]))
    model.n_clusters_, model.min_cluster_size = 1, 2
    found = describe_clusters(model)
    assert found["components"] == "3 in the point estimate (vi), sizes 2, 1, 1"
    assert found["clusters"] == "1; sizes 3; rows in no cluster of at least 2: 1"
    assert found["number of components"] == "3: 1.00"
    assert "coclustering_" in found["in words"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_settings_of_joins_are_in_the_report():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 0.3, (20, 2)) for c in (-3, 0, 3)])
    quick = {
        "point_estimate": "vi",
        "n_draws": 20,
        "n_warmup": 20,
        "n_chains": 2,
        "random_state": 0,
    }
    text = str(DPMixture(merge=0.9, **quick).fit(X).report())
    assert "3 in the point estimate (vi), none of which overlap by 0.9 or more" in text
    text = str(DPMixture(merge=0.9, max_clusters=2, **quick).fit(X).report())
    assert (
        "overlap by at least 0.9, and then others until there are at most 2; sizes 40, 20" in text
    )
    text = str(DPMixture(max_clusters=2, **quick).fit(X).report())
    assert "2, after joining the components that overlap most until there are at most 2" in text
