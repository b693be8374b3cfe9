"""Resampling: draw particles in proportion to their weights."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core.arguments import as_float, code
from bnpcluster._core.jit import kernel
from bnpcluster._core.messages import shown

MULTINOMIAL, STRATIFIED, SYSTEMATIC = range(3)
SCHEMES = {"multinomial": MULTINOMIAL, "stratified": STRATIFIED, "systematic": SYSTEMATIC}


def scheme_of(value: Any) -> int:
    """The code of a resampling scheme."""
    return int(code("resampling", value, SCHEMES))


def threshold_of(value: Any) -> float:
    """A threshold of the relative effective sample size: 0 is never, 1 is always."""
    if not 0.0 <= as_float(value) <= 1.0:
        raise ValueError(f"resample_threshold must be between 0 and 1, got {shown(value)}.")
    return as_float(value)


@kernel
def scale_weights(population):
    """weight[p] = exp(log_weight[p] - top); return log of their mean, and ESS / N."""
    log_weight, weight, top = population.log_weight, population.weight, -math.inf
    n, total, squares = len(log_weight), 0.0, 0.0
    for p in range(n):
        top = max(top, log_weight[p])
    for p in range(n):
        weight[p] = math.exp(log_weight[p] - top)
        total += weight[p]
        squares += weight[p] * weight[p]
    return top + math.log(total / n), total * total / (squares * n)


@kernel
def draw_parents(weight, scheme, parent, count, rng):
    """Draw the parents of all particles in proportion to weight; survivors are their own parents.

    N points on the cumulated weights determine how often each particle is drawn. They are
    independent (multinomial), or one in each of N equal strips, each at its own position
    (stratified) or all at a common one (systematic).
    """
    n, total, height = len(weight), 0.0, rng.random()
    for p in range(n):
        total += weight[p]
        count[p] = 0
    p, reached, rest = 0, weight[0], 1.0
    for i in range(n):
        if scheme == MULTINOMIAL:
            # The smallest of n - i uniforms on the remaining part; the others are uniform above.
            rest *= math.exp(-rng.standard_exponential() / (n - i))
            point = (1.0 - rest) * total
        else:
            point = (i + height) / n * total
        while p < n - 1 and reached <= point:
            p += 1
            reached += weight[p]
        count[p] += 1
        if scheme == STRATIFIED:
            height = rng.random()
    parents_from_counts(parent, count)


@kernel
def parents_from_counts(parent, count):
    """Set parent[p] of all particles from the counts of how often each was drawn."""
    for p in range(len(parent)):
        parent[p] = -1
        if count[p] > 0:
            parent[p] = p
            count[p] -= 1
    a = 0
    for p in range(len(parent)):
        if parent[p] < 0:
            while count[a] == 0:
                a += 1
            parent[p] = a
            count[a] -= 1


def sorted_parents(
    weights: NDArray, size: int, scheme: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Draw `size` particles in proportion to weight, in increasing order."""
    if scheme == MULTINOMIAL:
        points = np.sort(rng.random(size))
    else:
        heights = rng.random(size if scheme == STRATIFIED else 1)
        points = (np.arange(size) + heights) / size
    edges = np.cumsum(weights)
    found = np.searchsorted(edges, points * edges[-1], side="right")
    return np.minimum(found, len(weights) - 1)
