"""Descriptions of components from their docstrings, for help texts and tables."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping


def summary(cls: type) -> str:
    """The first line of a docstring, without its full stop."""
    return (inspect.getdoc(cls) or "").split("\n")[0].rstrip(".")


def parameters(cls: type) -> dict[str, str]:
    """The first sentence about each parameter, from a numpydoc docstring."""
    doc = inspect.getdoc(cls) or ""
    section = re.search(r"Parameters\n-+\n(.*?)(?:\n\n\S|\Z)", doc, re.DOTALL)
    found = re.findall(
        r"^(\w+) : [^\n]*\n((?:    [^\n]*\n?)+)", section[1] if section else "", re.MULTILINE
    )
    sentences = {name: " ".join(lines.split()) for name, lines in found}
    return {name: re.split(r"[.;:] |\.$| \(", text)[0] for name, text in sentences.items()}


def names(registry: Mapping[str, type]) -> str:
    """The names in a registry, each with its class."""
    return ", ".join(f'``"{name}"`` (`{cls.__name__}`)' for name, cls in registry.items())


def table(registry: Mapping[str, type]) -> str:
    """The registry as a table in Markdown."""
    rows = [f'| `"{name}"` | `{cls.__name__}` | {summary(cls)} |' for name, cls in registry.items()]
    return "\n".join(["| name | class | |", "|---|---|---|", *rows]) + "\n"
