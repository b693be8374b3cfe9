"""Restricted sweeps: given weights, parameters and leaders, the labels are independent.

The leader of a block is its first item in a random order. It stays, and other items may join only
blocks whose leader precedes them. Then no block is born and none dies. This makes the update exact
for every prior of Gibbs type, with weights from Dirichlet(n_b - sigma).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray

from bnpcluster._core.parameter_operations import TILE, draw_parameters, gather
from bnpcluster._core.state import State, Stopped
from bnpcluster.samplers.blocked.assignment import (
    CHUNK,
    IDENTITY,
    LAST,
    Message,
    Part,
    assign,
    fill_blocks,
    find_leaders,
    new_part,
)
from bnpcluster.samplers.blocked.counters import LOW, draw_key


def restricted_sweep(state: State, n_jobs: int | None, rng: np.random.Generator) -> None:
    """Redraw all labels but those of the leaders, which are drawn anew, too.

    The result does not depend on `n_jobs`, the number of threads.
    """
    message = draw_message(state, rng)
    lik, n_blocks = state.problem.likelihood, state.n_blocks
    labels = np.full(len(state.labels), -1, np.int32)
    labels[(message.leaders & LOW).astype(np.intp)] = np.arange(n_blocks)
    if "items" not in state.scratch:
        state.scratch["items"] = gather(lik, state.problem.items)
    items = state.scratch["items"]
    chunks = [items[start : start + CHUNK] for start in range(0, len(items), CHUNK)]
    total = new_part(lik, n_blocks)
    run = partial(part_of_chunk, lik, message, labels)
    for part in in_threads(run, chunks, n_jobs):
        if state.should_stop():
            raise Stopped  # the state is unchanged
        add_up(total.sizes, part.sizes)
        add_up(total.sums, part.sums)
    lossy = np.zeros(n_blocks, bool)
    fill_blocks(state.problem, state.partition, labels, message, total, lossy)


def draw_message(state: State, rng: np.random.Generator) -> Message:
    """Draw leaders, weights and parameters of the blocks of a state."""
    key, n_blocks = draw_key(rng), state.n_blocks
    leaders = np.full(n_blocks, LAST)
    find_leaders(key, state.problem.items, state.labels, leaders, np.zeros(TILE, np.uint64))
    log_weights = draw_log_weights(state.sizes - state.prior.sigma_now, rng)
    parameters = draw_parameters(state.problem.likelihood, n_blocks, rng)
    return Message(key, leaders, log_weights, parameters)


def draw_log_weights(concentrations: NDArray, rng: np.random.Generator) -> NDArray[np.float64]:
    """Logs of weights with a Dirichlet distribution, by gamma variables that cannot underflow."""
    logs = np.log(rng.gamma(concentrations + 1.0))
    logs += np.log1p(-rng.random(len(logs))) / concentrations
    return logs - logs.max()


def part_of_chunk(lik: Any, message: Message, labels: NDArray, items: NDArray) -> Part:
    """Write the labels of a chunk, and return its statistics."""
    part = new_part(lik, len(message.leaders))
    assign(lik, message, IDENTITY, items, labels, part)
    return part


def in_threads(run: Any, chunks: Sequence[Any], n_jobs: int | None) -> Iterator[Any]:
    """What `run` returns for all chunks, in their order, computed by threads."""
    n_threads = min(how_many_threads(n_jobs), len(chunks))
    if n_threads < 2:
        yield from map(run, chunks)
        return
    pool = ThreadPoolExecutor(n_threads)
    try:
        yield from pool.map(run, chunks)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def how_many_threads(n_jobs: int | None) -> int:
    """The number of threads; as elsewhere, -1 stands for all cores, and -2 for all but one."""
    if n_jobs is None:
        return 1
    return n_jobs if n_jobs > 0 else max(cpu_count() + 1 + n_jobs, 1)


def add_up(total: Any, more: Any) -> None:
    """Add arrays, or named tuples of arrays, in place."""
    if isinstance(total, tuple):
        for one, two in zip(total, more, strict=True):
            add_up(one, two)
    else:
        total += more
