"""The cache of compiled kernels, kept from one start to the next.

Numba's own cache checks only the file of the function: it serves an outdated caller whose callee
was edited in another file. So the cache folder of a kernel is named by a digest of its code, of the
code of every kernel that it calls, and of every constant and layout that they refer to.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
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
    except OSError:
        _warn_not_cached()
        yield False
        return
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
    try:
        yield True
    finally:
        config.CACHE_DIR = before


@functools.cache
def _warn_not_cached() -> None:
    """Warn once that compiled kernels cannot be kept."""
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
        for name, value in _globals_of(visited):
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


def _globals_of(function: FunctionType) -> Iterator[tuple[str, Any]]:
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
