"""Fill empty slots with all items of a partition at once."""

from __future__ import annotations

from bnpcluster._core.jit import generic
from bnpcluster._core.operations import add


@generic(needs=(add,))
def add_all(lik, labels):
    """Add every item i to slot labels[i]; the slots are empty.

    A likelihood may be faster than item by item. Then it must keep as many digits.
    """
    for i in range(len(labels)):
        add(lik, labels[i], i)
