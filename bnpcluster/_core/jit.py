"""How the package compiles: `kernel`, `generic`, and nothing else configures numba.

`kernel` compiles a function on first use and keeps the machine code on disk.
`generic` declares an operation that every likelihood implements for its own bound data: one
name, dispatched on the class of the first argument, inside compiled code and outside it.

numba looks for edits only in the file that holds a function, so a cached sampler could silently go
on running the old code of a likelihood. Here the name of every cached compilation therefore
includes a digest of all sources of the package, and of the files that define bound data classes
outside it.
"""

from __future__ import annotations

import gc
import hashlib
import inspect
import os
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
from numba.core import types
from numba.core.caching import FunctionCache
from numba.core.registry import CPUDispatcher
from numba.extending import overload

CACHE = os.environ.get("BNPCLUSTER_NUMBA_CACHE", "1") != "0"
"""Whether compiled kernels are kept on disk (set BNPCLUSTER_NUMBA_CACHE=0 to turn it off)."""

DISABLED = bool(getattr(numba.config, "DISABLE_JIT", 0))
"""Whether kernels run as plain Python (NUMBA_DISABLE_JIT=1)."""

KERNELS: list[Any] = []
"""All compiled functions, so that tests can count compilations."""

_PACKAGE = Path(__file__).parents[1]
# numpy's error model: a division by zero gives inf, and no test for it stops vectorisation.
# Without reference counting (_nrt) a kernel cannot allocate, and never touches the counts of the
# arrays it is passed, which would cost more than the arithmetic.
_OPTIONS: Any = {"error_model": "numpy", "nogil": True, "_nrt": False}
_NO_ENTRY: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # not called from Python


@cache
def digest_of_package() -> str:
    """Digest of all sources of the package."""
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


@cache
def _digest_of_class(cls: type) -> str | None:
    """Digest of the sources behind an outside class; None if they cannot be known again."""
    if cls.__module__ == "__main__":
        return None  # such a class is another one in every process
    try:
        return hashlib.sha256(Path(inspect.getfile(cls)).read_bytes()).hexdigest()
    except (OSError, TypeError):
        return None


def _named_tuples(kind: Any) -> list[type]:
    """The named tuple classes in a numba type, at any depth."""
    if isinstance(kind, types.NamedTuple):
        return [kind.instance_class] + [c for t in kind.types for c in _named_tuples(t)]
    if isinstance(kind, types.NamedUniTuple):
        return [kind.instance_class, *_named_tuples(kind.dtype)]
    return []


def _outside(signature: Any) -> list[type]:
    found = [c for kind in signature for c in _named_tuples(kind)]
    return [c for c in found if c.__module__.split(".")[0] != _PACKAGE.name]


class _StampedCache(FunctionCache):
    """numba's disk cache, with the digests of all the sources that matter in its file names.

    Every compilation goes to files of its own, named after its signature, too. In an index that
    several share, processes that compile at the same time may take the same file name for different
    code. Nor could a program that lacks a class read an index that names it: numba's index holds
    the classes themselves. Code without an entry from Python has names of its own, too.
    """

    def __init__(self, function: Callable, suffix: str = ""):
        self._function, self._suffix = function, suffix
        if suffix:
            named = FunctionType(function.__code__, function.__globals__)
            named.__qualname__ = f"{function.__qualname__}-{suffix}"
            named.__module__ = function.__module__
            function = named
        super().__init__(function)
        self._by_signature: dict[str, _StampedCache] = {}

    def _for(self, sig: Any) -> Any:
        """The cache for a signature; None if a class in it cannot be known again."""
        digests = [_digest_of_class(c) for c in _outside(sig)]
        if None in digests:
            return None
        text = "".join(map(str, [sig, digest_of_package(), *digests]))
        suffix = hashlib.sha256(text.encode()).hexdigest()[:16]
        if suffix not in self._by_signature:
            self._by_signature[suffix] = _StampedCache(self._function, self._suffix + suffix)
        return super(_StampedCache, self._by_signature[suffix])

    def load_overload(self, sig, target_context):
        place = self._for(sig)
        if place is None:
            return None
        try:
            return place.load_overload(sig, target_context)
        except (ImportError, AttributeError, EOFError, pickle.UnpicklingError):
            # The index names a class that is gone, as after an upgrade: begin a new one.
            place.flush()
            return None

    def save_overload(self, sig, data):
        place = self._for(sig)
        if place:
            place.save_overload(sig, data)


def kernel(
    function: Callable | None = None, *, inline: bool = False, reassociate: bool = False
) -> Any:
    """Compile `function` on first use and keep the machine code on disk.

    With `inline` the body is put where it is called: a call that passes bound data by value copies
    over a hundred words, more than a short function costs. With `reassociate` sums may be taken in
    any order, which is what lets the compiler vectorise a dot product; it is asked for only where
    the order carries no meaning.
    """
    if function is None:
        return lambda f: kernel(f, inline=inline, reassociate=reassociate)
    fastmath = {"reassoc", "contract"} if reassociate else False
    options = {**_OPTIONS, "fastmath": fastmath, "forceinline": inline}
    if DISABLED:
        return numba.njit(function, **options)
    inner: Any = numba.njit(function, **options, **_NO_ENTRY)
    inner.__class__ = _Inner
    inner.entry = numba.njit(function, **options)
    for dispatcher, suffix in ((inner, "inner"), (inner.entry, "")):
        _ignore_literals(dispatcher)
        _collect_later(dispatcher)
        if CACHE:
            try:
                dispatcher._cache = _StampedCache(function, suffix)
            except RuntimeError:
                pass  # no folder can be written to, so every process compiles for itself
        KERNELS.append(dispatcher)
    return inner


class _Inner(CPUDispatcher):
    """A kernel as other kernels call it; a call from Python goes to its twin, `entry`.

    What Python needs to call a function takes longer to compile than most of our functions, and
    few of them are ever called from Python.
    """

    entry: Any

    def __call__(self, *args: Any) -> Any:
        return self.entry(*args)


def _ignore_literals(dispatcher: Any) -> None:
    """Let calls with different constants, as in f(x, 1) and f(x, 0), share one compilation."""
    resolve = dispatcher.get_call_template

    def get_call_template(args, kws):
        return resolve(
            [types.unliteral(kind) for kind in args],
            {name: types.unliteral(kind) for name, kind in kws.items()},
        )

    dispatcher.get_call_template = get_call_template


def _collect_later(dispatcher: Any) -> None:
    """Let no garbage be collected during a compilation: it takes a tenth of the time of most."""
    compile_now = dispatcher.compile

    def compile(sig):
        was_on = gc.isenabled()
        gc.disable()
        try:
            return compile_now(sig)
        finally:
            if was_on:
                gc.enable()

    dispatcher.compile = compile


class Generic:
    """An operation with one implementation per class of bound data.

    Call it like a function. `register` adds the implementation of one class. The body of the
    declaration serves the classes that register none but have the operations `needs`.
    """

    def __init__(self, declaration: Callable, needs: tuple[Generic, ...] | None):
        self.name = declaration.__name__
        self.__doc__ = declaration.__doc__
        self.__signature__ = inspect.signature(declaration)
        self.fallback = declaration if needs else None
        self.needs = needs or ()
        self.implementations: dict[type, Callable] = {}

    def register(self, cls: type) -> Callable[[Callable], Callable]:
        """Make the decorated function the implementation for bound data of class `cls`."""

        def register(function: Callable) -> Callable:
            self.implementations[cls] = function
            return function

        return register

    def find(self, cls: type) -> Callable | None:
        """The implementation that serves `cls`, or None."""
        if cls in self.implementations:
            return self.implementations[cls]
        return self.fallback if all(operation.find(cls) for operation in self.needs) else None

    def __call__(self, bound: Any, *args: Any) -> Any:
        function = self.find(type(bound))
        if function is None:
            raise TypeError(f"{type(bound).__name__} has no operation {self.name!r}.")
        return function(bound, *args)


def generic(declaration: Callable | None = None, *, needs: tuple[Generic, ...] = ()) -> Any:
    """Declare an operation of bound data, dispatched on the class of the first argument.

    With `needs`, the body is a fallback, made of those operations.
    """
    if declaration is None:
        return lambda f: generic(f, needs=needs)
    operation = Generic(declaration, needs)

    def typing(bound, *args):
        return operation.find(bound.instance_class)

    typing.__signature__ = operation.__signature__  # type: ignore[attr-defined]
    overload(operation, jit_options={**_OPTIONS, **_NO_ENTRY, "forceinline": True})(typing)
    return operation
