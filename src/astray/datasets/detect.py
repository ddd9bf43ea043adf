"""Which kind of log lies at a path, by what is in it, never by its name."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from astray.datasets.bag import BagTopics, read_bag
from astray.datasets.bag_file import is_bag
from astray.datasets.carmen import is_carmen, read_carmen
from astray.datasets.dataset import Dataset
from astray.datasets.matlab import is_matlab
from astray.datasets.mrclam import is_mrclam, read_mrclam
from astray.datasets.recorded import read_recorded
from astray.datasets.text_columns import read_bytes
from astray.datasets.victoria_park import read_victoria
from astray.errors import LogError

KNOWN = (
    "a UTIAS MRCLAM folder, a Victoria Park folder or .mat file, a CARMEN log, or a bag of ROS 1, "
    "ROS 2 or MCAP"
)
MAGIC = b"\x1f\x8b"


def read_logs(path: str | Path, wanted: BagTopics | None = None) -> list[Dataset]:
    """The logs at a path, one for each robot; LogError says what is wrong.

    `wanted` chooses topics of a bag.
    """
    path, wanted = Path(path), wanted or BagTopics()
    if not path.exists():
        raise LogError(f"{path}: there is no such file or folder")
    if is_bag(path):
        recorded = read_recorded(path) if path.is_file() and not wanted.any else None
        return recorded if recorded is not None else [read_bag(path, wanted)]
    if wanted.any:
        raise LogError(f"{path}: topics are for bags, and this is none")
    if path.is_dir():
        return _read_folder(path)
    data = _unpacked(path)
    if is_matlab(data):
        return [read_victoria(path)]
    if is_carmen(data):
        return [read_carmen(data, path)]
    raise LogError(f"{path}: not a log that can be read: {KNOWN}")


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
        raise LogError(f"{folder}: no log that can be read in this folder: {KNOWN}")
    return found


def _unpacked(file: Path) -> bytes:
    data = read_bytes(file)
    if not data.startswith(MAGIC):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as problem:
        raise LogError(f"{file}: cannot be unpacked: {problem}") from None
