"""Clusters of counts with independent columns: the gamma-Poisson likelihood."""

from __future__ import annotations

from typing import Any

import numpy as np

from bnpcluster._core.arguments import is_auto
from bnpcluster._core.messages import Action
from bnpcluster.likelihoods.base import (
    Likelihood,
    check_observed,
    is_guess,
    mean_imputed,
    observed_mean,
    prior_counts,
)
from bnpcluster.likelihoods.discrete.gamma_poisson import bind_counts, count_lists
from bnpcluster.likelihoods.discrete.learned_rates import GRID, RatePrior
from bnpcluster.likelihoods.discrete.missing_counts import (
    ObservedCounts,
    bind_observed_counts,
    observed_count_lists,
)
from bnpcluster.likelihoods.discrete.whole_numbers import check_entries, is_whole

LARGEST = 2.0**30  # for larger counts, differences of lgamma lose the sixth digit


class Poisson(Likelihood):
    """Clusters of counts whose columns are independent, each with its own mean.

    Per cluster and column ``mean ~ Gamma(shape, rate)``, integrated out.

    Parameters
    ----------
    shape : "auto", "data", float or array of shape (n_features,), default="auto"
        Shape of the gamma prior, for all columns or per column. ``"auto"``: learned, unless a rate
        is given. ``"data"``: 1.0.
    rate : "auto", "data", float or array of shape (n_features,), default="auto"
        Rate of the gamma prior: the number of observations it is worth. ``"auto"``: learned.
        ``"data"``: the shape divided by the mean of the column.

    Notes
    -----
    With ``"data"``, the prior of a mean is an exponential distribution with the mean of the column
    (1 / n for a column of zeros). It is weak, worth one count, and on the scale of the data. A rate
    of 1 for all data would pull small means up, and make every new cluster of large counts
    improbable.

    With ``"auto"``, the shape a and the rate a * r of every column are sampled with the partition.
    The shapes are 0.25, 0.5, 1, 2, 4, ..., 64, with prior probabilities in proportion to 1 / a**2,
    and r has an exponential distribution whose mean is one over the mean of the column. The larger
    the shape, the more alike are the means of the clusters. Particle samplers keep the values of
    ``"data"``, except ``AnnealedSMC(path="temperature")``.

    NaN entries are integrated out exactly; "auto" then uses the observed entries.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster.likelihoods import Poisson
    >>> Poisson().bind(np.array([[2.0, 0.0], [4.0, 0.0]])).rate.tolist()
    [0.3333333333333333, 2.0]
    """

    has_density = False
    takes_nan = True
    learnable = ("shape", "rate")
    data_dependent = ("rate",)
    per_column = ("shape", "rate")

    def __init__(self, *, shape: Any = "auto", rate: Any = "auto"):
        self.shape = shape
        self.rate = rate

    @classmethod
    def examples(cls, rng: np.random.Generator) -> list[tuple[Likelihood, np.ndarray]]:
        """Two columns with the defaults, and three with given values, one with large counts."""
        rows = [rng.poisson([1, 8], size=(6, 2)), rng.poisson([0.3, 4, 900], size=(6, 3))]
        given = cls(shape=[0.5, 1.0, 2.0], rate=[1.0, 0.3, 0.002])
        return [(cls(), rows[0].astype(float)), (given, rows[1].astype(float))]

    def bind(self, X: np.ndarray, capacity: int = 16) -> Any:
        """Prepare the counts `X` for the kernels."""
        if np.isnan(X).any():
            return self.bind_observed(X, capacity)
        _check_counts(X)
        return bind_counts(X, self._hyper_parameters(X), capacity)

    def bind_observed(self, X: np.ndarray, capacity: int = 16) -> Any:
        """Prepare the counts `X`, which may contain NaN."""
        check_observed(X)
        _check_counts(X, ~np.isnan(X))
        return bind_observed_counts(X, self._hyper_parameters(X), capacity)

    def frozen(self, X: np.ndarray) -> Poisson:
        """The same likelihood with every "auto" replaced by its value for `X`."""
        _check_counts(X, ~np.isnan(X))
        hyper = self._hyper_parameters(X)
        return type(self)(shape=hyper.shape, rate=hyper.shape * hyper.rho)

    def _hyper_parameters(self, X: np.ndarray) -> RatePrior:
        """The hyper-parameters (learned: the first values) and hyper-priors."""
        n, d = (~np.isnan(X)).sum(axis=0), X.shape[1]
        shape = np.ones(d)
        if not is_guess(self.shape):
            shape = prior_counts("shape", self.shape, d)
        rho = 1.0 / np.maximum(observed_mean(X), 1 / n)
        if not is_guess(self.rate):
            rho = prior_counts("rate", self.rate, d) / shape
        guess = rho.copy() if is_auto(self.rate) else rho[:0]
        grid = GRID if is_auto(self.shape) and is_guess(self.rate) else GRID[:0]
        return RatePrior(shape, rho, guess, grid)

    def hyper_parameters(self, bound: Any, learned: np.ndarray | None = None) -> dict[str, Any]:
        """The hyper-parameters in use, by name."""
        hyper, shape, rho = bound.hyper, bound.hyper.shape, bound.hyper.rho
        if learned is not None:
            draws = np.split(learned, 2, axis=1)
            shape = draws[0] if hyper.grid.size else shape
            rho = draws[1] if hyper.guess.size else rho
        return {"shape": shape, "rate": shape * rho}

    def rows(self, bound: Any, X: np.ndarray) -> Any:
        """The same slots with other data: item i is now row i of `X`."""
        if isinstance(bound, ObservedCounts):
            _check_counts(X, ~np.isnan(X))
            names = ("start", "terms", "values", "log_base")
            return bound._replace(**dict(zip(names, observed_count_lists(X), strict=True)))
        _check_counts(X)
        return bound._replace(**count_lists(X, bound.shape.base, bound.rate)._asdict())

    def features(self, X: np.ndarray) -> np.ndarray:
        """Square roots, which give about the same variance within clusters for all means."""
        return 2.0 * np.sqrt(np.maximum(mean_imputed(X), 0.0))

    def means(self, bound: Any, n_slots: int) -> np.ndarray:
        """The posterior mean of every column in the first slots."""
        return (bound.shape.base + bound.total[:n_slots]) / (bound.rate + bound.size[:n_slots])

    def parameters(
        self, bound: Any, slots: np.ndarray, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """Rates of some slots, drawn from the posterior."""
        size = bound.size[slots] if bound.size.ndim == 2 else bound.size[slots, None]
        return {"rates": rng.gamma(bound.shape.base + bound.total[slots]) / (bound.rate + size)}

    def sample(self, bound: Any, k: int, rng: np.random.Generator) -> np.ndarray:
        """One new row from the posterior predictive of slot k, negative binomial by column."""
        mean = rng.gamma(bound.shape.base + bound.total[k], 1 / (bound.rate + bound.size[k]))
        return rng.poisson(mean).astype(float)


def _check_counts(X: np.ndarray, observed: Any = True) -> None:
    remedy = Action(
        "drop the column, use likelihood='nig' for measurements, or 'columns' for mixed columns",
        "leave the column out with --columns, use --likelihood nig for measurements, or columns "
        "for mixed columns",
    )
    check_entries("Poisson needs counts 0, 1, 2, ...", X, ~is_whole(X) & observed, remedy)
    needs = f"Poisson takes counts up to {LARGEST:,.0f}"
    remedy = Action("use likelihood='nig'", "use --likelihood nig")
    check_entries(needs, X, (X > LARGEST) & observed, remedy)
