"""The Dirichlet process prior on partitions (the Chinese restaurant process)."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import gammaln

from bnpcluster.priors.base import Prior, PriorTables, gamma_pair


@lru_cache(maxsize=4)
def _log_factorials(n: int) -> np.ndarray:
    """log W[m] = log (m-1)! for m = 0 .. n; it does not depend on alpha, so it is made once."""
    log_w = np.zeros(n + 1)
    log_w[1:] = gammaln(np.arange(1.0, n + 1))
    return log_w


class DirichletProcess(Prior):
    """Dirichlet process: a new cluster opens with probability ``alpha / (n + alpha)``.

    Parameters
    ----------
    alpha : float, pair or "auto", default="auto"
        Concentration. A number is fixed. A pair ``(shape, rate)`` is a Gamma hyper-prior and alpha
        is sampled by the method of Escobar and West (1995). ``"auto"`` is ``(1.0, 0.1)``.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster.priors import DirichletProcess
    >>> np.exp(DirichletProcess(alpha=1.0).predictive(np.array([1, 2]))).round(2).tolist()
    [0.25, 0.5, 0.25]
    """

    hyper = {"alpha": 1.0}

    def __init__(self, alpha: Any = "auto"):
        self.alpha = alpha

    @classmethod
    def examples(cls) -> list[Prior]:
        """A fixed alpha on either side of one, and the default."""
        return [cls(alpha=1.3), cls(alpha=0.2), cls()]

    def validate(self) -> None:
        """Raise one sentence if alpha makes no sense."""
        gamma_pair("alpha", self.alpha, (1.0, 0.1))

    def draw(self, rng: np.random.Generator) -> dict[str, float]:
        """A value of alpha from its hyper-prior, if it has one."""
        pair = gamma_pair("alpha", self.alpha, (1.0, 0.1))
        return {} if pair is None else {"alpha": max(rng.gamma(pair[0]) / pair[1], 1e-300)}

    def tables(self, n: int, k_max: int) -> PriorTables:
        """log V[k] = k log alpha - log (alpha)_n and log W[m] = log (m-1)!"""
        alpha = self.values["alpha"]
        rising = math.lgamma(alpha + n) - math.lgamma(alpha)
        return PriorTables(np.arange(k_max + 1) * math.log(alpha) - rising, _log_factorials(n))

    def predictive(self, sizes: np.ndarray) -> np.ndarray:
        """m / (n + alpha) for a block of m items, alpha / (n + alpha) for a new one."""
        alpha = self.values["alpha"]
        return np.log(np.append(sizes, alpha) / (np.sum(sizes) + alpha))

    def update(self, sizes: np.ndarray, n: int, rng: np.random.Generator) -> Prior:
        """Redraw alpha given the number of blocks, with an auxiliary Beta variable."""
        pair = gamma_pair("alpha", self.alpha, (1.0, 0.1))
        if pair is None:
            return self
        shape, rate = pair
        k = len(sizes)
        eta = rng.beta(self.values["alpha"] + 1.0, n)
        rate -= math.log(eta)
        odds = (shape + k - 1.0) / (n * rate)
        shape += k if rng.random() * (1.0 + odds) < odds else k - 1.0
        # Gamma draws of a tiny shape may underflow to zero, which is no value of alpha.
        return self.at(alpha=max(rng.gamma(shape) / rate, 1e-300))
