"""The cost of updating hyper-parameters, against a sweep in the plane at n = 5,000."""

import time

import numpy as np

from benchmarks.scaling import blobs
from bnpcluster._core.state import State
from bnpcluster.likelihoods import NormalInverseWishart
from bnpcluster.priors import MFM, NGG, DirichletProcess, FiniteDirichlet, PitmanYor
from bnpcluster.samplers import Gibbs

PRIORS = [
    (DirichletProcess(), 0.2),
    (PitmanYor((1.0, 0.1), 0.25), 0.2),
    (PitmanYor((1.0, 0.1), (1.0, 3.0)), 0.2),
    (FiniteDirichlet(30, (1.0, 1.0)), 0.5),
    (MFM((1.0, 1.0), "gnedin"), 0.5),
    (MFM((1.0, 1.0), "poisson"), 0.5),
    (NGG((1.0, 1.0), (1.0, 3.0)), 0.5),
]


def measure(arguments):
    """Update and new tables, divided by the iterations between two updates, over a sweep."""
    X, labels = blobs(5000, 15)
    rng, gibbs = np.random.default_rng(0), Gibbs()
    for prior, target in PRIORS:
        state = State(NormalInverseWishart().bind(X), prior, labels)
        sweeps, updates = [], []
        for _ in range(40):
            begin = time.perf_counter()
            gibbs.step(state, rng)
            middle = time.perf_counter()
            state.set_prior(state.prior.update(state.sizes, 5000, rng))
            sweeps.append(middle - begin)
            updates.append(time.perf_counter() - middle)
        update, sweep = np.median(updates[5:]), np.median(sweeps[5:])
        print(
            f"{prior!r}: update {1e3 * update:.3f} ms every {prior.update_every} iterations, "
            f"sweep {1e3 * sweep:.3f} ms, ratio {update / prior.update_every / sweep:.2f} "
            f"(target {target})",
            flush=True,
        )
