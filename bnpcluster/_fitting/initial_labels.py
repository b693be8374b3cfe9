"""Initial partitions of the chains: deliberately different, and computed in the parent process."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.cluster.vq import kmeans2, vq

from bnpcluster._core.containers import as_array
from bnpcluster._core.operations import learned
from bnpcluster._core.state import State
from bnpcluster.likelihoods import Likelihood
from bnpcluster.priors import Prior

STARTS = ("auto", "one", "singletons", "prior", "kmeans")
CENTRES = (30, 10, 60, 20)  # k-means centres of successive chains under "auto"
ROWS = 5000  # rows that k-means is fitted on
MANY = 60  # k-means centres for the start of learned hyper-parameters
UPDATES = 10  # updates of these given the k-means partition


def initial_labels(
    init: Any,
    X: Any,
    likelihood: Likelihood,
    prior: Prior,
    rngs: list[np.random.Generator],
) -> list[np.ndarray]:
    """The initial labels of each chain; `rngs` has one generator per chain."""
    n = X.shape[0]
    most = int(min(prior.most_clusters, n))
    if not isinstance(init, str):
        return _checked_labels(init, n, len(rngs), most)
    if init == "one":
        return [np.zeros(n, np.intp) for _ in rngs]
    if init == "singletons":
        return [np.arange(n) % most for _ in rngs]
    if init == "prior":
        return [prior.at(**prior.draw(rng)).sample(n, rng) for rng in rngs]
    if init in ("auto", "kmeans"):
        features = likelihood.features(X)
        centres = CENTRES if init == "auto" else CENTRES[:1]
        return [
            _kmeans(features, min(centres[c % len(centres)], most), rng)
            for c, rng in enumerate(rngs)
        ]
    raise ValueError(
        f"init must be one of {', '.join(STARTS)}, or an array of labels; got {init!r}."
    )


def _checked_labels(init: Any, n: int, n_chains: int, most: int) -> list[np.ndarray]:
    labels = as_array(init)
    if labels.shape not in ((n,), (n_chains, n)) or labels.dtype.kind not in "iu":
        raise ValueError(
            f"init as an array must contain integer labels, of shape ({n},) for all chains or "
            f"({n_chains}, {n}) for one row per chain; got {labels.dtype} of shape {labels.shape}."
        )
    rows = [
        np.unique(row, return_inverse=True)[1] for row in np.broadcast_to(labels, (n_chains, n))
    ]
    if max(row.max() for row in rows) >= most:
        raise ValueError(f"init has more clusters than the prior allows: use at most {most}.")
    return rows


def initial_learned(
    bound: Any, task: Any, rngs: list[np.random.Generator]
) -> list[np.ndarray | None]:
    """Where the learned hyper-parameters of each chain start.

    They are drawn given many small blocks from k-means, wherever the partition starts. Given a
    single block, the expected covariance tends to that of the data, and no split looks worthwhile.
    Blocks of a single column are so tight that chains would stay with many tiny clusters. There,
    the hyper-parameters start at the guess.
    """
    start = learned(bound)
    if start is None or task.X.shape[1] == 1:
        return [start] * len(rngs)
    features, most = task.likelihood.features(task.X), int(min(task.prior.most_clusters, MANY))
    values: list[np.ndarray | None] = []
    for rng in rngs:
        state = State(bound, task.prior, _kmeans(features, most, rng))
        for _ in range(UPDATES):
            state.move_learned(rng)
            state.move_latent(rng)
        values.append(state.learned)
    return values


def _kmeans(features: np.ndarray, n_centres: int, rng: np.random.Generator) -> np.ndarray:
    """A few rounds of k-means with too many centres: merges will correct so fine a partition."""
    n = len(features)
    some = features[rng.choice(n, ROWS, replace=False)] if n > ROWS else features
    n_centres = min(n_centres, max(1, n // 10), len(np.unique(some, axis=0)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # an empty cluster is harmless here
        centres, _ = kmeans2(some, n_centres, iter=5, minit="++", seed=rng)
    labels, _ = vq(features, centres)
    return np.unique(labels, return_inverse=True)[1]
