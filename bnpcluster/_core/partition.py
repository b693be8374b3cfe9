"""A partition on numbered slots: labels, sizes, and the scratch space of the kernels.

Active slots are compact (0 .. K-1) and slot K is empty. A kernel that may open a block first checks
`is_full`. If no slot is left, it returns where it stopped; the caller doubles the capacity and
calls it again. No result depends on the capacity.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import add, clear, padded, rename, take_out


class Problem(NamedTuple):
    """What a kernel samples: the target p(z) prop V[K] prod_b W[n_b] m(data in b)^beta.

    Attributes
    ----------
    likelihood : NamedTuple
        Bound data and the statistics of the slots.
    log_v, log_w : ndarray
        The tables of the prior, log V[k] for k = 0 .. capacity and log W[m] for m = 0 .. n.
    items : ndarray of intp
        The items that are present; the others have the label -1.
    beta : float
        Inverse temperature of the likelihood.
    """

    likelihood: Any
    log_v: np.ndarray
    log_w: np.ndarray
    items: np.ndarray
    beta: float


class Partition(NamedTuple):
    """Labels and sizes of the blocks, and scratch space with one entry per slot.

    Attributes
    ----------
    labels : ndarray of intp, one per item (-1: in no block)
    sizes : ndarray of intp, one per slot
    n_blocks : ndarray of intp, shape (1,): the number of blocks K
    log_prior : ndarray: log W[m+1]/W[m] of a slot of m items, updated with the sizes
    slots, weights, scores : ndarray: scratch of one choice: the candidates, their log weights, and
        the scores of all slots
    """

    labels: np.ndarray
    sizes: np.ndarray
    n_blocks: np.ndarray
    log_prior: np.ndarray
    slots: np.ndarray
    weights: np.ndarray
    scores: np.ndarray


def new_partition(n_items: int, capacity: int) -> Partition:
    """A partition without items, with `capacity` slots."""
    width = padded(capacity)
    return Partition(
        labels=np.full(n_items, -1, np.intp),
        sizes=np.zeros(capacity, np.intp),
        n_blocks=np.zeros(1, np.intp),
        log_prior=np.full(width, -math.inf),
        slots=np.zeros(width, np.intp),
        weights=np.zeros(width),
        scores=np.zeros(width),
    )


def grown(partition: Partition, capacity: int) -> Partition:
    """A copy of the partition with more slots."""
    larger = new_partition(len(partition.labels), capacity)
    old = len(partition.sizes)
    larger.labels[:] = partition.labels
    larger.sizes[:old] = partition.sizes
    larger.n_blocks[:] = partition.n_blocks
    larger.log_prior[:old] = partition.log_prior[:old]
    return larger


@kernel(inline=True)
def is_full(partition):
    """Whether there are too few slots to open a block and keep an empty slot after it."""
    return partition.n_blocks[0] + 2 > len(partition.sizes)


@kernel
def change_size(partition, log_w, k, change):
    """Change the size of slot k, and update its prior weight for one more item."""
    m = partition.sizes[k] + change
    partition.sizes[k] = m
    if m + 1 < len(log_w):
        partition.log_prior[k] = log_w[m + 1] - log_w[m]
    else:
        partition.log_prior[k] = -math.inf


@kernel
def add_item(problem, partition, k, i):
    """Put item i into slot k; k = K opens a block."""
    if k == partition.n_blocks[0]:
        partition.n_blocks[0] = k + 1
        clear(problem.likelihood, k + 1)
    add(problem.likelihood, k, i)
    partition.labels[i] = k
    change_size(partition, problem.log_w, k, 1)


@kernel
def remove_item(problem, partition, i):
    """Take item i out of its slot; the last block moves to a slot that becomes empty."""
    k = partition.labels[i]
    take_out(problem.likelihood, k, i, partition.labels, k)
    partition.labels[i] = -1
    change_size(partition, problem.log_w, k, -1)
    if partition.sizes[k] == 0:
        close_slot(problem, partition, k)


@kernel
def move_item(problem, partition, i, k):
    """Move item i, which is in another slot or in none, to slot k; k = K opens a block."""
    own, n_blocks = partition.labels[i], partition.n_blocks[0]
    if own >= 0:
        remove_item(problem, partition, i)
        if partition.n_blocks[0] < n_blocks and k >= n_blocks - 1:
            k = own if k == n_blocks - 1 else k - 1  # the last block has just moved to `own`
    add_item(problem, partition, k, i)


@kernel
def close_slot(problem, partition, k):
    """Close the empty slot k: the last block moves there, so slots stay compact."""
    last = partition.n_blocks[0] - 1
    partition.n_blocks[0] = last
    if k == last:
        clear(problem.likelihood, k)
        return
    rename(problem.likelihood, k, last)
    partition.sizes[k] = partition.sizes[last]
    partition.log_prior[k] = partition.log_prior[last]
    partition.sizes[last] = 0
    labels = partition.labels
    for j in range(len(labels)):
        if labels[j] == last:
            labels[j] = k


@kernel
def rebuild(problem, partition):
    """Renumber the slots by first item and recompute every statistic from the labels.

    Every fit does this at fixed boundaries. So rounding errors do not accumulate, and a chain
    resumed from its labels gives the same draws as one that was not interrupted, bit for bit.
    """
    lik, labels, sizes = problem.likelihood, partition.labels, partition.sizes
    partition.slots[:] = -1
    n_blocks = 0
    # Clear all of them first: where blocks share statistics, an old block would still be counted.
    for k in range(len(sizes)):
        clear(lik, k)
    sizes[:] = 0
    for i in range(len(labels)):
        if labels[i] < 0:
            continue
        k = partition.slots[labels[i]]
        if k < 0:
            k = n_blocks
            partition.slots[labels[i]] = k
            n_blocks += 1
        labels[i] = k
        add(lik, k, i)
        sizes[k] += 1
    partition.n_blocks[0] = n_blocks
    for k in range(n_blocks):
        change_size(partition, problem.log_w, k, 0)
