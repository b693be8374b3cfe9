"""Values that are far from all others in their column, which may be mistyped or mark missing ones.

A fit survives them: units are robust, and such rows get clusters of their own. It says so, because
nobody wants clusters of typing errors.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bnpcluster._fitting.constant_columns import SHOWN, warn_of_columns
from bnpcluster.likelihoods import Likelihood
from bnpcluster.likelihoods.gaussian.units import units

FAR = 50.0  # robust standard deviations from the median
REPEATED = 3  # times that a value may mark missing ones


def warn_of_wild_values(
    X: np.ndarray, likelihood: Likelihood, names: Sequence[str | int] | None
) -> None:
    """Say which columns of measurements have extreme values, the first few of them."""
    columns = likelihood.measured_columns(X.shape[1])
    if not len(columns):
        return
    with np.errstate(over="ignore", invalid="ignore"):
        wild = np.abs(units(X[:, columns]).to_internal(X[:, columns])) > FAR
    for j in np.flatnonzero(wild.any(axis=0))[:SHOWN]:
        values = X[wild[:, j], columns[j]]
        warn_of_columns("Column", columns[j : j + 1], f": {_described(values)}", names)


def _described(values: np.ndarray) -> str:
    far = f"more than {FAR:g} robust standard deviations from the median"
    found, counts = np.unique(values, return_counts=True)
    k = int(counts.argmax())
    if counts[k] >= REPEATED:
        return (
            f"{counts[k]} values are {found[k]:g}, {far}. If this marks missing values, replace "
            "it by NaN."
        )
    if len(values) == 1:
        return f"1 value ({values[0]:g}) is {far}. Is it mistyped?"
    return f"{len(values)} values are {far}. Are they mistyped?"
