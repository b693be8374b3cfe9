"""The public surface of the package: every public name, where it is imported from, its signature.

`python -m tests.tools.surface` writes the snapshot that `test_public_surface` compares.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SNAPSHOT = ROOT / "tests" / "public_surface.txt"


def modules() -> list[str]:
    """The public modules: those of the reference."""
    page = (ROOT / "doc" / "api.md").read_text()
    return re.findall(r"^   (bnpcluster[.\w]*)$", page, re.MULTILINE)


def surface() -> list[str]:
    """One line for every public name and every public member of a public class."""
    lines = []
    for path in modules():
        module = importlib.import_module(path)
        for name in sorted(module.__all__):
            lines += described(f"{path}.{name}", getattr(module, name))
    return lines


def described(path: str, value: Any) -> Iterator[str]:
    """The lines of one name."""
    if isinstance(value, dict):  # a registry
        for key, entry in value.items():
            yield f"{path}[{key!r}] = {entry.__name__}"
    elif inspect.isclass(value):
        yield f"{path}{signature(value)}"
        for name in sorted(dir(value)):
            if not name.startswith("_") and own(value, name):
                yield member(f"{path}.{name}", inspect.getattr_static(value, name))
    elif callable(value):
        yield f"{path}{signature(value)}"
    else:
        yield f"{path}: {type(value).__name__}"


def own(cls: type, name: str) -> bool:
    """Whether a member was defined here, and not by scikit-learn or Python."""
    if name.startswith("set_") and name.endswith("_request"):
        return False  # scikit-learn's metadata routing adds these
    owner = next(c for c in cls.__mro__ if name in vars(c))
    return owner.__module__.split(".")[0] == "bnpcluster"


def member(path: str, value: Any) -> str:
    """The line of a member of a class."""
    function = getattr(value, "__func__", value)
    if callable(function):
        return f"{path}{signature(function)}"
    if hasattr(value, "fn"):  # of scikit-learn's available_if
        return f"{path}{signature(value.fn)}"
    return path


def signature(function: Any) -> str:
    """Names, kinds and defaults of the parameters, without annotations."""
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        return "(...)"
    bare = [p.replace(annotation=p.empty) for p in found.parameters.values()]
    text = str(found.replace(parameters=bare, return_annotation=found.empty))
    return re.sub(r"<(function|class|object) .*? at 0x[0-9a-f]+>", r"<\1>", text)


def main() -> None:
    """Write the snapshot."""
    SNAPSHOT.write_text("\n".join(surface()) + "\n")


if __name__ == "__main__":
    main()
