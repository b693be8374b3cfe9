"""Earlier states of the chains of a fit, from which adaptive reconfiguration moves learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bnpcluster._state import State

TRIES = 20  # pairs of states looked at, before a move is given up because all were alike


class Archive(NamedTuple):
    """States of all chains, and which chain moves.

    Attributes
    ----------
    histories : sequence of sequences of ndarray
        Labels of earlier states, chain by chain.
    own : int
        The chain whose state moves: one state of a pair is from its own history. -1: any chains.
    """

    histories: Sequence[Sequence[np.ndarray]]
    own: int

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray] | None:
        """Two states; None if there are less than two."""
        everything = [labels for history in self.histories for labels in history]
        first = self.histories[self.own] if self.own >= 0 else everything
        if not first or len(everything) < 2:
            return None
        return first[int(rng.integers(len(first)))], everything[int(rng.integers(len(everything)))]


class Disagreement(NamedTuple):
    """Two items that two partitions do not agree on, and the common refinement of the two."""

    i: int
    j: int
    refinement: np.ndarray


def disagreement(one: np.ndarray, two: np.ndarray, rng: np.random.Generator) -> Disagreement | None:
    """A pair of items that one partition joins and the other does not, all such pairs alike."""
    # As wide integers, for labels are kept in the smallest type that holds them.
    pairs = one.astype(np.intp) * (int(two.max()) + 1) + two
    refinement, common = np.unique(pairs, return_inverse=True, return_counts=True)[1:]
    # On how many pairs with each item they disagree.
    weights = np.bincount(one)[one] + np.bincount(two)[two] - 2 * common[refinement]
    total = np.cumsum(weights)
    if total[-1] == 0:
        return None
    i = int(np.searchsorted(total, rng.random() * total[-1], side="right"))
    others = np.flatnonzero((one == one[i]) != (two == two[i]))
    return Disagreement(i, int(others[rng.integers(len(others))]), refinement)


def lesson(state: State, rng: np.random.Generator) -> Disagreement | None:
    """What the archive of a state tells a move, about the items that are present; None: nothing.

    It does not depend on the state itself.
    """
    items = state.problem.items
    for _ in range(TRIES if state.archive else 0):
        pair = state.archive.draw(rng)
        told = disagreement(pair[0][items], pair[1][items], rng) if pair else None
        if told is not None:
            refinement = np.zeros(len(state.labels), np.intp)
            refinement[items] = told.refinement
            return Disagreement(items[told.i], items[told.j], refinement)
    return None
