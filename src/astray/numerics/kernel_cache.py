"""Where compiled kernels are kept from one start to the next.

Numba's own cache looks only at the file of the function it compiled: it keeps serving a caller
whose callee was edited in another file. The cache folder of a kernel is therefore named by a digest
of its code, of the code of every kernel that it calls, and of every constant and layout that they
see.
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
STALE = 30 * 86400  # s after which a cache folder that nobody used is deleted


@contextlib.contextmanager
def numba_cache(folder: Path) -> Iterator[bool]:
    """Point numba at the folder while it decorates one function; other people's stay untouched."""
    config = sys.modules["numba"].config
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
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


def digest(function: Callable[..., Any], options: str) -> str:
    """A digest of all that the code of a function depends on; comments and docstrings are not."""
    kernels, constants = _reach(function)
    parts = sorted(
        f"{f.__module__}.{f.__qualname__} {_content(f, inline)}" for f, inline in kernels
    )
    text = "\n".join([sys.version, options, *constants, *parts])
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def _content(function: FunctionType, inline: bool) -> tuple[Any, ...]:
    """What is compiled of a function: its byte code without the places in the source."""
    return inline, function.__defaults__, _code_content(function.__code__, function.__doc__)


def _code_content(code: CodeType, doc: str | None) -> tuple[Any, ...]:
    constants = tuple(
        _code_content(value, None) if isinstance(value, CodeType) else value
        for value in code.co_consts
        if doc is None or value != doc
    )
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return code.co_code, constants, names, code.co_argcount, code.co_flags, code.co_exceptiontable


def _reach(function: Callable[..., Any]) -> tuple[set[tuple[FunctionType, bool]], list[str]]:
    """A function and every kernel that it reaches, whether each is inlined, and their constants.

    Numba compiles globals in by value, so a constant from another file is part of the code, as are
    the order of the fields of a tuple that it takes and the layout of records that it makes.
    """
    import numpy as np  # late: importing this module must not cost what --help does not need

    seen: set[tuple[FunctionType, bool]] = set()
    constants: list[str] = []
    waiting: list[tuple[Any, bool]] = [(function, False)]
    while waiting:
        this, inline = waiting.pop()
        if (this, inline) in seen or not isinstance(this, FunctionType):
            continue
        seen.add((this, inline))
        for name, value in _globals_of(this):
            if hasattr(value, "dispatcher") and hasattr(value, "function"):  # a kernel
                waiting.append((value.function, value.inline))
            elif hasattr(value, "py_func"):  # somebody's own numba function
                waiting.append((value.py_func, False))
            elif isinstance(value, np.ndarray):
                constants.append(f"{name}={value.dtype}{value.shape}{value.tobytes().hex()}")
            elif isinstance(value, (bool, int, float, complex, str, tuple, np.generic, np.dtype)):
                constants.append(f"{name}={value!r}")
            elif isinstance(value, type) and hasattr(value, "_fields"):
                constants.append(f"{name}={_layout(value)}")
    return seen, sorted(constants)


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
