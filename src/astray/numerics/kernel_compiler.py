"""How numba compiles the kernels of this package: to the same bytes, in half of the time.

Left to itself, numba optimises each kernel as a program of its own and makes machine code of it.
But most kernels are called by other kernels only, into which they are linked, where they are
optimised and made into machine code again. So of such an inner kernel only the intermediate code
is kept, for its callers. The machine code of a kernel that Python calls is made of all of that.

The rest of the time is Python's: numba infers types and writes intermediate code. It is told to

- skip passes for what no kernel has: closures, exceptions, expressions of whole arrays;
- look up once what `+` of two floats is, instead of trying some forty overloads each time;
- leave the garbage alone until a kernel is compiled, with all that it calls.

What this relies on is not numba's public interface, except for pipelines. Where a version of numba
differs, kernels are compiled in its own way, slowly, to the same results.
"""

from __future__ import annotations

import contextlib
import functools
import gc
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, NamedTuple

SKIPPED_PASSES = frozenset(
    {
        # Before types are inferred.
        "WithLifting",
        "InlineClosureLikes",
        "RewriteSemanticConstants",
        "DeadBranchPrune",
        "RewriteDynamicRaises",
        "MakeFunctionToJitFunction",
        "InlineInlinables",
        "FindLiterallyCalls",
        "LiteralUnroll",
        "LiteralPropagationSubPipelinePass",
        # After that.
        "InlineOverloads",
        "NopythonRewrites",
        "NoPythonSupportedFeatureValidation",
        "IRLegalization",  # says where references to arrays end, which nothing counts
        "AnnotateTypes",  # for `inspect_types`
        "DumpParforDiagnostics",
    }
)
"""Passes of numba for what kernels of this package do not have; a test holds them to it."""


class KernelPipelines(NamedTuple):
    """How numba compiles, as its option `pipeline_class` takes it."""

    entry: Any
    """Kernels that Python calls: with machine code."""
    inner: Any
    """Kernels for other kernels: intermediate code alone."""
    rebuild: Callable[[Any, Any], Any]
    """Makes an inner kernel of what numba's cache has kept of it."""


@functools.cache
def pipelines() -> KernelPipelines | None:
    """The pipelines for kernels of this package; None if this version of numba has none of that."""
    try:
        return _pipelines()
    except (ImportError, AttributeError):
        return None


def _pipelines() -> KernelPipelines:
    import numba.core.codegen
    import numba.core.compiler
    import numba.core.compiler_machinery
    import numba.core.typed_passes
    from numba.core import event
    from numba.core.types import functions

    # Parts of numba have types and parts have none: to a type checker they are all unknown.
    codegen: Any = numba.core.codegen
    compiler: Any = numba.core.compiler
    lowering: Any = numba.core.typed_passes.NativeLowering
    register_pass: Any = numba.core.compiler_machinery.register_pass

    base: Any = codegen.JITCodeLibrary
    parse_bitcode = codegen.ll.parse_bitcode
    # Fails here, where it is caught, if numba has other names for what is replaced below.
    _ = base._optimize_final_module, base._finalize_final_module, base._unserialize, base.codegen
    _ = base.serialize_using_object_code, base._get_module_for_linking, base.get_pointer_to_function
    _ = base._finalize_dynamic_globals, compiler.CompilerBase._compile_core
    _ = compiler.DefaultPassBuilder.define_nopython_pipeline, compiler.CompileResult._rebuild
    _ = event.install_timer, functions.BaseFunction.get_call_type

    class InnerLibrary(base):  # type: ignore[misc]
        """The intermediate code of a kernel, to be linked into its callers."""

        @property
        def codegen(self) -> Any:
            return _WithoutEnvironment(self._codegen)

        has_loops = True

        def _optimize_final_module(self) -> None:
            """Leave it to the callers, which do it again, if no loop is in it.

            Loops that are optimised only after they are inlined are slower: the `ekf` by a tenth.
            """
            if self.has_loops:
                super()._optimize_final_module()

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()  # by which numba knows what it cannot cache
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            self._ensure_finalized()
            return 0  # there is none

        def serialize_using_object_code(self) -> tuple[str, bytes]:
            return self.name, self._get_module_for_linking().as_bitcode()

        @classmethod
        def _unserialize(cls, codegen: Any, state: tuple[str, bytes]) -> Any:
            name, bitcode = state
            library = cls(codegen, name)
            library._final_module = library._shared_module = parse_bitcode(bitcode)
            library._finalize_final_module()
            return library

    @register_pass(mutates_CFG=True, analysis_only=False)
    class InnerLowering(lowering):  # type: ignore[misc]
        """Writes the intermediate code of an inner kernel."""

        _name = "astray_inner_lowering"

        def run_pass(self, state: Any) -> bool:
            library = InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
            library.has_loops = any(
                target <= label
                for label, block in state.func_ir.blocks.items()
                for target in block.terminator.get_targets()
            )
            state.library = library
            return bool(super().run_pass(state))

    class EntryCompiler(compiler.CompilerBase):  # type: ignore[misc]
        """Compiles a kernel that Python calls, and the kernels that it calls on the way."""

        lowers: Any = lowering

        def define_pipelines(self) -> list[Any]:
            manager = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
            manager.passes[:] = [
                (self.lowers if kind is lowering else kind, text)
                for kind, text in manager.passes
                if kind.__name__ not in SKIPPED_PASSES
            ]
            manager.finalize()
            return [manager]

        def _compile_core(self) -> Any:
            with _hurry():
                return _call_in_large_frame(super()._compile_core)

    class InnerCompiler(EntryCompiler):
        """Compiles a kernel for other kernels."""

        lowers = InnerLowering

    def rebuild(context: Any, kept: Any) -> Any:
        loader = _Loader(context, InnerLibrary)
        return compiler.CompileResult._rebuild(loader, *kept)._replace(target_context=context)

    return KernelPipelines(EntryCompiler, InnerCompiler, rebuild)


class _WithoutEnvironment:
    """Numba's code generator for code that has no address where an environment could be put."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        """Do without: an environment is for exceptions and Python objects; kernels have none."""


class _Loader:
    """Numba's target, as far as a kernel is loaded from the cache, with another library."""

    def __init__(self, context: Any, library: Any) -> None:
        self._context = context
        self._library = library

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def codegen(self) -> _Loader:
        return self

    def unserialize_library(self, state: Any) -> Any:
        return self._library._unserialize(self._context.codegen(), state)


def _call(function: Callable[[], Any]) -> Any:
    return function()


_call_in_large_frame = FunctionType(
    _call.__code__.replace(co_stacksize=70_000), globals(), "_call_in_large_frame"
)
"""Calls a function with half a megabyte of room for the frames of what it calls.

Python keeps frames in chunks of 16 kB. Calls at the end of a chunk map the next one and unmap it
again, each of them: a hundred thousand times in a deep recursion such as numba's. The chunk of a
frame that has room for 70 000 values is one megabyte.
"""

_hurrying = False


@contextlib.contextmanager
def _hurry() -> Iterator[None]:
    """Spare numba what it would do again and again; numba's lock is held, so one thread is here."""
    global _hurrying
    if _hurrying:  # for a kernel that calls this one
        yield
        return
    import numba.core.event
    from numba.core.types import functions

    kind: Any = functions.BaseFunction
    event: Any = numba.core.event
    resolve, install_timer = kind.get_call_type, event.install_timer
    kind.get_call_type = _remembering(resolve)
    event.install_timer = _no_timer
    _hurrying = True
    try:
        with collect_garbage_later():
            yield
    finally:
        _hurrying = False
        kind.get_call_type = resolve
        event.install_timer = install_timer


@contextlib.contextmanager
def collect_garbage_later() -> Iterator[None]:
    """Let Python look for garbage after the with block: much of it is made while kernels compile.

    Python would search the objects of the whole process each time that they are a quarter more.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _no_timer(kind: str, callback: Any) -> contextlib.AbstractContextManager[None]:
    """In place of numba's timers, which hear of every call of LLVM at each depth of kernels."""
    return contextlib.nullcontext()


_signatures: dict[tuple[Any, ...], Any] = {}
"""What numba's own functions return, by function and types of the arguments."""


def _remembering(resolve: Callable[..., Any]) -> Callable[..., Any]:
    """The method of numba that types the call of a function, with a memory."""

    def get_call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
        key = function, context, tuple(args)
        if kws:
            return resolve(function, context, args, kws)
        if key not in _signatures:
            _signatures[key] = resolve(function, context, args, kws)
        return _signatures[key]

    return get_call_type
