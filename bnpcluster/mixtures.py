"""The estimators: Bayesian nonparametric mixtures as scikit-learn clusterers."""

from __future__ import annotations

from typing import Any

from bnpcluster import _resolve
from bnpcluster._docs import documented
from bnpcluster._mixture import Mixture
from bnpcluster.priors import PRIORS, DirichletProcess, Prior


@documented
class BNPMixture(Mixture):
    """Mixture with any Gibbs-type prior on partitions; the number of clusters is inferred.

    Parameters
    ----------
    prior : str or Prior, default="dp"
        Prior on partitions: ``"dp"`` (Dirichlet process), or an object from `bnpcluster.priors`.
    {parameters}

    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster import BNPMixture
    >>> rng = np.random.default_rng(1)
    >>> X = np.concatenate([rng.normal(c, 0.3, (40, 2)) for c in (-2, 0, 2)])
    >>> model = BNPMixture(random_state=1).fit(X)
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
        self._store(locals())

    def _prior(self) -> Prior:
        return _resolve.component("prior", self.prior, PRIORS, Prior)


@documented
class DPMixture(Mixture):
    """Dirichlet process mixture: clusters, how many there are, and how sure that is.

    Parameters
    ----------
    alpha : float, pair or "auto", default="auto"
        Concentration of the Dirichlet process, also called gamma or concentration elsewhere: the
        larger, the more clusters are expected. A number is fixed; a pair ``(shape, rate)`` is a
        Gamma hyper-prior, and alpha is sampled; ``"auto"`` is ``(1.0, 0.1)``.
    {parameters}

    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster import DPMixture
    >>> rng = np.random.default_rng(1)
    >>> X = np.concatenate([rng.normal(c, 0.3, (40, 2)) for c in (-2, 0, 2)])
    >>> model = DPMixture(random_state=1).fit(X)
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
        self._store(locals())

    def _prior(self) -> Prior:
        return DirichletProcess(alpha=self.alpha)
