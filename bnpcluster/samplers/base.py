"""Base class of samplers: objects that move the state of a chain."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from bnpcluster._core import operations, parameter_operations
from bnpcluster._core.components import Component
from bnpcluster._core.jit import Generic
from bnpcluster._core.state import State

OPERATIONS: dict[str, Any] = {**vars(parameter_operations), **vars(operations)}
"""The operations of likelihoods by name."""


class Sampler(Component):
    """Base class of samplers.

    A subclass stores its settings in `__init__`, lists the operations it needs from a likelihood in
    `requires`, and moves a `State` in `step`. Only its inner loops are compiled.
    """

    def __init__(self) -> None:
        pass

    requires: tuple[str, ...] = ()
    """Names of the operations in `bnpcluster._core` that the likelihood must have."""

    @property
    def learns_from(self) -> str | None:
        """Which states of the chains a move may use; None: chains share nothing.

        ``"frozen"`` (those of warm-up), ``"adaptive"`` (those of all iterations so far) or
        ``"ensemble"`` (the current states of the other chains).
        """
        return None

    weighted = False
    """Whether its draws are weighted particles, not states of a chain."""

    @classmethod
    def examples(cls) -> list[Sampler]:
        """Instances for the checks to use."""
        return [cls()]

    def step(self, state: State, rng: np.random.Generator) -> dict[str, float]:
        """Move `state` by one iteration; return counts, which add up (moves tried, accepted)."""
        raise NotImplementedError(f"{type(self).__name__} must define step(state, rng).")


def check_operations(sampler: Sampler, bound: Any, likelihood: object) -> None:
    """Raise an error if the likelihood lacks an operation, before anything compiles."""
    missing = [name for name in sampler.requires if not offers(bound, name)]
    if missing and _takes_complete_rows(type(sampler), likelihood):
        raise TypeError(
            f"{type(sampler).__name__} does not work with missing entries: impute them, or use "
            "another sampler."
        )
    if missing:
        raise TypeError(
            f"{type(sampler).__name__} does not work with {type(likelihood).__name__}: the "
            f"likelihood lacks the operation{'s' if len(missing) > 1 else ''} "
            f"{', '.join(missing)}."
        )


def _takes_complete_rows(sampler: type[Sampler], likelihood: Any) -> bool:
    """Whether the sampler works with a likelihood that may have missing entries if none are."""
    if not getattr(likelihood, "takes_nan", False):
        return False
    with suppress(TypeError, ValueError):  # a likelihood from outside may have no examples
        example, X = type(likelihood).examples(np.random.default_rng(0))[0]
        return can_sample(sampler, example.bind(X))
    return False


def can_sample(sampler: type[Sampler], bound: Any) -> bool:
    """Whether the chains of a sampler can move the partition of bound data."""
    return not sampler.weighted and all(offers(bound, name) for name in sampler.requires)


def offers(bound: Any, name: str) -> bool:
    """Whether bound data, and their parts, have the operation `name`, if only by its fallback."""
    operation: Generic = OPERATIONS[name]
    parts = [part for part in bound if operations.clear.find(type(part)) is not None]
    found = operation.find(type(bound)) is not None
    return found and all(offers(part, name) for part in parts)
