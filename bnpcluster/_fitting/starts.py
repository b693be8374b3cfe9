"""New chains: from initial labels, or from the last states of an earlier fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from bnpcluster._core import arguments
from bnpcluster._fitting.checkpoint import thawed
from bnpcluster._fitting.fitted import Fitted, Task
from bnpcluster._fitting.initial_labels import initial_labels, initial_learned
from bnpcluster._fitting.rounds import Chain


def start_chains(task: Task, bound: Any, init: Any, previous: Fitted | None) -> list[Chain]:
    """New chains, from the last states of a previous fit or from initial labels."""
    seeds = [
        [np.random.default_rng(s) for s in child.spawn(2)]
        for child in arguments.seed_sequence(task.random_state).spawn(task.n_chains)
    ]
    if previous is not None:
        # Continue with the generators, too: new ones from the same seeds would repeat the draws.
        last = [thawed(arrays, task.prior) for arrays in previous.states]
        same = repr(task.sampler) == repr(previous.sampler)
        learns = repr(task.likelihood) == repr(previous.likelihood)
        return [
            Chain(
                c.labels,
                c.prior,
                c.rng,
                tuning=c.tuning if same else {},
                guide=c.guide if same else None,
                learned=c.learned if learns else None,
            )
            for c in last
        ]
    early = [rng for rng, _ in seeds]
    labels = initial_labels(init, task.X, task.likelihood, task.prior, early)
    learned = initial_learned(bound, task, early)
    return [
        Chain(row, task.prior, rng, learned=values)
        for row, values, (_, rng) in zip(labels, learned, seeds, strict=True)
    ]
