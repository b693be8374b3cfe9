"""Where chains of the blocked sampler start with many rows: from chains of some of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from bnpcluster._fitting.fitted import Task
from bnpcluster._fitting.rounds import Chain
from bnpcluster._fitting.rows_elsewhere import LocalRows
from bnpcluster._fitting.stop import Stop, interruptible
from bnpcluster._fitting.walks import N_START, Sample, generator_of, start
from bnpcluster.samplers import Blocked
from bnpcluster.samplers.blocked.blocked import rows_to_scan
from bnpcluster.samplers.blocked.counters import draw_key

LARGE = 2 * N_START
PART = 1 << 20  # rows of a chunk
SCANNED = 2000  # rows of a scan, at most


def is_large(task: Task, init: Any) -> bool:
    """Whether the chains of a fit start from some of its rows."""
    auto = isinstance(init, str) and init == "auto"
    return auto and isinstance(task.sampler, Blocked) and task.X.shape[0] >= LARGE


def start_from_some(task: Task, bound: Any) -> list[Chain]:
    """Chains of all rows that start where chains of some rows ended."""
    rng = generator_of(task.random_state)
    n_parts = -(-task.X.shape[0] // PART)
    rows = LocalRows(np.array_split(task.X, n_parts), task.sampler.n_jobs)
    numbers, some = rows.sample(draw_key(rng), N_START)
    sample = Sample(some, numbers, task.likelihood.rows(bound, some))
    rows.prepare(task.likelihood, bound)
    scanned = rows_to_scan(task.sampler.n_scanned, rows.n_rows, SCANNED)
    stop = Stop(task.seconds)
    with interruptible(stop):
        walks = start(task, sample, rows, "auto", scanned, stop)
    return [
        Chain(
            rows.labels(walk.message).astype(np.intp),
            walk.root.prior,
            walk.chain.rng,
            learned=walk.root.learned,
        )
        for walk in walks
    ]
