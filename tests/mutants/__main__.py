"""Show that the tests catch plausible bugs: `python -m tests.mutants [--only TEXT] [--jobs N]`.

Every mutant is made in a copy of the package and the tests, where its tests then run. It is caught
if one of them fails; if all pass it has survived, and if they cannot even start, or its text is not
in the file any more, it is stale. The exit status is 1 unless every mutant is caught.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.mutants import Mutant, edited
from tests.mutants.books import BOOKKEEPING
from tests.mutants.columns import COLUMNS
from tests.mutants.command_line import COMMAND_LINE
from tests.mutants.densities import DENSITIES
from tests.mutants.discrete import DISCRETE
from tests.mutants.first_hour import FIRST_HOUR
from tests.mutants.gaussian import GAUSSIAN
from tests.mutants.holes import MISSING
from tests.mutants.long_runs import LONG_RUNS
from tests.mutants.moves import MOVES
from tests.mutants.mutations import MUTATION_MUTANTS
from tests.mutants.nested import NESTED_HOLES
from tests.mutants.networks import NETWORKS
from tests.mutants.outside import OUTSIDE
from tests.mutants.particles import PARTICLES
from tests.mutants.partition_priors import PARTITION_PRIORS
from tests.mutants.pictures import DISPLAYS
from tests.mutants.reconfigure import RECONFIGURE
from tests.mutants.relational import RELATIONAL
from tests.mutants.smc import SMC_MUTANTS
from tests.mutants.split_merge import SPLIT_MERGE
from tests.mutants.summaries import SUMMARIES

MUTANTS = [
    *MOVES,
    *SPLIT_MERGE,
    *PARTICLES,
    *RECONFIGURE,
    *SMC_MUTANTS,
    *BOOKKEEPING,
    *GAUSSIAN,
    *COLUMNS,
    *DISCRETE,
    *MISSING,
    *NESTED_HOLES,
    *MUTATION_MUTANTS,
    *OUTSIDE,
    *LONG_RUNS,
    *PARTITION_PRIORS,
    *RELATIONAL,
    *NETWORKS,
    *DISPLAYS,
    *SUMMARIES,
    *DENSITIES,
    *COMMAND_LINE,
    *FIRST_HOUR,
]
ROOT = Path(__file__).resolve().parents[2]
OUTCOMES = {0: "SURVIVED", 1: "caught"}  # by pytest's exit status
LONGEST = 300.0  # seconds per test; tests that take longer hang, which nobody overlooks


def main() -> int:
    """Try the mutants and print a line for each; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--only", default="", help="text in the file name or the description")
    parser.add_argument("--jobs", type=int, default=1, help="how many run at once")
    arguments = parser.parse_args()
    chosen = [m for m in MUTANTS if arguments.only in f"{m.file}: {m.breaks}"]
    if not chosen:
        parser.error(f"no mutant has {arguments.only!r} in its file name or description")
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        original = Path(folder) / "original"  # later edits of the sources change nothing
        copy(ROOT, original)
        unedited = check_unedited(original, chosen)
        if unedited:
            print(unedited)
            return 1
        with ThreadPoolExecutor(arguments.jobs) as pool:
            outcomes = list(pool.map(lambda m: reported(m, original), chosen))
    caught = outcomes.count("caught")
    print(f"{caught} of {len(chosen)} caught, {time.perf_counter() - begin:.0f} s in all")
    return int(caught < len(chosen))


def copy(root: Path, to: Path) -> None:
    """Copy the package, its tests and their settings."""
    for name in ("bnpcluster", "tests"):
        shutil.copytree(root / name, to / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(root / "pyproject.toml", to)


def check_unedited(original: Path, chosen: list[Mutant]) -> str:
    """What pytest says if the tests of the chosen mutants do not pass without them."""
    for compiled in (False, True):
        tests = [t for m in chosen if m.compiled == compiled for t in m.tests.split()]
        if tests:
            done = run_tests(original, tests, compiled)
            if done.returncode:
                return f"{done.stdout}{done.stderr}\nThe tests fail without any mutant."
    return ""


def reported(mutant: Mutant, original: Path) -> str:
    """The outcome of a mutant, after a line about it."""
    begin = time.perf_counter()
    outcome, details = tried(mutant, original)
    seconds = time.perf_counter() - begin
    print(f"{outcome:8} {seconds:5.1f} s  {mutant.file}: {mutant.breaks}{details}", flush=True)
    return outcome


def tried(mutant: Mutant, original: Path) -> tuple[str, str]:
    """Whether a mutant is caught; what pytest said where it could not tell."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "mutant"
        copy(original, place)
        file = place / "bnpcluster" / mutant.file
        text = edited(file.read_text(), mutant)
        if text is None:
            return "STALE", f"\n{mutant.old!r} is not once in {mutant.function or 'the file'}"
        file.write_text(text)
        try:
            done = run_tests(place, mutant.tests.split(), mutant.compiled)
        except subprocess.TimeoutExpired:
            return "caught", " (hangs)"
    outcome = OUTCOMES.get(done.returncode, "STALE")
    return outcome, f"\n{done.stdout}{done.stderr}" if outcome == "STALE" else ""


def run_tests(place: Path, tests: list[str], compiled: bool) -> subprocess.CompletedProcess[str]:
    """Run tests on the copy in `place`, with a cache of compiled kernels of its own."""
    selection = [f"tests/{test}" for test in dict.fromkeys(tests)]
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "-m",
            "",
            "-p",
            "no:cacheprovider",
            *selection,
        ],
        cwd=place,
        env={
            **os.environ,
            "PYTHONPATH": str(place),
            "PYTHONDONTWRITEBYTECODE": "1",
            "NUMBA_CACHE_DIR": str(place / "cache"),
            "NUMBA_DISABLE_JIT": str(int(not compiled)),
        },
        capture_output=True,
        text=True,
        timeout=LONGEST * len(selection),
    )


if __name__ == "__main__":
    sys.exit(main())
