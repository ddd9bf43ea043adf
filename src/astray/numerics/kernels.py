"""The one way to compile: a kernel is plain Python that numba compiles at its first call.

Importing a module that defines kernels costs nothing, so `astray --help` never pays for numba.
With `ASTRAY_JIT=0`, or where numba is not installed, the same functions run as Python and give
the same bytes, slowly.

What was compiled is kept for the next start, see `kernel_cache.py`.
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
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from astray.numerics.kernel_cache import PACKAGE, cache_folder, digest, numba_cache

P = ParamSpec("P")
R = TypeVar("R")

compile_callbacks: list[Callable[[], None]] = []
"""Who is told of each kernel that is about to be compiled into others; not if those are cached."""

_compiling = threading.RLock()


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
        self.lead_to(call)
        result: R = call(*args)
        return result

    def lead_to(self, call: Callable[..., Any]) -> None:
        """Let a call lead straight there: a frame of ours would cost every tick of a run."""
        self._call = call
        # Python looks for __call__ in the class of an object, so each kernel gets one of its own.
        self.__class__ = type("Kernel", (Kernel,), {"__call__": staticmethod(call)})

    @property
    def is_plain(self) -> bool:
        """Whether it runs as Python, by the environment or since somebody wants to compare."""
        return self._call is self.function or not jit()

    def dispatcher(self) -> Any:
        """The numba dispatcher of this function, for who calls it from Python."""
        with _compiling:
            if self._dispatcher is None:
                self._dispatcher = _compile(self.function, self.inline)
        return self._dispatcher

    def inner(self) -> Any:
        """The dispatcher through which compiled kernels call it.

        Most are called by others only, and with a way in from Python they would take a fifth longer
        to compile.
        """
        with _compiling:
            if self._inner is None:
                for tell in compile_callbacks:
                    tell()
                self._inner = _for_any_number(_compile(self.function, self.inline, inner=True))
        return self._inner


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Declare a function that numba compiles at its first call."""
    return Kernel(function)


def inlined_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Declare a kernel that is compiled into its callers, where a call would cost more than it."""
    return Kernel(function, inline=True)


def compiled_for(call: Callable[P, R], *args: P.args, **no: P.kwargs) -> Callable[P, R]:
    """The code of a kernel for the types of these arguments, which takes them without a look.

    Nothing is called yet.

    To find out the types of twenty arrays takes longer than many a kernel does. So this is for who
    calls again and again with the same objects, or with others that are made just like them: those
    of any other type would be misread, and nobody would notice.
    """
    if not isinstance(call, Kernel) or call.is_plain:
        return call
    dispatcher = call.dispatcher()
    code: Callable[P, R] = dispatcher.compile(tuple(dispatcher.typeof_pyval(arg) for arg in args))
    return code


@functools.cache
def jit() -> bool:
    """Whether kernels are compiled: not with ASTRAY_JIT=0, and not without numba."""
    if os.environ.get("ASTRAY_JIT", "1") == "0":
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


@functools.cache
def _import_numba() -> Any:
    # These are read while numba is imported, and put back for its other users in this process.
    # Intel's vector maths would give other bytes on machines that have it. And to look into the
    # colour of messages, of which there is none by default, takes a tenth of the time to compile.
    with _environment(NUMBA_DISABLE_INTEL_SVML="1", NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING="1"):
        import numba
        from numba.core import types
        from numba.extending import typeof_impl
    _spare_scipy()

    @typeof_impl.register(Kernel)
    def typeof_kernel(value: Any, context: Any) -> Any:
        return types.Dispatcher(value.inner())

    return numba


def _spare_scipy() -> None:
    """Let numba load its array functions without SciPy, a sixth of the time until a run begins.

    It would only ask whether there is one. What calls for BLAS asks again when it is compiled.
    """
    blas = "scipy.linalg.cython_blas"
    if blas in sys.modules:
        return
    sys.modules[blas] = None  # type: ignore[assignment]  # Python's way to say: not to be imported
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
    if PACKAGE in Path(function.__code__.co_filename).resolve().parents:
        # Our kernels allocate nothing, so nobody has to count who holds an array: that would cost
        # every call some hundred nanoseconds. Those of other people may do as they like.
        options["_nrt"] = False
        options["no_cfunc_wrapper"] = True  # nobody calls them from C
    with numba_cache(cache_folder(digest(function, str(options)))) as usable:
        if usable:
            # Numba refuses to cache a function that has no file, such as one typed at a prompt.
            with contextlib.suppress(RuntimeError):
                return numba.njit(cache=True, **options)(function)
    return numba.njit(**options)(function)


def _for_any_number(dispatcher: Any) -> Any:
    """Let kernels that write numbers down as arguments share the code for numbers of that type.

    Numba would compile what they call anew for each of those numbers.
    """
    unliteral, resolve = _import_numba().types.unliteral, dispatcher.get_call_template
    dispatcher.get_call_template = lambda args, kws: resolve([unliteral(a) for a in args], kws)
    return dispatcher
