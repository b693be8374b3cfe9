"""With the rest of a user's stack: pipelines, searches, data frames, persistence."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bnpcluster import BNPMixture, DPMixture
from bnpcluster.likelihoods import NormalInverseWishart

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = {"n_draws": 25, "n_warmup": 25, "n_chains": 2, "random_state": 0}


@pytest.fixture(scope="module")
def frame(blobs):
    return pd.DataFrame(blobs[0], columns=["height", "weight"])


def test_pipeline(blobs):
    X = np.hstack([blobs[0], blobs[0] + 0.1])
    pipeline = make_pipeline(StandardScaler(), PCA(2), DPMixture(**QUICK)).fit(X)
    assert pipeline.predict(X).shape == (60,)
    assert np.isfinite(pipeline.score(X))
    assert pipeline.transform(X).shape == (60, pipeline[-1].n_clusters_)


def test_cross_val_score(blobs):
    scores = cross_val_score(DPMixture(**QUICK), blobs[0][::-1], cv=3)
    assert np.isfinite(scores).all()
    shuffled = blobs[0][np.random.default_rng(0).permutation(60)]
    assert cross_val_score(DPMixture(**QUICK), shuffled, cv=3).mean() > -2.0


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (DPMixture(**QUICK), {"alpha": [0.1, 1.0, 10.0]}),
        (
            DPMixture(likelihood=NormalInverseWishart(), **QUICK),
            {"likelihood__kappa": [0.01, 1.0], "likelihood__nu": [4.0, "auto"]},
        ),
        (BNPMixture(**QUICK), {"sampler": ["gibbs"], "likelihood": ["niw", "nig"]}),
    ],
)
def test_grid_search(blobs, estimator, grid):
    X = blobs[0][np.random.default_rng(0).permutation(60)]
    search = GridSearchCV(estimator, grid, cv=2).fit(X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    for name, values in grid.items():
        assert search.best_params_[name] in values
    assert search.predict(X).shape == (60,)


def test_data_frames_keep_their_names(frame, blobs):
    model = DPMixture(**QUICK).fit(frame)
    assert list(model.feature_names_in_) == ["height", "weight"]
    plain = DPMixture(**QUICK).fit(blobs[0])
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_array_equal(model.predict(frame), plain.predict(blobs[0]))
    with pytest.raises(ValueError, match="another order than in the fit"):
        model.predict(frame[["weight", "height"]])


def test_polars(blobs):
    table = pl.DataFrame(blobs[0], schema=["height", "weight"])
    model = DPMixture(**QUICK).fit(table)
    assert list(model.feature_names_in_) == ["height", "weight"]
    assert model.score_samples(table).shape == (60,)


def test_set_output(frame):
    model = DPMixture(**QUICK).set_output(transform="pandas").fit(frame)
    out = model.transform(frame)
    assert isinstance(out, pd.DataFrame)
    assert list(out.columns) == [f"dpmixture{k}" for k in range(model.n_clusters_)]
    model.set_output(transform="polars")
    assert isinstance(model.transform(frame), pl.DataFrame)


def test_clone(blobs):
    model = DPMixture(alpha=(2.0, 1.0), likelihood=NormalInverseWishart(kappa=0.1), **QUICK)
    again = clone(model.fit(blobs[0]))
    assert repr(again) == repr(model)
    assert not hasattr(again, "labels_")


def test_skops_round_trip(fitted, blobs):
    data = skops.io.dumps(fitted)
    types = skops.io.get_untrusted_types(data=data)
    assert all(name.startswith("bnpcluster.") for name in types), types
    again = skops.io.loads(data, trusted=types)
    np.testing.assert_array_equal(again.predict_proba(blobs[0]), fitted.predict_proba(blobs[0]))
    assert again.continue_fit(2).posterior_.n_draws == fitted.posterior_.n_draws + 2
