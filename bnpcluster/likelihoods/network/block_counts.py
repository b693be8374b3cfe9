"""Links between blocks of vertices: counts, and the beta-Bernoulli law of every pair of blocks.

For slots k and l there are p = links[k, l] links among t = pairs[k, l] observed pairs of vertices,
with the marginal likelihood B(a + p, b + t - p) / B(a, b). All of it is integer counts, so nothing
drifts, except for the sums `total`. Every entry that belongs to an empty slot is zero.

An undirected network has one direction, and symmetric counts. A directed one has two: for a vertex
in slot k, direction 0 is from k to l, and 1 from l to k. Within a slot both are the same pair of
blocks.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betaln

from bnpcluster._core.jit import kernel
from bnpcluster.likelihoods.log_tables import Table, tabulate

LINK, VOID, BOTH = range(3)
"""The columns of the table: what the prior counts as links, as their absence, and in all."""

ASYMPTOTIC = 64.0  # from here on Stirling's series gives ratios of Gamma functions to all digits


def tables(a: float, b: float, n_pairs: int) -> tuple[Table, float]:
    """log Gamma at a, b and a + b plus a count, and log B(a, b)."""
    return tabulate(np.array([a, b, a + b]), n_pairs + 2), float(betaln(a, b))


@kernel
def log_gamma_ratio(x, m):
    """log Gamma(x + m) - log Gamma(x), without the loss of digits where x is large."""
    if m == 1.0:
        return math.log(x)
    if x < ASYMPTOTIC:
        return math.lgamma(x + m) - math.lgamma(x)
    y = x + m
    series = (1.0 / y - 1.0 / x) / 12.0 - (1.0 / (y * y * y) - 1.0 / (x * x * x)) / 360.0
    return (y - 0.5) * math.log1p(m / x) + m * (math.log(x) - 1.0) + series


@kernel(inline=True)
def rising(table, d, j, m):
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
    law = rising(table, LINK, p, e) + rising(table, VOID, t - p, s - e)
    return law - rising(table, BOTH, t, s)


@kernel(inline=True)
def log_odds(table, p, t, e, s):
    """The same, against the probability of no link: what depends on s alone need not be found."""
    return rising(table, LINK, p, e) - rising(table, VOID, t - p + s - e, e)


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
def meet(lik, i):
    """Count the links and the unobserved pairs of vertex i with all slots, in every direction."""
    met, unseen, slot_of = lik.met, lik.unseen, lik.slot_of
    for r in range(len(met)):
        for k in range(met.shape[1]):
            met[r, k] = 0
            unseen[r, k] = 0
        row = r * len(slot_of) + i
        for p in range(lik.start[row], lik.start[row + 1]):
            k = slot_of[lik.ends[p]]
            if k >= 0:
                met[r, k] += 1
        for p in range(lik.gap_start[row], lik.gap_start[row + 1]):
            k = slot_of[lik.gap_ends[p]]
            if k >= 0:
                unseen[r, k] += 1


@kernel(inline=True)
def absent(lik, k, other):
    """log probability that a vertex which joins slot k has no link with the other slot."""
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
    """Recompute what depends on the counts of slot k."""
    size, none, total = lik.size, lik.none, lik.total
    total_k = 0.0
    for other in range(lik.extent[0]):
        if size[other] > 0:
            none[other, k] = absent(lik, k, other)
            total_k += none[other, k]
            if other != k:
                value = absent(lik, other, k)
                total[other] += value - none[k, other]
                none[k, other] = value
    total[k] = total_k


@kernel
def wipe(lik, k):
    """Set everything to zero that belongs to slot k."""
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
def trim(lik):
    """Lower the extent to the last slot in use."""
    extent = lik.extent
    while extent[0] > 0 and lik.size[extent[0] - 1] == 0:
        extent[0] -= 1


@kernel
def shift(lik, k, sign):
    """The vertex whose links are counted in `met` enters (1) or leaves (-1) slot k."""
    links, pairs, size, met, unseen = lik.links, lik.pairs, lik.size, lik.met, lik.unseen
    size[k] += min(sign, 0)
    for r in range(len(met)):
        for other in range(lik.extent[0]):
            row, column = (k, other) if r == 0 else (other, k)
            links[row, column] += sign * met[r, other]
            pairs[row, column] += sign * (size[other] - unseen[r, other])
    if len(met) == 1:
        for other in range(lik.extent[0]):
            links[other, k] = links[k, other]
            pairs[other, k] = pairs[k, other]
    size[k] += max(sign, 0)
    if size[k] == 0:
        wipe(lik, k)
        trim(lik)
    else:
        refresh(lik, k)


@kernel
def transfer(lik, to, source):
    """Let the counts of slot `source` belong to the empty slot `to`."""
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
    wipe(lik, source)
    trim(lik)


@kernel(inline=True)
def linked(lik, k, other):
    """log odds, against none, of the links between the vertex in `met` and another slot.

    The vertex is not in that slot, nor in slot k, which it joins; all pairs are observed.
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
def joined(lik, k, other, own):
    """log law of the links between the vertex in `met`, once it has joined slot k, and a slot.

    Where the vertex is in slot `own` now, it is taken out of the counts.
    """
    links, pairs, size, met, unseen = lik.links, lik.pairs, lik.size, lik.met, lik.unseen
    n_directions, n_others = len(met), size[other] - int(other == own)
    total = 0.0
    if k == other:
        e = s = 0
        for r in range(n_directions):
            e += met[r, k]
            s += n_others - unseen[r, k]
        p, t = links[k, k], pairs[k, k]
        if k == own:
            p, t = p - e, t - s
        return log_factor(lik.table, p, t, e, s)
    for r in range(n_directions):
        e, s = met[r, other], n_others - unseen[r, other]
        row, column = (k, other) if r == 0 else (other, k)
        p, t = links[row, column], pairs[row, column]
        if k == own:
            p, t = p - e, t - s
        elif other == own:
            back = n_directions - 1 - r
            p, t = p - met[back, k], t - (size[k] - unseen[back, k])
        total += log_factor(lik.table, p, t, e, s)
    return total


@kernel
def predictive(lik, k, own):
    """log law of all links of the vertex in `met`, once it has left `own` and joined slot k."""
    total = 0.0
    for other in range(lik.extent[0]):
        if lik.size[other] > 0:
            total += joined(lik, k, other, own)
    return total


@kernel
def compare(lik, own, n_blocks, out):
    """Write `predictive` of the slots 0 .. n_blocks-1 to out, but nothing of use for `own`.

    A vertex has no link with most slots; for those the sums `total` hold the law already.
    """
    met, unseen, none = lik.met, lik.unseen, lik.none
    for k in range(n_blocks):
        out[k] = lik.total[k]
    for other in range(lik.extent[0]):
        n_met = n_unseen = 0
        for r in range(len(met)):
            n_met += met[r, other]
            n_unseen += unseen[r, other]
        if other == own or n_unseen > 0:
            for k in range(n_blocks):
                if k != own:
                    out[k] += joined(lik, k, other, own) - none[other, k]
        elif n_met > 0:
            for k in range(n_blocks):
                out[k] += linked(lik, k, other)


@kernel(inline=True)
def between(lik, one, two):
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
            total += between(lik, k, other)
    return total


@kernel
def marginal_union(lik, one, two):
    """log marginal of all links of two different slots if they were one."""
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
