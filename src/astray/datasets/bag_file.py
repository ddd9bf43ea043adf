"""Bags that people have: ROS 1 files, ROS 2 folders and MCAP files, read topic by topic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from astray.errors import LogError
from astray.recording.mcap import is_mcap
from astray.ros.messages import MessageColumns, is_known
from astray.tables import Array

ROS1, SQLITE = b"#ROSBAG", b"SQLite format 3"
METADATA = "metadata.yaml"


def is_bag(path: Path) -> bool:
    """Whether a bag lies at a path, by its content."""
    if path.is_dir():
        return (path / METADATA).exists()
    begin = _beginning(path)
    return begin.startswith((ROS1, SQLITE)) or is_mcap(begin)


def _beginning(path: Path) -> bytes:
    """The bytes by which a kind of file is known."""
    with path.open("rb") as file:
        return file.read(16)


class Bag:
    """An open bag."""

    def __init__(self, path: Path, reader: Any) -> None:
        self.path = path
        self._reader = reader
        self._ros2 = bool(reader.is2)
        self.topics = {c.topic: str(c.msgtype) for c in reader.connections if c.msgcount}
        """The type of each topic on which something was said."""

    def of_types(self, types: Sequence[str]) -> list[str]:
        """The topics of some types."""
        return [topic for topic, type in self.topics.items() if type in types]

    def read(self, topic: str) -> tuple[MessageColumns, Array]:
        """All messages of a topic, and the stamp of each, s; when it was written if it has none."""
        some = [c for c in self._reader.connections if c.topic == topic]
        times, data = [], []
        for _, time, raw in self._reader.messages(connections=some):
            times.append(time)
            data.append(bytes(raw))
        type = self.topics[topic]
        decode = None
        if not self._ros2 or not is_known(type):
            decode = lambda raw: self._reader.deserialize(raw, type)  # noqa: E731
        said = MessageColumns(type, data, times, decode)
        stamps = said.stamps()
        return said, stamps if stamps.any() else said.times


@contextmanager
def open_bag(path: Path) -> Iterator[Bag]:
    """Open a bag; LogError says what is wrong with it."""
    from rosbags.highlevel import AnyReader
    from rosbags.highlevel.anyreader import AnyReaderError
    from rosbags.typesys import Stores, get_typestore

    if path.is_file() and _beginning(path).startswith(SQLITE):
        raise LogError(f"{path}: give the folder of this bag, which has its {METADATA}")
    try:
        # Old bags hold no definitions of their types: those of ROS 2 fit all that is read here.
        reader = AnyReader([path], default_typestore=get_typestore(Stores.ROS2_JAZZY))
        reader.open()
    except (AnyReaderError, OSError, ValueError, AssertionError) as problem:
        hint = f"; `astray recover {path}` may mend it" if path.suffix == ".mcap" else ""
        raise LogError(f"{path}: cannot be read: {problem}{hint}") from None
    try:
        yield Bag(path, reader)
    except AnyReaderError as problem:
        raise LogError(f"{path}: cannot be read: {problem}") from None
    finally:
        reader.close()
