"""Learned hyper-parameters of full covariances: the expected covariance, nu and kappa.

A cluster has ``covariance ~ InverseWishart(nu, c (M + F))`` with c = max(nu - d - 1, 1), so M + F
is the expected covariance if there is one. M has a Wishart distribution, nu is on a grid, and kappa
may have a gamma distribution. F is the variance that rounding alone gives to the columns: without
it, M would tend to zero where rows of a cluster are equal.

An update draws nu with the covariances integrated out, then the precision matrix of every cluster,
then M given these, and forgets the precisions. Because of F, the draw of M is a proposal. It hardly
moves if M is small beside F, so more moves follow for data with ties. They integrate the
covariances out, and so they are also right at an inverse temperature other than one.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, multigammaln

STEP = 0.5  # standard deviation of the moves of log M and log kappa


class CovariancePrior(NamedTuple):
    """The hyper-priors in internal units, and the current M. An empty array: not learned."""

    expected: np.ndarray  # M
    floor: np.ndarray  # F, by column
    df: np.ndarray  # of the Wishart distribution of M
    inverse_guess: np.ndarray  # its df times the inverse of its mean
    grid: np.ndarray  # values of nu - d - 1, by increasing size
    kappa: np.ndarray  # shape and rate of its gamma distribution
    ties: np.ndarray  # one entry if rows of a cluster may have no scatter in some direction

    def ordered(self, columns: Any) -> CovariancePrior:
        """The hyper-priors for another order of the columns."""
        matrices = {name: getattr(self, name) for name in ("expected", "inverse_guess")}
        changed = {name: M[columns][:, columns] if M.size else M for name, M in matrices.items()}
        return self._replace(floor=self.floor[columns], **changed)

    @property
    def slot_axis(self) -> dict[str, tuple]:
        """The array that a chain owns."""
        return {"expected": ()}

    @property
    def is_learned(self) -> bool:
        """Whether anything is learned."""
        return bool(self.df.size or self.grid.size or self.kappa.size)


class Blocks(NamedTuple):
    """Sizes and posterior means of blocks, and the inverse Cholesky factors of their S."""

    size: NDArray[np.float64]
    mean: NDArray[np.float64]
    inv_chol: NDArray[np.float64]

    def log_det(self) -> NDArray[np.float64]:
        """log |S| of every block."""
        return -2.0 * np.log(np.diagonal(self.inv_chol, axis1=1, axis2=2)).sum(axis=1)

    def plus(self, change: NDArray[np.float64]) -> Blocks:
        """The blocks after S changed by a matrix."""
        # L^-1 (S + change) L^-T is well conditioned even if S is not.
        factor = np.linalg.cholesky(np.eye(len(change)) + whitened(self, change))
        return self._replace(inv_chol=np.linalg.solve(factor, self.inv_chol))


class Values(NamedTuple):
    """Current values of the hyper-parameters."""

    expected: NDArray[np.float64]
    nu: float
    kappa: float

    def packed(self) -> NDArray[np.float64]:
        """The values as one array."""
        low = np.tril_indices(len(self.expected))
        return np.concatenate([self.expected[low], [self.nu, self.kappa]])

    def ordered(self, columns: Any) -> Values:
        """The values for other columns or for another order of them."""
        return self._replace(expected=self.expected[columns][:, columns])


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


def whitened(blocks: Blocks, change: NDArray[np.float64]) -> NDArray[np.float64]:
    """L^-1 change L^-T for S = L L' of every block."""
    result = blocks.inv_chol @ change @ blocks.inv_chol.swapaxes(1, 2)
    return (result + result.swapaxes(1, 2)) / 2


def update(
    hyper: CovariancePrior,
    values: Values,
    blocks: Blocks,
    prior_mean: NDArray[np.float64],
    beta: float,
    rng: np.random.Generator,
) -> Values:
    """One update of the hyper-parameters given the blocks, whose S contains the prior's scale."""
    if hyper.grid.size:
        values, blocks = draw_nu(hyper, values, blocks, beta, rng)
    if hyper.df.size:
        if beta == 1.0:
            values, blocks = draw_expected(hyper, values, blocks, rng)
        if beta != 1.0 or hyper.ties.size:
            values, blocks = move_expected(hyper, values, blocks, beta, rng)
    if hyper.kappa.size:
        values = move_kappa(hyper, values, blocks, prior_mean, beta, rng)
    return values


def draw_nu(
    hyper: CovariancePrior,
    values: Values,
    blocks: Blocks,
    beta: float,
    rng: np.random.Generator,
) -> tuple[Values, Blocks]:
    """Draw nu from the grid given M, with the covariances integrated out."""
    d, n = len(hyper.floor), blocks.size
    c = np.maximum(hyper.grid, 1.0)
    nu, change = hyper.grid + d + 1, c - multiplier(values.nu, d)
    G = values.expected + np.diag(hyper.floor)
    ratios = np.linalg.eigvalsh(whitened(blocks, G))
    # log |c G + scatter| of every value of the grid and every block
    log_det = blocks.log_det() + np.log1p(change[:, None, None] * ratios).sum(axis=2)
    log_p = len(n) * 0.5 * nu * (d * np.log(c) + np.linalg.slogdet(G)[1])
    log_p += (log_multigamma(nu[:, None] + n, d) - 0.5 * (nu[:, None] + n) * log_det).sum(axis=1)
    log_p -= len(n) * log_multigamma(nu, d)
    p = np.exp(beta * (log_p - log_p.max())) / hyper.grid
    g = int(np.searchsorted(p.cumsum(), rng.random() * p.sum()))
    return values._replace(nu=float(nu[g])), blocks.plus(change[g] * G)


def draw_expected(
    hyper: CovariancePrior, values: Values, blocks: Blocks, rng: np.random.Generator
) -> tuple[Values, Blocks]:
    """Draw the precisions of the blocks, then M given these."""
    d, c = len(hyper.floor), multiplier(values.nu, len(hyper.floor))
    factors = blocks.inv_chol.swapaxes(1, 2) @ bartlett(values.nu + blocks.size, d, rng)
    precision = hyper.inverse_guess + c * np.einsum("kij,klj->il", factors, factors)
    df, floor = hyper.df + len(blocks.size) * values.nu, np.diag(hyper.floor)
    root = np.linalg.solve(np.linalg.cholesky(precision).T, bartlett(df, d, rng)[0])
    proposed, old = root @ root.T, values.expected
    log_ratio = log_det(proposed + floor) - log_det(proposed) - log_det(old + floor) + log_det(old)
    if math.log(1.0 - rng.random()) >= 0.5 * len(blocks.size) * values.nu * log_ratio:
        return values, blocks
    return values._replace(expected=proposed), blocks.plus(c * (proposed - old))


def move_expected(
    hyper: CovariancePrior,
    values: Values,
    blocks: Blocks,
    beta: float,
    rng: np.random.Generator,
) -> tuple[Values, Blocks]:
    """Metropolis moves of M with the covariances integrated out.

    They stretch all of M, a row of it, or a column of its Cholesky factor, and shear the factor.
    """
    c = multiplier(values.nu, len(hyper.floor))
    now = log_expected(hyper, values, blocks, beta)
    for move in (stretch_all, stretch_row, stretch_column, shear):
        proposed, log_jacobian = move(values.expected, STEP * rng.standard_normal(), rng)
        then_values = values._replace(expected=proposed)
        try:
            then_blocks = blocks.plus(c * (proposed - values.expected))
            then = log_expected(hyper, then_values, then_blocks, beta)
        except np.linalg.LinAlgError:  # singular to working precision
            continue
        if math.log(1.0 - rng.random()) < then - now + log_jacobian:
            values, blocks, now = then_values, then_blocks, then
    return values, blocks


def stretch_all(M: NDArray, t: float, rng: np.random.Generator) -> tuple[NDArray, float]:
    """M times e^t, and the log of the Jacobian."""
    d = len(M)
    return math.exp(t) * M, 0.5 * t * d * (d + 1)


def stretch_row(M: NDArray, t: float, rng: np.random.Generator) -> tuple[NDArray, float]:
    """One row and column of M times e^t."""
    d = len(M)
    factor = np.ones(d)
    factor[rng.integers(d)] = math.exp(t)
    return factor[:, None] * M * factor, t * (d + 1)


def stretch_column(M: NDArray, t: float, rng: np.random.Generator) -> tuple[NDArray, float]:
    """One column of the Cholesky factor of M times e^t."""
    d, root = len(M), np.linalg.cholesky(M)
    j = int(rng.integers(d))
    root[:, j] *= math.exp(t)
    return root @ root.T, 2.0 * t * (d - j)


def shear(M: NDArray, t: float, rng: np.random.Generator) -> tuple[NDArray, float]:
    """Add t times a column of the Cholesky factor of M to an earlier column."""
    d, root = len(M), np.linalg.cholesky(M)
    if d > 1:
        i, j = np.sort(rng.choice(d, 2, replace=False))
        root[:, i] += t * root[:, j]
    return root @ root.T, 0.0


def log_expected(hyper: CovariancePrior, values: Values, blocks: Blocks, beta: float) -> float:
    """Log density of M given the blocks, up to a constant."""
    M, d = values.expected, len(hyper.floor)
    total = 0.5 * (hyper.df[0] - d - 1) * log_det(M) - 0.5 * (hyper.inverse_guess * M).sum()
    marginal = len(blocks.size) * values.nu * log_det(M + np.diag(hyper.floor))
    marginal -= ((values.nu + blocks.size) * blocks.log_det()).sum()
    return float(total + 0.5 * beta * marginal)


def move_kappa(
    hyper: CovariancePrior,
    values: Values,
    blocks: Blocks,
    prior_mean: NDArray[np.float64],
    beta: float,
    rng: np.random.Generator,
) -> Values:
    """A Metropolis move of log kappa, with means and covariances integrated out."""
    (shape, rate), n, old = hyper.kappa, blocks.size, values.kappa
    new = old * math.exp(2.0 * STEP * rng.standard_normal())
    gap = (blocks.mean - prior_mean) * ((old + n) / n)[:, None]  # of the mean of the rows
    square = ((blocks.inv_chol @ gap[:, :, None])[:, :, 0] ** 2).sum(axis=1)
    change = new * n / (new + n) - old * n / (old + n)
    log_ratio = 0.5 * gap.shape[1] * np.log(new * (old + n) / (old * (new + n)))
    log_ratio = (log_ratio - 0.5 * (values.nu + n) * np.log1p(change * square)).sum()
    log_prior = shape * math.log(new / old) - rate * (new - old)  # of log kappa
    accepted = math.log(1.0 - rng.random()) < log_prior + beta * log_ratio
    return values._replace(kappa=new) if accepted else values


def log_density(hyper: CovariancePrior, values: Values) -> float:
    """Log prior density of the learned values.

    The coordinates are log M in one column, or the measure |M|^(-(d+1)/2) dM, which no linear map
    of the columns changes; nu; and log kappa.
    """
    total, d = 0.0, len(hyper.floor)
    if hyper.df.size:
        a, M = float(hyper.df[0]), values.expected
        total += 0.5 * a * (log_det(M) + log_det(hyper.inverse_guess) - d * math.log(2.0))
        total -= 0.5 * (hyper.inverse_guess * M).sum() + multigammaln(0.5 * a, d)
    if hyper.grid.size:
        total -= math.log((values.nu - d - 1.0) * (1.0 / hyper.grid).sum())
    if hyper.kappa.size:
        shape, rate = hyper.kappa
        total += shape * math.log(rate * values.kappa) - rate * values.kappa - math.lgamma(shape)
    return float(total)


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


def bartlett(df: NDArray, d: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Lower triangular A with A A' ~ Wishart(df, identity), for every df."""
    A = np.tril(rng.standard_normal((len(df), d, d)), -1)
    i = np.arange(d)
    A[:, i, i] = np.sqrt(rng.chisquare(df[:, None] - i))
    return A


def log_det(A: NDArray) -> float:
    """log |A| of a positive definite matrix."""
    return 2.0 * float(np.log(np.diagonal(np.linalg.cholesky(A))).sum())


def log_multigamma(df: NDArray, d: int) -> NDArray[np.float64]:
    """log Gamma_d(df / 2), up to a constant that depends on d."""
    return gammaln((df[..., None] - np.arange(d)) / 2).sum(axis=-1)
