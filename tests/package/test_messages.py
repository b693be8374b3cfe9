"""What a newcomer does wrong is answered in one sentence that says what to do."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from bnpcluster import BNPMixture, DPMixture
from bnpcluster.likelihoods import NormalInverseWishart

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
X = np.random.default_rng(0).normal(size=(12, 2))
QUICK = {"n_draws": 4, "n_warmup": 2, "n_chains": 2}


def fit(data=X, **parameters):
    return DPMixture(**{**QUICK, **parameters}).fit(data)


def spoilt(value):
    bad = X.copy()
    bad[3, 1] = value
    return bad


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.where(np.arange(2) == 1, np.nan, X), "Column 1 is entirely missing"),
        (spoilt(np.inf), "contains infinity"),
        (np.array([["red", "blue"], ["red", "red"]]), "contains text.*OrdinalEncoder"),
        (scipy.sparse.csr_array(X), "Sparse data was passed"),
        (X[:1], "1 sample"),
        (np.ones((8, 2)), "All rows are equal up to rounding.*VarianceThreshold"),
        (X[:, 0], "Reshape your data"),
    ],
)
def test_bad_data(data, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fit(data)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sampler": "gibs"}, "Unknown sampler 'gibs'. Did you mean 'gibbs'"),
        ({"likelihood": "NIW"}, "Did you mean 'niw'"),
        ({"likelihood": "gauss"}, "Available: 'niw'"),
        ({"likelihood": "Gaussian"}, "Did you mean 'niw'"),
        ({"likelihood": NormalInverseWishart}, r"write NormalInverseWishart\(\)"),
        ({"likelihood": 3}, "likelihood must be one of 'niw'"),
        ({"alpha": -1.0}, "alpha must be positive"),
        ({"alpha": "large"}, "alpha must be a number"),
        (
            {"n_particles": 20},
            "sampler 'split_merge' has no particles: leave n_particles at None",
        ),
        ({"n_draws": 0}, "n_draws must be at least 1"),
        ({"n_draws": 2.5}, "n_draws must be an integer"),
        ({"n_warmup": -1}, "n_warmup must be at least 0"),
        ({"thin": 0}, "thin must be at least 1"),
        ({"n_chains": 0}, "n_chains must be at least 1"),
        ({"init": "random"}, "Unknown init 'random'"),
        ({"init": [0, 1]}, r"of shape \(12,\) for all chains"),
        ({"init": np.zeros(12)}, "integer labels"),
        ({"point_estimate": "mode"}, "Unknown point_estimate 'mode'"),
        ({"random_state": "seed"}, "random_state must be None, an integer"),
        ({"random_state": -3}, "random_state must not be negative"),
        ({"max_time": -1.0}, "max_time must be"),
        ({"max_time": "long"}, "max_time must be"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fit(**parameters)


def frame(**columns):
    return pd.DataFrame({"height": X[:, 0], "width": X[:, 1], **columns})


@pytest.mark.parametrize(
    ("columns", "parameters", "message"),
    [
        ({"depth": np.nan}, {}, "Column 'depth' is entirely missing"),
        ({"width": -1.0}, {"likelihood": "poisson"}, "in column 'height'"),
        ({"day": pd.Timestamp("2026-01-01")}, {}, "Column 'day' contains dates or times"),
        ({"day": pd.Timedelta(days=1)}, {}, "Column 'day' contains dates or times"),
    ],
)
def test_columns_of_frames_are_called_by_their_names(columns, parameters, message):
    with pytest.raises(ValueError, match=message):
        fit(frame(**columns), **parameters)


def test_constant_columns_are_left_out_with_a_warning():
    with pytest.warns(UserWarning, match="^Constant column 2 was left out: it says nothing"):
        fit(np.column_stack([X, np.full(12, 3.0)]))
    with pytest.warns(UserWarning, match="^Constant column 'depth' was left out"):
        fit(frame(depth=3.0))


def test_columns_of_parts_are_called_by_their_own_numbers():
    data = np.column_stack([X[:, 0], CODES[:, 0], -np.arange(12.0)])
    parts = {0: "nig", 1: "categorical", 2: "poisson"}
    with pytest.raises(ValueError, match=r"Poisson needs counts .* found -1 in column 2"):
        fit(data, likelihood=parts)
    holed = data.copy()
    holed[0, 2] = np.nan
    with pytest.raises(ValueError, match=r"Poisson needs counts .* found -1 in column 2"):
        fit(holed, likelihood=parts)
    with pytest.raises(ValueError, match=r"Poisson needs counts .* found -1 in column 'n'"):
        fit(pd.DataFrame(data, columns=["w", "c", "n"]), likelihood=parts)


def test_new_rows_are_refused_by_the_names_of_columns():
    model = fit(pd.DataFrame(CODES[:, 1:], columns=["coin"]), likelihood="bernoulli")
    with pytest.raises(ValueError, match="in column 'coin'"):
        model.predict(pd.DataFrame({"coin": [2]}))


def test_an_unknown_column_of_a_density_is_answered_with_those_there_are():
    model = fit(frame())
    with pytest.raises(ValueError, match=r"Unknown column 'depth'.*Available: 'height', 'width'"):
        model.marginal("depth")
    with pytest.raises(ValueError, match=r"columns \['height'\], got 3 columns"):
        model.marginal("height").score_samples([[1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match="Given values must be numbers"):
        model.conditional({"height": "tall"})


def test_misspelt_prior():
    with pytest.raises(ValueError, match=r"Unknown prior 'dirichlet'.*Available: 'dp'"):
        BNPMixture(prior="dirichlet", **QUICK).fit(X)


def test_checkpoint_must_be_a_directory(tmp_path):
    file = tmp_path / "file"
    file.write_text("something")
    with pytest.raises(ValueError, match="must be a directory"):
        fit(checkpoint=file)


@pytest.mark.parametrize("likelihood", ["niw", "nig"])
@pytest.mark.parametrize("kind", ["twelve orders", "collinear", "wide", "offset", "outlier"])
@pytest.mark.filterwarnings("ignore:Column .* robust standard deviations")
def test_hostile_numbers_give_finite_results(kind, likelihood):
    rng = np.random.default_rng(0)
    data = {
        "twelve orders": X * [1e-6, 1e6],
        "collinear": np.column_stack([X, X @ [1.0, -2.0], X[:, 0]]),
        "wide": rng.normal(size=(8, 40)),
        "offset": np.column_stack([X + 1e8, X[:, 0] - 1e8]),
        "outlier": np.vstack([X, [1e7, -1e7]]),
    }[kind]
    with np.errstate(all="raise", under="ignore"):
        model = fit(data, likelihood=likelihood, n_draws=30, n_warmup=20, random_state=0)
    assert np.isfinite(model.score_samples(data)).all()
    assert np.isfinite(model.posterior_.log_posterior).all()
    np.testing.assert_allclose(model.predict_proba(data * 3).sum(axis=1), 1.0)


def test_far_rows_are_novel_but_have_probabilities(fitted):
    far = np.array([[1e150, -1e150], [50.0, -50.0]])
    assert (fitted.novelty(far) > 0.99).all()
    np.testing.assert_allclose(fitted.predict_proba(far).sum(axis=1), 1.0)
    assert (fitted.score_samples(far) < -10).all()


CODES = np.array([[0, 1], [1, 0], [2, 1], [0, 0], [1, 1], [2, 0]] * 2)


@pytest.mark.parametrize(
    ("likelihood", "data", "message"),
    [
        ("bernoulli", CODES, "0/1"),
        ("poisson", CODES - 1, "negative|-1"),
        ("poisson", CODES + 0.5, "0.5|whole|integer"),
        ("categorical", CODES - 1, "negative|-1"),
        ("categorical", CODES * 0.5, "0.5|integer"),
    ],
)
def test_bad_values_for_discrete_likelihoods(likelihood, data, message):
    with pytest.raises(ValueError, match=message) as error:
        fit(data, likelihood=likelihood)
    assert "column" in str(error.value)


def test_a_category_unseen_in_training():
    model = fit(CODES, likelihood="categorical", random_state=0)
    with pytest.raises(ValueError, match="n_categories"):
        model.predict([[3, 0]])
    assert model.predict([[2, 1]]).shape == (1,)
