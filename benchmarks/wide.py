"""Whether separate default fits of wide data agree: last draws of chains of different fits.

Nothing is exchanged between fits, nor between chains of one; starts and seeds differ. The level of
a chain is the mean log posterior of the second half of its draws. Levels can be compared under a
fixed scale (`scale="data"`). Every fit is a line of a JSON file; one whose line is there is not
repeated.
"""

import itertools
import json
import time
import warnings

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from benchmarks.defaults import FOLDERS, TRAINING, split
from bnpcluster import DPMixture
from bnpcluster.likelihoods import NormalInverseWishart

SETS = ("wdbc", "mecs_pca20", "dim032", "glass")
DIGITS = ("digits", "digits_pca10")  # reported: no target
SCALES = ("learned", "data")
LENGTHS = ("500/500", "200/200")  # draws / warm-up
NEAR = 3.0  # nats
GOAL = 0.9  # mean ARI between separate fits


def measure(arguments):
    """The fits that are still to be made, and a line of figures per set, scale and length."""
    lines = _read(arguments.wide)
    names = arguments.only.split(",") if arguments.only else [*SETS, *DIGITS]
    if unknown := set(names) - {*SETS, *DIGITS}:
        raise SystemExit(f"no set {', '.join(sorted(unknown))}; known: {', '.join(SETS + DIGITS)}")
    for name, scale, length in itertools.product(names, SCALES, LENGTHS):
        X, y = _rows(name, arguments.data)
        for seed in range(arguments.fits):
            if (name, scale, length, seed) not in lines:
                line = one_fit(X, y, scale, length, seed)
                with arguments.wide.open("a") as file:
                    file.write(json.dumps({"key": [name, scale, length, seed], **line}) + "\n")
                lines[name, scale, length, seed] = line
        fits = [lines[name, scale, length, seed] for seed in range(arguments.fits)]
        best = [max(v["level"]) for k, v in lines.items() if k[:2] == (name, scale)]
        print(f"{name:12s} {scale:7s} {length}  {figures(fits, max(best))}", flush=True)


def _read(path):
    """The lines of the file by set, scale, length and seed."""
    if not path.exists():
        return {}
    lines = [json.loads(text) for text in path.read_text().splitlines()]
    return {tuple(line.pop("key")): line for line in lines}


def _rows(name, folder):
    """Standardised rows and their reference labels; the rows of the benchmark of defaults."""
    if name not in DIGITS:
        return split(name, folder / FOLDERS[0] / f"{name}.csv.gz")[:2]
    X, y = load_digits(return_X_y=True)
    chosen = np.random.default_rng(0).permutation(len(X))[: int(TRAINING * len(X))]
    X, y = X[chosen], y[chosen]
    if name == "digits_pca10":
        X = PCA(10, random_state=0).fit_transform(X)
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def one_fit(X, y, scale, length, seed, **parameters):
    """One default fit: last draws and log posteriors of its chains, ARI with the reference."""
    n_draws, n_warmup = map(int, length.split("/"))
    if scale == "data":
        parameters["likelihood"] = NormalInverseWishart(scale="data", nu="data")
    model = DPMixture(n_draws=n_draws, n_warmup=n_warmup, random_state=seed, **parameters)
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X)
    levels = model.posterior_.traces["log_posterior"]
    return {
        "last": [" ".join(map(str, labels[-1])) for labels in model.posterior_.labels],
        "level": levels[:, n_draws // 2 :].mean(axis=1).tolist(),
        "n_clusters": model.posterior_.traces["n_clusters"][:, -1].tolist(),
        "ari": float(adjusted_rand_score(y, model.labels_)),
        "seconds": time.process_time() - begin,
    }


def agreement(fits):
    """Mean ARI between last draws of chains of different fits."""
    last = [[np.array(text.split(), int) for text in fit["last"]] for fit in fits]
    return np.mean(
        [
            adjusted_rand_score(one, other)
            for these, those in itertools.combinations(last, 2)
            for one, other in itertools.product(these, those)
        ]
    )


def figures(fits, best):
    """The figures of one setting, as text."""
    levels = np.concatenate([fit["level"] for fit in fits])
    return (
        f"ARI between fits {agreement(fits):.3f} (target {GOAL}), with the reference "
        f"{np.mean([fit['ari'] for fit in fits]):.3f}, below the best level: median "
        f"{best - np.median(levels):.1f}, worst {best - levels.min():.1f}, within {NEAR:g} nats "
        f"{np.mean(levels > best - NEAR):.0%}, {np.median([f['seconds'] for f in fits]):.2f} s"
    )
