"""Draws of the parameters of clusters, and their means and intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core.arguments import number_between
from bnpcluster._core.sorting import weighted_quantile
from bnpcluster._core.suggestions import nearest


class UnknownName(KeyError):
    """A name that a mapping does not have; a KeyError shows its sentence in quotes."""

    def __str__(self) -> str:
        return str(self.args[0])


class ParameterDraws(Mapping):
    """Draws of the parameters of the clusters of a point estimate.

    The method `posterior_.parameters()` of a fitted model returns it. It is a mapping from names,
    such as "weights" and "means", to arrays whose first axes are the chain, the draw and the
    cluster. For a table of mixed columns, a parameter is a dict of such arrays by column.

    A cluster's value under a draw is the average over the rows of the cluster, each with the
    parameters of its own block. So it is about these rows. It does not say how a population would
    cluster, and the rows were put together because of the same data. The covariance is that of the
    rows together: within blocks plus between them.

    Parameters
    ----------
    draws : dict of str to ndarray, or to dict of ndarray by column
        The draws, (n_chains, n_draws, n_clusters, ...).
    weights : ndarray of shape (n_chains, n_draws)
        Weights of the draws, which sum to one.

    Attributes
    ----------
    draw_weights : ndarray of shape (n_chains, n_draws)
        Weights of the draws, which sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster import DPMixture
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat([[0.0, 0.0], [5.0, 1.0]], [60, 40], axis=0) + rng.normal(size=(100, 2))
    >>> model = DPMixture(random_state=0).fit(X)
    >>> found = model.posterior_.parameters()
    >>> sorted(found), found["means"].shape
    (['covariances', 'means', 'weights'], (4, 100, 2, 2))
    >>> found.mean("weights").round(1).tolist()
    [0.6, 0.4]
    >>> low, high = found.interval("means", 0.9)
    >>> bool((low < found.mean("means")).all() and (found.mean("means") < high).all())
    True
    """

    def __init__(self, draws: dict[str, Any], weights: NDArray[np.float64]):
        self._draws, self.draw_weights = draws, weights

    def __getitem__(self, name: str) -> Any:
        if name not in self._draws:
            near = nearest(name, self._draws) if isinstance(name, str) else None
            hint = f" Did you mean {near!r}?" if near else ""
            raise UnknownName(
                f"There is no parameter {name!r}.{hint} Available: {', '.join(self._draws)}."
            )
        return self._draws[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._draws)

    def __len__(self) -> int:
        return len(self._draws)

    def __repr__(self) -> str:
        chains, draws = self.draw_weights.shape
        return f"ParameterDraws({', '.join(self)}; n_chains={chains}, n_draws={draws})"

    def mean(self, name: str) -> Any:
        """The posterior mean of a parameter, by cluster.

        Parameters
        ----------
        name : str
            The parameter.

        Returns
        -------
        mean : ndarray of shape (n_clusters, ...), or a dict of them by column
            The mean over draws.
        """
        w = self.draw_weights
        return each(lambda values: np.tensordot(w, values, axes=2), self[name])

    def interval(self, name: str, level: float = 0.9) -> tuple[Any, Any]:
        """The ends of the central posterior interval of a parameter, by cluster.

        Parameters
        ----------
        name : str
            The parameter.
        level : float, default=0.9
            Posterior probability of the interval.

        Returns
        -------
        low, high : ndarray of shape (n_clusters, ...), or dicts of them by column
            Quantiles over draws.
        """
        level = number_between("level", level, 0.0, 1.0)
        ends = []
        for p in (0.5 * (1.0 - level), 0.5 * (1.0 + level)):
            ends.append(each(lambda values, p=p: self._quantile(values, p), self[name]))
        return ends[0], ends[1]

    def _quantile(self, values: NDArray, p: float) -> NDArray[np.float64]:
        flat = values.reshape(self.draw_weights.size, *values.shape[2:])
        return weighted_quantile(flat, self.draw_weights.ravel(), p)


def each(function: Any, *values: Any) -> Any:
    """A function of arrays, or of the arrays of each column."""
    if isinstance(values[0], dict):
        return {j: function(*(v[j] for v in values)) for j in values[0]}
    return function(*values)
