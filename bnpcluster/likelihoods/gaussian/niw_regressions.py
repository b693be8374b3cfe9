"""Missing entries and new rows from the levels of `NestedNIW`, by one regression per level.

Each level has its own inverse-Wishart distribution for the covariance of the columns up to its end.
Only the regression of the level's columns on the earlier ones is used. The relations among the
earlier columns belong to the earlier levels.
"""

from __future__ import annotations

import numpy as np

from bnpcluster._core import operations as ops
from bnpcluster._core.jit import kernel
from bnpcluster.likelihoods.gaussian.learned_covariance import Blocks
from bnpcluster.likelihoods.gaussian.niw_general import inverse_factor, row_dot
from bnpcluster.likelihoods.gaussian.niw_learned import register_learned
from bnpcluster.likelihoods.gaussian.niw_nested import NestedNIW, put_values


@kernel
def add_regression_means(lik, k, weights, out):
    """Add to out weights[i] times the means of the missing entries of row i in slot k.

    The mean of a level's columns is linear in the earlier ones, and the earlier ones carry no
    information about the coefficients. So the means of missing entries can replace their values.
    """
    gap = lik.work[0]
    for i in range(len(lik.X)):
        if weights[i] == 0.0:
            continue
        for level in range(lik.n_levels[i], len(lik.size)):
            mean, inv_chol, seen = lik.mean[level], lik.inv_chol[level], lik.ends[lik.n_levels[i]]
            for a in range(lik.ends[level]):
                x = lik.X[i, a] if a < seen else lik.work[1, a]
                gap[a] = x - mean[k, a]
            for a in range(lik.ends[level], lik.ends[level + 1]):
                # This gap makes row a of L^-1 times all gaps zero.
                gap[a] = -row_dot(inv_chol, k, a, a, gap) / inv_chol[k, a, a]
                lik.work[1, a] = mean[k, a] + gap[a]
                out[i, lik.order[a]] += weights[i] * lik.work[1, a]


def sample_nested(bound, k, rng):
    """One new row from the posterior predictive of slot k, level by level, in internal units."""
    x = np.zeros(len(bound.order))
    for level in range(len(bound.size)):
        mean, root, r, df, start, stop = regression(bound, level, k)
        y = rng.standard_normal(stop)
        y[:start] = np.linalg.solve(root[:start, :start], x[:start] - mean[:start])
        y[start:] *= np.sqrt(((r + 1) / r + (y[:start] ** 2).sum()) / rng.chisquare(df + start))
        x[start:stop] = mean[start:] + root[start:] @ y
    return x[np.argsort(bound.order)]


@ops.draw_latent.register(NestedNIW)
def _draw_latent(lik, labels, rng):
    back = np.argsort(lik.order)
    return completed(lik, labels, rng)[:, back][np.isnan(lik.X[:, back])]


def completed(lik, labels, rng):
    """The rows, with missing entries drawn after the regressions of every slot.

    Both are drawn from their posterior, so the entries have their distribution given the labels.
    """
    Z = lik.X.copy()
    for level in range(len(lik.size)):
        for k in np.unique(labels[(lik.n_levels <= level) & (labels >= 0)]):
            rows = np.flatnonzero((labels == k) & (lik.n_levels <= level))
            mean, root, r, df, start, stop = regression(lik, level, k)
            # covariance^-1 = (G root^-1)' (G root^-1), where by Bartlett G'G is a Wishart matrix.
            G = np.tril(rng.standard_normal((stop, stop)), -1)
            G += np.diag(np.sqrt(rng.chisquare(df + np.arange(stop))))
            factor = np.linalg.solve(G.T, root.T).T
            centre = mean + factor @ rng.standard_normal(stop) / np.sqrt(r)
            z = rng.standard_normal((stop, len(rows)))
            z[:start] = np.linalg.solve(
                factor[:start, :start], (Z[rows, :start] - centre[:start]).T
            )
            Z[rows, start:stop] = centre[start:] + (factor[start:] @ z).T
    return Z


def completed_blocks(lik, labels, rng):
    """The blocks of the rows with missing entries drawn."""
    Z, kappa = completed(lik, labels, rng), lik.prior[0]
    blocks = []
    for k in range(labels.max() + 1):
        rows = Z[labels == k]
        n, mean = len(rows), rows.mean(axis=0)
        gap, rest = mean - lik.prior_mean, rows - mean
        S = lik.prior_scale + rest.T @ rest + kappa * n / (kappa + n) * np.outer(gap, gap)
        blocks.append((n, lik.prior_mean + n / (kappa + n) * gap, inverse_factor(S)))
    size, mean, inv_chol = map(np.array, zip(*blocks, strict=True))
    log_det = -2.0 * np.log(np.diagonal(inv_chol, axis1=1, axis2=2)).sum(axis=1)
    return Blocks.of(size, mean, inv_chol, log_det)


register_learned(
    NestedNIW, put_values, completed_blocks, order=lambda lik: lik.order, completes=True
)


def regression(lik, level, k):
    """Mean and root of S of the columns up to the end of a level, r, df, and the level's range."""
    start, stop = lik.ends[level], lik.ends[level + 1]
    m, mean = lik.size[level, k], lik.mean[level, k]
    root = np.linalg.cholesky(lik.scatter[level, k, :stop, :stop])
    df = lik.prior[1] + m - len(mean) + 1
    return mean[:stop], root, lik.prior[0] + m, df, start, stop
