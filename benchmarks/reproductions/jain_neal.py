"""Jain and Neal's experiments with split-merge moves, on twenty data sets each instead of one.

`python -m benchmarks.reproductions.jain_neal [--sets 20] [--parts claims tables singletons
figures] [--output DIR] [--page FILE]` prints the tables in Markdown, ours beside theirs, under the
stated prior of the attributes, Beta(1, 1), and under Beta(1/2, 1/2). The part `figures` draws the
traces of the first data sets into the folder of `--output` (this needs matplotlib).
"""

import argparse
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.reproductions import finished, pages
from benchmarks.reproductions.finished import Finished
from benchmarks.reproductions.jain_neal_chains import (
    BETAS,
    BURN_IN,
    EIGHT,
    MAIN,
    MOVES,
    N_ATTRIBUTES,
    N_ITERATIONS,
    SCANS,
    SWEEPS,
    THEIRS,
    VARIANTS,
    N,
    Run,
    claims,
    components,
    figures,
    find_reference,
    restricted,
    sample,
    shares,
    simulate,
)
from benchmarks.reproductions.jain_neal_report import (
    TABLE_5,
    print_autocorrelation,
    print_claims,
    print_singletons,
    print_times,
)
from benchmarks.reproductions.pages import Page
from bnpcluster.samplers import Gibbs

# Examples and priors of the tables of autocorrelation times and acceptance, and their samplers.
TABLES: list[tuple[int | str, float, dict[str, Any]]] = [
    *((1, beta, {name: MAIN[name] for name in TABLE_5}) for beta in BETAS),
    *((2, beta, VARIANTS) for beta in BETAS),
    (EIGHT, 1.0, VARIANTS),
]
# Theirs are the traces behind Table 6; we take it that each shows one of t, m and g.
FIGURES: dict[int, dict[str, Any]] = {
    number: dict(restricted(*s) for s in sorted({(1, 1, 1), *settings}))
    for number, settings in ((4, SCANS[1:]), (5, MOVES), (6, SWEEPS))
}


def from_one_cluster(X, sampler, seed: int, beta: float = 1.0) -> Run:
    """A chain of the experiments."""
    return sample(X, sampler, np.zeros(N, int), N_ITERATIONS, BURN_IN, seed, beta)


def judge(example: int | str, seed: int) -> dict[str, Any]:
    """The main methods on a data set, and the reference that they are compared with."""
    X, truth = simulate(example, seed)
    reference = find_reference(X, truth, seed + 1000)
    methods = {}
    for name, sampler in MAIN.items():
        run = from_one_cluster(X, sampler, seed)
        methods[name] = figures(run) | claims(run, reference, truth)
    return {"methods": methods, "reference": reference.summary()}


def do_claims(done: Finished, page: Page, n_sets: int) -> None:
    """What the paper says of its methods, and their times per iteration."""
    for sampler in MAIN.values():
        sample(simulate(1, 0)[0], sampler, np.zeros(N, int), 10, 0, 0)  # compiles
    results: dict[Any, list] = {}
    references: dict[Any, list] = {}
    for seed in range(n_sets):
        for example in N_ATTRIBUTES:
            found = done.get(("claims", example, seed), lambda e=example, s=seed: judge(e, s))
            references.setdefault(example, []).append(found["reference"])
            for name, row in found["methods"].items():
                results.setdefault((example, name), []).append(row)
    print_times(page, results)
    print_claims(page, results, references)


def do_tables(done: Finished, page: Page, n_sets: int) -> None:
    """Tables 5 to 7."""
    results: dict[Any, list] = {}
    for seed in range(n_sets):
        for example, beta, samplers in TABLES:

            def work(example=example, seed=seed, beta=beta, samplers=samplers):
                X, _ = simulate(example, seed)
                return {k: figures(from_one_cluster(X, s, seed, beta)) for k, s in samplers.items()}

            for name, row in done.get(("tables", example, seed, beta), work).items():
                results.setdefault((example, name, beta), []).append(row)
    print_autocorrelation(page, results)


def stay_in_five(example: int | str, seed: int, beta: float) -> list[float]:
    """Of Gibbs from singletons: the first sweep with five large clusters, nan if there is none,
    and how many later there are fewer, nan if never.
    """
    run = sample(simulate(example, seed)[0], Gibbs(), np.arange(N), N_ITERATIONS, 0, seed, beta)
    k = components(run.labels)
    five = np.flatnonzero(k == 5)
    if not len(five):
        return [np.nan, np.nan]
    left = np.flatnonzero(k[five[0] :] < 5)
    return [five[0] + 1, left[0] if len(left) else np.nan]


def do_singletons(done: Finished, page: Page, n_sets: int) -> None:
    """How long Gibbs from singletons keeps the five components of Examples 2 and 3."""
    stays: dict[Any, list] = {}
    for seed, example, beta in product(range(n_sets), (2, 3), BETAS):
        found = done.get(
            ("singletons", example, seed, beta),
            lambda e=example, s=seed, b=beta: stay_in_five(e, s, b),
        )
        stays.setdefault((example, beta), []).append(found)
    print_singletons(page, stays)


def do_figures(output: Path) -> None:
    """Traces of the first data sets: the main methods, and the variants behind Table 6."""
    for example in THEIRS:
        draw_methods(example, MAIN, 1.0, output / f"jain_neal_example{example}.png")
    for number, samplers in FIGURES.items():
        draw_methods(2, samplers, 1.0, output / f"jain_neal_figure{number}.png")
        draw_methods(2, samplers, 0.5, output / f"jain_neal_figure{number}_half.png")


def draw_methods(example: int | str, samplers: dict, beta: float, path: Path) -> None:
    """Cumulative shares of the largest clusters against the iteration."""
    from matplotlib.figure import Figure

    X, _ = simulate(example, 0)
    n_rows = -(-len(samplers) // 3)
    figure = Figure(figsize=(9, 2.3 * n_rows), layout="constrained")
    boxes = figure.subplots(n_rows, 3, sharex=True, squeeze=False).ravel()
    for axes in boxes[len(samplers) :]:
        axes.set_axis_off()
    for axes, (name, sampler) in zip(boxes, samplers.items(), strict=False):
        run = from_one_cluster(X, sampler, 0, beta)
        axes.plot(np.arange(1, N_ITERATIONS + 1), shares(run.labels), lw=0.6)
        axes.set(title=name, ylim=(0, 1.02))
    figure.supxlabel("iteration", fontsize="medium")
    figure.supylabel("share of the 1 to 5 largest clusters", fontsize="medium")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=80, pil_kwargs={"optimize": True})


PARTS = {"claims": do_claims, "tables": do_tables, "singletons": do_singletons}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=20, help="data sets per Example")
    parser.add_argument(
        "--parts", nargs="*", choices=[*PARTS, "figures"], default=[*PARTS, "figures"]
    )
    parser.add_argument("--output", type=Path, default=Path("doc/figures"))
    finished.add_argument(parser, "jain_neal")
    pages.add_argument(parser)
    given = parser.parse_args(arguments)
    begin = time.perf_counter()
    done, page = Finished(given.finished), Page(given.page)
    for part in given.parts:
        if part == "figures":
            do_figures(given.output)
        else:
            PARTS[part](done, page, given.sets)
    print(f"\n{time.perf_counter() - begin:.0f} s in all.")


if __name__ == "__main__":
    main()
