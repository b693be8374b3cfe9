"""All mutants: whatever the modules of this folder list."""

from __future__ import annotations

import importlib
import pkgutil

import tests.mutants
from tests.mutants import Mutant

PROGRAMS = ("__main__", "catalogue", "results", "trials")


def collected() -> list[Mutant]:
    """The mutants in the lists of all modules, each once; a new module needs no entry here."""
    names = [m.name for m in pkgutil.iter_modules(tests.mutants.__path__) if m.name not in PROGRAMS]
    modules = [importlib.import_module(f"tests.mutants.{name}") for name in names]
    lists = [v for module in modules for v in vars(module).values() if isinstance(v, list)]
    return list(dict.fromkeys(m for found in lists for m in found if isinstance(m, Mutant)))


MUTANTS = collected()
