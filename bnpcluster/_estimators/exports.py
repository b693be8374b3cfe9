"""What a fitted mixture adds to ArviZ data: parameters, densities, the data, and new rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnpcluster._fitting.fitted import Fitted
from bnpcluster._predict.leave_one_out import left_out
from bnpcluster._predict.predictive import sample_by_draw
from bnpcluster.posterior import ParameterDraws

MOST_BYTES = 2 * 1024**3  # of new rows


class Exports:
    """Variables by group, and the names of their dimensions after the chain and the draw.

    Attributes
    ----------
    groups : dict of str to dict of str to ndarray
    dims : dict of str to list of str
    """

    def __init__(self) -> None:
        self.groups: dict[str, dict[str, Any]] = {}
        self.dims: dict[str, list[str]] = {}

    def add_parameters(self, found: ParameterDraws) -> None:
        """Draws of the parameters of the clusters."""
        self.groups["posterior"] = dict(_flat(found))
        self.dims.update({name: ["cluster"] for name in self.groups["posterior"]})

    def add_rows(self, group: str, values: NDArray) -> None:
        """Values of the rows of the fit, which have the same name in all groups."""
        self.groups[group] = {"x": values}
        self.dims["x"] = ["item"]


def log_likelihood(fitted: Fitted) -> NDArray[np.float64]:
    """Log density of every row in every draw, given all others and their clusters."""
    shape = fitted.posterior.weights.shape
    return left_out(fitted, np.arange(shape[0] * shape[1])).reshape(*shape, -1)


def predictive(fitted: Fitted) -> NDArray[np.float64]:
    """As many new rows from every draw as the fit has."""
    shape = (*fitted.posterior.weights.shape, *fitted.X.shape)
    if 8 * np.prod(shape, dtype=float) > MOST_BYTES:
        raise ValueError(
            f"The posterior predictive of {shape[0] * shape[1]} draws of {shape[2]} rows needs "
            f"more than {MOST_BYTES // 1024**3} GiB: use sample(n, by_draw=True) for fewer rows."
        )
    return sample_by_draw(fitted, len(fitted.X), np.random.default_rng(0)).reshape(shape)


def _flat(found: ParameterDraws) -> Iterator[tuple[str, NDArray]]:
    """Names and draws of all parameters, with the column in the name if there is one per column."""
    for name in found:
        values = found[name]
        if isinstance(values, dict):
            yield from ((f"{name}[{column}]", own) for column, own in values.items())
        else:
            yield name, values
