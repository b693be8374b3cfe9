"""Compilation with numba. Only `kernel` and `generic` configure it.

`kernel` compiles a function on first use and keeps the machine code on disk.
`generic` declares an operation that each likelihood implements for its own bound data. It
dispatches on the class of the first argument, inside and outside compiled code.

numba looks for edits only in the file that contains a function, so a cached sampler could silently
run old code of a likelihood. Here the name of each cached compilation includes a digest of the
sources that it depends on (`reach`), and of no others: an edit of a plot recompiles nothing.
"""

from __future__ import annotations

import gc
import hashlib
import inspect
import io
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
from llvmlite.binding import parse_bitcode
from numba.core import types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NopythonTypeInference
from numba.extending import overload

from bnpcluster._core import sources
from bnpcluster._core.announcement import ANNOUNCEMENT
from bnpcluster._core.checked_files import is_whole, sealed
from bnpcluster._core.deferral import interrupts_deferred

CACHE = os.environ.get("BNPCLUSTER_NUMBA_CACHE", "1") != "0"
"""Whether compiled kernels are kept on disk (set BNPCLUSTER_NUMBA_CACHE=0 to turn it off)."""

DISABLED = bool(getattr(numba.config, "DISABLE_JIT", 0))
"""Whether kernels run as plain Python (NUMBA_DISABLE_JIT=1)."""

INNER = "inner"
"""The beginning of the file names of code that has no entry from Python."""

KERNELS: list[Any] = []
"""All compiled functions, for tests that count compilations."""


class InnerLibrary(JITCodeLibrary):
    """The code of a function that Python never calls.

    numba optimises the module of every function, with copies of all that it calls, and makes
    machine code of it. But callers copy the module. So here it stays as numba has lowered it, and
    is optimised in the modules of its callers.
    """

    @property
    def codegen(self) -> Any:
        """The code generator, for which functions that are never run need no environment."""
        return _WithoutEnvironments(self._codegen)

    def get_pointer_to_function(self, name: str) -> int:
        """Zero: there is no machine code."""
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self) -> None:
        """Nothing: this is done with the callers."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def serialize_using_object_code(self) -> Any:
        """The state for the cache on disk, without machine code."""
        return self.serialize_using_bitcode()


class _WithoutEnvironments:
    def __init__(self, codegen: Any):
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        """Nothing: no machine code reads it."""


class _InnerTarget:
    """The target, but code from the disk becomes an `InnerLibrary` again.

    numba would make machine code of it, without optimisation. Callers that are compiled later in
    this process would run that code instead of their own copies, several times slower.
    """

    def __init__(self, context: Any):
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def codegen(self) -> Any:
        """The code generator, and how it reads code."""
        return self

    def unserialize_library(self, state: tuple[str, str, bytes]) -> InnerLibrary:
        """The library of a name, a kind, which is always bitcode here, and the code."""
        library = InnerLibrary(self._context.codegen(), state[0])
        library._final_module = parse_bitcode(state[2])
        library._finalize_final_module()
        return library


class _InnerResults(CompileResultCacheImpl):
    """What the cache of inner code reads."""

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """The result of a compilation, from the disk."""
        result = super().rebuild(_InnerTarget(target_context), payload)
        return result._replace(target_context=target_context)


@register_pass(mutates_CFG=False, analysis_only=True)
class UseInnerLibrary(FunctionPass):
    """Choose the library before numba chooses its own."""

    _name = "bnpcluster_use_inner_library"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Choose it; nothing else changes."""
        state.library = InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return False


class InnerCompiler(CompilerBase):
    """numba's passes, and the one above before code is generated."""

    def define_pipelines(self) -> list[Any]:
        """The passes."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(UseInnerLibrary, NopythonTypeInference)
        passes.finalize()
        return [passes]


# numpy's error model: a division by zero gives inf. Without a test for zero, loops vectorise.
# Without reference counting (_nrt) a kernel cannot allocate. It does not update the reference
# counts of its arrays, which would cost more than the arithmetic.
_OPTIONS: Any = {"error_model": "numpy", "nogil": True, "_nrt": False}
# What Python does not call has no wrapper for such calls, and no machine code of its own.
_INNER: Any = {
    **_OPTIONS,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": InnerCompiler,
}


GENERICS: list[Generic] = []
"""All operations. `sources_of_class` finds here the files that register one for a class."""

ENTERED: set[tuple[Path, tuple[type, ...], Path]] | None = None
"""If a set, it records each function that enters a compilation: the kernel's file, the classes in
its signature, and the file of the function. Tests compare these files with `reach`."""

# The kernels that are being compiled, the innermost last.
_COMPILING: list[tuple[Path, tuple[type, ...]]] = []


def reach(file: Path, module: str, classes: tuple[type, ...]) -> frozenset[Path] | None:
    """The sources that a kernel in `file` depends on, for data of some classes.

    These are the closures of its own file, of the files of the classes, and of all files that
    register an operation for one of them. None if a source cannot be identified.
    """
    found = sources.closure(file, module)
    for cls in classes:
        known = sources_of_class(cls)
        if known is None:
            return None
        found |= known
    return found


def sources_of_class(cls: type) -> frozenset[Path] | None:
    """The sources of a class of bound data and its operations; None if one is unknown."""
    own = closure_of(cls)
    if own is None:
        return None
    for operation in GENERICS:
        if cls in operation.implementations:
            more = closure_of(operation.implementations[cls])
            if more is None:
                return None
            own |= more
    return own


def closure_of(thing: Any) -> frozenset[Path] | None:
    """The sources that a class or a function depends on; None if they cannot be identified."""
    thing = getattr(thing, "py_func", thing)
    if thing.__module__ == "__main__":
        return None  # another process has a different __main__
    try:
        file = Path(inspect.getfile(thing)).resolve()
        return sources.closure(file, thing.__module__)
    except (OSError, SyntaxError, TypeError):
        return None


def _named_tuples(kind: Any) -> list[type]:
    """The named tuple classes in a numba type, nested ones included."""
    if isinstance(kind, types.NamedTuple):
        return [kind.instance_class] + [c for t in kind.types for c in _named_tuples(t)]
    if isinstance(kind, types.NamedUniTuple):
        return [kind.instance_class, *_named_tuples(kind.dtype)]
    return []


def _classes(signature: Any) -> tuple[type, ...]:
    """The named tuple classes in a signature, each once."""
    return tuple(dict.fromkeys(c for kind in signature for c in _named_tuples(kind)))


class CheckedFiles(IndexDataCacheFile):
    """The index and the machine code of a compilation.

    numba reads whatever the files hold, and a flipped bit can end the process. Here a file whose
    checksum does not fit is removed, and its code is compiled again.
    """

    def _load_index(self) -> dict:
        return super()._load_index() if is_whole(Path(self._index_path)) else {}

    def _load_data(self, name: str) -> Any:
        path = Path(self._data_path(name))
        if not is_whole(path):
            raise FileNotFoundError(path)  # then it counts as never compiled
        return super()._load_data(name)

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[io.BytesIO]:
        contents = io.BytesIO()
        yield contents
        with super()._open_for_write(filepath) as file:
            file.write(sealed(contents.getvalue()))


class _StampedCache(FunctionCache):
    """numba's disk cache, with a digest of the relevant sources in its file names.

    Each compilation has its own files, whose names also depend on the signature. With a shared
    index, processes that compile at the same time could use the same file name for different code.
    Also, numba's index contains classes, so a program that lacks one of them could not read a
    shared index. Code without an entry from Python has separate file names, too.
    """

    def __init__(self, function: Callable, suffix: str = "", options: str = ""):
        self._function, self._suffix, self._options = function, suffix, options
        if suffix:
            named = FunctionType(function.__code__, function.__globals__)
            named.__qualname__ = f"{function.__qualname__}-{suffix}"
            named.__module__ = function.__module__
            function = named
        super().__init__(function)
        if suffix.startswith(INNER):
            self._impl = _InnerResults(function)
        self._cache_file = CheckedFiles(
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base,
            source_stamp=self._impl.locator.get_source_stamp(),
        )
        self._by_signature: dict[Any, _StampedCache | None] = {}

    def _cache_for(self, sig: Any) -> Any:
        """The cache for a signature; None if its sources cannot be identified."""
        if sig not in self._by_signature:
            names = self._file_names(sig)
            self._by_signature[sig] = _StampedCache(self._function, names) if names else None
        return self._by_signature[sig]

    def _file_names(self, sig: Any) -> str:
        """The part of the file names for a signature: a digest of its kind and one of the sources.

        A new compilation makes older ones of the same kind stale.
        """
        file, module = Path(inspect.getfile(self._function)).resolve(), self._function.__module__
        classes = _classes(sig)
        files = reach(file, module, classes)
        if files is None:
            return ""
        folder = _folder_of(file, module)
        outside = sorted(str(other) for other in files if not other.is_relative_to(folder))
        names = [f"{c.__module__}.{c.__qualname__}" for c in classes]
        versions = [numba.__version__, sys.version, "checked, inner code as bitcode"]
        kind = str([sig, names, outside, *versions, self._options])
        short = hashlib.sha256(kind.encode()).hexdigest()[:16]
        return f"{self._suffix}{short}-{sources.digest(files)[:16]}"

    def load_overload(self, sig, target_context):
        files = self._cache_for(sig)
        if files is None:
            return None
        try:
            return super(_StampedCache, files).load_overload(sig, target_context)
        except (ImportError, AttributeError, EOFError, pickle.UnpicklingError):
            # The index names a class that no longer exists, for instance after an upgrade.
            files.flush()
            return None

    def save_overload(self, sig, data):
        files = self._cache_for(sig)
        if files is not None:
            super(_StampedCache, files).save_overload(sig, data)
            prune(Path(files.cache_path), self._function, files._suffix)


def prune(folder: Path, function: Callable, names: str) -> None:
    """Remove files of older versions of a compilation and of removed functions."""
    file = Path(inspect.getfile(function))
    beginning, current = f"{file.stem}.{_in_file_names(function)}-", names.rpartition("-")[0]
    kernels = {_in_file_names(k.py_func) for k in KERNELS if _is_in(k, file)}
    for found in [*folder.glob("*.nbi"), *folder.glob("*.nbc")]:
        stem, _, rest = found.name.partition(".")
        same = found.name.startswith(f"{beginning}{current}-")
        old = same and not found.name.startswith(f"{beginning}{names}-")
        gone = not file.with_name(f"{stem}.py").exists()
        if old or gone or (stem == file.stem and rest.split("-")[0] not in kernels):
            with suppress(OSError):
                found.unlink()


def _in_file_names(function: Callable) -> str:
    """The name of a function in numba's file names."""
    return function.__qualname__.replace("<", "").replace(">", "")


def _is_in(kernel: Any, file: Path) -> bool:
    return kernel.py_func.__code__.co_filename == str(file)


def _folder_of(file: Path, module: str) -> Path:
    """The folder of the package, or of the script, that a file belongs to."""
    return file.parents[max(module.count(".") - 1, 0)]


def kernel(
    function: Callable | None = None, *, inline: bool = False, reassociate: bool = False
) -> Any:
    """Compile a function on first use and keep the machine code on disk.

    Use it as a decorator, with or without parameters. A kernel must not allocate.

    Parameters
    ----------
    function : callable, optional
        The function to compile.
    inline : bool, default=False
        Whether to inline the body into its callers. A call that passes bound data copies over a
        hundred words. This costs more than a short function.
    reassociate : bool, default=False
        Whether the compiler may reorder sums, so that it can vectorise a dot product. Use it only
        if the order does not matter.

    Returns
    -------
    kernel : callable
        The compiled function, or a decorator.
    """
    if function is None:
        return lambda f: kernel(f, inline=inline, reassociate=reassociate)
    fastmath = {"reassoc", "contract"} if reassociate else False
    options = {**_OPTIONS, "fastmath": fastmath, "forceinline": inline}
    if DISABLED:
        return numba.njit(function, **options)
    inner: Any = numba.njit(function, **{**options, **_INNER})
    inner.__class__ = _Inner
    inner.entry = numba.njit(function, **options)
    for dispatcher, suffix in ((inner, INNER), (inner.entry, "")):
        _ignore_literals(dispatcher)
        _collect_later(dispatcher)
        _record_entries(dispatcher)
        if CACHE:
            try:
                dispatcher._cache = _StampedCache(function, suffix, str(options))
            except RuntimeError:
                pass  # no folder is writable, so each process compiles separately
        KERNELS.append(dispatcher)
    return inner


class _Inner(CPUDispatcher):
    """A kernel as other kernels call it. A call from Python goes to its twin, `entry`.

    The wrapper for calls from Python takes longer to compile than most kernels, and Python calls
    few of them.
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
    """Turn garbage collection off during compilation; it often takes a tenth of the time."""
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


def _record_entries(dispatcher: Any) -> None:
    """Record in `ENTERED` which functions enter a compilation."""
    compile_now, resolve = dispatcher.compile, dispatcher.get_call_template
    file = Path(dispatcher.py_func.__code__.co_filename).resolve()

    def compile(sig):
        classes = _classes(getattr(sig, "args", sig))
        _COMPILING.append((file, classes))
        outermost = ANNOUNCEMENT.begin(sum(map(_is_bound, classes)))
        try:
            with interrupts_deferred():
                return compile_now(sig)
        finally:
            _COMPILING.pop()
            if outermost:
                ANNOUNCEMENT.end()

    def get_call_template(args, kws):
        _enter(dispatcher.py_func)
        return resolve(args, kws)

    dispatcher.compile, dispatcher.get_call_template = compile, get_call_template


def _is_bound(cls: type) -> bool:
    """Whether a class is one of bound data."""
    return any(cls in operation.implementations for operation in GENERICS)


def _enter(function: Callable) -> None:
    """Record that a function enters the current compilation."""
    if ENTERED is not None and _COMPILING:
        file = Path(inspect.getfile(function)).resolve()
        ENTERED.add((*_COMPILING[-1], file))


class Generic:
    """An operation with one implementation per class of bound data.

    Call it like a function. `register` adds the implementation of one class. The body of the
    declaration is a fallback for classes that register none but have the operations `needs`.
    """

    def __init__(self, declaration: Callable, needs: tuple[Generic, ...] | None):
        self.name = declaration.__name__
        self.__doc__ = declaration.__doc__
        self.__signature__ = inspect.signature(declaration)
        self.fallback = declaration if needs else None
        self.needs = needs or ()
        self.implementations: dict[type, Callable] = {}
        GENERICS.append(self)

    def register(self, cls: type) -> Callable[[Callable], Callable]:
        """Make the decorated function the implementation for bound data of class `cls`."""

        def register(function: Callable) -> Callable:
            self.implementations[cls] = function
            return function

        return register

    def find(self, cls: type) -> Callable | None:
        """The implementation for `cls`, or None."""
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

    Parameters
    ----------
    declaration : callable, optional
        A function whose first argument is bound data. Its body is a fallback if `needs` is given.
    needs : tuple of operations, default=()
        The operations that the fallback uses. It applies to classes that have all of them.

    Returns
    -------
    operation : Generic
        Call it like a function; `operation.register(cls)` adds an implementation.
    """
    if declaration is None:
        return lambda f: generic(f, needs=needs)
    operation = Generic(declaration, needs)

    def typing(bound, *args):
        found = operation.find(bound.instance_class)
        if found is not None:
            _enter(getattr(found, "py_func", found))
        return found

    typing.__signature__ = operation.__signature__  # type: ignore[attr-defined]
    overload(operation, jit_options={**_INNER, "forceinline": True})(typing)
    return operation
