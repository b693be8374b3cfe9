"""A mixture with a fixed number of components and symmetric Dirichlet weights."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

from bnpcluster._core.messages import Message, parameter, shown
from bnpcluster.priors.base import Prior, PriorTables
from bnpcluster.priors.hyper_priors import Hyper
from bnpcluster.priors.rising_factorials import log_rising, log_rising_table

MOST = 10**9  # components


class FiniteDirichlet(Prior):
    """At most `n_components` clusters; the weights are Dirichlet(a, ..., a).

    Parameters
    ----------
    n_components : int, default=10
        Components of the mixture; clusters are the components that contain items.
    concentration : float or pair, default=1.0
        Dirichlet weight of the components, `a`. A pair ``(shape, rate)`` is a Gamma hyper-prior.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster.priors import FiniteDirichlet
    >>> prior = FiniteDirichlet(n_components=2, concentration=1.0)
    >>> np.exp(prior.predictive(np.array([1, 2]))).round(3).tolist()
    [0.4, 0.6, 0.0]
    """

    hyper = {"concentration": Hyper(1.0, "gamma")}

    def __init__(self, n_components: int = 10, concentration: Any = 1.0):
        self.n_components = n_components
        self.concentration = concentration

    @classmethod
    def examples(cls) -> list[Prior]:
        """Fewer and more components than items, and a hyper-prior."""
        return [cls(5, 0.6), cls(3, 0.7), cls(4, (2.0, 3.0))]

    def validate(self) -> None:
        """Raise an error if a parameter is invalid."""
        super().validate()
        k = self.n_components
        if isinstance(k, bool) or not isinstance(k, numbers.Integral) or not 1 <= k <= MOST:
            text = f" must be a positive integer up to {MOST:,}; got {shown(k)}."
            raise ValueError(Message(parameter("n_components"), text))

    @property
    def most_clusters(self) -> float:
        """The number of components."""
        return int(self.n_components)

    @property
    def sigma_now(self) -> float:
        """The sigma of W[m] = (1 - sigma)_{m-1}."""
        return -self.values["concentration"]

    def tables(self, n: int, k_max: int) -> PriorTables:
        """Log V[k] = log k0!/(k0-k)! + k log a - log (k0 a)_n, log W[m] = log (a+1)_{m-1}."""
        a, k0 = self.values["concentration"], int(self.n_components)
        log_v = np.full(k_max + 1, -np.inf)
        k = np.arange(min(k_max, k0) + 1)
        log_v[k] = np.append(0.0, np.cumsum(np.log(k0 - k[:-1]))) + k * math.log(a)
        return PriorTables(log_v - log_rising(k0 * a, n), log_rising_table(1.0 + a, n))

    def draw_components(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """The number of components, which is fixed, as an array of floats."""
        return np.full(size, float(self.n_components))

    def predictive(self, sizes: np.ndarray) -> np.ndarray:
        """Log of (m + a) / (n + k0 a) for a block of m items, a (k0 - k) / (n + k0 a) for a new."""
        a, k0 = self.values["concentration"], int(self.n_components)
        with np.errstate(divide="ignore"):  # a full mixture opens no new block
            return np.log(
                np.append(sizes + a, a * max(k0 - len(sizes), 0)) / (np.sum(sizes) + k0 * a)
            )

    def log_eppf(self, sizes: np.ndarray) -> float:
        """Log p(partition) by its block sizes."""
        a, k0 = self.values["concentration"], int(self.n_components)
        n, k = int(sizes.sum()), len(sizes)
        if k > k0:
            return -math.inf
        log_v = log_rising(k0 - k + 1.0, k) + k * math.log(a)
        return (
            log_v - log_rising(k0 * a, n) + sum(log_rising(1.0 + a, m - 1) for m in sizes.tolist())
        )
