"""Columns of numbers in text files, and faults that name the file and the line."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from astray.errors import LogError
from astray.tables import Array

LARGEST = 1e12  # of any number in a log: stamps in seconds since 1970 are far below


def read_bytes(file: Path) -> bytes:
    """The bytes of a file; LogError if it cannot be read."""
    try:
        return file.read_bytes()
    except OSError as problem:
        raise LogError(f"{file}: {problem.strerror or problem}") from None


def read_text(file: Path) -> str:
    """The text of a file; bytes that are no text are replaced."""
    return read_bytes(file).decode("utf-8", errors="replace")


def read_columns(file: Path, count: int) -> Array:
    """The rows of numbers in a file, (n, count); lines that begin with # say nothing."""
    lines = read_text(file).splitlines()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of a file without a row
            found = np.loadtxt(lines, ndmin=2)
    except ValueError:
        found = np.zeros((0, 0))
    if not (found.size and found.shape[1] >= count and (np.abs(found) < LARGEST).all()):
        _locate_fault(file, lines, count)
    return np.ascontiguousarray(found[:, :count])


def _locate_fault(file: Path, lines: list[str], count: int) -> None:
    """Say which line is wrong; that it has none, if every line is right."""
    width = 0
    for k, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        width = width or len(words)
        if len(words) < count or len(words) != width:
            need = max(count, width)
            raise LogError(f"{file}:{k}: {need} numbers are needed, not {len(words)}")
        for word in words:
            try:
                good = abs(float(word)) < LARGEST
            except ValueError:
                good = False
            if not good:
                raise LogError(f"{file}:{k}: {word!r} is not a number that a log can have")
    raise LogError(f"{file}: has no row of numbers")
