"""One pass over the rows: labels given weights, parameters and leaders; then statistics.

Rows are treated by the tile, so that the compiler vectorises over rows. A chunk of rows has sums of
its own; they are added in the order of the chunks. So nothing depends on how chunks are computed.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import NEGLIGIBLE, add, clear, padded
from bnpcluster._core.parameter_operations import (
    add_log_densities,
    add_row,
    new_sums,
    put_sums,
    scratch_rows,
)
from bnpcluster._core.partition import change_size
from bnpcluster.samplers.blocked.counters import fill_random, fill_ranks

TILE = 64
CHUNK = 256 * TILE
"""Rows of a chunk. The sums depend on it in their last digits."""

LAST = np.uint64(0xFFFFFFFFFFFFFFFF)


class Message(NamedTuple):
    """What determines all labels, given the rows.

    Attributes
    ----------
    key : ndarray of uint64, shape (2,)
        Names the random order of the items and their uniforms.
    leaders : ndarray of uint64, one per block
        The rank of the first item of the block, whose number is in the lower 32 bits.
    log_weights : ndarray, one per block
    parameters : NamedTuple of arrays
    """

    key: np.ndarray
    leaders: np.ndarray
    log_weights: np.ndarray
    parameters: Any


class Part(NamedTuple):
    """What a pass over a chunk returns, and its scratch space."""

    sizes: np.ndarray  # by block
    sums: Any
    uniforms: np.ndarray  # by row of a tile
    ranks: np.ndarray
    tops: np.ndarray
    totals: np.ndarray
    scores: np.ndarray  # by block and row of a tile
    scratch: np.ndarray


def new_part(lik: Any, n_blocks: int) -> Part:
    """The result and the scratch space of one chunk."""
    width = max(TILE, padded(n_blocks))
    return Part(
        np.zeros(n_blocks, np.intp),
        new_sums(lik, n_blocks),
        np.zeros(TILE),
        np.zeros(TILE, np.uint64),
        np.zeros(TILE),
        np.zeros(TILE),
        np.zeros((n_blocks, TILE)),
        np.zeros((scratch_rows(lik), width)),
    )


@kernel
def find_leaders(key, items, labels, leaders, ranks):
    """Lower leaders[k] to the least rank of the items of block k."""
    for start in range(0, len(items), TILE):
        tile = items[start : start + TILE]
        fill_ranks(key, tile, ranks)
        for r in range(len(tile)):
            k = labels[tile[r]]
            if ranks[r] < leaders[k]:
                leaders[k] = ranks[r]


@kernel
def assign(lik, message, items, labels, part):
    """Draw the labels of a chunk of items, and add up its statistics.

    labels[i] >= 0 is the label of a leader, which stays. All others are -1 before the pass.
    """
    for start in range(0, len(items), TILE):
        tile = items[start : start + TILE]
        fill_random(message.key, tile, part.uniforms, part.ranks)
        fill_weights(message, len(tile), part)
        add_log_densities(
            lik,
            message.parameters,
            tile,
            len(message.leaders),
            NEGLIGIBLE,
            part.scratch,
            part.scores,
        )
        draw_labels(tile, labels, part)
        for r in range(len(tile)):
            i = tile[r]
            part.sizes[labels[i]] += 1
            add_row(lik, message.parameters, part.sums, labels[i], i)


@kernel
def fill_weights(message, n_rows, part):
    """Log weights; -inf where the leader of the block does not precede the item."""
    for k in range(len(message.leaders)):
        leader, weight, scores = message.leaders[k], message.log_weights[k], part.scores[k]
        for r in range(n_rows):
            scores[r] = weight if part.ranks[r] > leader else -math.inf


@kernel
def draw_labels(tile, labels, part):
    """Draw a label per row by inversion, with weights that are lost to rounding left out."""
    scores, tops, totals = part.scores, part.tops, part.totals
    n_rows, n_blocks = len(tile), len(scores)
    for r in range(n_rows):
        tops[r], totals[r] = -math.inf, 0.0
    for k in range(n_blocks):
        for r in range(n_rows):
            tops[r] = max(tops[r], scores[k, r])
    for k in range(n_blocks):
        for r in range(n_rows):
            below = scores[k, r] - tops[r]
            scores[k, r] = math.exp(below) if below > -NEGLIGIBLE else 0.0
            totals[r] += scores[k, r]
    for r in range(n_rows):
        if labels[tile[r]] < 0:
            labels[tile[r]] = invert(scores, r, part.uniforms[r] * totals[r])


@kernel(inline=True)
def invert(scores, r, above):
    """The block at which the sum of the scores of a row exceeds `above`."""
    last = 0
    for k in range(len(scores)):
        if scores[k, r] > 0.0:
            last = k
            if above < scores[k, r]:
                break
            above -= scores[k, r]
    return last


@kernel
def fill_blocks(problem, partition, labels, message, part, lossy):
    """Make the partition that of the labels, with statistics from the sums of all chunks."""
    lik, any_lossy = problem.likelihood, False
    for k in range(len(message.leaders)):
        m = part.sizes[k]
        partition.sizes[k] = m
        change_size(partition, problem.log_w, k, 0)
        lossy[k] = not put_sums(lik, k, message.parameters, part.sums, k, m)
        if lossy[k]:
            any_lossy = True
            clear(lik, k)
    for i in problem.items:
        k = labels[i]
        partition.labels[i] = k
        if any_lossy and lossy[k]:
            add(lik, k, i)
