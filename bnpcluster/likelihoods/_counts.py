"""What the likelihoods of discrete data share: checked integers, sparse rows, tables by count.

A statistic of discrete data is a count, so every logarithm that a kernel needs is a function of
`base + j` for an integer j. It is looked up; beyond the table it is computed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bnpcluster._jit import kernel
from bnpcluster.likelihoods.base import number

ENTRIES = 1 << 20  # of one table: 8 MB
ACCURATE = 1 << 16  # log Gamma above this is too large for a difference to be accurate


class Table(NamedTuple):
    """Functions of base[d] + j: entry first[d] + j; the one for j = -1 exists, but means nothing.

    Columns of equal base share their entries. Whether j < length is asked once for the largest j
    of a loop, and handed to the functions below as `inside`.
    """

    base: np.ndarray  # by column
    first: np.ndarray  # by column
    times: np.ndarray  # by distinct base: how many columns have it
    log: np.ndarray
    log_gamma: np.ndarray
    length: int


def tabulate(base: NDArray, length: int) -> Table:
    """The table of base[d] + j for j < length, as far as memory is well spent."""
    values, row, times = np.unique(base, return_inverse=True, return_counts=True)
    length = min(length, ACCURATE, max(ENTRIES // len(values), 1))
    arguments = values[:, None] + np.arange(length)
    log, log_gamma = np.zeros((2, len(values), length + 1))
    log[:, 1:], log_gamma[:, 1:] = np.log(arguments), gammaln(arguments)
    first = row * (length + 1) + 1
    return Table(base, first, times.astype(float), log.ravel(), log_gamma.ravel(), length)


@kernel(inline=True)
def log_at(table, d, j, inside):
    """log(base[d] + j)."""
    if inside:
        return table.log[table.first[d] + j]
    if j < 0:
        return 0.0
    return math.log(table.base[d] + j)


@kernel(inline=True)
def log_gamma_at(table, d, j, inside):
    """log Gamma(base[d] + j)."""
    if inside:
        return table.log_gamma[table.first[d] + j]
    return math.lgamma(table.base[d] + j)


@kernel(inline=True)
def sum_log_at(table, j):
    """The sum over all columns of log(base[d] + j)."""
    total = 0.0
    if j < table.length:
        for r in range(len(table.times)):
            total += table.times[r] * table.log[r * (table.length + 1) + 1 + j]
        return total
    for d in range(len(table.base)):
        total += math.log(table.base[d] + j)
    return total
