"""What enters the compilations of the suite, held against what names the compiled files."""

from __future__ import annotations

import sys
from pathlib import Path

from bnpcluster._core import jit, sources


def record() -> None:
    """Begin to record what enters compilations."""
    if not jit.DISABLED:
        jit.ENTERED = set()


def unreached() -> list[str]:
    """Functions that entered a compilation, and whose file did not count for its name."""
    modules = {Path(k.py_func.__code__.co_filename).resolve(): k.py_func for k in jit.KERNELS}
    found = []
    for file, classes, entered in jit.ENTERED or ():
        function = modules.get(file)
        if function is None or function.__module__ not in sys.modules:
            continue  # of a module that a test has dropped again
        reached = jit.reach(file, function.__module__, classes)
        if reached is not None and entered not in reached:
            found.append(f"{entered} enters compilations of {file.name} for {classes}")
    return found


def forget() -> None:
    """Read sources anew: tests write files, and the digests of them are remembered."""
    for function in (sources.closure, sources.imports, sources._binds, sources._file_of):
        function.cache_clear()
