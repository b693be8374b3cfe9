"""Orders in which the items of the anchors' blocks are placed one by one.

An order is a function of the union, the anchors and fresh randomness, never of the labels.
"""

from __future__ import annotations

import math

from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import log_predictive
from bnpcluster._core.sorting import heap_sort

RANDOM, DECISIVE, ALTERNATE = range(3)
ORDERS = {"random": RANDOM, "decisive": DECISIVE, "alternate": ALTERNATE}


@kernel
def arrange(lik, work, order, first, n, one, rng):
    """Put work.items[first:n] in random order, or the most decisive items first.

    The predictive density of a decisive item differs most between the anchors. Each anchor is the
    only item in one of the slots one .. one + first - 1.
    """
    items, keys = work.items, work.keys
    if order == RANDOM or (order == ALTERNATE and rng.random() < 0.5):
        for t in range(n - 1, first, -1):
            other = first + int(rng.random() * (t - first + 1))
            items[t], items[other] = items[other], items[t]
        return
    for t in range(first, n):
        low, high = math.inf, -math.inf
        for k in range(one, one + first):
            value = log_predictive(lik, k, items[t])
            low, high = min(low, value), max(high, value)
        keys[t] = low - high
    heap_sort(keys[first:n], items[first:n])
