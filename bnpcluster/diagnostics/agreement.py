"""Whether chains agree on who is with whom: co-clustering of pairs of items, chain by chain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnpcluster.partitions import label_draws

N_PAIRS = 200
NEAREST = 5  # a pair is an item and one of its so many nearest neighbours
CANDIDATES = 5000  # neighbours are looked for among at most so many items
STANDARD_ERRORS = 2.0
TYPICAL = 20  # draws of a chain among which its typical one is looked for


class PairDifference(NamedTuple):
    """The pair of items on which two chains differ most.

    Attributes
    ----------
    beyond : float
        The difference of the shares of draws in which they are together, less two standard errors
        of it; at least 0.
    shares : tuple of float
        The two shares.
    chains : tuple of int
        The two chains; the halves of a single chain.
    pair : int
        The number of the pair.
    """

    beyond: float
    shares: tuple[float, float]
    chains: tuple[int, int]
    pair: int


def candidates(n_items: int) -> NDArray[np.intp]:
    """Numbers of the items that pairs are made of: all, or a sample that depends on n alone."""
    if n_items <= CANDIDATES:
        return np.arange(n_items)
    return np.sort(np.random.default_rng(n_items).permutation(n_items)[:CANDIDATES])


def neighbour_pairs(items: NDArray[np.intp], features: ArrayLike | None) -> NDArray[np.intp]:
    """Pairs of near neighbours among some items; pairs at random if there are no `features`.

    They depend only on the arguments. If there are at most 200 pairs, these are all.

    Parameters
    ----------
    items : ndarray of int
        Numbers of the items, in increasing order.
    features : array-like of shape (n_items, n_features) or None
        Their coordinates, with meaningful Euclidean distances.

    Returns
    -------
    ndarray of shape (n_pairs, 2)
        The pairs, in increasing order.
    """
    n = len(items)
    if n * (n - 1) // 2 <= N_PAIRS:
        return items[np.column_stack(np.triu_indices(n, 1))]
    rng = np.random.default_rng(n)
    left = rng.integers(n, size=4 * N_PAIRS)
    if features is None:
        right = (left + rng.integers(1, n, size=len(left))) % n
    else:
        right = _near(np.asarray(features, dtype=float), left, rng)
    pairs = np.sort(np.column_stack([left, right]), axis=1)
    _, first = np.unique(pairs, axis=0, return_index=True)
    return items[np.unique(pairs[np.sort(first)[:N_PAIRS]], axis=0)]


def _near(points: NDArray, left: NDArray, rng: np.random.Generator) -> NDArray:
    """One of the nearest other points of each of the points `left`."""
    squares = np.einsum("ij,ij->i", points, points)
    distances = squares - 2.0 * (points[left] @ points.T)
    distances[np.arange(len(left)), left] = np.inf
    nearest = np.argpartition(distances, NEAREST, axis=1)[:, :NEAREST]
    return nearest[np.arange(len(left)), rng.integers(NEAREST, size=len(left))]


def togetherness(draws: NDArray, pairs: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Whether the items of each pair share a cluster, by draw; pairs come last."""
    return draws[..., pairs[:, 0]] == draws[..., pairs[:, 1]]


def largest_difference(together: NDArray) -> PairDifference:
    """The pair on which two chains differ most, beyond Monte Carlo error.

    Parameters
    ----------
    together : ndarray of shape (n_chains, n_draws, n_pairs)
        Whether a pair shares a cluster. The halves of a single chain are compared.

    Returns
    -------
    PairDifference
    """
    x = np.asarray(together, dtype=float)
    if len(x) == 1:
        half = x.shape[1] // 2
        x = np.concatenate([x[:, :half], x[:, x.shape[1] - half :]])
    mean, variance = x.mean(axis=1), _variance_of_means(x)
    best = PairDifference(0.0, (0.0, 0.0), (0, min(1, len(x) - 1)), 0)
    for c in range(len(x)):
        for d in range(c):
            error = STANDARD_ERRORS * np.sqrt(variance[c] + variance[d])
            beyond = np.abs(mean[c] - mean[d]) - error
            p = int(np.argmax(beyond))
            if beyond[p] > best.beyond:
                shares = (float(mean[d, p]), float(mean[c, p]))
                best = PairDifference(float(beyond[p]), shares, (d, c), p)
    return best


def _variance_of_means(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Monte Carlo variance of the mean of each chain, by pair: shape (n_chains, n_pairs).

    The autocorrelations are those of each chain alone, truncated by Geyer's initial monotone
    sequence. Chains that are stuck have no variance, so they cannot hide a difference.
    """
    n = x.shape[1]
    centred = x - x.mean(axis=1, keepdims=True)
    moving = centred.any(axis=1)
    result = np.zeros((x.shape[0], x.shape[2]))
    chain, pair = np.nonzero(moving)
    if len(chain):
        spectrum = np.fft.rfft(centred[chain, :, pair], 2 * n, axis=1)
        covariance = np.fft.irfft(np.abs(spectrum) ** 2, axis=1)[:, :n] / n
        rho = covariance / covariance[:, :1]
        sums = rho[:, 0 : n - n % 2 : 2] + rho[:, 1::2]
        initial = np.logical_and.accumulate(sums > 0, axis=1)
        total = np.where(initial, np.minimum.accumulate(sums, axis=1), 0.0).sum(axis=1)
        times = np.maximum(2.0 * total - 1.0, 1.0)
        result[chain, pair] = covariance[:, 0] * times / n
    return result


def typical_draws(labels: NDArray) -> NDArray[np.int32]:
    """The most central one of some draws of every chain, by the variation of information."""
    found = []
    for chain in labels:
        chosen = np.unique(np.linspace(0, len(chain) - 1, TYPICAL).round().astype(int))
        rows, _ = label_draws.canonical(chain[chosen])
        gain = label_draws.block_gain("vi", rows.shape[1])
        losses = [label_draws.distances_canonical(row, rows, gain, 1.0).mean() for row in rows]
        found.append(rows[int(np.argmin(losses))])
    return np.array(found)
