"""Jain and Neal's experiments with split-merge moves, on twenty data sets each instead of one.

`python -m benchmarks.reproductions.jain_neal [--sets 20] [--output DIR]` prints the tables in
Markdown, ours beside theirs. With `--output` it also draws the traces of the first data sets there
(this needs matplotlib). With `--priors` it prints only the tables that compare the stated prior of
the attributes, Beta(1, 1), with Beta(1/2, 1/2).
"""

import argparse
import time
from collections import Counter
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from bnpcluster._core.state import State
from bnpcluster.diagnostics import autocorrelation_time
from bnpcluster.likelihoods import Bernoulli
from bnpcluster.partitions import coclustering, point_estimate
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import Gibbs, JainNeal

COMPONENTS = ("11111", "00001", "10011", "00000", "11110")
"""Attributes with probability 0.95 (1) or 0.05 (0); the last one is repeated."""

EIGHT = "2 with 8 attributes"
THEIRS = (1, 2, 3)
N_ATTRIBUTES: dict[int | str, int] = {1: 6, 2: 15, 3: 18, EIGHT: 8}
"""Of their three Examples, and of one of ours, whose posterior is divided between 4 and 5."""
N, N_SHARES = 100, 5
N_ITERATIONS, BURN_IN = 2000, 500
N_REFERENCE, REFERENCE_BURN_IN = 10_000, 1000
CLOSE = 0.03  # mean difference of co-clustering probabilities from the reference
SAME_SHARES = 0.05  # largest difference of the five mean cumulative shares from the reference
BETAS = (1.0, 0.5)  # of the Beta priors: as stated, and another that fits their tables better
LARGE = 5  # items that make a cluster a component in our counts
ALIKE = [(20 * c, 20 * c + 1) for c in range(5)]  # pairs of one true component
NEAR = [(0, 40), (1, 41), (20, 40), (21, 41)]  # of two that differ in two attributes


def restricted(t: int, m: int, g: int) -> tuple[str, JainNeal]:
    """The sampler (t, m, g), and that name."""
    return f"({t},{m},{g})", JainNeal(n_restricted=t, n_moves=m, n_gibbs=g)


MAIN = {
    "Gibbs": Gibbs(),
    "simple split": JainNeal(n_restricted=None, n_gibbs=0),
    **dict(restricted(*s) for s in ((0, 1, 0), (0, 1, 1), (5, 1, 0), (5, 1, 1))),
}
SCANS = [(t, 1, 1) for t in (1, 3, 5, 10, 20, 100)]
MOVES = [(1, m, 1) for m in (2, 3, 4, 5)]
SWEEPS = [(1, 1, g) for g in (0, 2, 3, 5)]
VARIANTS = dict(restricted(*s) for s in SCANS + MOVES + SWEEPS)

# Theirs, as printed.
SECONDS = {
    "Gibbs": (1.1, 1.5, 1.6),
    "simple split": (0.2, 0.4, 0.5),
    "(0,1,0)": (0.3, 0.7, 0.9),
    "(0,1,1)": (1.1, 1.9, 2.2),
    "(5,1,0)": (0.9, 1.9, 2.5),
    "(5,1,1)": (1.6, 3.2, 4.0),
}
TABLE_5 = {"Gibbs": (2.0, 0.9), "(0,1,1)": (2.1, 0.7), "(5,1,1)": (4.0, 0.7)}
TABLE_6 = {
    "(1,1,1)": (2.2, 57.4, 1.5),
    "(3,1,1)": (2.7, 40.5, 1.5),
    "(5,1,1)": (3.2, 31.9, 1.6),
    "(10,1,1)": (4.6, 26.7, 1.6),
    "(20,1,1)": (7.0, 24.2, 1.6),
    "(100,1,1)": (28.8, 18.4, 1.4),
    "(1,2,1)": (3.1, 48.0, 2.0),
    "(1,3,1)": (4.1, 19.5, 1.8),
    "(1,4,1)": (5.1, 19.2, 1.8),
    "(1,5,1)": (6.2, 17.6, 1.9),
    "(1,1,0)": (1.0, 165.8, 41.7),
    "(1,1,2)": (3.3, 63.5, 1.7),
    "(1,1,3)": (4.5, 35.9, 1.0),
    "(1,1,5)": (6.7, 35.3, 1.0),
}
TABLE_7 = dict(zip((f"({t},1,1)" for t, *_ in SCANS), (1.5, 3.1, 3.3, 4.1, 3.7, 4.3), strict=True))


@dataclass
class Run:
    """A chain, and what it cost."""

    labels: np.ndarray
    log_joint: np.ndarray
    counts: Counter  # of moves after the burn-in
    seconds: float  # per iteration


def simulate(example: int | str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A data set of an Example, and its true partition."""
    d = N_ATTRIBUTES[example]
    ones = np.array([[c == "1" for c in name.ljust(d, name[-1])] for name in COMPONENTS])
    truth = np.repeat(np.arange(5), N // 5)
    uniforms = np.random.default_rng(seed).random((N, d))
    return (uniforms < np.where(ones, 0.95, 0.05)[truth]).astype(float), truth


def sample(X, sampler, start, n_iterations: int, burn_in: int, seed: int, beta: float = 1.0) -> Run:
    """Run a chain; the clock (of this thread, not of the wall) runs in its steps only.

    Attributes have Beta(beta, beta) priors.
    """
    state = State(Bernoulli(a=beta, b=beta).bind(X), DirichletProcess(1.0), start)
    rng = np.random.default_rng(seed)
    run = Run(np.empty((n_iterations, len(X)), int), np.empty(n_iterations), Counter(), 0.0)
    for t in range(n_iterations):
        begin = time.thread_time()
        counts = sampler.step(state, rng)
        run.seconds += (time.thread_time() - begin) / n_iterations
        run.labels[t], run.log_joint[t] = state.labels, state.log_joint()
        if t >= burn_in:
            run.counts.update(counts)
    return run


def sizes(labels: np.ndarray) -> np.ndarray:
    """The sizes of the clusters of every draw, largest first."""
    counts = (labels[:, :, None] == np.arange(max(labels.max() + 1, N_SHARES))).sum(axis=1)
    return -np.sort(-counts, axis=1)


def components(labels: np.ndarray) -> np.ndarray:
    """The number of large clusters of every draw."""
    return (sizes(labels) >= LARGE).sum(axis=1)


def pair_times(labels: np.ndarray, pairs: list[tuple[int, int]]) -> list[float]:
    """Autocorrelation times of the indicators that pairs share a cluster."""
    return [autocorrelation_time(labels[:, i] == labels[:, j]) for i, j in pairs]


def figures(run: Run) -> dict[str, Any]:
    """Of one chain: costs, autocorrelation times, acceptance."""
    kept, counts = run.labels[BURN_IN:], run.counts
    accepted = counts["splits_accepted"] + counts["merges_accepted"]
    return {
        "microseconds": [1e6 * run.seconds],
        "share": [autocorrelation_time(sizes(kept)[:, 0])],
        "alike": pair_times(kept, ALIKE),
        "near": pair_times(kept, NEAR),
        "percent": [100 * accepted / max(counts["splits"] + counts["merges"], 1)],
    }


@dataclass
class Reference:
    """What a long chain that starts at the true partition finds."""

    together: np.ndarray
    shares: np.ndarray  # of the 1 to 5 largest clusters, on average
    half_gap: float  # between its halves
    level: float  # of the log joint density: two standard deviations below its mean
    chances: list[float]  # of 3, 4 and 5 large clusters
    both: bool  # whether four and five are both frequent
    score: float  # adjusted Rand index of its estimate with the truth


def shares(labels: np.ndarray) -> np.ndarray:
    """The shares of the 1 to 5 largest clusters of every draw."""
    return sizes(labels)[:, :N_SHARES].cumsum(axis=1) / N


def often_both(labels: np.ndarray) -> bool:
    """Whether four and five large clusters both occur in at least 5 % of the draws."""
    k = components(labels)
    return bool(min(np.mean(k == 4), np.mean(k == 5)) >= 0.05)


def gap(one: np.ndarray, two: np.ndarray) -> float:
    """Mean absolute difference of two co-clustering matrices over the pairs of items."""
    return float(np.abs(one - two)[np.triu_indices(N, 1)].mean())


def find_reference(X, truth, seed: int) -> Reference:
    run = sample(X, JainNeal(n_moves=5), truth, N_REFERENCE, REFERENCE_BURN_IN, seed)
    kept, log_joint = run.labels[REFERENCE_BURN_IN:], run.log_joint[REFERENCE_BURN_IN:]
    halves = [coclustering(part) for part in np.array_split(kept, 2)]
    return Reference(
        (halves[0] + halves[1]) / 2,
        shares(kept).mean(axis=0),
        gap(*halves),
        log_joint.mean() - 2 * log_joint.std(),
        [np.mean(components(kept) == k) for k in (3, 4, 5)],
        often_both(kept),
        adjusted_rand_score(truth, point_estimate(kept[::30])),
    )


def claims(run: Run, reference: Reference, truth: np.ndarray) -> dict[str, Any]:
    """How right a chain is, and how soon."""
    kept = run.labels[BURN_IN:]
    high = np.flatnonzero(run.log_joint >= reference.level)
    distance = gap(coclustering(kept), reference.together)
    off = np.abs(shares(kept).mean(axis=0) - reference.shares).max()
    return {
        "gap": [distance],
        "right": [distance <= CLOSE],
        "shares right": [off <= SAME_SHARES],
        "score": [adjusted_rand_score(truth, point_estimate(kept[::5]))],
        "reached": [high[0] + 1 if len(high) else np.nan],
        "both": [often_both(kept)],
    }


def call_microseconds(sampler) -> float:
    """What an iteration costs where it has nothing to do: two items."""
    X = np.eye(2, 6)
    runs = [sample(X, sampler, np.zeros(2, int), N_ITERATIONS, 0, 0) for _ in range(3)]
    return 1e6 * min(run.seconds for run in runs)


def experiment(n_sets: int, output: Path | None) -> tuple[dict, dict]:
    """Run everything: figures[example, method] = one dictionary per data set; references."""
    results: dict[Any, list] = {}
    references: dict[Any, list] = {}
    for sampler in MAIN.values():
        sample(simulate(1, 0)[0], sampler, np.zeros(N, int), 10, 0, 0)  # compiles
    for seed in range(n_sets):
        for example in N_ATTRIBUTES:
            X, truth = simulate(example, seed)
            reference = find_reference(X, truth, seed + 1000)
            references.setdefault(example, []).append(reference)
            runs = {}
            for name, sampler in {**MAIN, **({} if example in (1, 3) else VARIANTS)}.items():
                run = sample(X, sampler, np.zeros(N, int), N_ITERATIONS, BURN_IN, seed)
                found = figures(run)
                if name in MAIN:
                    runs[name] = run
                    found |= claims(run, reference, truth)
                results.setdefault((example, name), []).append(found)
            if output and seed == 0 and example in THEIRS:
                draw(runs, output / f"jain_neal_example{example}.png")
    return results, references


def draw(runs: dict[str, Run], path: Path) -> None:
    """Cumulative shares of the largest clusters against the iteration."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.6), layout="constrained")
    for axes, (name, run) in zip(
        figure.subplots(2, 3, sharex=True).flat, runs.items(), strict=True
    ):
        axes.plot(np.arange(1, N_ITERATIONS + 1), shares(run.labels), lw=0.6)
        axes.set(title=name, ylim=(0, 1.02))
    figure.supxlabel("iteration", fontsize="medium")
    figure.supylabel("share of the 1 to 5 largest clusters", fontsize="medium")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=80, pil_kwargs={"optimize": True})


def spread(rows: list[dict], key: str, digits: int = 1) -> str:
    """Mean over the data sets +- standard deviation [median]; how many traces are constant."""
    values = np.array([row[key] for row in rows], float)
    constant = int(np.isnan(values).sum())
    means = np.array([np.nanmean(v) for v in values if not np.isnan(v).all()])
    note = f" ({constant} of {values.size} constant)" if constant else ""
    if not len(means):
        return "all constant"
    text = f"{means.mean():.{digits}f} +- {means.std(ddof=min(1, len(means) - 1)):.{digits}f}"
    return f"{text} [{np.median(means):.{digits}f}]{note}"


def beside(rows: list[dict], key: str, theirs: float) -> list[str]:
    """Ours, and theirs with the number of our data sets that are at most as large."""
    means = [np.nanmean(r[key]) for r in rows if not np.isnan(r[key]).all()]
    below = sum(value <= theirs for value in means)
    return [spread(rows, key), f"{theirs} ({below})"]


def total(rows: list[dict], key: str) -> int:
    return int(sum(row[key][0] for row in rows))


def table(title: str, head: str, lines: list[list[Any]]) -> None:
    """Print one table in Markdown."""
    print(f"\n{title}\n\n| {head} |\n{'|---' * (head.count('|') + 1)}|")
    for line in lines:
        print("| " + " | ".join(map(str, line)) + " |", flush=True)


def print_times(results: dict) -> None:
    calls = {name: call_microseconds(sampler) for name, sampler in MAIN.items()}
    lines = []
    for name, theirs in SECONDS.items():
        line: list[Any] = [name]
        for example in THEIRS:
            rows, gibbs = results[example, name], results[example, "Gibbs"]
            ours, unit = (np.mean([r["microseconds"] for r in x]) for x in (rows, gibbs))
            seconds = theirs[example - 1]
            line += [
                spread(rows, "microseconds", 0),
                seconds,
                f"{ours / unit:.1f}",
                f"{(ours - calls[name]) / (unit - calls['Gibbs']):.1f}",
                f"{seconds / SECONDS['Gibbs'][example - 1]:.1f}",
            ]
        lines.append([*line, f"{calls[name]:.0f}"])
    columns = " | ".join(f"Ex. {e}: us | s | ratio | net | theirs" for e in THEIRS)
    table("Table 4", f"method | {columns} | two items: us", lines)


def print_autocorrelation(results: dict) -> None:
    head = "trace 1 | theirs | pair alike | theirs | pair near"
    lines: list[list[Any]] = []
    for name, (share, alike) in TABLE_5.items():
        rows = results[1, name]
        line = beside(rows, "share", share) + beside(rows, "alike", alike)
        lines.append([name, *line, spread(rows, "near")])
    table("Table 5", f"Example 1 | {head}", lines)
    for example in (2, EIGHT):
        lines = []
        for name, (seconds, share, alike) in TABLE_6.items():
            rows = results[example, name]
            line = beside(rows, "share", share) + beside(rows, "alike", alike)
            cost = spread(rows, "microseconds", 0)
            lines.append([name, cost, seconds, *line, spread(rows, "near")])
        table("Table 6", f"Example {example} | us | s | {head}", lines)
    lines = []
    for name, theirs in TABLE_7.items():
        line = [spread(results[example, name], "percent", 2) for example in (2, EIGHT)]
        lines.append([name, *line, theirs])
    table("Table 7", f"accepted, % | Example 2 | Example {EIGHT} | theirs", lines)


def print_claims(results: dict, references: dict) -> None:
    lines = []
    for (example, name), rows in results.items():
        if name not in MAIN:
            continue
        reached = np.array([row["reached"][0] for row in rows])
        never = int(np.isnan(reached).sum())
        soon = f"{np.nanmedian(reached):.0f}" if never < len(reached) else ""
        lines.append(
            [
                example,
                name,
                spread(rows, "gap", 3),
                total(rows, "right"),
                total(rows, "shares right"),
                spread(rows, "score", 2),
                len(rows) - never,
                soon,
                total(rows, "both"),
                spread(rows, "percent", 2) if name != "Gibbs" else "",
            ]
        )
    lines.sort(key=lambda line: str(line[0]))
    head = (
        "Example | method | gap | sets right | sets of right shares | ARI with truth | "
        "sets that reach the level | median iteration | sets in 4 and 5 | accepted, %"
    )
    table("Claims", head, lines)
    print_references(references)


def print_references(references: dict) -> None:
    for example, found in references.items():
        scores, gaps = [r.score for r in found], [r.half_gap for r in found]
        chances = ", ".join(f"{p:.2f}" for p in np.mean([r.chances for r in found], axis=0))
        print(
            f"\nReferences of Example {example}: ARI with truth {np.mean(scores):.2f} +- "
            f"{np.std(scores):.2f}, gap between halves {np.mean(gaps):.4f}, at most "
            f"{max(gaps):.4f}; 3, 4, 5 large clusters with probability "
            f"{chances}; 4 and 5 in {sum(r.both for r in found)} sets."
        )


def print_priors(n_sets: int) -> None:
    """Tables 5 to 7 and Gibbs from singletons, under both priors of the attributes."""
    cases = {
        1: {name: MAIN[name] for name in TABLE_5},
        2: {name: VARIANTS[name] for name in TABLE_7},
    }
    found: dict[Any, list] = {}
    stays: dict[Any, list] = {}
    for seed, beta in product(range(n_sets), BETAS):
        for example, samplers in cases.items():
            X, _ = simulate(example, seed)
            for name, sampler in samplers.items():
                run = sample(X, sampler, np.zeros(N, int), N_ITERATIONS, BURN_IN, seed, beta)
                found.setdefault((example, name, beta), []).append(figures(run))
        for example in (2, 3):
            X, _ = simulate(example, seed)
            run = sample(X, Gibbs(), np.arange(N), N_ITERATIONS, BURN_IN, seed, beta)
            stays.setdefault((example, beta), []).append(stay_in_five(run.labels))
    titles = [f"Beta({beta:g}, {beta:g})" for beta in BETAS]
    for example, theirs, number in ((1, TABLE_5, 0), (2, TABLE_6, 1)):
        lines = [
            [name, *(spread(found[example, name, beta], "share") for beta in BETAS), row[number]]
            for name, row in theirs.items()
            if (example, name, BETAS[0]) in found
        ]
        table("Trace 1", f"Example {example} | {' | '.join(titles)} | theirs", lines)
    lines = [
        [name, *(spread(found[2, name, beta], "percent", 2) for beta in BETAS), theirs]
        for name, theirs in TABLE_7.items()
    ]
    table("Accepted, %", f"Example 2 | {' | '.join(titles)} | theirs", lines)
    lines = [
        [example, f"Beta({beta:g}, {beta:g})", *stay_figures(rows)]
        for (example, beta), rows in sorted(stays.items())
    ]
    head = "Example | prior | sets that have five | first sweep with five | sweeps until they leave"
    table("Gibbs from singletons", f"{head} | sets that never leave", lines)


def stay_in_five(labels: np.ndarray) -> tuple[float, float]:
    """The first sweep with five large clusters, and how many later there are four, nan if never."""
    k = components(labels)
    five = np.flatnonzero(k == 5)
    if not len(five):
        return np.nan, np.nan
    left = np.flatnonzero(k[five[0] :] < 5)
    return five[0] + 1, left[0] if len(left) else np.nan


def stay_figures(rows: list[tuple[float, float]]) -> list[Any]:
    """How many sets have five large clusters, medians of when and how long, how many stay."""
    first, stay = np.array(rows).T
    has = ~np.isnan(first)
    long = np.where(np.isnan(stay), np.inf, stay)[has]
    middle = np.median(long) if has.any() else np.nan
    return [
        has.sum(),
        f"{np.nanmedian(first):.0f}",
        f"{middle:.0f}" if np.isfinite(middle) else f"more than {N_ITERATIONS}",
        np.isinf(long).sum(),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=20, help="data sets per Example")
    parser.add_argument("--output", type=Path, help="folder for the figures")
    parser.add_argument("--priors", action="store_true", help="only compare two priors")
    arguments = parser.parse_args()
    begin = time.perf_counter()
    print_priors(arguments.sets)
    if arguments.priors:
        return
    results, references = experiment(arguments.sets, arguments.output)
    print_times(results)
    print_autocorrelation(results)
    print_claims(results, references)
    print(f"\n{time.perf_counter() - begin:.0f} s in all.")


if __name__ == "__main__":
    main()
