"""Numba's compiler without the steps that loops over arrays do not need.

The classes replace steps of Numba by shorter ones for the loops of this package alone; other users
of Numba in the same process are not affected. They rely on internal names: with a version of Numba
that does not have them, `pellucid._utils.compilation` uses Numba's own compiler. Checked with Numba
0.61 to 0.68.

Machine code does not depend on whether types are looked up or found anew. The optimiser
sees each function once, with all functions that are inlined into it, instead of three times.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.cpu import CPUContext
from numba.core.runtime import rtsys
from numba.core.typed_passes import NativeLowering
from numba.core.typing import Context
from numba.core.untyped_passes import InlineClosureLikes
from numba.extending import models, register_model


class _KnownFunction(types.Function):
    """An operator or function, with the signatures that were found for types of arguments.

    Numba tries all implementations of an operator in turn, wherever the operator occurs.
    """

    __slots__ = ("_signatures",)

    def __init__(self, function: types.Function) -> None:
        self.__dict__ = function.__dict__
        self._signatures: dict[Any, Any] = {}

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        key = tuple(args)
        if kws or key not in self._signatures:
            signature: Any = super().get_call_type(context, args, kws)
            # Implementations in Python are compiled for the options of the caller.
            if kws or self.get_impl_key(signature) is not self.typing_key:
                return signature
            self._signatures[key] = signature
        return self._signatures[key]


register_model(_KnownFunction)(models.OpaqueModel)


class _LoopTypes(Context):
    """The types of functions; shares its state with the given context."""

    _functions_known: dict[types.Function, _KnownFunction] = {}

    def __init__(self, context: Context) -> None:
        self.__dict__ = context.__dict__

    def _lookup_global(self, gv: Any) -> Any:
        found = super()._lookup_global(gv)
        if type(found) is not types.Function:
            return found
        known = self._functions_known.get(found)
        if known is None:
            known = self._functions_known[found] = _KnownFunction(found)
        return known


class _LoopTarget(CPUContext):
    """The implementations of functions; a copy of the given context with other types."""

    def __init__(self, context: CPUContext, typing: Context) -> None:
        self.__dict__ = {**context.__dict__, "typing_context": typing}


class _LoopLibrary(JITCodeLibrary):
    """Code without reference counting: optimised once, the call from Python not at all."""

    def add_linking_library(self, library: Any) -> None:
        if library is not rtsys.library:  # reference counting
            super().add_linking_library(library)

    def add_ir_module(self, ir_module: Any) -> None:
        if ir_module.name == "wrapper":
            for function in ir_module.functions:
                if not function.is_declaration:
                    function.attributes.add("optnone")
                    function.attributes.add("noinline")
        super().add_ir_module(ir_module)

    def _optimize_functions(self, ll_module: Any) -> None:
        if hasattr(self._codegen, "_pass_builder"):  # since Numba 0.62
            ll_module.data_layout = self._codegen._data_layout
        else:
            super()._optimize_functions(ll_module)

    def _optimize_final_module(self) -> None:
        if hasattr(self._codegen, "_pass_builder"):
            manager, builder = self._codegen._module_pass_manager()
            manager.run(self._final_module, builder)
        else:
            super()._optimize_final_module()


class _NoEngine:
    """Replaces the engine for code that is not run by itself."""

    def set_env(self, env_name: str, env: Any) -> None: ...


class _InnerLibrary(_LoopLibrary):
    """Code that is optimised and translated as part of the loops that call it only."""

    @property
    def codegen(self) -> Any:
        return _NoEngine()

    def _optimize_final_module(self) -> None:
        """Left to the callers."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0


@register_pass(mutates_CFG=False, analysis_only=True)
class _MakeLibrary(AnalysisPass):
    """Decides what the code of a function is used for."""

    _name = "make_library"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        if not state.flags.nrt:
            library = _InnerLibrary if state.flags.no_cpython_wrapper else _LoopLibrary
            state.library = library(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
        return False


class LoopCompiler(CompilerBase):
    """Numba's compiler with the classes above, for loops without closures and comprehensions."""

    _typing: dict[int, Context] = {}

    def __init__(self, typingctx: Any, *args: Any, **options: Any) -> None:
        super().__init__(typingctx, *args, **options)
        state = self.state
        state.typingctx = self._typing.setdefault(id(typingctx), _LoopTypes(typingctx))
        state.targetctx = _LoopTarget(state.targetctx, state.typingctx)

    def define_pipelines(self) -> Any:
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        steps = [step for step in pipeline.passes if step[0] is not InlineClosureLikes]
        place = [step for step, _ in steps].index(NativeLowering)
        steps.insert(place, (_MakeLibrary, "library"))
        pipeline.passes = steps
        pipeline.finalize()
        return [pipeline]
