"""The Dirichlet process prior on partitions (the Chinese restaurant process)."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import gammaln

from bnpcluster.priors.base import Prior, PriorTables
from bnpcluster.priors.hyper_priors import Hyper, solve_expected
from bnpcluster.priors.rising_factorials import log_rising


@lru_cache(maxsize=4)
def _log_factorials(n: int) -> np.ndarray:
    """log W[m] = log (m-1)! for m = 0 .. n; it does not depend on alpha, so it is cached."""
    log_w = np.zeros(n + 1)
    log_w[1:] = gammaln(np.arange(1.0, n + 1))
    return log_w


class DirichletProcess(Prior):
    """Dirichlet process: a new cluster opens with probability ``alpha / (n + alpha)``.

    Parameters
    ----------
    alpha : float, pair or "auto", default="auto"
        Concentration. A number is fixed. A pair ``(shape, rate)`` is a Gamma hyper-prior; alpha is
        then sampled by the method of Escobar and West (1995). ``"auto"`` is ``(1.0, 0.1)``.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster.priors import DirichletProcess
    >>> np.exp(DirichletProcess(alpha=1.0).predictive(np.array([1, 2]))).round(2).tolist()
    [0.25, 0.5, 0.25]
    """

    hyper = {"alpha": Hyper(1.0, "gamma", auto=(1.0, 0.1))}

    def __init__(self, alpha: Any = "auto"):
        self.alpha = alpha

    @classmethod
    def examples(cls) -> list[Prior]:
        """A fixed alpha above and below one, and the default."""
        return [cls(alpha=1.3), cls(alpha=0.2), cls()]

    @property
    def sigma_now(self) -> float:
        """The sigma of W[m] = (1 - sigma)_{m-1}."""
        return 0.0

    def tables(self, n: int, k_max: int) -> PriorTables:
        """The tables log V[k] = k log alpha - log (alpha)_n and log W[m] = log (m-1)!."""
        alpha = self.values["alpha"]
        log_v = np.arange(k_max + 1) * math.log(alpha) - log_rising(alpha, n)
        return PriorTables(log_v, _log_factorials(n))

    @classmethod
    def from_expected_clusters(cls, k: float, n: int) -> DirichletProcess:
        """The process with the fixed alpha for which k clusters are expected among n items.

        Parameters
        ----------
        k : float
            Greater than 1 and less than n.
        n : int

        Returns
        -------
        DirichletProcess

        Examples
        --------
        >>> from bnpcluster.priors import DirichletProcess
        >>> prior = DirichletProcess.from_expected_clusters(k=5, n=100)
        >>> round(prior.alpha, 3), round(prior.expected_clusters(100), 3)
        (0.948, 5.0)
        """
        alpha = solve_expected(lambda alpha: cls(alpha).expected_clusters(n), k, n)
        return cls(alpha)

    def expected_clusters(self, n: int) -> float:
        """Prior expectation of the number of clusters among n items, averaged over alpha."""
        if self.sampled:
            return super().expected_clusters(n)
        alpha = self.values["alpha"]
        return float((alpha / (alpha + np.arange(n))).sum())

    def predictive(self, sizes: np.ndarray) -> np.ndarray:
        """Log of m / (n + alpha) for a block of m items, of alpha / (n + alpha) for a new one."""
        alpha = self.values["alpha"]
        return np.log(np.append(sizes, alpha) / (np.sum(sizes) + alpha))

    def update(self, sizes: np.ndarray, n: int, rng: np.random.Generator) -> Prior:
        """Redraw alpha given the number of blocks, with an auxiliary Beta variable."""
        if not self._pairs:
            return self
        shape, rate = self._pairs["alpha"]
        k = len(sizes)
        eta = rng.beta(self.values["alpha"] + 1.0, n)
        rate -= math.log(eta)
        odds = (shape + k - 1.0) / (n * rate)
        shape += k if rng.random() * (1.0 + odds) < odds else k - 1.0
        return self.at(alpha=self.hyper["alpha"].draw((shape, rate), rng))
