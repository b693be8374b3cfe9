"""`bnpcluster compile`: compile what fits need, once, before anybody waits for it."""

from __future__ import annotations

import sys
import time
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np

from bnpcluster.cli.names import LIKELIHOODS
from bnpcluster.cli.usage import DONE, print_result

N_ROWS = 60
BAR = 30  # characters


def prepare(options: SimpleNamespace) -> int:
    """Run small fits of all kinds of data, as many at a time as there are processors."""
    from joblib import Parallel, delayed

    kinds = [
        (name, variant)
        for name in options.likelihood or LIKELIHOODS
        for variant in range(len(tables(name)))
    ]
    samplers = options.sampler or ["split_merge"]
    jobs = [delayed(run)(*kind, sampler) for kind in kinds for sampler in samplers]
    begin = time.perf_counter()
    runs = Parallel(n_jobs=options.n_jobs, return_as="generator_unordered")(jobs)
    for done, _ in enumerate(runs, 1):
        show(done, len(jobs))
    if not options.quiet:
        seconds = time.perf_counter() - begin
        print_result(f"{len(jobs)} kinds of fits are compiled ({seconds:.0f} s).")
    return DONE


def show(done: int, total: int) -> None:
    """A progress bar, on a terminal only."""
    if sys.stderr.isatty():
        full = BAR * done // total
        end = "\n" if done == total else ""
        print(f"\r[{'#' * full}{' ' * (BAR - full)}] {done}/{total}", end=end, file=sys.stderr)


def tables(name: str) -> list[Any]:
    """Small data of every kind that has code of its own, for one likelihood."""
    rng = np.random.default_rng(0)
    group = np.arange(N_ROWS) % 3
    if name == "columns":
        words = np.array(["low", "middle", "high"])[group]
        sizes, flags = 4.0 * group + rng.normal(size=N_ROWS), group == 0
        return [np.array([sizes, words, flags], dtype=object).T]
    rows = {
        "niw": lambda d: 4.0 * group[:, None] + rng.normal(size=(N_ROWS, d)),
        "nig": lambda d: 4.0 * group[:, None] + rng.normal(size=(N_ROWS, d)),
        "bernoulli": lambda d: rng.binomial(1, 0.2 + 0.3 * group[:, None], (N_ROWS, d)) * 1.0,
        "categorical": lambda d: (group[:, None] + rng.integers(2, size=(N_ROWS, d))) * 1.0,
        "poisson": lambda d: rng.poisson(2.0 + 6.0 * group[:, None], (N_ROWS, d)) * 1.0,
    }[name]
    complete = [rows(d) for d in ((1, 2, 5) if name == "niw" else (5,))]
    holes = rows(5)
    holes[rng.random(holes.shape) < 0.1] = np.nan
    return [*complete, holes]


def run(name: str, variant: int, sampler: str) -> None:
    """A fit and its predictions, in which everything is compiled that such data need."""
    from bnpcluster.mixtures import DPMixture

    X = tables(name)[variant]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = DPMixture(
            likelihood=name, sampler=sampler, n_chains=2, n_draws=30, n_warmup=20, random_state=0
        ).fit(X)
        model.predict_proba(X)
        model.score_samples(X)
        model.outlier_score(X)
        model.describe()
