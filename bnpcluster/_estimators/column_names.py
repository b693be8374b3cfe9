"""Whether new rows have the columns of the fit, and which they lack if not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

SHOWN = 5  # names in a message
IN_ORDER = "pass X[list(model.feature_names_in_)]"


@contextmanager
def said_of_columns(table: Any, known: Sequence[str] | None) -> Iterator[None]:
    """Say in one sentence what an error about the names of columns takes many lines for."""
    try:
        yield
    except ValueError as error:
        said = difference(table, known)
        if not said:
            raise
        raise ValueError(said) from error


def difference(table: Any, known: Sequence[str] | None) -> str:
    """How the columns of a data frame differ from those of the fit; empty if they do not."""
    if known is None or not hasattr(table, "columns"):
        return ""
    found = list(table.columns)
    if not all(isinstance(name, str) for name in found):
        return ""
    missing = [name for name in known if name not in found]
    extra = [name for name in found if name not in set(known)]
    if missing and extra:
        return (
            f"X lacks {_named(missing)} of the fit, and has {_named(extra)} instead: rename them."
        )
    if missing:
        return f"X lacks {_named(missing)} of the fit: add {_it(missing)}, with NaN if unknown."
    if extra:
        return f"X has {_named(extra)}, which the fit did not have: {IN_ORDER}."
    if found != list(known):
        return f"The columns of X are in another order than in the fit: {IN_ORDER}."
    return ""


def _named(names: list[str]) -> str:
    more = f", ... ({len(names)} in all)" if len(names) > SHOWN else ""
    listed = ", ".join(map(repr, names[:SHOWN]))
    return f"column{'' if len(names) == 1 else 's'} {listed}{more}"


def _it(names: list[str]) -> str:
    return "it" if len(names) == 1 else "them"
