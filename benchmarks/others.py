"""Beside scikit-learn's clusterers, on shapes that suit one or the other."""

import time
import warnings

import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.datasets import load_iris, load_wine, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import BayesianGaussianMixture

from bnpcluster import DPMixture

REPLICATES = 3
OURS = "DPMixture"
CLUSTERERS = {
    OURS: lambda seed: DPMixture(random_state=seed),
    "BayesianGaussianMixture": lambda seed: BayesianGaussianMixture(
        n_components=30, max_iter=1000, random_state=seed
    ),
    "HDBSCAN": lambda seed: HDBSCAN(min_cluster_size=15, copy=True),
}


def gaussian(rng):
    """Five overlapping Gaussian clusters of different shapes and sizes."""
    y = rng.choice(5, size=600, p=[0.4, 0.25, 0.2, 0.1, 0.05])
    centres = np.array([[0, 0], [3, 0], [0, 4], [5, 3], [-3, 2.5]])
    spread = np.array([[1, 0.5], [0.4, 1], [0.7, 0.7], [0.6, 0.6], [0.4, 0.4]])
    return centres[y] + spread[y] * rng.normal(size=(600, 2)), y


def moons(rng):
    """Two interleaved half circles: no Gaussian is like them."""
    return make_moons(600, noise=0.07, random_state=int(rng.integers(1 << 31)))


def noise(rng):
    """Three tight clusters in a square of noise, which counts as a class of its own."""
    y = np.repeat([0, 1, 2, 3], [120, 120, 120, 240])
    centres = np.array([[0.2, 0.2], [0.8, 0.3], [0.5, 0.8], [0, 0]])
    X = centres[y] + 0.03 * rng.normal(size=(600, 2))
    X[y == 3] = rng.random((240, 2))
    return X, y


def cloud(rng):
    """One Gaussian cloud in five dimensions: there is nothing to find."""
    return rng.normal(size=(600, 5)), np.zeros(600, int)


def standardised(loader):
    """A small real data set, its columns standardised."""
    X, y = loader(return_X_y=True)
    return lambda rng: ((X - X.mean(axis=0)) / X.std(axis=0), y)


DATA = {
    "gaussian": gaussian,
    "cloud": cloud,
    "moons": moons,
    "noise": noise,
    "iris": standardised(load_iris),
    "wine": standardised(load_wine),
}


def measure(arguments):
    """Mean adjusted Rand index, clusters found, held-out density and processor seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, generate in DATA.items():
            data = [generate(np.random.default_rng(seed)) for seed in range(REPLICATES)]
            DPMixture(n_draws=2, n_warmup=2, random_state=0).fit(data[0][0])  # compiles
            for label, make in CLUSTERERS.items():
                rows = [_one(label, make(seed), *data[seed], seed) for seed in range(REPLICATES)]
                ari, found, score, seconds = np.mean(rows, axis=0)
                print(
                    f"{name:9s} {label:24s} ARI {ari:.3f}, clusters {found:.1f}, "
                    f"held-out {score:.3f}, {seconds:.2f} s",
                    flush=True,
                )


def _one(label, model, X, y, seed):
    """A fit to all rows for the labels; one without a fifth of them for the held-out density."""
    busy = time.process_time()
    labels = model.fit(X).labels_ if label != "BayesianGaussianMixture" else model.fit_predict(X)
    busy = time.process_time() - busy
    score = np.nan
    if hasattr(model, "score"):
        held = np.random.default_rng(seed).permutation(len(X)) < len(X) // 5
        score = model.fit(X[~held]).score(X[held])
    n_clusters = len(np.unique(labels[labels >= 0]))
    return adjusted_rand_score(y, labels), n_clusters, score, busy
