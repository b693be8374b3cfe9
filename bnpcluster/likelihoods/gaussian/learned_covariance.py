"""Learned hyper-parameters of full covariances: the expected covariance, nu and kappa.

A cluster has ``covariance ~ InverseWishart(nu, c (M + F))`` with c = max(nu - d - 1, 1), so M + F
is the expected covariance if there is one. M has a Wishart distribution, nu is on a grid, and kappa
may have a gamma distribution. F is the variance that rounding alone gives to the columns: without
it, M would tend to zero where rows of a cluster are equal.

An update (`covariance_kernels`) draws nu with the covariances integrated out, then the precision
matrix of every cluster, then M given these, and forgets the precisions. Because of F, the draw of M
is a proposal. It hardly moves if M is small beside F, so more moves follow for data with ties. They
integrate the covariances out, and so they are also right at an inverse temperature other than one.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, multigammaln

from bnpcluster.likelihoods.gaussian.learned_grid import NONE, draw_from_prior


class CovariancePrior(NamedTuple):
    """The hyper-priors in internal units, and the current M. An empty array: not learned."""

    expected: np.ndarray  # M
    floor: np.ndarray  # F, by column
    df: np.ndarray  # of the Wishart distribution of M
    inverse_guess: np.ndarray  # its df times the inverse of its mean
    grid: np.ndarray  # values of nu - d - 1, by increasing size
    kappa: np.ndarray  # shape and rate of its gamma distribution
    ties: np.ndarray  # one entry if rows of a cluster may have no scatter in some direction
    constant: np.ndarray  # of the log prior density, one entry
    numbers: np.ndarray  # this and the rest: scratch of the kernels
    log_p: np.ndarray
    start: np.ndarray
    change: np.ndarray
    half: np.ndarray
    whitened: np.ndarray
    factor: np.ndarray
    random: np.ndarray
    precision: np.ndarray
    proposed: np.ndarray

    @classmethod
    def of(
        cls,
        expected: NDArray,
        *,
        floor: NDArray | None = None,
        df: NDArray = NONE,
        grid: NDArray = NONE,
        kappa: NDArray = NONE,
        ties: bool = False,
    ) -> CovariancePrior:
        """The hyper-priors of what is given, if M has the mean `expected`.

        M + F starts at this mean, so that values that are not updated are the guess.
        """
        d = len(expected)
        inverse = float(df[0]) * np.linalg.inv(expected) if df.size else np.zeros((0, 0))
        width = d if df.size or grid.size or kappa.size else 0
        scratch = np.zeros(1), np.zeros(len(grid)), *np.zeros((8, width, width))
        floor = np.zeros(d) if floor is None else floor
        start = expected - np.diag(np.minimum(floor, 0.5 * np.diag(expected)))
        if not np.linalg.eigvalsh(start)[0] > 0.0:
            start = expected
        constant = np.array([log_constant(df, inverse, grid, kappa)])
        return cls(start, floor, df, inverse, grid, kappa, np.ones(int(ties)), constant, *scratch)

    def ordered(self, columns: Any) -> CovariancePrior:
        """The hyper-priors for another order of the columns."""
        matrices = {name: getattr(self, name) for name in ("expected", "inverse_guess")}
        changed = {name: M[columns][:, columns] if M.size else M for name, M in matrices.items()}
        return self._replace(floor=self.floor[columns], **changed)

    @property
    def slot_axis(self) -> dict[str, tuple]:
        """The arrays that a chain owns: M and the scratch space."""
        names = ("expected", *self._fields[self._fields.index("numbers") :])
        return dict.fromkeys(names, ())

    @property
    def is_learned(self) -> bool:
        """Whether anything is learned."""
        return bool(self.df.size or self.grid.size or self.kappa.size)


class Blocks(NamedTuple):
    """Of every block the size, the posterior mean, and R and log |S| for S = R^-1 R^-T."""

    size: NDArray[np.float64]
    mean: NDArray[np.float64]
    inv_chol: NDArray[np.float64]
    log_det: NDArray[np.float64]
    moved: NDArray[np.float64]  # scratch of the kernels

    @classmethod
    def of(cls, size: NDArray, mean: NDArray, inv_chol: NDArray, log_det: NDArray) -> Blocks:
        """The blocks, with scratch space."""
        return cls(size.astype(float), mean, inv_chol, log_det, np.zeros(inv_chol.shape))


class Values(NamedTuple):
    """Current values of the hyper-parameters."""

    expected: NDArray[np.float64]
    nu: float
    kappa: float

    def packed(self) -> NDArray[np.float64]:
        """The values as one array."""
        low = lower_triangle(len(self.expected))
        return np.concatenate([self.expected.ravel()[low], [self.nu, self.kappa]])

    def ordered(self, columns: Any) -> Values:
        """The values for other columns or for another order of them."""
        return self._replace(expected=self.expected[columns][:, columns])


@lru_cache(maxsize=32)
def lower_triangle(d: int) -> NDArray[np.intp]:
    """Places of the lower triangle in the entries of a matrix, row by row."""
    return np.ravel_multi_index(np.tril_indices(d), (d, d))


def unpacked(values: NDArray[np.float64]) -> Values:
    """The values from one array."""
    d = dimension(values.shape[-1])
    expected = np.zeros((d, d))
    expected[np.tril_indices(d)] = values[:-2]
    expected += np.tril(expected, -1).T
    return Values(expected, float(values[-2]), float(values[-1]))


def dimension(n_values: int) -> int:
    """The number of columns of packed values."""
    return (math.isqrt(8 * (n_values - 2) + 1) - 1) // 2


def multiplier(nu: float, d: int) -> float:
    """The c of the scale matrix c (M + F)."""
    return max(nu - d - 1.0, 1.0)


def scale_matrix(hyper: CovariancePrior, values: Values) -> NDArray[np.float64]:
    """The scale matrix of the inverse-Wishart distribution."""
    c = multiplier(values.nu, len(hyper.floor))
    return c * (values.expected + np.diag(hyper.floor))


def log_constant(df: NDArray, inverse_guess: NDArray, grid: NDArray, kappa: NDArray) -> float:
    """The part of the log prior density that no value changes."""
    total = 0.0
    if df.size:
        a, d = float(df[0]), len(inverse_guess)
        total += 0.5 * a * (log_det(inverse_guess) - d * math.log(2.0))
        total -= float(multigammaln(0.5 * a, d))
    if grid.size:
        total -= math.log((1.0 / grid).sum())
    if kappa.size:
        total += kappa[0] * math.log(kappa[1]) - math.lgamma(kappa[0])
    return float(total)


def log_density(hyper: CovariancePrior, values: Values) -> float:
    """Log prior density of the learned values.

    The coordinates are log M in one column, or the measure |M|^(-(d+1)/2) dM, which no linear map
    of the columns changes; nu; and log kappa.
    """
    total = float(hyper.constant[0])
    if hyper.df.size:
        M, a = values.expected, float(hyper.df[0])
        total += 0.5 * (a * log_det(M) - float(np.vdot(hyper.inverse_guess, M)))
    if hyper.grid.size:
        total -= math.log(values.nu - len(hyper.floor) - 1.0)
    if hyper.kappa.size:
        total += hyper.kappa[0] * math.log(values.kappa) - hyper.kappa[1] * values.kappa
    return float(total)


def draw(hyper: CovariancePrior, values: Values, rng: np.random.Generator) -> Values:
    """Values from the hyper-prior; those that are not learned are as in `values`."""
    expected, nu, kappa = values
    d = len(hyper.floor)
    if hyper.df.size:
        root = np.linalg.cholesky(np.linalg.inv(hyper.inverse_guess))
        # Bartlett: the Wishart matrix of df degrees of freedom with mean df times the identity.
        lower = np.tril(rng.standard_normal((d, d)), -1)
        lower += np.diag(np.sqrt(rng.chisquare(hyper.df[0] - np.arange(d))))
        factor = root @ lower
        expected = factor @ factor.T
    if hyper.grid.size:
        nu = draw_from_prior(hyper.grid, rng) + d + 1.0
    if hyper.kappa.size:
        kappa = max(rng.gamma(hyper.kappa[0]) / hyper.kappa[1], np.finfo(float).tiny)
    return Values(expected, nu, kappa)


def traces(hyper: CovariancePrior, values: Values, unit: NDArray) -> dict[str, float]:
    """The learned values as numbers; "log_scale" is the mean log eigenvalue of M + F."""
    result, d = {}, len(unit)
    if hyper.df.size:
        expected = log_det(values.expected + np.diag(hyper.floor))
        result["log_scale"] = expected / d + 2.0 * float(np.log(unit).mean())
    if hyper.grid.size:
        result["nu"] = values.nu
    if hyper.kappa.size:
        result["kappa"] = values.kappa
    return result


def log_det(A: NDArray) -> float:
    """log |A| of a positive definite matrix."""
    if len(A) == 2:  # common, and much faster
        (a, b), (_, c) = A.tolist()
        if a > 0.0 and c - b * b / a > 0.0:
            return math.log(a) + math.log(c - b * b / a)
    return 2.0 * float(np.log(np.linalg.cholesky(A).diagonal()).sum())


def log_multigamma(df: NDArray, d: int) -> NDArray[np.float64]:
    """log Gamma_d(df / 2), up to a constant that depends on d."""
    return gammaln((df[..., None] - np.arange(d)) / 2).sum(axis=-1)
