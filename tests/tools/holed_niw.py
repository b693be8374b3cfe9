"""Naive formulas of Gaussian clusters with missing entries, and their exact posterior."""

import numpy as np
from scipy.special import gammaln, logsumexp, multigammaln

from bnpcluster.testing import all_partitions, log_eppf

MEAN, KAPPA, NU = np.array([0.3, -0.2]), 0.4, 4.5
SCALE = np.array([[1.5, 0.4], [0.4, 1.0]])


def posterior(rows, mean=MEAN, kappa=KAPPA, nu=NU, scale=SCALE):
    """kappa, nu, mean and S after some complete rows, of shape (..., m, d)."""
    m = rows.shape[-2]
    centre = rows.sum(axis=-2) / max(m, 1)
    gaps = rows - centre[..., None, :]
    u = centre - mean
    S = scale + np.swapaxes(gaps, -1, -2) @ gaps
    S = S + kappa * m / (kappa + m) * u[..., :, None] * u[..., None, :]
    return kappa + m, nu + m, mean + m / (kappa + m) * u, S


def log_marginal(rows):
    """log m of complete rows, of shape (..., m, 2)."""
    m = rows.shape[-2]
    kappa, nu, _, S = posterior(rows)
    value = multigammaln(nu / 2, 2) - multigammaln(NU / 2, 2) - m * np.log(np.pi)
    value += np.log(KAPPA / kappa) + NU / 2 * np.linalg.slogdet(SCALE)[1]
    return value - nu / 2 * np.linalg.slogdet(S)[1]


def grid(size):
    """Nodes on the real line, and log weights."""
    t, w = np.polynomial.legendre.leggauss(size)
    return 4 * t / (1 - t**2), np.log(w * 4 * (1 + t**2) / (1 - t**2) ** 2)


def completions(X, size=161):
    """All values of the missing entries on a grid: rows of shape (cells, n, 2), log weights."""
    missing = np.argwhere(np.isnan(X))
    nodes, log_w = grid(size)
    cells = np.stack(np.meshgrid(*[nodes] * len(missing), indexing="ij"), -1).reshape(
        -1, len(missing)
    )
    weights = np.stack(np.meshgrid(*[log_w] * len(missing), indexing="ij"), -1)
    full = np.tile(X, (len(cells), 1, 1))
    full[:, missing[:, 0], missing[:, 1]] = cells
    return full, weights.reshape(-1, len(missing)).sum(axis=1)


def exact(X, prior, size=161):
    """Partitions, their posterior, and for each the probabilities of the cells of `completions`."""
    full, log_w = completions(X, size)
    partitions = all_partitions(len(X))
    log_joint = (
        np.array(
            [
                log_w + sum(log_marginal(full[:, row == k]) for k in range(row.max() + 1))
                for row in partitions
            ]
        )
        + log_eppf(prior, partitions)[:, None]
    )
    log_p = logsumexp(log_joint, axis=1)
    cells = np.exp(log_joint - log_p[:, None])
    return partitions, np.exp(log_p - logsumexp(log_p)), cells, full


def student(rows, x, columns):
    """log density of x[columns] given complete rows, by the marginal Student t."""
    kappa, nu, mean, S = posterior(rows)
    d, p = len(mean), len(columns)
    df = nu - d + 1
    shape = (S * (kappa + 1) / (kappa * df))[np.ix_(columns, columns)]
    gap = (x - mean)[columns]
    delta = gap @ np.linalg.solve(shape, gap)
    value = gammaln((df + p) / 2) - gammaln(df / 2) - p / 2 * np.log(df * np.pi)
    return value - np.linalg.slogdet(shape)[1] / 2 - (df + p) / 2 * np.log1p(delta / df)


def conditional(rows, x):
    """Location, scale matrix and df of the missing entries of x given its others and rows."""
    kappa, nu, mean, S = posterior(rows)
    miss, seen = np.flatnonzero(np.isnan(x)), np.flatnonzero(~np.isnan(x))
    df = nu - len(mean) + 1
    shape = S * (kappa + 1) / (kappa * df)
    across = shape[np.ix_(miss, seen)] @ np.linalg.inv(shape[np.ix_(seen, seen)])
    gap = (x - mean)[seen]
    delta = gap @ np.linalg.solve(shape[np.ix_(seen, seen)], gap)
    rest = shape[np.ix_(miss, miss)] - across @ shape[np.ix_(seen, miss)]
    return mean[miss] + across @ gap, rest * (df + delta) / (df + len(seen)), df + len(seen)
