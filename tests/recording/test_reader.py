"""Recordings read back as tables: they equal what the run had."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import astray
from astray.datasets import read_logs
from astray.errors import RecordingError, UnknownName
from astray.recording.mcap.reader import McapReader
from astray.recording.message_tables import odometry_states
from astray.recording.recorder import record
from astray.ros.messages.columns import MessageColumns
from astray.ros.messages.types import make_message, typestore
from astray.viewer.page.sources.mcap import read_recorded
from astray.world.maps import geojson_text
from support.recordings import scenario


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[astray.Log, astray.Recording]:
    """A run as a log of every tick, and as a recording."""
    path = tmp_path_factory.mktemp("pair") / "run.mcap"
    sim = astray.load(scenario())
    with record(sim, path):
        sim.robots["rover"].drive(0.4, 0.3)
        log = sim.run(2.0, log=0.01)
        sim.robots["rover"].place(x=1.0, robots=[1])
        sim.run(0.1)
    return log, astray.read_recording(path)


def test_what_was_run_is_there(pair: tuple[astray.Log, astray.Recording]) -> None:
    _, recording = pair
    assert (recording.seed, recording.worlds, recording.dt) == (4, [0], 0.01)
    assert recording.duration == pytest.approx(2.1)
    assert recording.scenario["robots"][0]["name"] == "rover"
    assert recording.map is not None
    assert len(recording.map) == 4
    assert list(recording.robots) == ["rover_0", "rover_1"]
    assert [event.kind for event in recording.events] == ["command", "place"]
    assert recording.collisions == []


@pytest.mark.parametrize("row", [0, 1])
def test_truth_and_beliefs_are_those_of_the_run(
    pair: tuple[astray.Log, astray.Recording], row: int
) -> None:
    log, recording = pair
    track = recording.robots[f"rover_{row}"]
    group = log["rover"]
    for found, series in (
        (track.truth, group.truth),
        (track.belief, group.belief),
        (track.rivals["inertial"], group.rivals["inertial"]),
    ):
        kept = series[::2, row]  # 50 Hz of 100
        np.testing.assert_allclose(found["stamp"][: len(kept)], kept["stamp"], atol=1e-9)
        for column in ("x", "y"):
            np.testing.assert_array_equal(found[column][: len(kept)], kept[column])
        np.testing.assert_allclose(found["yaw"][: len(kept)], kept["yaw"], atol=1e-15)
        np.testing.assert_array_equal(found["cov"][: len(kept)], kept["cov"])
    np.testing.assert_array_equal(track.truth["vx"][:101], group.truth["vx"][::2, row])


def test_readings_are_those_of_the_run(pair: tuple[astray.Log, astray.Recording]) -> None:
    log, recording = pair
    found, series = recording.robots["rover_1"].readings, log["rover"].readings
    imu = series["imu"][:, 1]
    for column in ("wz", "ax", "ay", "az"):
        np.testing.assert_array_equal(found["imu"][column][:201], imu[column])
    wheels = series["wheels"][::2, 1]
    np.testing.assert_array_equal(found["wheels"]["angle"][:101], wheels["angle"])
    ranges = log["rover"].bulk["lidar"]["ranges"][::10, 1]
    seen = np.isfinite(ranges) & (ranges >= 0.05)
    np.testing.assert_allclose(
        found["lidar"]["ranges"][:21][seen], ranges[seen], rtol=1e-6
    )  # a scan has single precision
    compass = series["compass"][::20, 1]
    np.testing.assert_array_equal(found["compass"]["yaw"][:11], compass["yaw"])
    assert recording.robots["rover_1"].sensors == {
        "wheels": "wheels",
        "imu": "imu",
        "lidar": "lidar",
        "compass": "compass",
    }


def test_commands_and_what_is_true_of_sensors_come_back(
    pair: tuple[astray.Log, astray.Recording],
) -> None:
    _, recording = pair
    track = recording.robots["rover_0"]
    assert track.commands["vx"][-1] == 0.4
    assert track.commands["wz"][-1] == pytest.approx(0.3)
    true = track.sensor_truth["wheels"]
    sim = astray.load(scenario())
    memory = sim.robots["rover"].pipelines["wheels"].sensor.memory
    np.testing.assert_array_equal(true["radius_error"][-1], memory["radius_error"][0])


def test_events_make_the_same_run_again(pair: tuple[astray.Log, astray.Recording]) -> None:
    _, recording = pair
    again = astray.load(recording.scenario, seed=recording.seed)
    again.replay(recording.events)
    again.run(2.1)
    truth = recording.robots["rover_1"].truth[-1]
    assert (again.truth["x"][1], again.truth["y"][1]) == (truth["x"], truth["y"])


def test_a_robot_that_was_spawned_later_has_a_shorter_series(tmp_path: Path) -> None:
    sim = astray.load(scenario(count=1, capacity=2))
    with record(sim, tmp_path / "run.mcap"):
        sim.run(1.0)
        sim.robots["rover"].spawn(x=2.0)
        sim.run(0.5)
        sim.robots["rover"].remove(robots=[0])
        sim.run(0.5)
    robots = astray.read_recording(tmp_path / "run.mcap").robots
    first, second = robots["rover_0"].truth["stamp"], robots["rover_1"].truth["stamp"]
    assert (first[0], first[-1]) == (0.0, pytest.approx(1.5))
    assert (second[0], second[-1]) == (pytest.approx(1.02), pytest.approx(2.0))


def test_every_world_has_its_own_map(tmp_path: Path) -> None:
    sim = astray.load(scenario(count=1), worlds=[3, 11, 12, 13, 14])
    other, third = ({"walls": [[[-k, -4], [-k, 4]]]} for k in (3, 2))
    sim.replace_map(other, worlds=[11, 13])
    sim.replace_map(third, worlds=[12])
    sim.clear_map(worlds=[14])
    sim.step()
    with record(sim, tmp_path / "run.mcap"):
        sim.run(0.1)
    recording = astray.read_recording(tmp_path / "run.mcap")
    for world in (3, 11, 12, 13):
        found = recording.map_of(world)
        assert found is not None
        recorded_map, original = geojson_text(found), geojson_text(sim.map(world))
        assert recorded_map.splitlines()[1:] == original.splitlines()[1:]  # without the name
    assert not recording.map_of(14)
    logs = {log.name: log.map for log in read_logs(tmp_path / "run.mcap")}
    assert [len(map or ()) for map in logs.values()] == [4, 1, 1, 1, 0]


def test_a_robot_alone_has_plain_names(tmp_path: Path) -> None:
    sim = astray.load(scenario(count=1))
    with record(sim, tmp_path / "run.mcap"):
        sim.run(0.1)
    assert "/scan" in McapReader(tmp_path / "run.mcap").topics()
    assert list(astray.read_recording(tmp_path / "run.mcap").robots) == ["rover"]


def test_what_cannot_be_read_says_why(tmp_path: Path) -> None:
    sim = astray.load(scenario())
    path = tmp_path / "run.mcap"
    with record(sim, path):
        sim.run(0.3)
    data = path.read_bytes()
    for broken, why in (
        (data[:-100], "recover"),
        (data[:2000] + b"\xff" * 400 + data[2400:], "damaged|makes no sense|recover"),
        (b"something else", "not an MCAP file"),
        (b"", "not an MCAP file"),
    ):
        path.write_bytes(broken)
        with pytest.raises(RecordingError, match=why):
            astray.read_recording(path).robots["rover_0"].truth  # noqa: B018
    with pytest.raises(RecordingError, match="No such file"):
        astray.read_recording(tmp_path / "none.mcap")


def test_what_robots_believe_of_each_other_is_read_back(tmp_path: Path) -> None:
    contacts = {"kind": "contacts", "rate": 10, "latency": 0.1, "false_alarms": 0.5}
    robot = {
        "name": "rover",
        "count": 3,
        "start": {"x": 1.0, "y": 1.0, "spread": 3.0},
        "sensors": [{"kind": "wheels"}, contacts],
        "contacts": {"kind": "tracker"},
        "autonomy": {"kind": "waypoints", "points": [[4, 4], [0, 4]], "loop": True},
    }
    sim = astray.load({"seed": 2, "dt": 0.01, "robots": [robot]})
    believed: dict[float, Any] = {}
    with astray.record(sim, tmp_path / "run.mcap"):
        for _ in range(40):
            sim.step(10)
            tracks = sim.robots["rover"].contacts
            believed[round(float(tracks.stamp[1]), 6)] = tracks.tracks[1].copy()
    found = astray.read_recording(tmp_path / "run.mcap").robots["rover_1"].contacts
    shared = [k for k, t in enumerate(found.stamp) if round(float(t), 6) in believed]
    assert len(shared) > 30
    for k in shared:
        for column in found.tracks.dtype.names:
            original = believed[round(float(found.stamp[k]), 6)][column]
            assert np.array_equal(
                found.tracks[column][k], original, equal_nan=original.dtype.kind == "f"
            )
    assert found.tracks["confirmed"][-1].sum() >= 2
    whole = read_recorded(tmp_path / "run.mcap")  # as the page replays it
    last = whole.tracks[-1]
    numbers = set(found.tracks["number"][-1][found.tracks["confirmed"][-1]].tolist())
    assert numbers == {int(t[1]) for t in last if t[0] == 1 and t[1] > 0}


def test_a_recording_and_its_robots_say_what_is_in_them(
    pair: tuple[astray.Log, astray.Recording],
) -> None:
    _, recording = pair
    assert re.fullmatch(
        r"Recording\('.*run.mcap': '.*', 2.1 s, seed 4; robots: rover_0, rover_1\)", repr(recording)
    )
    assert repr(recording.robots["rover_0"]) == (
        "RecordedRobot('rover_0'; beliefs: belief, inertial; sensors: wheels, imu, lidar, compass)"
    )


def test_a_wrong_name_is_answered_with_the_names_there_are(
    pair: tuple[astray.Log, astray.Recording],
) -> None:
    _, recording = pair
    robot = recording.robots["rover_0"]
    for ask, answer in (
        (lambda: recording.robots["rover_2"], "unknown robot 'rover_2'; did you mean 'rover_1'?"),
        (lambda: robot.readings["ima"], "unknown sensor 'ima'; did you mean 'imu'?"),
        (lambda: robot.rivals["inertia"], "unknown rival 'inertia'; did you mean 'inertial'?"),
        (lambda: robot.sensor_truth["wheel"], "unknown sensor 'wheel'; did you mean 'wheels'?"),
        (lambda: robot.times("scam"), "unknown topic 'scam'; did you mean 'scan'?"),
    ):
        with pytest.raises(UnknownName) as caught:
            ask()
        assert answer in str(caught.value)


@pytest.mark.parametrize("length", [0.5, 1.0, 2.0])
def test_a_heading_is_that_of_a_quaternion_of_any_length(length: float) -> None:
    kind = "geometry_msgs/msg/PoseStamped"
    q = {"z": length * np.sin(1.0), "w": length * np.cos(1.0)}
    message = typestore().serialize_cdr(make_message(kind, {"pose": {"orientation": q}}), kind)
    assert odometry_states(MessageColumns(kind, [bytes(message)], [0]))["yaw"] == pytest.approx(2.0)
