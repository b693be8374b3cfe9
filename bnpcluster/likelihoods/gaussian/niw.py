"""Gaussian clusters with full covariance matrices: the normal-inverse-Wishart likelihood."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from bnpcluster._core import arguments
from bnpcluster._core.arguments import is_auto, numbers_of
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
from bnpcluster.likelihoods.gaussian.block_distributions import ColumnBlocks, WishartBlocks
from bnpcluster.likelihoods.gaussian.learned_covariance import CovariancePrior, multiplier
from bnpcluster.likelihoods.gaussian.learned_grid import (
    allowed_grid,
    hyper_parameters_of_columns,
    hyper_parameters_of_covariances,
)
from bnpcluster.likelihoods.gaussian.nig import NormalInverseGamma
from bnpcluster.likelihoods.gaussian.nig_columns import (
    InverseGammaColumns,
    column_blocks,
    sample_columns,
)
from bnpcluster.likelihoods.gaussian.nig_missing import ObservedColumns
from bnpcluster.likelihoods.gaussian.niw_general import GeneralNIW, bind_general, general_rows
from bnpcluster.likelihoods.gaussian.niw_imputed import (
    ImputedNIW,
    add_conditional_means,
    bind_imputed,
    imputed_rows,
)
from bnpcluster.likelihoods.gaussian.niw_nested import (
    NestedNIW,
    Nesting,
    bind_nested,
    find_nesting,
    levels_of_rows,
    nested_rows,
)
from bnpcluster.likelihoods.gaussian.niw_planar import PlanarNIW, bind_planar, planar_moments
from bnpcluster.likelihoods.gaussian.niw_regressions import add_regression_means, sample_nested
from bnpcluster.likelihoods.gaussian.rounding import has_ties, rounding_variance
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

MISSING = ("auto", "integrate", "impute")
MOST_LEVELS = 8  # of nested patterns that "auto" integrates over; each level costs a solve per item
ROWS_PER_COLUMN = 10  # with fewer rows, a full covariance is hard to estimate


class NormalInverseWishart(Likelihood):
    """Gaussian clusters, each with its own mean and full covariance matrix.

    ``covariance ~ InverseWishart(nu, scale)`` and
    ``mean | covariance ~ N(mean, covariance / kappa)``, both integrated out.

    Parameters
    ----------
    mean : "auto", "data" or array of shape (n_features,), default="auto"
        Prior mean of the cluster means. ``"auto"`` and ``"data"``: the medians of the columns.
    kappa : "auto", "data", float or pair, default="auto"
        Number of observations that the prior mean is worth. ``"auto"`` and ``"data"``: `c` / 64,
        see Notes. A pair (shape, rate): learned, with this gamma distribution. Read the notes
        first.
    nu : "auto", "data" or float, default="auto"
        Degrees of freedom, greater than ``n_features - 1``. ``"auto"``: learned, unless a scale
        matrix is given. ``"data"``: ``d + 2``, the smallest integer for which the covariance has a
        prior mean (d = n_features); plus ``n / 500``, at most ``16 / d``; plus up to ``d`` with few
        rows per column (all of ``d`` for at most 10).
    scale : "auto", "data", float, array or Wishart, default="auto"
        Scale matrix: a matrix, a vector (its diagonal) or a number (times the identity).
        ``"auto"``: learned. A `Wishart` object: learned under this hyper-prior. ``"data"``:
        diagonal, such that the prior mean of a cluster's covariance is `c` times the squared units
        of the columns.
    missing : {"auto", "integrate", "impute"}, default="auto"
        How to treat missing entries (NaN). ``"integrate"``: integrate them out in closed form.
        This needs nested patterns: in some order of the columns, every row is observed up to some
        column and missing after it, for example with dropouts, or if only one column has missing
        entries. ``"impute"``: chains sample them, for any patterns. ``"auto"``: integrate if the
        patterns are nested and there are at most eight of them. The posterior is the same.

    Notes
    -----
    With ``scale="auto"``, the scale matrix is ``max(nu - d - 1, 1) * (M + F)``. So M + F is the
    covariance that is expected of a cluster. M has a Wishart distribution with d + 1 degrees of
    freedom, whose mean is the guess of ``"data"``; F is the variance that rounding gives to the
    columns. Chains sample M with the partition, and nu on the grid ``nu - d - 1`` = 1, 2, 3, 5, 8,
    12, 20, 30, 50, 100, with weights in inverse proportion; values below 0.6 times the guess are
    left out. Particle samplers keep the guess, except ``AnnealedSMC(path="temperature")``. It
    keeps the guess, too, where entries of two columns and more are missing.

    Guesses follow the data, so that units and offsets of columns do not matter. The unit of a
    column is its interquartile range, divided by that of a standard Gaussian. The guesses depend on
    one number, `c` in [0.0001, 1]: the share of the total variance that belongs to a single
    cluster, estimated from the distances between near neighbours.

    The mean of a cluster has a prior standard deviation of about eight units (kappa = c / 64). In a
    single column with a learned scale, kappa is (M + F) / 64, so that this stays so. This prior
    must be wide. If the prior predictive density resembles the data, a partition into
    singletons explains them about as well as real clusters do, and a sampled alpha drifts towards
    it. A learned kappa tends to grow in this direction.

    Examples
    --------
    >>> from bnpcluster import DPMixture
    >>> from bnpcluster.likelihoods import NormalInverseWishart
    >>> DPMixture(likelihood=NormalInverseWishart(kappa=0.1)).likelihood.kappa
    0.1
    """

    is_gaussian = True
    takes_nan = True
    learnable = ("mean", "kappa", "nu", "scale")
    data_dependent = ("mean", "kappa", "nu", "scale")
    per_column = ("mean", "scale")

    def __init__(
        self,
        *,
        mean: Any = "auto",
        kappa: Any = "auto",
        nu: float | str = "auto",
        scale: Any = "auto",
        missing: str = "auto",
    ):
        self.mean = mean
        self.kappa = kappa
        self.nu = nu
        self.scale = scale
        self.missing = missing

    @classmethod
    def examples(cls, rng: np.random.Generator) -> list[tuple[Likelihood, np.ndarray]]:
        """One, two and four columns, with defaults and given values; nested missing entries."""
        given = cls(mean=[0.5, -1.0], kappa=0.3, nu=5.0, scale=[[2.0, 0.6], [0.6, 1.0]])
        rows = [rng.normal(size=(6, d)) + (np.arange(6) // 3)[:, None] for d in (1, 2, 4)]
        incomplete = rows[2].copy()
        incomplete[[0, 3, 5], 1] = incomplete[3, 2] = np.nan
        return [*((cls(), X) for X in rows), (given, 3.0 + 2.0 * rows[1]), (cls(), incomplete)]

    def bind(self, X: np.ndarray, capacity: int = 16) -> Any:
        """Prepare the rows `X` for the kernels."""
        if np.isnan(X).any():
            return self.bind_observed(X, capacity)
        unit = units(X)
        Z = unit.to_internal(X)
        if Z.shape[1] == 1:
            return self._as_columns(X).bind(X, capacity)
        bind = bind_planar if Z.shape[1] == 2 else bind_general
        return bind(Z, unit, *self._hyper_parameters(Z, unit), capacity)

    def bind_observed(self, X: np.ndarray, capacity: int = 16) -> Any:
        """Prepare the rows `X`, which may contain NaN."""
        check_observed(X)
        unit = units(X)
        Z = unit.to_internal(X)
        if Z.shape[1] == 1:
            return self._as_columns(X).bind_observed(X, capacity)
        values, nested = self._hyper_parameters(Z, unit), self._nesting(X)
        if nested is not None:
            return bind_nested(Z, unit, *values, nested, capacity)
        return bind_imputed(Z, unit, *values, capacity)

    def _nesting(self, X: np.ndarray) -> Nesting | None:
        """The levels to integrate over; None if chains sample missing entries, or none are missing.

        If no entries are missing in the fit, new rows may have any pattern.
        """
        if self.missing == "impute" or not np.isnan(X).any():
            return None
        nested = find_nesting(X)
        if self.missing == "auto":
            few = nested is not None and len(nested.ends) <= MOST_LEVELS + 1
            return nested if few else None
        if nested is None:
            raise ValueError(
                "missing='integrate' needs nested patterns: in some order of the columns, every "
                "row is observed up to some column and missing after it. Use missing='impute'."
            )
        return nested

    def serves(self, bound: Any, X: np.ndarray | None = None) -> bool:
        """Whether `rows` accepts the missing entries of `X`; None stands for any pattern."""
        if not isinstance(bound, NestedNIW):
            return True
        return X is not None and levels_of_rows(X, Nesting(bound.order, bound.ends)) is not None

    def imputing(self) -> NormalInverseWishart:
        """The same likelihood with missing="impute"."""
        return clone(self).set_params(missing="impute")

    def frozen(self, X: np.ndarray) -> NormalInverseWishart:
        """The same likelihood with every "auto" replaced by its guess for `X`."""
        unit = units(X)
        mean, kappa, nu, scale, _ = self.guessed()._hyper_parameters(unit.to_internal(X), unit)
        scale = scale * np.outer(unit.scale, unit.scale)
        missing = self.missing
        if missing == "auto":
            moved = np.isnan(X).any() and self._nesting(X) is None
            missing = "impute" if moved else "integrate"
        mean = unit.centre + unit.scale * mean
        return type(self)(mean=mean, kappa=kappa, nu=nu, scale=scale, missing=missing)

    def _hyper_parameters(
        self, Z: np.ndarray, unit: Units
    ) -> tuple[np.ndarray, float, float, np.ndarray, CovariancePrior]:
        """The hyper-parameters in internal units (learned: the first values) and hyper-priors."""
        if not isinstance(self.missing, str) or self.missing not in MISSING:
            raise ValueError(arguments.unknown("missing", str(self.missing), MISSING))
        n, d = Z.shape
        share, guessed_nu = cluster_share(Z), _guessed_nu(n, d)
        kappa_prior = gamma_prior("kappa", self.kappa)
        kappa = share / WIDTH**2
        if kappa_prior is None and not is_guess(self.kappa):
            kappa = number_above("kappa", self.kappa, allowed=A_PAIR_TOO)
        fixed_nu = not is_guess(self.nu)
        nu = number_above("nu", self.nu, low=d - 1) if fixed_nu else guessed_nu
        given = self._given_scale(unit)
        expected = share * np.eye(d) if given is None else given / multiplier(nu, d)
        learned: dict[str, Any] = {}
        if is_auto(self.nu) and given is None:
            learned["grid"] = allowed_grid(guessed_nu - d - 1.0)
        if is_auto(self.scale) or isinstance(self.scale, Wishart):
            expected, of_scale = self._learned_scale(expected, Z, unit)
            learned.update(of_scale)
        if kappa_prior is not None:
            learned["kappa"] = kappa_prior
        hyper = CovariancePrior.of(expected, **learned)
        scale = multiplier(nu, d) * (hyper.expected + np.diag(hyper.floor))
        return self._mean(unit), kappa, nu, scale, hyper

    def _mean(self, unit: Units) -> np.ndarray:
        if is_guess(self.mean):
            return np.zeros_like(unit.centre)
        values = column_values("mean", self.mean, len(unit.centre)) - unit.centre
        return within_reach("mean", values, unit.scale)

    def _given_scale(self, unit: Units) -> np.ndarray | None:
        """The given scale matrix in internal units; None if it is learned or guessed."""
        if is_guess(self.scale) or isinstance(self.scale, Wishart):
            return None
        return _matrix("scale", self.scale, unit)

    def _learned_scale(
        self, guess: np.ndarray, Z: np.ndarray, unit: Units
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """The mean of the expected covariance, and its hyper-prior."""
        d, given = Z.shape[1], self.scale if isinstance(self.scale, Wishart) else Wishart()
        if not is_guess(given.mean):
            guess = _matrix("mean", given.mean, unit)
        df = d + 1.0 if is_auto(given.df) else number_above("df", given.df, low=d - 1, allowed=AUTO)
        floor = rounding_variance(Z)
        return guess, {"floor": floor, "df": np.array([df]), "ties": has_ties(Z, floor)}

    def _as_columns(self, X: np.ndarray) -> NormalInverseGamma:
        """The same likelihood of a single column."""
        unit = units(X)
        self._hyper_parameters(unit.to_internal(X), unit)  # validates
        nu: Any = self.nu
        scale = self.scale
        if not is_guess(nu):
            nu = nu / 2
        if not (is_guess(scale) or isinstance(scale, Wishart)):
            scale = np.ravel(scale) / 2
        return NormalInverseGamma(mean=self.mean, kappa=self.kappa, shape=nu, scale=scale)

    def hyper_parameters(self, bound: Any, learned: np.ndarray | None = None) -> dict[str, Any]:
        """The hyper-parameters in use, by name, in the units of the data."""
        if isinstance(bound, (InverseGammaColumns, ObservedColumns)):
            found = hyper_parameters_of_columns(bound, learned)
            found["nu"] = 2.0 * found.pop("shape")
            found["expected_covariance"] = found.pop("expected_variance")[..., None]
            return found
        return hyper_parameters_of_covariances(bound, learned)

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
        Z = Units(bound.centre, bound.unit).to_internal(X)
        if isinstance(bound, GeneralNIW):
            return general_rows(bound, Z)
        if isinstance(bound, ImputedNIW):
            return imputed_rows(bound, Z)
        if isinstance(bound, NestedNIW):
            return nested_rows(bound, Z)
        return bound._replace(X=Z)

    def passed(self, bound: Any, X: np.ndarray) -> Any:
        """As `rows`, without the predictive of an empty slot."""
        return bound._replace(X=Units(bound.centre, bound.unit).to_internal(X))

    def means(self, bound: Any, n_slots: int) -> np.ndarray:
        """The posterior mean of a single column in the first slots."""
        return bound.centre + bound.unit * bound.mean[:, :n_slots].T

    def expected(
        self, bound: Any, new: Any, share: np.ndarray, items: np.ndarray | None = None
    ) -> np.ndarray:
        """Conditional means given the observed entries, or the values that the chains sampled."""
        if isinstance(bound, ObservedColumns):
            return super().expected(bound, new, share, items)
        weight = share.sum(axis=1, keepdims=True)
        nested = isinstance(bound, NestedNIW)
        if items is not None and not nested:
            return weight * (bound.centre + bound.unit * bound.X[items])
        Z, fill = np.zeros(new.X.shape), add_regression_means if nested else add_conditional_means
        if not isinstance(new, GeneralNIW):  # rows with missing entries
            for k in range(share.shape[1]):
                fill(new, k, np.ascontiguousarray(share[:, k]), Z)
        return weight * bound.centre + bound.unit * Z

    def sample(self, bound: Any, k: int, rng: np.random.Generator) -> np.ndarray:
        """One new row from the posterior predictive of slot k, a multivariate Student t."""
        if isinstance(bound, (InverseGammaColumns, ObservedColumns)):
            return sample_columns(bound, k, rng)
        if isinstance(bound, NestedNIW):
            return bound.centre + bound.unit * sample_nested(bound, k, rng)
        planar = isinstance(bound, PlanarNIW)
        mean, chol = planar_moments(bound, k) if planar else _moments(bound, k)
        d = len(mean)
        r, nu = bound.prior[-2:] + bound.size[k]
        df = nu - d + 1
        t = rng.standard_normal(d) * np.sqrt((r + 1) / (r * rng.chisquare(df)))
        return bound.centre + bound.unit * (mean + chol @ t)

    def parameters(
        self, bound: Any, slots: np.ndarray, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """Means and covariances of some slots, drawn from the posterior."""
        means, spread = self.blocks(bound, slots).draw(rng)
        covariances = spread if spread.ndim == 3 else spread[:, :, None]  # of a single column
        unit = bound.unit
        return {
            "means": bound.centre + unit * means,
            "covariances": covariances * np.outer(unit, unit),
        }

    def blocks(self, bound: Any, slots: np.ndarray) -> WishartBlocks | ColumnBlocks:
        """Predictive distributions of some slots, in internal units."""
        if isinstance(bound, (InverseGammaColumns, ObservedColumns)):
            return column_blocks(bound, slots)
        if isinstance(bound, PlanarNIW):
            mean, root = map(np.array, zip(*(planar_moments(bound, k) for k in slots), strict=True))
        else:
            mean, root = _moments(bound, slots)
        m, d = bound.size[slots], bound.X.shape[1]
        return WishartBlocks(bound.prior[0] + m, bound.prior[1] + m - d + 1, mean, root)


def _guessed_nu(n: int, d: int) -> float:
    """Degrees of freedom from the data, with more of them if there are few rows per column."""
    few = d * min(1.0, ROWS_PER_COLUMN * d / n) if d > 1 else 0.0
    return d + 2.0 + rows_guessed(n, d) + few


def _matrix(name: str, value: Any, unit: Units) -> np.ndarray:
    """A covariance or scale matrix in internal units, from a matrix, its diagonal or a number."""
    d = len(unit.scale)
    if as_array(value).ndim < 2:
        matrix = np.diag(column_values(name, value, d, positive=True))
    else:
        matrix = numbers_of(name, value, "a matrix of numbers")
    if matrix.shape != (d, d) or not is_positive_definite(matrix):
        raise ValueError(f"{name} must be a positive definite {d} x {d} matrix.")
    within_reach(name, np.diag(matrix), unit.scale**2, 1.0 / REACH)
    return matrix / np.outer(unit.scale, unit.scale)


def _moments(bound: Any, k: Any) -> tuple[np.ndarray, np.ndarray]:
    """Mean and Cholesky factor of S of some slots."""
    return bound.mean[k], np.linalg.cholesky(bound.scatter[k])


def is_positive_definite(matrix: np.ndarray) -> bool:
    """Whether a matrix is symmetric and has a Cholesky factor."""
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return bool(np.allclose(matrix, matrix.T))
