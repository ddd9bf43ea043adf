"""Tracking of other robots: consistency, frames, identities and the lifecycle of tracks."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import astray
from astray import Autonomy
from astray.robot.tracking.constant_velocity import XX, YY, DetectionSensor, polar_to_map
from astray.robot.tracking.ego_pose import pose_at, record_acceleration
from astray.robot.tracking.tracker import MEMORY
from astray.tables import STATE, Array, table

WORLDS = 100
SENSOR = {"kind": "contacts", "rate": 10, "range_sd": 0.05, "bearing_sd": 0.02, "max_range": 40.0}
WATCHER: dict[str, Any] = {
    "name": "watcher",
    "sensors": [{"kind": "wheels", "rate": 10}, SENSOR],
    "contacts": {"kind": "tracker", "accel_density": 0.1},
}


def load(*robots: Any, worlds: Any = 1, metrics: Any = (), **rest: Any) -> astray.Sim:
    kinds = [{"kind": m} if isinstance(m, str) else m for m in metrics]
    scenario = {"dt": 0.1, "seed": 8, "robots": list(robots), "metrics": kinds, **rest}
    return astray.load(scenario, worlds=worlds)


# Polar to Cartesian.


@pytest.mark.parametrize("bearing_sd", [0.02, 0.3])
def test_the_conversion_is_unbiased_and_knows_its_covariance(bearing_sd: float) -> None:
    rng = np.random.default_rng(4)
    n, distance, bearing, range_sd = 100_000, 5.0, 0.7, 0.2
    ranges = distance + range_sd * rng.normal(size=n)
    bearings = bearing + bearing_sd * rng.normal(size=n)
    shrink, mount = math.exp(-0.5 * bearing_sd**2), (1.0, 2.0, 0.5)
    sensor = DetectionSensor(mount, range_sd, 0.0, 1.0 / shrink, shrink**4, 0.0, 0.0, 0)
    measured = zip(ranges, bearings, strict=True)
    found = np.array([polar_to_map(r, b, mount, sensor) for r, b in measured])
    true = np.array([1.0 + distance * math.cos(1.2), 2.0 + distance * math.sin(1.2)])
    errors = found[:, :2] - true
    sd = errors.std(axis=0)
    assert np.abs(errors.mean(axis=0) / sd).max() < 4 / math.sqrt(n)
    spread = np.cov(errors.T)
    claimed = found[:, 2:].mean(axis=0)
    assert claimed[0] + claimed[2] == pytest.approx(np.trace(spread), rel=0.02)
    if bearing_sd < 0.1:  # else it turns with what was measured, and its mean is rounder
        assert claimed == pytest.approx(spread[[0, 0, 1], [0, 1, 1]], abs=0.02 * np.trace(spread))
    plain = distance * np.cos(bearings + 0.5) - distance * math.cos(1.2)
    if bearing_sd > 0.1:  # and the plain conversion, the test could tell, is not
        assert abs(plain.mean()) / sd[0] > 10 / math.sqrt(n)


# Consistency.

MOVING = {
    "name": "target",
    "start": {"x": 5.0, "y": 1.0},
    "motion": {"kind": "integrator", "max_speed": 100.0},
}
BAND = (4 - 4 * math.sqrt(8 / WORLDS) / 2, 4 + 4 * math.sqrt(8 / WORLDS) / 2)  # ± 2 sd of a mean


def drive_at_random(sim: astray.Sim, seconds: float, density: float = 0.1) -> list[Array]:
    """Let the targets' velocities walk, as trackers expect; NEES of all worlds every 2 s."""
    rng = np.random.default_rng(6)
    target = sim.robots["target"]
    velocity = np.zeros((2, len(target.truth)))
    evaluators = sim.robots["watcher"].evaluators
    evaluator = next(e for e in evaluators if e.metric.kind == "contacts_nees")
    found = []
    for k in range(round(seconds / sim.dt)):
        velocity += density * math.sqrt(sim.dt) * rng.normal(size=velocity.shape)
        target.drive(velocity[0], 0.0, velocity[1])
        sim.step()
        if k % 20 == 19 and k > 60:
            found.append(evaluator.values.copy())
    return found


FAR = {"kind": "contacts_nees", "within": 50.0, "cutoff": 20.0}


def test_with_a_matched_model_tracks_pass_nees() -> None:
    sim = load(WATCHER, MOVING, worlds=WORLDS, metrics=[FAR])
    found = np.array(drive_at_random(sim, 30.0))
    means = np.nanmean(found, axis=1)
    assert BAND[0] < means.mean() < BAND[1]
    assert np.mean((means < BAND[0] - 0.6) | (means > BAND[1] + 0.6)) < 0.2


def test_with_a_wrong_model_tracks_fail_nees() -> None:
    sim = load(WATCHER, MOVING, worlds=WORLDS, metrics=[FAR])
    sim.robots["watcher"].set("contacts.range_sd", 0.2)  # four times what the datasheet says
    sim.robots["watcher"].set("contacts.bearing_sd", 0.06)
    assert np.nanmean(drive_at_random(sim, 15.0)) > 1.5 * BAND[1]


SLIPPING = {
    **WATCHER,
    "sensors": [{"kind": "wheels", "rate": 10, "slip_density": 0.005, "ticks": 0}, SENSOR],
    "estimator": {"kind": "odometry"},
    "autonomy": {"kind": "scripted", "steps": [{"lasts": 1e6, "vx": 0.5, "wz": 0.1}]},
}


def test_the_covariance_of_a_track_includes_that_of_its_observer() -> None:
    sim = load(SLIPPING, MOVING, worlds=WORLDS, metrics=[FAR])
    mean = np.nanmean(drive_at_random(sim, 30.0))
    assert BAND[0] < mean < BAND[1]
    own = sim.robots["watcher"].belief["cov"][:, 0, 0]
    tracks = sim.robots["watcher"].contacts.tracks
    published = tracks["cov"][:, :, 0, 0][tracks["confirmed"]]
    assert (
        published.mean() > own.mean() > 4 * 0.05**2
    )  # most of the variance of a track is the observer's


@pytest.mark.parametrize("slip", [0.01, 0.02])
@pytest.mark.parametrize("speed", [0.0, 0.5])
def test_tracks_stay_consistent_with_a_lost_heading(slip: float, speed: float) -> None:
    """An error of the heading draws tracks nearer, too; without that NEES would be 5 to 15."""
    wheels = {**SLIPPING["sensors"][0], "slip_density": slip}
    tight = {"kind": "scripted", "steps": [{"lasts": 1e6, "vx": speed, "wz": 1.0}]}
    watcher = {**SLIPPING, "sensors": [wheels, SENSOR], "autonomy": tight}
    sim = load(watcher, MOVING, worlds=WORLDS, metrics=[FAR])
    mean = np.nanmean(drive_at_random(sim, 20.0))
    assert BAND[0] < mean < BAND[1]


def test_late_detections_are_placed_from_where_the_robot_then_was() -> None:
    late = {**SENSOR, "latency": 0.5}
    turning = {**SLIPPING, "autonomy": {"kind": "scripted", "steps": [{"lasts": 1e6, "wz": 1.0}]}}
    sim = load(
        {**turning, "sensors": [turning["sensors"][0], late]}, MOVING, worlds=WORLDS, metrics=[FAR]
    )
    mean = np.nanmean(drive_at_random(sim, 20.0))
    assert sim.robots["watcher"].contacts.stamp == pytest.approx(sim.time - 0.5)
    assert BAND[0] < mean < BAND[1]


# Detections between two readings of the wheels.

TURNS = [{"lasts": 0.7, "vx": 0.5, "wz": 1.0}, {"lasts": 0.7, "vx": 0.1, "wz": -1.0}]
WEAVING = {"kind": "scripted", "steps": TURNS * 20}
CIRCLING = {"kind": "scripted", "steps": [{"lasts": 1e6, "vx": 0.5, "wz": 1.0}]}
SHARP = {**SENSOR, "range_sd": 0.02, "bearing_sd": 0.005}
NOBODY = {"kind": "gospa", "part": "nobody", "within": 50.0}  # cut-off 1 m: √½ for a false track


def between_wheel_readings(sensor: Any, rate: float, autonomy: Any, latency: float) -> astray.Sim:
    """Each detection is 0.05 s after a tick of the wheels at 10 Hz."""
    wheels = {**SLIPPING["sensors"][0], "rate": rate, "slip_density": 0.001}
    timed = {**sensor, "offset": 0.05, "latency": latency}
    watcher = {**SLIPPING, "sensors": [wheels, timed], "autonomy": autonomy}
    return load(watcher, MOVING, worlds=WORLDS, metrics=[FAR, NOBODY], dt=0.05)


@pytest.mark.parametrize("latency", [0.0, 0.2])
@pytest.mark.parametrize(("sensor", "rate"), [(SHARP, 10.0), (SENSOR, 5.0), (SENSOR, 10.0)])
def test_tracks_of_a_weaving_robot_are_consistent_with_slow_wheels(
    sensor: Any, rate: float, latency: float
) -> None:
    """Without the error of the own pose between readings NEES is up to 12, with false tracks."""
    sim = between_wheel_readings(sensor, rate, WEAVING, latency)
    mean = np.nanmean(drive_at_random(sim, 20.0))
    assert BAND[0] < mean < BAND[1]
    nobody = 2.0 * sim.robots["watcher"].evaluators[1].values ** 2  # false tracks of each robot
    assert nobody.mean() < 0.1


def test_tracks_of_a_robot_that_drives_steadily_are_no_less_certain_with_slow_wheels() -> None:
    """It does not accelerate, so that it knows its pose between the readings."""
    variances = []
    for rate in (20.0, 10.0):
        sim = between_wheel_readings(SHARP, rate, CIRCLING, 0.0)
        mean = np.nanmean(drive_at_random(sim, 20.0))
        assert BAND[0] < mean < BAND[1]
        tracks = sim.robots["watcher"].tracker.arrays["kept"]
        seen = tracks["number"] > 0
        variances.append(np.median(tracks["cov"][seen][:, XX] + tracks["cov"][seen][:, YY]))
    assert variances[1] < 1.1 * variances[0]


@pytest.mark.parametrize("stamp", [0.25, 0.3, 0.4])
def test_the_error_of_an_extrapolated_pose_is_that_of_the_last_acceleration(stamp: float) -> None:
    accel, turn_accel = 0.8, -3.0
    memory, belief = table(MEMORY, 1)[0], table(STATE, 1)[0]
    for end in (0.1, 0.2):  # the believed velocity is the mean since the last belief
        belief.stamp, belief.x, belief.yaw = end, 0.5 * accel * end**2, 0.5 * turn_accel * end**2
        belief.vx, belief.wz = accel * (end - 0.05), turn_accel * (end - 0.05)
        record_acceleration(memory, belief)
    assert memory.ego_accel_square == pytest.approx([accel**2, 0.0, turn_accel**2])
    pose, gap = pose_at(np.zeros((0, 4)), memory, belief, stamp)
    assert gap * abs(turn_accel) == pytest.approx(abs(0.5 * turn_accel * stamp**2 - pose[2]))


# Identities and numbers.

PASSING = {  # along a line that a wall hides for 2 s, at 1 m/s
    "name": "passing",
    "start": {"x": -5.0, "y": 4.0},
    "autonomy": {"kind": "scripted", "steps": [{"lasts": 1e6, "vx": 1.0}]},
    "motion": {"kind": "integrator", "max_speed": 2.0},
}
WALL = {"map": {"walls": [[[-0.5, 2], [0.5, 2]]]}}  # hides x from −1 to 1 at y = 4 from the origin


@pytest.mark.parametrize("identified", [True, False])
def test_a_track_keeps_its_number_through_two_seconds_behind_a_wall(identified: bool) -> None:
    sensor = {**SENSOR, "identified": identified, "detection": 0.9, "false_alarms": 0.3}
    watcher = {**WATCHER, "sensors": [sensor]}
    sim = load(watcher, PASSING, worlds=50, world=WALL, interactions=[])
    group = sim.robots["watcher"]
    sim.run(3.5)
    before = [group.contacts.of(row) for row in range(50)]
    sim.run(1.8)  # it is behind the wall from 4 s to 6 s
    hidden = [group.contacts.of(row) for row in range(50)]
    sim.run(2.7)
    after = [group.contacts.of(row) for row in range(50)]
    truth = sim.robots["passing"].truth["x"]
    kept = 0
    for row in range(50):
        number = before[row]["number"][np.abs(before[row]["y"] - 4.0).argmin()]
        assert number in hidden[row]["number"]
        assert hidden[row]["unseen"][hidden[row]["number"] == number][0] >= 1.2
        same = after[row][after[row]["number"] == number]
        kept += len(same) == 1 and abs(same["x"][0] - truth[row]) < 0.5 and same["unseen"][0] < 0.5
        if identified and len(same):
            assert same["identity"][0] == 0  # "passing" comes before "watcher"
    assert kept >= 48


@pytest.mark.parametrize(("accel", "least"), [(0.1, 195), (0.5, 165)])
def test_false_alarms_seldom_capture_a_hidden_track(accel: float, least: int) -> None:
    """Two seconds behind a wall, with 7 false alarms in 1000 m²; by one alone half would be, at 0.5."""
    sensor = {**SENSOR, "identified": False, "false_alarms": 5.0, "max_range": 15.0}
    kind = {"kind": "tracker", "accel_density": accel, "hits": 4, "looks": 5}
    watcher = {**WATCHER, "sensors": [{**sensor, "detection": 0.9}], "contacts": kind}
    sim = load(watcher, PASSING, worlds=200, world=WALL, interactions=[])
    group, truth = sim.robots["watcher"], sim.robots["passing"].truth

    def nearest(row: int) -> int:
        tracks = group.contacts.of(row)
        error = np.hypot(tracks["x"] - truth["x"][row], tracks["y"] - truth["y"][row])
        return int(tracks["number"][error.argmin()]) if error.min(initial=np.inf) < 0.5 else -1

    sim.run(3.5)
    before = [nearest(row) for row in range(200)]
    sim.run(4.5)  # it is behind the wall from 4 s to 6 s
    kept = sum(number == nearest(row) > 0 for row, number in enumerate(before))
    assert kept >= least


def test_two_observers_have_different_tracks_of_one_robot() -> None:
    watchers = {**WATCHER, "count": 2, "start": {"spread": 1.0}, "sensors": [SENSOR]}
    sim = load(watchers, MOVING, worlds=30)
    sim.run(5.0)
    group, truth = sim.robots["watcher"], sim.robots["target"].truth
    assert sim.environment.scene.robot_numbers[group.scene.first_row] == 1
    differences = []
    for world in range(30):
        tracks = [group.contacts.of(2 * world + k) for k in range(2)]
        of_target = [t[t["identity"] == 0][0] for t in tracks]
        for t in of_target:
            error = np.hypot(t["x"] - truth["x"][world], t["y"] - truth["y"][world])
            assert 0.0 < error < 4 * math.sqrt(t["cov"][0, 0] + t["cov"][1, 1])
        differences.append(of_target[0]["x"] - of_target[1]["x"])
    assert np.all(np.array(differences) != 0.0)


def test_tracks_are_in_the_map_by_the_belief_of_the_observer() -> None:
    watcher = {**WATCHER, "estimator": {"kind": "odometry"}}
    sim = load(watcher, MOVING)
    sim.robots["watcher"].believe(x=10.0, y=-3.0, yaw=math.pi / 2)
    sim.run(3.0)
    track = sim.robots["watcher"].contacts.of(0)[0]
    assert (track["x"], track["y"]) == pytest.approx((10.0 - 1.0, -3.0 + 5.0), abs=0.2)


def test_a_robot_that_is_often_confused_with_others_is_still_identified() -> None:
    sensor = {**SENSOR, "confusion": 0.2}
    sim = load(
        {**WATCHER, "sensors": [sensor]},
        MOVING,
        {**MOVING, "name": "u", "start": {"x": -4.0}},
        worlds=50,
    )
    right = total = 0
    for _ in range(10):
        sim.run(1.0)
        for row in range(50):
            for t in sim.robots["watcher"].contacts.of(row):
                right += t["identity"] == (0 if t["x"] > 0 else 1)
                total += 1
    assert total > 900
    assert right / total > 0.95


# Lifecycle.


def test_most_false_alarms_are_deleted_before_they_are_confirmed() -> None:
    sensor = {**SENSOR, "max_range": 10.0, "false_alarms": 1.0}
    sim = load({**WATCHER, "sensors": [sensor]}, worlds=50)
    group, confirmed = sim.robots["watcher"], []
    for _ in range(20):
        sim.run(1.0)
        confirmed.append(group.contacts.table["count"].mean())
    # 200 alarms per robot; a tentative track of a single one lasts for three looks.
    assert np.mean(confirmed) < 0.5
    assert group.tracker.memory["numbered"].mean() < 10


def test_a_track_of_a_removed_robot_is_kept_for_the_coast_time() -> None:
    sim = load({**WATCHER, "contacts": {"kind": "tracker", "coast": 2.0}}, MOVING)
    sim.run(2.0)
    contacts = sim.robots["watcher"].contacts
    assert len(contacts.of(0)) == 1
    sim.robots["target"].remove()
    sim.run(1.9)
    assert contacts.of(0)["unseen"] == pytest.approx(1.9)
    sim.run(0.3)
    assert len(contacts.of(0)) == 0
    assert np.isnan(contacts["x"]).all()


def test_a_track_is_confirmed_by_enough_hits() -> None:
    sim = load({**WATCHER, "contacts": {"kind": "tracker", "hits": 4, "looks": 4}}, MOVING)
    contacts = sim.robots["watcher"].contacts
    counts = []
    for _ in range(4):
        counts.append(int(contacts.table["count"][0]))
        sim.step()
    assert counts == [0, 0, 0, 1]
    assert contacts["number"][0, 0] == 1
    assert contacts["age"][0, 0] == pytest.approx(0.4)


# Sensors, autonomy, logs and errors.


def test_two_sensors_update_the_same_tracks_and_each_is_a_source() -> None:
    ahead = {**SENSOR, "name": "ahead", "field_of_view": math.pi}
    behind = {**ahead, "name": "behind", "yaw": math.pi}
    sim = load(
        {**WATCHER, "sensors": [ahead, behind]},
        MOVING,
        {**MOVING, "name": "u", "start": {"x": -4.0}},
    )
    sim.run(3.0)
    group = sim.robots["watcher"]
    tracks = group.contacts.of(0)
    sources = [group.tracker.sources[t["source"]] for t in tracks]
    assert sources == ["ahead" if t["x"] > 0 else "behind" for t in tracks]
    assert len(tracks) == 2


def test_autonomy_and_log_get_the_tracks(tmp_path: Path) -> None:
    class Chase(Autonomy, kind="chase"):
        """Drives towards its first track."""

        def decide(self, rows: Any, known: Any, command: Any) -> None:
            tracks = known.contacts.tracks[rows, 0]
            here = known.belief[rows]
            aim = np.arctan2(tracks["y"] - here["y"], tracks["x"] - here["x"]) - here["yaw"]
            seen = tracks["confirmed"]
            command["vx"][rows] = np.where(seen, 0.5, 0.0)
            command["wz"][rows] = np.where(seen, np.arctan2(np.sin(aim), np.cos(aim)), 0.0)

    sim = load({**WATCHER, "autonomy": {"kind": "chase"}}, MOVING, metrics=["gospa"])
    log = sim.run(8.0, log=0.5)
    assert np.hypot(sim.truth["x"][0] - 5.0, sim.truth["y"][0] - 1.0) < 2.0
    assert log["watcher"].contacts is not None
    assert log["watcher"].contacts.shape == (17, 1, 16)
    assert log["target"].contacts is None
    assert log["watcher"].contacts["confirmed"][-1].sum() == 1
    sim.write(log, tmp_path / "run")
    with np.load(tmp_path / "run" / "log.npz") as saved:
        np.testing.assert_array_equal(saved["watcher/tracks/x"], log["watcher"].contacts["x"])
    assert log["watcher"].metrics["gospa"]["contacts"][-1, 0] < 0.2


def test_the_truth_of_other_robots_is_in_the_scene_and_not_in_what_is_known() -> None:
    sim = load(WATCHER, MOVING, {**MOVING, "name": "u"}, worlds=2)
    group = sim.robots["watcher"]
    others = group.scene.other_robots(1)
    assert others["world"].tolist() == [1, 1]
    assert len(others) == 2
    assert not hasattr(group.known, "other_robots")


def test_a_tracker_without_a_sensor_that_detects_is_refused() -> None:
    with pytest.raises(astray.ScenarioError, match="needs a sensor that detects others"):
        load({"name": "a", "contacts": {"kind": "tracker"}})
    with pytest.raises(astray.ScenarioError, match="no robot has a tracker"):
        load({"name": "a"}, metrics=["gospa"])
    with pytest.raises(astray.ScenarioError, match="4 hits cannot come in 3 looks"):
        load({**WATCHER, "contacts": {"kind": "tracker", "hits": 4, "looks": 3}})
