"""Kernels: plain Python functions that numba compiles at their first call.

Importing a module that defines kernels costs nothing, so `astray --help` does not load numba. With
`ASTRAY_JIT=0` or `NUMBA_DISABLE_JIT=1`, or without numba, the same functions run as Python and give
the same bytes, slowly.

Compiled code is kept for the next start, see `kernel_cache.py`.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, ParamSpec, TypeVar

from astray.numerics.kernel_cache import (
    PACKAGE,
    cache_folder,
    digest,
    globals_of,
    harden,
    numba_cache,
)
from astray.numerics.kernel_compiler import pipelines

P = ParamSpec("P")
R = TypeVar("R")


class Compilation(NamedTuple):
    """A kernel that is about to be compiled.

    Attributes:
        entry: The module of the kernel that Python calls, for which it is compiled.
        left: How many kernels of that one are not compiled yet, at most, after this one.
    """

    entry: str
    left: int


compile_callbacks: list[Callable[[Compilation], None]] = []
"""Called before each kernel that other kernels call is compiled; not if it is in the cache."""

_compiling = threading.RLock()
_entries: list[Kernel[Any, Any]] = []
"""The kernel that Python called last: what is compiled is compiled for it."""


class Kernel(Generic[P, R]):
    """A function that compiles itself when it is first called."""

    def __init__(self, function: Callable[P, R], inline: bool = False) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.inline = inline
        self._dispatcher: Any = None
        self._inner: Any = None
        self._call: Callable[..., Any] | None = None

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:  # noqa: D102 - the function's own
            ...

    else:

        def __call__(self, *args):  # noqa: D102 - by position only: keywords would cost every call
            return self._first_call(*args)

    def _first_call(self, *args: Any) -> R:
        call: Any = self.dispatcher() if jit() else self.function
        self.set_call(call)
        result: R = call(*args)
        return result

    def set_call(self, call: Callable[..., Any]) -> None:
        """Let a call of the kernel call this directly: another frame would cost every tick."""
        self._call = call
        # Python looks up __call__ in the class of an object, so each kernel gets its own class.
        self.__class__ = type("Kernel", (Kernel,), {"__call__": staticmethod(call)})

    @property
    def is_plain(self) -> bool:
        """Whether it runs as Python, by the environment or because a test compares."""
        return self._call is self.function or not jit()

    def dispatcher(self) -> Any:
        """The numba dispatcher of this function for calls from Python."""
        with _compiling:
            _entries[:] = [self]
            if self._dispatcher is None:
                self._dispatcher = _compile(self.function, self.inline)
        return self._dispatcher

    def callees(self) -> set[Kernel[Any, Any]]:
        """All kernels that it calls, directly or through others."""
        found: set[Kernel[Any, Any]] = set()
        waiting: list[Kernel[Any, Any]] = [self]
        while waiting:
            called = {
                value
                for _, value in globals_of(waiting.pop().function)  # type: ignore[arg-type]
                if isinstance(value, Kernel)
            }
            waiting += called - found
            found |= called
        return found

    def inner(self) -> Any:
        """The dispatcher through which compiled kernels call it.

        It has no wrapper for calls from Python, which would take a fifth longer to compile.
        """
        with _compiling:
            if self._inner is None:
                if compile_callbacks:
                    entry = _entries[0] if _entries else self
                    left = sum(k._inner is None for k in entry.callees() if k is not self)
                    for callback in compile_callbacks:
                        callback(Compilation(entry.function.__module__, left))
                self._inner = _without_literals(_compile(self.function, self.inline, inner=True))
        return self._inner


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Declare a kernel: numba compiles it at its first call."""
    return Kernel(function)


def inlined_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Declare a kernel that is inlined into its callers, where a call would cost more than it."""
    return Kernel(function, inline=True)


def compiled_for(call: Callable[P, R], *args: P.args, **no: P.kwargs) -> Callable[P, R]:
    """Compile a kernel for the types of these arguments, without calling it.

    To find out the types of twenty arrays takes longer than many kernels. The code that this
    returns does not check them. So use it for repeated calls with the same objects, or with others
    of the same types: arguments of another type would be misread without an error.

    Args:
        call: A kernel.
        *args: Arguments as the calls will have them.
        **no: Kernels take no keywords.

    Returns:
        The code; the function itself where kernels run as Python.
    """
    if not isinstance(call, Kernel) or call.is_plain:
        return call
    dispatcher = call.dispatcher()
    code: Callable[P, R] = dispatcher.compile(tuple(dispatcher.typeof_pyval(arg) for arg in args))
    return code


@functools.cache
def jit() -> bool:
    """Whether kernels are compiled: not if the environment says so, and not without numba."""
    if os.environ.get("ASTRAY_JIT", "1") == "0" or _disabled_by_numba():
        return False
    try:
        _import_numba()
    except ImportError as problem:
        warnings.warn(
            f"numba cannot be imported ({problem}): astray runs its kernels as plain Python, "
            "several hundred times slower",
            RuntimeWarning,
            stacklevel=2,
        )
        return False
    return True


def _disabled_by_numba() -> bool:
    """Whether numba is told to compile nothing, by its variable or by its settings."""
    if (numba := sys.modules.get("numba")) is not None:
        return bool(numba.config.DISABLE_JIT)
    return os.environ.get("NUMBA_DISABLE_JIT", "0").strip() not in ("", "0")


@functools.cache
def _import_numba() -> Any:
    # Numba reads these while it is imported; they are restored for its other users in this process.
    # Intel's vector maths gives other bytes on machines that have it. Highlighting of messages,
    # which is off by default, takes a tenth of the time to compile.
    with _environment(NUMBA_DISABLE_INTEL_SVML="1", NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING="1"):
        import numba
        from numba.core import types
        from numba.extending import typeof_impl
    _import_without_scipy()

    @typeof_impl.register(Kernel)
    def typeof_kernel(value: Any, context: Any) -> Any:
        return types.Dispatcher(value.inner())

    return numba


def _import_without_scipy() -> None:
    """Let numba load its array functions without SciPy, which takes a sixth of the start-up time.

    It would only check whether SciPy is there. Code that needs BLAS checks again when compiled.
    """
    blas = "scipy.linalg.cython_blas"
    if blas in sys.modules:
        return
    sys.modules[blas] = None  # type: ignore[assignment]  # which makes its import fail
    try:
        from numba.np import arraymath
    finally:
        del sys.modules[blas]
    arraymath._HAVE_BLAS = importlib.util.find_spec("scipy") is not None


@contextlib.contextmanager
def _environment(**variables: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _compile(function: Callable[..., Any], inline: bool, inner: bool = False) -> Any:
    numba = _import_numba()
    options = {"nogil": True, "error_model": "numpy", "fastmath": False, "forceinline": inline}
    options["no_cpython_wrapper"] = inner
    rebuild = None
    if PACKAGE in Path(function.__code__.co_filename).resolve().parents:
        # Our kernels allocate nothing, so they need no reference counts of arrays, which would cost
        # each call some hundred nanoseconds. Kernels of other packages may allocate.
        options["_nrt"] = False
        options["no_cfunc_wrapper"] = True  # they are not called from C
        if (quick := pipelines()) is not None:
            options["pipeline_class"] = quick.inner if inner else quick.entry
            rebuild = quick.rebuild if inner else None
    folder = cache_folder(digest(function, str(options)))
    with numba_cache(folder) as usable:
        if usable:
            # Numba refuses to cache a function that has no file, such as one typed at a prompt.
            with contextlib.suppress(RuntimeError):
                dispatcher = numba.njit(cache=True, **options)(function)
                harden(dispatcher, folder, rebuild)
                return dispatcher
    return numba.njit(**options)(function)


def _without_literals(dispatcher: Any) -> Any:
    """Share the code of a kernel between callers that pass it different literal numbers.

    Numba would compile it anew for each of these numbers.
    """
    unliteral, resolve = _import_numba().types.unliteral, dispatcher.get_call_template
    found: dict[tuple[Any, ...], Any] = {}

    def get_call_template(args: Any, kws: Any) -> Any:
        types = tuple(unliteral(a) for a in args)
        if kws:
            return resolve(types, kws)
        if types not in found:
            found[types] = resolve(types, kws)
        return found[types]

    dispatcher.get_call_template = get_call_template
    return dispatcher
