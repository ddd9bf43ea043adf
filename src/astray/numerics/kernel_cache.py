"""The cache of compiled kernels, kept from one start to the next.

Numba's own cache checks only the file of the function: it serves an outdated caller whose callee
was edited in another file. So the cache folder of a kernel is named by a digest of its code, of the
code of every kernel that it calls, and of every constant and layout that they refer to.

A file of the cache has a checksum: numba would run damaged code. A damaged kernel is compiled anew.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

PACKAGE = Path(__file__).resolve().parent.parent  # astray
CHECKSUM = 16  # bytes
MAX_AGE = 30 * 86400  # s after which an unused cache folder is deleted


@contextlib.contextmanager
def numba_cache(folder: Path) -> Iterator[bool]:
    """Set numba's cache folder while it decorates one function; that of other users is restored."""
    config = sys.modules["numba"].config
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        # Numba would silently use the folder of the source, whose cache misses edits elsewhere.
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as problem:
        _warn_not_cached(problem.strerror)
        yield False
        return
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
    try:
        yield True
    finally:
        config.CACHE_DIR = before


def harden(dispatcher: Any, folder: Path, rebuild: Callable[[Any, Any], Any] | None = None) -> None:
    """Let the cache of a numba dispatcher outlive damaged files and a full disk.

    Args:
        dispatcher: It was made with numba's cache.
        folder: Its cache folder, which is named by all that its code depends on.
        rebuild: Makes a compiled function of what was kept; numba's own by default.
    """
    cache = dispatcher._cache
    if rebuild is not None:
        cache._impl.rebuild = rebuild
    cache._guard_against_spurious_io_errors = _run_uncached_if_refused
    # Numba's name has the line of the function, and its stamp the time of the file.
    cache._cache_file = _checked_cache_file()(str(folder), sys.implementation.cache_tag, "")


@contextlib.contextmanager
def _run_uncached_if_refused() -> Iterator[None]:
    """Go on where the system refuses to read or write a file of the cache."""
    try:
        yield
    except OSError as problem:
        _warn_not_cached(problem.strerror)


@functools.cache
def _checked_cache_file() -> type:
    """The class of the files of a dispatcher; made late, because it is numba's."""
    base: Any = sys.modules["numba"].core.caching.IndexDataCacheFile
    dumps: Any = sys.modules["numba"].core.serialize.dumps

    class CheckedCacheFile(base):  # type: ignore[misc]
        """The index and the compiled code of a function, each with a checksum."""

        def save(self, key: Any, data: Any) -> None:
            super().save(key, (key, data))

        def load(self, key: Any) -> Any:
            found = super().load(key)
            return found[1] if found is not None and found[0] == key else None

        def _dump(self, obj: Any) -> bytes:
            payload: bytes = dumps(obj)
            return _checksum(payload) + payload

        def _load_index(self) -> Any:
            head = pickle.dumps(self._version, protocol=-1)
            with contextlib.suppress(FileNotFoundError):
                index = Path(self._index_path).read_bytes()
                if index.startswith(head):
                    return (_read_checked(index[len(head) :]) or ("", {}))[1]
            return {}

        def _load_data(self, name: str) -> Any:
            return _read_checked(Path(self._data_path(name)).read_bytes())

    return CheckedCacheFile


def _checksum(payload: bytes) -> bytes:
    return hashlib.blake2b(payload, digest_size=CHECKSUM).digest()


def _read_checked(data: bytes) -> Any:
    """What was pickled behind a checksum; None if it is damaged."""
    payload = data[CHECKSUM:]
    return pickle.loads(payload) if data[:CHECKSUM] == _checksum(payload) else None


_is_warned = False


def _warn_not_cached(why: str | None = None) -> None:
    """Warn that kernels are not kept, once in the life of this process."""
    global _is_warned
    if _is_warned:
        return
    _is_warned = True
    because = f" ({why})" if why else ""
    warnings.warn(
        f"compiled kernels cannot be kept in {cache_root()}{because}: every start compiles them "
        "anew; set ASTRAY_CACHE_DIR to a folder that can be written",
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
    """Delete cache folders that were not used for long."""
    import shutil

    with contextlib.suppress(OSError):
        for old in root.iterdir():
            if time.time() - old.stat().st_mtime > MAX_AGE:
                if old.is_dir():
                    shutil.rmtree(old, ignore_errors=True)
                else:
                    old.unlink()


def digest(function: Callable[..., Any], options: str) -> str:
    """A digest of all that the compiled code depends on; comments and docstrings do not count."""
    kernels, constants = _dependencies(function)
    parts = sorted(
        f"{f.__module__}.{f.__qualname__} {_content(f, inline)}" for f, inline in kernels
    )
    text = "\n".join([sys.version, options, *constants, *parts])
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def _content(function: FunctionType, inline: bool) -> tuple[Any, ...]:
    """What is compiled of a function: its byte code without line numbers."""
    return inline, function.__defaults__, _code_content(function.__code__, function.__doc__)


def _code_content(code: CodeType, doc: str | None) -> tuple[Any, ...]:
    constants = tuple(
        _code_content(value, None) if isinstance(value, CodeType) else value
        for value in code.co_consts
        if doc is None or value != doc
    )
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return code.co_code, constants, names, code.co_argcount, code.co_flags, code.co_exceptiontable


def _dependencies(
    function: Callable[..., Any],
) -> tuple[set[tuple[FunctionType, bool]], list[str]]:
    """A function and all kernels that it calls, whether each is inlined, and their constants.

    Numba compiles globals by value, so a constant from another file is part of the code, as are the
    fields of a named tuple and the layout of a record.
    """
    import numpy as np  # late, since `astray --help` imports this module

    seen: set[tuple[FunctionType, bool]] = set()
    constants: list[str] = []
    to_visit: list[tuple[Any, bool]] = [(function, False)]
    while to_visit:
        visited, inline = to_visit.pop()
        if (visited, inline) in seen or not isinstance(visited, FunctionType):
            continue
        seen.add((visited, inline))
        for name, value in globals_of(visited):
            if hasattr(value, "dispatcher") and hasattr(value, "function"):  # a kernel
                to_visit.append((value.function, value.inline))
            elif hasattr(value, "py_func"):  # a numba function of another package
                to_visit.append((value.py_func, False))
            elif isinstance(value, np.ndarray):
                constants.append(f"{name}={value.dtype}{value.shape}{value.tobytes().hex()}")
            elif isinstance(value, (bool, int, float, complex, str, tuple, np.generic, np.dtype)):
                constants.append(f"{name}={value!r}")
            elif isinstance(value, type) and hasattr(value, "_fields"):
                constants.append(f"{name}={_layout(value)}")
    return seen, sorted(constants)


def globals_of(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """What a function refers to by name: globals, attributes of modules, and closure cells."""
    names = function.__code__.co_names
    for name in (*names, *_names_in(function.__annotations__)):
        value = function.__globals__.get(name)
        if isinstance(value, ModuleType):
            yield from ((f"{name}.{part}", getattr(value, part, None)) for part in names)
        else:
            yield name, value
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents


def _layout(kind: Any) -> str:
    """The fields of a named tuple and of named tuples in it."""
    scope = vars(sys.modules[kind.__module__])
    parts = [scope.get(name) for name in sorted(_names_in(kind.__annotations__))]
    inner = [_layout(part) for part in parts if hasattr(part, "_fields")]
    return f"{kind._fields}{inner}"


def _names_in(annotations: Mapping[str, Any]) -> set[str]:
    """The names in annotations, which are text until they are evaluated."""
    return {name for text in annotations.values() for name in re.findall(r"\w+", str(text))}
