"""Reads the logs at a path; their content decides which format they have, not their names."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from astray.datasets.bag import BagTopics, is_bag, read_bag
from astray.datasets.carmen import is_carmen, read_carmen
from astray.datasets.dataset import Dataset
from astray.datasets.log_files import is_matlab, read_bytes
from astray.datasets.mrclam import is_mrclam, read_mrclam
from astray.datasets.recordings import read_astray_recording
from astray.datasets.victoria_park import read_victoria
from astray.errors import LogError

KNOWN_FORMATS = (
    "a UTIAS MRCLAM folder, a Victoria Park folder or .mat file, a CARMEN log, or a bag of ROS 1, "
    "ROS 2 or MCAP"
)
GZIP_MAGIC = b"\x1f\x8b"


def read_logs(path: str | Path, topics: BagTopics | None = None) -> list[Dataset]:
    """Read the logs at a path.

    Args:
        path: A file or a folder.
        topics: The topics of a bag; by default they are found by their types.

    Returns:
        A dataset for each robot or log.

    Raises:
        LogError: Nothing at the path can be read; the text says why.
    """
    path, topics = Path(path), topics or BagTopics()
    if not path.exists():
        raise LogError(f"{path}: there is no such file or folder")
    if is_bag(path):
        recorded = read_astray_recording(path) if path.is_file() and not topics.any else None
        return recorded if recorded is not None else [read_bag(path, topics)]
    if topics.any:
        raise LogError(f"{path}: topics are for bags, and this is none")
    if path.is_dir():
        return _read_folder(path)
    data = _unpacked(path)
    if is_matlab(data):
        return [read_victoria(path)]
    if is_carmen(data):
        return [read_carmen(data, path)]
    raise LogError(f"{path}: not a log that can be read: {KNOWN_FORMATS}")


def _read_folder(folder: Path) -> list[Dataset]:
    if is_mrclam(folder):
        return read_mrclam(folder)
    if any(folder.glob("*.mat")):
        return [read_victoria(folder)]
    found = []
    for file in sorted(folder.iterdir()):
        if file.is_file() and is_carmen(data := _unpacked(file)):
            found.append(read_carmen(data, file))
    if not found:
        raise LogError(f"{folder}: no log that can be read in this folder: {KNOWN_FORMATS}")
    return found


def _unpacked(file: Path) -> bytes:
    """The bytes of a file, unpacked if gzip has packed it."""
    data = read_bytes(file)
    if not data.startswith(GZIP_MAGIC):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as problem:
        raise LogError(f"{file}: cannot be unpacked: {problem}") from None
