"""Random numbers that are a function of a key and an item, by Philox4x32-10.

So no result depends on who computes them, or in which order. An item has a uniform, and a *rank*
in a random order of all items. A rank is a random number of 32 bits followed by the number of the
item, so no two are equal. A *draw* has the 43 bits that are left.

Salmon, J. K., Moraes, M. A., Dror, R. O. and Shaw, D. E. (2011). Parallel random numbers: as easy
as 1, 2, 3. SC '11.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core.jit import kernel

U = np.uint64
LOW = U(0xFFFFFFFF)
HALF = U(32)
MULTIPLIER_0, MULTIPLIER_1 = U(0xD2511F53), U(0xCD9E8D57)
STEP_0, STEP_1 = U(0x9E3779B9), U(0xBB67AE85)
UNIT = 2.0**-53  # one of the 53 random bits of a uniform
REST = U(0x7FF)  # its other bits


def draw_key(rng: np.random.Generator) -> NDArray[np.uint64]:
    """A key: two words of 32 bits."""
    return rng.integers(1 << 32, size=2, dtype=np.uint64)


@kernel(inline=True)
def philox(key, i):
    """Four words of 32 bits for the counter i: the two first ones joined, and so the two last."""
    k0, k1 = key[0], key[1]
    c0, c1, c2, c3 = i & LOW, i >> HALF, U(0), U(0)
    for _ in range(10):
        p0, p1 = MULTIPLIER_0 * c0, MULTIPLIER_1 * c2
        c0, c2 = (p1 >> HALF) ^ c1 ^ k0, (p0 >> HALF) ^ c3 ^ k1
        c1, c3 = p1 & LOW, p0 & LOW
        k0, k1 = (k0 + STEP_0) & LOW, (k1 + STEP_1) & LOW
    return (c0 << HALF) | c1, (c2 << HALF) | c3


@kernel
def fill_random(key, items, uniforms, ranks):
    """The uniform and the rank of every item."""
    for r in range(len(items)):
        i = U(items[r])
        one, two = philox(key, i)
        uniforms[r] = float(one >> U(11)) * UNIT
        ranks[r] = ((two >> HALF) << HALF) | i


@kernel
def fill_ranks(key, items, ranks):
    """The rank of every item."""
    for r in range(len(items)):
        i = U(items[r])
        two = philox(key, i)[1]
        ranks[r] = ((two >> HALF) << HALF) | i


@kernel
def fill_orders(key, items, ranks, draws):
    """The rank of every item, and its draw: bits that neither the rank nor the uniform has."""
    for r in range(len(items)):
        i = U(items[r])
        one, two = philox(key, i)
        ranks[r] = ((two >> HALF) << HALF) | i
        draws[r] = ((two & LOW) << HALF) | ((one & REST) << U(21))
