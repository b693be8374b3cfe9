"""Archive of earlier states of the chains of a fit, for adaptive reconfiguration moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bnpcluster._core.jit import kernel
from bnpcluster._core.state import State

ROWS = 7  # rows of scratch space for `disagree`
TRIES = 20  # pairs of states to try before giving up a move because each pair was equal


class Archive(NamedTuple):
    """States of all chains, and the number of the chain that moves.

    Attributes
    ----------
    histories : sequence of sequences of ndarray
        Labels of earlier states, chain by chain.
    own : int
        The chain that moves: the first state of a pair is from its history. -1: from any history.
    """

    histories: Sequence[Sequence[np.ndarray]]
    own: int

    def draw_pair(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray] | None:
        """Draw two states; None if there are fewer than two."""
        total = sum(map(len, self.histories))
        n_first = len(self.histories[self.own]) if self.own >= 0 else total
        if n_first == 0 or total < 2:
            return None
        before = sum(map(len, self.histories[: self.own])) if self.own >= 0 else 0
        first = self._state(before + int(rng.integers(n_first)))
        return first, self._state(int(rng.integers(total)))

    def _state(self, number: int) -> np.ndarray:
        """A state by its number in the concatenated histories."""
        for history in self.histories:
            if number < len(history):
                return history[number]
            number -= len(history)
        raise IndexError(number)


class Disagreement(NamedTuple):
    """Two items on which two partitions disagree, and the common refinement of the partitions."""

    i: int
    j: int
    refinement: np.ndarray


def disagreement(one: np.ndarray, two: np.ndarray, rng: np.random.Generator) -> Disagreement | None:
    """Draw a uniform pair of items that only one partition joins; None if there is none."""
    # Labels are stored in the smallest integer type, which is too narrow for arithmetic.
    one, two = one.astype(np.intp), two.astype(np.intp)
    room = np.zeros((ROWS, max(int(one.max()), int(two.max()), len(one)) + 2), np.intp)
    refinement = np.zeros(len(one), np.intp)
    i, j = disagree(one, two, rng.random(2), room, refinement)
    return None if i < 0 else Disagreement(int(i), int(j), refinement)


@kernel
def disagree(one, two, uniforms, room, refinement):
    """Two items on which the partitions disagree, or -1 if none exist; writes the refinement."""
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
    # For each block of `one`: a part is its intersection with a block of `two`.
    for t in range(n):
        h = grouped[t]
        a, b = one[h], two[h]
        if seen[b] != a + 1:
            seen[b] = a + 1
            part[b] = n_parts
            n_parts += 1
        refinement[h] = part[b]
        common[part[b]] += 1
    # Count the pairs with each item on which they disagree.
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


def draw_disagreement(state: State, rng: np.random.Generator) -> Disagreement | None:
    """Draw a disagreement about the present items from a state's archive; None if there is none.

    It does not depend on the state itself.
    """
    items = state.problem.items
    for _ in range(TRIES if state.archive else 0):
        pair = state.archive.draw_pair(rng)
        found = disagreement(pair[0][items], pair[1][items], rng) if pair else None
        if found is not None:
            refinement = np.zeros(len(state.labels), np.intp)
            refinement[items] = found.refinement
            return Disagreement(items[found.i], items[found.j], refinement)
    return None
