"""The estimators: Bayesian nonparametric mixtures as scikit-learn clusterers."""

from __future__ import annotations

from typing import Any

from bnpcluster import _resolve
from bnpcluster._mixture import Mixture
from bnpcluster.priors import PRIORS, DirichletProcess, Prior

class BNPMixture(Mixture):
    """Mixture with any Gibbs-type prior on partitions; the number of clusters is inferred.

    Parameters
    ----------
    prior : str or Prior, default="dp"
        Prior on partitions: ``"dp"`` (Dirichlet process), or an object from `bnpcluster.priors`.
    likelihood : str or Likelihood, default="niw"
        Law of the data within a cluster: ``"niw"`` (Gaussian, full covariance), ``"nig"``
        (Gaussian, independent columns), ``"bernoulli"`` (0/1), ``"categorical"`` (integer codes),
        ``"poisson"`` (counts), or an object from `bnpcluster.likelihoods`.
    sampler : str or Sampler, default="gibbs"
        ``"gibbs"``, or an object from `bnpcluster.samplers`.
    n_particles : int or None, default=None
        Shortcut for the particles of samplers that have them.
    n_draws : int, default=500
        Kept draws per chain.
    n_warmup : int, default=500
        Iterations discarded before them.
    thin : int, default=1
        Iterations per kept draw.
    n_chains : int, default=4
        Chains, independent of one another.
    n_jobs : int or None, default=None
        How many chains run at once. No result depends on it.
    init : str or array of int, default="auto"
        Where chains start: ``"one"`` (a single cluster), ``"singletons"``, ``"prior"`` (a draw from
        the prior), ``"kmeans"``, labels of shape (n_samples,) or (n_chains, n_samples), or
        ``"auto"``: k-means with too many centres, a different number of them per chain.
    point_estimate : {"vi", "binder", "map"}, default="vi"
        What `labels_` minimises: the expected variation of information, the expected Binder
        loss, or (``"map"``) the draw with the highest joint density.
    max_time : float or None, default=None
        Seconds of sampling after which chains stop and keep what they have.
    checkpoint : path or None, default=None
        A directory where the chains are saved as they go; a later identical fit resumes there.
    warm_start : bool, default=False
        Start from the last states of the previous fit, if it had as many rows.
    random_state : None, int, RandomState or Generator, default=None
        The same integer gives bit-identical draws, for any `n_jobs`.
    verbose : int, default=0
        Print a line of progress now and then.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The point estimate: clusters numbered from 0, the largest first.
    n_clusters_ : int
        Clusters in `labels_`.
    n_clusters_posterior_ : dict
        Posterior probability of every number of clusters.
    coclustering_ : LazyCoclustering
        Posterior probability that two rows share a cluster: index it like an array, or ask for
        `.sparse(threshold)`; nothing of size n x n is stored.
    posterior_ : Posterior
        The draws, and what one asks of them.
    diagnostics_ : Diagnostics
        R-hat, effective sample sizes, a verdict.
    converged_ : bool or None
        Whether the chains agree (None: it cannot be told).
    interrupted_ : bool
        Whether Ctrl-C ended the sampling.
    sampler_stats_ : dict
        Counts of moves, iterations and seconds per chain.
    n_iter_ : int
        Iterations of each chain.
    n_features_in_ : int
    feature_names_in_ : ndarray, if X had column names

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster import BNPMixture
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(c, 0.3, (40, 2)) for c in (-2, 0, 2)])
    >>> model = BNPMixture(n_draws=100, n_warmup=100, random_state=0).fit(X)
    >>> model.n_clusters_
    3
    >>> model.predict([[2.1, 1.9]]) == model.labels_[-1]
    array([ True])
    """

    def __init__(
        self,
        *,
        prior: Any = "dp",
        likelihood: Any = "niw",
        sampler: Any = "gibbs",
        n_particles: int | None = None,
        n_draws: int = 500,
        n_warmup: int = 500,
        thin: int = 1,
        n_chains: int = 4,
        n_jobs: int | None = None,
        init: Any = "auto",
        point_estimate: str = "vi",
        max_time: float | None = None,
        checkpoint: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.prior = prior
        self.likelihood = likelihood
        self.sampler = sampler
        self.n_particles = n_particles
        self.n_draws = n_draws
        self.n_warmup = n_warmup
        self.thin = thin
        self.n_chains = n_chains
        self.n_jobs = n_jobs
        self.init = init
        self.point_estimate = point_estimate
        self.max_time = max_time
        self.checkpoint = checkpoint
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def _prior(self) -> Prior:
        return _resolve.component("prior", self.prior, PRIORS, Prior)


class DPMixture(Mixture):
    """Dirichlet process mixture: clusters, how many there are, and how sure that is.

    Parameters
    ----------
    alpha : float, pair or "auto", default="auto"
        Concentration of the Dirichlet process, also called gamma or concentration elsewhere: the
        larger, the more clusters are expected. A number is fixed; a pair ``(shape, rate)`` is a
        Gamma hyper-prior, and alpha is sampled; ``"auto"`` is ``(1.0, 0.1)``.
    **parameters
        All others, and the attributes, are those of `BNPMixture`, except `prior`.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster import DPMixture
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(c, 0.3, (40, 2)) for c in (-2, 0, 2)])
    >>> model = DPMixture(n_draws=100, n_warmup=100, random_state=0).fit(X)
    >>> model.n_clusters_
    3
    >>> bool(model.coclustering_[0, 1] > model.coclustering_[0, 119])
    True
    """

    def __init__(
        self,
        *,
        alpha: Any = "auto",
        likelihood: Any = "niw",
        sampler: Any = "gibbs",
        n_particles: int | None = None,
        n_draws: int = 500,
        n_warmup: int = 500,
        thin: int = 1,
        n_chains: int = 4,
        n_jobs: int | None = None,
        init: Any = "auto",
        point_estimate: str = "vi",
        max_time: float | None = None,
        checkpoint: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.alpha = alpha
        self.likelihood = likelihood
        self.sampler = sampler
        self.n_particles = n_particles
        self.n_draws = n_draws
        self.n_warmup = n_warmup
        self.thin = thin
        self.n_chains = n_chains
        self.n_jobs = n_jobs
        self.init = init
        self.point_estimate = point_estimate
        self.max_time = max_time
        self.checkpoint = checkpoint
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def _prior(self) -> Prior:
        return DirichletProcess(alpha=self.alpha)
