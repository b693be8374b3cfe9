"""Fits of rows that are elsewhere, without a cluster: passes run in this process."""

from typing import Any

import numpy as np

from bnpcluster._fitting import chains_elsewhere
from bnpcluster._fitting.fitted import Task
from bnpcluster._fitting.lengths import Asked
from bnpcluster._fitting.rows_elsewhere import LocalRows
from bnpcluster._fitting.walks import N_START, Sample, generator_of
from bnpcluster.likelihoods import NormalInverseWishart
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import Blocked
from bnpcluster.samplers.blocked.counters import draw_key


def blobs(n, k=3, d=2, seed=0):
    """Rows of clusters that are apart, and their labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    centres = 8.0 * np.column_stack([np.arange(k) % 3, np.arange(k) // 3, *np.zeros((d - 2, k))])
    return centres[y] + rng.normal(size=(n, d)), y


def fit(
    X,
    likelihood=None,
    prior=None,
    *,
    n_parts: Any = 3,  # or where the chunks begin, but the first
    n_chains=2,
    n_warmup=30,
    n_draws=20,
    init="auto",
    n_scanned=100,
    n_threads=None,
    checkpoint=None,
    random_state=0,
):
    """The outcome of a fit, and the rows."""
    likelihood = NormalInverseWishart() if likelihood is None else likelihood
    rows = LocalRows(np.array_split(X, n_parts), n_threads)
    numbers, some = rows.sample(draw_key(generator_of(random_state)), N_START)
    sample = Sample(some, numbers, likelihood.bind(some))
    rows.prepare(likelihood, sample.bound)
    prior = DirichletProcess() if prior is None else prior
    components = (likelihood, prior, Blocked())
    task = Task(sample.reference, *components, n_chains, 1, 0, random_state, None)
    asked, saved = Asked(n_draws, n_warmup, 1, 1000), None
    if checkpoint is not None:
        chunks = tuple(len(part) for part in rows.parts)
        saved = chains_elsewhere.WalkCheckpoint(checkpoint, "test", task, sample, chunks)
    return chains_elsewhere.fit(task, sample, rows, asked, init, n_scanned, saved), rows
