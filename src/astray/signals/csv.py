"""Samples from a text file: two columns, or two of many that a header names.

The separator is the first of comma, semicolon and tab that the first line has. Blank lines and
lines that begin with # are ignored. A first line that is not made of numbers is the header.
"""

from __future__ import annotations

import csv
import hashlib
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from astray.errors import suggest
from astray.tables import Array

SEPARATORS = ",;\t"


def file_digest(file: Path) -> str:
    """A hash of the content of a file; ValueError if the file cannot be read."""
    return hashlib.blake2b(_read_bytes(file), digest_size=8).hexdigest()


def read_points(file: Path, time: str | None = None, value: str | None = None) -> Array:
    """Read the points of a file.

    Args:
        file: The text file.
        time: The name of the column of times; by default the first column.
        value: The name of the column of values; by default the other one of two columns.

    Returns:
        Time in s and value of each point, (n, 2).

    Raises:
        ValueError: The file is wrong; the text says in which line.
    """
    rows = list(_rows(file))
    if not rows:
        raise ValueError(f"{file}: holds no numbers")
    first, cells = rows[0]
    header = None if all(map(_is_number, cells)) else [cell.strip() for cell in cells]
    t, y = _columns(f"{file}:{first}", header, len(cells), time, value)
    points: list[tuple[float, float]] = []
    for line, cells in rows if header is None else rows[1:]:
        origin = f"{file}:{line}"
        if len(cells) <= max(t, y):
            raise ValueError(f"{origin}: has {len(cells)} columns, not {max(t, y) + 1}")
        point = _number(cells[t], origin), _number(cells[y], origin)
        if points and point[0] < points[-1][0]:
            raise ValueError(f"{origin}: {point[0]:g} s is before {points[-1][0]:g} s")
        points.append(point)
    if not points:
        raise ValueError(f"{file}: holds no numbers")
    return np.array(points)


def _read_bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise ValueError(f"no file {file}") from None
    except OSError as problem:
        raise ValueError(f"{file}: {problem.strerror or problem}") from None


def _rows(file: Path) -> Iterator[tuple[int, list[str]]]:
    """The number and the cells of every line with data, the header included."""
    try:
        text = _read_bytes(file).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{file}: not a text file in UTF-8") from None
    separator = ""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        separator = separator or next((s for s in SEPARATORS if s in line), ",")
        try:
            yield number, next(csv.reader([line], delimiter=separator))
        except csv.Error as problem:
            raise ValueError(f"{file}:{number}: {problem}") from None


def _columns(
    origin: str, header: list[str] | None, width: int, time: str | None, value: str | None
) -> tuple[int, int]:
    """The indices of the columns of time and value."""
    named = [name for name in (time, value) if name is not None]
    if header is None:
        if named or width != 2:
            raise ValueError(f"{origin}: two columns are needed, or a header that names them")
        return 0, 1
    for name in named:
        if name not in header:
            known = ", ".join(header)
            raise ValueError(f"{origin}: unknown column {name!r}{suggest(name, header)} ({known})")
    if value is None and width != 2:
        raise ValueError(f"{origin}: say which column is the value ({', '.join(header)})")
    t = 0 if time is None else header.index(time)
    return t, header.index(value) if value is not None else 1 - t


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _number(cell: str, origin: str) -> float:
    if not _is_number(cell):
        raise ValueError(f"{origin}: a number is needed, not {cell.strip()!r}")
    if not math.isfinite(float(cell)):
        raise ValueError(f"{origin}: a finite number is needed, not {cell.strip()}")
    return float(cell)
