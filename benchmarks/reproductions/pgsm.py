"""Figures 3 to 9 of the paper on particle Gibbs split-merge, at the paper's own settings.

`python -m benchmarks.reproductions.pgsm [--data DIR] [--budget 1.2] [--restarts 10] [--only S1,C1]
[--output DIR]` runs every method on every data set against the CPU clock. DIR of `--data` holds
the folders s_sets, dim_sets and mopsi_finland. Traces are kept under `--traces` as they are made,
one file per data set, and are not made again; figures (they need matplotlib), tables in Markdown
and pgsm.csv follow from them.
"""

import argparse
import pickle
import time
from pathlib import Path
from typing import Any

from benchmarks.reproductions.pgsm_chains import Trace, sources, trace
from benchmarks.reproductions.pgsm_report import Panels, report
from bnpcluster.samplers import PGSM, SAMS, Gibbs, SplitMerge

HERE = Path(__file__).resolve().parents[2]
PAPER: dict[str, Any] = {
    "n_particles": 20,
    "anchors": "cluster",
    "order": "random",
    "resample_threshold": 0.5,
    "n_moves": 1,
    "n_gibbs": 0,
}


def pgsm(**changes: Any) -> PGSM:
    """The pure sampler of the paper, but for `changes`."""
    return PGSM(**{**PAPER, **changes})


PURE = {
    "Gibbs": Gibbs(),
    "SAMS, pure": SAMS(n_moves=1, n_gibbs=0),
    "PGSM, pure": pgsm(),
    "uniform anchors": pgsm(anchors="uniform"),
    "SplitMerge": SplitMerge(),
}
MIXED = {
    "Gibbs": Gibbs(),
    "SAMS, mixed": SAMS(n_moves=1, n_gibbs=1),
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
    "threshold anchors": pgsm(anchors="threshold"),
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


def methods_of(name: str) -> dict[str, Any]:
    """All methods that some figure runs on a data set."""
    found: dict[str, Any] = {}
    for panels in FIGURES.values():
        for _, other, methods in panels:
            found |= methods if other == name else {}
    return found


def run(name: str, traces: dict[str, list[Trace]], restart: int, settings: Any) -> bool:
    """Chain number `restart` of every method on a data set, where it is missing."""
    missing = {m: s for m, s in methods_of(name).items() if len(traces.get(m, [])) <= restart}
    if not missing:
        return False
    data = sources(settings.data)[name]()
    bound, budget = data.likelihood.bind(data.X), settings.budget * SHARE.get(name, 1.0)
    for method, sampler in missing.items():
        trace(data, bound, sampler, 1e-3, 0)  # compiles, or loads what was compiled
        found = traces.setdefault(method, [])
        found.append(trace(data, bound, sampler, budget, restart, method == SINGLETONS))
        seconds, held_out, agreement, clusters = found[-1].rows[-1]
        print(
            f"{name}, chain {len(found)}, {method}: {held_out:.3f}, V {agreement:.3f}, "
            f"{clusters:.0f} clusters, {found[-1].iterations} iterations, {seconds:.2f} s",
            flush=True,
        )
    return True


def gather(settings: Any) -> dict[str, dict[str, list[Trace]]]:
    """All traces; the chains that are missing are run, all data sets in turn."""
    everything: dict[str, dict[str, list[Trace]]] = {}
    settings.traces.mkdir(parents=True, exist_ok=True)
    names = [name for name in sources(settings.data) if name in (settings.only or name).split(",")]
    for name in names:
        path = settings.traces / f"{name}.pickle"
        everything[name] = pickle.loads(path.read_bytes()) if path.exists() else {}
    for restart in range(settings.restarts):
        for name in names:
            if run(name, everything[name], restart, settings):
                path = settings.traces / f"{name}.pickle"
                path.write_bytes(pickle.dumps(everything[name]))
    return {name: traces for name, traces in everything.items() if traces}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=HERE.parent / "shared/data")
    parser.add_argument("--budget", type=float, default=1.2, help="CPU seconds of a run")
    parser.add_argument("--restarts", type=int, default=10)
    parser.add_argument("--only", default="", help="data sets, separated by commas")
    parser.add_argument("--traces", type=Path, default=Path("pgsm_traces"))
    parser.add_argument("--output", type=Path, default=HERE / "doc")
    arguments = parser.parse_args()
    begin = time.process_time()
    everything = gather(arguments)
    report(FIGURES, arguments.data, everything, arguments.output)
    print(f"\n{time.process_time() - begin:.0f} CPU seconds in all.")


if __name__ == "__main__":
    main()
