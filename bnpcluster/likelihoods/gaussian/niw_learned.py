"""The operations on learned hyper-parameters, shared by the normal-inverse-Wishart kernels.

They apply to bound data of complete rows, with missing entries imputed by the chain or none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core import operations as ops
from bnpcluster.likelihoods.gaussian import learned_covariance as model
from bnpcluster.likelihoods.gaussian.covariance_kernels import update_covariance
from bnpcluster.likelihoods.gaussian.learned_covariance import Values


def register_learned(
    cls: type,
    put: Callable[[Any, Values], None],
    blocks: Callable[[Any, NDArray, np.random.Generator], model.Blocks],
    order: Callable[[Any], Any] = lambda lik: slice(None),
    renew: Callable[[Any, int], None] | None = None,
    completes: bool = False,
) -> None:
    """Register the operations for a class.

    `put` writes values into bound data. `blocks` reads the blocks from the slots, or draws them
    with the missing entries. `renew` changes the slots after a change of nu and M. `order` gives
    the order of the columns in the bound data; packed values have the columns in the order of the
    rows. `completes` says that `blocks` draws missing entries, which is right only at inverse
    temperature one; at others, nothing moves.
    """

    def packed(lik: Any, values: Values) -> NDArray:
        columns = order(lik)
        if not isinstance(columns, slice):
            values = values.ordered(np.argsort(columns))
        return values.packed()

    @ops.set_learned.register(cls)
    def set_learned(lik: Any, values: NDArray) -> None:
        put(lik, model.unpacked(values).ordered(order(lik)))

    @ops.learned.register(cls)
    def learned(lik: Any) -> NDArray | None:
        if not lik.hyper.is_learned:
            return None
        return packed(lik, Values(lik.hyper.expected, float(lik.prior[1]), float(lik.prior[0])))

    @ops.move_learned.register(cls)
    def move_learned(lik: Any, labels: NDArray, beta: float, rng: np.random.Generator) -> bool:
        if completes and beta != 1.0:
            return True
        found = blocks(lik, labels, rng)
        update_covariance(lik.hyper, lik.prior, lik.prior_mean, found, beta, rng)
        put(lik, values_of(lik))
        if renew is None or lik.hyper.kappa.size:
            return False
        renew(lik, len(found.size))
        return True

    @ops.draw_learned.register(cls)
    def draw_learned(lik: Any, rng: np.random.Generator) -> NDArray | None:
        if completes or not lik.hyper.is_learned:
            return None
        return packed(lik, model.draw(lik.hyper, values_of(lik), rng))

    @ops.log_learned.register(cls)
    def log_learned(lik: Any) -> float:
        return model.log_density(lik.hyper, values_of(lik)) if lik.hyper.is_learned else 0.0

    @ops.traces_learned.register(cls)
    def traces_learned(lik: Any) -> dict[str, float]:
        return model.traces(lik.hyper, values_of(lik), lik.unit)


def values_of(lik: Any) -> Values:
    """The current values of bound data."""
    return Values(lik.hyper.expected.copy(), float(lik.prior[1]), float(lik.prior[0]))


def owned(lik: Any, *names: str) -> dict[str, tuple | None]:
    """The arrays that a chain must own if hyper-parameters are learned, for `slot_axis`."""
    if not lik.hyper.is_learned:
        return {}
    shared = ("prior_scale", "prior", "norm_predictive", "norm_marginal")
    return {"hyper": None, **dict.fromkeys((*shared, *names), ())}
