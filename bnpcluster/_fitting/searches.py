"""Say a warning once in a search or a cross-validation, not at each of its fits.

scikit-learn resets the filters of warnings before each fit, so that even a constant text would be
repeated.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary

from joblib import Parallel

SCORED = ("sklearn.model_selection._validation", "_fit_and_score")
# What was said in each search of this process. Worker processes know of one search alone.
said: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()
said_elsewhere: set[str] = set()


def is_new(text: str) -> bool:
    """Whether a warning should be given: outside searches, or if this search has not had it."""
    known = _said_before(sys._getframe(1))
    if known is None:
        return True
    if text in known:
        return False
    known.add(text)
    return True


def is_in_search() -> bool:
    """Whether a fit is one of many in a search."""
    return _said_before(sys._getframe(1)) is not None


def _said_before(frame: FrameType | None) -> set[str] | None:
    """What the search around a frame has said; None if there is no search around it."""
    is_scored = False
    while frame is not None:
        if (frame.f_globals.get("__name__"), frame.f_code.co_name) == SCORED:
            is_scored = True
        elif is_scored and frame.f_code.co_name == "__call__":
            owner = frame.f_locals.get("self")
            if isinstance(owner, Parallel):
                return said.setdefault(owner, set())
        frame = frame.f_back
    return said_elsewhere if is_scored else None
