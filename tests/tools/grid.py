"""A likelihood whose blocks have parameters on a grid, in plain Python.

So sums over parameters are exact, and a generator that enumerates branches can draw them. A
parameter is drawn when it is first asked for: those that nobody needs make no branches.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bnpcluster._core import operations as ops
from bnpcluster._core import parameter_operations as parameter_ops


class Grid(NamedTuple):
    """log f(item i | grid point p) = log_f[p, i], and uniform weights of the points."""

    log_f: np.ndarray
    X: np.ndarray  # coordinates for 2-means
    total: np.ndarray  # by slot and point: the sum over the items of the slot

    @property
    def slot_axis(self):
        return {"total": 0}


class GridLikelihood:
    """Binds a table of log densities, whatever the rows."""

    def __init__(self, log_f, X=None):
        self.log_f, self.X = np.asarray(log_f, float), X

    def bind(self, X, capacity=16):
        n_points, n = self.log_f.shape
        coordinates = np.zeros((n, 0)) if self.X is None else np.asarray(self.X, float)
        return Grid(self.log_f, coordinates, np.zeros((capacity, n_points)))


def log_weights(lik, k):
    """Log posterior of the grid points given slot k, up to a constant that is its marginal."""
    return lik.total[k] - np.log(len(lik.log_f))


@ops.clear.register(Grid)
def _clear(lik, k):
    lik.total[k] = 0.0


@ops.add.register(Grid)
def _add(lik, k, i):
    lik.total[k] += lik.log_f[:, i]


@ops.remove.register(Grid)
def _remove(lik, k, i):
    lik.total[k] -= lik.log_f[:, i]


@ops.copy.register(Grid)
def _copy(lik, to, source):
    lik.total[to] = lik.total[source]


@ops.log_marginal.register(Grid)
def _log_marginal(lik, k):
    return float(np.logaddexp.reduce(log_weights(lik, k)))


@ops.log_predictive.register(Grid)
def _log_predictive(lik, k, i):
    joint = np.logaddexp.reduce(log_weights(lik, k) + lik.log_f[:, i])
    return float(joint) - _log_marginal(lik, k)


@ops.n_coordinates.register(Grid)
def _n_coordinates(lik):
    return lik.X.shape[1]


@ops.coordinate.register(Grid)
def _coordinate(lik, i, d):
    return lik.X[i, d]


class Drawn:
    """Grid points by block, each drawn when it is first asked for."""

    def __init__(self, probabilities: np.ndarray, rng: Any):
        self.probabilities, self.rng, self.known = probabilities, rng, {}

    def __getitem__(self, k):
        if k not in self.known:
            self.known[k] = inverted(self.probabilities[k], self.rng)
        return self.known[k]


def inverted(probabilities, rng):
    """An index drawn by inversion."""
    u = rng.random()
    for p, edge in enumerate(np.cumsum(probabilities)[:-1]):
        if u < edge:
            return p
    return len(probabilities) - 1


@parameter_ops.draw_parameters.register(Grid)
def _draw_parameters(lik, n_blocks, rng):
    logs = np.array([log_weights(lik, k) - _log_marginal(lik, k) for k in range(n_blocks)])
    return Drawn(np.exp(logs), rng)


@parameter_ops.log_density.register(Grid)
def _log_density(lik, parameters, k, i):
    return lik.log_f[parameters[k], i]


@parameter_ops.log_density_of_parameters.register(Grid)
def _log_density_of_parameters(lik, slot, parameters, k):
    return log_weights(lik, slot)[parameters[k]] - _log_marginal(lik, slot)


@parameter_ops.new_sums.register(Grid)
def _new_sums(lik, n_blocks):
    return np.zeros((n_blocks, len(lik.log_f)))


@parameter_ops.add_row.register(Grid)
def _add_row(lik, parameters, sums, k, i):
    sums[k] += lik.log_f[:, i]


@parameter_ops.put_sums.register(Grid)
def _put_sums(lik, slot, parameters, sums, k, m):
    lik.total[slot] = sums[k]
    return True
