"""Files that logs consist of: columns of numbers in text, and MATLAB 5 files.

A MATLAB file is a header of 128 bytes and elements: a type, a size, and data padded to 8 bytes.
Small elements have type and size in one word. An element may be packed by zlib. A matrix consists
of elements: flags with its class, dimensions, name, and the numbers column by column, stored in
whatever type holds them. Cells, structures, text and sparse or complex matrices are ignored.
"""

from __future__ import annotations

import struct
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from astray.errors import LogError
from astray.tables import Array

MAX_NUMBER = 1e12  # of any number in a log: stamps in seconds since 1970 are far below

HEADER = 128
MATRIX, PACKED = 14, 15
NUMBER_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8"}
NUMBER_TYPES |= {13: "u8"}
REAL_CLASSES = range(6, 16)  # double, single and the integers
COMPLEX_FLAG = 0x0800
MAX_UNPACKED = 1 << 30  # bytes of a packed element

Element = tuple[int, bytes]


def read_bytes(file: Path) -> bytes:
    """The bytes of a file; LogError if it cannot be read."""
    try:
        return file.read_bytes()
    except OSError as problem:
        raise LogError(f"{file}: {problem.strerror or problem}") from None


def read_columns(file: Path, count: int) -> Array:
    """The rows of numbers in a text file, (n, count); the rest of a line after # is ignored."""
    lines = read_bytes(file).decode("utf-8", errors="replace").splitlines()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about a file without a row
            found = np.loadtxt(lines, ndmin=2)
    except ValueError:
        found = np.zeros((0, 0))
    if not (found.size and found.shape[1] >= count and (np.abs(found) < MAX_NUMBER).all()):
        _raise_first_fault(file, lines, count)
    return np.ascontiguousarray(found[:, :count])


def _raise_first_fault(file: Path, lines: list[str], count: int) -> None:
    """Raise the LogError of the first wrong line, or of a file without a row."""
    width = 0
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        width = width or len(words)
        if len(words) < count or len(words) != width:
            need = max(count, width)
            raise LogError(f"{file}:{number}: {need} numbers are needed, not {len(words)}")
        for word in words:
            try:
                valid = abs(float(word)) < MAX_NUMBER
            except ValueError:
                valid = False
            if not valid:
                raise LogError(f"{file}:{number}: {word!r} is not a number that a log can have")
    raise LogError(f"{file}: has no row of numbers")


def is_matlab(data: bytes) -> bool:
    """Whether bytes begin like a MATLAB 5 file."""
    return data[:10] == b"MATLAB 5.0" and data[126:128] in (b"IM", b"MI")


def read_matlab(file: Path) -> dict[str, Array]:
    """The arrays of real numbers in a MATLAB 5 file, by name."""
    data = read_bytes(file)
    if not is_matlab(data):
        raise LogError(f"{file}: not a MATLAB 5 file")
    byte_order = "<" if data[126:128] == b"IM" else ">"
    found = {}
    try:
        for kind, content in _elements(data[HEADER:], byte_order):
            if kind == PACKED:
                kind, content = next(_elements(_unpack(content), byte_order))
            if kind == MATRIX:
                found.update(_matrix(content, byte_order))
    except (struct.error, zlib.error, ValueError, KeyError, StopIteration) as problem:
        raise LogError(f"{file}: a broken MATLAB file ({problem or 'it ends too early'})") from None
    return found


def _unpack(content: bytes) -> bytes:
    unpacked = zlib.decompressobj().decompress(content, MAX_UNPACKED)
    if len(unpacked) == MAX_UNPACKED:
        raise ValueError("an element is too large")
    return unpacked


def _elements(data: bytes, byte_order: str) -> Iterator[Element]:
    """The type and the content of each element."""
    position = 0
    while position + 8 <= len(data):
        kind, size = struct.unpack_from(byte_order + "II", data, position)
        if kind >> 16:  # a small one: size and type in one word, the data in the next
            kind, size, start, position = kind & 0xFFFF, kind >> 16, position + 4, position + 8
        else:
            start = position + 8
            position = start + size + (-size % 8 if kind != PACKED else 0)
        if start + size > len(data):
            raise ValueError("it ends too early")
        yield kind, data[start : start + size]


def _matrix(content: bytes, byte_order: str) -> dict[str, Array]:
    """A matrix by its name; empty for one that is not of real numbers."""
    parts = _elements(content, byte_order)
    flags = struct.unpack_from(byte_order + "I", next(parts)[1])[0]
    shape = np.frombuffer(next(parts)[1], byte_order + "i4")
    name = next(parts)[1].decode("latin-1")
    if (flags & 0xFF) not in REAL_CLASSES or flags & COMPLEX_FLAG:
        return {}
    kind, values = next(parts)
    numbers = np.frombuffer(values, byte_order + NUMBER_TYPES[kind]).astype(np.float64)
    return {name: numbers.reshape(shape, order="F")}
