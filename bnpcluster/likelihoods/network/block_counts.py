"""Counts of links between blocks of vertices, with a beta-Bernoulli model of every pair of blocks.

For slots k and l there are p = links[k, l] links among t = pairs[k, l] observed pairs of vertices,
with the marginal likelihood B(a + p, b + t - p) / B(a, b). The statistics are integers, so no
rounding errors accumulate, except in the sums `total`. All entries of an empty slot are zero.

An undirected network has one direction, and symmetric counts. A directed network has two: for a
vertex in slot k, direction 0 is from k to l, and 1 from l to k. Within a slot, both directions are
the same pair of blocks.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betaln

from bnpcluster._core.jit import kernel
from bnpcluster.likelihoods.log_tables import Table, tabulate

LINK, VOID, BOTH = range(3)
"""The columns of the table: the prior counts of links, of absent links, and their sum."""

ASYMPTOTIC = 64.0  # above this, Stirling's series gives ratios of Gamma functions to all digits


def beta_tables(a: float, b: float, n_pairs: int) -> tuple[Table, float]:
    """A table of log Gamma at a, b and a + b plus a count, and log B(a, b)."""
    return tabulate(np.array([a, b, a + b]), n_pairs + 2), float(betaln(a, b))


@kernel
def log_gamma_ratio(x, m):
    """log Gamma(x + m) - log Gamma(x), without loss of digits for large x."""
    if m == 1.0:
        return math.log(x)
    if x < ASYMPTOTIC:
        return math.lgamma(x + m) - math.lgamma(x)
    y = x + m
    series = (1.0 / y - 1.0 / x) / 12.0 - (1.0 / (y * y * y) - 1.0 / (x * x * x)) / 360.0
    return (y - 0.5) * math.log1p(m / x) + m * (math.log(x) - 1.0) + series


@kernel(inline=True)
def log_rising_at(table, d, j, m):
    """log Gamma(base[d] + j + m) - log Gamma(base[d] + j)."""
    if m == 0:
        return 0.0
    if j + m < table.length:
        first = table.first[d]
        return table.log_gamma[first + j + m] - table.log_gamma[first + j]
    return log_gamma_ratio(table.base[d] + j, float(m))


@kernel(inline=True)
def log_factor(table, p, t, e, s):
    """log probability of e links among s further pairs, after p links among t pairs."""
    value = log_rising_at(table, LINK, p, e) + log_rising_at(table, VOID, t - p, s - e)
    return value - log_rising_at(table, BOTH, t, s)


@kernel(inline=True)
def log_odds(table, p, t, e, s):
    """`log_factor` minus its value for e = 0, which cancels the terms that depend only on s."""
    return log_rising_at(table, LINK, p, e) - log_rising_at(table, VOID, t - p + s - e, e)


@kernel
def log_beta(lik, p, t):
    """log B(a + p, b + t - p) - log B(a, b)."""
    table = lik.table
    if t < table.length:
        return log_factor(table, 0, 0, p, t)
    less, more = table.base[LINK] + p, table.base[VOID] + (t - p)
    if less > more:
        less, more = more, less
    return math.lgamma(less) - log_gamma_ratio(more, less) - lik.log_beta_0


@kernel
def count_links(lik, i):
    """Count the links and the unobserved pairs of vertex i with all slots, by direction."""
    met, unobserved, slot_of = lik.met, lik.unobserved, lik.slot_of
    for r in range(len(met)):
        for k in range(met.shape[1]):
            met[r, k] = 0
            unobserved[r, k] = 0
        row = r * len(slot_of) + i
        for p in range(lik.start[row], lik.start[row + 1]):
            k = slot_of[lik.ends[p]]
            if k >= 0:
                met[r, k] += 1
        for p in range(lik.unobserved_start[row], lik.unobserved_start[row + 1]):
            k = slot_of[lik.unobserved_ends[p]]
            if k >= 0:
                unobserved[r, k] += 1


@kernel(inline=True)
def log_no_links(lik, k, other):
    """log probability that a vertex joining slot k has no link with the other slot."""
    table, links, pairs, size = lik.table, lik.links, lik.pairs, lik.size
    n_directions = len(lik.met)
    if k == other:
        return log_factor(table, links[k, k], pairs[k, k], 0, n_directions * size[k])
    value = log_factor(table, links[k, other], pairs[k, other], 0, size[other])
    if n_directions == 2:
        value += log_factor(table, links[other, k], pairs[other, k], 0, size[other])
    return value


@kernel
def refresh(lik, k):
    """Recompute `none` and `total` after a change of the counts of slot k."""
    size, none, total = lik.size, lik.none, lik.total
    total_k = 0.0
    for other in range(lik.extent[0]):
        if size[other] > 0:
            none[other, k] = log_no_links(lik, k, other)
            total_k += none[other, k]
            if other != k:
                value = log_no_links(lik, other, k)
                total[other] += value - none[k, other]
                none[k, other] = value
    total[k] = total_k


@kernel
def clear_counts(lik, k):
    """Set all entries of slot k to zero."""
    links, pairs, none, total = lik.links, lik.pairs, lik.none, lik.total
    for other in range(lik.extent[0]):
        total[other] -= none[k, other]
        links[k, other] = 0
        links[other, k] = 0
        pairs[k, other] = 0
        pairs[other, k] = 0
        none[k, other] = 0.0
        none[other, k] = 0.0
    total[k] = 0.0
    lik.size[k] = 0


@kernel
def shrink_extent(lik):
    """Lower the extent to the last slot in use."""
    extent = lik.extent
    while extent[0] > 0 and lik.size[extent[0] - 1] == 0:
        extent[0] -= 1


@kernel
def shift(lik, k, sign):
    """Add (sign 1) to slot k or remove (sign -1) the vertex whose links are counted in `met`."""
    links, pairs, size, met, unobserved = lik.links, lik.pairs, lik.size, lik.met, lik.unobserved
    size[k] += min(sign, 0)
    for r in range(len(met)):
        for other in range(lik.extent[0]):
            row, column = (k, other) if r == 0 else (other, k)
            links[row, column] += sign * met[r, other]
            pairs[row, column] += sign * (size[other] - unobserved[r, other])
    if len(met) == 1:
        for other in range(lik.extent[0]):
            links[other, k] = links[k, other]
            pairs[other, k] = pairs[k, other]
    size[k] += max(sign, 0)
    if size[k] == 0:
        clear_counts(lik, k)
        shrink_extent(lik)
    else:
        refresh(lik, k)


@kernel
def move_counts(lik, to, source):
    """Move the counts of slot `source` to the empty slot `to`."""
    links, pairs, none = lik.links, lik.pairs, lik.none
    for other in range(lik.extent[0]):
        if other != source:
            links[to, other] = links[source, other]
            links[other, to] = links[other, source]
            pairs[to, other] = pairs[source, other]
            pairs[other, to] = pairs[other, source]
            none[to, other] = none[source, other]
            none[other, to] = none[other, source]
            lik.total[other] += none[source, other]
    links[to, to] = links[source, source]
    pairs[to, to] = pairs[source, source]
    none[to, to] = none[source, source]
    lik.total[to] = lik.total[source]
    lik.size[to] = lik.size[source]
    clear_counts(lik, source)
    shrink_extent(lik)


@kernel(inline=True)
def log_link_odds(lik, k, other):
    """log odds, against no links, of the links between the vertex in `met` and another slot.

    The vertex joins slot k. It is in neither slot now, and all pairs are observed.
    """
    table, links, pairs, size, met = lik.table, lik.links, lik.pairs, lik.size, lik.met
    if len(met) == 1:
        return log_odds(table, links[other, k], pairs[other, k], met[0, other], size[other])
    if k == other:
        e = met[0, k] + met[1, k]
        return log_odds(table, links[k, k], pairs[k, k], e, 2 * size[k])
    value = log_odds(table, links[k, other], pairs[k, other], met[0, other], size[other])
    return value + log_odds(table, links[other, k], pairs[other, k], met[1, other], size[other])


@kernel(inline=True)
def log_link_probability(lik, k, other, own):
    """log probability of the links between the vertex in `met` and another slot if it joins slot k.

    If the vertex is in slot `own` now, it is first removed from the counts.
    """
    links, pairs, size, met, unobserved = lik.links, lik.pairs, lik.size, lik.met, lik.unobserved
    n_directions, n_others = len(met), size[other] - int(other == own)
    total = 0.0
    if k == other:
        e = s = 0
        for r in range(n_directions):
            e += met[r, k]
            s += n_others - unobserved[r, k]
        p, t = links[k, k], pairs[k, k]
        if k == own:
            p, t = p - e, t - s
        return log_factor(lik.table, p, t, e, s)
    for r in range(n_directions):
        e, s = met[r, other], n_others - unobserved[r, other]
        row, column = (k, other) if r == 0 else (other, k)
        p, t = links[row, column], pairs[row, column]
        if k == own:
            p, t = p - e, t - s
        elif other == own:
            back = n_directions - 1 - r
            p, t = p - met[back, k], t - (size[k] - unobserved[back, k])
        total += log_factor(lik.table, p, t, e, s)
    return total


@kernel
def predictive(lik, k, own):
    """log probability of all links of the vertex in `met` if it leaves `own` and joins slot k."""
    total = 0.0
    for other in range(lik.extent[0]):
        if lik.size[other] > 0:
            total += log_link_probability(lik, k, other, own)
    return total


@kernel
def predictive_all(lik, own, n_blocks, out):
    """Write `predictive` of the slots 0 .. n_blocks-1 to out; the value for `own` is meaningless.

    A vertex has no links with most slots. For those the sums `total` have the log probability.
    """
    met, unobserved, none = lik.met, lik.unobserved, lik.none
    for k in range(n_blocks):
        out[k] = lik.total[k]
    for other in range(lik.extent[0]):
        n_met = n_unobserved = 0
        for r in range(len(met)):
            n_met += met[r, other]
            n_unobserved += unobserved[r, other]
        if other == own or n_unobserved > 0:
            for k in range(n_blocks):
                if k != own:
                    out[k] += log_link_probability(lik, k, other, own) - none[other, k]
        elif n_met > 0:
            for k in range(n_blocks):
                out[k] += log_link_odds(lik, k, other)


@kernel(inline=True)
def marginal_between(lik, one, two):
    """log marginal of the links between two different slots."""
    value = log_beta(lik, lik.links[one, two], lik.pairs[one, two])
    if len(lik.met) == 2:
        value += log_beta(lik, lik.links[two, one], lik.pairs[two, one])
    return value


@kernel
def marginal(lik, k):
    """log marginal of all links of slot k, within it and with others."""
    total = log_beta(lik, lik.links[k, k], lik.pairs[k, k])
    for other in range(lik.extent[0]):
        if other != k:
            total += marginal_between(lik, k, other)
    return total


@kernel
def marginal_union(lik, one, two):
    """log marginal of all links of two different slots after merging them."""
    links, pairs = lik.links, lik.pairs
    p, t = links[one, one] + links[two, two], pairs[one, one] + pairs[two, two]
    p, t = p + links[one, two], t + pairs[one, two]
    if len(lik.met) == 2:
        p, t = p + links[two, one], t + pairs[two, one]
    total = log_beta(lik, p, t)
    for other in range(lik.extent[0]):
        if other != one and other != two:
            p, t = links[one, other] + links[two, other], pairs[one, other] + pairs[two, other]
            total += log_beta(lik, p, t)
            if len(lik.met) == 2:
                p, t = links[other, one] + links[other, two], pairs[other, one] + pairs[other, two]
                total += log_beta(lik, p, t)
    return total
