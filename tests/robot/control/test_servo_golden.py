"""A p3dx without odometry error moves as the one that was recorded from MobileSim.

MobileSim has cycles of 100 ms. It ramps speeds by how long a cycle really took, moves by 100 ms
whatever it took, and within a cycle goes straight on along the heading it had. So the ramps are
taken from the recording, time is counted in its cycles, and where it went on a bend is reckoned
from our speeds by its rule; by itself a robot here follows the arc.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import astray
from astray.engine.event_queue import Event
from astray.pioneer.mobilesim import odometry_errors
from astray.pioneer.models import find_model
from astray.tables import Array
from support.paths import DATA

RECORDED = DATA / "pioneer"

CYCLE = 0.1  # s
ROUNDING = 1.0  # mm/s and degrees per second, of what was recorded
TRUNCATED = 1.0  # mm

pytestmark = pytest.mark.skipif(
    not RECORDED.is_dir(), reason="the recordings of MobileSim are not in ../shared/data/pioneer"
)


@dataclass
class Recording:
    """What a robot did, cycle by cycle from its first move on, and how fast it sped up and down."""

    pose: Array  # (cycles, 3) mm and degrees from where it began
    speed: Array  # (cycles,) mm/s
    turn: Array  # (cycles,) degrees per second

    def ramp(self, speeds: Array, up: bool) -> float:
        """The change per second of a ramp, in the unit of the speeds; its last step is cut."""
        steps = np.diff(np.abs(speeds))
        steps = steps[steps > ROUNDING] if up else -steps[steps < -ROUNDING]
        return float(steps[:-1].mean() / CYCLE)


def read(name: str) -> Recording:
    poses, speeds, turns = [], [], []
    true: list[int] | None = None
    for line in (RECORDED / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record.get("id") == 0x62:
            true = record["true"]
        elif record.get("id") == 0x32 and true is not None:
            poses.append((true[0], true[1], true[3]))
            speeds.append(0.5 * (record["lv"] + record["rv"]))
            turns.append(record["rotvel10"] / 10)
    pose = np.array(poses, float) - poses[0]
    moved = int(np.flatnonzero(np.abs(pose).any(1))[0])
    return Recording(pose[moved:], np.array(speeds)[moved:], np.array(turns)[moved:])


def drive(
    cycles: int, commands: dict[int, dict[str, Any]], lag: float | None = None
) -> tuple[Array, Array]:
    """Our poses (cycles, 3) and speeds (cycles, 2), m and rad, of commands at some cycles."""
    model = find_model("p3dx")
    model = odometry_errors(model, "none")
    robot = {"name": "robot", **model.robot}
    if lag is not None:
        robot["motion"] = {**robot["motion"], "lag": lag}
    sim = astray.load({"dt": 0.01, "robots": [robot]})
    limits = {"turn_accel": model.turn_accel, "turn_decel": model.turn_decel}
    limits |= {"accel": model.accel, "decel": model.decel}
    limits |= {"speed": model.default_speed, "turn": model.default_turn}
    for cycle, values in commands.items():
        values = {"mode": "servo", **limits, **values}
        sim.post(Event("command", "robot", values=values, step=cycle * 10))
    poses, speeds = [], []
    for _ in range(cycles):
        sim.step(10)
        s = sim.truth[0]
        assert sim.belief["x"][0] == pytest.approx(s.x, abs=5e-4)
        assert sim.belief["y"][0] == pytest.approx(s.y, abs=5e-4)
        poses.append((s.x, s.y, s.yaw))
        speeds.append((s.vx, s.wz))
    return np.array(poses), np.array(speeds)


def in_cycles(speeds: Array) -> Array:
    """Where MobileSim's rule goes at some speeds: (cycles, 3) mm and degrees."""
    heading = np.concatenate([[0.0], np.cumsum(speeds[:, 1] * CYCLE)])
    path_length = speeds[:, 0] * CYCLE * 1000
    x, y = (np.cumsum(path_length * f(heading[:-1])) for f in (np.cos, np.sin))
    return np.stack([x, y, np.degrees(heading[1:])], axis=1)


def follows(simulated: Array, reference: Array) -> None:
    """Each of our speeds lies among those that were recorded from a cycle before to one after."""
    n = min(len(simulated), len(reference))
    padded = np.concatenate([[0.0], reference[:n], reference[n - 1 : n]])
    around = np.stack([padded[:n], padded[1 : n + 1], padded[2 : n + 2]])
    assert n > 30
    assert (simulated[:n] >= around.min(0) - ROUNDING).all()
    assert (simulated[:n] <= around.max(0) + ROUNDING).all()


def first_braking(speeds: Array) -> int:
    """The cycle from which on a recorded speed falls to 0."""
    top = np.abs(speeds).max()
    return int(np.flatnonzero(np.abs(speeds) > top - 2 * ROUNDING)[-1]) + 1


def test_vel_400_and_0() -> None:
    recorded = read("b_vel400")
    end = first_braking(recorded.speed)
    assert end == 40  # it was sent 4.0 s after the first command
    accel, decel = recorded.ramp(recorded.speed, True), recorded.ramp(recorded.speed, False)
    assert (accel, decel) == pytest.approx((300.0, 600.0), rel=0.03)
    limits = {"accel": accel / 1000, "decel": decel / 1000}
    poses, speeds = drive(60, {0: {"vx": 0.4, **limits}, end: {**limits}})
    follows(speeds[:, 0] * 1000, recorded.speed)
    x, y, heading = recorded.pose[-1]
    assert poses[-1, 0] * 1000 == pytest.approx(x + TRUNCATED / 2, abs=2.0)
    assert (poses[-1, 1], poses[-1, 2]) == (y, heading) == (0.0, 0.0)


def test_head_90_and_dhead_minus_45() -> None:
    recorded = read("d_head90")
    back = int(np.flatnonzero(recorded.turn < -ROUNDING)[0])
    assert back == 69
    poses, speeds = drive(130, {0: {"heading": math.pi / 2}, back: {"heading": math.pi / 4}})
    turn = np.degrees(speeds[:, 1])
    follows(turn[:back], recorded.turn[:back])
    follows(turn[back:], recorded.turn[back:])
    assert turn.max() == pytest.approx(69.0, abs=1.5)
    heading = np.degrees(poses[:, 2])
    assert heading[back - 1] == pytest.approx(recorded.pose[back - 1, 2], abs=1.0)
    assert heading[-1] == pytest.approx(recorded.pose[-1, 2], abs=1.0)
    assert np.abs(poses[:, :2]).max() < 1e-9
    settled = np.flatnonzero(np.abs(heading - 90.0) < 0.5)[0] * CYCLE
    assert settled == pytest.approx(5.2, abs=0.4)  # the whole degree came after 5.2 s


def test_vel2_300_100() -> None:
    recorded = read("g_vel2")
    end = first_braking(recorded.turn)
    accel, decel = recorded.ramp(recorded.speed, True), recorded.ramp(recorded.speed, False)
    limits = {"accel": accel / 1000, "decel": decel / 1000}
    bend = {"vx": 0.2, "wz": math.radians(-32.0), **limits}
    poses, speeds = drive(60, {0: bend, end: {**limits}}, lag=0.0)
    follows(speeds[:, 0] * 1000, recorded.speed)
    follows(np.degrees(speeds[:, 1]), recorded.turn)
    reference = in_cycles(speeds)
    n = min(len(reference), len(recorded.pose))
    assert np.abs(reference[:n, :2] - recorded.pose[:n, :2]).max() < 2.0
    assert np.abs(reference[:n, 2] - recorded.pose[:n, 2]).max() < 1.0
    # With its odometry errors, a robot drifts outwards as a cycle of 100 ms makes it do.
    alike, _ = drive(60, {0: bend, end: {**limits}})
    away = np.abs(alike[:n, :2] * 1000 - recorded.pose[:n, :2])
    assert away.max() < 20.0  # as far as it goes in a cycle
    assert np.hypot(*(alike[-1, :2] * 1000 - recorded.pose[-1, :2])) < 2.0
    assert np.degrees(alike[-1, 2]) == pytest.approx(recorded.pose[-1, 2], abs=1.0)
    # A real one follows the arc, which ends elsewhere.
    assert np.degrees(poses[-1, 2]) == pytest.approx(recorded.pose[-1, 2], abs=1.0)
    apart = np.hypot(*(poses[-1, :2] * 1000 - recorded.pose[-1, :2]))
    assert 10.0 < apart < 25.0


@pytest.mark.parametrize("distance", [1.0, -0.5])
def test_move_is_exact_in_both_directions(distance: float) -> None:
    poses, speeds = drive(90, {0: {"distance": distance, "serial": 1}})
    assert poses[-1, 0] == pytest.approx(distance, abs=0.0005)
    assert np.abs(poses[:, 0]).max() < abs(distance) + 0.0005
    assert (np.sign(distance) * speeds[:, 0] >= 0.0).all()
    if distance == 1.0:  # MobileSim took 6.5 s
        there = np.flatnonzero(np.abs(poses[:, 0] - 1.0) < 0.001)[0] * CYCLE
        assert there == pytest.approx(6.2, abs=0.5)
