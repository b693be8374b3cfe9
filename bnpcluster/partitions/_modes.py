"""The few partitions about which the draws of a multimodal posterior gather."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnpcluster import _draws
from bnpcluster.partitions._estimates import point_estimate

# Draws whose distances from one another are computed; fewer, but not below the least number, where
# items are many, and from some of the items only where they are very many.
MOST_COMPARED = 400
FEWEST_COMPARED = 60
COMPARED_LABELS = 10**8
MOST_ITEMS = 10**5


@dataclass(frozen=True)
class Mode:
    """One of the partitions about which the draws gather.

    Attributes
    ----------
    labels : ndarray of shape (n_items,)
        The point estimate from the draws of this mode.
    mass : float
        The share of the weight of all draws that belong to it.
    spread : float
        Mean distance of these draws from `labels`.
    draws : ndarray of int
        Their numbers; chains come one after the other.
    """

    labels: NDArray[np.int64]
    mass: float
    spread: float
    draws: NDArray[np.intp]

    def __str__(self) -> str:
        return (
            f"{self.mass:.1%} of the draws, at a mean distance of {self.spread:.4g} from a "
            f"partition into {self.labels.max() + 1} clusters"
        )


def modes(
    draws: ArrayLike,
    loss: str = "vi",
    *,
    weights: ArrayLike | None = None,
    separation: float = 2.0,
    min_mass: float = 0.05,
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
) -> list[Mode]:
    """The distinct modes of the draws: a representative partition and the mass of each.

    Parameters
    ----------
    draws : array-like of shape (n_draws, n_items) or (n_chains, n_draws, n_items)
        Integer labels.
    loss : {"vi", "binder"}, default="vi"
        The distance between partitions, and the loss of the representatives.
    weights : array-like, optional
        Weight of each draw; equal by default. They need not sum to one.
    separation : float, default=2.0
        How many times farther a draw of one mode must be, on average, from those of another than
        from those of its own. Above 1; smaller values separate modes that overlap more.
    min_mass : float, default=0.05
        Groups with less mass are no modes of their own. Above 0 and at most 1.
    random_state : int, Generator, RandomState or None, default=None
        For the search for representatives; see `point_estimate`. The groups involve no chance.

    Returns
    -------
    list of Mode
        The heaviest first. A unimodal posterior has one.

    Notes
    -----
    At most 400 draws (fewer where items are many), evenly spaced in order of sampling and in
    proportion to weight, are grouped by their distances (on 1e5 evenly spaced items at most). The
    two groups with the least mean distance are joined, again and again, but for groups that are
    distinct. These both hold `min_mass`, and the mean distance between them is more than
    `separation` times that between two draws within either, and more than that between any two
    draws. Then every draw goes to the group whose point estimate is nearest.

    The second bound looks at the posterior as a whole, so that a few items that waver between
    clusters, each for itself, do not make a mode of every combination. What is a single mode beside
    far ones may have modes of its own: call `modes` with its draws alone.

    The masses are as good as the sampler: chains that never leave their mode weigh modes by how
    many chains there are.

    Examples
    --------
    >>> from bnpcluster.partitions import modes
    >>> draws = [[0, 0, 0, 0, 1]] * 6 + [[0, 0, 1, 1, 1]] * 3 + [[0, 0, 1, 1, 2]]
    >>> for mode in modes(draws):
    ...     print(mode.labels, round(mode.mass, 2))
    [0 0 0 0 1] 0.6
    [1 1 0 0 0] 0.4
    """
    if not separation > 1:
        raise ValueError(f"separation must be above 1, got {separation}.")
    if not 0 < min_mass <= 1:
        raise ValueError(f"min_mass must be above 0 and at most 1, got {min_mass}.")
    matrix = _draws.as_draws(draws)
    mass = _draws.as_weights(weights, len(matrix))
    n = matrix.shape[1]
    _draws.block_gain(loss, 1)
    sample = _sample(mass, min(MOST_COMPARED, max(FEWEST_COMPARED, isqrt(COMPARED_LABELS // n))))
    some = matrix[sample, :: -(-n // MOST_ITEMS)]
    groups = _groups(_draws.all_distances(some, loss), separation, min_mass)
    if len(groups) == 1:
        return [_mode(matrix, mass, np.flatnonzero(mass), loss, random_state)]
    centres = [
        point_estimate(matrix[sample[members]], loss, random_state=random_state)
        for members in groups
    ]
    nearest = np.argmin([_draws.distances(c, matrix, loss) for c in centres], axis=0)
    nearest[mass == 0] = -1
    found = [
        _mode(matrix, mass, np.flatnonzero(nearest == g), loss, random_state)
        for g in np.unique(nearest[mass > 0])
    ]
    return sorted(found, key=lambda mode: -mode.mass)


def _sample(mass: NDArray[np.float64], size: int) -> NDArray[np.intp]:
    """Draws of equal weight: all if they are few and weigh the same, else a systematic sample."""
    if len(mass) <= size and mass.min() == mass.max():
        return np.arange(len(mass))
    edges = np.cumsum(mass)
    return np.searchsorted(edges, (np.arange(size) + 0.5) * (edges[-1] / size))


def _groups(
    distance: NDArray[np.float64], separation: float, min_mass: float
) -> list[NDArray[np.intp]]:
    """Join the two nearest groups that are not distinct, until all are."""
    m = len(distance)
    overall = distance.sum() / max(m * (m - 1), 1)
    total, size, label = distance.copy(), np.ones(m), np.arange(m)
    while len(size) > 1:
        between = total / np.outer(size, size)
        within = np.diag(total) / np.maximum(size * (size - 1), 1)
        apart = np.maximum(separation * np.maximum.outer(within, within), overall)
        heavy = size >= min_mass * m * (1 - 1e-12)
        between[np.logical_and.outer(heavy, heavy) & (between > apart * (1 + 1e-9))] = np.inf
        np.fill_diagonal(between, np.inf)
        a, b = sorted(np.unravel_index(np.argmin(between), between.shape))
        if np.isinf(between[a, b]):
            break
        total[a] += total[b]
        total[:, a] += total[:, b]
        size[a] += size[b]
        total, size = np.delete(np.delete(total, b, axis=0), b, axis=1), np.delete(size, b)
        label[label == b] = a
        label[label > b] -= 1
    return [np.flatnonzero(label == g) for g in range(len(size))]


def _mode(
    draws: NDArray,
    mass: NDArray[np.float64],
    members: NDArray[np.intp],
    loss: str,
    random_state: int | np.random.Generator | np.random.RandomState | None,
) -> Mode:
    own = mass[members]
    labels = point_estimate(draws[members], loss, weights=own, random_state=random_state)
    distance = _draws.distances(labels, draws[members], loss)
    return Mode(
        labels=labels,
        mass=float(own.sum() / mass.sum()),
        spread=float(np.average(distance, weights=own)),
        draws=members,
    )
