"""Exclusive locks on open files: the system releases one when its process ends, also by a kill.

Where the system has no such locks (Windows) no file counts as locked. There, nobody can rename or
remove an open file anyway.
"""

from __future__ import annotations

from typing import IO, Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


def lock_file(file: IO[Any]) -> None:
    """Lock an open file until it is closed; OSError if another process holds the lock."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_locked(file: IO[Any]) -> bool:
    """Whether another process holds the lock of a file."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    fcntl.flock(file, fcntl.LOCK_UN)
    return False
