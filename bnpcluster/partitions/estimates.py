"""Point estimates, on plain label arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnpcluster._core import arguments
from bnpcluster.partitions import label_draws, multistart
from bnpcluster.partitions.losses import relabel
from bnpcluster.partitions.search import Objective

# The point estimate uses up to MAX_DRAWS distinct draws. It uses more if there are few items, up to
# CHEAP_LABELS labels, and fewer if there are very many items, down to MAX_LABELS labels.
MAX_DRAWS = 1000
CHEAP_LABELS = 10**6
MAX_LABELS = 10**7


def point_estimate(
    draws: ArrayLike,
    loss: str = "vi",
    *,
    weights: ArrayLike | None = None,
    cost: float = 1.0,
    max_clusters: int | None = None,
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
    n_starts: int = 64,
) -> NDArray[np.int64]:
    """Partition with the smallest posterior expected loss found by a local search.

    For at most 10 items it tries all partitions. Otherwise it moves one item at a time as long as
    the exact expected loss decreases. Then it dissolves whole clusters and reallocates their items.
    The starts are the three most central draws (of at most 100), one block, sequential allocation
    in random order, and random labels. The best result is returned. The search needs no n x n
    matrix.

    Parameters
    ----------
    draws : array-like of shape (n_draws, n_items) or (n_chains, n_draws, n_items)
        Integer labels.
    loss : {"vi", "binder"}, default="vi"
        `variation_of_information` or `binder_loss`.
    weights : array-like, optional
        Weight of each draw; equal by default. They need not sum to one.
    cost : float, default=1.0
        Cost of separating two items that belong together, above 0 and below 2. Joining two that do
        not costs 2 - `cost`. A larger cost gives fewer clusters.
    max_clusters : int, optional
        Largest number of clusters of the estimate; no limit by default.
    random_state : int, Generator, RandomState or None, default=None
        Determines the orders and the random starts of the search. None means a fixed seed: the same
        draws give the same estimate.
    n_starts : int, default=64
        Largest number of random starts, which alternate between sequential allocation and random
        labels. The search makes fewer if four starts lead to the same loss.

    Returns
    -------
    ndarray of shape (n_items,)
        Labels from 0, the largest cluster first, ties by first item.

    Notes
    -----
    Identical draws are merged, which is exact. The search uses at most 1,000 distinct draws (or
    1e6 / n_items, if that is more; at most 1e7 / n_items, but at least 40). If there are more, they
    are thinned: evenly spaced in order of sampling and in proportion to weight. If there are many
    labels, the climbs (two that agree, or four) use a sample of 100 of these draws or 2e5 labels,
    and the best climb is finished with all draws. The search adds no starts and dissolves no
    clusters after about 4e9 elementary operations.

    References
    ----------
    Dahl, Johnson and Mueller (2022), Search algorithms and loss functions for Bayesian clustering,
    Journal of Computational and Graphical Statistics 31, 1189-1201.
    Wade and Ghahramani (2018), Bayesian cluster analysis: point estimation and credible balls,
    Bayesian Analysis 13, 559-626.

    Examples
    --------
    >>> from bnpcluster.partitions import point_estimate
    >>> point_estimate([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]]).tolist()
    [0, 0, 1, 1]
    >>> point_estimate([[0, 0, 1, 1], [0, 1, 2, 2]], cost=0.5).tolist()
    [1, 2, 0, 0]
    """
    cost = arguments.number_between("cost", cost, 0.0, 2.0)
    if max_clusters is not None:
        max_clusters = arguments.count("max_clusters", max_clusters, 1)
    matrix = label_draws.as_draws(draws)
    n = matrix.shape[1]
    label_draws.block_gain(loss, 1)
    rows, totals = label_draws.merge(matrix, label_draws.as_weights(weights, len(matrix)))
    objective = Objective(loss, cost, n if max_clusters is None else min(n, max_clusters))
    if len(rows) == 1 and label_draws.count_blocks(matrix[rows])[0] <= objective.max_clusters:
        return relabel(matrix[rows[0]])
    limit = max(40, min(max(MAX_DRAWS, CHEAP_LABELS // n), MAX_LABELS // n))
    kept, totals = label_draws.thin(totals, limit)
    distinct, _ = label_draws.canonical(matrix[rows[kept]])
    rng = _generator(random_state)
    return relabel(multistart.best_found(distinct, totals, objective, rng, n_starts))


def _generator(
    random_state: int | np.random.Generator | np.random.RandomState | None,
) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(
        arguments.seed_sequence(0 if random_state is None else random_state)
    )
