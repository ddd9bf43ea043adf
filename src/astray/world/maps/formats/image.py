"""Images as maps: dark pixels are occupied, and the lower left corner is the origin.

PGM files are decoded here, since maps use its rare variants; Pillow decodes all other formats. A
header may claim any size, so nothing is allocated before the file is known to be that large.
"""

from __future__ import annotations

import io
import re
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from astray.errors import MapError, MapWarning
from astray.tables import Array
from astray.world.geometry import trace_mask_contours
from astray.world.map import MAX_PIXELS, Map

SUFFIXES = (".png", ".pgm", ".bmp", ".jpg", ".jpeg", ".ppm", ".pbm")
MAGIC = (b"\x89PNG", b"BM", b"\xff\xd8\xff", b"P1", b"P2", b"P3", b"P4", b"P5", b"P6")
PGM_HEADER = re.compile(
    rb"P[25](?:\s|#[^\n]*\n)+(\d+)(?:\s|#[^\n]*\n)+(\d+)(?:\s|#[^\n]*\n)+(\d+)\s"
)
OCCUPIED_BELOW = 0.5  # of white


@dataclass
class Picture:
    """Grey values, the top row first, from 0 (black) to `white`."""

    values: Array
    white: int
    opaque: Array | None = None
    """Which pixels are not transparent at all; None: every one."""


def is_image(data: bytes) -> bool:
    """Whether a file begins like an image that can be read."""
    return any(
        data.startswith(magic) and (magic[:1] != b"P" or data[2:3] in b" \t\r\n#")
        for magic in MAGIC
    )


def read_image(data: bytes, file: str | Path, scale: float | None) -> Map:
    """The occupied pixels of an image of `scale` m per pixel; transparent pixels are free."""
    if scale is None:
        raise MapError(f"{file}: an image needs a scale in m per pixel")
    picture = read_picture(data, str(file))
    mask = picture.values < OCCUPIED_BELOW * picture.white
    if picture.opaque is not None:
        mask &= picture.opaque
    if not mask.any():
        warn_of_no_walls(
            file,
            f"no pixel is darker than {OCCUPIED_BELOW:.0%} of white, and the darkest has "
            f"{picture.values.min() / picture.white:.0%}; a map_server file, .yaml, "
            "may set another threshold by occupied_thresh",
        )
    segments = trace_pixels(mask, str(file)) * scale
    return Map(segments, np.ones(len(segments), bool))


def warn_of_no_walls(file: str | Path, why: str) -> None:
    """Warn of an image without walls, in which a robot would see nothing."""
    warnings.warn(f"{file}: has no walls: {why}", MapWarning, stacklevel=3)


def trace_pixels(occupied: Array, file: str) -> Array:
    """The outline of occupied pixels, (n, 4) in pixels from the lower left corner."""
    try:
        return trace_mask_contours(occupied[::-1])
    except MapError as problem:
        raise MapError(f"{file}: {problem}") from None


def read_picture(data: bytes, file: str) -> Picture:
    """The image in the bytes of a file; `file` is the name for MapError."""
    if data[:2] in (b"P2", b"P5"):
        return _read_pgm(data, file)
    return _read_with_pillow(data, file)


def _check_size(width: int, height: int, file: str) -> None:
    if not 0 < width * height <= MAX_PIXELS:
        raise MapError(f"{file}: {width} x {height} pixels; from 1 to {MAX_PIXELS} can be read")


def _read_pgm(data: bytes, file: str) -> Picture:
    header = PGM_HEADER.match(data[:65536])
    if header is None or any(len(number) > 10 for number in header.groups()):
        raise MapError(f"{file}: not a PGM image: no width, height and maximum at the beginning")
    width, height, white = (int(number) for number in header.groups())
    _check_size(width, height, file)
    if not 0 < white < 65536:
        raise MapError(f"{file}: the maximum of a PGM image is from 1 to 65535, not {white}")
    count = width * height
    dtype = np.dtype(np.uint8 if white < 256 else ">u2")
    if data.startswith(b"P5"):
        available = (len(data) - header.end()) // dtype.itemsize
        if available < count:
            raise MapError(f"{file}: ends after {available} of {count} pixels")
        values = np.frombuffer(data, dtype, count, header.end())
    else:
        values = _read_digits(data[header.end() :], count, file)
    if values.max() > white:
        raise MapError(f"{file}: has a pixel of {values.max()}, above its maximum of {white}")
    return Picture(values.reshape(height, width), white)


def _read_digits(text: bytes, count: int, file: str) -> Array:
    """The pixels of a PGM image in ASCII (P2)."""
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
            warnings.simplefilter("ignore")  # about large images: the size is checked here
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
        raise MapError(f"{file}: more than {MAX_PIXELS} pixels") from None
    except Exception as problem:  # noqa: BLE001 - decoders raise anything on broken files
        text = str(problem).split("\n")[0]
        why = "not an image" if "cannot identify" in text else f"broken image: {text}"
        raise MapError(f"{file}: {why}") from None
    grey = pixels[:, :, :3].sum(axis=2, dtype=np.uint16)  # three times the mean
    return Picture(grey, 765, pixels[:, :, 3] == 255)
