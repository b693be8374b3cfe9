"""Digests that say whether a stored result still holds.

A digest covers syntax trees without docstrings. So comments, formatting and docstrings change none,
and every version of Python gives the same.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any


def syntax(text: str) -> str:
    """The syntax tree of a source as text, without docstrings.

    This is `ast.dump`, except that it leaves out whatever is empty: `ast.dump` does that from
    Python 3.13 on, and newer versions add fields that older ones lack.
    """
    return _dumped(ast.parse(text))


def _dumped(node: Any) -> str:
    if isinstance(node, list):
        return f"[{','.join(_dumped(n) for n in node if not _is_docstring(n))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = [(k, v) for k, v in ast.iter_fields(node) if v is not None and v != []]
    return f"{type(node).__name__}({','.join(f'{k}={_dumped(v)}' for k, v in fields)})"


def _is_docstring(node: Any) -> bool:
    """Whether a node is a string that stands alone, which does nothing when the code runs."""
    alone = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return alone and isinstance(node.value.value, str)


class Sources:
    """The Python files below a folder, each read once.

    Attributes
    ----------
    root : Path: the folder that contains `bnpcluster` and `tests`
    """

    def __init__(self, root: Path):
        self.root = root
        self._trees: dict[str, ast.Module] = {}
        self._digests: dict[str, str] = {}
        self._named: dict[str, list[str]] = {}

    def digest(self, files: Iterable[str], *words: object) -> str:
        """One digest of files, by their paths below the root, and of words beside them."""
        parts = [repr(words), *(f"{file}:{self._digest(file)}" for file in sorted(set(files)))]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]

    def of_tests(self, tests: Iterable[str]) -> set[str]:
        """The files that test files rest on, and the test files themselves.

        These are their conftest.py files, all files below `tests` that these import, directly or
        not, and the package files that one of them imports by name. A file that a test names in a
        string, to run it in another process, counts as imported. What the package files import in
        turn does not count.
        """
        found: set[str] = set()
        waiting = [f for test in tests for f in (test, *self._conftests(test))]
        while waiting:
            file = waiting.pop()
            if file not in found:
                found.add(file)
                waiting += self._names(file) if file.startswith("tests/") else []
        return found

    def package(self) -> list[str]:
        """All files of the package."""
        found = (self.root / "bnpcluster").rglob("*.py")
        return [path.relative_to(self.root).as_posix() for path in found]

    def tree(self, file: str) -> ast.Module:
        """The syntax tree of a file; it holds the text alone if that is no Python."""
        if file not in self._trees:
            text = (self.root / file).read_text(encoding="utf-8")
            try:
                self._trees[file] = ast.parse(text)
            except SyntaxError:  # somebody is editing it
                self._trees[file] = ast.parse(f"text = {text!r}")
        return self._trees[file]

    def exists(self, file: str) -> bool:
        """Whether there is such a file."""
        return (self.root / file).is_file()

    def _digest(self, file: str) -> str:
        if file not in self._digests:
            text = _dumped(self.tree(file)) if self.exists(file) else ""
            self._digests[file] = hashlib.sha256(text.encode()).hexdigest()
        return self._digests[file]

    def _conftests(self, file: str) -> list[str]:
        """The conftest.py files of a file's folder and of those above it."""
        found = [f"{folder.as_posix()}/conftest.py" for folder in Path(file).parents]
        return [f for f in found if self.exists(f)]

    def _names(self, file: str) -> list[str]:
        """The files of the package and of the tests that a file names."""
        if file not in self._named:
            tree = self.tree(file) if self.exists(file) else ast.Module([], [])
            self._named[file] = [f for name in _named(tree) for f in self._files(name)]
        return self._named[file]

    def _files(self, module: str) -> list[str]:
        """The file of a module, if it is one of the tests or of the package."""
        path = module.replace(".", "/")
        ours = path.split("/")[0] in ("bnpcluster", "tests")
        return [f for f in (f"{path}.py", f"{path}/__init__.py") if ours and self.exists(f)]


def _named(tree: ast.Module) -> Iterator[str]:
    """The modules that a syntax tree names; some names may belong to functions or classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (path[:-3] for path in re.findall(r"\btests/[\w/]+\.py\b", node.value))
