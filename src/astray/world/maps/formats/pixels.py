"""Images as numbers: PGM by hand, since maps use its odd corners; all else by Pillow.

A header may claim any size, so nothing is allocated before the file was seen to be that large.
"""

from __future__ import annotations

import io
import re
import warnings
from dataclasses import dataclass

import numpy as np

from astray.errors import MapError
from astray.tables import Array
from astray.world.map import MOST_PIXELS

MAGIC = {b"\x89PNG": "PNG", b"BM": "BMP", b"\xff\xd8\xff": "JPEG", b"P1": "PPM", b"P4": "PPM"}
MAGIC |= {b"P3": "PPM", b"P6": "PPM", b"P2": "PGM", b"P5": "PGM"}
HEADER = re.compile(rb"P[25](?:\s|#[^\n]*\n)+(\d+)(?:\s|#[^\n]*\n)+(\d+)(?:\s|#[^\n]*\n)+(\d+)\s")


@dataclass
class Picture:
    """Grey values, the top row first, from 0 (black) to `white`."""

    values: Array
    white: int
    opaque: Array | None = None
    """Which pixels are not see-through at all; None: every one."""


def is_image(data: bytes) -> bool:
    """Whether a file begins like an image that can be read."""
    return any(
        data.startswith(magic) and (magic[:1] != b"P" or data[2:3] in b" \t\r\n#")
        for magic in MAGIC
    )


def read_picture(data: bytes, file: str) -> Picture:
    """The image in the bytes of a file; `file` is what errors call it."""
    if data[:2] in (b"P2", b"P5"):
        return _read_pgm(data, file)
    return _read_with_pillow(data, file)


def _check_size(width: int, height: int, file: str) -> None:
    if not 0 < width * height <= MOST_PIXELS:
        raise MapError(f"{file}: {width} x {height} pixels; from 1 to {MOST_PIXELS} can be read")


def _read_pgm(data: bytes, file: str) -> Picture:
    head = HEADER.match(data[:65536])
    if head is None or any(len(number) > 10 for number in head.groups()):
        raise MapError(f"{file}: not a PGM image: no width, height and maximum at the beginning")
    width, height, white = (int(number) for number in head.groups())
    _check_size(width, height, file)
    if not 0 < white < 65536:
        raise MapError(f"{file}: the maximum of a PGM image is from 1 to 65535, not {white}")
    count = width * height
    kind = np.dtype(np.uint8 if white < 256 else ">u2")
    if data.startswith(b"P5"):
        there = (len(data) - head.end()) // kind.itemsize
        if there < count:
            raise MapError(f"{file}: ends after {there} of {count} pixels")
        values = np.frombuffer(data, kind, count, head.end())
    else:
        values = _plain(data[head.end() :], count, file)
    if values.max() > white:
        raise MapError(f"{file}: has a pixel of {values.max()}, above its maximum of {white}")
    return Picture(values.reshape(height, width), white)


def _plain(text: bytes, count: int, file: str) -> Array:
    """The numbers of a PGM image that is written in digits."""
    if b"#" in text:
        text = re.sub(rb"#[^\n]*", b"", text)
    words = text.split(None, count)[:count]
    if len(words) < count:
        raise MapError(f"{file}: ends after {len(words)} of {count} pixels")
    wrong = next((word for word in words if not word.isdigit() or len(word) > 5), None)
    if wrong is not None:
        raise MapError(f"{file}: a pixel is a whole number to 65535, not {wrong[:20]!r}")
    return np.array(words).astype(np.int64)


def _read_with_pillow(data: bytes, file: str) -> Picture:
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of large images: the size is looked at here
            image = Image.open(io.BytesIO(data), formats=("PNG", "BMP", "JPEG", "PPM"))
        _check_size(*image.size, file)
        if image.mode.startswith("I"):
            return Picture(np.clip(np.asarray(image, np.int64), 0, 65535), 65535)
        if image.mode in ("1", "L"):
            return Picture(np.asarray(image.convert("L")), 255)
        pixels = np.asarray(image.convert("RGBA"))
    except MapError:
        raise
    except Image.DecompressionBombError:
        raise MapError(f"{file}: more than {MOST_PIXELS} pixels") from None
    except Exception as problem:  # noqa: BLE001 - decoders raise anything on broken files
        text = str(problem).split("\n")[0]
        why = "not an image" if "cannot identify" in text else f"broken image: {text}"
        raise MapError(f"{file}: {why}") from None
    grey = pixels[:, :, :3].sum(axis=2, dtype=np.uint16)  # three times the mean
    return Picture(grey, 765, pixels[:, :, 3] == 255)
