"""Seconds per Gibbs sweep in steady state, one thread, as a ratio to the C++ yardstick."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from bnpcluster._core.state import State
from bnpcluster.likelihoods import Bernoulli, NormalInverseWishart
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import Gibbs

# name, kind of likelihood, target ratio, sweeps and burn-in of one run, yardstick's variants
CASES = [
    ("s1like", "niw", 1.0, 600, 200, [[]]),
    ("dim64", "niw", 0.35, 60, 20, [["chol"], ["prec"]]),
    ("bern50", "bern", 1.3, 400, 100, [[]]),
]
ALTERNATIONS = 5
FLAGS = "-O3 -march=native -ffast-math -fopenmp-simd -mprefer-vector-width=512".split()


def measure(arguments):
    """Alternate our sweeps and the yardstick's on one core; print the ratio of the medians."""
    source = arguments.yardstick
    if not (source / "limit_gibbs.cpp").exists():
        print(f"no yardstick in {source}: give its folder with --yardstick")
        return
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in ("limit_gibbs.cpp", "make_data.py"):
            shutil.copy(source / file, folder)
        subprocess.run([sys.executable, "make_data.py"], cwd=folder, check=True)
        command = ["g++", *FLAGS, "-o", "limit_gibbs", "limit_gibbs.cpp"]
        subprocess.run(command, cwd=folder, check=True)
        for case in CASES:
            _case(folder, *case)


def _case(folder, name, kind, target, n_sweeps, burn, variants):
    ours, theirs = [], {tuple(v): [] for v in variants}
    state = _state(folder, name, kind)
    rng = np.random.default_rng(1)
    for _ in range(ALTERNATIONS):
        ours.append(_sweeps(state, rng, n_sweeps, burn))
        for variant, times in theirs.items():
            times.append(_yardstick(folder, name, kind, n_sweeps, burn, variant))
    mine = np.median(ours)
    for variant, times in theirs.items():
        other = np.median(times)
        label = " ".join(["C++", *variant])
        print(
            f"{name:7s} K={state.n_blocks:3d}  ours {1e3 * mine:.3f} ms (fastest run "
            f"{1e3 * min(ours):.3f})  {label} {1e3 * other:.3f} ms (fastest run "
            f"{1e3 * min(times):.3f})  ratio {mine / other:.2f}  target {target}",
            flush=True,
        )


def _state(folder, name, kind):
    """The yardstick's start: the true labels; its hyper-parameters; its training rows."""
    X, y, held_out = (np.load(folder / f"{name}{part}.npy") for part in ("", "_y", "_test"))
    X, y = X[~held_out], y[~held_out]
    d = X.shape[1]
    likelihood = Bernoulli()
    if kind == "niw":
        likelihood = NormalInverseWishart(mean=0.0, kappa=1.0, nu=d + 2.0, scale=1.0)
    return State(likelihood.bind(X), DirichletProcess(1.0), y)


def _sweeps(state, rng, n_sweeps, burn):
    """Median seconds of a sweep after the burn-in."""
    gibbs, times = Gibbs(), []
    for sweep in range(n_sweeps):
        begin = time.perf_counter()
        gibbs.step(state, rng)
        times.append(time.perf_counter() - begin)
        if sweep % 50 == 49:
            state.rebuild()
    return float(np.median(times[burn:]))


def _yardstick(folder, name, kind, n_sweeps, burn, variant):
    command = ["./limit_gibbs", kind, f"{name}.bin", n_sweeps, burn, 1, "true", *variant]
    printed = subprocess.run(
        [str(word) for word in command], cwd=folder, check=True, capture_output=True, text=True
    ).stdout
    return float(re.search(r"sweep_median=(\S+)", printed)[1])
