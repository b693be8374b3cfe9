"""The posterior predictive of new rows, averaged over the draws of a posterior.

Given a row, a draw counts in proportion to the density that it gives to the row. This holds for the
novelty of the row and for its memberships.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from bnpcluster._core.operations import draw_latent, renew_rows, set_latent, set_learned
from bnpcluster._core.partition import Partition, new_partition
from bnpcluster._core.screening import needs_renewal, new_screen
from bnpcluster._core.state import grown_bound
from bnpcluster._fitting.fitted import Fitted
from bnpcluster._predict.kernels import (
    Sums,
    add_draws,
    add_to_sums,
    empty_sums,
    load_draw,
    set_overlap,
)
from bnpcluster.partitions import label_draws
from bnpcluster.posterior import Posterior

MOST_WORK = 2_000_000  # comparisons in a kernel call
CHUNK = 131_072  # rows predicted at a time
MOST_ENTRIES = 4_000_000  # memberships in memory at a time


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


def predict(fitted: Fitted, X: np.ndarray, membership: bool = True) -> Prediction:
    """The posterior predictive at each row of `X`, independently of the other rows."""
    return joined(in_chunks(fitted, X, membership))


def joined(parts: Iterable[Prediction]) -> Prediction:
    """One prediction of all rows, from those of some after another."""
    return Prediction(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def n_components(fitted: Fitted) -> int:
    """The number of components of the point estimate."""
    return int(fitted.estimate.max()) + 1


def in_chunks(fitted: Fitted, X: np.ndarray, membership: bool = True) -> Iterator[Prediction]:
    """The predictions of some rows after another; without memberships they have no columns."""
    n_clusters = n_components(fitted) if membership else 0
    size = max(1, min(CHUNK, MOST_ENTRIES // (n_clusters + 1)))
    for start in range(0, len(X), size):
        sums = sums_of(fitted, X[start : start + size], n_clusters)
        yield Prediction(
            log_density=sums.top + np.log(sums.total),
            novelty=sums.novelty / sums.total,
            membership=_shares(sums.membership),
            ess=sums.total**2 / sums.squares,
        )


def sums_of(fitted: Fitted, X: np.ndarray, n_clusters: int) -> Sums:
    """Sums over the draws at each row of `X`, with the memberships of `n_clusters` or none."""
    bound, partition = new_workspace(fitted)
    new = fitted.likelihood.rows(bound, X)
    renewed = new if needs_renewal(new) else None
    capacity = len(partition.sizes)
    work = (np.zeros((capacity, n_clusters)), new_screen(capacity))
    sums = empty_sums(len(X), n_clusters)
    labels = fitted.posterior.labels.reshape(-1, fitted.posterior.n_items)
    weights = fitted.posterior.weights.ravel()
    if fitted.elsewhere is not None:
        for r in np.flatnonzero(weights):
            load(fitted, bound, partition, r, renewed)
            set_overlap(labels[r], fitted.estimate, work[0], np.bincount(labels[r]))
            add_to_sums(new, partition, work, weights[r], sums)
        return sums
    cost = len(X) * fitted.log_urn.shape[1] + labels.shape[1]
    # Draws with values of their own are loaded one at a time.
    own = fitted.latent is not None or fitted.learned is not None
    for some in _batches(len(labels), MOST_WORK if own else cost):
        load_values(fitted, bound, partition, some.start, renewed)
        draws = (labels[some], fitted.log_urn[some], weights[some])
        add_draws(bound, new, partition, draws, fitted.estimate, work, sums)
    return sums


def _shares(membership: np.ndarray) -> np.ndarray:
    """Memberships that sum to one, if there are any."""
    if membership.shape[1]:
        membership /= membership.sum(axis=1, keepdims=True)
    return membership


def draw_log_densities(fitted: Fitted, X: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Log predictive density of the rows of `X` under each of some draws, draws as rows."""
    bound, partition = new_workspace(fitted)
    new = fitted.likelihood.rows(bound, X)
    renewed = new if needs_renewal(new) else None
    capacity = len(partition.sizes)
    work = (np.zeros((capacity, 0)), new_screen(capacity))
    result = np.empty((len(draws), len(X)))
    for row, r in zip(result, draws, strict=True):
        sums = empty_sums(len(X), 0)
        load(fitted, bound, partition, r, renewed)
        add_to_sums(new, partition, work, 1.0, sums)
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


def load(fitted: Fitted, bound: Any, partition: Partition, r: Any, new: Any = None) -> None:
    """Put draw `r` into the slots, with its values and its urn weights."""
    load_values(fitted, bound, partition, r, new)
    labels = fitted.posterior.labels.reshape(-1, fitted.posterior.n_items)[r]
    if fitted.elsewhere is None:
        load_draw(bound, partition, labels, fitted.log_urn[r])
    else:
        fitted.elsewhere.load(r, bound, partition, labels)
        partition.log_prior[: fitted.log_urn.shape[1]] = fitted.log_urn[r]


def thinned(fitted: Fitted, most: int | None) -> Fitted:
    """The fit with at most so many of its draws, evenly spaced; particles by their weights."""
    weights = fitted.posterior.weights.ravel()
    if most is None or len(weights) <= most:
        return fitted
    return subset(fitted, *label_draws.thin(weights, most))


def subset(fitted: Fitted, draws: np.ndarray, weights: np.ndarray) -> Fitted:
    """The fit with some of its draws, with new weights, as if they were of one chain."""
    posterior, latent, learned = fitted.posterior, fitted.latent_draws, fitted.learned_draws
    labels = posterior.labels.reshape(-1, posterior.n_items)[None, draws]
    traces = {name: trace.reshape(1, -1)[:, draws] for name, trace in posterior.traces.items()}
    return fitted._replace(
        posterior=Posterior(labels, weights=weights[None], traces=traces),
        log_urn=fitted.log_urn[draws],
        latent=None if latent is None else latent[None, draws],
        learned=None if learned is None else learned[None, draws],
        elsewhere=None if fitted.elsewhere is None else fitted.elsewhere.of_draws(draws),
    )


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
        load(fitted, bound, partition, r)
        latent.append(draw_latent(bound, row, rng))
    likelihood = fitted.fixed_likelihood.imputing()
    bound = likelihood.bind_observed(X)
    return fitted._replace(likelihood=likelihood, bound=bound, latent=np.array(latent)[None])


def new_workspace(fitted: Fitted) -> tuple[Any, Partition]:
    """Bound training data and a partition, with enough slots for every draw."""
    capacity = fitted.log_urn.shape[1]
    return grown_bound(fitted.bound, capacity), new_partition(fitted.posterior.n_items, capacity)


def sample_by_draw(fitted: Fitted, n: int, rng: np.random.Generator) -> np.ndarray:
    """`n` new rows from the predictive of every draw, one draw after another."""
    n_draws = fitted.posterior.weights.size
    rows = [np.array(own) for own in _sampled(fitted, np.full(n_draws, n), rng)]
    return np.concatenate(rows)


def sample(fitted: Fitted, n: int, rng: np.random.Generator) -> np.ndarray:
    """`n` new rows from the posterior predictive."""
    weights = fitted.posterior.weights.ravel()
    counts = rng.multinomial(n, weights / weights.sum())
    return rng.permutation(np.array([row for own in _sampled(fitted, counts, rng) for row in own]))


def _sampled(
    fitted: Fitted, counts: np.ndarray, rng: np.random.Generator
) -> Iterator[list[np.ndarray]]:
    """New rows from the predictive of each draw, as many as `counts` says, if any."""
    bound, partition = new_workspace(fitted)
    for r in np.flatnonzero(counts):
        load(fitted, bound, partition, r)
        urn = np.exp(fitted.log_urn[r])
        chosen = rng.choice(len(urn), size=counts[r], p=urn / urn.sum())
        yield [fitted.likelihood.sample(bound, int(k), rng) for k in chosen]
