"""Mixtures of finite mixtures: the number of components has a prior."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import gammaln, logsumexp

from bnpcluster.priors.base import Prior, PriorTables
from bnpcluster.priors.hyper_priors import TINY, Hyper, is_number
from bnpcluster.priors.rising_factorials import legendre, log_rising_table

NAMED = {"gnedin": 0.5, "poisson": 1.0, "geometric": 0.1}
FAR = 1 << 14  # terms of the series, before the rest of a heavy tail is integrated
NEGLIGIBLE = 45.0  # nats below the largest term


class MFM(Prior):
    """Mixture of finite mixtures: M components, M random, with Dirichlet(g, ..., g) weights.

    Parameters
    ----------
    gamma : float or pair, default=1.0
        Dirichlet weight of the components, `g`. A pair ``(shape, rate)`` is a Gamma hyper-prior.
    n_components_prior : str, (str, float) or array, default="gnedin"
        Prior of M = 1, 2, ...: ``("gnedin", c)`` with 0 < c < 1, very heavy-tailed;
        ``("poisson", rate)`` for M - 1; ``("geometric", p)``; or the probabilities of 1, 2, ..., as
        an array. The bare names mean ``c = 0.5``, ``rate = 1`` and ``p = 0.1``.

    References
    ----------
    Miller, J. W. and Harrison, M. T. (2018). Mixture models with a prior on the number of
    components. Journal of the American Statistical Association 113, 340-356.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster.priors import MFM
    >>> prior = MFM(gamma=1.0, n_components_prior=("gnedin", 0.5))
    >>> np.exp(prior.predictive(np.array([3, 2, 1]))).round(4).tolist()
    [0.359, 0.2692, 0.1795, 0.1923]
    """

    hyper = {"gamma": Hyper(1.0, "gamma")}
    update_every = 16

    def __init__(self, gamma: Any = 1.0, n_components_prior: Any = "gnedin"):
        self.gamma = gamma
        self.n_components_prior = n_components_prior

    @classmethod
    def examples(cls) -> list[Prior]:
        """Every kind of prior of M, and a hyper-prior."""
        return [
            cls(),
            cls(0.6, ("gnedin", 0.7)),
            cls(0.8, ("poisson", 2.0)),
            cls(1.0, ("geometric", 0.3)),
            cls(0.7, [0.1, 0.2, 0.3, 0.4]),
            cls((2.0, 2.0), "poisson"),
        ]

    def validate(self) -> None:
        """Raise an error if a parameter is invalid."""
        super().validate()
        if not 0 < self.values["gamma"] < np.inf:
            raise ValueError(f"gamma must be positive and finite, got {self.gamma!r}.")
        self._components_prior()

    def _components_prior(self) -> tuple[str, Any]:
        """Name and parameter of the prior of M; for an array, the logs of its entries."""
        given = self.n_components_prior
        if isinstance(given, str) and given in NAMED:
            return given, NAMED[given]
        if isinstance(given, tuple) and len(given) == 2 and given[0] in NAMED:
            name, value = given
            high = np.inf if name == "poisson" else 1.0
            if not is_number(value) or not 0 < value < high:
                raise ValueError(
                    f"{name!r} needs a parameter between 0 and {high:g}, got {value!r}."
                )
            return name, float(value)
        if isinstance(given, (list, tuple, np.ndarray)) and all(map(is_number, given)):
            p = np.asarray(given, float)
            if len(p) and (p >= 0).all() and abs(p.sum() - 1) < 1e-8:
                with np.errstate(divide="ignore"):
                    return "array", tuple(np.log(p / p.sum()))
        raise ValueError(
            "n_components_prior must be 'gnedin', 'poisson' or 'geometric', a pair (name, "
            f"parameter), or probabilities of 1, 2, ... that sum to one; got {given!r}."
        )

    @property
    def most_clusters(self) -> float:
        """The largest possible number of components."""
        name, parameter = self._components_prior()
        return np.flatnonzero(np.isfinite(parameter))[-1] + 1 if name == "array" else np.inf

    @property
    def sigma_now(self) -> float:
        """The sigma of W[m] = (1 - sigma)_{m-1}."""
        return -self.values["gamma"]

    def tables(self, n: int, k_max: int) -> PriorTables:
        """Log V[k] by its series, log W[m] = log (g+1)_{m-1}."""
        g = self.values["gamma"]
        return PriorTables(
            log_v(n, k_max, g, *self._components_prior()), log_rising_table(1.0 + g, n)
        )

    def draw_components(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Draws of the number of components, as floats: Gnedin's prior is unbounded."""
        name, parameter = self._components_prior()
        if name == "array":
            return 1.0 + rng.choice(len(parameter), size=size, p=np.exp(parameter))
        if name == "poisson":
            return 1.0 + rng.poisson(parameter, size)
        # Gnedin's prior is geometric, with a success probability that is Beta(c, 1 - c).
        p = parameter if name == "geometric" else rng.beta(parameter, 1.0 - parameter, size)
        return np.ceil(np.log1p(-rng.random(size)) / np.log1p(-np.clip(p, TINY, 1.0 - 1e-16)))

    def predictive(self, sizes: np.ndarray) -> np.ndarray:
        """The ratios of V at n + 1 and at n, times m + g for a block of m items."""
        n, k = int(np.sum(sizes)), len(sizes)
        if n == 0:
            return np.zeros(1)
        g, components = self.values["gamma"], self._components_prior()
        now, then = log_v(n, k, g, *components)[k], log_v(n + 1, k + 1, g, *components)
        return np.append(np.log(sizes + g) + then[k], then[k + 1]) - now

    def log_eppf(self, sizes: np.ndarray) -> float:
        """Log p(partition) by its block sizes."""
        g, k = self.values["gamma"], len(sizes)
        log_w = gammaln(sizes + g) - math.lgamma(1.0 + g)
        return float(log_v(int(sizes.sum()), k, g, *self._components_prior())[k] + log_w.sum())


@lru_cache(maxsize=4096)
def log_v(n: int, k_max: int, g: float, name: str, parameter: Any) -> np.ndarray:
    """log V[n, k] for k = 0 .. k_max: k log g + log sum_m Q(m) m!/(m-k)! / (g m)_n"""
    if name == "gnedin" and g == 1.0:
        return _log_v_gnedin(n, k_max, parameter)
    length = 64 if name != "array" else len(parameter)
    while length < 2 * k_max and name != "array":
        length *= 2
    used = min(k_max, n, length)
    while True:
        m = np.arange(1.0, length + 1)
        base = _log_q(m, name, parameter) - (gammaln(g * m + n) - gammaln(g * m))
        terms = base + _falling(m, used)
        last = terms[:, -1] > terms.max(axis=1) - NEGLIGIBLE
        if name == "array" or not last.any() or length >= FAR:
            break
        length *= 2
    result = np.full(k_max + 1, -np.inf)
    result[: used + 1] = logsumexp(terms, axis=1)
    if name == "gnedin":
        for k in np.flatnonzero(last):
            rest = _log_tail(n, int(k), g, parameter, length)
            result[k] = np.logaddexp(result[k], rest)
    return result + np.arange(k_max + 1) * math.log(g)


def _falling(m: np.ndarray, k_max: int) -> np.ndarray:
    """log m!/(m-k)! in row k, -inf where m < k."""
    rows = np.zeros((k_max + 1, len(m)))
    with np.errstate(divide="ignore", invalid="ignore"):
        rows[1:] = np.log(np.maximum(m - np.arange(k_max)[:, None], 0.0))
    return np.cumsum(rows, axis=0)


def _log_q(m: np.ndarray, name: str, parameter: Any) -> np.ndarray:
    """log Q(m), m = 1, 2, ..."""
    if name == "array":
        return np.array(parameter)
    if name == "poisson":
        return (m - 1) * math.log(parameter) - parameter - gammaln(m)
    if name == "geometric":
        return math.log(parameter) + (m - 1) * math.log1p(-parameter)
    return (
        math.log(parameter) + gammaln(m - parameter) - math.lgamma(1 - parameter) - gammaln(m + 1)
    )


def _log_v_gnedin(n: int, k_max: int, c: float) -> np.ndarray:
    """The closed form for g = 1."""
    k = np.arange(1.0, min(k_max, n) + 1)
    result = np.full(k_max + 1, -np.inf)
    value = gammaln(k) + gammaln(k - c) - math.lgamma(1 - c) + gammaln(n - k + c) - math.lgamma(c)
    result[1 : len(k) + 1] = value - math.lgamma(n) - (math.lgamma(n + c) - math.lgamma(1 + c))
    return result


def _log_tail(n: int, k: int, g: float, c: float, last: int) -> float:
    """log of the sum over m > last of Gnedin's series, by the Euler-Maclaurin formula.

    With m = last e^u the integrand decays like exp(-(n - k + c) u). Products are summed as logs of
    their factors, because differences of lgamma lose all digits for such m.
    """
    decay = n - k + c
    nodes, weights = legendre(20)
    edges = np.linspace(0.0, NEGLIGIBLE / decay, 41)
    width = edges[1] / 2
    u = (edges[:-1, None] + width * (1 + nodes)).ravel()
    log_f = _log_term(math.log(last) + u, n, k, g, c)
    integral = logsumexp(log_f + np.log(last) + u, b=np.tile(width * weights, 40))
    step = 1e-3
    log_m = math.log(last) + np.log([1.0, 1.0 + step, 1.0 - step])
    near = _log_term(log_m, n, k, g, c)
    slope = (near[1] - near[2]) / (2 * step * last)
    # sum over m > last of f = integral - f(last)/2 - f'(last)/12
    return float(integral + np.log1p(-np.exp(near[0] - integral) * (0.5 + slope / 12)))


def _log_term(log_m: np.ndarray, n: int, k: int, g: float, c: float) -> np.ndarray:
    """log Q(m) m!/(m-k)!/(g m)_n at large real m."""
    inverse = np.exp(-log_m)[:, None]
    rising = np.log(g + np.arange(n) * inverse).sum(axis=1)
    falling = np.log1p(-np.arange(k) * inverse).sum(axis=1)
    # Gamma(m - c) / Gamma(m + 1) = x^-b (1 - b (b^2 - 1) / (24 x^2) + ...), b = 1 + c, at the
    # midpoint x = m - c/2.
    b = 1.0 + c
    inverse = inverse[:, 0]
    log_x = log_m + np.log1p(-0.5 * c * inverse)
    ratio = -b * log_x - b * (b * b - 1.0) / 24.0 * inverse**2
    return math.log(c) - math.lgamma(1 - c) + ratio + falling - rising + (k - n) * log_m
