"""What a fit leaves behind: one record, made by chains and by particle runs alike."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bnpcluster.likelihoods import Likelihood
from bnpcluster.posterior import Posterior
from bnpcluster.priors import Prior
from bnpcluster.samplers import Sampler


class Fitted(NamedTuple):
    """All that a fitted model knows; a model keeps it in one attribute and writes it in one place.

    Attributes
    ----------
    likelihood : Likelihood
    bound : NamedTuple
        The data, bound by the likelihood.
    posterior : Posterior
    log_urn : ndarray
        See `urn_weights`; empty where there are no new rows to predict.
    estimate : ndarray
        Labels of the point estimate.
    latent : ndarray or None
        The missing entries of every draw, by chain and draw, if chains move them.
    X : ndarray or Graph
        The valid data.
    prior : Prior
    sampler : Sampler
    thin : int
        Iterations per kept draw.
    states : list of dict
        The last states of chains, as arrays.
    runs : list of Run
        Of particles, what further rows go on from.
    frozen : Likelihood or None
        The likelihood at the values that "auto" had for the first rows, if more rows came.
    encoding : Encoding or None
        How mixed columns are read.
    """

    likelihood: Likelihood
    bound: Any
    posterior: Posterior
    log_urn: np.ndarray
    estimate: np.ndarray
    latent: np.ndarray | None = None
    X: Any = None
    prior: Any = None
    sampler: Any = None
    thin: int = 1
    states: Any = ()
    runs: Any = ()
    frozen: Any = None
    encoding: Any = None

    @property
    def latent_draws(self) -> np.ndarray | None:
        """The missing entries of every draw, the chains one after the other."""
        return None if self.latent is None else self.latent.reshape(-1, self.latent.shape[-1])


class Outcome(NamedTuple):
    """What chains or runs return: the record of a fit, still without a point estimate, and more.

    Attributes
    ----------
    fitted : Fitted
    diagnostics : Diagnostics or RunDiagnostics
    sampler_stats : dict
    n_iter : int
    interrupted : bool
    evidence : pair of float, or None
        log p(data) and its standard error, by particles.
    """

    fitted: Fitted
    diagnostics: Any
    sampler_stats: dict[str, Any]
    n_iter: int
    interrupted: bool
    evidence: tuple[float, float] | None = None


class Task(NamedTuple):
    """What a fit is asked to do, with everything resolved and checked.

    Attributes
    ----------
    X : ndarray or Graph: valid data
    likelihood, prior, sampler : the components
    n_chains, n_jobs, verbose, random_state : as in the estimators
    seconds : float or None: the time limit
    """

    X: Any
    likelihood: Likelihood
    prior: Prior
    sampler: Sampler
    n_chains: int
    n_jobs: int | None
    verbose: int
    random_state: Any
    seconds: float | None


def urn_weights(prior: Prior, posterior: Posterior) -> np.ndarray:
    """Log urn weights of every draw, at its own hyper-parameters, as rows.

    Row by row: of the blocks, then of a new one, then -inf up to the largest number of blocks.
    """
    labels = posterior.labels.reshape(-1, posterior.n_items)
    log_urn = np.full((len(labels), int(posterior.n_clusters.max()) + 1), -np.inf)
    for r, row in enumerate(labels):
        weights = prior_of(prior, posterior, r).predictive(np.bincount(row))
        log_urn[r, : len(weights)] = weights
    return log_urn


def prior_of(prior: Prior, posterior: Posterior, r: int) -> Prior:
    """The prior with the parameters of draw `r`."""
    return prior.at(**{name: float(posterior.traces[name].ravel()[r]) for name in prior.sampled})
