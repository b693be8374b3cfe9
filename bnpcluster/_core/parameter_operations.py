"""The operations of a likelihood whose blocks have parameters, for samplers that draw them.

Given the parameters of all blocks, items are independent. So a sampler can draw many labels at
once, and rows need not be where the statistics of the blocks are. A likelihood defines two
NamedTuples of arrays: the `parameters` of blocks 0 .. K-1, and `sums` over the rows of every block,
from which its slots can be filled. Sums of parts of the rows add up, field by field.

These operations are in addition to those of `operations`. No sampler but the blocked one needs
them. Bound data may be shared by threads: the operations on rows must not write to it.
"""

from __future__ import annotations

import math

import numpy as np

from bnpcluster._core.jit import generic

TILE = 128
"""So many items are treated at a time. A tile with fewer items repeats its first one."""


@generic
def draw_parameters(lik, n_blocks, rng):
    """Parameters of slots 0 .. n_blocks-1, drawn from the posterior given the items of each slot.

    This operation and `new_sums` are called only outside kernels.
    """


@generic
def log_density(lik, parameters, k, i):
    """log f(item i | the parameters of block k), in the units of `log_marginal`."""


@generic
def log_density_of_parameters(lik, slot, parameters, k):
    """log p(the parameters of block k | the items of slot `slot`, which may be empty)."""


@generic
def new_sums(lik, n_blocks):
    """Sums over no rows."""


@generic
def add_row(lik, parameters, sums, k, i):
    """Add item i to the sums of block k.

    The sums may be relative to the parameters of the block, to keep all digits.
    """


@generic
def put_sums(lik, slot, parameters, sums, k, m):
    """Fill slot `slot` with the m items of the sums of block k.

    Return False if the sums have lost digits. Then the slot must be filled item by item.
    """


@generic(needs=(add_row,))
def add_rows(lik, parameters, sums, tile, labels, scratch):
    """Add the items of a tile to the sums of their blocks, labels[r] that of tile[r].

    A label of -1 stands for an item that is not there.
    """
    for r in range(TILE):
        if labels[r] >= 0:
            add_row(lik, parameters, sums, labels[r], tile[r])


@generic(needs=(log_density,))
def add_log_densities(lik, parameters, tile, blocks, slack, scratch, scores):
    """Add log f(tile[r] | the parameters of block blocks[c]) to scores[c, r], for all r and c.

    An entry of -inf stays. So may any entry become -inf that provably ends more than `slack` below
    the largest of its item. `scratch` is that of `new_scratch`.
    """
    for c in range(len(blocks)):
        for r in range(TILE):
            if scores[c, r] > -math.inf:
                scores[c, r] += log_density(lik, parameters, blocks[c], tile[r])


@generic(needs=(log_density,))
def bound_log_densities(lik, parameters, tile, scratch, low, high):
    """Write bounds of log f(item | the parameters of block k) to low[k] and high[k], for all k.

    They hold for all items of the tile. Return False, without bounds, if none are cheap.
    """
    return False


@generic(needs=(log_density,))
def gather(lik, items):
    """The items in an order in which those of a tile are near one another, so that bounds are good.

    This operation and the next one are called only outside kernels. The order must be a function of
    the data.
    """
    return items


@generic(needs=(log_density,))
def new_scratch(lik, n_blocks):
    """Scratch space for operations on tiles: an array, or a NamedTuple of arrays."""
    return np.zeros(1)
