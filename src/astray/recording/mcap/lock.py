"""Whether a recording is still being written: its writer holds a lock that ends with the program.

A program that is killed leaves no lock behind. Where the system has none, nobody holds one.
"""

from __future__ import annotations

from typing import IO, Any

try:
    import fcntl
except ImportError:  # Windows, where nobody renames a file that is open anyway
    fcntl = None  # type: ignore[assignment]


def hold(file: IO[Any]) -> None:
    """Say that a file is being written, until it is closed."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_held(file: IO[Any]) -> bool:
    """Whether somebody is writing a file."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    fcntl.flock(file, fcntl.LOCK_UN)
    return False
