"""Which source files a piece of code depends on, and a digest of them.

The *closure* of a file contains the files that define what it imports, and the closures of these
files. Imports are read from the syntax tree. A name may come from the `__init__` of a package, or
from another module that only imports it. It is traced to the file that defines it, so that
`from bnpcluster.likelihoods import Likelihood` does not add every likelihood. The closure excludes
files of Python and of installed packages, except those of the package of the first file.
"""

from __future__ import annotations

import ast
import hashlib
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

INSTALLED = tuple(
    Path(sysconfig.get_path(name)).resolve()
    for name in ("stdlib", "platstdlib", "purelib", "platlib")
)


class Imported(NamedTuple):
    """An imported name: `from module import name as alias`. For `import module`, name is empty."""

    module: str
    name: str
    alias: str


def digest(files: Iterable[Path]) -> str:
    """Digest of the contents of some files, in any order."""
    return hashlib.sha256("".join(sorted(map(_digest_of, set(files)))).encode()).hexdigest()


@cache
def closure(file: Path, module: str) -> frozenset[Path]:
    """The source file of `module`, and all files that it depends on."""
    top = module.split(".")[0]
    found, waiting = {file}, [file]
    while waiting:
        for entry in imports(waiting.pop()):
            for new in _files_of(entry, top) - found:
                found.add(new)
                waiting.append(new)
    return frozenset(found)


@cache
def imports(file: Path) -> tuple[Imported, ...]:
    """All imports in a file, except relative ones."""
    return tuple(_imports(ast.parse(file.read_bytes())))


def _imports(tree: ast.Module) -> Iterator[Imported]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield Imported(node.module, alias.name, alias.asname or alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield Imported(alias.name, "", alias.asname or alias.name)


def _files_of(entry: Imported, top: str) -> set[Path]:
    """The files that define what is imported, without excluded files."""
    inside = _file_of(f"{entry.module}.{entry.name}", top) if entry.name else None
    if inside is not None:
        return {inside}  # a module of a package
    file = _file_of(entry.module, top)
    if file is None:
        return set()
    if not entry.name:
        return {file}
    return _definers(file, entry.name, top) or {file}


def _definers(file: Path, name: str, top: str) -> set[Path]:
    """The files that define a name which a module only imports."""
    found: set[Path] = set()
    for entry in imports(file):
        if entry.alias == name:
            found |= _files_of(entry, top)
        elif entry.name == "*":
            module = _file_of(entry.module, top)
            if module is not None and _binds(module, name):
                found |= _definers(module, name, top) or {module}
    return found


@cache
def _binds(file: Path, name: str) -> bool:
    """Whether a module defines or imports a name at its top level."""
    bound: set[str] = {entry.alias for entry in imports(file)}
    for node in ast.parse(file.read_bytes()).body:
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        bound.update(target.id for target in targets if isinstance(target, ast.Name))
        bound.add(getattr(node, "name", ""))
    return name in bound


@cache
def _file_of(module: str, top: str) -> Path | None:
    """The source of a module of package `top`, or of one that is not installed; else None."""
    known = sys.modules.get(module)
    try:
        origin = known.__file__ if known is not None else getattr(find_spec(module), "origin", None)
    except (AttributeError, ImportError, ValueError):
        return None
    if not origin or not origin.endswith(".py"):
        return None
    file = Path(origin).resolve()
    own = module.split(".")[0] == top
    return file if own or not any(file.is_relative_to(folder) for folder in INSTALLED) else None


@cache
def _digest_of(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
