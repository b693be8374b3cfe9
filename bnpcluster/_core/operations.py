"""The operations of a likelihood: the whole contract on one screen.

A likelihood binds data to a NamedTuple of arrays (`lik` below), which holds the data and the
statistics of numbered blocks ("slots"). The operations take slot and item numbers, never rows. So
a sampler need not know whether an item is a vector, a column of read counts or a vertex of a
network. Slots 0 .. K-1 are in use. Slot K is always empty and represents a new block.

A likelihood registers what it can (`add.register(MyBound)`). An operation with a body below works
for every likelihood that has the operations the body uses. Replace it for speed, or if the
likelihood does not factorise over blocks. A sampler lists the operations it needs in `requires`;
they are checked before anything compiles.
"""

from __future__ import annotations

import math

from bnpcluster._core.jit import generic, kernel


@generic
def clear(lik, k):
    """Make slot k an empty block."""


@generic
def add(lik, k, i):
    """Put item i, which is in no block, into slot k."""


@generic
def remove(lik, k, i):
    """Take item i out of slot k."""


@generic
def copy(lik, to, source):
    """Make slot `to` hold the same statistics as slot `source`."""


@generic
def log_predictive(lik, k, i):
    """log f(item i | the items of slot k), for an item that is not in slot k, which may be empty.

    Where slots share statistics, the item is removed from its own slot during the evaluation.
    """


@generic
def log_marginal(lik, k):
    """log m(the items of slot k), 0 for an empty one."""


@generic(needs=(copy, clear))
def rename(lik, to, source):
    """Move the block in slot `source` to slot `to`."""
    copy(lik, to, source)
    clear(lik, source)


@generic(needs=(add, remove, log_predictive))
def log_predictive_without(lik, k, i):
    """log f(item i | the other items of its own slot k); -inf if it `outweighs` them."""
    remove(lik, k, i)
    value = log_predictive(lik, k, i)
    add(lik, k, i)
    return value


@generic(needs=(clear,))
def outweighs(lik, k, i):
    """Whether item i of slot k is so extreme that `remove` would lose the digits of the others.

    Then `log_predictive_without` has none either, and must return -inf.
    """
    return False


@generic(needs=(clear, add, remove, outweighs))
def take_out(lik, k, i, labels, own):
    """Take item i out of slot k, which holds the items of label `own`, as extreme as it may be."""
    if outweighs(lik, k, i):
        refill_without(lik, k, i, labels, own)
    else:
        remove(lik, k, i)


@generic(needs=(clear, add, log_predictive, log_predictive_without))
def log_predictive_of_member(lik, k, i, labels, own):
    """`log_predictive_without` of an item as extreme as it may be.

    Slot k holds the items of label `own`.
    """
    value = log_predictive_without(lik, k, i)
    if value == -math.inf:
        value = log_predictive_of_extreme(lik, k, i, labels, own)
    return value


@generic(needs=(log_predictive,))
def log_predictive_all(lik, i, start, stop, out):
    """Write log f(item i | slot k) to out[k] for k = start .. stop-1; i is in none of them."""
    for k in range(start, stop):
        out[k] = log_predictive(lik, k, i)


@generic(needs=(add, log_predictive))
def log_predictive_set(lik, k, items):
    """log f(items | slot k) by the chain rule; the items stay in slot k."""
    total = 0.0
    for i in items:
        total += log_predictive(lik, k, i)
        add(lik, k, i)
    return total


@generic(needs=(log_marginal,))
def log_likelihood(lik, n_blocks):
    """log p(data | partition): the sum of the marginals, for a likelihood that factorises."""
    total = 0.0
    for k in range(n_blocks):
        total += log_marginal(lik, k)
    return total


@generic(needs=(copy,))
def withdraw(lik, k, i):
    """Take item i out of slot k if an item cannot be in two slots at a time.

    Slots that can be copied are independent: a proposed block is filled next to the current one.
    Where slots share statistics, the current blocks are emptied while a proposal is filled.
    """


@generic(needs=(copy,))
def restore(lik, k, i):
    """Put item i back into slot k, where `withdraw` took it out."""


@generic(needs=(copy, add))
def pool(lik, to, one, two, labels):
    """Make slot `to` hold the items of slots `one` and `two`; labels[i] is the slot of item i."""
    copy(lik, to, one)
    for i in range(len(labels)):
        if labels[i] == two:
            add(lik, to, i)


@generic(needs=(log_marginal,))
def log_marginal_pair(lik, one, two):
    """log m(the items of two slots, as two blocks)."""
    return log_marginal(lik, one) + log_marginal(lik, two)


@generic(needs=(pool, log_marginal))
def log_marginal_union(lik, one, two, spare, labels):
    """log m(the items of two slots, as one block); may use the empty slot `spare`."""
    pool(lik, spare, one, two, labels)
    return log_marginal(lik, spare)


@generic(needs=(clear,))
def n_coordinates(lik):
    """The number of coordinates of an item; 0 where Euclidean distances make no sense."""
    return 0


@generic(needs=(clear,))
def coordinate(lik, i, d):
    """Coordinate d of item i."""
    return 0.0


@generic(needs=(clear,))
def whiten(lik, k, v):
    """Multiply the vector v by the inverse of the scatter matrix of slot k, up to a constant."""


@generic(needs=(clear,))
def latent(lik):
    """The latent values that chains sample, such as missing entries; or None.

    This operation and the next three are called only outside kernels.
    """
    return None


@generic(needs=(clear,))
def set_latent(lik, values):
    """Set the values of `latent`. Afterwards all slots must be filled again."""


@generic(needs=(clear,))
def move_latent(lik, labels, rng):
    """Draw the values of `latent` given the labels.

    A step that leaves their distribution given the labels invariant is enough.
    """


@generic(needs=(clear,))
def draw_latent(lik, labels, rng):
    """The values of `latent`, and a draw, given the labels, of what was integrated out.

    The slots are filled from the labels. Some queries of a fit need all entries.
    """
    return latent(lik)


@generic(needs=(clear,))
def learned(lik):
    """A copy of the learned hyper-parameters as one array; None if all of them are fixed.

    This operation and the next six are called only outside kernels.
    """
    return None


@generic(needs=(clear,))
def set_learned(lik, values):
    """Set the values of `learned`. Afterwards all slots must be filled again."""


@generic(needs=(clear,))
def move_learned(lik, labels, beta, rng):
    """Draw the values of `learned` given the labels; the slots are filled from the labels.

    A step that leaves their distribution given the labels invariant is enough, with the likelihood
    at inverse temperature `beta`. Return whether the slots are right for the new values; if not,
    all of them must be filled again.
    """
    return False


@generic(needs=(clear,))
def draw_learned(lik, rng):
    """Values as of `learned`, drawn from their hyper-prior; fixed ones keep their number.

    None if nothing is learned, or if `move_learned` is right at inverse temperature one only.
    Particles then keep the guess from the data.
    """
    return None


@generic(needs=(clear,))
def log_learned(lik):
    """Log prior density of the values of `learned`."""
    return 0.0


@generic(needs=(clear,))
def traces_learned(lik):
    """The values of `learned` as a few numbers by name, for diagnostics."""
    return {}


@generic(needs=(clear,))
def renew_rows(lik):
    """Recompute what depends on both the rows and the hyper-parameters, after `set_learned`.

    `lik` has other rows, but the hyper-parameters and slots of the data of the fit.
    """


@generic(needs=(log_predictive_all, log_predictive_of_member))
def log_weights(lik, i, own, beta, slack, partition):
    """List where item i may go: partition.slots and .weights (log_prior + beta log f); how many.

    The reference comes first. It is the item's own slot (own >= 0), evaluated given the other items
    of the block; or the empty slot if the item has no own slot or is alone in it. The others follow
    in the order of their numbers. Slots with log_prior = -inf are left out. Slots that provably lie
    more than `slack` below the reference may be left out. On return all blocks are as before.
    """
    log_prior, scores = partition.log_prior, partition.scores
    empty = partition.n_blocks[0]
    log_predictive_all(lik, i, 0, empty + 1, scores)
    first = empty
    if own >= 0 and log_prior[own] > -math.inf:
        first = own
        scores[own] = log_predictive_of_member(lik, own, i, partition.labels, own)
    count, floor = 0, -math.inf
    if log_prior[first] > -math.inf:
        weight = log_prior[first] + beta * scores[first]
        count, floor = append_candidate(partition, count, first, weight), weight - slack
    for k in range(empty + 1):
        weight = log_prior[k] + beta * scores[k]
        if k != first and weight > floor:
            count = append_candidate(partition, count, k, weight)
    return count


@kernel
def refill_without(lik, k, i, labels, own):
    """Fill slot k again with the items of label `own`, except item i."""
    clear(lik, k)
    for j in range(len(labels)):
        if labels[j] == own and j != i:
            add(lik, k, j)


@kernel
def log_predictive_of_extreme(lik, k, i, labels, own):
    """log f(item i | the other items of slot k), which is filled again."""
    refill_without(lik, k, i, labels, own)
    value = log_predictive(lik, k, i)
    add(lik, k, i)
    return value


@kernel(inline=True)
def append_candidate(partition, count, k, weight):
    """Append slot k to the list of candidates; return its new length.

    Parameters
    ----------
    partition : Partition
        Its `slots` and `weights` are the list.
    count : int
        Length of the list.
    k : int
        The slot.
    weight : float
        Its log weight.

    Returns
    -------
    count : int
    """
    partition.slots[count] = k
    partition.weights[count] = weight
    return count + 1


@kernel(inline=True)
def log_weights_from_bounds(lik, i, own, beta, slack, partition):
    """`log_weights`, given upper bounds of all weights in partition.scores.

    Only slots whose bound is within `slack` of the reference are evaluated.

    Parameters
    ----------
    lik : NamedTuple
        Bound data.
    i, own : int
        The item, and its slot or -1.
    beta, slack : float
        As for `log_weights`.
    partition : Partition
        The list is written to its `slots` and `weights`.

    Returns
    -------
    count : int
        Length of the list.
    """
    log_prior, bound, empty = partition.log_prior, partition.scores, partition.n_blocks[0]
    count, floor, first = 0, -math.inf, empty
    if own >= 0 and log_prior[own] > -math.inf:
        first = own
        score = log_predictive_of_member(lik, own, i, partition.labels, own)
        weight = log_prior[own] + beta * score
        count, floor = append_candidate(partition, count, own, weight), weight - slack
    elif log_prior[empty] > -math.inf:
        weight = log_prior[empty] + beta * log_predictive(lik, empty, i)
        count, floor = append_candidate(partition, count, empty, weight), weight - slack
    for k in range(empty + 1):
        if bound[k] > floor and k != first:
            weight = log_prior[k] + beta * log_predictive(lik, k, i)
            count = append_candidate(partition, count, k, weight)
    return count


@kernel(inline=True)
def log_weights_from_scores(lik, i, own, beta, slack, width, partition):
    """The list of `log_weights`, from log f of the first `width` slots in partition.scores.

    Parameters
    ----------
    lik : NamedTuple
        Bound data.
    i, own : int
        The item, and its slot or -1.
    beta, slack : float
        As for `log_weights`.
    width : int
        How many slots have their score.
    partition : Partition
        The list is written to its `slots` and `weights`.

    Returns
    -------
    count : int
        Length of the list.
    """
    log_prior, weights, empty = partition.log_prior, partition.scores, partition.n_blocks[0]
    for k in range(width):
        weights[k] = log_prior[k] + beta * weights[k]
    first = empty
    if own >= 0 and log_prior[own] > -math.inf:
        first = own
        score = log_predictive_of_member(lik, own, i, partition.labels, own)
        weights[own] = log_prior[own] + beta * score
    count, floor = 0, -math.inf
    if log_prior[first] > -math.inf:
        count = append_candidate(partition, count, first, weights[first])
        floor = weights[first] - slack
    for k in range(empty + 1):
        if weights[k] > floor and k != first:
            count = append_candidate(partition, count, k, weights[k])
    return count


NEGLIGIBLE = 40.0
"""A weight e^-40 times another one is lost to rounding in double precision."""

LANES = 8
"""Arrays whose last axis is the slot are padded to a multiple of this many slots."""


@kernel(inline=True)
def padded(n_slots):
    """The smallest multiple of 8 that holds n_slots: the width of arrays with the slot last.

    Parameters
    ----------
    n_slots : int

    Returns
    -------
    width : int
    """
    return (n_slots + LANES - 1) // LANES * LANES
