"""Measure the package on this machine: `python -m benchmarks [--yardstick DIR] [PART ...]`.

Parts: sweeps (against the C++ yardstick, built and run in the same invocation where its folder is
found), overhead, hyper, latency, scaling, large. Without parts, all of them.
"""

import argparse
from pathlib import Path

from benchmarks import hyper, large, latency, overhead, scaling, sweeps

PARTS = {
    "sweeps": sweeps.measure,
    "overhead": overhead.measure,
    "hyper": hyper.measure,
    "latency": latency.measure,
    "scaling": scaling.measure,
    "large": large.measure,
}


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART")
    parser.add_argument(
        "--yardstick",
        type=Path,
        default=Path(__file__).resolve().parents[2] / "shared" / "bench",
        help="folder of limit_gibbs.cpp and make_data.py",
    )
    arguments = parser.parse_args()
    for name in arguments.parts or PARTS:
        print(f"== {name}", flush=True)
        PARTS[name](arguments)


if __name__ == "__main__":
    main()
