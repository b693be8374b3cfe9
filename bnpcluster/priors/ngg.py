"""The normalised generalised gamma process, for clusters of very unequal sizes."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core.arguments import as_float
from bnpcluster._core.stable_distributions import log_exponentially_tilted
from bnpcluster.priors.base import Prior, PriorTables
from bnpcluster.priors.hyper_priors import Hyper, is_number, shown
from bnpcluster.priors.quadrature import log_integral
from bnpcluster.priors.rising_factorials import log_rising, log_rising_table


class NGG(Prior):
    """Normalised generalised gamma process NGG(tau, sigma).

    The total mass has density ``exp(tau - tau^(1/sigma) t) f(t)``, f the positive sigma-stable
    density. ``tau -> 0`` gives Pitman-Yor with alpha = 0 and discount sigma; ``sigma -> 0`` with
    sigma * tau = alpha gives the Dirichlet process; sigma = 1/2 is the normalised inverse Gaussian.

    Parameters
    ----------
    tau : float or pair, default=1.0
        Total mass, positive. A pair ``(shape, rate)`` is a Gamma hyper-prior. If your tau is the
        rate that tilts the Levy density, use `from_rate`.
    sigma : float or pair, default=0.25
        Between 0 and 1: the larger, the more small clusters. A pair ``(a, b)`` is a Beta
        hyper-prior.

    References
    ----------
    Lijoi, A., Mena, R. H. and Pruenster, I. (2007). Controlling the reinforcement in Bayesian
    non-parametric mixture models. Journal of the Royal Statistical Society B 69, 715-740.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster.priors import NGG
    >>> np.exp(NGG(tau=1.0, sigma=0.5).predictive(np.array([3, 2, 1]))).round(4).tolist()
    [0.3782, 0.2269, 0.0756, 0.3192]
    """

    hyper = {"tau": Hyper(1.0, "gamma"), "sigma": Hyper(0.25, "beta")}
    update_every = 16

    def __init__(self, tau: Any = 1.0, sigma: Any = 0.25):
        self.tau = tau
        self.sigma = sigma

    @classmethod
    def examples(cls) -> list[Prior]:
        """Small and large tau, and hyper-priors on both."""
        return [cls(), cls(20.0, 0.5), cls(0.1, 0.25), cls((2.0, 2.0), (2.0, 3.0))]

    @classmethod
    def from_rate(cls, rate: float, sigma: float = 0.25) -> NGG:
        """The process whose Levy density is tilted by exp(-rate x).

        Its Levy density is ``x^(-1-sigma) exp(-rate x) / Gamma(1 - sigma)``. Some papers write
        NGG(tau, sigma) for this process, with tau as the rate. Here it is
        ``NGG(rate^sigma / sigma, sigma)``.

        Parameters
        ----------
        rate : float
            Positive: the larger, the more clusters.
        sigma : float, default=0.25
            Between 0 and 1.

        Returns
        -------
        NGG

        Examples
        --------
        >>> from bnpcluster.priors import NGG
        >>> prior = NGG.from_rate(20.0, sigma=0.5)
        >>> round(prior.tau, 3), round(prior.expected_clusters(82), 1)
        (8.944, 31.9)
        >>> round(NGG(20.0, sigma=0.5).expected_clusters(82), 1)
        41.6
        """
        if not is_number(rate) or not as_float(rate) > 0:
            raise ValueError(f"rate must be a positive number; got {shown(rate)}.")
        if not is_number(sigma):
            raise ValueError(f"sigma must be a number; got {shown(sigma)}.")
        cls(1.0, sigma).validate()
        prior = cls(math.exp(sigma * math.log(rate)) / sigma, sigma)
        prior.validate()
        return prior

    @property
    def sigma_now(self) -> float:
        """The sigma of W[m] = (1 - sigma)_{m-1}."""
        return self.values["sigma"]

    def tables(self, n: int, k_max: int) -> PriorTables:
        """Log V[k] by quadrature, log W[m] = log (1-sigma)_{m-1}."""
        tau, sigma = self.values["tau"], self.values["sigma"]
        values = np.full(k_max + 1, -np.inf)
        k = np.arange(1, min(k_max, n) + 1)
        values[k] = log_v(n, tuple(k), tau, sigma)
        return PriorTables(values, log_rising_table(1.0 - sigma, n))

    def log_total_mass(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Logs of draws of the total mass, with density exp(tau - tau^(1/sigma) t) f(t)."""
        return log_exponentially_tilted(self.values["tau"], self.values["sigma"], size, rng)

    def predictive(self, sizes: np.ndarray) -> np.ndarray:
        """The ratios of V at n + 1 and at n, times m - sigma for a block of m items."""
        n, k = int(np.sum(sizes)), len(sizes)
        if n == 0:
            return np.zeros(1)
        tau, sigma = self.values["tau"], self.values["sigma"]
        now = log_v(n, (k,), tau, sigma)[0]
        then = log_v(n + 1, (k, k + 1), tau, sigma)
        return np.append(np.log(sizes - sigma) + then[0], then[1]) - now

    def log_eppf(self, sizes: np.ndarray) -> float:
        """Log p(partition) by its block sizes."""
        tau, sigma = self.values["tau"], self.values["sigma"]
        log_w = sum(log_rising(1.0 - sigma, m - 1) for m in sizes.tolist())
        return float(log_v(int(sizes.sum()), (len(sizes),), tau, sigma)[0] + log_w)


@lru_cache(maxsize=4096)
def log_v(n: int, blocks: tuple[int, ...], tau: float, sigma: float) -> NDArray:
    """log V[n, k] for every k in `blocks`.

    V = sigma^(k-1) tau^k e^tau / Gamma(n) * int exp{k y - tau e^y} (1 - e^(-y/sigma))^(n-1) dy over
    y > 0. The integral is over log y: for a small sigma, the last factor rises near zero.
    """
    return np.array([_log_v(n, k, tau, sigma) for k in blocks])


def _log_v(n: int, k: int, tau: float, sigma: float) -> float:
    def log_f(w: NDArray) -> NDArray:  # with e^tau, which a large tau needs here
        y = np.exp(w)
        return w + k * y - tau * np.expm1(y) + (n - 1) * np.log(-np.expm1(-y / sigma))

    least = min(sigma, 1.0 / (tau + k), 1.0)
    most = math.log((2.0 * k + 2.0 * n + 200.0) / tau + 2.0) + 2.0 * sigma * math.log1p(n)
    integral = log_integral(log_f, math.log(least) - 60.0, math.log(most) + 1.0)
    return (k - 1) * math.log(sigma) + k * math.log(tau) - math.lgamma(n) + integral
