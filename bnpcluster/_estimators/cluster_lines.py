"""What a report says about the point estimate, its clusters and the number of clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from bnpcluster._core.messages import Action, Message, parameter
from bnpcluster._estimators.clusters import loss_and_cost
from bnpcluster._fitting.fitted import Fitted
from bnpcluster.posterior import Posterior

ABOUT_CLUSTERS = Message(
    Action(
        "labels_, predict and predict_proba are about clusters; coclustering_, "
        "n_clusters_posterior_ and credible balls are about components",
        "all files but draws.npz are about clusters; draws.npz, the number of components and the "
        "column component of labels.csv are about components",
    )
)
ONE = {"rows": "row", "vertices": "vertex", "mutations": "mutation"}
MOST_NUMBERS = 12  # numbers of clusters whose probabilities are listed


def describe_clusters(model: Any) -> dict[str, str]:
    """Lines about the point estimate and about the posterior of the number of clusters."""
    fitted, what = model._fitted, word(model)
    found = {what: f"{_estimated(model)}, sizes {_shown_sizes(fitted, _components(fitted))}"}
    if not fitted.components_are_clusters:
        found["clusters"] = _from_components(model)
    found[f"number of {what}"] = _numbers(model.n_clusters_posterior_)
    if what == "components":
        found["in words"] = ABOUT_CLUSTERS
    return found


def _numbers(pmf: dict[int, float]) -> str:
    """The posterior of a number, or a summary if it has many values."""
    listed = {k: p for k, p in pmf.items() if p >= 0.005}
    if len(listed) <= MOST_NUMBERS:
        return ", ".join(f"{k}: {p:.2f}" for k, p in listed.items())
    values = np.array(sorted(pmf))
    reached = np.cumsum([pmf[k] for k in values])
    ends = np.searchsorted(reached, np.array([0.05, 0.5, 0.95]) * reached[-1])
    low, middle, high = values[ends]
    return Message(
        f"{middle} (median), 90 % interval {low} to {high}; ",
        Action("n_clusters_posterior_ has all probabilities", "report.html shows all"),
    )


def _components(fitted: Fitted) -> np.ndarray:
    """The component of each row, by its number as a cluster if it is one."""
    return fitted.cluster_labels if fitted.components_are_clusters else fitted.estimate


def word(model: Any) -> str:
    """What the draws are partitions into: components, if clusters are something else."""
    return "clusters" if model._fitted.components_are_clusters else "components"


def _estimated(model: Any) -> str:
    loss, cost = loss_and_cost(model.point_estimate)
    how = loss if cost == 1.0 else f"{loss}, cost {cost:g}"
    level, text = (
        model._joins()[0],
        f"{model._fitted.estimate.max() + 1} in the point estimate ({how})",
    )
    if model._fitted.tree is None or not model._fitted.components_are_clusters:
        return text
    return f"{text}, none of which overlap by {level:g} or more"


def _from_components(model: Any) -> str:
    """How many clusters the components became, and how."""
    labels, (level, most) = model._fitted.cluster_labels, model._joins()
    text = str(model.n_clusters_)
    if model._fitted.tree is not None:
        text += ", after joining " + (
            "the components that overlap most"
            if level is None
            else f"components that overlap by at least {level:g}"
        )
        then = "" if level is None else ", and then others"
        text += "" if most is None else f"{then} until there are at most {most}"
    if model.n_clusters_:
        text += f"; sizes {_shown_sizes(model._fitted, labels[labels >= 0])}"
    left = int(np.sum(labels < 0))
    if left:
        text += f"; {model._counted} in no cluster of at least {model.min_cluster_size}: {left}"
    return text


def _shown_sizes(fitted: Fitted, labels: np.ndarray) -> str:
    sizes = np.rint(np.bincount(labels) * fitted.rows_per_item).astype(int)
    shown = ", ".join(map(str, sizes[:12]))
    return shown + (f", ... ({len(sizes)} in all)" if len(sizes) > 12 else "")


def notes(model: Any) -> dict[str, str]:
    """A note if the estimate does not have the most probable number of clusters."""
    pmf, n = model.n_clusters_posterior_, int(model._fitted.estimate.max()) + 1
    likely = max(pmf, key=lambda k: pmf[k])
    if n == likely:
        return {}
    if n > max(pmf):
        return {
            "note": "the point estimate has more clusters than any draw. Few pairs of items share "
            "a cluster in most draws, so the data do not support one clustering over another: fix "
            "the parameters of the prior, or use the co-clustering probabilities instead"
        }
    what = word(model)
    start = (
        f"the point estimate has {n} {what if n > 1 else what[:-1]}, but {likely} is the most "
        f"probable number (probability {pmf[likely]:.2f})"
    )
    text = f"{start}. {_reason(model, n, likely, what)}".removesuffix(".")
    loss, cost = loss_and_cost(model.point_estimate)
    if loss == "map" or cost == 1.0:
        return {"note": text}
    moved = f". A cost of {cost:g} in "
    return {"note": Message(text, moved, parameter("point_estimate"), " moves it, too")}


def _reason(model: Any, n: int, likely: int, what: str) -> str:
    """Why the numbers differ."""
    if loss_and_cost(model.point_estimate)[0] == "map":
        return "The estimate is a single draw, that of the highest joint density."
    posterior, labels = model.posterior_, model._fitted.estimate
    items = model._counted
    if n < likely:
        size = _smallest_size(posterior, likely)
        return (
            f"In most draws with {likely} {what}, the smallest has at most "
            f"{size} {ONE[items] if size == 1 else items}. The "
            f"estimate has such {what} only if enough draws agree on which {items} they are."
        )
    smallest = np.flatnonzero(labels == n - 1)
    alone = _probability_of_block(posterior, smallest)
    return (
        f"The smallest of the {n} (size {len(smallest)}) is a cluster of its own, without others, "
        f"in {100 * alone:.0f} % of the draws. In the rest, its {items} are with others, or apart, "
        "but no other cluster has them often enough to make the expected loss smaller."
    )


def _smallest_size(posterior: Posterior, n_blocks: int) -> int:
    """The weighted median of the smallest block in the draws with so many blocks."""
    chosen = np.flatnonzero(posterior.n_clusters.ravel() == n_blocks)
    flat = posterior.labels.reshape(-1, posterior.n_items)
    sizes = np.array([np.unique(flat[r], return_counts=True)[1].min() for r in chosen])
    order, weights = np.argsort(sizes), posterior.weights.ravel()[chosen]
    reached = np.cumsum(weights[order])
    return int(sizes[order][np.searchsorted(reached, 0.5 * reached[-1])])


def _probability_of_block(posterior: Posterior, items: np.ndarray) -> float:
    """The probability that some items are a block."""
    flat, total = posterior.labels.reshape(-1, posterior.n_items), 0.0
    for row, weight in zip(flat, posterior.weights.ravel(), strict=True):
        first = row[items[0]]
        is_block = (row[items] == first).all() and np.count_nonzero(row == first) == len(items)
        total += weight * is_block
    return float(total)
