"""MATLAB 5 files: the arrays of real numbers in them, by name.

A file is a header of 128 bytes and elements: a type, a size, and data that fills up to 8 bytes.
Small elements have type and size in one word. An element may be packed by zlib. A matrix is
made of elements: flags with its class, dimensions, name, and the numbers column by column, stored
in whatever type holds them. Cells, structures, text and sparse or complex matrices are passed over.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from astray.datasets.text_columns import read_bytes
from astray.errors import LogError
from astray.tables import Array

HEADER = 128
MATRIX, PACKED = 14, 15
NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8"}
NUMBERS |= {13: "u8"}
CLASSES = range(6, 16)  # double, single and the integers
COMPLEX = 0x0800
MOST_BYTES = 1 << 30  # that a packed element may unfold to

Element = tuple[int, bytes]


def is_matlab(data: bytes) -> bool:
    """Whether bytes begin like a MATLAB 5 file."""
    return data[:10] == b"MATLAB 5.0" and data[126:128] in (b"IM", b"MI")


def read_matlab(file: Path) -> dict[str, Array]:
    """The arrays of real numbers in a file, by name."""
    data = read_bytes(file)
    if not is_matlab(data):
        raise LogError(f"{file}: not a MATLAB 5 file")
    order = "<" if data[126:128] == b"IM" else ">"
    found = {}
    try:
        for kind, content in _elements(data[HEADER:], order):
            if kind == PACKED:
                kind, content = next(_elements(_unpack(content), order))
            if kind == MATRIX:
                found.update(_matrix(content, order))
    except (struct.error, zlib.error, ValueError, KeyError, StopIteration) as problem:
        raise LogError(f"{file}: a broken MATLAB file ({problem or 'it ends too early'})") from None
    return found


def _unpack(content: bytes) -> bytes:
    unfolded = zlib.decompressobj().decompress(content, MOST_BYTES)
    if len(unfolded) == MOST_BYTES:
        raise ValueError("an element is too large")
    return unfolded


def _elements(data: bytes, order: str) -> Iterator[Element]:
    at = 0
    while at + 8 <= len(data):
        kind, size = struct.unpack_from(order + "II", data, at)
        if kind >> 16:  # a small one: size and type in one word, the data in the next
            kind, size, start, at = kind & 0xFFFF, kind >> 16, at + 4, at + 8
        else:
            start = at + 8
            at = start + size + (-size % 8 if kind != PACKED else 0)
        if start + size > len(data):
            raise ValueError("it ends too early")
        yield kind, data[start : start + size]


def _matrix(content: bytes, order: str) -> dict[str, Array]:
    parts = _elements(content, order)
    flags = struct.unpack_from(order + "I", next(parts)[1])[0]
    shape = np.frombuffer(next(parts)[1], order + "i4")
    name = next(parts)[1].decode("latin-1")
    if (flags & 0xFF) not in CLASSES or flags & COMPLEX:
        return {}
    kind, values = next(parts)
    numbers = np.frombuffer(values, order + NUMBERS[kind]).astype(np.float64)
    return {name: numbers.reshape(shape, order="F")}
