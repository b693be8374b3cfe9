"""Microseconds of an iteration beyond its kernels."""

import time

import numpy as np

from bnpcluster._fitting.rounds import Chain, Schedule, Stop, advance
from bnpcluster.likelihoods import NormalInverseWishart
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import Gibbs

N_ITERATIONS = 20_000


def measure(arguments):
    """Iterations on two rows, where the kernels have nothing to do; every one keeps a draw."""
    X = np.random.default_rng(0).normal(size=(4, 2))
    bound = NormalInverseWishart().bind(X)
    for alpha in (1.0, "auto"):
        times = []
        for _ in range(3):
            chain = Chain(np.zeros(4, int), DirichletProcess(alpha), np.random.default_rng(0))
            begin = time.perf_counter()
            advance(chain, bound, Gibbs(), Schedule(N_ITERATIONS, 0, 1), N_ITERATIONS, Stop())
            times.append((time.perf_counter() - begin) / N_ITERATIONS)
        print(f"alpha={alpha}: {1e6 * min(times):.1f} us per iteration (target 30)", flush=True)
