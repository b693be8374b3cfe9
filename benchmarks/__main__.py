"""Measure the package on this machine: `python -m benchmarks [--yardstick DIR] [PART ...]`.

Parts: sweeps (against the C++ yardstick, built and run in the same invocation where its folder is
found), overhead, hyper, latency, predictions, scaling, large, blocked (a pass beside a sweep, and
what its moves find), rule (when it is the better choice), elsewhere (passes
over rows in chunks, rounds of a dask cluster), moves (of the
split-merge samplers), mixing (times
from one cluster to the truth; --long for long chains), networks (of the infinite relational model),
smc (particle filters), starts (what chains reach from opposite starts), wide (agreement of separate
fits of wide data), search (for a point estimate, against all partitions), defaults and others
(beside scikit-learn), merging (costs of the estimate and joins of components). Without parts, all
of them.
"""

import argparse
from pathlib import Path

from benchmarks import (
    blocked,
    defaults,
    elsewhere,
    hyper,
    large,
    latency,
    merging,
    mixing,
    moves,
    networks,
    others,
    overhead,
    predictions,
    rule,
    scaling,
    search,
    smc,
    starts,
    sweeps,
    wide,
)

PARTS = {
    "sweeps": sweeps.measure,
    "overhead": overhead.measure,
    "hyper": hyper.measure,
    "latency": latency.measure,
    "predictions": predictions.measure,
    "rule": rule.measure,
    "scaling": scaling.measure,
    "large": large.measure,
    "blocked": blocked.measure,
    "elsewhere": elsewhere.measure,
    "moves": moves.measure,
    "mixing": mixing.measure,
    "networks": networks.measure,
    "smc": smc.measure,
    "starts": starts.measure,
    "search": search.measure,
    "wide": wide.measure,
    "defaults": defaults.measure,
    "merging": merging.measure,
    "others": others.measure,
}
SHARED = Path(__file__).resolve().parents[2] / "shared"


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART")
    parser.add_argument(
        "--yardstick",
        type=Path,
        default=SHARED / "bench",
        help="folder of limit_gibbs.cpp and make_data.py",
    )
    parser.add_argument(
        "--data", type=Path, default=SHARED / "data", help="folder of the data sets"
    )
    parser.add_argument("--budget", type=float, help="mixing: seconds per seed")
    parser.add_argument("--long", action="store_true", help="mixing: long chains, too")
    parser.add_argument("--problems", type=int, default=2000, help="search: how many")
    parser.add_argument(
        "--wide",
        type=Path,
        default=Path("benchmarks_wide.jsonl"),
        help="wide: lines of the fits; kept, and added",
    )
    parser.add_argument("--fits", type=int, default=8, help="wide: how many per set and length")
    _add_defaults(parser.add_argument_group("defaults"))
    arguments = parser.parse_args()
    for name in arguments.parts or PARTS:
        print(f"== {name}", flush=True)
        PARTS[name](arguments)


def _add_defaults(group):
    """What only the benchmark of defaults takes."""
    add = group.add_argument
    out = Path("benchmarks_defaults.csv")
    add("--out", type=Path, default=out, help=f"lines of the fits (default {out}); kept, and added")
    lines = Path("benchmarks_merging.csv")
    add("--merging", type=Path, default=lines, help=f"merging: its lines (default {lines}); kept")
    add("--peers", type=Path, help="a file of lines whose peers need not be measured again")
    add("--baseline", type=Path, help="an earlier file of lines, to compare ours with")
    add("--only", metavar="NAME[,NAME]", help="sets, all without it")
    add("--methods", metavar="NAME[,NAME]", help="ours, bic, variational, hdbscan; all without it")
    add("--again", action="store_true", help="measure what is in the file already")
    add("--clouds", type=int, default=0, metavar="SEEDS", help="single clouds and noise, too")
    add("--page", type=Path, help="a page with markers, which gets the tables")


if __name__ == "__main__":
    main()
