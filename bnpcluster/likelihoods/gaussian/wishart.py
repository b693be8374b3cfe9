"""A hyper-prior on the expected covariance of the clusters."""

from __future__ import annotations

from typing import Any

from bnpcluster._core.components import Component
from bnpcluster.likelihoods.base import is_guess


class Wishart(Component):
    """A Wishart distribution of the expected covariance of the clusters.

    Use it as `scale` of `NormalInverseWishart`. The expected covariance M has the distribution
    ``Wishart(df, mean / df)``, and the scale matrix of the clusters is M times
    ``max(nu - d - 1, 1)``, for d columns. It is sampled with the partition.

    Parameters
    ----------
    df : "auto" or float, default="auto"
        Degrees of freedom, greater than ``n_features - 1``: the larger they are, the closer M is to
        its mean. ``"auto"``: ``n_features + 1``, the weakest whole number for which the density of
        M is bounded.
    mean : "data", float or array, default="data"
        The mean of M: a matrix, a vector (its diagonal) or a number (times the identity).
        ``"data"``: the guess from the data that ``scale="data"`` uses.

    Examples
    --------
    >>> from bnpcluster.likelihoods import NormalInverseWishart, Wishart
    >>> NormalInverseWishart(scale=Wishart(df=20)).get_params()["scale__df"]
    20
    """

    per_column = ("mean",)

    def __init__(self, *, df: float | str = "auto", mean: Any = "data"):
        self.df = df
        self.mean = mean

    @property
    def is_guessed(self) -> bool:
        """Whether the mean is a guess from the data."""
        return is_guess(self.mean)
