"""Check arguments and resolve names to objects."""

from __future__ import annotations

import difflib
import math
import numbers
from typing import Any

import numpy as np
from sklearn.base import clone

from bnpcluster._core.messages import Message, parameter, shown
from bnpcluster._core.suggestions import unknown

__all__ = [
    "as_float",
    "code",
    "component",
    "count",
    "count_or_auto",
    "is_auto",
    "number_between",
    "numbers_of",
    "seconds",
    "seed_sequence",
    "unknown",
    "whole",
]


def component(parameter: str, value: Any, registry: dict[str, type], base: type) -> Any:
    """The object for a name in `registry`, or a copy of an object of class `base`."""
    if isinstance(value, str):
        if value not in registry:
            raise ValueError(unknown(parameter, value, registry))
        return registry[value]()
    if isinstance(value, type) and issubclass(value, base):
        raise TypeError(
            f"{parameter} must be an object, not the class {value.__name__}: write "
            f"{value.__name__}() with its parameters."
        )
    if not isinstance(value, base):
        names = ", ".join(map(repr, registry))
        raise TypeError(
            f"{parameter} must be one of {names}, or a {base.__name__} object; got {value!r}."
        )
    return clone(value)


MOST = 10**9  # of anything that is counted one by one
LONGEST = 1e9  # seconds; a thread cannot wait for any time


def count(name: str, value: Any, low: int) -> int:
    """`value` as an integer of at least `low`. Errors name the parameter or the option."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(Message(parameter(name), f" must be an integer, got {shown(value)}."))
    if value < low:
        raise ValueError(Message(parameter(name), f" must be at least {low}, got {shown(value)}."))
    if int(value) > MOST:
        raise ValueError(Message(parameter(name), f" must be at most {MOST}, got {shown(value)}."))
    return int(value)


def number_between(name: str, value: Any, low: float, high: float, closed: bool = False) -> float:
    """`value` as a float above `low` and below `high`, or up to it if the range is closed."""
    number = as_float(value)
    if not (low < number < high or (closed and number == high)):
        end = "at most" if closed else "below"
        raise ValueError(f"{name} must be above {low:g} and {end} {high:g}, got {shown(value)}.")
    return number


def numbers_of(name: str, value: Any, allowed: str) -> np.ndarray:
    """`value` as an array of floats. `allowed` is what the caller accepts, for the error."""
    try:
        return np.asarray(value, float)
    except OverflowError:  # an integer beyond all floats
        return np.full(np.shape(value), np.inf)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be {allowed}, got {shown(value)}.") from None


def count_or_auto(name: str, value: Any, low: int) -> int | None:
    """`value` as an integer of at least `low`, or None for "auto"."""
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(
                Message(parameter(name), f" must be an integer or 'auto', got {value!r}.")
            )
        return None
    return count(name, value, low)


def whole(name: str, value: Any, low: int) -> int:
    """`value` as an integer from `low` to `MOST`. Errors name the parameter."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < low:
        raise ValueError(f"{name} must be an integer of at least {low}, got {shown(value)}.")
    if int(value) > MOST:
        raise ValueError(f"{name} must be at most {MOST}, got {shown(value)}.")
    return int(value)


def as_float(value: Any) -> float:
    """A real number as a float, infinite if it is beyond all floats; NaN for anything else.

    Ranges are checked of the float: a limit may have no value in the type of a number of numpy.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return -math.inf if value < 0 else math.inf


def code(name: str, value: Any, codes: dict[str, Any]) -> Any:
    """The code of a word. Raise an error if the word is unknown."""
    if not isinstance(value, str) or value not in codes:
        near = difflib.get_close_matches(str(value), list(codes), n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        names = ", ".join(map(repr, codes))
        raise ValueError(f"{name} must be one of {names}; got {value!r}.{hint}")
    return codes[value]


def seed_sequence(random_state: Any) -> np.random.SeedSequence:
    """A SeedSequence from None, an int, a RandomState or a Generator."""
    if random_state is None or isinstance(random_state, numbers.Integral):
        if random_state is not None and random_state < 0:
            raise ValueError(f"random_state must not be negative, got {random_state}.")
        return np.random.SeedSequence(None if random_state is None else int(random_state))
    if isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence(random_state.randint(2**32, size=4, dtype=np.uint32).tolist())
    if isinstance(random_state, np.random.Generator):
        words = random_state.integers(2**32, size=4, dtype=np.uint32)
        return np.random.SeedSequence(words.tolist())
    raise TypeError(
        "random_state must be None, an integer, a RandomState or a Generator, "
        f"got {random_state!r}."
    )


def is_auto(value: Any) -> bool:
    """Whether a parameter is the word "auto". It may be an array, which has no truth value."""
    return isinstance(value, str) and value == "auto"


def seconds(name: str, value: Any) -> float | None:
    """`value` as a positive number of seconds, or None."""
    if value is None:
        return None
    number = as_float(value)
    if not number > 0:
        what = f" must be None or a positive number of seconds, got {shown(value)}."
        raise ValueError(Message(parameter(name), what))
    return min(number, LONGEST)
