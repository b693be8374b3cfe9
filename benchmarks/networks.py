"""Seconds per Gibbs sweep of the infinite relational model, and how they grow."""

import resource
import subprocess
import sys
import time

import numpy as np
from scipy.sparse import csr_array

from bnpcluster._core.state import State
from bnpcluster.likelihoods import Relational
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import Gibbs

CALTECH = "facebook_caltech36/edges.csv.gz"
TARGET = 0.025  # seconds per sweep of that network at about 30 clusters


def block_network(n, n_links, n_blocks, within=0.7, seed=0):
    """A sparse network with about `n_links` links, most of them within blocks, and the blocks."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(n_blocks, size=n)
    members = np.argsort(labels, kind="stable")
    first = np.searchsorted(labels[members], np.arange(n_blocks + 1))
    one = rng.integers(n, size=n_links)
    size = np.diff(first)[labels[one]]
    mate = members[first[labels[one]] + (rng.random(n_links) * size).astype(int)]
    other = np.where(rng.random(n_links) < within, mate, rng.integers(n, size=n_links))
    return adjacency(n, one, other), labels


def adjacency(n, one, other):
    """The symmetric matrix of some links; loops are left out, and repeated links are one."""
    kept = one != other
    rows = np.concatenate([one[kept], other[kept]])
    columns = np.concatenate([other[kept], one[kept]])
    A = csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    A.data[:] = 1.0
    return A


def measure(arguments):
    """Caltech36 if it is there, scaling in links and in clusters, and a large network."""
    _caltech(arguments.data / CALTECH)
    links = [50_000, 150_000, 500_000, 1_500_000]
    seconds = [sweep_seconds(*block_network(10_000, m, 30)) for m in links]
    _print("links", links, seconds, "10,000 vertices, K = 30")
    clusters = [10, 30, 100, 300]
    seconds = [sweep_seconds(*block_network(20_000, 200_000, k)) for k in clusters]
    _print("K", clusters, seconds, "20,000 vertices, 200,000 links")
    # In a process of its own, so that the peak of memory is this network's alone.
    subprocess.run([sys.executable, "-m", "benchmarks.networks"], check=True)


def _caltech(path):
    if not path.exists():
        print(f"no {path}: give the folder of the data sets with --data")
        return
    ends = np.loadtxt(path, delimiter=",", skiprows=1, dtype=int)
    A = adjacency(769, ends[:, 0], ends[:, 1])
    state = State(Relational().bind(A), DirichletProcess(1.0), np.arange(769) % 30)
    seconds = np.median(_times(state, 400)[200:])
    print(
        f"Caltech36, 769 vertices, {A.nnz // 2:,} links, K = {state.n_blocks}: "
        f"{1e3 * seconds:.1f} ms per sweep, target {1e3 * TARGET:.0f}",
        flush=True,
    )


def sweep_seconds(A, labels, n_sweeps=6):
    """Median seconds of a sweep that starts at the true blocks."""
    state = State(Relational().bind(A), DirichletProcess(1.0), labels)
    return float(np.median(_times(state, n_sweeps)[1:]))


def _times(state, n_sweeps):
    """Seconds of the processor per sweep."""
    rng, gibbs, times = np.random.default_rng(0), Gibbs(), []
    for _ in range(n_sweeps):
        begin = time.process_time()
        gibbs.step(state, rng)
        times.append(time.process_time() - begin)
    return times


def _print(name, values, seconds, fixed):
    exponent = np.polyfit(np.log(values), np.log(seconds), 1)[0]
    table = ", ".join(f"{v:,}: {1e3 * s:.1f} ms" for v, s in zip(values, seconds, strict=True))
    print(f"sweep over {name} ({fixed}): {table}; exponent {exponent:.2f}", flush=True)


def main():
    """A sweep of 100,000 vertices and a million links: seconds and memory."""
    A, labels = block_network(100_000, 1_000_000, 100)
    begin = time.process_time()
    state = State(Relational().bind(A), DirichletProcess(1.0), labels)
    made = time.process_time() - begin
    seconds = np.median(_times(state, 4)[1:])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"100,000 vertices, {A.nnz // 2:,} links, K = {state.n_blocks}: {made:.1f} s to bind and "
        f"fill, {seconds:.1f} s per sweep, peak memory {peak:.2f} GB",
        flush=True,
    )


if __name__ == "__main__":
    main()
