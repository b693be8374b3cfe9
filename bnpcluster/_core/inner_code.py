"""Compilation of functions that only other compiled functions call.

numba optimises the module of every function, with copies of all that it calls, and makes machine
code of it. Of a function that Python never calls, nobody uses that machine code: callers copy the
module. So here it stays as numba has lowered it, and is optimised in the modules of its callers.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.typed_passes import NopythonTypeInference


class InnerLibrary(JITCodeLibrary):
    """Code to be copied into that of callers; never run on its own."""

    @property
    def codegen(self) -> Any:
        """The code generator, for which functions that are never run need no environment."""
        return _WithoutEnvironments(self._codegen)

    def get_pointer_to_function(self, name: str) -> int:
        """Zero: there is no machine code."""
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self) -> None:
        pass

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
