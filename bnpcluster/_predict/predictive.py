"""The posterior predictive of new rows, averaged over the draws of a posterior.

Given a row, a draw counts in proportion to the density that it gives to the row. This holds for the
novelty of the row and for its memberships.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bnpcluster._core.operations import draw_latent, renew_rows, set_latent, set_learned
from bnpcluster._core.partition import Partition, new_partition
from bnpcluster._core.state import grown_bound
from bnpcluster._fitting.fitted import Fitted
from bnpcluster._predict.kernels import add_draws, empty_sums, load_draw

MOST_WORK = 2_000_000  # comparisons in a kernel call
CHUNK = 65_536  # rows predicted at a time


class Prediction(NamedTuple):
    """The posterior predictive at new rows.

    Attributes
    ----------
    log_density : ndarray, shape (n_rows,)
    novelty : ndarray, shape (n_rows,): probability of a new cluster
    membership : ndarray, shape (n_rows, n_components)
        Probability of each component of the estimate, given that the row is in one of them.
    ess : ndarray, shape (n_rows,)
        Effective number of draws: (sum of t)^2 / (sum of t^2), where t is the weight of a draw
        times the density that it gives to the row.
    """

    log_density: np.ndarray
    novelty: np.ndarray
    membership: np.ndarray
    ess: np.ndarray


def predict(fitted: Fitted, X: np.ndarray) -> Prediction:
    """The posterior predictive at each row of `X`, independently of the other rows."""
    parts = [_predict(fitted, X[start : start + CHUNK]) for start in range(0, len(X), CHUNK)]
    return Prediction(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _predict(fitted: Fitted, X: np.ndarray) -> Prediction:
    n, n_clusters = len(X), int(fitted.estimate.max()) + 1
    bound, partition = new_workspace(fitted)
    new = fitted.likelihood.rows(bound, X)
    overlap = np.zeros((len(partition.sizes), n_clusters))
    sums = empty_sums(n, n_clusters)
    labels = fitted.posterior.labels.reshape(-1, fitted.posterior.n_items)
    weights = fitted.posterior.weights.ravel()
    work = n * fitted.log_urn.shape[1] + labels.shape[1]
    # Draws with values of their own are loaded one at a time.
    own = fitted.latent is not None or fitted.learned is not None
    for some in _batches(len(labels), MOST_WORK if own else work):
        load_values(fitted, bound, partition, some.start, new)
        draws = (labels[some], fitted.log_urn[some], weights[some])
        add_draws(bound, new, partition, draws, fitted.estimate, overlap, sums)
    return Prediction(
        log_density=sums.top + np.log(sums.total),
        novelty=sums.novelty / sums.total,
        membership=sums.membership / sums.membership.sum(axis=1, keepdims=True),
        ess=sums.total**2 / sums.squares,
    )


def draw_log_densities(fitted: Fitted, X: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Log predictive density of the rows of `X` under each of some draws, draws as rows."""
    n, n_clusters = len(X), int(fitted.estimate.max()) + 1
    bound, partition = new_workspace(fitted)
    new = fitted.likelihood.rows(bound, X)
    overlap = np.zeros((len(partition.sizes), n_clusters))
    labels = fitted.posterior.labels.reshape(-1, fitted.posterior.n_items)
    result = np.empty((len(draws), n))
    for row, r in zip(result, draws, strict=True):
        sums = empty_sums(n, n_clusters)
        load_values(fitted, bound, partition, r, new)
        draw = (labels[r : r + 1], fitted.log_urn[r : r + 1], np.ones(1))
        add_draws(bound, new, partition, draw, fitted.estimate, overlap, sums)
        row[:] = sums.top + np.log(sums.total)
    return result


def _batches(n_draws: int, work: int) -> list[slice]:
    """Batches of draws, for kernel calls so short that Ctrl-C is noticed."""
    size = max(1, MOST_WORK // (work + 1))
    return [slice(start, start + size) for start in range(0, n_draws, size)]


def load_values(
    fitted: Fitted, bound: Any, partition: Partition, draw: Any, new: Any = None
) -> None:
    """Set the latent and learned values to those of a draw, if any; this empties all slots.

    `new` are the rows to predict, which share the hyper-parameters with `bound`.
    """
    learned, latent = fitted.learned_draws, fitted.latent_draws
    if learned is not None:
        set_learned(bound, learned[draw])
        if new is not None:
            renew_rows(new)
    if latent is not None:
        set_latent(bound, latent[draw])
    if learned is not None or latent is not None:
        partition.labels[:] = -1


def served(fitted: Fitted, X: np.ndarray | None) -> Fitted:
    """The fit, with bound data that can score the rows `X`, or columns if `X` is None."""
    likelihood, rows = fitted.likelihood, fitted.X
    if X is not None and np.isnan(X).any():
        fitted = fitted._replace(bound=fitted.fixed_likelihood.bind_observed(rows))
    return fitted if likelihood.serves(fitted.bound, X) else imputed(fitted, rows)


def imputed(fitted: Fitted, X: np.ndarray) -> Fitted:
    """The fit of `X` as if its chains had sampled all missing entries; they are drawn here.

    They are drawn from their distribution given the partition of each draw, so the joint posterior
    is that of such chains. The seed is fixed: the same call gives the same result.
    """
    rng = np.random.default_rng(0)
    bound, partition = new_workspace(fitted)
    labels = fitted.posterior.labels.reshape(-1, fitted.posterior.n_items)
    latent = []
    for r, row in enumerate(labels):
        load_values(fitted, bound, partition, r)
        load_draw(bound, partition, row, fitted.log_urn[r])
        latent.append(draw_latent(bound, row, rng))
    likelihood = fitted.fixed_likelihood.imputing()
    bound = likelihood.bind_observed(X)
    return fitted._replace(likelihood=likelihood, bound=bound, latent=np.array(latent)[None])


def new_workspace(fitted: Fitted) -> tuple[Any, Partition]:
    """Bound training data and a partition, with enough slots for every draw."""
    capacity = fitted.log_urn.shape[1]
    return grown_bound(fitted.bound, capacity), new_partition(fitted.posterior.n_items, capacity)


def sample(fitted: Fitted, n: int, rng: np.random.Generator) -> np.ndarray:
    """`n` new rows from the posterior predictive."""
    weights = fitted.posterior.weights.ravel()
    bound, partition = new_workspace(fitted)
    labels = fitted.posterior.labels.reshape(-1, fitted.posterior.n_items)
    rows = []
    for r, count in enumerate(rng.multinomial(n, weights / weights.sum())):
        if count:
            load_values(fitted, bound, partition, r)
            load_draw(bound, partition, labels[r], fitted.log_urn[r])
            urn = np.exp(fitted.log_urn[r])
            for k in rng.choice(len(urn), size=count, p=urn / urn.sum()):
                rows.append(fitted.likelihood.sample(bound, int(k), rng))
    return rng.permutation(np.array(rows))
