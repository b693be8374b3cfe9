"""The experiments on adaptive reconfiguration moves, ours beside the printed figures.

`python -m benchmarks.reproductions.arm --data DIR [--parts four bernoulli networks variants chains
traces] [--restarts 4] [--sets 20] [--output DIR] [--page FILE]` prints the tables in Markdown. DIR
holds one folder with an `edges.csv.gz` for each network. With `--output` it also draws the figures
there (this needs matplotlib).

R-hat compares chains of different restarts: chains of one restart share an archive. T counts
iterations of ARM; other methods run for the same processor time.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.reproductions import finished, pages
from benchmarks.reproductions.arm_chains import (
    GIBBS,
    METHODS,
    N_CHAINS,
    VARIANTS,
    as_long,
    begin,
    between_restarts,
    moments,
    network,
    sample,
    simulate,
    times,
)
from benchmarks.reproductions.arm_figures import (
    draw_chains,
    draw_four_vertices,
    draw_shares,
    draw_traces,
)
from benchmarks.reproductions.arm_printed import TABLE_2, TABLE_3, TABLE_4, TABLE_5
from benchmarks.reproductions.finished import Finished
from benchmarks.reproductions.pages import Page
from bnpcluster.likelihoods import Bernoulli, Relational
from bnpcluster.partitions import relabel
from bnpcluster.priors import DirichletProcess
from bnpcluster.testing.enumeration import enumerated

SEVERAL = (2, 3, 4, 6, 8, 12, 16)  # chains, of figure 6
FIRST = 500  # Gibbs sweeps before figure 5
LENGTHS = {GIBBS: 10_000, "SM": 10_000, "ARM": 1000}  # iterations in figure 5
POINTS = 250  # of a chain in figure 5
SCALES = {"NIPS": 1.0, "USAir": 1.0, "Hagmann": 1.0, "Caltech": 1.0}


class Task:
    """Finished units, the page, and the settings of a run."""

    def __init__(self, given: argparse.Namespace):
        self.done, self.page = Finished(given.finished), Page(given.page)
        self.data, self.output = given.data, given.output
        self.restarts, self.sets = given.restarts, given.sets


def four_vertices(task: Task) -> None:
    """Figure 3: how often 160,000 iterations visit each partition of a small graph."""
    A = np.zeros((4, 4))
    for i, j in ((0, 1), (0, 2), (0, 3), (2, 3)):
        A[i, j] = A[j, i] = 1.0
    bound = Relational().bind(A)
    exact = enumerated(bound, DirichletProcess(1.0), 4)
    index = {relabel(row).tobytes(): c for c, row in enumerate(exact.partitions)}

    def visits(sampler: Any) -> np.ndarray:
        found = sample(bound, begin(bound, 4, 4, 0), sampler, 40_000, 1_000)
        rows, times_seen = np.unique(found.labels.reshape(-1, 4), axis=0, return_counts=True)
        shares = np.zeros(len(index))
        for row, count in zip(rows, times_seen / times_seen.sum(), strict=True):
            shares[index[relabel(row).tobytes()]] += count
        return shares

    shares = {"exact": exact.probabilities}
    for name, sampler in VARIANTS.items():
        shares[name] = np.array(task.done.get(("four", name), partial(visits, sampler)))
    names = ["".join(map(str, row)) for row in exact.partitions]
    lines = [
        [name, *(f"{x:.4f}" for x in share), f"{np.abs(share - exact.probabilities).sum() / 2:.4f}"]
        for name, share in shares.items()
    ]
    task.page.table("Figure 3", " | ".join(["method", *names, "distance"]), lines)
    if task.output:
        draw_four_vertices(shares, names, task.output)


def mixture(d: int, seed: int) -> dict[str, Any]:
    """All methods on one data set: autocorrelation times, and seconds per iteration."""
    bound, found = Bernoulli(a=1.0, b=1.0).bind(simulate(d, seed)), {}
    chains = begin(bound, 100, N_CHAINS, seed)
    for name, sampler in METHODS.items():
        sample(bound, chains, sampler, 2, 0)  # compiles
        runs = sample(bound, chains, sampler, 2000, 0)
        share, indicator = times(runs)
        found[name] = {"share": share, "indicator": indicator, "cost": runs.cost}
    return found


def bernoulli(task: Task) -> None:
    """Table 2, and figure 4: the share of the largest cluster in Example 2."""
    lines = []
    columns = {1: 6, 2: 8, 3: 10}  # of the Examples
    found: dict[int, list] = {example: [] for example in columns}
    for seed in range(task.sets):
        for example, d in columns.items():
            found[example].append(task.done.get(("bernoulli", d, seed), partial(mixture, d, seed)))
    for example, rows in found.items():
        for name in METHODS:
            values = [
                [r[name]["share"], r[name]["indicator"], 2000 * r[name]["cost"] / r[GIBBS]["cost"]]
                for r in rows
            ]
            mean, spread = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
            ours = [f"{m:.1f} +- {s:.1f}" for m, s in zip(mean, spread, strict=True)]
            both = [x for pair in zip(ours, TABLE_2[example, name], strict=True) for x in pair]
            lines.append([example, name, *both])
    head = "Example | method | share | theirs | indicator | theirs | standardised | theirs"
    task.page.table("Table 2", head, lines)
    if task.output:
        bound = Bernoulli(a=1.0, b=1.0).bind(simulate(8, 0))
        for name, sampler in METHODS.items():
            draw_shares(name, sample(bound, begin(bound, 100, 1, 0), sampler, 2000, 0), task.output)


def measure(bound: Any, n: int, sampler: Any, restart: int, length: int) -> dict[str, Any]:
    """What the tables need of the chains of one restart.

    A quarter is warm-up, in which a frozen archive is made. `late` is the second half of all
    iterations, `early` the second half of the first half.
    """
    chains = begin(bound, n, N_CHAINS, restart)
    sample(bound, chains, sampler, 4, 4)  # compiles
    found = sample(bound, chains, sampler, length - length // 4, length // 4)
    third = found.log_joint.shape[1] // 3
    return {
        "early": moments(found.log_joint[:, :third], 0),
        "late": moments(found.log_joint, third),
        "accepted": found.accepted,
        "seconds": found.cost * length,
        "iterations": length,
    }


def several(task: Task, name: str, scale: float, methods: dict, T: int) -> dict[str, list]:
    """T iterations of ARM, and every other method for the same time, at every restart."""
    bound, n, _ = network(task.data, name, scale)
    found: dict[str, list] = {method: [] for method in methods}
    for restart in range(task.restarts):

        def work(method: str, seconds: float | None, restart: int = restart) -> dict[str, Any]:
            sampler, length = methods[method], T
            if seconds is not None:
                chains = begin(bound, n, N_CHAINS, restart)
                length = as_long(bound, chains, sampler, seconds)
            return measure(bound, n, sampler, restart, length)

        key = ("network", name, scale, T, restart)
        first = task.done.get((*key, "ARM"), partial(work, "ARM", None))
        for method in methods:
            row = task.done.get((*key, method), partial(work, method, first["seconds"]))
            found[method].append(row)
    return found


def mean_and_spread(values: Any, digits: int = 2) -> str:
    return f"{np.mean(values):.{digits}f} +- {np.std(values):.{digits}f}"


def agreement(rows: list[dict[str, Any]], part: str) -> str:
    """R-hat between the restarts, mean and deviation over the chains of a restart."""
    return mean_and_spread(between_restarts([row[part] for row in rows]))


def networks(task: Task) -> None:
    """Table 3: R-hat of the log joint after 2,000 and 1,000 iterations of ARM."""
    lines = []
    for (name, scale), theirs in TABLE_3.items():
        found = several(task, name, scale, METHODS, 2000)
        ours = [agreement(rows, part) for part in ("late", "early") for rows in found.values()]
        both = [x for pair in zip(ours, theirs.split(), strict=True) for x in pair]
        _, n, n_links = network(task.data, name, scale)
        lines.append([f"{name} {scale}: {n}, {n_links}", *both])
    head = " | ".join(f"{T}: {name} | theirs" for T in (2000, 1000) for name in METHODS)
    task.page.table("Table 3", f"network: vertices, links | {head}", lines)


def variants(task: Task) -> None:
    """Tables 4 and 5: R-hat after 1,000 iterations of ARM, and acceptance, of all variants."""
    first, second, third = [], [], []
    for (name, scale), theirs in TABLE_4.items():
        found = several(task, name, scale, VARIANTS, 1000)
        printed = [*theirs.split(), ""]
        first.append([f"{name} {scale}"])
        for rows, value in zip(found.values(), printed, strict=True):
            first[-1] += [agreement(rows, "late"), value]
        printed = ["", *TABLE_5[name, scale].split(), ""]
        second.append([f"{name} {scale}"])
        for (method, rows), value in zip(found.items(), printed, strict=True):
            if method != GIBBS:
                second[-1] += [mean_and_spread([r["accepted"] for r in rows]), value]
        lengths = [f"{np.mean([r['iterations'] for r in rows]):.0f}" for rows in found.values()]
        third.append([f"{name} {scale}", *lengths])
    names = list(VARIANTS)
    columns = [f"{n} | theirs" for n in names]
    task.page.table("Table 4", " | ".join(["network", *columns]), first)
    task.page.table("Table 5", " | ".join(["network", *columns[1:]]), second)
    task.page.table("Iterations", " | ".join(["network", *names]), third)


def chains_together(task: Task) -> None:
    """Figure 6a: R-hat of ARM between restarts against the number of chains of a restart."""
    lines, means = [], {}
    for name, scale in (("NIPS", 1.0), ("USAir", 0.8)):
        bound, n, _ = network(task.data, name, scale)

        def work(n_chains: int, restart: int, bound: Any = bound, n: int = n) -> dict[str, Any]:
            chains = begin(bound, n, n_chains, restart)
            return moments(sample(bound, chains, METHODS["ARM"], 250, 250).log_joint, 0)

        for n_chains in SEVERAL:
            parts = [
                task.done.get(("chains", name, scale, c, r), partial(work, c, r))
                for c, r in product([n_chains], range(task.restarts))
            ]
            found = between_restarts(parts)
            means.setdefault(f"{name} {scale}", []).append(found.mean())
            lines.append([f"{name} {scale}", n_chains, mean_and_spread(found)])
    task.page.table("Figure 6", "network | chains | R-hat after 500 iterations", lines)
    if task.output:
        draw_chains(SEVERAL, means, task.output)


def traces(task: Task) -> None:
    """Figure 5: the log joint density of eight chains against standardised iterations."""
    found: dict[str, dict[str, Any]] = {}
    for name, scale in SCALES.items():
        bound, n, _ = network(task.data, name, scale)

        def work(method: str, bound: Any = bound, n: int = n) -> dict[str, Any]:
            chains, length = begin(bound, n, N_CHAINS, 0, FIRST), LENGTHS[method]
            sample(bound, chains, METHODS[method], 2, 0)  # compiles
            runs = sample(bound, chains, METHODS[method], length, 0, length // POINTS)
            return {"cost": runs.cost, "log joint": runs.log_joint.round(2)}

        found[f"{name}: {n} vertices"] = {
            method: task.done.get(("traces", name, scale, method), partial(work, method))
            for method in METHODS
        }
    if task.output:
        draw_traces(found, LENGTHS, task.output)


PARTS = {
    "four": four_vertices,
    "bernoulli": bernoulli,
    "networks": networks,
    "variants": variants,
    "chains": chains_together,
    "traces": traces,
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the networks")
    parser.add_argument("--parts", nargs="*", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--restarts", type=int, default=4, help="of the chains of a network")
    parser.add_argument("--sets", type=int, default=20, help="data sets per Example")
    parser.add_argument("--output", type=Path, help="folder for the figures")
    finished.add_argument(parser, "arm")
    pages.add_argument(parser)
    given = parser.parse_args(arguments)
    task = Task(given)
    for part in given.parts:
        since = time.perf_counter()
        PARTS[part](task)
        print(f"\n{part}: {time.perf_counter() - since:.0f} s", flush=True)


if __name__ == "__main__":
    main()
