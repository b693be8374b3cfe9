"""A fit with nothing but defaults, beside scikit-learn's variational mixture."""

import time
import warnings

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import BayesianGaussianMixture

from benchmarks.yardstick import Case, load, workshop
from bnpcluster import DPMixture

MOST_SECONDS = 5
REPLICATES = 20


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
    _replicates()


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


def _replicates():
    """What one data set cannot tell: data sets like the first, each with clusters of its own."""
    differences = []
    for seed in range(1, REPLICATES + 1):
        X, y, test = _ellipses(np.random.default_rng(seed))
        variational = BayesianGaussianMixture(n_components=30, max_iter=1000, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pair = DPMixture(random_state=0).fit(X[~test]), variational.fit(X[~test])
        labels = pair[0].labels_, pair[1].predict(X[~test])
        agreement = [adjusted_rand_score(y[~test], z) for z in labels]
        differences.append(
            [agreement[0] - agreement[1], pair[0].score(X[test]) - pair[1].score(X[test])]
        )
    for name, found in zip(("ARI", "held-out density"), np.array(differences).T, strict=True):
        print(
            f"{REPLICATES} data sets, {name}, ours less the variational mixture's: "
            f"{found.mean():.4f} +- {found.std(ddof=1) / len(found) ** 0.5:.4f}, "
            f"at least as good on {(found >= 0).sum()}",
            flush=True,
        )


def _ellipses(rng, n_clusters=15, n=5000, apart=0.5):
    """Gaussian clusters in the plane, from well apart to overlapping; a tenth is held out."""
    centres = []
    while len(centres) < n_clusters:
        centre = rng.uniform(-1.5, 1.5, 2)
        if all(np.hypot(*(centre - other)) > apart for other in centres):
            centres.append(centre)
    y = rng.integers(n_clusters, size=n)
    angle, width = rng.uniform(0, np.pi, n_clusters), rng.uniform(0.08, 0.18, (n_clusters, 2))
    turn = np.moveaxis([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]], 2, 0)
    X = np.array(centres)[y] + np.einsum("nij,nj->ni", turn[y], width[y] * rng.normal(size=(n, 2)))
    return (X - X.mean(axis=0)) / X.std(axis=0), y, rng.permutation(n) < n // 10


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
