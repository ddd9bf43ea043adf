"""Damaged files of runs are refused with a message that begins with their names."""

from __future__ import annotations

import io
import json
import random
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import astray
from astray.errors import SavedError, WrongInput
from astray.viewer.page.codec import encode_recording
from astray.viewer.page.sources.run_folder import read_folder
from astray.viewer.reports import compute_metrics, read_report_data

SCENARIO: dict[str, Any] = {
    "duration": 1,
    "world": {"map": {"walls": [[[-1, -2], [4, -2], [4, 3]]]}},
    "robots": [
        {
            "name": "rover",
            "sensors": [{"kind": "wheels", "rate": 50}],
            "estimator": {"kind": "odometry"},
            "autonomy": {"kind": "remote"},
        }
    ],
    "metrics": [{"kind": "position_error"}],
}
NAMED = re.escape("run.npz: ")
READERS: dict[str, Callable[[Path], object]] = {
    "replay": lambda folder: encode_recording(read_folder(folder)),
    "report": lambda folder: compute_metrics(read_report_data(folder)),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run, and beside it the saved run."""
    goal: Path = tmp_path_factory.mktemp("run") / "out"
    sim = astray.load(SCENARIO)
    sim.robots["rover"].drive(0.5, 0.1)
    sim.write(sim.run(1.0, log=0.1), goal)
    sim.save(goal.with_name("run.npz"))
    return goal


@pytest.fixture
def folder(run: Path, tmp_path: Path) -> Path:
    """A copy of the run, to damage."""
    shutil.copytree(run, tmp_path / "out")
    return tmp_path / "out"


def refusal(read: Callable[[Path], object], file: Path, why: type[WrongInput]) -> str | None:
    """The message of a refused file; None if it is read, any other exception is a failure."""
    try:
        read(file)
    except why as problem:
        return str(problem)
    return None


def damaged(data: bytes, seed: int, count: int) -> Iterator[bytes]:
    """The bytes with one bit flipped, or truncated."""
    chance = random.Random(seed)
    for k in range(count):
        place = chance.randrange(len(data))
        made = bytearray(data)
        made[place] ^= 1 << chance.randrange(8)
        yield data[:place] if k % 3 == 0 else bytes(made)


@pytest.mark.parametrize("reader", READERS)
def test_a_damaged_log_is_refused_by_its_name(reader: str, folder: Path) -> None:
    file, messages = folder / "log.npz", []
    for data in (b"", b"\xff\xfejunk", *damaged(file.read_bytes(), seed=1, count=60)):
        file.write_bytes(data)
        messages.append(refusal(READERS[reader], folder, WrongInput))
    refused = [text for text in messages if text is not None]
    assert len(refused) > 40  # a flipped bit in unused bytes is no fault
    # A flipped bit in the name of an array is found only where that array is read.
    starts = (f"{file}: ", f"{folder}: its files do not fit together: ")
    assert all(text.startswith(starts) for text in refused)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("text", ["", "[]", "null", "5", "{}", "\xff"])
@pytest.mark.parametrize(
    "name", ["run.json", "summary.json", "scenario.yaml", "map.geojson", "collisions.csv"]
)
def test_a_damaged_file_of_a_folder_is_no_traceback(
    reader: str, text: str, name: str, folder: Path
) -> None:
    (folder / name).write_bytes(text.encode("latin-1"))
    assert str(folder) in (refusal(READERS[reader], folder, WrongInput) or str(folder))


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("name", "series"),
    [
        ("time", np.zeros(0)),
        ("time", np.full(11, "x")),
        ("rover/belief/x", None),
        ("rover/belief/x", np.zeros((3, 1))),
        ("rover/belief/x", np.zeros((11, 0))),
        ("rover/belief/cov", np.zeros((11, 1, 2, 2))),
        ("rover/truth/yaw", np.full((11, 1), "x")),
    ],
)
def test_a_log_that_is_not_of_the_run_is_refused(
    reader: str, name: str, series: Any, folder: Path
) -> None:
    log = {**np.load(folder / "log.npz"), name: series}
    np.savez(folder / "log.npz", **{k: v for k, v in log.items() if v is not None})
    with pytest.raises(WrongInput, match=f"^{folder}"):
        READERS[reader](folder)


def test_a_damaged_saved_run_is_refused(run: Path, tmp_path: Path) -> None:
    stored = run.with_name("run.npz").read_bytes()
    packed = io.BytesIO()
    np.savez_compressed(packed, **np.load(run.with_name("run.npz")))
    file, messages = tmp_path / "run.npz", []
    for whole in (stored, packed.getvalue()):
        for data in damaged(whole, seed=2, count=60):
            file.write_bytes(data)
            messages.append(refusal(astray.resume, file, SavedError))
    refused = [text for text in messages if text is not None]
    assert len(refused) > 80
    assert all(text.startswith(f"{file}: ") for text in refused)


@pytest.mark.parametrize("name", ["scenario", "seed", "steps", "worlds", "events", "waiting"])
@pytest.mark.parametrize("value", [None, [None], {"x": 1}, "x", -1, 1.5])
def test_a_saved_run_that_was_built_from_something_else_is_refused(
    name: str, value: Any, run: Path, tmp_path: Path
) -> None:
    arrays = dict(np.load(run.with_name("run.npz")))
    about = json.loads(arrays["about"].tobytes()) | {name: value}
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
    np.savez(tmp_path / "run.npz", **arrays)
    with pytest.raises(SavedError, match=NAMED):
        astray.resume(tmp_path / "run.npz")


@pytest.mark.parametrize(
    "name", ["clock", "hits", "rover/truth", "map/segments", "map/of_world", "map/labels"]
)
def test_a_saved_run_that_lacks_an_array_or_has_another_is_refused(
    name: str, run: Path, tmp_path: Path
) -> None:
    whole = dict(np.load(run.with_name("run.npz")))
    for other in (None, np.full(3, 7, np.uint8), np.full(whole[name].shape, 77, np.uint8)):
        arrays = {**whole, name: other}
        np.savez(tmp_path / "run.npz", **{k: v for k, v in arrays.items() if v is not None})
        if other is None and name == "map/labels":
            continue  # as in older files
        if other is None or len(other) == 3 or name == "map/of_world":
            with pytest.raises(SavedError, match=NAMED):
                astray.resume(tmp_path / "run.npz")
