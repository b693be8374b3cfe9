"""Digests of the draws of small fits of every estimator, sampler and likelihood, by public names.

`python draws.py` prints them as JSON. It is run on two versions of the package by `same_draws`, so
it imports nothing of the tests.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import bnpcluster
from bnpcluster import samplers
from bnpcluster.likelihoods import NormalInverseWishart
from bnpcluster.samplers import SAMPLERS

SHORT = {"n_draws": 4, "n_warmup": 4, "n_chains": 2, "random_state": 0}
MIXTURES = {
    "dp": (bnpcluster.DPMixture, {}, {"alpha": 1.0}),
    "py": (bnpcluster.PitmanYorMixture, {"discount": (1.0, 2.0)}, {"alpha": 1.0}),
    "ngg": (bnpcluster.NGGMixture, {"sigma": (1.0, 2.0)}, {}),
    "mfm": (bnpcluster.MFMMixture, {"gamma": (1.0, 1.0)}, {}),
    "finite": (bnpcluster.FiniteDirichletMixture, {"concentration": (1.0, 1.0)}, {}),
}
"""The estimators, with parameters for chains and for particles, which need fixed ones."""


OF_NETWORKS = ("gibbs", "jain_neal", "sams", "arm")


def data() -> dict[str, tuple[Any, np.ndarray]]:
    """A likelihood and a dozen rows for each kind of data."""
    rng = np.random.default_rng(1)
    near = np.repeat([-1.5, 1.5], 6)[:, None]
    rows = near + rng.normal(size=(12, 3))
    holed = rows.copy()
    holed[[1, 4, 7], [0, 1, 0]] = np.nan
    bits = (rng.random((12, 3)) < 0.5 + 0.2 * near).astype(float)
    missing_bits = bits.copy()
    missing_bits[2, 1] = np.nan
    codes = rng.integers(3, size=(12, 2)).astype(float)
    counts = rng.poisson(2.0 + near**2, size=(12, 2)).astype(float)
    reads = np.tile([40.0, 10.0, 2.0, 1.0, 1.0, 0.9], (12, 1))
    reads[:, 1] = rng.integers(2, 30, size=12)
    mixed = np.column_stack([rows[:, 0], bits[:, 0], codes[:, 0]])
    return {
        "niw_plane": ("niw", rows[:, :2]),
        "niw": ("niw", rows),
        "niw_missing": ("niw", holed),
        "niw_moved": (NormalInverseWishart(missing="impute"), holed),
        "nig": ("nig", rows),
        "nig_missing": ("nig", holed),
        "bernoulli": ("bernoulli", bits),
        "bernoulli_missing": ("bernoulli", missing_bits),
        "categorical": ("categorical", codes),
        "poisson": ("poisson", counts),
        "columns": ({0: "nig", 1: "bernoulli", 2: "categorical"}, mixed),
        "pyclone": ("pyclone", reads),
    }


def cases() -> Iterator[tuple[str, Callable[[], str]]]:
    """Names, and what makes their digests."""
    for (name, kind), sampler, (of, given) in itertools.product(
        MIXTURES.items(), SAMPLERS, data().items()
    ):
        yield f"{name} {sampler} {of}", partial(of_mixture, kind, sampler, *given)
    for directed, sampler in itertools.product((False, True), OF_NETWORKS):
        yield f"irm {sampler} {directed}", partial(of_network, directed, sampler)


def of_mixture(kind: tuple, sampler: str, likelihood: Any, X: np.ndarray) -> str:
    """The digest of a mixture's draws and predictions, or that it is refused."""
    cls, for_chains, for_particles = kind
    given: Any = sampler
    if sampler == "auxiliary_smc" and cls is bnpcluster.FiniteDirichletMixture:
        for_particles = {"concentration": 1.0}
    particles = SAMPLERS[sampler].weighted
    if sampler == "pgsm" or particles:
        given = SAMPLERS[sampler](n_particles=6)
    parameters = for_particles if particles else for_chains
    try:
        model = cls(likelihood=likelihood, sampler=given, **parameters, **SHORT).fit(X)
        new = X[:3] if likelihood == "pyclone" else np.where(np.isnan(X), 0.0, X)[:3] + 0.0
        told = [model.predict_proba(new), model.score_samples(new), model.novelty(new)]
        if likelihood != "pyclone":
            told.append(model.impute())
        told.append(model.sample(3, random_state=0))
    except (TypeError, ValueError) as error:
        return f"refused: {type(error).__name__}"
    return digest(model.posterior_, model.labels_, *told)


def of_network(directed: bool, sampler: str) -> str:
    """The digest of a relational model's draws."""
    rng = np.random.default_rng(2)
    A = (rng.random((10, 10)) < 0.4).astype(float)
    np.fill_diagonal(A, 0.0)
    A = A if directed else np.maximum(A, A.T)
    A[1, 2] = A[2, 1] = np.nan
    given = samplers.ARM(n_moves=2) if sampler == "arm" else sampler
    model = bnpcluster.InfiniteRelationalModel(directed=directed, sampler=given, **SHORT).fit(A)
    return digest(model.posterior_, model.labels_, model.predict_links([[0, 1], [1, 2]]))


def digest(posterior: Any, *arrays: np.ndarray) -> str:
    """A digest of draws, traces, weights and other arrays, bit by bit."""
    result = hashlib.sha256()
    traces = [posterior.traces[name] for name in sorted(posterior.traces)]
    for array in (posterior.labels, posterior.weights, *traces, *arrays):
        array = np.ascontiguousarray(array)
        result.update(f"{array.dtype} {array.shape}".encode() + array.tobytes())
    return result.hexdigest()[:16]


def main() -> None:
    """Print the digests of the cases in the k-th of n parts: `draws.py k n`, by default all."""
    part, parts = map(int, sys.argv[1:3]) if len(sys.argv) > 2 else (0, 1)
    warnings.simplefilter("ignore")
    chosen = list(cases())[part::parts]
    print(json.dumps({name: make() for name, make in chosen}, indent=1))


if __name__ == "__main__":
    main()
