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

from bnpcluster._core.jit import generic
from bnpcluster._core.operations import clear


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


@generic(needs=(log_density,))
def add_log_densities(lik, parameters, items, n_blocks, slack, scratch, scores):
    """Add log f(items[r] | the parameters of block k) to scores[k, r], for all items and blocks.

    An entry of -inf stays. So may any entry become -inf that provably ends more than `slack` below
    the largest of its item. `scratch` has `scratch_rows` rows, with an entry per item or block.
    """
    for k in range(n_blocks):
        for r in range(len(items)):
            if scores[k, r] > -math.inf:
                scores[k, r] += log_density(lik, parameters, k, items[r])


@generic(needs=(clear,))
def scratch_rows(lik):
    """The number of rows of scratch space that `add_log_densities` needs."""
    return 1
