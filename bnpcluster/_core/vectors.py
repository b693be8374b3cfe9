"""Loops over many rows at a time, which the compiler vectorises.

The values of a column stand side by side: the rows are the last axis.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bnpcluster._core.jit import kernel

ROWS = 64
"""So many rows are evaluated at a time."""

LINE = 8  # floats in a line of the cache

LN2_HIGH = float.fromhex("0x1.62e42feep-1")  # products with exponents are exact
LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
ONE = 1023 << 52  # the bits of 1.0, read as an integer
ROOT = 0x3FE6A09E667F3BCD  # the bits of the root of 1/2
FRACTION, EXPONENT = (1 << 52) - 1, 0x7FF << 52
SHIFT = 2.0**52  # the last bits of SHIFT + k are those of k


class QuadraticForms(NamedTuple):
    """Scratch space for |R (x - mean)|^2 of ROWS rows x."""

    columns: np.ndarray  # (D, ROWS)
    product: np.ndarray  # (ROWS,)
    total: np.ndarray  # (ROWS,)
    gaps: np.ndarray  # (D, ROWS)


def new_forms(n_columns: int) -> QuadraticForms:
    """Scratch space for rows of so many columns."""
    columns = (n_columns, ROWS)
    return QuadraticForms(*aligned(columns, (ROWS,), (ROWS,), columns))


def aligned(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    """Arrays of zeros that start at lines of the cache: reading across two lines takes longer."""
    sizes = [-(-math.prod(shape) // LINE) * LINE for shape in shapes]
    memory = np.zeros(sum(sizes) + LINE)
    starts = np.cumsum([-(memory.ctypes.data // memory.itemsize) % LINE, *sizes])
    parts = zip(starts, shapes, strict=False)
    return [memory[start : start + math.prod(shape)].reshape(shape) for start, shape in parts]


@kernel(inline=True)
def fill_gap(forms, a, mean):
    """The differences of a column from the mean."""
    column, gap, centre = forms.columns[a], forms.gaps[a], mean[a]
    for r in range(ROWS):
        gap[r] = column[r] - centre


@kernel
def add_steps(mean, root, start, stop, forms):
    """The share of rows start .. stop-1 of R in |R (x - mean)|^2; earlier gaps are known."""
    gaps, total, z = forms.gaps, forms.total, forms.product
    for r in range(ROWS):
        total[r] = 0.0
    for a in range(start, stop):
        fill_gap(forms, a, mean)
    for a in range(start, stop):
        row, whole = root[a], (a + 1) // 4 * 4
        for r in range(ROWS):
            z[r] = 0.0
        for b in range(0, whole, 4):
            add_four_products(row, b, gaps, z)
        for b in range(whole, a + 1):
            add_product(row[b], gaps[b], z)
        for r in range(ROWS):
            total[r] += z[r] * z[r]


@kernel(inline=True, reassociate=True)
def add_product(weight, gap, z):
    """Add the product of an entry of a row and a gap."""
    for r in range(ROWS):
        z[r] += weight * gap[r]


@kernel(inline=True, reassociate=True)
def add_four_products(row, b, gaps, z):
    """Add four products of entries of a row and gaps."""
    w0, w1, w2, w3 = row[b], row[b + 1], row[b + 2], row[b + 3]
    g0, g1, g2, g3 = gaps[b], gaps[b + 1], gaps[b + 2], gaps[b + 3]
    for r in range(ROWS):
        z[r] += (w0 * g0[r] + w1 * g1[r]) + (w2 * g2[r] + w3 * g3[r])


@kernel
def set_logs(values, work, out):
    """Set out to the logarithms of positive numbers; `work` is as long as they are.

    The error is at most two units in the last place. `math.log` is a call, so it takes longer.
    With 2^e m = value and m between the root of 1/2 and that of 2, log m = 2 artanh(s) with s =
    (m - 1) / (m + 1). Infinity is its own logarithm.
    """
    bits, m, e = values.view(np.int64), work.view(np.int64), out.view(np.int64)
    for r in range(len(values)):
        moved = bits[r] + (ONE - ROOT)
        m[r] = (moved & FRACTION) + ROOT
        e[r] = ((moved & EXPONENT) >> 52) | (1075 << 52)  # SHIFT + the exponent + 1023
    for r in range(len(values)):
        exponent = out[r] - (SHIFT + 1023.0)
        s = (work[r] - 1.0) / (work[r] + 1.0)
        z = s * s
        p = 1.0 / 17.0 + z * (1.0 / 19.0 + z * (1.0 / 21.0))
        p = 1.0 / 11.0 + z * (1.0 / 13.0 + z * (1.0 / 15.0 + z * p))
        p = 1.0 / 3.0 + z * (1.0 / 5.0 + z * (1.0 / 7.0 + z * (1.0 / 9.0 + z * p)))
        log = exponent * LN2_HIGH + (2.0 * s + (2.0 * s * z * p + exponent * LN2_LOW))
        out[r] = log if values[r] < math.inf else values[r]
