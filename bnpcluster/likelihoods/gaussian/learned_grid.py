"""The grid of the degrees of freedom, and the learned hyper-parameters in the units of the data."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core.jit import kernel

GRID = np.array([1.0, 2, 3, 5, 8, 12, 20, 30, 50, 100])  # values of nu - d - 1
WINDOW = 3  # values that an update compares
LEAST = 0.6  # the smallest value, as a share of the guess from the data
NONE = np.zeros(0)  # the hyper-prior of a hyper-parameter that is not learned


def allowed_grid(guess: float) -> NDArray[np.float64]:
    """The values that are not much below the guess.

    With few degrees of freedom and few rows per column, many tiny clusters can look better than
    one cloud.
    """
    allowed = GRID[LEAST * guess <= GRID]
    return allowed if len(allowed) else GRID[-1:]


def draw_from_prior(grid: NDArray, rng: np.random.Generator) -> float:
    """Draw a value with probabilities in inverse proportion to it."""
    return float(rng.choice(grid, p=1.0 / (grid * (1.0 / grid).sum())))


@kernel
def window_of(grid, value, rng):
    """The first index of a random window of WINDOW values that contains `value`; may be negative.

    A draw within the window, whose place depends on chance alone, leaves every distribution on the
    grid invariant, and is cheaper than one from the whole grid.
    """
    g = len(grid) - 1
    while g > 0 and grid[g] - value > 0.5:  # the values are whole numbers
        g -= 1
    return g - int(rng.random() * WINDOW)


@kernel
def draw_from_window(grid, log_p, start, stop, rng):
    """Draw one of grid[start:stop], with prior weights in inverse proportion; overwrites log_p."""
    top, total = -math.inf, 0.0
    for g in range(start, stop):
        log_p[g] -= math.log(grid[g])
        top = max(top, log_p[g])
    for g in range(start, stop):
        log_p[g] = math.exp(log_p[g] - top)
        total += log_p[g]
    left, g = rng.random() * total, start
    while left >= log_p[g] and g + 1 < stop:
        left -= log_p[g]
        g += 1
    return grid[g]


def hyper_parameters_of_covariances(bound: Any, learned: NDArray | None) -> dict[str, Any]:
    """The hyper-parameters of full covariances; learned ones have one draw per row of `learned`."""
    d, centre, unit = len(bound.unit), bound.centre, bound.unit
    order = getattr(bound, "order", np.zeros((0, 0)))  # of the columns, in nested patterns
    order = order if order.ndim == 1 else slice(None)
    back = np.argsort(np.arange(d)[order])
    mean = centre + unit * bound.prior_mean[back]
    expected = bound.hyper.expected[back][:, back]
    if learned is not None and bound.hyper.df.size:
        low, expected = np.tril_indices(d), np.zeros((len(learned), d, d))
        expected[:, low[0], low[1]] = learned[:, :-2]
        expected[:, low[1], low[0]] = learned[:, :-2]
    kappa, nu = _kappa_and_grid_value(bound, learned)
    expected = (expected + np.diag(bound.hyper.floor[back])) * np.outer(unit, unit)
    return {"mean": mean, "kappa": kappa, "nu": nu, "expected_covariance": expected}


def hyper_parameters_of_columns(bound: Any, learned: NDArray | None) -> dict[str, Any]:
    """The hyper-parameters of independent columns, learned ones as above."""
    expected = bound.hyper.expected
    if learned is not None and bound.hyper.weight.size:
        expected = learned[:, :-2]
    kappa, shape = _kappa_and_grid_value(bound, learned)
    mean = bound.centre + bound.unit * bound.prior_mean
    expected = (expected + bound.hyper.floor) * bound.unit**2
    return {"mean": mean, "kappa": kappa, "shape": shape, "expected_variance": expected}


def _kappa_and_grid_value(bound: Any, learned: NDArray | None) -> tuple[Any, Any]:
    """Kappa, and nu or the shape. A grid of one value leaves nothing to learn."""
    kappa, value = bound.prior
    follows = getattr(bound.hyper, "per_variance", NONE).size
    if learned is not None and (bound.hyper.kappa.size or follows):
        kappa = learned[:, -1]
    if learned is not None and len(bound.hyper.grid) > 1:
        value = learned[:, -2]
    return kappa, value
