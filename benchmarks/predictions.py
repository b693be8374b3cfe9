"""Seconds of predictions of 100,000 rows in 5 columns by 200 draws of some 20 clusters."""

import time

import numpy as np

from bnpcluster import DPMixture

CLUSTERS, COLUMNS, TRAINED, PREDICTED = 20, 5, 5_000, 100_000
SPREADS = (4.0, 8.0)  # of the centres: clusters overlap, or are well apart
TURNS = 3


def measure(arguments):
    """Print the least processor time of some turns, with compiled code."""
    for spread in SPREADS:
        rng = np.random.default_rng(0)
        centres = spread * rng.normal(size=(CLUSTERS, COLUMNS))
        X, new = (
            centres[rng.integers(CLUSTERS, size=n)] + rng.normal(size=(n, COLUMNS))
            for n in (TRAINED, PREDICTED)
        )
        model = DPMixture(n_draws=300, n_warmup=100, n_chains=1, random_state=0).fit(X)
        for method in (model.predict, model.score_samples, model.predict_proba):
            seconds = min(_seconds(method, new) for _ in range(TURNS + 1))
            print(
                f"{method.__name__} of {PREDICTED:,} x {COLUMNS}, centres of standard deviation "
                f"{spread:g}, {model.n_clusters_} clusters: {seconds:.2f} s (target 3)",
                flush=True,
            )


def _seconds(method, X):
    begin = time.process_time()
    method(X)
    return time.process_time() - begin
