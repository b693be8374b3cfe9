"""Naive formulas of Gaussian clusters with missing entries in any number of columns, on a grid."""

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp, multigammaln

from bnpcluster.likelihoods import NormalInverseWishart
from tests.tools.holed_niw import completions, posterior

NAN = np.nan


class Prior(NamedTuple):
    """Mean, kappa, nu and scale matrix."""

    mean: np.ndarray
    kappa: float
    nu: float
    scale: np.ndarray

    def likelihood(self, missing="integrate"):
        """The likelihood with these hyper-parameters."""
        return NormalInverseWishart(**self._asdict(), missing=missing)


TWO = Prior(np.array([0.3, -0.2]), 0.4, 4.5, np.array([[1.5, 0.4], [0.4, 1.0]]))
THREE = Prior(
    np.array([0.3, -0.2, 0.1]),
    0.4,
    5.5,
    np.array([[1.5, 0.4, -0.3], [0.4, 1.0, 0.2], [-0.3, 0.2, 0.8]]),
)
CASES = {  # rows whose columns are not in the order of the levels
    "last": (TWO, np.array([[-1.0, -1.2], [-0.8, NAN], [1.5, NAN], [1.2, 2.0]])),
    "first": (TWO, np.array([[NAN, -1.2], [-0.8, 0.3], [NAN, NAN], [1.2, 2.0]])),
    "stairs": (THREE, np.array([[NAN, -1.2, 0.4], [-0.8, 0.3, 1.0], [NAN, 0.2, NAN], [2, 1, 0.0]])),
    "block": (THREE, np.array([[NAN, -1.2, NAN], [-0.8, 0.3, 1.0], [0.7, 0.2, -0.4], [2, 1, 0.0]])),
}
KNOWN: dict = {}  # integrals
SIZE = {1: 301, 2: 121, 3: 61}  # nodes of a grid, by the number of missing entries


def log_marginal(rows, prior):
    """log m of complete rows, of shape (..., m, d)."""
    m, d = rows.shape[-2:]
    kappa, nu, _, S = posterior(rows, *prior)
    value = multigammaln(nu / 2, d) - multigammaln(prior.nu / 2, d) - 0.5 * m * d * np.log(np.pi)
    value += 0.5 * d * np.log(prior.kappa / kappa)
    value += prior.nu / 2 * np.linalg.slogdet(prior.scale)[1]
    return value - nu / 2 * np.linalg.slogdet(S)[1]


def cells(X, prior):
    """Values of the missing entries, rows filled in, and the log mass of each, as one block."""
    n_missing = int(np.isnan(X).sum())
    if n_missing == 0:
        return X[None], log_marginal(X, prior)[None]
    full, log_w = completions(X, SIZE[n_missing])
    return full, log_marginal(full, prior) + log_w


def integrated(X, prior, labels=None):
    """log m of the observed entries, as one block or as several."""
    if labels is None:
        key = (X.shape, X.tobytes())  # the number of columns tells the prior
        if key not in KNOWN:
            KNOWN[key] = logsumexp(cells(X, prior)[1])
        return KNOWN[key]
    return sum(integrated(X[labels == k], prior) for k in set(labels.tolist()))


def expected(X, prior, labels):
    """The rows with posterior means in place of NaN, given the blocks."""
    rows = np.zeros_like(X)
    for k in set(labels.tolist()):
        full, log_p = cells(X[labels == k], prior)
        rows[labels == k] = np.einsum("c,cij->ij", np.exp(log_p - logsumexp(log_p)), full)
    return rows
