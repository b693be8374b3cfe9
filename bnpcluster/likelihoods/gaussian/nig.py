"""Gaussian clusters with independent columns: the normal-inverse-gamma likelihood."""

from __future__ import annotations

from typing import Any

import numpy as np

from bnpcluster._core.arguments import is_auto
from bnpcluster._core.containers import as_array
from bnpcluster.likelihoods.base import (
    A_PAIR_TOO,
    AUTO,
    Likelihood,
    check_observed,
    column_values,
    gamma_prior,
    is_guess,
    number_above,
)
from bnpcluster.likelihoods.gaussian.block_distributions import ColumnBlocks
from bnpcluster.likelihoods.gaussian.learned_grid import (
    NONE,
    allowed_grid,
    hyper_parameters_of_columns,
)
from bnpcluster.likelihoods.gaussian.learned_variances import (
    Values,
    VariancePrior,
    multiplier,
    with_kappa,
)
from bnpcluster.likelihoods.gaussian.nig_columns import bind_columns, column_blocks, sample_columns
from bnpcluster.likelihoods.gaussian.nig_missing import bind_observed_columns
from bnpcluster.likelihoods.gaussian.rounding import LEAST, rounding_variance
from bnpcluster.likelihoods.gaussian.units import (
    REACH,
    WIDTH,
    Units,
    cluster_share,
    constant_columns,
    in_own_units,
    rows_guessed,
    units,
    within_reach,
)
from bnpcluster.likelihoods.gaussian.wishart import Wishart


class NormalInverseGamma(Likelihood):
    """Gaussian clusters whose columns are independent, each with its own mean and variance.

    Per column ``variance ~ InverseGamma(shape, scale)`` and
    ``mean | variance ~ N(mean, variance / kappa)``, both integrated out.

    Parameters
    ----------
    mean : "auto", "data", float or array of shape (n_features,), default="auto"
        Prior mean of the cluster means. ``"auto"`` and ``"data"``: the medians of the columns.
    kappa : "auto", "data", float or pair, default="auto"
        Number of observations that the prior mean is worth. ``"auto"`` and ``"data"``: `c` / 64,
        see Notes. A pair (shape, rate): learned, with this gamma distribution.
    shape : "auto", "data" or float, default="auto"
        Shape of the inverse gamma distribution, for all columns. ``"auto"``: learned, unless a
        scale is given. ``"data"``: 1.5, plus up to ``8 / d`` with thousands of rows.
    scale : "auto", "data", float, array of shape (n_features,) or Wishart, default="auto"
        Scale of the inverse gamma distribution. ``"auto"``: learned. A `Wishart` object: learned
        under this hyper-prior, which is a gamma distribution in each column. ``"data"``: such that
        the prior mean of a cluster's variance is `c` times the squared unit of the column.

    Notes
    -----
    `c` is the share of the total variance that belongs to a single cluster, estimated from the data
    as in `NormalInverseWishart`. For one column, the two likelihoods are equal.

    With ``scale="auto"``, the scale of column j is ``max(shape - 1, 0.5) * (v_j + f_j)``. So
    v_j + f_j is the variance that is expected of a cluster. v_j has an exponential distribution
    whose mean is the guess of ``"data"``; f_j is the variance that rounding gives to the column.
    Chains sample v_j with the partition, and the shape, common to all columns, on a grid. In a
    single column, kappa follows: it is (v + f) / 64. Particle samplers keep the guess, except
    ``AnnealedSMC(path="temperature")``.

    NaN entries are integrated out exactly; "auto" then uses the observed entries.

    Examples
    --------
    >>> from bnpcluster.likelihoods import NormalInverseGamma
    >>> NormalInverseGamma(shape=2.0).get_params()["shape"]
    2.0
    """

    is_gaussian = True
    takes_nan = True
    learnable = ("mean", "kappa", "shape", "scale")
    data_dependent = ("mean", "kappa", "shape", "scale")
    per_column = ("mean", "scale")

    def __init__(
        self,
        *,
        mean: Any = "auto",
        kappa: Any = "auto",
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
        """The same likelihood with every "auto" replaced by its guess for `X`."""
        unit = units(X)
        mean, kappa, shape, rate, _ = self.guessed()._hyper_parameters(unit.to_internal(X), unit)
        mean = unit.centre + unit.scale * mean
        return type(self)(mean=mean, kappa=kappa, shape=shape, scale=rate * unit.scale**2)

    def _hyper_parameters(
        self, Z: np.ndarray, unit: Units
    ) -> tuple[np.ndarray, float, float, np.ndarray, VariancePrior]:
        """The hyper-parameters in internal units (learned: the first values) and hyper-priors."""
        d, share, kappa_prior = Z.shape[1], cluster_share(Z), gamma_prior("kappa", self.kappa)
        kappa = share / WIDTH**2
        if kappa_prior is None and not is_guess(self.kappa):
            kappa = number_above("kappa", self.kappa, allowed=A_PAIR_TOO)
        rows = rows_guessed(len(Z), d)
        shape = 1.5 + rows / 2 if is_guess(self.shape) else number_above("shape", self.shape)
        mean = np.zeros(d)
        if not is_guess(self.mean):
            mean = column_values("mean", self.mean, d) - unit.centre
            mean = within_reach("mean", mean, unit.scale)
        guessed = is_guess(self.scale) or isinstance(self.scale, Wishart)
        expected = np.full(d, share)
        if not guessed:
            rate = column_values("scale", self.scale, d, positive=True)
            rate = within_reach("scale", rate, unit.scale**2, 1.0 / REACH)
            expected = rate / multiplier(shape)
        hyper = VariancePrior(expected, np.zeros(d), *[NONE] * 7)
        if is_auto(self.shape) and guessed:
            grid = allowed_grid(1.0 + rows)
            hyper = hyper._replace(grid=grid, log_p=np.zeros(len(grid)))
        if is_auto(self.scale) or isinstance(self.scale, Wishart):
            hyper = self._learned_scale(hyper, Z, unit)
        if kappa_prior is not None:
            hyper = hyper._replace(kappa=kappa_prior)
        elif d == 1 and is_guess(self.kappa) and hyper.weight.size:
            hyper = hyper._replace(per_variance=np.array([WIDTH**-2]))
            kappa = with_kappa(hyper, Values(hyper.expected, shape, kappa)).kappa
        return mean, kappa, shape, multiplier(shape) * (hyper.expected + hyper.floor), hyper

    def _learned_scale(self, hyper: VariancePrior, Z: np.ndarray, unit: Units) -> VariancePrior:
        """The hyper-prior of the expected variances, and where they start."""
        given = self.scale if isinstance(self.scale, Wishart) else Wishart()
        guess, floor = hyper.expected, rounding_variance(Z)
        if not is_guess(given.mean):
            diagonal = np.diag(given.mean) if as_array(given.mean).ndim == 2 else given.mean
            guess = column_values("mean", diagonal, len(guess), positive=True)
            guess = within_reach("mean", guess, unit.scale**2, 1.0 / REACH)
        df = 2.0 if is_auto(given.df) else number_above("df", given.df, allowed=AUTO)
        return hyper._replace(
            expected=guess - np.minimum(floor, 0.5 * guess),  # starts at the guess
            floor=floor,
            weight=np.array([df / 2]),
            guess=guess,
            ties=np.ones(int((floor > LEAST).any())),
        )

    def hyper_parameters(self, bound: Any, learned: np.ndarray | None = None) -> dict[str, Any]:
        """The hyper-parameters in use, by name, in the units of the data."""
        return hyper_parameters_of_columns(bound, learned)

    def measured_columns(self, n_columns: int) -> np.ndarray:
        """All columns."""
        return np.arange(n_columns)

    def constant_columns(self, X: np.ndarray) -> np.ndarray:
        """Numbers of the columns that are constant up to rounding."""
        return constant_columns(X)

    def features(self, X: np.ndarray) -> np.ndarray:
        """Columns with meaningful Euclidean distances, which a few wild values leave alone."""
        return in_own_units(X)

    def rows(self, bound: Any, X: np.ndarray) -> Any:
        """The same slots with other data: item i is now row i of `X`."""
        return bound._replace(X=Units(bound.centre, bound.unit).to_internal(X))

    def means(self, bound: Any, n_slots: int) -> np.ndarray:
        """The posterior mean of every column in the first slots."""
        return bound.centre + bound.unit * bound.mean[:, :n_slots].T

    def sample(self, bound: Any, k: int, rng: np.random.Generator) -> np.ndarray:
        """One new row from the posterior predictive of slot k, a Student t per column."""
        return sample_columns(bound, k, rng)

    def parameters(
        self, bound: Any, slots: np.ndarray, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """Means and variances of some slots, drawn from the posterior."""
        means, variances = self.blocks(bound, slots).draw(rng)
        return {
            "means": bound.centre + bound.unit * means,
            "variances": bound.unit**2 * variances,
        }

    def blocks(self, bound: Any, slots: np.ndarray) -> ColumnBlocks:
        """Predictive distributions of some slots, in internal units."""
        return column_blocks(bound, slots)
