"""The record of a fit, for chains and for particle runs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bnpcluster.likelihoods import Likelihood
from bnpcluster.posterior import Posterior
from bnpcluster.priors import Prior
from bnpcluster.samplers import Sampler


class Fitted(NamedTuple):
    """The fitted state of a model, which is stored in the attribute `_fitted`.

    Attributes
    ----------
    likelihood : Likelihood
        The likelihood, after "auto" was resolved.
    bound : NamedTuple
        The data, bound by the likelihood.
    posterior : Posterior
        The draws.
    log_urn : ndarray
        See `urn_weights`. Empty if the model cannot predict new rows.
    estimate : ndarray
        Labels of the point estimate, its components.
    latent : ndarray or None
        The imputed missing entries, by chain and draw. None if they are not imputed.
    learned : ndarray or None
        The learned hyper-parameters of the likelihood, by chain and draw. None if they are fixed.
    X : ndarray or Graph
        The validated data.
    prior : Prior
        The prior on partitions.
    sampler : Sampler
        The sampler.
    thin : int
        Iterations per kept draw.
    states : list of dict
        The last states of the chains, as arrays.
    runs : list of Run
        The particle runs, which `partial_fit` continues.
    frozen : Likelihood or None
        The likelihood with the values that "auto" had for the first rows. None before a
        `partial_fit` with more rows.
    encoding : Encoding or None
        How to read mixed columns.
    constants : Constants or None
        The columns that are modelled, and the constant ones that were left out.
    observed : ObservedRows or None
        The rows that are modelled, and those without values that were left out. None: all rows.
    clusters : ndarray or None
        The cluster of each component of the estimate, or -1. None: the components are the clusters.
    tree : MergeTree or None
        How overlapping components were joined. None if the fit did not need it.
    row_names : list or None
        Names of the rows of the table of the fit, if it had any.
    frame : FrameLike or None
        How to make data frames like that of the fit.
    elsewhere : Elsewhere or None
        The draws of a fit whose rows are elsewhere: all else is about its reference rows.
    """

    likelihood: Likelihood
    bound: Any
    posterior: Posterior
    log_urn: np.ndarray
    estimate: np.ndarray
    latent: np.ndarray | None = None
    learned: np.ndarray | None = None
    X: Any = None
    prior: Any = None
    sampler: Any = None
    thin: int = 1
    states: Any = ()
    runs: Any = ()
    frozen: Any = None
    encoding: Any = None
    constants: Any = None
    observed: Any = None
    clusters: Any = None
    tree: Any = None
    row_names: Any = None
    frame: Any = None
    elsewhere: Any = None

    @property
    def reading(self) -> dict[str, Any]:
        """How the tables of the fit were read."""
        return {
            "encoding": self.encoding,
            "constants": self.constants,
            "observed": self.observed,
            "row_names": self.row_names,
            "frame": self.frame,
        }

    @property
    def cluster_labels(self) -> np.ndarray:
        """The cluster of each item, or -1."""
        return self.estimate if self.clusters is None else self.clusters[self.estimate]

    @property
    def components_are_clusters(self) -> bool:
        """Whether every component is a cluster of its own; numbers may differ."""
        if self.clusters is None:
            return True
        return np.array_equal(np.sort(self.clusters), np.arange(len(self.clusters)))

    def all_rows(self, values: np.ndarray, fill: float = -1) -> np.ndarray:
        """Values of the items, with `fill` for the rows that were left out."""
        return values if self.observed is None else self.observed.restored(values, fill)

    @property
    def fixed_likelihood(self) -> Any:
        """The likelihood that binds the rows of the fit with the hyper-parameters of the fit.

        After `partial_fit` they are those of the first rows, so "auto" would be another guess.
        """
        return self.likelihood if self.frozen is None else self.frozen

    @property
    def columns(self) -> np.ndarray:
        """Numbers of the modelled columns in the tables of the fit."""
        if self.constants is None:
            return np.arange(self.bound.X.shape[1])
        return self.constants.kept

    @property
    def n_columns(self) -> int:
        """The number of columns of the tables of the fit."""
        left_out = () if self.constants is None else self.constants.columns
        return len(self.columns) + len(left_out)

    @property
    def rows_per_item(self) -> float:
        """The number of rows that an item stands for: 1, unless most rows are elsewhere."""
        if self.elsewhere is None:
            return 1.0
        return self.elsewhere.n_rows / self.posterior.n_items

    def sizes(self, r: int) -> np.ndarray:
        """The sizes of the blocks of draw `r`."""
        if self.elsewhere is not None:
            return self.elsewhere.draws[r].sizes
        return np.bincount(self.posterior.labels.reshape(-1, self.posterior.n_items)[r])

    @property
    def latent_draws(self) -> np.ndarray | None:
        """The imputed missing entries of each draw, one chain after another."""
        return None if self.latent is None else self.latent.reshape(-1, self.latent.shape[-1])

    @property
    def learned_draws(self) -> np.ndarray | None:
        """The learned hyper-parameters of each draw, one chain after another."""
        return None if self.learned is None else self.learned.reshape(-1, self.learned.shape[-1])


class Outcome(NamedTuple):
    """The result of chains or runs: the record of a fit, without a point estimate, and more.

    Attributes
    ----------
    fitted : Fitted
        The record of the fit.
    diagnostics : Diagnostics or RunDiagnostics
        Diagnostics of the chains or the runs.
    sampler_stats : dict
        Counts and seconds per chain or run.
    n_iter : int
        Iterations of the longest chain.
    interrupted : bool
        Whether Ctrl-C stopped the sampling.
    evidence : pair of float, or None
        log p(data) and its standard error. None for chains.
    """

    fitted: Fitted
    diagnostics: Any
    sampler_stats: dict[str, Any]
    n_iter: int
    interrupted: bool
    evidence: tuple[float, float] | None = None


class Task(NamedTuple):
    """The settings of a fit, resolved and validated.

    Attributes
    ----------
    X : ndarray or Graph
        The validated data.
    likelihood, prior, sampler : Likelihood, Prior, Sampler
        The components.
    n_chains, n_jobs, verbose, random_state : int, int or None, int, object
        The parameters of the estimator.
    seconds : float or None
        The time limit.
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
    """Log urn weights of each draw, under its own hyper-parameters.

    A row contains the weights of the blocks and then of a new block. The rest is -inf.
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
