"""Data sets from the prior: what a model expects before it sees the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core.operations import draw_learned, set_learned
from bnpcluster._core.state import State
from bnpcluster.likelihoods import Likelihood
from bnpcluster.priors import Prior


def sample_prior(
    likelihood: Likelihood, prior: Prior, X: NDArray, n: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """`n` data sets with as many rows as X, each with hyper-parameters, clusters and rows drawn.

    The guesses of "auto" are those for `X`. So are learned hyper-parameters that cannot be drawn.
    """
    n_rows = len(X)
    state = State(likelihood.bind(X), prior, np.full(n_rows, -1))
    bound, sets = state.problem.likelihood, np.empty((n, *X.shape))
    for rows in sets:
        own = prior.at(**prior.draw(rng))
        values = draw_learned(bound, rng)
        if values is not None:
            set_learned(bound, values)
            state.rebuild()
        z = own.sample(n_rows, rng)
        empty = np.zeros(z.max() + 1, np.intp)  # slot 0 is empty, so its posterior is the prior
        theta = likelihood.parameters(bound, empty, rng)
        for name in ("means", "rates", "probabilities"):
            if name in theta:
                _fill(rows, name, theta, z, rng)
    return sets


def _fill(
    rows: NDArray, name: str, theta: dict[str, Any], z: NDArray, rng: np.random.Generator
) -> None:
    """Draw the values of all columns that have a parameter."""
    values = theta[name]
    if name == "means" and "covariances" in theta:
        roots = np.linalg.cholesky(theta["covariances"])
        noise = rng.standard_normal((len(z), rows.shape[1], 1))
        rows[:] = values[z] + (roots[z] @ noise)[..., 0]
        return
    for j in values if isinstance(values, dict) else range(values.shape[1]):
        own = values[j] if isinstance(values, dict) else values[:, j]
        if name == "means":
            spread = theta["variances"]
            variance = spread[j] if isinstance(spread, dict) else spread[:, j]
            rows[:, j] = rng.normal(own[z], np.sqrt(variance[z]))
        elif name == "rates":
            rows[:, j] = rng.poisson(own[z])
        elif own.ndim == 1:
            rows[:, j] = rng.random(len(z)) < own[z]
        else:
            rows[:, j] = (own.cumsum(axis=1)[z] < rng.random((len(z), 1))).sum(axis=1)
