"""The estimators: Bayesian nonparametric mixtures as scikit-learn clusterers."""

from __future__ import annotations

from typing import Any

from bnpcluster._core import arguments
from bnpcluster._estimators.docstrings import documented
from bnpcluster._estimators.mixture import Mixture
from bnpcluster.priors import (
    MFM,
    NGG,
    PRIORS,
    DirichletProcess,
    FiniteDirichlet,
    PitmanYor,
    Prior,
)


@documented
class BNPMixture(Mixture):
    """Mixture with any Gibbs-type prior on partitions; the number of clusters is inferred.

    Parameters
    ----------
    prior : str or Prior, default="dp"
        Prior on partitions: ``"dp"`` (Dirichlet process), ``"py"`` (Pitman-Yor), ``"ngg"``
        (normalised generalised gamma), ``"mfm"`` (mixture of finite mixtures), ``"finite"``
        (fixed number of components), or an object from `bnpcluster.priors`.
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
        handle_unknown: str = "error",
        sampler: Any = "split_merge",
        n_particles: int | None = None,
        n_draws: int | str = "auto",
        n_warmup: int | str = "auto",
        thin: int = 1,
        max_draws: int = 1000,
        n_chains: int = 4,
        n_jobs: int | None = None,
        init: Any = "auto",
        point_estimate: Any = ("vi", 1.25),
        merge: Any = None,
        max_clusters: int | None = None,
        min_cluster_size: int | None = None,
        max_prediction_draws: int | None = 200,
        max_time: float | None = None,
        checkpoint: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self._store(locals())

    def _prior(self) -> Prior:
        return arguments.component("prior", self.prior, PRIORS, Prior)


@documented
class DPMixture(Mixture):
    """Dirichlet process mixture: clusters, their number, and the uncertainty of both.

    Parameters
    ----------
    alpha : float, pair or "auto", default="auto"
        Concentration of the Dirichlet process, elsewhere also called gamma. Larger values expect
        more clusters. A number is fixed; a pair ``(shape, rate)`` is a
        Gamma hyper-prior, and alpha is sampled; ``"auto"`` is ``(1.0, 0.1)``. Particles without
        moves cannot sample alpha: for ``"urn_smc"``, ``"auxiliary_smc"`` and ``"annealed_smc"`` on
        the path of the items, ``"auto"`` is the number 1.0. Reports say which it was.
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
        handle_unknown: str = "error",
        sampler: Any = "split_merge",
        n_particles: int | None = None,
        n_draws: int | str = "auto",
        n_warmup: int | str = "auto",
        thin: int = 1,
        max_draws: int = 1000,
        n_chains: int = 4,
        n_jobs: int | None = None,
        init: Any = "auto",
        point_estimate: Any = ("vi", 1.25),
        merge: Any = None,
        max_clusters: int | None = None,
        min_cluster_size: int | None = None,
        max_prediction_draws: int | None = 200,
        max_time: float | None = None,
        checkpoint: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self._store(locals())

    def _prior(self) -> Prior:
        return DirichletProcess(alpha=self.alpha)


@documented
class PitmanYorMixture(Mixture):
    """Pitman-Yor mixture: more small clusters than a Dirichlet process expects.

    Parameters
    ----------
    alpha : float, pair or "auto", default="auto"
        Concentration, greater than ``-discount``; a pair ``(shape, rate)`` is a Gamma hyper-prior;
        ``"auto"`` is ``(1.0, 0.1)``, or the number 1.0 for particles without moves.
    discount : float or pair, default=0.25
        From 0 (the Dirichlet process) to below 1; a pair ``(a, b)`` is a Beta hyper-prior.
    {parameters}

    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster import PitmanYorMixture
    >>> rng = np.random.default_rng(1)
    >>> X = np.concatenate([rng.normal(c, 0.3, (40, 2)) for c in (-2, 0, 2)])
    >>> PitmanYorMixture(alpha=0.5, n_draws=1000, random_state=1).fit(X).n_clusters_
    3
    """

    def __init__(
        self,
        *,
        alpha: Any = "auto",
        discount: Any = 0.25,
        likelihood: Any = "niw",
        handle_unknown: str = "error",
        sampler: Any = "split_merge",
        n_particles: int | None = None,
        n_draws: int | str = "auto",
        n_warmup: int | str = "auto",
        thin: int = 1,
        max_draws: int = 1000,
        n_chains: int = 4,
        n_jobs: int | None = None,
        init: Any = "auto",
        point_estimate: Any = ("vi", 1.25),
        merge: Any = None,
        max_clusters: int | None = None,
        min_cluster_size: int | None = None,
        max_prediction_draws: int | None = 200,
        max_time: float | None = None,
        checkpoint: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self._store(locals())

    def _prior(self) -> Prior:
        return PitmanYor(self.alpha, self.discount)


@documented
class FiniteDirichletMixture(Mixture):
    """Mixture with a fixed number of components; clusters are those with rows.

    Parameters
    ----------
    n_components : int, default=10
        Number of components, an upper bound on the number of clusters.
    concentration : float or pair, default=1.0
        Parameter of the symmetric Dirichlet weights; a pair ``(shape, rate)`` is a Gamma
        hyper-prior.
    {parameters}

    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster import FiniteDirichletMixture
    >>> rng = np.random.default_rng(1)
    >>> X = np.concatenate([rng.normal(c, 0.3, (40, 2)) for c in (-2, 0, 2)])
    >>> FiniteDirichletMixture(concentration=0.2, n_draws=1000, random_state=1).fit(X).n_clusters_
    3
    """

    def __init__(
        self,
        *,
        n_components: int = 10,
        concentration: Any = 1.0,
        likelihood: Any = "niw",
        handle_unknown: str = "error",
        sampler: Any = "split_merge",
        n_particles: int | None = None,
        n_draws: int | str = "auto",
        n_warmup: int | str = "auto",
        thin: int = 1,
        max_draws: int = 1000,
        n_chains: int = 4,
        n_jobs: int | None = None,
        init: Any = "auto",
        point_estimate: Any = ("vi", 1.25),
        merge: Any = None,
        max_clusters: int | None = None,
        min_cluster_size: int | None = None,
        max_prediction_draws: int | None = 200,
        max_time: float | None = None,
        checkpoint: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self._store(locals())

    def _prior(self) -> Prior:
        return FiniteDirichlet(self.n_components, self.concentration)


@documented
class MFMMixture(Mixture):
    """Mixture of finite mixtures: the number of components has a prior.

    Parameters
    ----------
    gamma : float or pair, default=1.0
        Dirichlet weight of the components; a pair ``(shape, rate)`` is a Gamma hyper-prior.
    n_components_prior : str, (str, float) or array, default="gnedin"
        ``"gnedin"`` or ``("gnedin", 0.5)``, ``("poisson", 1.0)`` for components minus one,
        ``("geometric", 0.1)``, or an array of the probabilities of 1, 2, ... components.
    {parameters}

    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster import MFMMixture
    >>> rng = np.random.default_rng(1)
    >>> X = np.concatenate([rng.normal(c, 0.3, (40, 2)) for c in (-2, 0, 2)])
    >>> MFMMixture(n_draws=3000, random_state=1).fit(X).n_clusters_
    3
    """

    def __init__(
        self,
        *,
        gamma: Any = 1.0,
        n_components_prior: Any = "gnedin",
        likelihood: Any = "niw",
        handle_unknown: str = "error",
        sampler: Any = "split_merge",
        n_particles: int | None = None,
        n_draws: int | str = "auto",
        n_warmup: int | str = "auto",
        thin: int = 1,
        max_draws: int = 1000,
        n_chains: int = 4,
        n_jobs: int | None = None,
        init: Any = "auto",
        point_estimate: Any = ("vi", 1.25),
        merge: Any = None,
        max_clusters: int | None = None,
        min_cluster_size: int | None = None,
        max_prediction_draws: int | None = 200,
        max_time: float | None = None,
        checkpoint: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self._store(locals())

    def _prior(self) -> Prior:
        return MFM(self.gamma, self.n_components_prior)


@documented
class NGGMixture(Mixture):
    """Normalised generalised gamma mixture: clusters of very unequal sizes.

    Parameters
    ----------
    tau : float or pair, default=1.0
        Positive; a pair ``(shape, rate)`` is a Gamma hyper-prior.
    sigma : float or pair, default=0.25
        Between 0 and 1; a pair ``(a, b)`` is a Beta hyper-prior.
    {parameters}

    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster import NGGMixture
    >>> rng = np.random.default_rng(1)
    >>> X = np.concatenate([rng.normal(c, 0.3, (40, 2)) for c in (-2, 0, 2)])
    >>> NGGMixture(sigma=0.1, n_draws=1000, random_state=1).fit(X).n_clusters_
    3
    """

    def __init__(
        self,
        *,
        tau: Any = 1.0,
        sigma: Any = 0.25,
        likelihood: Any = "niw",
        handle_unknown: str = "error",
        sampler: Any = "split_merge",
        n_particles: int | None = None,
        n_draws: int | str = "auto",
        n_warmup: int | str = "auto",
        thin: int = 1,
        max_draws: int = 1000,
        n_chains: int = 4,
        n_jobs: int | None = None,
        init: Any = "auto",
        point_estimate: Any = ("vi", 1.25),
        merge: Any = None,
        max_clusters: int | None = None,
        min_cluster_size: int | None = None,
        max_prediction_draws: int | None = 200,
        max_time: float | None = None,
        checkpoint: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self._store(locals())

    def _prior(self) -> Prior:
        return NGG(self.tau, self.sigma)


PRESETS: dict[str, type[Mixture]] = {
    "dp": DPMixture,
    "py": PitmanYorMixture,
    "ngg": NGGMixture,
    "mfm": MFMMixture,
    "finite": FiniteDirichletMixture,
}
"""The mixtures of single priors, by the name of the prior; `BNPMixture` takes every prior."""
