"""Samples from a text file: two columns, or two of many that a header names.

The separator is a comma, a semicolon or a tab, whichever stands in the first line. Blank lines and
lines that begin with # do not count. A first line that is not made of numbers is the header.
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
    """A digest by which the content of a file is known again; ValueError if it cannot be read."""
    return hashlib.blake2b(_bytes(file), digest_size=8).hexdigest()


def read_points(file: Path, time: str | None = None, value: str | None = None) -> Array:
    """The points (t, y) of a file, (n, 2); ValueError says what is wrong, and in which line."""
    rows = list(_rows(file))
    if not rows:
        raise ValueError(f"{file}: holds no numbers")
    first, cells = rows[0]
    header = None if all(map(_is_number, cells)) else [cell.strip() for cell in cells]
    t, y = _columns(f"{file}:{first}", header, len(cells), time, value)
    points: list[tuple[float, float]] = []
    for line, cells in rows if header is None else rows[1:]:
        where = f"{file}:{line}"
        if len(cells) <= max(t, y):
            raise ValueError(f"{where}: has {len(cells)} columns, not {max(t, y) + 1}")
        point = _number(cells[t], where), _number(cells[y], where)
        if points and point[0] < points[-1][0]:
            raise ValueError(f"{where}: {point[0]:g} s is before {points[-1][0]:g} s")
        points.append(point)
    if not points:
        raise ValueError(f"{file}: holds no numbers")
    return np.array(points)


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise ValueError(f"no file {file}") from None
    except OSError as problem:
        raise ValueError(f"{file}: {problem.strerror or problem}") from None


def _rows(file: Path) -> Iterator[tuple[int, list[str]]]:
    """The lines that count, by number and split into cells."""
    try:
        text = _bytes(file).decode("utf-8-sig")
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
    where: str, header: list[str] | None, width: int, time: str | None, value: str | None
) -> tuple[int, int]:
    """The places of time and value."""
    named = [name for name in (time, value) if name is not None]
    if header is None:
        if named or width != 2:
            raise ValueError(f"{where}: two columns are needed, or a header that names them")
        return 0, 1
    for name in named:
        if name not in header:
            known = ", ".join(header)
            raise ValueError(f"{where}: no column {name!r}{suggest(name, header)} ({known})")
    if value is None and width != 2:
        raise ValueError(f"{where}: say which column is the value ({', '.join(header)})")
    t = 0 if time is None else header.index(time)
    return t, header.index(value) if value is not None else 1 - t


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _number(cell: str, where: str) -> float:
    if not _is_number(cell):
        raise ValueError(f"{where}: a number is needed, not {cell.strip()!r}")
    if not math.isfinite(float(cell)):
        raise ValueError(f"{where}: a finite number is needed, not {cell.strip()}")
    return float(cell)
