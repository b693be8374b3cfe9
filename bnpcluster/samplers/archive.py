"""Earlier states of the chains of a fit, from which adaptive reconfiguration moves learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bnpcluster._core.jit import kernel
from bnpcluster._core.state import State

ROWS = 7  # of scratch space that `disagree` needs
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
        total = sum(map(len, self.histories))
        n_first = len(self.histories[self.own]) if self.own >= 0 else total
        if n_first == 0 or total < 2:
            return None
        before = sum(map(len, self.histories[: self.own])) if self.own >= 0 else 0
        first = self._state(before + int(rng.integers(n_first)))
        return first, self._state(int(rng.integers(total)))

    def _state(self, number: int) -> np.ndarray:
        """A state by its number, all histories one after the other."""
        for history in self.histories:
            if number < len(history):
                return history[number]
            number -= len(history)
        raise IndexError(number)


class Disagreement(NamedTuple):
    """Two items that two partitions do not agree on, and the common refinement of the two."""

    i: int
    j: int
    refinement: np.ndarray


def disagreement(one: np.ndarray, two: np.ndarray, rng: np.random.Generator) -> Disagreement | None:
    """A pair of items that one partition joins and the other does not, all such pairs alike."""
    # As wide integers, for labels are kept in the smallest type that holds them.
    one, two = one.astype(np.intp), two.astype(np.intp)
    room = np.zeros((ROWS, max(int(one.max()), int(two.max()), len(one)) + 2), np.intp)
    refinement = np.zeros(len(one), np.intp)
    i, j = disagree(one, two, rng.random(2), room, refinement)
    return None if i < 0 else Disagreement(int(i), int(j), refinement)


@kernel
def disagree(one, two, uniforms, room, refinement):
    """Two items that the partitions do not agree on, -1 if there are none; the refinement."""
    start, in_one, in_two, common, grouped, part, seen = room
    n, n_parts, total = len(one), 0, 0
    for h in range(n):
        start[one[h] + 1] += 1
        in_one[one[h]] += 1
        in_two[two[h]] += 1
    for a in range(1, len(start)):
        start[a] += start[a - 1]
    for h in range(n):
        grouped[start[one[h]]] = h
        start[one[h]] += 1
    # Block by block of the one: a part is what of it is in the same block of the other.
    for t in range(n):
        h = grouped[t]
        a, b = one[h], two[h]
        if seen[b] != a + 1:
            seen[b] = a + 1
            part[b] = n_parts
            n_parts += 1
        refinement[h] = part[b]
        common[part[b]] += 1
    # On how many pairs with each item they disagree.
    for h in range(n):
        total += in_one[one[h]] + in_two[two[h]] - 2 * common[refinement[h]]
    if total == 0:
        return -1, -1
    rank = int(uniforms[0] * total)
    for i in range(n):
        weight = in_one[one[i]] + in_two[two[i]] - 2 * common[refinement[i]]
        rank -= weight
        if rank < 0:
            rank = int(uniforms[1] * weight)
            for j in range(n):
                rank -= int((one[j] == one[i]) != (two[j] == two[i]))
                if rank < 0:
                    return i, j
    return -1, -1


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
