"""What every prior on partitions is: two tables at fixed n, and an update of its own parameters."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator


class PriorTables(NamedTuple):
    """p(z) = V[K] prod_b W[n_b] at fixed n, in logarithms.

    Attributes
    ----------
    log_v : ndarray, log V[k] for k = 0 .. k_max (the entry 0 completes the table, any finite value)
    log_w : ndarray, log W[m] for m = 0 .. n (log_w[0] likewise); W[1] = 1
    """

    log_v: np.ndarray
    log_w: np.ndarray


class Prior(BaseEstimator):
    """Base class of Gibbs-type priors.

    A subclass stores its parameters untouched in `__init__`, names those that may carry a
    hyper-prior in `hyper`, and offers the methods below. The current value of each of them stands
    in `values`; `at` gives the same prior at other values.
    """

    hyper: dict[str, float] = {}
    """Names of the parameters that may be sampled, and the value a chain starts from."""

    def __init__(self) -> None:
        pass

    @classmethod
    def examples(cls) -> list[Prior]:
        """Instances on which the checks are made, fixed and with hyper-priors."""
        return [cls()]

    @property
    def sampled(self) -> tuple[str, ...]:
        """Names of the parameters that have a hyper-prior here."""
        return tuple(name for name in self.hyper if not _is_fixed(getattr(self, name)))

    @property
    def values(self) -> dict[str, float]:
        """The current value of every parameter in `hyper`."""
        if hasattr(self, "_values"):
            return dict(self._values)
        return {
            name: float(getattr(self, name)) if _is_fixed(getattr(self, name)) else start
            for name, start in self.hyper.items()
        }

    def at(self, **values: float) -> Prior:
        """The same prior with other current values."""
        other = object.__new__(type(self))  # as copy.copy, at a third of the time
        other.__dict__.update(self.__dict__, _values={**self.values, **values})
        return other

    def draw(self, rng: np.random.Generator) -> dict[str, float]:
        """Values of the sampled parameters, drawn from their hyper-priors."""
        return {}

    def validate(self) -> None:
        """Raise one sentence about the first parameter that makes no sense."""

    def tables(self, n: int, k_max: int) -> PriorTables:
        """The two tables for n items and up to k_max blocks."""
        raise NotImplementedError(f"{type(self).__name__} must define tables(n, k_max).")

    def predictive(self, sizes: np.ndarray) -> np.ndarray:
        """Log urn weights of the next item given the block sizes; the last is of a new block.

        Their exponentials sum to one.
        """
        raise NotImplementedError(f"{type(self).__name__} must define predictive(sizes).")

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Labels of n items, drawn from the prior item by item."""
        labels, sizes = np.zeros(n, np.intp), np.zeros(0, np.intp)
        for i, u in enumerate(rng.random(n)):
            weights = np.exp(self.predictive(sizes)).cumsum()
            k = min(int(np.searchsorted(weights, u * weights[-1], side="right")), len(sizes))
            if k == len(sizes):
                sizes = np.append(sizes, 0)
            sizes[k] += 1
            labels[i] = k
        return labels

    def update(self, sizes: np.ndarray, n: int, rng: np.random.Generator) -> Prior:
        """Redraw the sampled parameters given a partition with these block sizes."""
        return self


def _is_fixed(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def gamma_pair(name: str, value: Any, default: tuple[float, float]) -> tuple[float, float] | None:
    """(shape, rate) of a Gamma hyper-prior; None for a fixed positive number; else one sentence."""
    if isinstance(value, str) and value == "auto":
        return default
    if _is_fixed(value):
        if not 0 < value < np.inf:
            raise ValueError(f"{name} must be positive, got {value!r}.")
        return None
    if isinstance(value, (tuple, list)) and len(value) == 2 and all(map(_is_fixed, value)):
        if all(0 < v < np.inf for v in value):
            return float(value[0]), float(value[1])
    raise ValueError(
        f"{name} must be a positive number (fixed), a pair (shape, rate) of positive numbers for a "
        f"Gamma hyper-prior, or 'auto' = {default}; got {value!r}."
    )
