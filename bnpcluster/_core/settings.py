"""Check settings of a fit that are no parameters of a model."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from bnpcluster._core.messages import Message, parameter, shown

MOST_JOBS = 10**6


def n_jobs(value: Any) -> int | None:
    """`value` as a number of jobs for joblib, or None."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(
            Message(parameter("n_jobs"), f" must be None or an integer, got {value!r}.")
        )
    if abs(int(value)) > MOST_JOBS:
        text = f" must be from {-MOST_JOBS} to {MOST_JOBS}, got {shown(int(value))}."
        raise ValueError(Message(parameter("n_jobs"), text))
    if value == 0:
        raise ValueError(
            Message(
                parameter("n_jobs"),
                " must not be 0: give the number of chains that run in parallel, or -1 for one per "
                "processor.",
            )
        )
    return int(value)


def flag(name: str, value: Any) -> bool:
    """`value` as True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def level(name: str, value: Any) -> int:
    """`value` as 0, 1 or more; True is 1."""
    if not isinstance(value, (numbers.Integral, np.bool_)) or value < 0:
        raise ValueError(f"{name} must be 0 or 1, got {value!r}.")
    return int(value)
