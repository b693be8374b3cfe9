"""The hyper-parameters of the likelihood in a fit, and how a report describes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnpcluster._fitting.fitted import Fitted
from bnpcluster.likelihoods import Columns

SHOWN = 12  # a report shows the values of at most this many columns


def hyper_parameters(fitted: Fitted) -> dict[str, Any]:
    """The hyper-parameters by name: draws of the learned ones, values of the fixed ones."""
    shape = fitted.posterior.labels.shape[:2]
    return {
        name: values[0] if len(values) == 1 else values.reshape(*shape, *values.shape[1:])
        for name, values in _draws(fitted).items()
    }


def _draws(fitted: Fitted) -> dict[str, NDArray]:
    """The hyper-parameters by name, one draw per row; fixed ones have a single row."""
    of = fitted.likelihood.hyper_parameters
    values, draws = of(fitted.bound), of(fitted.bound, fitted.learned_draws)
    found = {}
    for name, each in draws.items():
        rows = np.asarray(each) if np.ndim(each) > np.ndim(values[name]) else np.asarray(each)[None]
        found[name] = rows[:1] if (rows == rows[0]).all() else rows
    return found


def describe(fitted: Fitted, names: Sequence[str | int] | None) -> dict[str, str]:
    """Lines of a report about the hyper-parameters."""
    lines, weights = {}, fitted.posterior.weights.ravel()
    for name, draws in _draws(fitted).items():
        if name.startswith("expected_covariance"):
            draws = np.sqrt(np.diagonal(draws, axis1=1, axis2=2))
        elif name.startswith("expected_variance"):
            draws = np.sqrt(draws)
        shown = name.replace("expected_covariance", "expected sd")
        shown = shown.replace("expected_variance", "expected sd")
        lines[shown] = _described(draws, weights, _columns(fitted.likelihood, name, names))
    return lines


def _columns(likelihood: Any, name: str, names: Sequence[str | int] | None) -> Sequence | None:
    """The names or numbers of the columns that a hyper-parameter is about."""
    if not isinstance(likelihood, Columns):
        return names
    own = likelihood.parts[int(name.rsplit("_", 1)[1])][1]
    return own if names is None else [names[j] for j in own]


def _described(draws: NDArray, weights: NDArray, names: Sequence | None) -> str:
    """One hyper-parameter, by column if it differs between columns."""
    kind = "learned" if len(draws) > 1 else "fixed"
    if draws.ndim == 1:
        return f"{_shown(draws, weights)}, {kind}"
    if draws.shape[1] == 1 or (draws == draws[:, :1]).all():
        return f"{_shown(draws[:, 0], weights)}, {kind}"
    d = draws.shape[1]
    columns = names if names is not None and len(names) == d else range(d)
    each = [
        f"{column}: {_shown(draws[:, j], weights)}"
        for j, column in zip(range(min(d, SHOWN)), columns, strict=False)
    ]
    more = f"; ... ({d} in all)" if d > SHOWN else ""
    return "; ".join(each) + more + f", {kind}"


def _shown(draws: NDArray, weights: NDArray) -> str:
    """The mean and an interval of draws, or a single value."""
    if len(draws) == 1:
        return f"{draws[0]:.3g}"
    order = np.argsort(draws)
    edges = np.cumsum(weights[order])
    ends = np.searchsorted(edges, [0.05 * edges[-1], 0.95 * edges[-1]])
    low, high = draws[order][np.minimum(ends, len(draws) - 1)]
    return f"{np.average(draws, weights=weights):.3g} (90 % interval {low:.3g} to {high:.3g})"
