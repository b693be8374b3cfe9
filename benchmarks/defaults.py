"""Fits with nothing but defaults, beside mixtures and HDBSCAN of scikit-learn.

Every fit is a line of a CSV file. A fit whose line is there is not repeated, so a run can resume.
"""

import csv
import math
import time
import warnings
from functools import cache, partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture

from benchmarks import defaults_report
from bnpcluster import DPMixture
from bnpcluster.partitions import point_estimate

FOLDERS = ("defaults_dev", "s_sets")  # the first is what the summary is about
MOST_ROWS = 6000
TRAINING = 0.8
NOISE = {name: "0" for name in ("hdbscan", "zigzag_noisy")}  # a label that is not a cluster
MOST_COMPONENTS = 20  # of the search by BIC


class Line(NamedTuple):
    """A fit; nan where it has no such value."""

    name: str
    method: str
    rows: float
    columns: float
    clusters: float
    seconds: float
    density: float = math.nan
    ari: float = math.nan
    converged: float = math.nan
    agreement: float = math.nan
    stability: float = math.nan  # ARI of the labels with those of another seed
    other_density: float = math.nan  # held-out density of that other fit
    draws: float = math.nan
    warmup: float = math.nan


class Split(NamedTuple):
    """Standardised rows, and labels of those for training; `known` where the label is a cluster."""

    X: np.ndarray
    y: np.ndarray
    known: np.ndarray
    X_test: np.ndarray


def measure(arguments):
    """The sets, then single clouds and uniform noise if asked; last the summary."""
    sets = _sets(arguments.data)
    judged = [name for name, path in sets.items() if path.parent.name == FOLDERS[0]]
    methods = _chosen(arguments.methods, METHODS, "method")
    names = _chosen(arguments.only, [*sets, *SINGLE], "set")
    sets = {name: path for name, path in sets.items() if name in names}
    ledger = _ledger(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, path in sets.items():
            _measure_set(ledger, name, path, methods)
        if "ours" in methods:
            _measure_single(ledger, arguments.clouds, names)
    baseline = read(arguments.baseline) if arguments.baseline else {}
    judged = [name for name in judged if name in sets]
    found = defaults_report.summary(ledger.lines, sets, judged, baseline)
    print(*found, sep="\n", flush=True)
    if arguments.page:
        defaults_report.write(arguments.page, ledger.lines, sets, judged, SINGLE, STARTS)


def _chosen(text, names, kind):
    """The names in a list with commas; without one, all."""
    chosen = text.split(",") if text else list(names)
    if unknown := set(chosen) - set(names):
        raise SystemExit(f"no {kind} {', '.join(sorted(unknown))}; known: {', '.join(names)}")
    return chosen


def _ledger(arguments):
    """What was measured before, with lines of the peers from another file."""
    peers = read(arguments.peers) if arguments.peers else {}
    taken = {key: line for key, line in peers.items() if key[1] in defaults_report.PEERS}
    earlier = read(arguments.out) if arguments.out.exists() else {}
    if earlier:
        print(f"{len(earlier)} lines are in {arguments.out} already")
    return Ledger(arguments.out, taken | earlier, set(earlier) if arguments.again else set())


class Ledger:
    """The lines of a CSV file, by set and method."""

    def __init__(self, path, lines, again):
        self.path, self.lines, self.again = path, lines, again

    def lacks(self, *key):
        """Whether a fit is still to be made."""
        return key not in self.lines or key in self.again

    def add(self, line):
        """Write a line to the file at once."""
        new = not self.path.exists()
        with self.path.open("a", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if new:
                writer.writerow(Line._fields)
            writer.writerow(["" if v != v else _short(v) for v in line])
        self.lines[line.name, line.method] = line


def read(path):
    """The lines of a CSV file by set and method; the last of those with the same."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    # A file of an earlier version lacks the newest fields.
    lines = [Line(**{field: _value(field, row[field]) for field in row}) for row in rows]
    return {(line.name, line.method): line for line in lines}


def _short(value):
    return value if isinstance(value, str) else f"{value:.8g}"


def _value(field, text):
    return text if field in ("name", "method") else float(text or "nan")


def _sets(folder):
    """Paths of the sets by name."""
    paths = [path for part in FOLDERS for path in sorted((folder / part).glob("*.csv.gz"))]
    if not paths:
        print(f"no {' or '.join(FOLDERS)} in {folder}: give its folder with --data")
    return {path.name.removesuffix(".csv.gz"): path for path in paths}


def split(name, path):
    """A fixed choice of rows, most of them for training, which also give the units."""
    table = np.loadtxt(path, delimiter=",", skiprows=1, dtype=str)
    order = np.random.default_rng(0).permutation(len(table))[:MOST_ROWS]
    X, y = table[order, :-1].astype(float), table[order, -1]
    n = int(TRAINING * len(order))
    deviation = X[:n].std(axis=0)
    X = (X - X[:n].mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    return Split(X[:n], y[:n], y[:n] != NOISE.get(name), X[n:])


def _measure_set(ledger, name, path, methods):
    """One line per method that is still to be measured."""
    methods = [method for method in methods if ledger.lacks(name, method)]
    data = split(name, path) if methods else None
    for method in methods:
        if method == "ours":
            _compile(min(data.X.shape[1], 3))
        line = _line(name, method, data)
        ledger.add(line)
        print(defaults_report.printed(line), flush=True)


def _line(name, method, data):
    begin = time.perf_counter()
    model = METHODS[method](data.X)
    seconds = time.perf_counter() - begin
    labels = model.labels_ if hasattr(model, "labels_") else model.predict(data.X)
    found = Line(name, method, *data.X.shape, len(np.unique(labels[labels >= 0])), seconds)
    found = found._replace(ari=adjusted_rand_score(data.y[data.known], labels[data.known]))
    if hasattr(model, "score"):
        found = found._replace(density=model.score(data.X_test))
    again = METHODS[method](data.X, seed=1)
    others = again.labels_ if hasattr(again, "labels_") else again.predict(data.X)
    found = found._replace(stability=adjusted_rand_score(labels, others))
    if hasattr(again, "score"):
        found = found._replace(other_density=again.score(data.X_test))
    return found._replace(**_of_chains(model)) if method == "ours" else found


def _of_chains(model):
    """Whether chains converged, and the mean ARI between the point estimates of single ones."""
    estimates = [point_estimate(draws, n_starts=4) for draws in model.posterior_.labels]
    pairs = [adjusted_rand_score(*pair) for pair in combinations(estimates, 2)]
    converged = math.nan if model.converged_ is None else float(model.converged_)
    n_draws = model.posterior_.n_draws
    return {
        "converged": converged,
        "agreement": float(np.mean(pairs)),
        "draws": n_draws,
        "warmup": model.n_iter_ - n_draws,
    }


def _ours(X, seed=0):
    return DPMixture(random_state=seed).fit(X)


def _bic(X, seed=0):
    """The mixture with the lowest BIC; numbers of components that fail are left out."""
    found = []
    for n_components in range(1, min(MOST_COMPONENTS, len(X)) + 1):
        try:
            found.append(GaussianMixture(n_components, random_state=seed).fit(X))
        except ValueError:
            continue
    return min(found, key=lambda model: model.bic(X))


def _variational(X, seed=0):
    n_components = min(30, len(X))
    model = BayesianGaussianMixture(n_components=n_components, max_iter=1000, random_state=seed)
    return model.fit(X)


def _hdbscan(X, seed=0):
    return HDBSCAN(min_cluster_size=15, copy=True).fit(X)


METHODS = {"ours": _ours, "bic": _bic, "variational": _variational, "hdbscan": _hdbscan}


@cache
def _compile(d, init="auto"):
    """A tiny fit: rows of one column, of two and of more have kernels of their own."""
    X = np.random.default_rng(0).normal(size=(40, d))
    DPMixture(init=init, n_warmup=5, n_draws=5, random_state=0).fit(X).score(X)


def cloud(rng, n, d):
    """One Gaussian cloud whose columns are correlated."""
    turn = rng.normal(size=(d, d))
    return rng.normal(size=(n, d)) @ turn


def noise(rng, n, d):
    """Uniform: no cluster at all."""
    return rng.random((n, d))


SINGLE = {
    f"cloud-d{d}-n{n}": partial(cloud, n=n, d=d) for d in (2, 10, 30) for n in (60, 200, 2000)
}
SINGLE["noise-d2-n200"] = partial(noise, n=200, d=2)
STARTS = ("one", "singletons")


def _measure_single(ledger, n_seeds, names):
    """Data with one cluster, or with none, from two opposite starts."""
    for name, generate in SINGLE.items():
        if name not in names:
            continue
        for init in STARTS:
            for seed in range(n_seeds):
                _measure_cloud(ledger, name, seed, init, generate)
            if found := defaults_report.single(ledger.lines, name, init):
                print(f"{name:14s} from {init:10s} {found}", flush=True)


def _measure_cloud(ledger, name, seed, init, generate):
    key = f"{name}-s{seed}", init
    if not ledger.lacks(*key):
        return
    X = generate(np.random.default_rng(seed))
    _compile(min(X.shape[1], 3), init)
    begin = time.perf_counter()
    model = DPMixture(init=init, random_state=seed).fit(X)
    seconds = time.perf_counter() - begin
    line = Line(*key, *X.shape, model.n_clusters_, seconds, **_of_chains(model))
    ledger.add(line)
