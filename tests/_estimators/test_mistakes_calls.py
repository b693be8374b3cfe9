"""Mistakes in calls of methods, written from the documentation, and what the reply must contain."""

import numpy as np
import pandas as pd
import pytest

import bnpcluster
from bnpcluster import DPMixture, InfiniteRelationalModel, compare
from tests.tools.mistakes import N, X, check, fit, fitted, frame, table

NEW = DPMixture()
NETWORK = np.roll(np.eye(6), 1, axis=1) + np.roll(np.eye(6), -1, axis=1)


def network():
    """A short fit of a network."""
    return fit(NETWORK, InfiniteRelationalModel)


def draws():
    """Draws of parameters."""
    return fitted().posterior_.parameters()


def blocks(*numbers):
    """Parameters of one draw."""
    return fitted().posterior_.block_parameters(*numbers)


@table(
    ("predict", lambda: NEW.predict(X), "not fitted"),
    ("report", lambda: NEW.report(), "not fitted"),
    ("describe", lambda: NEW.describe(), "not fitted"),
    ("sample", lambda: NEW.sample(3), "not fitted"),
    ("labels", lambda: NEW.labels_, "not fitted"),
    ("number of clusters", lambda: NEW.n_clusters_, "not fitted"),
    ("posterior", lambda: NEW.posterior_, "not fitted"),
    ("evidence", lambda: NEW.log_evidence_, "not fitted"),
    ("weights", lambda: NEW.weights_, "not fitted"),
    ("continue", lambda: NEW.continue_fit(3), "not fitted"),
    ("align", lambda: NEW.align([0, 1]), "not fitted"),
    ("arviz", lambda: NEW.to_arviz(), "not fitted"),
    ("comparison", lambda: compare(NEW, NEW), "not fitted"),
    ("network", lambda: InfiniteRelationalModel().predict_links([[0, 1]]), "not fitted"),
)
def test_before_a_fit(mistake, fragment):
    check(mistake, fragment)


@table(
    ("evidence of chains", lambda: fitted().log_evidence_, "particle sampler"),
    ("its error", lambda: fitted().log_evidence_se_, "particle sampler"),
    ("more rows for chains", lambda: fitted().partial_fit(X), "needs a particle sampler"),
    ("centres of KMeans", lambda: fitted().cluster_centers_, "means_"),
    ("BIC", lambda: fitted().bic(X), "score"),
    ("AIC", lambda: fitted().aic(X), "score"),
    ("probabilities as an attribute", lambda: fitted().probabilities_, "predict_proba"),
    (
        "covariances of codes",
        lambda: fitted("bernoulli").covariances_,
        "but weights, probabilities",
    ),
    ("unknown trace", lambda: fitted().posterior_.concentration, "traces available: ['alpha'"),
    ("unknown summary", lambda: fitted().posterior_.point_estimate("mode"), "'vi'"),
    ("plots", lambda: bnpcluster.plots, "no attribute 'plots'"),
)
def test_attributes(mistake, fragment):
    check(mistake, fragment)


@table(
    ("other width", lambda: fitted().predict(X[:, :1]), "1 features"),
    ("one row", lambda: fitted().predict(X[0]), "reshape(1, -1)"),
    ("no rows", lambda: fitted().predict(X[:0]), "X has no rows"),
    ("nothing", lambda: fitted().predict(None), "X is None"),
    (
        "other names",
        lambda: fitted("frame").predict(frame().add_prefix("a")),
        "X lacks columns 'height', 'width' of the fit, and has columns 'aheight', 'awidth' instead",
    ),
    (
        "other order",
        lambda: fitted("frame").predict(frame()[["width", "height"]]),
        "another order than in the fit: pass X[list(model.feature_names_in_)].",
    ),
    (
        "further column",
        lambda: fitted("frame").predict(frame(age=1.0)),
        "X has column 'age', which the fit did not have: pass X[list(",
    ),
    (
        "text in new rows",
        lambda: fitted("frame").predict(frame().assign(width="1 m")),
        "the fit had numbers there",
    ),
    ("text", lambda: fitted().predict([["a", "b"]]), "X contains text ('a')"),
    ("infinity", lambda: fitted().score_samples([[0, np.inf]]), "infinity in row 0, column 1"),
    ("row of a mixed frame", lambda: fitted("mixed").predict(frame().iloc[0]), "to_frame().T"),
    (
        "new category",
        lambda: fitted("mixed").predict(frame(city="Bern")),
        "handle_unknown='missing'",
    ),
    (
        "text for a number",
        lambda: fitted("mixed").predict(frame(city="Oslo").assign(width="a")),
        "Column 'width' contains 'a', but it contained numbers in the fit",
    ),
    ("column missing", lambda: fitted("mixed").predict(frame()), "X lacks column 'city' of the"),
    (
        "mixed columns in another order",
        lambda: fitted("mixed").predict(frame(city="Oslo")[["city", "height", "width"]]),
        "another order than in the fit",
    ),
    ("two for 0/1", lambda: fitted("bernoulli").predict([[0, 2]]), "column 1"),
    ("strange rows", lambda: fitted().outlier_score(X[:, :1]), "1 features"),
    ("impute text", lambda: fitted().impute([["a", np.nan]]), "text"),
)
def test_new_rows(mistake, fragment):
    check(mistake, fragment)


@table(
    ("further particles", lambda: fitted("particles").continue_fit(9), "more n_particles"),
    ("no further draws", lambda: fitted().continue_fit(0), "n_draws must be at least 1"),
    ("word for draws", lambda: fitted().continue_fit("9"), "n_draws must be an integer"),
    ("no sample", lambda: fitted().sample(0), "n must be at least 1"),
    ("half a sample", lambda: fitted().sample(2.5), "n must be an integer"),
    ("rows as sample", lambda: fitted().sample(X), "n must be an integer"),
    ("word as seed", lambda: fitted().sample(2, random_state="x"), "random_state must be"),
    ("few labels", lambda: fitted().align([0, 1]), f"({N},)"),
    ("labels of other rows", lambda: fitted().align([0, 1]), "new.align(old.predict(X))"),
    ("float labels", lambda: fitted().align(np.zeros(N)), "integers"),
    ("unknown column", lambda: fitted("frame").marginal("age"), "Available: 'height', 'width'"),
    ("column too many", lambda: fitted().marginal(9), "9"),
    ("no columns", lambda: fitted().marginal([]), "at least one column"),
    ("nothing given", lambda: fitted().conditional({}), "given must be a dict"),
    ("list given", lambda: fitted().conditional([1.0]), "given must be a dict"),
    ("word given", lambda: fitted().conditional({0: "a"}), "must be numbers"),
    ("all given", lambda: fitted().conditional({0: 1.0, 1: 2.0}), "leave out at least one"),
    ("density of codes", lambda: fitted("bernoulli").marginal(0), "likelihood='niw' or 'nig'"),
    (
        "ragged rows of a density",
        lambda: fitted().marginal(0).score_samples([[1, 2], [3]]),
        "row 1 has 1 value, but row 0 has 2",
    ),
    ("three indices", lambda: fitted().coclustering_[0, 1, 2], "at most two indices"),
    ("index of words", lambda: fitted().coclustering_["a"], "integers"),
    ("index too large", lambda: fitted().coclustering_[N], f"{N}"),
    ("mask too short", lambda: fitted().coclustering_[[True]], "mask"),
    ("comparison with labels", lambda: compare(fitted(), fitted().labels_), "model"),
    ("comparison of other rows", lambda: compare(fitted(), fit(X[:9])), "rows"),
    ("unknown parameter", lambda: draws()["mean"], "Did you mean 'means'? Available: weights,"),
    ("mean of unknown", lambda: draws().mean("sizes"), "no parameter 'sizes'. Available: wei"),
    ("interval of unknown", lambda: draws().interval(3), "no parameter 3. Available: weights"),
    ("draw too large", lambda: blocks(1000), "draw must be from 0 to 3, got 1000."),
    ("chain too large", lambda: blocks(0, 1), "chain must be from 0 to 0, got 1."),
    ("draw as a word", lambda: blocks("last"), "draw must be an integer, got 'last'."),
    ("report in no folder", lambda: fitted().report().save("no/x.html"), "no folder 'no': create"),
    ("draws in no folder", lambda: fitted().posterior_.to_csv("no/x.csv"), "There is no folder"),
    ("parquet in no folder", lambda: fitted().posterior_.to_parquet("no/x"), "no folder 'no'"),
    ("draws in a folder", lambda: fitted().posterior_.to_csv("."), "'.' is a folder: add"),
    ("tidy draws of what", lambda: fitted().posterior_.to_frame("draws"), "'traces' or 'labels'"),
    ("huge new rows", lambda: fitted("particles").partial_fit(X * 1e300), "too large"),
)
def test_methods(mistake, fragment):
    check(mistake, fragment, (ValueError, TypeError, IndexError, KeyError, OSError))


@table(
    ("pairs as floats", lambda: network().predict_links([[0.0, 1.0]]), "as integers"),
    ("unknown vertex", lambda: network().predict_links([[0, 6]]), "from 0 to 5"),
    ("vertex with itself", lambda: network().predict_links([[1, 1]]), "two different vertices"),
    ("one pair", lambda: network().predict_links([0, 1]), "(n_pairs, 2)"),
    ("few outcomes", lambda: network().score([[0, 1]], [0, 1]), "each of the 1 pair"),
    ("odd outcomes", lambda: network().score([[0, 1]], [2]), "only 0 and 1"),
    ("rows for a network", lambda: network().predict(X), "predict_links"),
)
def test_networks(mistake, fragment):
    check(mistake, fragment)


def test_plotting_is_found_without_an_import_of_its_own():
    assert bnpcluster.plotting.ClusterDisplay
    with pytest.raises(TypeError, match="needs a mixture"):
        bnpcluster.plotting.ClusterDisplay.from_estimator(pd.DataFrame(X))
