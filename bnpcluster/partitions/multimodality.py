"""The few partitions around which the draws of a multimodal posterior concentrate."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components

from bnpcluster._core import arguments
from bnpcluster.partitions import label_draws
from bnpcluster.partitions.estimates import point_estimate

# Most draws whose pairwise distances are computed. There are fewer if there are many items, but at
# least FEWEST_COMPARED. If there are very many items, distances use MOST_ITEMS of them.
MOST_COMPARED = 400
FEWEST_COMPARED = 60
COMPARED_LABELS = 10**8
MOST_ITEMS = 10**5


@dataclass(frozen=True)
class Mode:
    """One of the partitions around which the draws concentrate.

    Attributes
    ----------
    labels : ndarray of shape (n_items,)
        The point estimate from the draws of this mode.
    mass : float
        Its share of the weight of all draws.
    spread : float
        Mean distance of its draws from `labels`.
    draws : ndarray of int
        The numbers of its draws, with the chains one after the other.
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
        The mean distance between draws of two modes must be more than this times the mean distance
        within either. Above 1. Smaller values separate modes that overlap more.
    min_mass : float, default=0.05
        Groups with less mass are not modes. Above 0 and at most 1.
    random_state : int, Generator, RandomState or None, default=None
        For the search for representatives; see `point_estimate`. The groups are not random.

    Returns
    -------
    list of Mode
        In order of decreasing mass. A unimodal posterior has one mode.

    Notes
    -----
    The algorithm groups at most 400 draws (fewer if there are many items) by their distances (on at
    most 1e5 evenly spaced items). The draws are evenly spaced in order of sampling and in
    proportion to weight. The two groups with the smallest mean distance are joined repeatedly,
    except separate ones. Two groups are separate if both have `min_mass` and the mean distance
    between them is more than `separation` times that between two draws within either. Then every
    draw goes to the group with the nearest point estimate.

    If a few items switch between clusters independently, every combination may be such a group. So
    groups belong to one mode if their central draws differ in a single item, or if they are no
    farther apart than two draws on average. Chains of such groups belong to one mode too: many
    modes, each near the next, may count as one. The average is then recomputed within each of the
    modes, because a distant mode hides that others are distinct.

    The masses are only as good as the sampler. If chains never leave their mode, the mass of a mode
    is the share of the chains in it.

    Examples
    --------
    >>> from bnpcluster.partitions import modes
    >>> draws = [[0, 0, 0, 0, 1]] * 6 + [[0, 0, 1, 1, 1]] * 3 + [[0, 0, 1, 1, 2]]
    >>> for mode in modes(draws):
    ...     print(mode.labels, round(mode.mass, 2))
    [0 0 0 0 1] 0.6
    [1 1 0 0 0] 0.4
    """
    separation = arguments.number_between("separation", separation, 1.0, np.inf)
    min_mass = arguments.number_between("min_mass", min_mass, 0.0, 1.0, closed=True)
    matrix = label_draws.as_draws(draws)
    mass = label_draws.as_weights(weights, len(matrix))
    n = matrix.shape[1]
    label_draws.block_gain(loss, 1)
    most = min(MOST_COMPARED, max(FEWEST_COMPARED, isqrt(COMPARED_LABELS // n)))
    sample, count = _systematic_sample(mass, most)
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


def _systematic_sample(
    mass: NDArray[np.float64], size: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Some draws and their counts: all if they are few with equal weights, else a sample."""
    if len(mass) <= size and mass.min() == mass.max():
        return np.arange(len(mass)), np.ones(len(mass))
    edges = np.cumsum(mass)
    drawn = np.searchsorted(edges, (np.arange(size) + 0.5) * (edges[-1] / size))
    sample, count = np.unique(drawn, return_counts=True)
    return sample, count.astype(float)


def _groups(
    distance: NDArray[np.float64], count: NDArray[np.float64], separation: float, least: float
) -> list[NDArray[np.intp]]:
    """Join the two nearest groups that are not separate, until all are separate.

    A draw that counts several times is not a pair with itself, because its weight says nothing
    about the distances between the draws around it.
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
    """Chain groups that are near, or no farther apart than the average; recursively by chain."""
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
    """Whether two partitions are equal or differ by moving one item."""
    (_, a, in_a), (_, b, in_b) = (np.unique(z, False, True, True) for z in (a, b))
    cells, size = np.unique(a * len(in_b) + b, return_counts=True)
    whole_a, whole_b = size == in_a[cells // len(in_b)], size == in_b[cells % len(in_b)]
    torn = size[~(whole_a & whole_b)]  # intersections that are not a cluster of both
    if len(torn) == 3:  # one item moved between two clusters that both remain
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
