"""Whether the moves of the blocked sampler find clusters, and heal those that are cut in two.

From one cluster: iterations until the held-out mean log density passes a bar. From the truth with
half of the clusters cut by a line: how many are whole again after some iterations. Processor
seconds of one thread.
"""

import time

import numpy as np

from benchmarks.mixing import HeldOut
from benchmarks.yardstick import load, workshop
from bnpcluster._core.state import State
from bnpcluster._fitting.rounds import BOUNDARY
from bnpcluster.likelihoods import NormalInverseWishart
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import Blocked

SEEDS = 8
# data: the bar of the held-out log density, and the iterations within which all seeds should pass
GOALS = {"s1like": (-1.775, 50), "bern50": (-24.34, 25), "dim64": (22.40, 60)}
MOST = 200  # iterations
CUT = 50  # clusters, of 100
ITERATIONS = 60


def measure(arguments):
    """Print a line per data set."""
    with workshop(arguments.yardstick) as folder:
        for name, (bar, goal) in GOALS.items() if folder else ():
            find(load(folder, name), bar, goal)
    for n in (100_000, 1_000_000):
        heal(n)


def find(case, bar, goal, sampler=None):
    """Chains from one cluster."""
    sampler = sampler or Blocked()
    reached, seconds = zip(*(passage(case, bar, sampler, seed) for seed in range(SEEDS)), strict=True)
    well = sum(r <= goal for r in reached)
    print(
        f"{case.name}, one cluster to {bar}: {well} of {SEEDS} within {goal} iterations; "
        f"median {np.median(reached):.0f}, most {max(reached)}; {np.median(seconds):.3f} s",
        flush=True,
    )


def passage(case, bar, sampler, seed):
    """Iterations and seconds until the bar is passed."""
    state = State(case.likelihood.bind(case.X), DirichletProcess(1.0), np.zeros(len(case.X), int))
    held_out, rng, seconds = HeldOut(case), np.random.default_rng(seed), 0.0
    for iteration in range(1, MOST + 1):
        begin = time.process_time()
        sampler.step(state, rng)
        if iteration % BOUNDARY == 0:
            state.rebuild()
        seconds += time.process_time() - begin
        if held_out(state) > bar:
            return iteration, seconds
    return MOST + 1, seconds


def crowded(n, n_clusters=100, spread=0.012, seed=0):
    """Rows of clusters on a square grid that overlap, standardised."""
    rng, side = np.random.default_rng(seed), int(np.ceil(np.sqrt(n_clusters)))
    grid = np.stack(np.meshgrid(np.arange(side), np.arange(side)), -1).reshape(-1, 2)
    centres = grid[:n_clusters] / side + rng.normal(0, 0.01, (n_clusters, 2))
    roots = rng.normal(0, spread, (n_clusters, 2, 2)) + 0.6 * spread * np.eye(2)
    y = rng.integers(n_clusters, size=n)
    X = centres[y] + np.einsum("nij,nj->ni", roots[y], rng.standard_normal((n, 2)))
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def cut(X, y):
    """The clusters with every second one divided by a line through its mean."""
    rng, labels = np.random.default_rng(0), y.copy()
    for number in range(CUT):
        members, v = np.flatnonzero(y == 2 * number), rng.normal(size=2)
        far = (X[members] - X[members].mean(axis=0)) @ v > 0
        labels[members[far]] = 100 + number
    return labels


def whole(labels, y):
    """How many of the cut clusters are whole: one block has nine tenths of their rows."""
    return sum(
        np.bincount(labels[y == 2 * number]).max() > 0.9 * (y == 2 * number).sum()
        for number in range(CUT)
    )


def heal(n, sampler=None, seed=1):
    """A chain from clusters cut in two."""
    X, y = crowded(n)
    likelihood = NormalInverseWishart(mean=0.0, kappa=0.01, nu=4.0, scale=0.001)
    state = State(likelihood.bind(X), DirichletProcess(1.0), cut(X, y))
    sampler, rng, found = sampler or Blocked(), np.random.default_rng(seed), []
    begin = time.process_time()
    for iteration in range(1, ITERATIONS + 1):
        sampler.step(state, rng)
        if iteration in (10, 20, 40, ITERATIONS):
            found.append((iteration, state.n_blocks, int(whole(state.labels, y))))
    print(
        f"{CUT} of 100 clusters cut in two, {n:,} rows, iteration, clusters, healed: {found}; "
        f"{time.process_time() - begin:.1f} s",
        flush=True,
    )
