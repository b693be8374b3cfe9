"""Suggestions for names that are mistyped. Nothing here needs numpy, so messages come at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from bnpcluster._core.messages import shown

SYNONYMS = {
    "gaussian": "niw",
    "normal": "niw",
    "full": "niw",
    "diag": "nig",
    "binary": "bernoulli",
    "multinomial": "categorical",
    "counts": "poisson",
    "mixed": "columns",
}
"""Names that other packages use."""


def nearest(word: str, names: Iterable[str]) -> str | None:
    """The name that is most like a word, if any is; capitals do not matter."""
    lower = {name.lower(): name for name in names}
    for name in lower:
        if sorted(name) == sorted(word.lower()):  # letters changed places
            return lower[name]
    found = difflib.get_close_matches(word.lower(), list(lower), n=1)
    return lower[found[0]] if found else None


def unknown(parameter: str, value: str, registry: Iterable[str]) -> str:
    """The message for an unknown name, with a suggestion."""
    registry = registry if isinstance(registry, dict) else list(registry)
    near = nearest(value, registry)
    if SYNONYMS.get(value.lower()) in registry:
        near = SYNONYMS[value.lower()]
    hint = f" Did you mean {near!r}?" if near else ""
    names = [repr(name) for name in registry]
    if isinstance(registry, dict):
        names = [f"{name!r} ({cls.__name__})" for name, cls in registry.items()]
    return f"Unknown {parameter} {shown(value)}.{hint} Available: {', '.join(names)}."
