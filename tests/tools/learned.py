"""The joint posterior of partition and hyper-parameters of a few values in one column.

Everything here is computed from the definitions, on a grid of log v and of the shape, for
``variance ~ InverseGamma(a, max(a - 1, 1/2) (v + f))`` and
``mean | variance ~ N(0, variance / kappa)``, where kappa may be a multiple of v + f.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp
from scipy.stats import gamma

from bnpcluster.partitions.exhaustive import all_partitions
from bnpcluster.testing.enumeration import log_eppf


class Quadrature(NamedTuple):
    """The joint posterior over partitions, shapes and cells of log v."""

    partitions: np.ndarray
    shapes: np.ndarray
    log_v: np.ndarray  # midpoints of the cells
    probability: np.ndarray  # by partition, shape and cell
    z: np.ndarray  # the values, in internal units
    model: Any
    log_evidence: float  # in internal units; the likelihood has the power beta of the model

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, float, float]:
        """Labels, shape and v from the joint posterior."""
        cell = rng.choice(self.probability.size, p=self.probability.ravel())
        p, s, v = np.unravel_index(cell, self.probability.shape)
        width = self.log_v[1] - self.log_v[0]
        log_v = self.log_v[v] + width * (rng.random() - 0.5)
        return self.partitions[p], float(self.shapes[s]), float(np.exp(log_v))

    def predictive(self, x: np.ndarray, prior: Any) -> np.ndarray:
        """The posterior predictive density at some points, in internal units."""
        total = np.zeros(len(x))
        for p, labels in enumerate(self.partitions):
            sizes = np.bincount(labels)
            urn = np.exp(prior.predictive(sizes))
            for k, weight in enumerate(urn):
                block = self.z[labels == k]
                old = self.model.log_block(block, self.shapes, self.log_v)
                for j, value in enumerate(x):
                    new = self.model.log_block(np.append(block, value), self.shapes, self.log_v)
                    total[j] += weight * (self.probability[p] * np.exp(new - old)).sum()
        return total


class Model(NamedTuple):
    """The hyper-priors of one column."""

    kappa: float
    floor: float
    weight: float
    guess: float
    grid: np.ndarray
    beta: float = 1.0
    per_variance: float | None = None  # kappa is this multiple of v + f

    @classmethod
    def of(cls, bound: Any, beta: float = 1.0) -> Model:
        """The hyper-priors of bound data of one column."""
        hyper = bound.hyper
        own = float(hyper.per_variance[0]) if hyper.per_variance.size else None
        floor, weight, guess = float(hyper.floor[0]), float(hyper.weight[0]), float(hyper.guess[0])
        return cls(float(bound.prior[0]), floor, weight, guess, hyper.grid, beta, own)

    def log_block(self, z: np.ndarray, shapes: np.ndarray, log_v: np.ndarray) -> np.ndarray:
        """Log marginal likelihood of a block, by shape and v."""
        n = len(z)
        if n == 0:
            return np.zeros((len(shapes), len(log_v)))
        a = shapes[:, None]
        rate = np.maximum(a - 1, 0.5) * (np.exp(log_v) + self.floor)
        scatter = ((z - z.mean()) ** 2).sum() / 2
        kappa = np.full(len(log_v), self.kappa)
        if self.per_variance is not None:
            kappa = self.per_variance * (np.exp(log_v) + self.floor)
        scatter = scatter + kappa * n / (kappa + n) * z.mean() ** 2 / 2
        value = gammaln(a + n / 2) - gammaln(a) + a * np.log(rate)
        value -= (a + n / 2) * np.log(rate + scatter)
        return value + 0.5 * np.log(kappa / (kappa + n)) - n / 2 * np.log(2 * np.pi)

    def log_prior(self, shapes: np.ndarray, log_v: np.ndarray) -> np.ndarray:
        """Log density of shape and log v."""
        v = gamma(self.weight, scale=self.guess / self.weight)
        of_shape = -np.log(2 * (shapes[:, None] - 1)) - np.log((1 / self.grid).sum())
        return of_shape + v.logpdf(np.exp(log_v)) + log_v


def quadrature(z: np.ndarray, model: Model, prior: Any, cells: int = 400) -> Quadrature:
    """The joint posterior of the partition of `z`, the shape and v."""
    partitions, shapes = all_partitions(len(z)), 1 + model.grid / 2
    log_v = np.log(model.guess) + np.linspace(-18.0, 6.0, cells)
    log_p = log_eppf(prior, partitions)[:, None, None] + model.log_prior(shapes, log_v)
    for row, labels in zip(log_p, partitions, strict=True):
        for k in range(labels.max() + 1):
            row += model.beta * model.log_block(z[labels == k], shapes, log_v)
    total = logsumexp(log_p)
    evidence = float(total + np.log(log_v[1] - log_v[0]))
    return Quadrature(partitions, shapes, log_v, np.exp(log_p - total), z, model, evidence)
