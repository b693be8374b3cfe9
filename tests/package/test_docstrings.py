"""Public docstrings are what numpydoc expects.

One sentence is enough for a method of a component, such as `Prior.tables`. A docstring with a
section of parameters has to name all of them, in order, with their types.
"""

import importlib
import inspect
from collections.abc import Iterator

from numpydoc.validate import Validator, get_doc_object, validate

from tests.tools.surface import modules, own

NOT_ASKED = {
    "ES01",  # an extended summary
    "EX01",  # an example
    "SA01",  # a section See Also
    "GL01",  # where the text begins, and what follows it: ruff checks these
    "GL02",
    "GL03",
    "SS01",  # no summary: GL08 and ruff
    "SS05",  # an infinitive, which numpydoc tells from nouns such as "Columns" by the last letter
    "SS06",  # the summary on one line: ruff
    "PR07",  # a description of every parameter, even of X
    "RT02",  # "labels : array" names what is returned
    "RT03",  # a description of what is returned, even of self
}
ONLY_WITH_SECTIONS = {"PR01", "RT01", "YD01"}
"""Asked of functions, and of every docstring that has a section of parameters."""


def public() -> Iterator[str]:
    """Every public class, function and method, once: where it comes first in the reference."""
    seen = set()
    for path in modules():
        module = importlib.import_module(path)
        for name in sorted(module.__all__):
            value = getattr(module, name)
            if not callable(value):
                continue
            members = dir(value) if inspect.isclass(value) else ()
            inside = [m for m in members if not m.startswith("_") and own(value, m)]
            for member in ["", *inside]:
                found = inspect.getattr_static(value, member) if member else value
                key = source(found)
                if key and key not in seen:
                    seen.add(key)
                    yield ".".join(filter(None, (path, name, member)))


def source(value):
    """The function or class behind a member; None of what has no docstring of its own."""
    value = getattr(value, "__func__", value)  # of class methods
    value = getattr(value, "fget", value)  # of properties
    value = getattr(value, "fn", value)  # of scikit-learn's available_if
    return value if inspect.isclass(value) or inspect.isroutine(value) else None


def complaints(name: str) -> set[str]:
    """The codes of what numpydoc misses, of those that are asked for."""
    found = {code for code, _ in validate(name)["errors"]} - NOT_ASKED
    doc = Validator(get_doc_object(Validator._load_obj(name)))
    fields = "Attributes" in doc.raw_doc  # of a named tuple
    function = inspect.isfunction(doc.obj) and doc.obj.__qualname__ == doc.obj.__name__
    if fields or not (function or "Parameters\n" in doc.raw_doc):
        found -= ONLY_WITH_SECTIONS
    return found


def test_docstrings_are_complete():
    found = {name: complaints(name) for name in public()}
    assert {name: codes for name, codes in found.items() if codes} == {}
