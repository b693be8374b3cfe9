"""Objects with parameters: unknown parameters are refused with a suggestion."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Self

from sklearn.base import BaseEstimator

from bnpcluster._core.suggestions import nearest


class Component(BaseEstimator):
    """Base class of likelihoods, priors and samplers."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Create an object, after a check of the names of its parameters."""
        check_names(cls, args, kwargs, near_name)
        return super().__new__(cls)


def check_names(
    cls: type, args: tuple, kwargs: dict[str, Any], hint: Callable[[str, list[str]], str]
) -> None:
    """Raise an error for unknown parameters, and for parameters that need their names.

    `hint` makes the end of the sentence from the unknown name and those that there are.
    """
    if not args and not kwargs:
        return
    names, by_name = _parameters(cls)
    if names is None:
        return
    if args and by_name:
        raise TypeError(
            f"{cls.__name__} takes its parameters by name: write {cls.__name__}({names[0]}=...)."
            if names
            else f"{cls.__name__} has no parameters: write {cls.__name__}()."
        )
    for name in kwargs:
        if name not in names:
            raise TypeError(f"{cls.__name__} has no parameter {name!r}{hint(name, names)}")


def _parameters(cls: type) -> tuple[list[str] | None, bool]:
    """The names of all parameters, None if any is accepted; and whether all need their names."""
    init = cls.__init__  # type: ignore[misc]
    if init is object.__init__:
        return [], True
    found = list(inspect.signature(init).parameters.values())[1:]
    if any(p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL) for p in found):
        return None, False
    return [p.name for p in found], all(p.kind is p.KEYWORD_ONLY for p in found)


def near_name(name: str, names: list[str]) -> str:
    """The end of a sentence: a similar name, or all names there are."""
    if not names:
        return ", because it has none."
    near = nearest(name, names)
    return f". Did you mean {near!r}?" if near else f". It has {', '.join(names)}."
