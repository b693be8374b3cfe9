"""A fit with nothing but defaults, beside scikit-learn's variational mixture."""

import time
import warnings

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import BayesianGaussianMixture

from benchmarks.yardstick import Case, load, workshop
from bnpcluster import DPMixture

MOST_SECONDS = 5


def measure(arguments):
    """The yardstick's Gaussian data and, where they are found, the S sets."""
    with workshop(arguments.yardstick) as folder:
        cases = [load(folder, name) for name in ("s1like", "dim64")] if folder else []
    cases += _s_sets(arguments.data)
    for case in cases:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            DPMixture(n_draws=1, n_warmup=0, random_state=0).fit(case.X).score(case.X_test)
            _line(case, "DPMixture", DPMixture(random_state=0), f"  target {MOST_SECONDS} s")
            variational = BayesianGaussianMixture(n_components=30, max_iter=1000, random_state=0)
            _line(case, "BayesianGaussianMixture", variational)


def _s_sets(folder):
    """S1 to S4, standardised, with a fixed tenth held out."""
    cases = []
    for path in sorted(folder.glob("s_sets/*.csv.gz")):
        table = np.loadtxt(path, delimiter=",", skiprows=1)
        X, y = table[:, :-1], table[:, -1].astype(int)
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        order = np.random.default_rng(0).permutation(len(X))
        test, train = order[: len(X) // 10], order[len(X) // 10 :]
        cases.append(Case(path.name[:2], X[train], y[train], X[test], y[test], None))
    return cases


def _line(case, name, model, target=""):
    begin, busy = time.perf_counter(), time.process_time()
    model.fit(case.X)
    seconds, busy = time.perf_counter() - begin, time.process_time() - busy
    labels = model.labels_ if hasattr(model, "labels_") else model.predict(case.X)
    agreement = [
        adjusted_rand_score(case.y, labels),
        adjusted_rand_score(case.y_test, model.predict(case.X_test)),
    ]
    print(
        f"{case.name:7s} {name:24s} held-out {model.score(case.X_test):8.4f}, "
        f"ARI {agreement[0]:.4f} (held-out rows {agreement[1]:.4f}), "
        f"{len(np.unique(labels))} clusters, {seconds:.2f} s (processor {busy:.2f} s){target}",
        flush=True,
    )
