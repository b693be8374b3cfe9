"""From the components of the point estimate to the clusters of a model.

First overlapping components are joined, then a cap on the number of clusters is met by further
joins, and last, small clusters are dissolved: their rows are in no cluster.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from bnpcluster._core import arguments
from bnpcluster._core.arguments import as_float
from bnpcluster._core.messages import Action, Message, given, parameter, shown
from bnpcluster._fitting.fitted import Fitted
from bnpcluster._predict.predictive import predict, served
from bnpcluster.partitions import MergeTree, merge_tree, relabel

THRESHOLD = 0.05  # the overlap from which merge="auto" joins components
MOST_ROWS = 2000  # rows of the fit that overlaps are estimated from
FEWEST_ROWS = 20  # of each component, if it has so many
ESTIMATES = ("vi", "binder", "map")


def loss_and_cost(point_estimate: Any) -> tuple[str, float]:
    """The loss of a point estimate and its cost, from a name or a pair."""
    is_pair = isinstance(point_estimate, (tuple, list)) and len(point_estimate) == 2
    loss, cost = point_estimate if is_pair else (point_estimate, 1.0)
    if not isinstance(loss, str) or loss not in ESTIMATES:
        cost_of = "the cost of separating rows that belong together"
        raise ValueError(
            Message(
                arguments.unknown("point_estimate", given(loss).shell, ESTIMATES),
                Action(
                    f' A pair adds {cost_of}: ("vi", 1.5).', f" Add {cost_of} like this: vi,1.5."
                ),
            )
        )
    if is_pair and loss == "map":
        raise ValueError(
            Message(
                parameter("point_estimate"),
                " 'map' takes no cost: use 'map', or a pair such as ",
                Action("('vi', 1.5)", "vi,1.5"),
                ".",
            )
        )
    if not 0 < as_float(cost) < 2:
        text = f" must be a number above 0 and below 2, got {shown(cost)}: "
        why = "1 is neutral, and a larger one gives fewer clusters."
        raise ValueError(Message("The cost in ", parameter("point_estimate"), text, why))
    return loss, as_float(cost)


def threshold(merge: Any) -> float | None:
    """The overlap from which components are joined. None: they are not."""
    if merge is None:
        return None
    if arguments.is_auto(merge):
        return THRESHOLD
    if not 0 < as_float(merge) < 1:
        what = f" must be None, 'auto' ({THRESHOLD}), or a number above 0 and below 1, got "
        raise ValueError(Message(parameter("merge"), what, f"{shown(merge)}."))
    return as_float(merge)


def limit(name: str, value: Any) -> int | None:
    """A number of clusters or rows, or None."""
    return None if value is None else arguments.count(name, value, 1)


def tree_of(fitted: Fitted) -> MergeTree:
    """How the components of the estimate are joined, given the rows of the fit."""
    rows, weights = chosen_rows(fitted.estimate)
    X = fitted.X[rows]
    return merge_tree(predict(served(fitted, X), X).membership, weights)


def chosen_rows(components: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows to estimate overlaps from, evenly spaced within each component, and their weights."""
    sizes = np.bincount(components)
    wanted = np.ceil(sizes * min(1.0, MOST_ROWS / len(components))).astype(int)
    wanted = np.minimum(np.maximum(wanted, FEWEST_ROWS), sizes)
    rows, weights = [], []
    for k, (size, count) in enumerate(zip(sizes, wanted, strict=True)):
        inside = np.flatnonzero(components == k)
        rows.append(inside[((np.arange(count) + 0.5) * (size / count)).astype(int)])
        weights.append(np.full(count, size / count))
    order = np.argsort(np.concatenate(rows))
    return np.concatenate(rows)[order], np.concatenate(weights)[order]


def numbered(groups: np.ndarray, components: np.ndarray, smallest: int | None) -> np.ndarray:
    """The cluster of each component, given groups of components and the component of each item.

    The largest cluster is 0, ties by first item. Clusters of fewer than `smallest` items are -1.
    """
    labels = relabel(groups[components])
    clusters = np.empty(len(groups), np.int64)
    clusters[components] = labels
    if smallest is not None:
        clusters[np.bincount(labels)[clusters] < smallest] = -1
    return clusters


def all_too_small(smallest: Any, largest: int, items: str) -> Message:
    """The warning that no cluster is as large as was asked for."""
    return Message(
        f"No cluster has {smallest} {items} or more, as ",
        parameter("min_cluster_size"),
        f" demands, so all labels are -1. The largest one has {largest}.",
    )


def aligned(labels: np.ndarray, earlier: np.ndarray) -> np.ndarray:
    """New numbers of the clusters of some labels, as close as possible to earlier ones.

    Clusters are matched one to one, so that as many rows as possible keep their number. The rest
    take the numbers that are left.
    """
    n, m = int(labels.max()) + 1, int(earlier.max()) + 1
    both = (labels >= 0) & (earlier >= 0)
    common = np.zeros((n, m))
    np.add.at(common, (labels[both], earlier[both]), 1.0)
    ours, theirs = linear_sum_assignment(-common)
    matched = {int(k): int(c) for k, c in zip(ours, theirs, strict=True) if common[k, c] > 0}
    numbers = np.full(n, -1)
    for k, c in matched.items():
        if c < n:
            numbers[k] = c
    free = iter(np.setdiff1d(np.arange(n), numbers).tolist())
    # Those that had larger numbers come first, in their order, then the new ones.
    rest = np.flatnonzero(numbers < 0).tolist()
    for k in sorted(rest, key=lambda k: (matched.get(k, m), k)):
        numbers[k] = next(free)
    return numbers


def of_clusters(fitted: Fitted, membership: np.ndarray) -> np.ndarray:
    """The memberships of clusters: the sums of those of their components."""
    if fitted.clusters is None:
        return membership
    own = fitted.clusters[:, None] == np.arange(fitted.clusters.max() + 1)
    return membership @ own.astype(float)


def assigned(membership: np.ndarray) -> np.ndarray:
    """The most probable cluster of each row; -1 if it is rather in no cluster than in any."""
    if not membership.shape[1]:
        return np.full(len(membership), -1)
    return np.where(membership.sum(axis=1) < 0.5, -1, membership.argmax(axis=1))
