"""Tables of logarithms by count, shared by the likelihoods of discrete data and of networks.

The statistics are counts, so kernels need logarithms of `base + j` for integers j. They are looked
up, and computed beyond the end of the table.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bnpcluster._core.jit import kernel

ENTRIES = 1 << 20  # of one table: 8 MB
ACCURATE = 1 << 16  # log Gamma beyond this is so large that a difference loses digits


class Table(NamedTuple):
    """Functions of base[d] + j: entry first[d] + j. The entry for j = -1 is 0 and has no effect.

    Columns of equal base share their entries. A loop checks j < length once, for its largest j,
    and passes the result to the functions below as `inside`.
    """

    base: np.ndarray  # by column
    first: np.ndarray  # by column
    times: np.ndarray  # by distinct base: how many columns have it
    log: np.ndarray
    log_gamma: np.ndarray
    length: int

    @property
    def slot_axis(self) -> dict[str, tuple]:
        """The arrays that a chain owns if it changes the base of columns."""
        return dict.fromkeys(("base", "first", "log", "log_gamma"), ())


def tabulate(base: NDArray, length: int) -> Table:
    """The table of base[d] + j for j < length, or shorter to limit memory."""
    values, row, times = np.unique(base, return_inverse=True, return_counts=True)
    length = min(length, ACCURATE, max(ENTRIES // len(values), 1))
    arguments = values[:, None] + np.arange(length)
    log, log_gamma = np.zeros((2, len(values), length + 1))
    log[:, 1:], log_gamma[:, 1:] = np.log(arguments), gammaln(arguments)
    first = row * (length + 1) + 1
    return Table(base, first, times.astype(float), log.ravel(), log_gamma.ravel(), length)


def tabulate_grid(base: NDArray, grid: NDArray, length: int) -> Table:
    """A table with entries for every value of a grid; `point_to` chooses one for each column."""
    entries = tabulate(grid, length)
    table = entries._replace(base=base.copy(), first=np.zeros(len(base), np.intp))
    point_to(table, grid, base)
    return table


def point_to(table: Table, grid: NDArray, base: NDArray) -> None:
    """Change the base of the columns to other values of the grid."""
    table.base[:] = base
    table.first[:] = np.searchsorted(grid, base) * (table.length + 1) + 1


def tabulate_each(base: NDArray, length: int) -> Table:
    """A table whose columns have their own entries, so that `retabulate` can change them.

    The first row has the sums over the columns, for `sum_log_at`.
    """
    d = len(base)
    length = min(length, ACCURATE, max(ENTRIES // d, 1))
    first = (np.arange(d) + 1) * (length + 1) + 1
    log, log_gamma = np.zeros((2, (d + 1) * (length + 1)))
    table = Table(np.full(d, np.nan), first, np.ones(1), log, log_gamma, length)
    retabulate(table, base)
    return table


def retabulate(table: Table, base: NDArray) -> None:
    """Change the base of some columns."""
    width, rows = table.length + 1, np.flatnonzero(base != table.base)
    log, log_gamma = table.log.reshape(-1, width), table.log_gamma.reshape(-1, width)
    logs = np.log(base[rows, None] + np.arange(table.length))
    log[rows + 1, 1:] = logs
    log_gamma[rows + 1, 1:2] = gammaln(base[rows, None])
    # log Gamma(x + 1) = log Gamma(x) + log(x)
    log_gamma[rows + 1, 2:] = log_gamma[rows + 1, 1:2] + logs[:, :-1].cumsum(axis=1)
    log[0] = log[1:].sum(axis=0)
    table.base[:] = base


@kernel(inline=True)
def log_at(table, d, j, inside):
    """log(base[d] + j)."""
    if inside:
        return table.log[table.first[d] + j]
    return math.log(table.base[d] + j) if j >= 0 else 0.0


@kernel(inline=True)
def log_gamma_at(table, d, j, inside):
    """lgamma(base[d] + j)."""
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
