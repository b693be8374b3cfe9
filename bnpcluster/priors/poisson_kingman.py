"""Poisson-Kingman priors: any density of the total mass of a stable random measure."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bnpcluster._core.arguments import as_float
from bnpcluster._core.messages import shown
from bnpcluster.priors.base import Prior, PriorTables
from bnpcluster.priors.hyper_priors import is_number
from bnpcluster.priors.rising_factorials import log_rising, log_rising_table
from bnpcluster.priors.stable_density import log_density

LEAST, MOST = 0.02, 0.95  # of sigma
NEGLIGIBLE = 45.0  # nats below the maximum of an integrand
REACH = 3000.0  # how far to look for it, in units of sigma * log mass
COARSE = 96  # cells to look with
POINTS = 48  # of a first quadrature; they double until it no longer changes
FEW_POINTS, MOST_POINTS = 384, 1536
TOLERANCE = 1e-11
CELLS = 4096  # of the envelope of the total mass
ABOVE = 1.01  # envelope over the density at the ends of a cell
NOT_SMOOTH = (
    "log_h varies too fast for the tables: h must be a smooth function, without jumps or kinks."
)


class PoissonKingman(Prior):
    """Poisson-Kingman process: a normalised stable random measure, its total mass reweighted.

    The total mass t has a density proportional to ``h(t) f(t)``, f the positive sigma-stable
    density. h is yours. ``h = t^-alpha`` gives Pitman-Yor with discount sigma, and
    ``h = exp(-tau^(1/sigma) t)`` gives `NGG`, which are faster.

    Parameters
    ----------
    log_h : callable
        The logarithm of h up to a constant, as a function of an array of log t, element by element.
        (A mass may be too large for a float, its logarithm is not.) It should be smooth, with a
        single peak of ``h(t) f(t)``. A heavy tail towards small t gives many small clusters.
    sigma : float, default=0.5
        Between 0.02 and 0.95: the larger, the more small clusters.

    Notes
    -----
    The tables come from a quadrature in two dimensions for each number of clusters, to about ten
    digits; this takes some milliseconds. Nothing is sampled: sigma and h are fixed. `UrnSMC` and
    all chains use the tables, `AuxiliarySMC` draws the total mass. For a checkpoint ``log_h`` must
    be a function of a module.

    References
    ----------
    Pitman, J. (2003). Poisson-Kingman partitions. IMS Lecture Notes 40, 1-34.

    Lomeli, M. (2017). General Bayesian inference schemes in infinite mixture models. PhD thesis,
    University College London.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster.priors import PitmanYor, PoissonKingman
    >>> prior = PoissonKingman(lambda log_t: -1.0 * log_t, sigma=0.5)
    >>> np.exp(prior.predictive(np.array([1, 2]))).round(3).tolist()
    [0.125, 0.375, 0.5]
    >>> np.exp(PitmanYor(1.0, 0.5).predictive(np.array([1, 2]))).round(3).tolist()
    [0.125, 0.375, 0.5]
    >>> lognormal = PoissonKingman(lambda log_t: -0.5 * (log_t + 1.0) ** 2, sigma=0.5)
    >>> round(lognormal.expected_clusters(50), 2)
    10.75
    """

    def __init__(self, log_h: Any, sigma: float = 0.5):
        self.log_h = log_h
        self.sigma = sigma

    @classmethod
    def examples(cls) -> list[Prior]:
        """Pitman-Yor, NGG, and a lognormal factor."""
        return [cls(polynomial, 0.5), cls(exponential, 0.25), cls(lognormal, 0.7)]

    def validate(self) -> None:
        """Raise an error if a parameter is invalid."""
        if not callable(self.log_h):
            raise ValueError(f"log_h must be a function of log t; got {shown(self.log_h)}.")
        if not is_number(self.sigma) or not LEAST <= as_float(self.sigma) <= MOST:
            raise ValueError(
                f"sigma must be a number from {LEAST} to {MOST}; got {shown(self.sigma)}."
            )
        some = np.array([-1.0, 0.0, 1.0])
        if np.shape(self.log_h(some)) != some.shape:
            raise ValueError("log_h must return an array as long as its argument.")
        _log_total(self.log_h, self.sigma_now)

    @property
    def sigma_now(self) -> float:
        """The sigma of W[m] = (1 - sigma)_{m-1}."""
        return float(self.sigma)

    def _log_v(self, n: int, k: int) -> float:
        return log_v(self.log_h, self.sigma_now, n, k)

    def tables(self, n: int, k_max: int) -> PriorTables:
        """Log V[k] by quadrature, log W[m] = log (1-sigma)_{m-1}."""
        values = np.full(k_max + 1, -np.inf)
        for k in range(1, min(k_max, n) + 1):
            values[k] = self._log_v(n, k)
        return PriorTables(values, log_rising_table(1.0 - self.sigma_now, n))

    def predictive(self, sizes: np.ndarray) -> np.ndarray:
        """The ratios of V at n + 1 and at n, times m - sigma for a block of m items."""
        n, k = int(np.sum(sizes)), len(sizes)
        if n == 0:
            return np.zeros(1)
        joined = np.log(sizes - self.sigma_now) + self._log_v(n + 1, k)
        return np.append(joined, self._log_v(n + 1, k + 1)) - self._log_v(n, k)

    def log_eppf(self, sizes: np.ndarray) -> float:
        """Log p(partition) by its block sizes."""
        log_w = sum(log_rising(1.0 - self.sigma_now, m - 1) for m in sizes.tolist())
        return self._log_v(int(sizes.sum()), len(sizes)) + log_w

    def log_total_mass(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Logs of draws of the total mass, by rejection from an envelope that is flat in cells."""
        line = _line(self.log_h, self.sigma_now)
        ends = np.linspace(line.low, line.high, CELLS + 1)
        density = np.exp(line.log_g(ends) - line.log_g(ends).max())
        envelope = ABOVE * np.maximum(density[1:], density[:-1])
        top, found = line.log_g(ends).max(), np.empty(0)
        while len(found) < size:
            cell = rng.choice(CELLS, size=size, p=envelope / envelope.sum())
            a = ends[cell] + (ends[1] - ends[0]) * rng.random(size)
            accepted = rng.random(size) * envelope[cell] < np.exp(line.log_g(a) - top)
            found = np.append(found, line.position(a[accepted]))
        return found[:size] / self.sigma_now


def polynomial(log_t: NDArray) -> NDArray:
    """log h of Pitman-Yor with alpha = 0.7."""
    return -0.7 * log_t


def exponential(log_t: NDArray) -> NDArray:
    """log h of NGG with tau = 1."""
    return -np.exp(np.minimum(log_t, 700.0))


def lognormal(log_t: NDArray) -> NDArray:
    """log h of a lognormal factor."""
    return -0.5 * log_t**2


class Line(NamedTuple):
    """A function g of q and a change of variable q = mode + width sinh(a), a from low to high."""

    log_f: Callable[[NDArray], NDArray]
    mode: float
    width: float
    low: float
    high: float

    def position(self, a: NDArray) -> NDArray:
        """q"""
        return self.mode + self.width * np.sinh(a)

    def log_g(self, a: NDArray) -> NDArray:
        """log g, times dq / da"""
        return self.log_f(self.position(a)) + np.log(self.width * np.cosh(a))


@lru_cache(maxsize=16)
def _line(log_h: Callable[[NDArray], NDArray], s: float) -> Line:
    """h(t) f(t) t over q = s log t"""

    def log_f(q: NDArray) -> NDArray:
        return _checked(log_h(q / s)) + log_density(q / s, s) + q / s

    mode = _peak(log_f, 0.0, REACH)
    width = _width(log_f, mode)
    line = Line(log_f, mode, width, *(sign * math.asinh(REACH / width) for sign in (-1.0, 1.0)))
    a = np.linspace(line.low, line.high, 40 * COARSE)
    high = np.flatnonzero(line.log_g(a) > line.log_g(a).max() - NEGLIGIBLE)
    if high[0] == 0 or high[-1] == len(a) - 1:
        raise ValueError(
            "h(t) f(t) has no finite integral, or one whose peak is too far away: log_h must grow "
            "less fast, or be shifted in log t."
        )
    return line._replace(low=float(a[high[0] - 1]), high=float(a[high[-1] + 1]))


def _checked(values: NDArray) -> NDArray:
    """log h without undefined values, which overflow brings about."""
    return np.nan_to_num(np.asarray(values, float), nan=-1e300, posinf=1e300, neginf=-1e300)


def _peak(log_f: Callable[[NDArray], NDArray], middle: float, reach: float) -> float:
    """Where a function with a single peak has it."""
    while reach > 1e-9 * max(1.0, abs(middle)):
        q = np.linspace(middle - reach, middle + reach, COARSE + 1)
        middle = float(q[log_f(q).argmax()])
        reach *= 3.0 / COARSE
    return middle


def _width(log_f: Callable[[NDArray], NDArray], mode: float) -> float:
    """Distance from the peak to where a function is half a nat lower on one side."""
    far = np.geomspace(1e-6, REACH, 500)
    values = np.maximum(log_f(mode - far), log_f(mode + far))
    lower = values < log_f(np.array([mode])) - 0.5
    return float(far[lower.argmax()]) if lower.any() else 1.0


@lru_cache(maxsize=16)
def _log_total(log_h: Callable[[NDArray], NDArray], s: float) -> float:
    """log of int h(t) f(t) dt"""
    line, before, points = _line(log_h, s), math.inf, POINTS
    while points <= MOST_POINTS:
        a = np.linspace(line.low, line.high, points + 1)
        found = _log_sum(line.log_g(a)) + math.log((a[1] - a[0]) / s)
        if abs(found - before) < TOLERANCE * max(1.0, abs(found)):
            return found
        before, points = found, 2 * points
    raise ValueError(NOT_SMOOTH)


def _log_sum(values: NDArray) -> float:
    top = values.max()
    return float(top + math.log(np.exp(values - top).sum()))


@lru_cache(maxsize=65536)
def log_v(log_h: Callable[[NDArray], NDArray], s: float, n: int, k: int) -> float:
    """log V[n, k]

    Under the stable process itself (h = 1), V[n, k] = s^(k-1) (k-1)! / (n-1)!, and given a
    partition, T = X / R: X, the mass of all other jumps, has a density proportional to
    x^(-sk) f(x), and its share R is Beta(sk, n - sk). So V[n, k] under h is this V times
    E h(X / R) / E h(T).
    """
    if n == 1:
        return 0.0
    log_mean = _log_mean(log_h, s, n, k) - _log_total(log_h, s)
    return (k - 1) * math.log(s) + math.lgamma(k) - math.lgamma(n) + log_mean


def _log_mean(log_h: Callable[[NDArray], NDArray], s: float, n: int, k: int) -> float:
    """log E h(X / R), by the trapezoidal rule over v = logit r and p = s log x or s log(x / r).

    The latter is for an h that is narrow.
    """
    r, rest = s * k, n - s * k
    moment = gammaln(1.0 + k) - gammaln(1.0 + r)  # log E T^-r
    beta = gammaln(r) + gammaln(rest) - gammaln(float(n))

    def log_x(p: NDArray) -> NDArray:
        return log_density(p / s, s) + (1.0 - r) / s * p - moment - math.log(s)

    def log_r(v: NDArray) -> NDArray:
        return -r * np.logaddexp(0.0, -v) - rest * np.logaddexp(0.0, v) - beta

    def by_rest(p: NDArray, v: NDArray) -> NDArray:
        mass = p[:, None] / s + np.logaddexp(0.0, -v)
        with np.errstate(over="ignore", invalid="ignore"):
            h = _checked(log_h(mass.ravel())).reshape(mass.shape)
        return h + log_x(p)[:, None] + log_r(v)

    def by_total(q: NDArray, v: NDArray) -> NDArray:
        p = q[:, None] - s * np.logaddexp(0.0, -v)
        with np.errstate(over="ignore", invalid="ignore"):
            h = _checked(log_h(q / s))
        return h[:, None] + log_x(p.ravel()).reshape(p.shape) + log_r(v)

    start = _peak(log_x, 0.0, REACH), math.log(r / rest)
    reach = REACH + 200.0 / min(r, rest)  # its tails are powers of r and of 1 - r
    for most in (FEW_POINTS, MOST_POINTS):
        for log_f in (by_rest, by_total):
            found = _log_integral(log_f, start, (REACH, reach), most)
            if found is not None:
                return found
    raise ValueError(NOT_SMOOTH)


def _log_integral(
    log_f: Callable[..., NDArray],
    start: tuple[float, float],
    reaches: tuple[float, float],
    most: int,
) -> float | None:
    """log of the integral of a function of two variables; None if it takes more points."""
    mode = _peak_of_two(log_f, start, reaches)
    slices = (lambda p: log_f(p, mode[1:])[:, 0], lambda v: log_f(mode[:1], v)[0])
    lines = [
        Line(along, float(m), _width(along, float(m)), 0.0, 0.0)
        for along, m in zip(slices, mode, strict=True)
    ]
    ends = [math.asinh(far / line.width) for far, line in zip(reaches, lines, strict=True)]
    box = _box(lines, log_f, [(-end, end) for end in ends])
    before, points = math.inf, POINTS
    while points <= most:
        grids = [np.linspace(low, high, points + 1) for low, high in box]
        found = _log_sum(_log_g(lines, log_f, grids))
        found += sum(math.log(a[1] - a[0]) for a in grids)
        if abs(found - before) < TOLERANCE * max(1.0, abs(found)):
            return found
        before, points = found, 2 * points
    return None


def _log_g(lines: list[Line], log_f: Callable[..., NDArray], grids: list[NDArray]) -> NDArray:
    """log g over two changed variables."""
    p, v = (line.position(a) for line, a in zip(lines, grids, strict=True))
    jacobians = [np.log(line.width * np.cosh(a)) for line, a in zip(lines, grids, strict=True)]
    return log_f(p, v) + jacobians[0][:, None] + jacobians[1]


def _box(
    lines: list[Line], log_f: Callable[..., NDArray], box: list[tuple[float, float]]
) -> list[tuple[float, float]]:
    """Where g is not negligible."""
    for _ in range(6):
        grids = [np.linspace(low, high, COARSE + 1) for low, high in box]
        values = _log_g(lines, log_f, grids)
        high = values > values.max() - NEGLIGIBLE
        before = box
        box = []
        for axis, a in enumerate(grids):
            inside = np.flatnonzero(high.any(axis=1 - axis))
            box.append((a[max(inside[0] - 1, 0)], a[min(inside[-1] + 1, COARSE)]))
        if all(b[1] - b[0] > 0.8 * (a[1] - a[0]) for a, b in zip(before, box, strict=True)):
            break
    return box


def _peak_of_two(
    log_f: Callable[..., NDArray], start: tuple[float, float], reaches: tuple[float, float]
) -> NDArray:
    """Where a function of two variables with a single peak has it: along each of them in turn."""
    at = np.array(start)
    for _ in range(200):
        before = at.copy()
        at[0] = _peak(lambda p: log_f(p, at[1:])[:, 0], at[0], reaches[0])
        at[1] = _peak(lambda v: log_f(at[:1], v)[0], at[1], reaches[1])
        if np.abs(at - before).max() < 1e-3:
            break
    return at
