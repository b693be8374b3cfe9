"""Predictive distributions of Gaussian blocks, as arrays over blocks.

Kernels evaluate one row at a time. Here a block is described by its location and scale, so that you
can choose, reorder and condition on columns. All values are in the internal units of the bound
data.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln


class WishartBlocks(NamedTuple):
    """Blocks with mean | covariance ~ N(mean, covariance / r), covariance ~ IW(df + D - 1, S).

    S = root root' with lower triangular roots. A new row has a Student t distribution with `df`
    degrees of freedom and scale matrix S (r + 1) / (r df). So has any subset of its columns, with
    the same `df`.
    """

    r: NDArray[np.float64]
    df: NDArray[np.float64]
    mean: NDArray[np.float64]  # (blocks, D)
    root: NDArray[np.float64]  # (blocks, D, D)

    def select(self, which: NDArray) -> WishartBlocks:
        """Some of the blocks."""
        return WishartBlocks(*(array[which] for array in self))

    def marginal(self, columns: list[int]) -> WishartBlocks:
        """The marginal distributions of some of the columns, in the given order."""
        upper = np.linalg.qr(self.root[:, columns].swapaxes(1, 2), mode="r")
        upper *= np.sign(np.diagonal(upper, axis1=1, axis2=2))[:, :, None]
        return self._replace(mean=self.mean[:, columns], root=upper.swapaxes(1, 2))

    def log_density(self, V: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log density of the leading columns at the rows of `V`, blocks as columns."""
        d = V.shape[1]
        pivots = np.diagonal(self.root, axis1=1, axis2=2)[:, :d]
        spread = (standardised(V[:, None], self) ** 2).sum(axis=-1) * self.r / (self.r + 1)
        const = _log_student(self.r, self.df, d) - np.log(pivots).sum(axis=1)
        return const - 0.5 * (self.df + d) * np.log1p(spread)

    def log_density_drawn(
        self, V: NDArray[np.float64], rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Log normal density at the rows of `V`, with a mean and covariance drawn per block."""
        n_blocks, d = self.mean.shape
        # covariance^-1 = (G root^-1)' (G root^-1), where by Bartlett G'G is a Wishart matrix.
        G = np.tril(rng.standard_normal((n_blocks, d, d)), -1)
        G += np.sqrt(rng.chisquare(self.df[:, None] + np.arange(d)))[:, :, None] * np.eye(d)
        shift = rng.standard_normal((n_blocks, d)) / np.sqrt(self.r)[:, None]
        z = (G * standardised(V[:, None], self)[..., None, :]).sum(axis=-1) - shift
        pivots = np.diagonal(G, axis1=1, axis2=2) / np.diagonal(self.root, axis1=1, axis2=2)
        return _log_normal(z, pivots)

    def draw(self, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """A mean and a covariance of every block, drawn from their distribution."""
        n_blocks, d = self.mean.shape
        # covariance = (root G^-1) (root G^-1)', where by Bartlett G'G is a Wishart matrix.
        G = np.tril(rng.standard_normal((n_blocks, d, d)), -1)
        G += np.sqrt(rng.chisquare(self.df[:, None] + np.arange(d)))[:, :, None] * np.eye(d)
        factor = np.linalg.solve(G.swapaxes(1, 2), self.root.swapaxes(1, 2)).swapaxes(1, 2)
        shift = rng.standard_normal((n_blocks, 1, d)) / np.sqrt(self.r)[:, None, None]
        return self.mean + (factor * shift).sum(axis=-1), factor @ factor.swapaxes(1, 2)

    def mean_given(self, V: NDArray[np.float64]) -> NDArray[np.float64]:
        """Mean of the other columns given the leading ones, (rows, blocks, columns)."""
        a = V.shape[1]
        shift = (self.root[:, a:, :a] * standardised(V[:, None], self)[..., None, :]).sum(axis=-1)
        return np.where((self.df + a)[:, None] > 1, self.mean[:, a:] + shift, np.nan)

    def sample_given(
        self, V: NDArray[np.float64], blocks: NDArray, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """The other columns given the leading ones, one draw from block `blocks[i]` for row i."""
        own = self.select(blocks)
        a, z = V.shape[1], standardised(V, own)
        spread = (z**2).sum(axis=-1) * own.r / (own.r + 1)
        # The row's covariance has a random scale, whose distribution depends on the given columns.
        size = (1 + spread) * (own.r + 1) / (own.r * rng.chisquare(own.df + a))
        noise = np.sqrt(size)[:, None] * rng.standard_normal((len(V), own.mean.shape[1] - a))
        tail = np.concatenate([z, noise], axis=1)
        return own.mean[:, a:] + (own.root[:, a:] * tail[:, None]).sum(axis=-1)


class ColumnBlocks(NamedTuple):
    """Blocks of independent columns; each column is like a `WishartBlocks` with one column.

    With missing entries, the number of rows of a block differs between columns.
    """

    r: NDArray[np.float64]  # all (blocks, D)
    df: NDArray[np.float64]
    mean: NDArray[np.float64]
    root: NDArray[np.float64]

    def select(self, which: NDArray) -> ColumnBlocks:
        """Some of the blocks."""
        return ColumnBlocks(*(array[which] for array in self))

    def marginal(self, columns: list[int]) -> ColumnBlocks:
        """The marginal distributions of some of the columns, in the given order."""
        return ColumnBlocks(*(array[:, columns] for array in self))

    def log_density(self, V: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log density of the leading columns at the rows of `V`, blocks as columns."""
        r, df, mean, root = (array[:, : V.shape[1]] for array in self)
        logs = np.log1p(((V[:, None] - mean) / root) ** 2 * (r / (r + 1)))
        const = (_log_student(r, df, 1) - np.log(root)).sum(axis=1)
        return const - 0.5 * ((df + 1) * logs).sum(axis=-1)

    def log_density_drawn(
        self, V: NDArray[np.float64], rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Log normal density at the rows of `V`, with means and variances drawn per block."""
        G = np.sqrt(rng.chisquare(self.df))
        shift = rng.standard_normal(G.shape) / np.sqrt(self.r)
        return _log_normal(G * (V[:, None] - self.mean) / self.root - shift, G / self.root)

    def draw(self, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Means and variances of every block, drawn from their distribution."""
        deviation = self.root / np.sqrt(rng.chisquare(self.df))
        shift = rng.standard_normal(deviation.shape) / np.sqrt(self.r)
        return self.mean + deviation * shift, deviation**2

    def mean_given(self, V: NDArray[np.float64]) -> NDArray[np.float64]:
        """Mean of the other columns, which is independent of the leading ones within a block."""
        mean = np.where(self.df > 1, self.mean, np.nan)[:, V.shape[1] :]
        return np.broadcast_to(mean, (len(V), *mean.shape))

    def sample_given(
        self, V: NDArray[np.float64], blocks: NDArray, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """The other columns given the leading ones, one draw from block `blocks[i]` for row i."""
        r, df, mean, root = (array[blocks, V.shape[1] :] for array in self)
        size = (r + 1) / (r * rng.chisquare(df))
        return mean + root * np.sqrt(size) * rng.standard_normal(mean.shape)


def standardised(V: NDArray[np.float64], blocks: WishartBlocks) -> NDArray[np.float64]:
    """root^-1 (V - mean) for the leading columns, by substitution."""
    d = V.shape[-1]
    z, root = V - blocks.mean[:, :d], blocks.root
    for a in range(d):
        z[..., a] -= (z[..., :a] * root[:, a, :a]).sum(axis=-1)
        z[..., a] /= root[:, a, a]
    return z


def _log_normal(z: NDArray, pivots: NDArray) -> NDArray[np.float64]:
    """Log normal density of standardised rows; `pivots` is the diagonal of the standardisation."""
    const = np.log(pivots).sum(axis=1) - 0.5 * pivots.shape[1] * np.log(2 * np.pi)
    return const - 0.5 * (z**2).sum(axis=-1)


def _log_student(r: NDArray, df: NDArray, d: int) -> NDArray[np.float64]:
    """Log normaliser of the predictive of d columns, up to the determinant of their root."""
    const = gammaln((df + d) / 2) - gammaln(df / 2)
    return const - 0.5 * d * np.log(np.pi * (r + 1) / r)
