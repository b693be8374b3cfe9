"""Weights of many new rows in the slots of one draw: cheap bounds first, many rows at a time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bnpcluster._core.jit import generic
from bnpcluster._core.operations import LANES, log_weights
from bnpcluster._core.vectors import ROWS, QuadraticForms, aligned, new_forms


class Screen(NamedTuple):
    """Upper bounds of the log weights of some rows, and what is needed to compute them.

    Attributes
    ----------
    bounds : ndarray, shape (capacity, ROWS): by slot and row
    top : ndarray, shape (ROWS,): the highest bound of each row
    forms : QuadraticForms: scratch, of LANES columns
    terms : ndarray, shape (capacity,)
        Weights of one row relative to its largest one, by candidate.
    """

    bounds: np.ndarray
    top: np.ndarray
    forms: QuadraticForms
    terms: np.ndarray


def new_screen(capacity: int) -> Screen:
    """Bounds for partitions of at most `capacity` blocks."""
    bounds, top, terms = aligned((capacity, ROWS), (ROWS,), (capacity,))
    return Screen(bounds, top, new_forms(LANES), terms)


@generic(needs=(log_weights,))
def screen_rows(lik, start, stop, partition, screen):
    """Write upper bounds of the log weights of row start + r in slot k to screen.bounds[k, r].

    The slots are those of the blocks and an empty one. A likelihood may compute these bounds of
    many rows at a time, before `log_weights_of_row` of each. Without bounds it writes nothing.
    """


@generic(needs=(log_weights,))
def log_weights_of_row(lik, i, slack, partition, screen, r):
    """`log_weights` of row i, which has no slot and is row r of a screen from `screen_rows`.

    Slots that provably lie more than `slack` below the heaviest one may be left out, too.
    """
    return log_weights(lik, i, -1, 1.0, slack, partition)


def needs_renewal(rows: Any) -> bool:
    """Whether rows to predict need `renew_rows`; those that are screened use the slots alone."""
    return type(rows) not in screen_rows.implementations
