"""Informed anchors by a table of one stored partition, as the authors of PGSM draw them.

The table says from which blocks of the stored partition the second anchor comes. It is made again
in warm-up whenever the number of blocks breaks its record, and never after warm-up. So the
distribution of the anchors does not depend on the present partition, and moves need no correction.
Before the first record the stored partition is one block, and anchors are uniform pairs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bnpcluster._core.jit import kernel
from bnpcluster._core.state import State
from bnpcluster.samplers.split_merge.anchors import Uniform, draw_anchors, log_anchor_probability
from bnpcluster.samplers.split_merge.informed_anchors import (
    chosen,
    score_attachments,
    score_unions,
    unchanged,
)
from bnpcluster.samplers.split_merge.kernel import ROOM, new_work

MOST = 256  # blocks of a stored partition; its table has as many rows, or one for every item


class Frozen(NamedTuple):
    """The second item comes from a block of a stored partition, by a table."""

    row: np.ndarray  # by item: its row of the table
    chances: np.ndarray  # of the stored blocks, by row
    block: np.ndarray  # by item: its stored block; -1 if it is absent
    members: np.ndarray  # the items, sorted by stored block
    starts: np.ndarray  # where the stored blocks begin among them


log_anchor_probability.register(Frozen)(log_anchor_probability.find(Uniform))


@draw_anchors.register(Frozen)
def _draw_frozen(distribution, problem, partition, work, rng):
    items, chances, starts = problem.items, distribution.chances, distribution.starts
    i = items[int(rng.random() * len(items))]
    k = chosen(chances[distribution.row[i]], chances.shape[1], rng.random())
    last = starts[k + 1] - 1
    size = last + 1 - starts[k] - int(distribution.block[i] == k)
    j = distribution.members[starts[k] + int(rng.random() * size)]
    work.anchors[0] = i
    work.anchors[1] = distribution.members[last] if j == i else j


def learn_table(anchors: Any, state: State) -> bool:
    """Make the table again if the number of blocks breaks its record; return whether it did.

    Other distributions of anchors have no table.
    """
    if not isinstance(anchors, str) or anchors not in TABLES:
        return False
    record = 1 if state.guide is None else int(state.guide[0])
    if not state.adapting or not record < state.n_blocks <= MOST:
        return False
    while state.n_blocks + ROOM > len(state.partition.sizes):
        state.enlarge()
    block = state.labels.copy()
    row, chances = TABLES[anchors](state)
    shape = np.array([chances.shape[1], chances.shape[0]])
    state.guide = np.concatenate([shape, block, row, chances.ravel()]).astype(float)
    return True


def _cluster_table(state: State) -> tuple[np.ndarray, np.ndarray]:
    chances = np.zeros((state.n_blocks, state.n_blocks))
    cluster_chances(state.problem, state.partition, _work(state), chances)
    return np.maximum(state.labels, 0), chances


def _threshold_table(state: State) -> tuple[np.ndarray, np.ndarray]:
    passes = np.zeros((len(state.labels), state.n_blocks), np.int8)
    threshold_passes(state.problem, state.partition, _work(state), passes)
    rows, number = np.unique(passes, axis=0, return_inverse=True)
    return number.ravel(), rows / np.maximum(rows.sum(axis=1, keepdims=True), 1)


TABLES = {"frozen_cluster": _cluster_table, "frozen_threshold": _threshold_table}


def _work(state: State) -> Any:
    work = new_work(state.problem.likelihood, len(state.labels))
    work.numbers[3] = state.n_blocks + 1
    return work


@kernel
def cluster_chances(problem, partition, work, chances):
    """Compute the cluster-informed probabilities of the present blocks, by that of an item."""
    n_blocks = partition.n_blocks[0]
    unchanged(work)
    for own in range(n_blocks):
        same = 0.0 if partition.sizes[own] == 1 else 1.0 / n_blocks
        score_unions(problem, partition, work, own)
        for k in range(n_blocks):
            chances[own, k] = same if k == own else (1.0 - same) * partition.weights[k]


@kernel
def threshold_passes(problem, partition, work, passes):
    """Mark the blocks that pass the threshold for each item."""
    unchanged(work)
    for i in problem.items:
        work.anchors[0] = i
        score_attachments(problem, partition, work, partition.labels[i])
        for k in range(partition.n_blocks[0]):
            passes[i, k] = int(partition.weights[k] > 0.0)


def frozen_anchors(state: State) -> Frozen:
    """The distribution of the anchors by the table of a state."""
    n, items = len(state.labels), state.problem.items
    block, row, chances = np.zeros(n, np.intp), np.zeros(n, np.intp), np.ones((1, 1))
    block[state.labels < 0] = -1
    if state.guide is not None:
        block, row, chances = read_table(state.guide, n)
    members = items[np.argsort(block[items], kind="stable")]
    starts = np.searchsorted(block[members], np.arange(chances.shape[1] + 1))
    return Frozen(row, chances, block, members, starts)


def read_table(guide: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Stored blocks and rows by item, and the table; an error if the array contains no table."""
    n_blocks, n_rows = (int(v) for v in guide[:2])
    if len(guide) != 2 + 2 * n + n_rows * n_blocks:
        raise ValueError("the table of the anchors has the wrong size")
    block, row = guide[2 : 2 + 2 * n].reshape(2, n).astype(np.intp)
    chances = guide[2 + 2 * n :].reshape(n_rows, n_blocks)
    if not is_table(block, row, chances):
        raise ValueError("the table of the anchors is impossible")
    return block, row, chances


def is_table(block: np.ndarray, row: np.ndarray, chances: np.ndarray) -> bool:
    """Whether every item that is present has another one to be drawn with."""
    present = block >= 0
    if not (-1 <= block.min() and block.max() < chances.shape[1]):
        return False
    if not (0 <= row.min() and row.max() < len(chances) and chances.min() >= 0):
        return False
    block, row = block[present], row[present]
    sizes = np.bincount(block, minlength=chances.shape[1])
    alone = chances[row, block][sizes[block] == 1]
    return bool(sizes.all() and not alone.any() and chances.sum(axis=1)[row].all())
