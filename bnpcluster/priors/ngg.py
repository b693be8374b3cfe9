"""The normalised generalised gamma process, for clusters of very unequal sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from bnpcluster._core.stable_distributions import log_exponentially_tilted
from bnpcluster.priors.base import Prior, PriorTables
from bnpcluster.priors.hyper_priors import Hyper
from bnpcluster.priors.rising_factorials import legendre, log_rising, log_rising_table

DROP = 45.0  # nats below the mode at which the integrand is cut off
PANELS, NODES = 12, 16


class NGG(Prior):
    """Normalised generalised gamma process NGG(tau, sigma).

    The total mass has density ``exp(tau - tau^(1/sigma) t) f(t)``, f the positive sigma-stable
    density. ``tau -> 0`` gives Pitman-Yor with alpha = 0 and discount sigma; ``sigma -> 0`` with
    sigma * tau = alpha gives the Dirichlet process; sigma = 1/2 is the normalised inverse Gaussian.

    Parameters
    ----------
    tau : float or pair, default=1.0
        Total mass, positive. A pair ``(shape, rate)`` is a Gamma hyper-prior.
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

    def validate(self) -> None:
        """Raise an error if a parameter is invalid."""
        super().validate()
        if not 0 < self.values["tau"] < np.inf:
            raise ValueError(f"tau must be positive and finite, got {self.tau!r}.")
        if not 0 < self.values["sigma"] < 1:
            raise ValueError(f"sigma must be between 0 and 1, got {self.sigma!r}.")

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
def log_v(n: int, blocks: tuple[int, ...], tau: float, sigma: float) -> np.ndarray:
    """log V[n, k] for every k in `blocks`.

    V = sigma^(k-1) tau^k e^tau / Gamma(n) * int exp{k y - tau e^y} (1 - e^(-y/sigma))^(n-1) dy over
    y > 0. The logarithm of the integrand is strictly concave in y. Find its mode, cut it off DROP
    nats below on both sides, and integrate by composite Gauss-Legendre quadrature.
    """
    k = np.array(blocks, float)
    low, high = np.array([_integration_range(n, one, tau, sigma) for one in k.tolist()]).T
    nodes, weights = legendre(NODES)
    width = (high - low) / (2 * PANELS)
    centres = low[:, None] + width[:, None] * (2 * np.arange(PANELS) + 1)
    y = (centres[:, :, None] + width[:, None, None] * nodes).reshape(len(k), -1)
    log_f = k[:, None] * y - tau * np.exp(y) + (n - 1) * np.log(-np.expm1(-y / sigma))
    top = log_f.max(axis=1)
    total = (np.exp(log_f - top[:, None]) @ np.tile(weights, PANELS)) * width
    outside = (k - 1) * math.log(sigma) + k * math.log(tau) + tau - math.lgamma(n)
    return outside + top + np.log(total)


def _integration_range(n: int, k: float, tau: float, sigma: float) -> tuple[float, float]:
    """The interval in which the integrand is within DROP nats of its maximum."""

    def log_f(y: float) -> float:
        rest = (n - 1) * math.log(-math.expm1(-y / sigma)) if n > 1 else 0.0
        return k * y - tau * math.exp(y) + rest

    def slope(y: float) -> float:
        rest = (n - 1) / (sigma * math.expm1(min(y / sigma, 700.0)))
        return k - tau * math.exp(y) + rest

    mode = _root(slope, 1e-300, math.log((k + n) / tau + 2.0) + 1.0 + sigma * math.log1p(n))
    floor = log_f(mode) - DROP
    far = 1.0
    while log_f(mode + far) > floor:
        far *= 2.0
    high = _root(lambda y: log_f(y) - floor, mode, mode + far)
    low = 0.0
    if mode > 1e-300 and log_f(1e-300) < floor:
        low = _root(lambda y: floor - log_f(y), 1e-300, mode)
    return low, high


def _root(decreasing: Callable[[float], float], low: float, high: float) -> float:
    """Where a decreasing function changes sign, to the few digits that a range needs."""
    for _ in range(26):
        middle = 0.5 * (low + high)
        if decreasing(middle) > 0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)
