"""Whole runs with clients: motion as MobileSim recorded it, drift of the belief, watchdog, maps."""

from __future__ import annotations

import contextlib
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import astray
from astray.pioneer import Client, RobotSpec, commands, plan_fleet, serving
from astray.pioneer.commands import PioneerCommand
from astray.pioneer.packets import ERROR_FLAG, GPS_FLAG
from astray.pioneer.packets.framing import Framer, encode_packet
from astray.pioneer.packets.laser import PlainLaserPacket, ReflectanceLaserPacket
from astray.pioneer.session import Session, SessionOptions
from astray.pioneer.snapshot import CycleIntervals, take_snapshot
from support.paths import DATA
from support.tables import same

RECORDED = DATA / "pioneer"
recorded = pytest.mark.skipif(not RECORDED.is_dir(), reason="needs the recordings of MobileSim")
DEGREE = math.pi / 180
ROOM = {"walls": [[[-3, -3], [3, -3], [3, 3], [-3, 3], [-3, -3]]]}
TURNS = [3, 11, 20]  # cycles


def exact_robot(model: str = "p3dx", **options: Any) -> Any:
    """A robot in lockstep, as exact as it can be unless asked for otherwise."""
    options = {"odometry": "none", "lockstep": True, "speed": None, **options}
    return serving(model, **options)


# Motion, as it was recorded.


def follow(name: str, **options: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Send the recorded commands in the recorded cycles; the recorded and the simulated SIPs."""
    records = [json.loads(line) for line in (RECORDED / f"{name}.jsonl").open(encoding="utf-8")]
    begin = next(k for k, record in enumerate(records) if record.get("id") == 0x32)
    recorded_values, simulated = [], []
    with exact_robot(**options) as bridge, Client(port=bridge.ports[0]) as client:
        for record in records[begin:]:
            if "sent" in record and record["sent"] not in (2, 237):
                client.command(record["sent"], int(record["arg"]))
            if record.get("id") != 0x32:
                continue
            client.pulse()
            client.read()
            row = bridge.sim.robots["p3dx"].truth[0]
            x, y, yaw = (float(row[c]) for c in ("x", "y", "yaw"))
            simulated.append({"v": client.speed * 1000, "w": client.turn_rate, "pose": (x, y, yaw)})
            wheels = (record["lv"], record["rv"])
            pose = (record["x"] * 0.485e-3, record["y"] * 0.485e-3, record["th"] * 0.001534)
            recorded_values.append(
                {"v": sum(wheels) / 2, "w": record["rotvel10"] / 10 * DEGREE, "pose": pose}
            )
    return recorded_values, simulated


def within_a_cycle(recorded_values: list[float], simulated: list[float], slack: float) -> bool:
    """Whether each of our values lies among recorded_values of the cycles around it."""
    for k, value in enumerate(simulated):
        near = recorded_values[max(0, k - 1) : k + 2]
        if near and not min(near) - slack <= value <= max(near) + slack:
            return False
    return True


def first_motion(sips: list[dict[str, Any]]) -> int:
    return next(k for k, sip in enumerate(sips) if sip["v"] or sip["w"])


def driven(sips: list[dict[str, Any]]) -> tuple[float, float, float]:
    """Where the speeds of each cycle lead, the heading taken in the middle of the cycle."""
    x = y = yaw = 0.0
    for sip in sips:
        heading = yaw + sip["w"] * 0.05
        x += sip["v"] * 1e-4 * math.cos(heading)
        y += sip["v"] * 1e-4 * math.sin(heading)
        yaw += sip["w"] * 0.1
    return x, y, yaw


@recorded
@pytest.mark.parametrize("name", ["b_vel400", "d_head90", "g_vel2"])
def test_a_recorded_session_is_followed_within_a_cycle_to_the_same_pose(name: str) -> None:
    recorded_values, simulated = follow(name)
    late = first_motion(recorded_values) - first_motion(simulated)
    assert 0 <= late <= 2  # we obey in the cycle of the command, MobileSim a cycle or two later
    for axis, slack in (("v", 12.0), ("w", 0.06)):
        profile = [sip[axis] for sip in recorded_values[late:]]
        assert within_a_cycle(profile, [sip[axis] for sip in simulated], slack)
    (x, y, yaw), (our_x, our_y, our_yaw) = recorded_values[-1]["pose"], simulated[-1]["pose"]
    assert math.hypot(our_x - x, our_y - y) < 0.002
    assert abs(math.remainder(our_yaw - yaw, math.tau)) < DEGREE


@recorded
def test_with_the_errors_of_a_real_robot_curves_are_arcs() -> None:
    recorded_values, simulated = follow("g_vel2", odometry="real")
    (x, y, _), (our_x, our_y, _) = driven(recorded_values), simulated[-1]["pose"]
    assert math.hypot(our_x - x, our_y - y) < 0.002
    x, y, _ = recorded_values[-1]["pose"]  # by the heading with which each cycle began
    assert 0.01 < math.hypot(our_x - x, our_y - y) < 0.025


def as_sent(record: dict[str, Any]) -> bytes:
    """The packet of a recorded command."""
    argument = record["arg"]
    if argument is None:
        return commands.encode_empty(record["sent"])
    if argument[:1] == "x":
        return encode_packet(record["sent"], bytes.fromhex(argument[1:]))
    if argument[:1] == "s":
        return commands.encode_text(record["sent"], argument[1:])
    return commands.encode_int(record["sent"], int(argument))


def replay_literally(
    name: str, map: Any = None, options: SessionOptions | None = None
) -> tuple[list[float], list[float]]:
    """Send what was recorded at its time and nothing else; the recorded and our last true pose.

    Poses are in m and rad. What is not given is as by default.
    """
    records = [json.loads(line) for line in (RECORDED / f"{name}.jsonl").open(encoding="utf-8")]
    poses = [record["true"] for record in records if record.get("id") == 0x62]
    start, end = ([x / 1000, y / 1000, deg * DEGREE] for x, y, _, deg in (poses[0], poses[-1]))
    fleet = plan_fleet([RobotSpec.parse("p3dx")], map=map, start=tuple(start))
    sim = astray.load(fleet.scenario)
    session = Session(fleet.robots[0], options or SessionOptions())
    handshake = [encode_packet(number) for number in range(3)]
    timed = [(0.0, b"".join([*handshake, commands.encode_int(PioneerCommand.OPEN, 1)]))]
    timed += [(record["t"], as_sent(record)) for record in records if "sent" in record]
    for tick in range(round((records[-1]["t"] + 1.0) / sim.dt)):
        while timed and timed[0][0] <= tick * sim.dt:
            for event in session.receive(Framer().feed(timed.pop(0)[1])).events:
                sim.post(event)
        sim.step(1)
        if (tick + 1) % round(0.1 / sim.dt) == 0:
            snapshot = take_snapshot(sim, fleet.robots[0])
            for event in session.report_cycle(snapshot, CycleIntervals()).events:
                sim.post(event)
    assert not timed
    row = sim.robots["p3dx"].truth[0]
    return end, [float(row.x), float(row.y), float(row.yaw)]


@recorded
@pytest.mark.parametrize("name", ["a_info", "b_vel400", "d_head90", "g_vel2"])
def test_a_recorded_session_that_sends_no_pulses_ends_within_50_mm(name: str) -> None:
    (x, y, yaw), (our_x, our_y, our_yaw) = replay_literally(name)
    assert math.hypot(our_x - x, our_y - y) < 0.05
    assert abs(math.remainder(our_yaw - yaw, math.tau)) < 4 * DEGREE  # 32°/s for a cycle


@recorded
def test_a_recorded_session_that_is_reset_into_a_wall_ends_within_50_mm() -> None:
    wall = {"walls": [[[0.15, -1.0], [0.15, 1.0]]]}
    (x, y, yaw), ours = replay_literally(
        "i_laser_setpose", wall, SessionOptions(like_mobilesim=True)
    )
    assert ours == pytest.approx([x, y, yaw], abs=0.05)


def mobilesim_travel(demands: list[tuple[float, float]], accel: float) -> float:
    """Where MobileSim's rule ends: in each cycle it first changes its speed, then moves by it.

    Demands are a speed and a deceleration for each cycle. The last 10 mm/s are a jump.
    """
    travel = speed = 0.0
    for wanted, decel in demands:
        step = 0.1 * (accel if wanted > speed else decel)
        rest = wanted - speed
        speed = wanted if abs(rest) <= max(step, 0.01) else speed + math.copysign(step, rest)
        travel += 0.1 * speed
    return travel


@recorded
def test_mobilesims_rule_ends_where_it_was_recorded() -> None:
    demands = [(0.4, 0.6)] * 40 + [(0.0, 0.6)] * 20
    recorded_values, _ = follow("b_vel400")
    assert mobilesim_travel(demands, 0.3) == pytest.approx(
        recorded_values[-1]["pose"][0], abs=0.005
    )


@pytest.mark.parametrize(
    ("first", "second"), [(0.4, 0.8), (0.8, 0.4), (0.5, 0.6), (0.2, 0.25), (0.6, 1.0), (0.3, 0.1)]
)
def test_speeds_a_stop_and_an_emergency_stop_end_where_mobilesim_does(
    first: float, second: float
) -> None:
    demands: list[tuple[float, float]] = []
    with exact_robot() as bridge, Client(port=bridge.ports[0]) as client:
        for command, value, wanted, decel, cycles in (
            (PioneerCommand.VEL, first * 1000, first, 0.6, 35),
            (PioneerCommand.STOP, None, 0.0, 0.6, 20),
            (PioneerCommand.VEL, second * 1000, second, 0.6, 45),
            (PioneerCommand.ESTOP, None, 0.0, 9.999, 10),
        ):
            client.command(command, value)
            client.wait(0.1 * cycles)
            demands += [(wanted, decel)] * cycles
        assert client.speed == 0.0
        x = float(bridge.sim.robots["p3dx"].truth["x"][0])
    assert x == pytest.approx(mobilesim_travel(demands, 0.3), abs=0.005)


def test_turns_a_stop_and_an_emergency_stop_end_where_mobilesim_does() -> None:
    demands: list[tuple[float, float]] = []
    with exact_robot() as bridge, Client(port=bridge.ports[0]) as client:
        for command, value, wanted, decel in (
            (PioneerCommand.RVEL, 40, 40 * DEGREE, 100 * DEGREE),
            (PioneerCommand.STOP, None, 0.0, 100 * DEGREE),
            (PioneerCommand.RVEL, 50, 50 * DEGREE, 100 * DEGREE),
            (PioneerCommand.ESTOP, None, 0.0, 9999 * DEGREE),
        ):
            client.command(command, value)
            client.wait(1.5)
            demands += [(wanted, decel)] * 15
        yaw = float(bridge.sim.robots["p3dx"].truth["yaw"][0])
    expected = mobilesim_travel(demands, 100 * DEGREE)
    assert abs(math.remainder(yaw - expected, math.tau)) < DEGREE


def scans_of(packets: list[tuple[int, bytes]]) -> list[list[int]]:
    """Complete scans, mm, of laser packets of either kind."""
    scans, parts = [], []
    for number, data in packets:
        part = (
            ReflectanceLaserPacket.decode(data)
            if number == ReflectanceLaserPacket.ID
            else PlainLaserPacket.decode(data)
        )
        assert part.first == sum(len(p.ranges) for p in parts)
        parts.append(part)
        if part.first + len(part.ranges) == part.total:
            scans.append([mm for p in parts for mm in p.ranges])
            parts = []
    assert not parts
    return scans


@recorded
@pytest.mark.parametrize("kind", [ReflectanceLaserPacket.ID, PlainLaserPacket.ID])
def test_a_recorded_laser_session_is_followed(kind: int) -> None:
    records = [json.loads(line) for line in (RECORDED / "i_laser_setpose.jsonl").open()]
    seen = [(r["id"], bytes.fromhex(r["hex"])) for r in records if r.get("id") == kind]
    recorded_values = scans_of(seen)
    # The recording is all that is left of its map: a bit of wall across each of its rays.
    away = np.mean(recorded_values, axis=0) / 1000
    angles = np.radians(np.arange(-90.0, 91.0))
    half = away * math.tan(0.49 * DEGREE)
    across = np.stack([-np.sin(angles), np.cos(angles)], axis=1) * half[:, None]
    middle = np.stack([np.cos(angles), np.sin(angles)], axis=1) * away[:, None]
    walls = np.stack([middle - across, middle + across], axis=1).tolist()
    switch = next(
        k
        for k, r in enumerate(records)
        if r.get("sent") == 35 and r["arg"] == ("2" if kind == ReflectanceLaserPacket.ID else "1")
    )
    session_options = SessionOptions(like_mobilesim=True)
    with (
        exact_robot(map={"walls": walls}, start=(0.0, 0.0, 0.0), options=session_options) as bridge,
        Client(port=bridge.ports[0]) as client,
    ):
        client.log = []
        for record in records:
            if record.get("sent") in (36, 37, 38):
                client.command(record["sent"], int(record["arg"]))
        for record in records[switch:]:
            if record.get("sent") == 35:
                client.command(35, int(record["arg"]))
                if record["arg"] == "0":
                    break
            if record.get("id") == 0x32:
                client.pulse()
                client.read()
        client.pulse()
        client.read()
        simulated = scans_of([(p.id, p.data) for p in client.log if p.id == kind])
    assert abs(len(simulated) - len(recorded_values)) <= 1  # scans of as many cycles
    assert {len(scan) for scan in simulated} == {len(scan) for scan in recorded_values} == {181}
    apart = np.abs(np.array(simulated) - np.mean(recorded_values, axis=0))
    spread = np.abs(np.array(recorded_values) - np.mean(recorded_values, axis=0))
    assert np.median(apart) <= np.median(spread) + 1.0
    assert apart.max() <= 10.0


@pytest.mark.parametrize("distance", [1.0, -0.5])
def test_a_move_ends_where_it_should_in_both_directions(distance: float) -> None:
    with exact_robot() as bridge, Client(port=bridge.ports[0]) as client:
        client.move(distance)
        client.wait(1.0)
        client.wait_for(lambda c: c.speed == 0.0)
        assert client.odometry[0] == pytest.approx(distance, abs=0.002)
        assert client.true_pose()[0] == pytest.approx(distance, abs=0.002)


def test_a_robot_turns_to_and_by_an_angle_while_it_drives() -> None:
    with exact_robot() as bridge, Client(port=bridge.ports[0]) as client:
        client.velocity(0.2)
        client.turn_to(math.pi / 2)
        client.wait(8.0)
        assert client.odometry[2] == pytest.approx(math.pi / 2, abs=DEGREE)
        client.turn_by(-math.pi / 4)
        client.wait(8.0)
        assert client.odometry[2] == pytest.approx(math.pi / 4, abs=DEGREE)
        assert client.speed == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize("model", ["amigo", "p2dx", "p3at-sh", "powerbot", "pioneer-lx"])
def test_firmware_units_of_every_robot_are_converted(model: str) -> None:
    with exact_robot(model, map=ROOM) as bridge, Client(port=bridge.ports[0]) as client:
        with client.together():
            client.scan()
            client.velocity(0.3, 0.2)
        client.wait(3.0)
        robot = next(iter(bridge.sim.robots.values()))
        assert client.odometry[0] == pytest.approx(robot.truth["x"][0], abs=0.002)
        assert client.odometry[2] == pytest.approx(robot.truth["yaw"][0], abs=0.002)
        assert (client.speed, client.turn_rate) == pytest.approx((0.3, 0.2), abs=0.01)
        assert 0.1 <= min(client.sonar) < 4.0


def test_a_seekur_moves_sideways() -> None:
    with exact_robot("seekur") as bridge, Client(port=bridge.ports[0]) as client:
        client.velocity(0.0, 0.0, 0.3)
        client.wait(3.0)
        assert client.odometry[0] == pytest.approx(0.0, abs=0.001)
        assert client.odometry[1] > 0.5
        assert client.sip is not None
        assert client.sip.lateral_mm_s == pytest.approx(300, abs=2)


def test_an_emergency_stop_takes_one_cycle() -> None:
    with exact_robot() as bridge, Client(port=bridge.ports[0]) as client:
        client.velocity(0.8)
        client.wait(4.0)
        assert client.speed == pytest.approx(0.8, abs=0.01)
        client.stop_at_once()
        client.wait(0.2)
        assert client.speed == 0.0


# The watchdog.


def holds_while_silent(client: Client, holds: Callable[[], bool], cycles: int = 600) -> bool:
    """Whether something holds within so many packets, to which nothing is log_lines."""
    return any(client.read() and holds() for _ in range(cycles))


def test_with_a_watchdog_a_robot_with_a_silent_client_stops_until_the_next_packet() -> None:
    with (
        serving("p3dx", speed=20.0, options=SessionOptions(watchdog=True)) as bridge,
        Client(port=bridge.ports[0]) as client,
    ):
        client.velocity(0.3)
        assert holds_while_silent(client, lambda: client.speed > 0.28)
        assert holds_while_silent(client, lambda: client.speed == 0.0)
        client.wait_for(lambda c: c.speed > 0.2, cycles=200)


def test_by_default_a_robot_with_a_silent_client_drives_on() -> None:
    with serving("p3dx", speed=20.0) as bridge, Client(port=bridge.ports[0]) as client:
        client.velocity(0.3)
        assert holds_while_silent(client, lambda: client.speed > 0.28)
        assert not holds_while_silent(client, lambda: client.speed < 0.25, cycles=60)


def test_a_robot_stops_when_its_client_vanishes_and_keeps_its_true_pose_for_the_next() -> None:
    with exact_robot() as bridge:
        client = Client(port=bridge.ports[0]).connect()
        client.velocity(0.3)
        client.wait(3.0)
        before = client.true_pose()
        client._socket.close()  # without a word
        with Client(port=bridge.ports[0]) as second:
            second.wait(2.0)
            assert second.speed == 0.0
            assert second.true_pose()[0] == pytest.approx(before[0] + 0.1, abs=0.1)
            assert second.odometry[0] < 0.15  # it began at zero, while the robot still rolled


# Truth and belief.


def test_set_pose_sets_the_truth_and_not_the_odometry() -> None:
    with exact_robot(map=ROOM) as bridge, Client(port=bridge.ports[0]) as client:
        client.set_pose(1.0, -0.5, math.pi / 2)
        client.wait(0.3)
        assert client.true_pose() == pytest.approx((1.0, -0.5, math.pi / 2))
        assert client.odometry == (0.0, 0.0, 0.0)
        client.command(PioneerCommand.SIM_RESET)
        client.wait(0.3)
        assert client.true_pose() == (0.0, 0.0, 0.0)


def test_the_home_of_a_robot_with_a_random_start_is_its_start() -> None:
    with (
        exact_robot(map="office", start="random", seed=3) as bridge,
        Client(port=bridge.ports[0]) as client,
    ):
        home = client.true_pose()
        client.set_pose(home[0] + 0.1, home[1], home[2])
        client.wait(0.3)
        client.command(PioneerCommand.SIM_RESET)
        client.wait(0.3)
        assert client.true_pose() == pytest.approx(home, abs=0.02)


def test_the_odometry_drifts_like_that_of_a_real_robot() -> None:
    apart = []
    for seed in range(6):
        with (
            exact_robot(odometry=None, seed=seed) as bridge,
            Client(port=bridge.ports[0]) as client,
        ):
            client.velocity(0.5, 0.2)
            client.wait(20.0)
            x, y, _ = client.odometry
            true_x, true_y, _ = client.true_pose()
            apart.append(math.hypot(x - true_x, y - true_y))
    assert len({round(d, 6) for d in apart}) == 6
    assert 0.005 < np.sqrt(np.mean(np.square(apart))) < 0.5


def test_without_odometry_error_belief_and_truth_are_the_same_to_the_millimetre() -> None:
    with exact_robot() as bridge, Client(port=bridge.ports[0]) as client:
        client.velocity(0.5, 0.2)
        client.wait(20.0)
        truth, odometry = client.true_pose(), client.odometry
        robot = bridge.sim.robots["p3dx"]
        assert (
            math.hypot(truth[0] - odometry[0], truth[1] - odometry[1]) < 0.06
        )  # the distance of a cycle
        assert robot.belief["x"][0] == pytest.approx(robot.truth["x"][0], abs=0.001)


# What SIMSTAT says of GPS and odometry errors.


GEOREFERENCED = """2D-Map
OriginLatLongAlt: 42.5 -71.25 100
MapInfo: SectorType "Name=BadGPSSector"
Cairn: BadGPSSector 0 0 0 "" ICON "indoors" 2000 -1000 4000 1000
LINES
-9000 -9000 9000 -9000
"""


def test_simstat_has_the_latitude_and_longitude_of_a_georeferenced_map(tmp_path: Path) -> None:
    (tmp_path / "town.map").write_text(GEOREFERENCED, encoding="utf-8")
    with (
        exact_robot(map=str(tmp_path / "town.map"), start=(0.0, 0.0, 0.0)) as bridge,
        Client(port=bridge.ports[0]) as client,
    ):
        seen = []
        for x, y in ((0.0, 0.0), (0.0, 500.0), (3.0, 0.0)):
            client.set_pose(x, y, 0.0)
            client.wait(0.3)
            stat = client.simstat()
            seen.append((stat.latitude_e7, stat.longitude_e7, stat.gps_quality))
            assert (stat.flags & GPS_FLAG, stat.altitude_cm) == (GPS_FLAG, 10_000)
    assert seen[0] == (425_000_000, -712_500_000, 100)
    assert seen[1] == (pytest.approx(425_000_000 + 45_011.6, abs=1), -712_500_000, 100)
    assert seen[2][2] == 0  # in the bad sector


def test_simstat_has_the_fixes_of_a_receiver(tmp_path: Path) -> None:
    denied = [[[90, -9], [99, -9], [99, 9], [90, 9]]]
    gnss = {"kind": "gnss", "position_sd": 3.0, "rate": 10, "denied": denied}
    model = {"name": "p3dx-sh", "robot": {"preset": "p3dx", "sensors": [gnss]}}
    (tmp_path / "robot.yaml").write_text(json.dumps(model), encoding="utf-8")
    with (
        exact_robot(str(tmp_path / "robot.yaml")) as bridge,
        Client(port=bridge.ports[0]) as client,
    ):
        places, apart = set(), []
        for _ in range(20):
            client.wait(0.1)
            stat = client.simstat()
            assert (stat.flags & GPS_FLAG, stat.gps_quality) == (GPS_FLAG, 100)
            places.add((stat.latitude_e7, stat.longitude_e7))
            apart.append(stat.latitude_e7 * 1e-7 * 110_574.3)  # m north of 0° N
        assert len(places) > 10
        assert 1.0 < np.std(apart) < 6.0
        client.set_pose(95.0, 0.0, 0.0)
        client.wait(0.5)
        stat = client.simstat()
        assert (stat.flags & GPS_FLAG, stat.gps_quality) == (GPS_FLAG, 0)


def test_simstat_of_a_robot_without_gps_says_so() -> None:
    with exact_robot() as bridge, Client(port=bridge.ports[0]) as client:
        stat = client.simstat()
        assert (stat.flags & GPS_FLAG, stat.gps_quality, stat.latitude_e7) == (0, -1, 0)


@pytest.mark.parametrize("mode", ["none", "constant", "random_init", "random_each_update", "real"])
def test_simstat_has_the_odometry_error_that_acts(mode: str) -> None:
    with exact_robot(odometry=mode, seed=4) as bridge, Client(port=bridge.ports[0]) as client:
        errors = []
        for _ in range(20):
            client.wait(0.1)
            stat = client.simstat()
            assert stat.flags & ERROR_FLAG
            errors.append((stat.error_x_e7, stat.error_y_e7, stat.error_heading_e7))
        sensor = bridge.sim.robots["p3dx"].pipelines["wheels"].sensor
    different, (x, y, turn) = set(errors), errors[-1]
    assert y == 0  # wheels do not slip sideways
    if mode == "random_each_update":  # as many readings as average out to MobileSim's
        assert len(different) == 20
        assert np.std([x for x, _, _ in errors]) == pytest.approx(
            math.sqrt(5) * 75e6 / math.sqrt(3), rel=0.4
        )
    else:
        assert len(different) == 1
    if mode == "none":
        assert (x, turn) == (0, 0)
    elif mode == "constant":  # 7.5 mm per m, and by MobileSim's degrees 0.0075° per rad
        assert (x, turn) == (75_000_000, 75_000)
    elif mode == "random_init":
        assert 0 < abs(x) < 75_000_000
        assert 0 < abs(turn) < 75_000
    elif mode == "real":
        radii = 1.0 / (1.0 + sensor.memory["radius_error"][0, :2])
        assert x == pytest.approx((radii.mean() - 1.0) * 1e10, abs=1)
        assert x != 0
        baseline = 1.0 + sensor.memory["baseline_error"][0]
        assert turn == pytest.approx(math.degrees(radii.mean() * baseline - 1.0) * 1e7, abs=1)


# What a robot senses.


def test_laser_and_sonar_measure_the_walls_of_a_room() -> None:
    with exact_robot(map=ROOM) as bridge, Client(port=bridge.ports[0]) as client:
        client.scan()
        client.wait(1.0)
        assert len(client.laser) == 181
        assert client.laser[90] == pytest.approx(3.0 - 0.018, abs=0.05)
        assert client.laser[0] == pytest.approx(3.0, abs=0.05)
        assert client.laser[180] == pytest.approx(3.0, abs=0.05)
        assert client.sonar[0] == pytest.approx(3.0 - 0.136, abs=0.05)
        assert len(client.sonar) == 16


def test_a_robot_that_drives_into_a_wall_is_stalled_and_presses_its_bumper() -> None:
    with exact_robot(map=ROOM) as bridge, Client(port=bridge.ports[0]) as client:
        client.velocity(0.5)
        client.wait_for(lambda c: c.stalled, cycles=150)
        assert client.sip is not None
        assert client.sip.stall & 0xFE00
        assert client.true_pose()[0] == pytest.approx(3.0 - 0.21, abs=0.02)


# Maps.


def test_maps_are_loaded_from_the_allowed_folder_only(tmp_path: Path) -> None:
    allowed = tmp_path / "maps"
    allowed.mkdir()
    head = '2D-Map\nCairn: RobotHome 500 0 0 "" ICON ""\nLINES\n1500 -9000 1500 9000\n'
    (allowed / "near.map").write_text(head, encoding="utf-8")
    (tmp_path / "secret.map").write_text(head, encoding="utf-8")
    (allowed / "broken.map").write_text("no map\n", encoding="utf-8")
    log_lines: list[str] = []
    with contextlib.ExitStack() as stack:
        bridge = stack.enter_context(
            serving("p3dx", speed=20.0, map_folder=allowed, log=log_lines.append)
        )
        with Client(port=bridge.ports[0]) as client:
            client.scan()
            for refused in (
                "../secret.map",
                str(tmp_path / "secret.map"),
                "none.map",
                "broken.map",
            ):
                assert client.load_map(refused).loaded == 0
            loaded = client.load_map("near.map")
            assert (loaded.loaded, loaded.file) == (1, "near.map")
            assert client.load_map("near.map").loaded == 0  # it is there already
            # The run is faster than the network, so the number of cycles until the event is unknown.
            client.wait_for(lambda c: bool(c.laser) and c.laser[90] < 2.0, cycles=1000)
            assert client.laser[90] == pytest.approx(1.5, abs=0.1)
            client.command(PioneerCommand.SIM_RESET)
            for _ in range(100):
                if client.true_pose()[0] != 0.0:
                    break
                client.wait(1.0)
            assert client.true_pose()[0] == pytest.approx(0.5)
    assert any("secret.map" in line for line in log_lines)


def test_no_map_is_loaded_where_no_folder_was_allowed() -> None:
    with serving("p3dx", speed=20.0) as bridge, Client(port=bridge.ports[0]) as client:
        assert client.load_map("/etc/hostname").loaded == 0


# Several robots.


def holds_soon(holds: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Whether a condition holds within some seconds of real time."""
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.01)
    return holds()


def test_each_client_of_a_shared_port_gets_a_robot_of_its_own_until_it_disconnects() -> None:
    with serving("p3dx", per_client=("amigo",), speed=20.0) as bridge:
        group = bridge.sim.robots["amigo"]
        with Client(port=bridge.ports[1]) as first:
            with Client(port=bridge.ports[1]) as second:
                assert (first.subclass, second.subclass) == ("amigo", "amigo")
                assert group.truth["alive"].sum() == 2
                assert first.true_pose()[1] - second.true_pose()[1] == pytest.approx(1.0)
            assert holds_soon(lambda: group.truth["alive"].sum() == 1)
        assert holds_soon(lambda: group.truth["alive"].sum() == 0)


def test_robots_measure_each_other_and_have_odometers_of_their_own() -> None:
    with serving("p3dx", "p3dx:ben", lockstep=True, speed=None) as bridge:
        assert list(bridge.sim.robots) == ["p3dx"]
        anna, ben = (Client(port=port).connect(wait=False) for port in bridge.ports)
        with anna, ben:
            anna.velocity(0.3)
            ranges = []
            for _ in range(30):
                for robot in (anna, ben):
                    robot.read()
                    robot.pulse()
                ranges.append(anna.sonar[7])
            assert anna.odometry[0] > 0.3
            assert ben.odometry[0] == 0.0
            assert min(ranges) == pytest.approx(1.0 - 0.136 - 0.2, abs=0.1)  # ben, to its right


# The same bytes.


def drive(client: Client) -> None:
    for k in range(40):
        with client.together():
            client.scan()
            client.velocity(0.3 if k < TURNS[2] else -0.2, 0.2 * (k % 3))
            if k in TURNS:
                client.turn_by(1.0)
                client.set_pose(0.1 * k, 0.5, 0.0)
        client.read()


def test_a_program_in_lockstep_gets_the_same_packets_every_time_and_its_events_replay() -> None:
    runs = []
    for _ in range(2):
        with serving("p3dx", map=ROOM, lockstep=True, speed=None, seed=5) as bridge:
            with Client(port=bridge.ports[0]) as client:
                client.log = []
                drive(client)
                packets = [p for p in client.log if p.id in (0x32, 0x61)]
            runs.append(packets)
        steps, events = bridge.sim.steps, list(bridge.sim.events)
        truth, belief = bridge.sim.truth.copy(), bridge.sim.belief.copy()
    assert len(runs[0]) > 200
    assert runs[0] == runs[1]
    replayed = astray.Sim(bridge.sim.scenario, seed=bridge.sim.seed)
    replayed.replay(events)
    replayed.step(steps)
    assert same(replayed.truth, truth)
    assert same(replayed.belief, belief)


def test_intervals_report_the_timing_of_the_run() -> None:
    with serving("p3dx", speed=4.0) as bridge, Client(port=bridge.ports[0]) as client:
        client.wait(1.0)
        stat = client.simstat()
        assert (stat.sim_interval_ms, stat.real_interval_ms) == (100, 25)
        assert 0 <= stat.last_interval_ms < 2000
