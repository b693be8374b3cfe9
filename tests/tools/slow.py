"""The slow tests, file by file: `bash run slow`.

Results are stored in tests/slow_results.csv. A file that passed does not run again as long as
nothing changes in it, in what it imports below `tests`, and in the package; comments and docstrings
do not count. The exit status is 1 if a file did not pass to its end.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.tools.copies import Copies, Done, Stopped, stop_on_sigterm
from tests.tools.digests import Sources
from tests.tools.ledger import Ledger, Row
from tests.tools.shards import add_options

ROOT = Path(__file__).resolve().parents[2]
COUNTS = ("passed", "failed", "skipped")
COLUMNS = ("key", "file", "outcome", *COUNTS, "seconds", "date")
PASSED, FAILED, UNFINISHED = "passed", "FAILED", "unfinished"
PLAIN = "exact_"  # proofs that enumerate kernels as plain Python


def main(words: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Run the files that have no result and print a line for each; return the exit status."""
    parser = argparse.ArgumentParser(prog="bash run slow", description=__doc__)
    add_options(parser)
    options = parser.parse_args(words)
    files = [f for f in slow_files(Sources(root)) if options.only in f]
    if not files:
        parser.error(f"no file with slow tests has {options.only!r} in its name")
    chosen = options.shard.of(files)
    keys = keys_of(chosen, Sources(root)) if options.summary else run(chosen, root, options)
    text, well = summary(keys, ledger(root).rows())
    print(text)
    return int(not well)


def slow_files(sources: Sources) -> list[str]:
    """The test files that mark a test as slow; pytest collects only some of the others' names."""
    paths = (sources.root / "tests").rglob("*.py")
    files = [p.relative_to(sources.root).as_posix() for p in paths]
    return [f for f in sorted(files) if is_test(f) and marks_slow(sources.tree(f))]


def is_test(file: str) -> bool:
    """Whether a file has tests, by its name."""
    return Path(file).name.startswith(("test_", PLAIN))


def marks_slow(tree: ast.Module) -> bool:
    """Whether `mark.slow` is in a source."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    return any(n.attr == "slow" and getattr(n.value, "attr", "") == "mark" for n in found)


def ledger(root: Path) -> Ledger:
    """The file of results of a source tree."""
    return Ledger(root / "tests" / "slow_results.csv", COLUMNS, ("file",))


def keys_of(files: list[str], sources: Sources) -> dict[str, str]:
    """What the results of files rest on: what they import, and the whole package."""
    package = sources.package()
    return {f: sources.digest({*sources.of_tests([f]), *package}, f) for f in files}


def run(chosen: list[str], root: Path, options: argparse.Namespace) -> dict[str, str]:
    """Run the files that have not passed, until the time is up; return the keys of all."""
    with tempfile.TemporaryDirectory() as folder:
        copies = Copies(root, Path(folder), options.jobs, options.minutes)
        keys = keys_of(chosen, Sources(copies.original))
        rows = {} if options.again else ledger(root).rows()
        now = {f: rows[f,]["outcome"] for f in chosen if rows.get((f,), {}).get("key") == keys[f]}
        missing = [f for f in chosen if now.get(f) != PASSED]
        # Files that took too long come last, so that they do not keep others from running.
        missing.sort(key=lambda f: rows.get((f,), {}).get("outcome") == UNFINISHED)

        def settle(file: str, job: Path) -> None:
            begin = time.perf_counter()
            words = ["-m", "slow", "--tb=short", file]
            compiled = not Path(file).name.startswith(PLAIN)
            done = copies.pytest(job, words, compiled, copies.seconds_left())
            found = row(file, keys[file], done, time.perf_counter() - begin)
            counts = ", ".join(f"{name} {found[name]}" for name in COUNTS)
            print(f"{found['outcome']:10} {found['seconds']:>7} s  {file}: {counts}", flush=True)
            if found["outcome"] == FAILED:
                print(done.said, flush=True)
            ledger(root).put(found)

        copies.each(missing, settle)
        return keys


def row(file: str, key: str, done: Done, seconds: float) -> Row:
    """A row of the file of results."""
    outcome = {None: UNFINISHED, 0: PASSED}.get(done.status, FAILED)
    counts = [number(done.said, name) for name in COUNTS]
    today = datetime.now(UTC).date().isoformat()
    fields = (key, file, outcome, *counts, f"{seconds:.1f}", today)
    return dict(zip(COLUMNS, fields, strict=True))


def number(said: str, name: str) -> str:
    """How many tests passed, failed or were skipped, by pytest's closing line."""
    found = re.search(rf"(\d+) {name}\b", said.splitlines()[-1] if said else "")
    return found[1] if found else "0"


def summary(keys: dict[str, str], rows: dict[tuple[str, ...], Row]) -> tuple[str, bool]:
    """How many files passed, a line for each that did not, and whether all is well."""
    known = {f: rows[f,] for f in keys if (f,) in rows}
    outcomes = {f: r["outcome"] for f, r in known.items() if r["key"] == keys[f]}
    lines = [f"{outcome:10} {f}" for f, outcome in outcomes.items() if outcome != PASSED]
    passed = list(outcomes.values()).count(PASSED)
    lines.append(
        f"{len(keys)} files with slow tests, {passed} passed to their end, {len(lines)} did not, "
        f"{len(keys) - len(outcomes)} without a result that holds"
    )
    return "\n".join(lines), passed == len(outcomes)


if __name__ == "__main__":
    stop_on_sigterm()
    try:
        sys.exit(main())
    except (KeyboardInterrupt, Stopped):
        sys.exit("Stopped. What ran to its end is stored.")
