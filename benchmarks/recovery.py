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
from tests.tools.cut_clusters import CUT, crowded, cut, whole

SEEDS = 8
# data: the bar of the held-out log density, and the iterations within which all seeds should pass
GOALS = {"s1like": (-1.775, 50), "bern50": (-24.34, 25), "dim64": (22.40, 60)}
MOST = 200  # iterations
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
    reached, seconds = zip(
        *(passage(case, bar, sampler, seed) for seed in range(SEEDS)), strict=True
    )
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


def heal(n, sampler=None, seed=1):
    """A chain from clusters cut in two."""
    X, y = crowded(n)
    likelihood = NormalInverseWishart(mean=0.0, kappa=0.01, nu=4.0, scale=0.001)
    state = State(likelihood.bind(X), DirichletProcess(1.0), cut(X, y))
    sampler, rng, found = sampler or Blocked(), np.random.default_rng(seed), []
    begin = time.process_time()
    for iteration in range(1, ITERATIONS + 1):
        sampler.step(state, rng)
        if iteration % BOUNDARY == 0:
            state.rebuild()
        if iteration in (10, 20, 40, ITERATIONS):
            found.append((iteration, state.n_blocks, int(whole(state.labels, y))))
    print(
        f"{CUT} of 100 clusters cut in two, {n:,} rows, iteration, clusters, healed: {found}; "
        f"{time.process_time() - begin:.1f} s",
        flush=True,
    )
