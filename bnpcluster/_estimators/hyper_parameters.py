"""The hyper-parameters of the likelihood in a fit, and how a report describes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnpcluster._estimators.digits import short
from bnpcluster._fitting.fitted import Fitted
from bnpcluster.likelihoods import Columns

SHOWN = 12  # a report shows the values of at most this many columns


class Draws(NamedTuple):
    """Draws of a hyper-parameter, one per row. A fixed one has its value in a single row."""

    rows: NDArray
    is_learned: bool


def hyper_parameters(fitted: Fitted) -> dict[str, Any]:
    """The hyper-parameters by name: draws of the learned ones, values of the fixed ones."""
    shape = fitted.posterior.labels.shape[:2]
    return {
        name: rows.reshape(*shape, *rows.shape[1:]) if is_learned else rows[0]
        for name, (rows, is_learned) in _draws(fitted).items()
    }


def _draws(fitted: Fitted) -> dict[str, Draws]:
    """The hyper-parameters by name.

    What is learned is not asked of the draws: all of a value on a grid may be the same.
    """
    of = fitted.likelihood.hyper_parameters
    values, draws = of(fitted.bound), of(fitted.bound, fitted.learned_draws)
    found = {}
    for name, each in draws.items():
        is_learned = np.ndim(each) > np.ndim(values[name])
        found[name] = Draws(np.asarray(each) if is_learned else np.asarray(each)[None], is_learned)
    return found


def describe(fitted: Fitted, names: Sequence[str | int] | None) -> dict[str, str]:
    """Lines of a report about the hyper-parameters."""
    lines, weights = _parts(fitted.likelihood, names), fitted.posterior.weights.ravel()
    for name, (draws, is_learned) in _draws(fitted).items():
        if name.startswith("expected_covariance"):
            draws = np.sqrt(np.diagonal(draws, axis1=1, axis2=2))
        elif name.startswith("expected_variance"):
            draws = np.sqrt(draws)
        shown = name.replace("expected_covariance", "expected sd")
        shown = shown.replace("expected_variance", "expected sd")
        described = _described(draws, weights, _columns(fitted.likelihood, name, names))
        lines[shown] = f"{described}, {'learned' if is_learned else 'fixed'}"
    return lines


def _parts(likelihood: Any, names: Sequence[str | int] | None) -> dict[str, str]:
    """Which columns the numbers at the ends of names stand for, in a table of mixed columns."""
    if not isinstance(likelihood, Columns):
        return {}
    said = [
        f"_{p}: {_named(own, names)} ({type(part).__name__})"
        for p, (part, own) in enumerate(likelihood.parts)
    ]
    return {"name endings": "; ".join(said)}


def described_parts(likelihood: Any, names: Sequence[str | int] | None) -> str:
    """A likelihood with its parameters; for mixed columns, each part and its columns."""
    if not isinstance(likelihood, Columns):
        return repr(likelihood)
    said = [f"{part!r} of {_named(own, names)}" for part, own in likelihood.parts]
    return f"Columns: {'; '.join(said)}"


def _named(own: Sequence[int], names: Sequence[str | int] | None) -> str:
    """Some columns by name or number."""
    named = [str(j if names is None else names[j]) for j in own]
    more = f", ... ({len(named)} columns)" if len(named) > SHOWN else ""
    return ", ".join(named[:SHOWN]) + more


def _columns(likelihood: Any, name: str, names: Sequence[str | int] | None) -> Sequence | None:
    """The names or numbers of the columns that a hyper-parameter is about."""
    if not isinstance(likelihood, Columns):
        return names
    own = likelihood.parts[int(name.rsplit("_", 1)[1])][1]
    return own if names is None else [names[j] for j in own]


def _described(draws: NDArray, weights: NDArray, names: Sequence | None) -> str:
    """One hyper-parameter, by column if it differs between columns."""
    if draws.ndim == 1:
        return _shown(draws, weights)
    if draws.shape[1] == 1 or (draws == draws[:, :1]).all():
        return _shown(draws[:, 0], weights)
    d = draws.shape[1]
    columns = names if names is not None and len(names) == d else range(d)
    each = [
        f"{column}: {_shown(draws[:, j], weights)}"
        for j, column in zip(range(min(d, SHOWN)), columns, strict=False)
    ]
    more = f"; ... ({d} in all)" if d > SHOWN else ""
    return "; ".join(each) + more


def _shown(draws: NDArray, weights: NDArray) -> str:
    """The mean and an interval of draws, or a single value."""
    if len(draws) == 1:
        return short(draws[0])
    order = np.argsort(draws)
    edges = np.cumsum(weights[order])
    ends = np.searchsorted(edges, [0.05 * edges[-1], 0.95 * edges[-1]])
    low, high = draws[order][np.minimum(ends, len(draws) - 1)]
    mean = np.average(draws, weights=weights)
    return f"{short(mean)} (90 % interval {short(low)} to {short(high)})"
