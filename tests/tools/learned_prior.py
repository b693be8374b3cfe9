"""Hyper-parameters of Gaussian clusters drawn from their priors, with rows that follow them."""

import numpy as np
from scipy.stats import invwishart, wishart

from bnpcluster.likelihoods.gaussian import learned_covariance
from bnpcluster.likelihoods.gaussian.learned_covariance import CovariancePrior, Values
from bnpcluster.likelihoods.gaussian.learned_variances import VariancePrior
from bnpcluster.likelihoods.gaussian.niw_general import bind_general
from bnpcluster.likelihoods.gaussian.niw_imputed import bind_imputed
from bnpcluster.likelihoods.gaussian.niw_nested import bind_nested, find_nesting
from bnpcluster.likelihoods.gaussian.niw_planar import bind_planar
from bnpcluster.likelihoods.gaussian.units import Units

LABELS = np.array([0, 0, 0, 1, 1, 2, 2, 0])
GRID = np.array([1.0, 3.0, 8.0])


def hyper_prior(d, floor=0.0, kappa=False):
    """Hyper-priors of full covariances in d columns."""
    guess = np.diag(np.linspace(0.5, 1.5, d)) + 0.2
    return CovariancePrior.of(
        guess,
        floor=np.full(d, floor),
        df=np.array([d + 1.5]),
        grid=GRID,
        kappa=np.array([2.0, 4.0]) if kappa else np.zeros(0),
        ties=floor > 0,
    )


def prior_draw(hyper, rng, labels=LABELS):
    """Values, and rows with the given labels, from the prior."""
    d = len(hyper.floor)
    M = wishart(hyper.df[0], np.linalg.inv(hyper.inverse_guess)).rvs(random_state=rng)
    w = rng.choice(GRID, p=1 / GRID / (1 / GRID).sum())
    kappa = rng.gamma(2.0) / 4.0 if hyper.kappa.size else 0.3
    scale, rows = w * (M + np.diag(hyper.floor)), np.zeros((len(labels), d))
    for k in range(max(labels) + 1):
        covariance = invwishart(w + d + 1, scale).rvs(random_state=rng)
        mean = rng.multivariate_normal(np.full(d, 0.2), covariance / kappa)
        rows[labels == k] = rng.multivariate_normal(mean, covariance, (labels == k).sum())
    return Values(M, w + d + 1.0, kappa), rows


def bound_rows(kind, rows, hyper, values, capacity=4):
    """Bound data in given units, which do not depend on the rows."""
    d = rows.shape[1]
    unit, scale = Units(np.zeros(d), np.ones(d)), learned_covariance.scale_matrix(hyper, values)
    hyper = hyper._replace(expected=hyper.expected.copy())
    settings = (unit, np.full(d, 0.2), values.kappa, values.nu, scale, hyper)
    if kind == "planar":
        return bind_planar(rows, *settings, capacity)
    if kind == "general":
        return bind_general(rows, *settings, capacity)
    rows = rows.copy()
    rows[[0, 3, 5], 0] = np.nan
    rows[3, 1] = np.nan
    if kind == "nested":
        return bind_nested(rows, *settings, find_nesting(rows), capacity)
    return bind_imputed(rows, *settings, capacity)


def functionals(values, c):
    """Numbers whose means tell distributions of the values apart."""
    M = values.expected
    log_det = np.linalg.slogdet(M)[1]
    return np.array(
        [
            *(log_det, M[0, 0] ** 0.5, np.log(M[-1, -1]), M[0, -1] / (M[0, 0] * M[-1, -1]) ** 0.5),
            *(values.nu == GRID[0] + len(M) + 1, values.nu == GRID[2] + len(M) + 1),
            *(np.log(values.kappa), (log_det > c) * 1.0),
        ]
    )


def columns_hyper_prior(d, floor):
    """Hyper-priors of d independent columns."""
    guess, ties = np.linspace(0.5, 1.5, d), np.ones(int(floor > 0))
    settings = np.full(d, floor), np.array([1.25]), guess, GRID, np.array([2.0, 4.0])
    return VariancePrior(guess.copy(), *settings, np.zeros(0), ties, np.zeros(len(GRID)))


def columns_prior_draw(hyper, rng, labels=LABELS):
    """Packed values, and rows with the given labels, from the prior."""
    d, floor = len(hyper.floor), hyper.floor
    v = rng.gamma(hyper.weight[0], hyper.guess / hyper.weight[0])
    w = rng.choice(GRID, p=1 / GRID / (1 / GRID).sum())
    shape, kappa = 1.0 + w / 2, rng.gamma(2.0) / 4.0
    rows = np.zeros((len(labels), d))
    for k in range(max(labels) + 1):
        variance = max(w / 2, 0.5) * (v + floor) / rng.gamma(shape, size=d)
        mean = 0.2 + np.sqrt(variance / kappa) * rng.normal(size=d)
        rows[labels == k] = mean + np.sqrt(variance) * rng.normal(size=((labels == k).sum(), d))
    return np.array([*v, shape, kappa]), rows


def bound_columns(bind, rows, hyper, capacity=4):
    """Bound data in given units, which do not depend on the rows."""
    d = rows.shape[1]
    unit, hyper = Units(np.zeros(d), np.ones(d)), hyper._replace(expected=hyper.expected.copy())
    return bind(rows, unit, np.full(d, 0.2), 0.3, 2.0, np.ones(d), hyper, capacity)
