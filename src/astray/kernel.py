"""The one way to compile: a kernel is plain Python that numba compiles at its first call.

Importing a module that defines kernels costs nothing, so `astray --help` never pays for numba.
With `ASTRAY_JIT=0`, or where numba is not installed, the same functions run as Python and give
the same bytes, slowly.

Numba's own cache looks only at the file of the function it compiled: it keeps serving a caller
whose callee was edited in another file. The cache folder of a kernel is therefore named by a digest
of every file that it calls into and of every constant and layout that it sees.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

PACKAGE = Path(__file__).resolve().parent
STALE = 30 * 86400  # s after which a cache folder that nobody used is deleted
_compiling = threading.RLock()


class Kernel(Generic[P, R]):
    """A function that compiles itself when it is first called."""

    def __init__(self, function: Callable[P, R], inline: bool = False) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.inline = inline
        self._dispatcher: Any = None
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
        """The numba dispatcher of this function; compiled kernels call each other through it."""
        with _compiling:
            if self._dispatcher is None:
                self._dispatcher = _for_any_number(_compile(self.function, self.inline))
        return self._dispatcher


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


def is_cold() -> bool:
    """Whether the next kernel call has to compile, which takes seconds, not milliseconds."""
    return jit() and not _mark().exists()


@functools.cache
def _import_numba() -> Any:
    # Intel's vector maths would give other bytes on machines that have it; the variable is read
    # once, while numba is imported, and put back for other users of numba in this process.
    before = os.environ.get("NUMBA_DISABLE_INTEL_SVML")
    os.environ["NUMBA_DISABLE_INTEL_SVML"] = "1"
    try:
        import numba
        from numba.core import types
        from numba.extending import typeof_impl
    finally:
        if before is None:
            del os.environ["NUMBA_DISABLE_INTEL_SVML"]
        else:
            os.environ["NUMBA_DISABLE_INTEL_SVML"] = before

    @typeof_impl.register(Kernel)
    def typeof_kernel(value: Any, context: Any) -> Any:
        return types.Dispatcher(value.dispatcher())

    return numba


def _compile(function: Callable[..., Any], inline: bool) -> Any:
    numba = _import_numba()
    options = {"nogil": True, "error_model": "numpy", "fastmath": False, "forceinline": inline}
    if PACKAGE in Path(function.__code__.co_filename).resolve().parents:
        # Our kernels allocate nothing, so nobody has to count who holds an array: that would cost
        # every call some hundred nanoseconds. Those of other people may do as they like.
        options["_nrt"] = False
    with _numba_cache(cache_folder(_digest(function, str(options)))) as usable:
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


@contextlib.contextmanager
def _numba_cache(folder: Path) -> Iterator[bool]:
    """Point numba at the folder while it decorates one function; other people's stay untouched."""
    config = sys.modules["numba"].config
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        _mark().touch()
        # Numba would quietly turn to the folder of the source, whose cache misses edits elsewhere.
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        _warn_uncached()
        yield False
        return
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
    try:
        yield True
    finally:
        config.CACHE_DIR = before


@functools.cache
def _warn_uncached() -> None:
    warnings.warn(
        f"compiled kernels cannot be kept in {cache_root()}: every start compiles them anew; "
        "set ASTRAY_CACHE_DIR to a folder that can be written",
        RuntimeWarning,
        stacklevel=2,
    )


def cache_root() -> Path:
    """The folder of all compiled kernels: the user's, never the installation's."""
    if chosen := os.environ.get("ASTRAY_CACHE_DIR"):
        return Path(chosen)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "astray"


def cache_folder(digest: str) -> Path:
    """The cache folder for sources with this digest."""
    root = cache_root() / "kernels"
    _clear_stale(root)
    return root / digest


@functools.cache
def _clear_stale(root: Path) -> None:
    """Delete what nobody used for long."""
    import shutil

    with contextlib.suppress(OSError):
        for old in root.iterdir():
            if time.time() - old.stat().st_mtime > STALE:
                if old.is_dir():
                    shutil.rmtree(old, ignore_errors=True)
                else:
                    old.unlink()


@functools.cache
def _mark() -> Path:
    """A file that is there once these sources have compiled something."""
    digest = hashlib.blake2b(digest_size=12)
    for file in sorted(PACKAGE.rglob("*.py")):
        digest.update(_digest_file(file))
    return cache_folder(f"{digest.hexdigest()}.compiled")


def _digest(function: Callable[..., Any], options: str) -> str:
    files, constants = _reach(function)
    digest = hashlib.blake2b(f"{options}{constants}".encode(), digest_size=12)
    for file in sorted(files):
        digest.update(_digest_file(file))
    return digest.hexdigest()


@functools.cache
def _digest_file(file: Path) -> bytes:
    try:
        source = file.read_bytes()
    except OSError:
        source = b""
    return hashlib.blake2b(file.name.encode() + b"\0" + source, digest_size=12).digest()


def _reach(function: Callable[..., Any]) -> tuple[set[Path], list[str]]:
    """The files of a function and of every kernel that it reaches, and the constants they use.

    Numba compiles globals in by value, so a constant from another file is part of the code, as are
    the order of the fields of a tuple that it takes and the layout of records that it makes.
    """
    import numpy as np  # late: importing this module must not cost what --help does not need

    seen: set[Any] = set()
    constants: list[str] = []
    waiting: list[Any] = [function]
    while waiting:
        this = waiting.pop()
        if this in seen or not isinstance(this, FunctionType):
            continue
        seen.add(this)
        for name, value in _globals_of(this):
            if isinstance(value, Kernel):
                waiting.append(value.function)
            elif hasattr(value, "py_func"):  # somebody's own numba function
                waiting.append(value.py_func)
            elif isinstance(value, np.ndarray):
                constants.append(f"{name}={value.dtype}{value.shape}{value.tobytes().hex()}")
            elif isinstance(value, (bool, int, float, complex, str, tuple, np.generic, np.dtype)):
                constants.append(f"{name}={value!r}")
            elif isinstance(value, type) and hasattr(value, "_fields"):
                constants.append(f"{name}={_layout(value)}")
    return {Path(f.__code__.co_filename).resolve() for f in seen}, sorted(constants)


def _globals_of(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """What a function can see by name: globals, what it may take from modules, and its cells."""
    names = function.__code__.co_names
    for name in (*names, *_words(function.__annotations__)):
        value = function.__globals__.get(name)
        if isinstance(value, ModuleType):
            yield from ((f"{name}.{part}", getattr(value, part, None)) for part in names)
        else:
            yield name, value
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents


def _layout(kind: Any) -> str:
    """The fields of a named tuple and of those in it."""
    seen = vars(sys.modules[kind.__module__])
    parts = [seen.get(word) for word in sorted(_words(kind.__annotations__))]
    inner = [_layout(part) for part in parts if hasattr(part, "_fields")]
    return f"{kind._fields}{inner}"


def _words(annotations: Mapping[str, Any]) -> set[str]:
    """The names in annotations, which are text until someone asks."""
    return {word for text in annotations.values() for word in re.findall(r"\w+", str(text))}
