"""Gaussian clusters with independent columns: the normal-inverse-gamma likelihood."""

from __future__ import annotations

from typing import Any

import numpy as np

from bnpcluster.likelihoods.base import (
    Likelihood,
    check_observed,
    column_values,
    is_auto,
    number_above,
)
from bnpcluster.likelihoods.gaussian.block_distributions import ColumnBlocks
from bnpcluster.likelihoods.gaussian.nig_columns import bind_columns, column_blocks, sample_columns
from bnpcluster.likelihoods.gaussian.nig_missing import bind_observed_columns
from bnpcluster.likelihoods.gaussian.units import WIDTH, Units, cluster_share, rows_guessed, units


class NormalInverseGamma(Likelihood):
    """Gaussian clusters whose columns are independent, each with its own mean and variance.

    Per column ``variance ~ InverseGamma(shape, scale)`` and
    ``mean | variance ~ N(mean, variance / kappa)``, both integrated out.

    Parameters
    ----------
    mean : "auto", float or array of shape (n_features,), default="auto"
        Prior mean of the cluster means. ``"auto"``: the mean of the data.
    kappa : "auto" or float, default="auto"
        Number of observations that the prior mean is worth. ``"auto"``: `c` / 64, see Notes.
    shape : "auto" or float, default="auto"
        Shape of the inverse gamma distribution, for all columns. ``"auto"``: 1.5, plus up to
        ``8 / d`` with thousands of rows; see `NormalInverseWishart`.
    scale : "auto", float or array of shape (n_features,), default="auto"
        Scale of the inverse gamma distribution. ``"auto"``: such that the prior mean of a
        cluster's variance is `c` times the variance of the column.

    Notes
    -----
    `c` is the share of the total variance that belongs to a single cluster, estimated from the data
    as in `NormalInverseWishart`. For one column, the two likelihoods are equal.

    NaN entries are integrated out exactly; "auto" then uses the observed entries.

    Examples
    --------
    >>> from bnpcluster.likelihoods import NormalInverseGamma
    >>> NormalInverseGamma(shape=2.0).get_params()["shape"]
    2.0
    """

    is_gaussian = True
    takes_nan = True

    def __init__(
        self,
        *,
        mean: Any = "auto",
        kappa: float | str = "auto",
        shape: float | str = "auto",
        scale: Any = "auto",
    ):
        self.mean = mean
        self.kappa = kappa
        self.shape = shape
        self.scale = scale

    @classmethod
    def examples(cls, rng: np.random.Generator) -> list[tuple[Likelihood, np.ndarray]]:
        """One and three columns, with the defaults and with given values."""
        given = cls(mean=[0.5, -1.0, 0.0], kappa=0.3, shape=2.0, scale=[1.0, 2.0, 0.5])
        rows = [rng.normal(size=(6, d)) + (np.arange(6) // 3)[:, None] for d in (1, 3)]
        return [*((cls(), X) for X in rows), (given, rows[1])]

    def bind(self, X: np.ndarray, capacity: int = 16) -> Any:
        """Prepare the rows `X` for the kernels."""
        if np.isnan(X).any():
            return self.bind_observed(X, capacity)
        unit = units(X)
        Z = unit.to_internal(X)
        return bind_columns(Z, unit, *self._hyper_parameters(Z, unit), capacity)

    def bind_observed(self, X: np.ndarray, capacity: int = 16) -> Any:
        """Prepare the rows `X`, which may contain NaN."""
        check_observed(X)
        unit = units(X)
        Z = unit.to_internal(X)
        return bind_observed_columns(Z, unit, *self._hyper_parameters(Z, unit), capacity)

    def frozen(self, X: np.ndarray) -> NormalInverseGamma:
        """The same likelihood with every "auto" replaced by its value for `X`."""
        unit = units(X)
        mean, kappa, shape, rate = self._hyper_parameters(unit.to_internal(X), unit)
        mean = unit.centre + unit.scale * mean
        return type(self)(mean=mean, kappa=kappa, shape=shape, scale=rate * unit.scale**2)

    def _hyper_parameters(
        self, Z: np.ndarray, unit: Units
    ) -> tuple[np.ndarray, float, float, np.ndarray]:
        """The hyper-parameters in internal units, with every "auto" replaced by its value."""
        d = Z.shape[1]
        share = cluster_share(Z)
        kappa = share / WIDTH**2 if is_auto(self.kappa) else number_above("kappa", self.kappa)
        guessed = 1.5 + rows_guessed(len(Z), d) / 2
        shape = guessed if is_auto(self.shape) else number_above("shape", self.shape)
        mean = np.zeros(d)
        if not is_auto(self.mean):
            mean = (column_values("mean", self.mean, d) - unit.centre) / unit.scale
        # The variance has prior mean scale / (shape - 1), if it has one.
        rate = np.full(d, share * max(shape - 1.0, 0.5))
        if not is_auto(self.scale):
            rate = column_values("scale", self.scale, d, positive=True) / unit.scale**2
        return mean, kappa, shape, rate

    def rows(self, bound: Any, X: np.ndarray) -> Any:
        """The same slots with other data: item i is now row i of `X`."""
        return bound._replace(X=Units(bound.centre, bound.unit).to_internal(X))

    def means(self, bound: Any, n_slots: int) -> np.ndarray:
        """The posterior mean of every column in the first slots."""
        return bound.centre + bound.unit * bound.mean[:, :n_slots].T

    def sample(self, bound: Any, k: int, rng: np.random.Generator) -> np.ndarray:
        """One new row from the posterior predictive of slot k, a Student t per column."""
        return sample_columns(bound, k, rng)

    def blocks(self, bound: Any, slots: np.ndarray) -> ColumnBlocks:
        """Predictive distributions of some slots, in internal units."""
        return column_blocks(bound, slots)
