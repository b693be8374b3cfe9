"""The yardstick's data, models and program in a temporary folder, and one core to run on."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bnpcluster.likelihoods import Bernoulli, NormalInverseWishart

FLAGS = "-O3 -march=native -ffast-math -fopenmp-simd -mprefer-vector-width=512".split()


class Case(NamedTuple):
    """Training and held-out rows, their true clusters, and the yardstick's likelihood."""

    name: str
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    likelihood: Any


@contextmanager
def workshop(source, build=False):
    """A folder with the yardstick's data and, if asked, its program; None if there is no source."""
    if not (source / "limit_gibbs.cpp").exists():
        print(f"no yardstick in {source}: give its folder with --yardstick")
        yield None
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in ("limit_gibbs.cpp", "make_data.py"):
            shutil.copy(source / file, folder)
        subprocess.run([sys.executable, "make_data.py"], cwd=folder, check=True)
        if build:
            command = ["g++", *FLAGS, "-o", "limit_gibbs", "limit_gibbs.cpp"]
            subprocess.run(command, cwd=folder, check=True)
        yield folder


@contextmanager
def one_core():
    """Run on the last core this process may use."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def load(folder, name):
    """A data set of the yardstick."""
    X, y, out = (np.load(folder / f"{name}{part}.npy") for part in ("", "_y", "_test"))
    likelihood = Bernoulli() if name == "bern50" else vague(X.shape[1])
    return Case(name, X[~out], y[~out], X[out], y[out], likelihood)


def vague(d):
    """The yardstick's normal-inverse-Wishart."""
    return NormalInverseWishart(mean=0.0, kappa=1.0, nu=d + 2.0, scale=1.0)


def sweep_seconds(folder, name, n_sweeps=600, burn=200):
    """Median seconds of a Gibbs sweep of the program, from the true labels."""
    command = ["./limit_gibbs", "niw", f"{name}.bin", str(n_sweeps), str(burn), "1", "true"]
    printed = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return float(re.search(r"sweep_median=(\S+)", printed.stdout)[1])
