"""Files on disk: atomic writes, exclusive locks, and archives of arrays.

A file is written beside its destination and moved there when it is complete. Whatever interrupts
the write (a full disk, a kill, Ctrl-C), the destination holds the old file or the new one.

The operating system releases a lock when its process ends, also by a kill. Windows has no such
locks: there no file counts as locked, but an open file cannot be renamed or removed anyway.
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np

from astray.errors import AstrayError, WritingFailed, WrongInput
from astray.tables import Array

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

MAX_BYTES = 1 << 29
DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


def temporary_path(destination: Path) -> Path:
    """The path beside a destination at which its new content is written first."""
    return destination.with_name(f"{destination.name}.part{os.getpid()}")


def write_error(destination: Path, problem: Exception, refusal: type[WrongInput]) -> AstrayError:
    """The error for a destination that cannot be written.

    Args:
        destination: The file or folder that was to be written.
        problem: What the operating system reported.
        refusal: The error class for a wrong destination.

    Returns:
        WritingFailed if the disk is full or broken, else a `refusal`.
    """
    why = getattr(problem, "strerror", None) or problem
    kind = WritingFailed if getattr(problem, "errno", None) in DISK_ERRORS else refusal
    return kind(f"{destination}: cannot be written: {why}")


def check_writable(destination: Path, refusal: type[WrongInput] = WrongInput) -> None:
    """Check that a file can be written; make its folder. Done before a long run, not after it.

    Args:
        destination: The file or folder to be written.
        refusal: The error class to raise.

    Raises:
        WrongInput: The destination has no name, is a device, or its folder is not writable; of the
            class `refusal`.
        WritingFailed: The disk is full or broken.
    """
    if not destination.name:
        raise refusal(f"{destination}: cannot be written: it has no name")
    try:
        temporary_path(destination).exists()  # raises if the name is too long
        if destination.exists() and not (destination.is_file() or destination.is_dir()):
            raise refusal(f"{destination}: is no file: a device or the like cannot be replaced")
        destination.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=destination.parent).close()
    except (OSError, ValueError) as problem:  # an impossible file name is a ValueError
        raise write_error(destination, problem, refusal) from None


def check_new_file(path: Path, overwrite: bool) -> None:
    """Check that a file can be written and that no earlier file would be lost.

    Args:
        path: The file to be written.
        overwrite: Whether an earlier file may be replaced.

    Raises:
        WrongInput: It is a folder, it exists and `overwrite` is false, or it cannot be written.
    """
    check_writable(path)
    if path.is_dir():
        raise WrongInput(f"{path} is a folder, not a file")
    if path.exists() and not overwrite:
        raise WrongInput(f"{path} exists already; choose another file or --overwrite")


@contextlib.contextmanager
def atomic_write(destination: Path, refusal: type[WrongInput] = WrongInput) -> Iterator[BinaryIO]:
    """Open a stream whose content replaces a file when the block ends without an error.

    Args:
        destination: The file to replace or to make.
        refusal: The error class to raise if it cannot be written.

    Yields:
        The binary stream of the temporary file.
    """
    check_writable(destination, refusal)
    part = temporary_path(destination)
    try:
        with part.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(destination)
    except (OSError, ValueError) as problem:
        raise write_error(destination, problem, refusal) from None
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def read_bounded(file: Path, refusal: type[WrongInput] = WrongInput) -> bytes:
    """Read a file that people name, unless it is absurdly large.

    Args:
        file: The file.
        refusal: The error class to raise.

    Returns:
        The bytes of the file.

    Raises:
        OSError: The file cannot be read.
        WrongInput: It is larger than `MAX_BYTES`; of the class `refusal`.
    """
    with file.open("rb") as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise refusal(f"{file}: larger than {MAX_BYTES >> 20} MiB")
    return data


def read_npz(file: Path, what: str, refusal: type[WrongInput] = WrongInput) -> dict[str, Array]:
    """Read all arrays of an .npz archive.

    Args:
        file: The archive.
        what: What the archive should be, for the message: "a saved run".
        refusal: The error class to raise.

    Returns:
        The arrays by name.

    Raises:
        WrongInput: The file is missing, damaged or no such archive; of the class `refusal`.
    """
    try:
        with file.open("rb") as stream:
            if not zipfile.is_zipfile(stream):  # a truncated archive is none either
                raise refusal(f"{file}: not {what}, or damaged")
            stream.seek(0)
            with np.load(stream, allow_pickle=False) as archive:
                found = {name: archive[name] for name in archive.files}
    except FileNotFoundError:
        raise refusal(f"{file}: no such file") from None
    except WrongInput:
        raise
    except OSError as problem:
        raise refusal(f"{file}: cannot be read: {problem.strerror or problem}") from None
    except Exception as problem:  # noqa: BLE001 - zip, deflate and arrays have no common error class
        raise refusal(f"{file}: damaged: {problem}") from None
    for name, array in found.items():
        if not isinstance(array, np.ndarray):  # NumPy returns other members as bytes
            raise refusal(f"{file}: damaged: {name} is no array")
    return found


def lock_file(file: IO[Any]) -> None:
    """Lock an open file until it is closed.

    Args:
        file: The open file.

    Raises:
        OSError: Another process holds the lock.
    """
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_locked(file: IO[Any]) -> bool:
    """Whether another process holds the lock of an open file."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    fcntl.flock(file, fcntl.LOCK_UN)
    return False
