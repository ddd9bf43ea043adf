"""What plugins are handed to read is read-only: who writes to it is told so, by name."""

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
import pytest

import astray
from astray.errors import PluginFailed, UnknownName
from astray.plugin import (
    KINDS,
    Autonomy,
    Control,
    Estimator,
    Known,
    Metric,
    Motion,
    Reading,
    Scene,
    Sensor,
    Tracker,
    Tracks,
)
from astray.tables import RANGE, Array, Columns, Rows, Table

SENSORS = [{"kind": "ins"}, {"kind": "contacts"}]
SMALL: dict[str, Any] = {
    "name": "a",
    "sensors": SENSORS,
    "contacts": {"kind": "tracker"},
}

Write = Callable[..., None]


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    before = {family: dict(kinds) for family, kinds in KINDS.items()}
    yield
    for family, kinds in before.items():
        KINDS[family].clear()
        KINDS[family].update(kinds)


def believe_elsewhere(rows: Rows, known: Known, *_: Any) -> None:
    known.belief["x"][rows] = 5.0


def turn_back_time(rows: Rows, known: Known, *_: Any) -> None:
    known.time[rows] = 0.0


def forge_reading(rows: Rows, known: Known, *_: Any) -> None:
    known.readings["ins"]["x"][rows] = 5.0


def forge_stamp(rows: Rows, known: Known, *_: Any) -> None:
    known.readings["ins"].stamp[rows] = 5.0


def move_the_others(rows: Rows, known: Known, *_: Any) -> None:
    known.group_beliefs["a"]["x"] = 5.0


def drop_tracks(rows: Rows, known: Known, *_: Any) -> None:
    known.contacts.clear(rows)


def move_a_wall(rows: Rows, known: Known, *_: Any) -> None:
    known.map.maps[0].segments[:] = 0.0


KNOWN_WRITES = [
    believe_elsewhere,
    turn_back_time,
    forge_reading,
    forge_stamp,
    move_the_others,
    drop_tracks,
    move_a_wall,
]


def run(**changes: Any) -> None:
    sim = astray.load({"dt": 0.1, "world": {"map": "arena"}, "robots": [{**SMALL, **changes}]})
    sim.step(3)


def refused(family: str, kind: str, output: str, **changes: Any) -> None:
    with pytest.raises(PluginFailed) as caught:
        run(**changes)
    text = str(caught.value)
    assert text.startswith(f"{family} {kind!r} writes in "), text
    assert f"to what it may only read: write the result to `{output}`, or change a copy" in text
    assert "test_read_only.py:" in text


@pytest.mark.parametrize("write", KNOWN_WRITES)
def test_an_autonomy_cannot_write_to_what_is_known(write: Write) -> None:
    class Forger(Autonomy, kind="forger"):
        """Writes to what it may only read."""

        def decide(self, rows: Rows, known: Known, command: Table) -> None:
            write(rows, known)

    refused("autonomy", "forger", "command", autonomy={"kind": "forger"})


@pytest.mark.parametrize("write", KNOWN_WRITES)
def test_an_estimator_cannot_write_to_what_is_known(write: Write) -> None:
    class Forger(Estimator, kind="forger"):
        """Writes to what it may only read."""

        def estimate(self, rows: Rows, known: Known, belief: Table) -> None:
            write(rows, known)

    refused("estimator", "forger", "belief", estimator={"kind": "forger"})


def test_a_control_cannot_write_to_the_command() -> None:
    class Forger(Control, kind="forger"):
        """Writes to what it may only read."""

        def steer(self, rows: Rows, known: Known, command: Table, drive: Table) -> None:
            command["vx"][rows] = 9.0

    refused("control", "forger", "drive", control={"kind": "forger"})


def test_a_motion_cannot_write_to_the_drive() -> None:
    class Forger(Motion, kind="forger"):
        """Writes to what it may only read."""

        def move(self, rows: Rows, truth: Table, drive: Table, dt: float, steps: int) -> None:
            drive["vx"][rows] = 9.0

    refused("motion", "forger", "truth", motion={"kind": "forger"})


def move_truth(rows: Rows, scene: Scene) -> None:
    scene.truth["x"][rows] = 5.0


def move_all_truth(rows: Rows, scene: Scene) -> None:
    scene.all_truth["x"] = 5.0


def change_the_motion(rows: Rows, scene: Scene) -> None:
    scene.motion_params["max_speed"] = 5.0


def undo_collisions(rows: Rows, scene: Scene) -> None:
    scene.collisions["touching"] = False


def move_walls(rows: Rows, scene: Scene) -> None:
    scene.map.maps[0].segments[:] = 0.0


@pytest.mark.parametrize(
    "write", [move_truth, move_all_truth, change_the_motion, undo_collisions, move_walls]
)
def test_a_sensor_cannot_write_to_the_scene(write: Write) -> None:
    class Forger(Sensor, kind="forger"):
        """Writes to what it may only read."""

        measures: ClassVar[Columns] = RANGE

        def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
            write(rows, scene)

    refused("sensor", "forger", "out", sensors=[*SENSORS, {"kind": "forger"}])


def test_a_sensor_cannot_write_to_its_noise_counters() -> None:
    class Forger(Sensor, kind="forger"):
        """Writes to what it may only read."""

        measures: ClassVar[Columns] = RANGE

        def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
            self.address["tick"][rows] = 0

    refused("sensor", "forger", "out", sensors=[*SENSORS, {"kind": "forger"}])


def test_a_tracker_cannot_write_to_the_belief() -> None:
    class Forger(Tracker, kind="forger"):
        """Writes to what it may only read."""

        def track(self, rows: Rows, known: Known, contacts: Tracks) -> None:
            believe_elsewhere(rows, known)

    refused("tracker", "forger", "contacts", contacts={"kind": "forger"})


@pytest.mark.parametrize("table", ["truth", "belief"])
def test_a_metric_cannot_write_to_truth_or_belief(table: str) -> None:
    class Forger(Metric, kind="forger"):
        """Writes to what it may only read."""

        def measure(self, rows: Rows, truth: Table, belief: Table, out: Array) -> None:
            (truth if table == "truth" else belief)["x"][rows] = 5.0

    scenario = {"dt": 0.1, "robots": [SMALL], "metrics": [{"kind": "forger"}]}
    with pytest.raises(PluginFailed, match="metric 'forger' writes in measure at t = 0"):
        astray.load(scenario).step(3)


def test_what_is_read_only_follows_what_is_written() -> None:
    sim = astray.load("drift")
    group = next(iter(sim.robots.values()))
    sim.step(50)
    for name, reading in group.known.readings.items():
        assert reading.table.tobytes() == group.readings[name].table.tobytes()
    assert group.known.belief.tobytes() == group.belief.tobytes()
    assert group.scene.truth.tobytes() == group.truth.tobytes()
    group.truth["x"] = 7.0  # what users hold is theirs to write
    assert (group.scene.truth["x"] == 7.0).all()
    assert np.shares_memory(group.known.belief, group.belief)


def test_a_copy_of_a_reading_may_be_written_to() -> None:
    reading = Reading(RANGE, 2, {"ranges": (3,)}).read_only()
    assert reading.read_only() is reading
    with pytest.raises(ValueError, match="read-only"):
        reading["ranges"][:] = 1.0
    copy = reading.copy()
    copy["ranges"][:] = 1.0
    assert not reading["ranges"].any()


@pytest.mark.parametrize(
    ("holder", "old", "new"),
    [
        ("scene", "everyone", "all_truth"),
        ("scene", "contacts", "collisions"),
        ("known", "others", "group_beliefs"),
        ("motion", "deck", "noise_workspace"),
    ],
)
def test_an_old_name_is_an_error_that_gives_the_new_one(holder: str, old: str, new: str) -> None:
    group = astray.load({"dt": 0.1, "robots": [SMALL]}).robots["a"]
    with pytest.raises(AttributeError, match=f"has no attribute {old!r}; it is called {new!r} now"):
        getattr(getattr(group, holder), old)


def test_a_wrong_column_of_a_reading_is_answered_with_those_there_are() -> None:
    reading = Reading(RANGE, 2, {"ranges": (3,)})
    with pytest.raises(UnknownName, match="unknown column 'rangee'; did you mean 'range'"):
        reading["rangee"]
    assert repr(reading) == (
        "Reading(2 rows: fresh, stamp, range, min_range, max_range, cone, ranges (3,))"
    )
