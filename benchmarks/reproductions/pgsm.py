"""Figures 3 to 9 of the paper on particle Gibbs split-merge, at the paper's own settings.

`python -m benchmarks.reproductions.pgsm [--data DIR] [--budget 12] [--restarts 10] [--only S1,C1]
[--figures 3,4] [--start singletons] [--output DIR]` runs every method on every data set against
the CPU clock. DIR of `--data` holds the folders s_sets, dim_sets and mopsi_finland. Figures (they
need matplotlib), tables in Markdown and pgsm.csv follow from the finished chains.
"""

import argparse
import time
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.reproductions import finished, pages
from benchmarks.reproductions.finished import Finished
from benchmarks.reproductions.pages import Page
from benchmarks.reproductions.pgsm_chains import Trace, compile_kernels, sources, trace
from benchmarks.reproductions.pgsm_report import Panels, report
from bnpcluster.samplers import PGSM, SAMS, Gibbs, SplitMerge

HERE = Path(__file__).resolve().parents[2]
PAPER: dict[str, Any] = {
    "n_particles": 20,
    "anchors": "frozen_cluster",
    "order": "random",
    "resample_threshold": 0.5,
    "n_moves": 1,
    "n_gibbs": 0,
}


def pgsm(**changes: Any) -> PGSM:
    """The pure sampler of the paper, but for `changes`."""
    return PGSM(**{**PAPER, **changes})


def sams(**changes: Any) -> SAMS:
    """The pure sampler that the paper compares with: its anchors are informed, too."""
    return SAMS(**{"anchors": PAPER["anchors"], "n_moves": 1, "n_gibbs": 0, **changes})


PURE = {
    "Gibbs": Gibbs(),
    "SAMS, pure": sams(),
    "PGSM, pure": pgsm(),
    "uniform anchors": pgsm(anchors="uniform"),
    "SplitMerge": SplitMerge(),
}
MIXED = {
    "Gibbs": Gibbs(),
    "SAMS, mixed": sams(n_gibbs=1),
    "PGSM, mixed": pgsm(n_gibbs=1),
    "uniform anchors, mixed": pgsm(anchors="uniform", n_gibbs=1),
    "SplitMerge": SplitMerge(),
}
BY_PARTICLES = {
    "2 particles": pgsm(n_particles=2),
    "5 particles": pgsm(n_particles=5),
    "PGSM, pure": pgsm(),
    "50 particles": pgsm(n_particles=50),
}
BY_ANCHORS = {
    "uniform anchors": pgsm(anchors="uniform"),
    "PGSM, pure": pgsm(),
    "threshold anchors": pgsm(anchors="frozen_threshold"),
    "corrected cluster anchors": pgsm(anchors="cluster"),
}
BY_THRESHOLD = {
    "never resampled": pgsm(resample_threshold=0.0),
    "threshold 0.25": pgsm(resample_threshold=0.25),
    "PGSM, pure": pgsm(),
    "threshold 0.75": pgsm(resample_threshold=0.75),
    "always resampled": pgsm(resample_threshold=1.0),
}
FINITE = {
    "Gibbs": Gibbs(),
    "2 anchors, pure": pgsm(anchors="uniform"),
    "3 anchors, pure": pgsm(anchors="uniform", n_anchors=3),
    "2 anchors, mixed": pgsm(anchors="uniform", n_gibbs=1),
    "3 anchors, mixed": pgsm(anchors="uniform", n_anchors=3, n_gibbs=1),
    "SplitMerge": SplitMerge(),
}
SINGLETONS = "Gibbs from singletons"

HIGH = ("Ber-0.25", "Ber-0.5", "DIM064", "DIM128")

# By figure: title of the row, data set, methods.
FIGURES: dict[str, Panels] = {
    "3": [
        ("particles", "S1", BY_PARTICLES),
        ("anchors", "S1", BY_ANCHORS),
        ("resampling", "S1", BY_THRESHOLD),
    ],
    "4": [(name, name, BY_ANCHORS) for name in ("Ber-0.5", "DIM128")],
    "5": [("C1", "C1", FINITE)],
    "6": [(f"S{s}", f"S{s}", PURE) for s in range(1, 5)],
    "7": [(f"S{s}", f"S{s}", MIXED) for s in range(1, 5)],
    "8_pure": [(name, name, PURE) for name in HIGH],
    "8_mixed": [(name, name, MIXED) for name in HIGH],
    "9": [("MOPSI", "MOPSI", {**PURE, **MIXED, SINGLETONS: Gibbs()})],
}

# CPU seconds of a run, relative to --budget.
SHARE = {"C1": 1 / 3, "S3": 2 / 3, "S4": 2 / 3, "DIM128": 2.0, "MOPSI": 2.5}


def chosen(given: Any) -> dict[str, Panels]:
    """The figures that are asked for; without a choice, all."""
    wanted = given.figures.split(",") if given.figures else list(FIGURES)
    return {figure: FIGURES[figure] for figure in wanted}


def methods_of(name: str, figures: dict[str, Panels]) -> dict[str, Any]:
    """All methods that some figure runs on a data set."""
    found: dict[str, Any] = {}
    for panels in figures.values():
        for _, other, methods in panels:
            found |= methods if other == name else {}
    return found


def run(name: str, found: dict[str, list[Trace]], restart: int, done: Finished, given: Any) -> None:
    """Chain number `restart` of every method on a data set."""

    @cache
    def bound() -> tuple[Any, Any]:
        data = sources(given.data)[name]()
        return data, data.likelihood.bind(data.X)

    def work(method: str, sampler: Any, budget: float) -> dict[str, Any]:
        compile_kernels(*bound(), sampler)
        singletons = method == SINGLETONS or given.start == "singletons"
        chain = trace(*bound(), sampler, budget, restart, singletons)
        seconds, held_out, agreement, clusters = chain.rows[-1]
        print(
            f"{name}, chain {restart + 1}, {method}: {held_out:.3f}, V {agreement:.3f}, "
            f"{clusters:.0f} clusters, {chain.iterations} iterations, {seconds:.2f} s",
            flush=True,
        )
        return chain.plain()

    budget = given.budget * SHARE.get(name, 1.0)
    for method, sampler in methods_of(name, chosen(given)).items():
        key = (name, method, repr(sampler), given.start, budget, restart)
        plain = done.get(key, lambda m=method, s=sampler: work(m, s, budget))
        found.setdefault(method, []).append(Trace.read(plain))


def gather(given: Any) -> dict[str, dict[str, list[Trace]]]:
    """All traces; the chains that are missing are run, all data sets in turn."""
    done, known = Finished(given.finished), sources(given.data)
    names = [name for name in known if name in (given.only or name).split(",")]
    names = [name for name in names if methods_of(name, chosen(given))]
    everything: dict[str, dict[str, list[Trace]]] = {name: {} for name in names}
    for restart in range(given.restarts):
        for name in names:
            run(name, everything[name], restart, done, given)
    return everything


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=HERE.parent / "shared/data")
    parser.add_argument("--budget", type=float, default=12.0, help="CPU seconds of a run")
    parser.add_argument("--restarts", type=int, default=10)
    parser.add_argument("--only", default="", help="data sets, separated by commas")
    parser.add_argument("--figures", default="", help=f"of {', '.join(FIGURES)}; all by default")
    parser.add_argument("--start", choices=["one", "singletons"], default="one")
    parser.add_argument("--output", type=Path, default=HERE / "doc")
    finished.add_argument(parser, "pgsm")
    pages.add_argument(parser)
    given = parser.parse_args(arguments)
    begin = time.process_time()
    everything = gather(given)
    report(chosen(given), given.data, everything, given.output, Page(given.page))
    print(f"\n{time.process_time() - begin:.0f} CPU seconds in all.")


if __name__ == "__main__":
    main()
