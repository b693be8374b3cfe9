"""Whether the package draws the same as an earlier commit: `python -m tests.tools.same_draws REV`.

Small fits of every estimator, sampler and likelihood are made with both, and the digests of all
draws and predictions are compared, bit by bit. Kernels run as plain Python unless `--compiled`.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("draws.py")


def main() -> int:
    """Compare; the exit status is 1 if any digest differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.same_draws", description=__doc__)
    parser.add_argument("revision", help="the commit to compare with")
    parser.add_argument("--compiled", action="store_true", help="with compiled kernels")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "archive", options.revision, "bnpcluster"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        )
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as tar:
            tar.extractall(folder, filter="data")
        before = digests(Path(folder), options.jobs, options.compiled)
    now = digests(ROOT, options.jobs, options.compiled)
    differ = [name for name in before if now.get(name) != before[name]]
    for name in differ:
        print(f"{name}: {before[name]} was, {now.get(name)} is")
    print(f"{len(before)} fits, {len(differ)} differ from {options.revision}")
    return int(bool(differ) or not before)


def digests(package: Path, jobs: int, compiled: bool) -> dict[str, str]:
    """The digests that the package in a folder gives."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(package),
        "NUMBA_DISABLE_JIT": str(int(not compiled)),
    }

    def part(k: int) -> dict[str, str]:
        done = subprocess.run(
            [sys.executable, str(SCRIPT), str(k), str(jobs)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stderr)
        return json.loads(done.stdout)

    with ThreadPoolExecutor(jobs) as pool:
        return {name: digest for p in pool.map(part, range(jobs)) for name, digest in p.items()}


if __name__ == "__main__":
    sys.exit(main())
