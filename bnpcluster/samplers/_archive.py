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

    def draw(
        self, items: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Labels of the items in two states that differ; None if there are none to be found."""
        everything = [labels for history in self.histories for labels in history]
        first = self.histories[self.own] if self.own >= 0 else everything
        if not first or len(everything) < 2:
            return None
        for _ in range(TRIES):
            one = first[int(rng.integers(len(first)))][items]
            two = everything[int(rng.integers(len(everything)))][items]
            if differ(one, two):
                return one, two
        return None


class Disagreement(NamedTuple):
    """Two items that two partitions do not agree on, and the common refinement of the two."""

    i: int
    j: int
    refinement: np.ndarray


def differ(one: np.ndarray, two: np.ndarray) -> bool:
    """Whether two labellings are different partitions."""
    return bool(disagreements(one, two)[0].any())


def disagreements(one: np.ndarray, two: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """On how many pairs with each item the partitions disagree, and their refinement."""
    # As wide integers, for labels are kept in the smallest type that holds them.
    pairs = one.astype(np.intp) * (int(two.max()) + 1) + two
    refinement, common = np.unique(pairs, return_inverse=True, return_counts=True)[1:]
    together = np.bincount(one)[one] + np.bincount(two)[two]
    return together - 2 * common[refinement], refinement


def disagreement(one: np.ndarray, two: np.ndarray, rng: np.random.Generator) -> Disagreement:
    """A pair of items that one partition joins and the other does not, all such pairs alike."""
    weights, refinement = disagreements(one, two)
    total = np.cumsum(weights)
    i = int(np.searchsorted(total, rng.random() * total[-1], side="right"))
    others = np.flatnonzero((one == one[i]) != (two == two[i]))
    return Disagreement(i, int(others[rng.integers(len(others))]), refinement)


def lesson(state: State, rng: np.random.Generator) -> Disagreement | None:
    """What the archive of a state tells a move, about the items that are present; None: nothing.

    It does not depend on the state itself.
    """
    items = state.problem.items
    pair = state.archive.draw(items, rng) if state.archive else None
    if pair is None:
        return None
    i, j, among_items = disagreement(pair[0], pair[1], rng)
    refinement = np.zeros(len(state.labels), np.intp)
    refinement[items] = among_items
    return Disagreement(items[i], items[j], refinement)
