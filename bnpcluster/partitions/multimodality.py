"""The few partitions about which the draws of a multimodal posterior gather."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components

from bnpcluster.partitions import label_draws
from bnpcluster.partitions.estimates import point_estimate

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
    separate: both hold `min_mass`, and the mean distance between them is more than `separation`
    times that between two draws within either. Then every draw goes to the group whose point
    estimate is nearest.

    Where a few items waver between clusters, each for itself, every combination may be such a
    group. So groups belong to one mode if a single item makes the difference between their central
    draws, or if they are no farther from one another than any two draws are on average; and so does
    whatever is chained to them in this way: many modes, each near the next, may count as one. The
    average is taken anew within each of the modes, for a far one hides that others are distinct.

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
    matrix = label_draws.as_draws(draws)
    mass = label_draws.as_weights(weights, len(matrix))
    n = matrix.shape[1]
    label_draws.block_gain(loss, 1)
    most = min(MOST_COMPARED, max(FEWEST_COMPARED, isqrt(COMPARED_LABELS // n)))
    sample, count = _sample(mass, most)
    some = matrix[sample, :: -(-n // MOST_ITEMS)]
    least = min_mass * count.sum() * (1 - 1e-12)
    distance = label_draws.all_distances(some, loss)
    groups = _groups(distance, count, separation, least)
    medoids = [some[g[np.argmin(distance[np.ix_(g, g)] @ count[g])]] for g in groups]
    near = np.array([[_one_item_apart(a, b) for a in medoids] for b in medoids])
    groups = _chained(groups, near, distance, count)
    if len(groups) == 1:
        return [_mode(matrix, mass, np.flatnonzero(mass), loss, random_state)]
    centres = [
        point_estimate(matrix[sample[g]], loss, weights=count[g], random_state=random_state)
        for g in groups
    ]
    nearest = np.argmin([label_draws.distances(c, matrix, loss) for c in centres], axis=0)
    nearest[mass == 0] = -1
    found = [
        _mode(matrix, mass, np.flatnonzero(nearest == g), loss, random_state)
        for g in np.unique(nearest[mass > 0])
    ]
    return sorted(found, key=lambda mode: -mode.mass)


def _sample(mass: NDArray[np.float64], size: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Some draws, and how often each counts: a systematic sample unless all are few and alike."""
    if len(mass) <= size and mass.min() == mass.max():
        return np.arange(len(mass)), np.ones(len(mass))
    edges = np.cumsum(mass)
    drawn = np.searchsorted(edges, (np.arange(size) + 0.5) * (edges[-1] / size))
    sample, count = np.unique(drawn, return_counts=True)
    return sample, count.astype(float)


def _groups(
    distance: NDArray[np.float64], count: NDArray[np.float64], separation: float, least: float
) -> list[NDArray[np.intp]]:
    """Join the two nearest groups that are not separate, until all are.

    A draw that counts several times is no pair with itself: that it is heavy tells nothing of how
    far from one another the draws about it are.
    """
    total, size, label = distance * np.outer(count, count), count.copy(), np.arange(len(count))
    pairs = size * size - count * count
    while len(size) > 1:
        between = total / np.outer(size, size)
        within = np.diag(total) / np.maximum(pairs, 1.0)
        heavy = size >= least
        separate = between > separation * np.maximum.outer(within, within) * (1 + 1e-9)
        between[np.logical_and.outer(heavy, heavy) & separate] = np.inf
        np.fill_diagonal(between, np.inf)
        a, b = sorted(np.unravel_index(np.argmin(between), between.shape))
        if np.isinf(between[a, b]):
            break
        total[a] += total[b]
        total[:, a] += total[:, b]
        pairs[a] += pairs[b] + 2 * size[a] * size[b]
        size[a] += size[b]
        total = np.delete(np.delete(total, b, axis=0), b, axis=1)
        size, pairs = np.delete(size, b), np.delete(pairs, b)
        label[label == b] = a
        label[label > b] -= 1
    return [np.flatnonzero(label == g) for g in range(len(size))]


def _chained(
    groups: list[NDArray[np.intp]],
    near: NDArray[np.bool_],
    distance: NDArray[np.float64],
    count: NDArray[np.float64],
) -> list[NDArray[np.intp]]:
    """Chain groups that are near, or no farther apart than any two draws; again in each chain."""
    size = np.array([count[g].sum() for g in groups])
    pairs = np.outer(size, size)
    total = [[count[a] @ distance[np.ix_(a, b)] @ count[b] for b in groups] for a in groups]
    overall = np.sum(total) / pairs.sum()
    linked = near | (total / pairs <= overall * (1 + 1e-9))
    n_chains, chain = connected_components(linked)
    if n_chains == 1:
        return [np.concatenate(groups)]
    found = []
    for links in (np.flatnonzero(chain == c) for c in range(n_chains)):
        own = [groups[g] for g in links]
        found += _chained(own, near[np.ix_(links, links)], distance, count)
    return found


def _one_item_apart(a: NDArray, b: NDArray) -> bool:
    """Whether moving one item, or none, makes one partition of the other."""
    (_, a, in_a), (_, b, in_b) = (np.unique(z, False, True, True) for z in (a, b))
    cells, size = np.unique(a * len(in_b) + b, return_counts=True)
    whole_a, whole_b = size == in_a[cells // len(in_b)], size == in_b[cells % len(in_b)]
    torn = size[~(whole_a & whole_b)]  # what is a cluster in one of them at most
    if len(torn) == 3:  # the item in the middle has left a cluster for another; both go on
        return size[~whole_a & ~whole_b].tolist() == [1]
    return len(torn) == 0 or (len(torn) == 2 and torn.min() == 1)


def _mode(
    draws: NDArray,
    mass: NDArray[np.float64],
    members: NDArray[np.intp],
    loss: str,
    random_state: int | np.random.Generator | np.random.RandomState | None,
) -> Mode:
    own = mass[members]
    labels = point_estimate(draws[members], loss, weights=own, random_state=random_state)
    distance = label_draws.distances(labels, draws[members], loss)
    return Mode(
        labels=labels,
        mass=float(own.sum() / mass.sum()),
        spread=float(np.average(distance, weights=own)),
        draws=members,
    )
