"""The hyper-parameters of the likelihood in a fit, and how a report describes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnpcluster._fitting.fitted import Fitted

SHOWN = 12  # a report shows the values of at most this many columns


def hyper_parameters(fitted: Fitted) -> dict[str, Any]:
    """The hyper-parameters by name: draws of the learned ones, values of the fixed ones."""
    found = fitted.likelihood.hyper_parameters(fitted.bound, fitted.learned_draws)
    shape = fitted.posterior.labels.shape[:2]
    return {name: _by_chain(np.asarray(value), shape) for name, value in found.items()}


def _by_chain(values: NDArray, shape: tuple[int, int]) -> NDArray:
    """Draws by chain and draw, or the value if it is the same in all draws."""
    if values.ndim == 0 or len(values) != shape[0] * shape[1] or shape == (1, 1):
        return values
    return values[0] if (values == values[0]).all() else values.reshape(*shape, *values.shape[1:])


def describe(fitted: Fitted, names: Sequence[str] | None) -> dict[str, str]:
    """Lines of a report about the hyper-parameters."""
    lines = {}
    weights = fitted.posterior.weights.ravel()
    for name, values in fitted.likelihood.hyper_parameters(
        fitted.bound, fitted.learned_draws
    ).items():
        draws = np.asarray(values, float)
        if fitted.learned is None or draws.ndim == 0 or len(draws) != len(weights):
            draws = draws[None]
        if name.startswith("expected_covariance"):
            name = name.replace("expected_covariance", "expected sd")
            draws = np.sqrt(np.diagonal(draws, axis1=1, axis2=2))
        elif name.startswith("expected_variance"):
            name = name.replace("expected_variance", "expected sd")
            draws = np.sqrt(draws)
        lines[name] = _described(draws, weights, names)
    return lines


def _described(draws: NDArray, weights: NDArray, names: Sequence[str] | None) -> str:
    """One hyper-parameter, by column if it differs between columns."""
    is_learned = len(draws) > 1 and bool((draws != draws[0]).any())
    kind = "learned" if is_learned else "fixed"
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
    if len(draws) == 1 or (draws == draws[0]).all():
        return f"{draws[0]:.3g}"
    order = np.argsort(draws)
    edges = np.cumsum(weights[order])
    ends = np.searchsorted(edges, [0.05 * edges[-1], 0.95 * edges[-1]])
    low, high = draws[order][np.minimum(ends, len(draws) - 1)]
    return f"{np.average(draws, weights=weights):.3g} (90 % interval {low:.3g} to {high:.3g})"
