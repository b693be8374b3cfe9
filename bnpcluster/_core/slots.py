"""Copies of the slots of bound data, to bring back the statistics of a draw without its rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def copied_slots(bound: Any, chosen: NDArray[np.intp]) -> dict[str, Any]:
    """Some slots of bound data."""
    return {name: _copied(bound, name, axis, chosen) for name, axis in _slots(bound)}


def put_slots(bound: Any, slots: dict[str, Any]) -> None:
    """Overwrite the first slots with copies."""
    for name, axis in _slots(bound):
        if isinstance(slots[name], dict):
            put_slots(getattr(bound, name), slots[name])
        else:
            array = np.moveaxis(getattr(bound, name), axis, 0)
            array[: slots[name].shape[axis]] = np.moveaxis(slots[name], axis, 0)


def _slots(bound: Any) -> list[tuple[str, Any]]:
    """The fields that have slots on one axis, and those that are bound data themselves."""
    parts = [(name, axis) for name, axis in bound.slot_axis.items() if _has_slots(bound, name)]
    return parts + [(name, axis) for name, axis in bound.slot_axis.items() if type(axis) is int]


def _has_slots(bound: Any, name: str) -> bool:
    return hasattr(getattr(bound, name), "slot_axis")


def _copied(bound: Any, name: str, axis: Any, chosen: NDArray[np.intp]) -> Any:
    array = getattr(bound, name)
    if hasattr(array, "slot_axis"):
        return copied_slots(array, chosen)
    return np.take(array, chosen, axis)
