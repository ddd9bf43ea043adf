"""The tail of a recording: what waits to become its next chunk, in a file beside it.

It says where in the recording it belongs, and by a mark in which one. It is put in the place
of the one before as a whole, so there is always one to be read.
"""

from __future__ import annotations

import struct
from pathlib import Path

from astray.recording.mcap import records
from astray.recording.mcap.records import HEAD, Op
from astray.recording.mcap.writer import COMPRESSION, Batch, Mark, compress, replace

MAGIC = b"astray tail\n"
MARK = struct.Struct("<QQI")


class WriteAheadLog:
    """The file beside a recording that takes what is not in it yet."""

    def __init__(self, recording: Path) -> None:
        self.path = recording.with_name(f"{recording.name}.tail")

    def write(self, batch: Batch, mark: Mark) -> None:
        """Put messages there that belong to this place of a file."""
        packed = compress(batch.raw)
        chunk = records.chunk(batch.first, batch.last, len(batch.raw), packed, COMPRESSION)
        replace(self.path, MAGIC + MARK.pack(*mark) + chunk)

    def remove(self) -> None:
        """It is no longer needed."""
        self.path.unlink(missing_ok=True)
        self.path.with_name(f"{self.path.name}.part").unlink(missing_ok=True)

    def read(self) -> tuple[Mark, bytes] | None:
        """Where it belongs, and the chunk of it without its head; None if there is none."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return None
        start = len(MAGIC) + MARK.size
        if not data.startswith(MAGIC) or len(data) < start + HEAD.size:
            return None
        mark = Mark(*MARK.unpack_from(data, len(MAGIC)))
        op, length = HEAD.unpack_from(data, start)
        chunk = data[start + HEAD.size :]
        return (mark, chunk) if op == Op.CHUNK and len(chunk) == length else None
