"""Sessions: a client's commands become events, replies and requests, whatever it sends."""

from __future__ import annotations

import math
import random
import struct
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astray.engine.event_queue import Event
from astray.pioneer import commands
from astray.pioneer.commands import (
    ClearMaster,
    ControlCommand,
    ExitSimulator,
    LoadMap,
    LogText,
    PioneerCommand,
)
from astray.pioneer.models import ServedRobot, find_model
from astray.pioneer.packets.framing import Framer, Packet, encode_packet
from astray.pioneer.packets.laser import PlainLaserPacket, ReflectanceLaserPacket
from astray.pioneer.packets.robot import Config, EncoderPacket, InputOutputPacket, Sip
from astray.pioneer.packets.simulator import SimInfo, SimStat
from astray.pioneer.session import Session, SessionOptions, SessionOutput, SessionState
from astray.pioneer.snapshot import CycleIntervals, GpsPosition, LaserRanges, RobotSnapshot

P3DX = find_model("p3dx")
SEEKUR = find_model("seekur")
DEGREE = math.pi / 180
WATCHDOG = SessionOptions(watchdog=True)


def new_session(options: SessionOptions | None = None, model: Any = P3DX) -> Session:
    """A session that has not begun."""
    return Session(
        ServedRobot("anna", model, "p3dx", 3, home=(1.0, 2.0, 0.5)), options or SessionOptions()
    )


def open_session(options: SessionOptions | None = None, model: Any = P3DX) -> Session:
    """A session that is open."""
    session = new_session(options, model)
    send(
        session,
        encode_packet(0),
        encode_packet(1),
        encode_packet(2),
        commands.encode_int(PioneerCommand.OPEN, 1),
    )
    return session


def send(session: Session, *sent: bytes) -> SessionOutput:
    return session.receive(Framer().feed(b"".join(sent)))


def send_int(session: Session, command: int, value: float) -> SessionOutput:
    return send(session, commands.encode_int(command, value))


def replies(output: SessionOutput) -> list[Packet]:
    return Framer().feed(output.reply)


def posted_command(output: SessionOutput) -> dict[str, Any]:
    """The values of the one command that is posted."""
    (event,) = [event for event in output.events if event.kind == "command"]
    return dict(event.values)


def report(session: Session, **snapshot: Any) -> list[Packet]:
    return replies(session.report_cycle(RobotSnapshot(**snapshot), CycleIntervals()))


# The handshake.


def test_syncs_are_echoed_and_the_last_is_answered_with_name_class_and_subclass() -> None:
    session = new_session()
    echoed = [replies(send(session, encode_packet(k)))[0] for k in range(3)]
    assert echoed == [Packet(0), Packet(1), Packet(2, b"MobileSim\0Pioneer\0p3dx\0")]
    assert session.state is SessionState.SYNCED


def test_a_handshake_may_start_over_and_repeat_itself() -> None:
    session = new_session()
    sent = [0, 1, 0, 0, 1, 1, 2, 2, 0, 1, 2]
    assert [replies(send(session, encode_packet(k)))[0].id for k in sent] == sent


def test_no_standard_packet_comes_before_open_and_the_odometer_is_zero_after() -> None:
    session = new_session()
    send(session, encode_packet(0), encode_packet(1), encode_packet(2))
    assert report(session) == []
    output = send_int(session, PioneerCommand.OPEN, 1)
    believed = Event("believe", "p3dx", (0,), (3,), {"x": 0.0, "y": 0.0, "yaw": 0.0})
    assert believed in output.events
    assert [packet.id for packet in report(session)] == [0x32]


def test_commands_before_open_are_ignored() -> None:
    session = new_session()
    output = send(session, encode_packet(0), commands.encode_int(PioneerCommand.VEL, 300))
    assert output.events == []


def test_close_stops_the_robot_and_ends_the_session() -> None:
    session = open_session()
    send_int(session, PioneerCommand.VEL, 300)
    output = send_int(session, PioneerCommand.CLOSE, 1)
    assert posted_command(output)["vx"] == 0.0
    assert session.state is SessionState.CLOSED
    assert send(session, commands.encode_int(PioneerCommand.VEL, 300)).events == []


def test_a_robot_stops_when_its_client_disconnects() -> None:
    session = open_session()
    send_int(session, PioneerCommand.VEL, 300)
    (stop,) = session.end()
    assert (stop.values["vx"], stop.values["wz"], stop.robots) == (0.0, 0.0, (3,))
    assert new_session().end() == []


# Motion.


@pytest.mark.parametrize(
    ("command", "value", "expected"),
    [
        (PioneerCommand.VEL, 400, {"vx": 0.4}),
        (PioneerCommand.VEL, -400, {"vx": -0.4}),
        (PioneerCommand.RVEL, 50, {"wz": 50 * DEGREE}),
        (PioneerCommand.ROTATE, -50, {"wz": -50 * DEGREE}),
        (PioneerCommand.MOVE, -500, {"distance": -0.5, "serial": 1}),
        (PioneerCommand.HEAD, 90, {"heading": 90 * DEGREE}),
        (PioneerCommand.HEAD, 270, {"heading": -90 * DEGREE}),
        (PioneerCommand.DHEAD, -45, {"heading": -45 * DEGREE}),
        (PioneerCommand.VEL2, 3845, {"vx": 0.2, "wz": -32 * DEGREE}),
        (PioneerCommand.SETV, 700, {"speed": 0.7}),
        (PioneerCommand.SETRV, 60, {"turn": 60 * DEGREE}),
        (PioneerCommand.SETA, 250, {"accel": 0.25, "decel": P3DX.decel}),
        (PioneerCommand.SETA, -250, {"accel": P3DX.accel, "decel": 0.25}),
        (PioneerCommand.SETRA, 50, {"turn_accel": 50 * DEGREE}),
        (PioneerCommand.SETRA, -50, {"turn_decel": 50 * DEGREE}),
    ],
)
def test_a_motion_command_becomes_a_command_of_the_servo(
    command: int, value: int, expected: dict[str, float]
) -> None:
    values = posted_command(send_int(open_session(), command, value))
    assert values["mode"] == "servo"
    assert {key: values[key] for key in expected} == pytest.approx(expected)


def test_the_axes_are_independent_until_stop_clears_both() -> None:
    session = open_session()
    send_int(session, PioneerCommand.VEL, 300)
    values = posted_command(send_int(session, PioneerCommand.HEAD, 90))
    assert (values["vx"], values["heading"]) == (0.3, pytest.approx(math.pi / 2))
    values = posted_command(send_int(session, PioneerCommand.MOVE, 1000))
    assert values["distance"] == 1.0
    assert "heading" in values
    values = posted_command(send_int(session, PioneerCommand.RVEL, 10))
    assert "heading" not in values
    values = posted_command(send(session, commands.encode_empty(PioneerCommand.STOP)))
    assert (values["vx"], values["wz"]) == (0.0, 0.0)
    assert not {"distance", "heading"} & set(values)


def test_commands_that_arrive_together_are_one_event() -> None:
    session = open_session()
    output = send(
        session,
        commands.encode_int(PioneerCommand.VEL, 300),
        commands.encode_int(PioneerCommand.RVEL, 9),
    )
    assert len(output.events) == 1
    assert posted_command(output)["wz"] == pytest.approx(9 * DEGREE)


def test_a_move_that_is_kept_alive_does_not_start_again() -> None:
    session = open_session(WATCHDOG)
    first = posted_command(send_int(session, PioneerCommand.MOVE, 1000))["serial"]
    report(session)
    assert (
        posted_command(send(session, commands.encode_empty(PioneerCommand.PULSE)))["serial"]
        == first
    )
    assert posted_command(send_int(session, PioneerCommand.MOVE, 1000))["serial"] == first + 1


def test_a_relative_heading_starts_from_the_odometry() -> None:
    session = open_session()
    report(session, belief=(0.0, 0.0, 1.0))
    assert posted_command(send_int(session, PioneerCommand.DHEAD, 90))["heading"] == pytest.approx(
        1.0 + math.pi / 2
    )


def test_only_an_omnidirectional_robot_gets_a_lateral_speed() -> None:
    assert (
        posted_command(send_int(open_session(model=SEEKUR), PioneerCommand.LATVEL, 200))["vy"]
        == 0.2
    )
    assert posted_command(send_int(open_session(), PioneerCommand.LATVEL, 200))["vy"] == 0.0


def test_a_robot_with_motors_off_stops_and_ignores_motion() -> None:
    session = open_session(WATCHDOG)
    send_int(session, PioneerCommand.VEL, 300)
    assert posted_command(send_int(session, PioneerCommand.ENABLE, 0))["vx"] == 0.0
    assert not Sip.decode(report(session)[0].data).flags & 1
    assert posted_command(send_int(session, PioneerCommand.VEL, 300))["vx"] == 0.0
    send_int(session, PioneerCommand.ENABLE, 1)
    assert posted_command(send_int(session, PioneerCommand.VEL, 300))["vx"] == 0.3


def test_after_an_emergency_stop_motion_is_ignored_until_standstill() -> None:
    session = open_session(WATCHDOG)
    report(session, vx=0.5)
    values = posted_command(send(session, commands.encode_empty(PioneerCommand.ESTOP)))
    assert (values["vx"], values["decel"]) == (0.0, 0.5 / 0.1 + P3DX.accel)  # within a cycle
    report(session, vx=0.5)
    assert posted_command(send_int(session, PioneerCommand.VEL, 300))["vx"] == 0.0
    report(session, vx=0.0)
    values = posted_command(send_int(session, PioneerCommand.VEL, 300))
    assert (values["vx"], values["decel"]) == (0.3, P3DX.decel)


def test_a_pulse_keeps_a_robot_with_a_watchdog_alive_once_per_cycle() -> None:
    session = open_session(WATCHDOG)
    send_int(session, PioneerCommand.VEL, 300)
    assert send(session, commands.encode_empty(PioneerCommand.PULSE)).events == []
    report(session)
    assert posted_command(send(session, commands.encode_empty(PioneerCommand.PULSE)))["vx"] == 0.3
    assert send(session, commands.encode_empty(PioneerCommand.PULSE)).events == []


def test_with_a_watchdog_a_silent_client_is_logged_once_and_its_move_is_cancelled() -> None:
    session = open_session(WATCHDOG)
    send_int(session, PioneerCommand.MOVE, 5000)
    logged = [
        session.report_cycle(RobotSnapshot(time=t), CycleIntervals()).requests
        for t in (50.0, 51.9, 52.1, 52.2)
    ]
    assert [len(texts) for texts in logged] == [
        0,
        0,
        1,
        0,
    ]  # from the first cycle of the session, not from the start of the run
    values = posted_command(send(session, commands.encode_empty(PioneerCommand.PULSE)))
    assert "distance" not in values


@pytest.mark.parametrize("like_mobilesim", [False, True])
def test_without_a_watchdog_a_silent_client_is_only_logged(like_mobilesim: bool) -> None:
    session = open_session(SessionOptions(like_mobilesim=like_mobilesim))
    send_int(session, PioneerCommand.MOVE, 5000)
    session.report_cycle(RobotSnapshot(time=1.0), CycleIntervals())
    (logged,) = session.report_cycle(RobotSnapshot(time=4.0), CycleIntervals()).requests
    assert isinstance(logged, LogText)
    assert logged.text.endswith("only a warning")
    assert send(session, commands.encode_empty(PioneerCommand.PULSE)).events == []
    assert posted_command(send_int(session, PioneerCommand.RVEL, 1))["distance"] == 5.0


# Poses.


def test_set_pose_moves_the_truth_alone() -> None:
    session = open_session()
    report(session)
    output = send(
        session,
        encode_packet(PioneerCommand.SIM_SET_POSE, struct.pack("<Biii", 0, 2000, -2500, 90)),
    )
    places = [event for event in output.events if event.kind != "command"]
    assert [event.kind for event in places] == ["place"]
    assert places[0].values == pytest.approx({"x": 2.0, "y": -2.5, "yaw": math.pi / 2})


@pytest.mark.parametrize("data", [b"", b"\0" * 12, struct.pack("<Biii", 0, 2**31 - 1, 0, 0)])
def test_a_pose_that_is_cut_off_or_too_far_away_is_ignored(data: bytes) -> None:
    events = send(open_session(), encode_packet(PioneerCommand.SIM_SET_POSE, data)).events
    assert not [event for event in events if event.kind == "place"]


@pytest.mark.parametrize(
    ("options", "pose"),
    [(SessionOptions(), (1.0, 2.0, 0.5)), (SessionOptions(like_mobilesim=True), (0.0, 0.0, 0.0))],
)
def test_reset_brings_the_robot_home_and_the_odometry_to_zero(
    options: SessionOptions, pose: tuple[float, float, float]
) -> None:
    events = send(open_session(options), commands.encode_empty(PioneerCommand.SIM_RESET)).events
    place, believe = (e for e in events if e.kind in ("place", "believe"))
    assert tuple(place.values.values()) == pose
    assert set(believe.values.values()) == {0.0}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", (0.0, 0.0, 0.0)),
        (struct.pack("<Bhhh", 0x2B, 1000, -500, 90), (1.0, -0.5, math.pi / 2)),
    ],
)
def test_seto_sets_the_odometry(data: bytes, expected: tuple[float, float, float]) -> None:
    events = send(open_session(), encode_packet(PioneerCommand.SETO, data)).events
    (believe,) = [event for event in events if event.kind == "believe"]
    assert tuple(believe.values.values()) == pytest.approx(expected)


def test_a_target_heading_keeps_its_direction_when_the_odometry_is_set() -> None:
    session = open_session()
    report(session, belief=(0.0, 0.0, 1.0))
    send_int(session, PioneerCommand.HEAD, 90)
    values = posted_command(send(session, commands.encode_empty(PioneerCommand.SETO)))
    assert values["heading"] == pytest.approx(math.pi / 2 - 1.0)


# Packets of a cycle.


def test_a_sip_reports_the_belief_in_firmware_units() -> None:
    snapshot = {"truth": (9.0, 9.0, 9.0), "belief": (1.0, -2.0, -math.pi / 2), "vx": 0.3, "wz": 0.1}
    sip = Sip.decode(report(open_session(), **snapshot)[0].data)
    assert (sip.x, sip.y) == (round(1000 / 0.485), round(-2000 / 0.485))
    assert sip.heading == round(-math.pi / 2 / 0.001534)
    assert sip.right_mm_s - sip.left_mm_s == pytest.approx(2 * 0.1 / 0.0056, abs=1)
    assert (sip.left_mm_s + sip.right_mm_s) / 2 == pytest.approx(300, abs=1)
    assert sip.turn_decideg_s == round(math.degrees(0.1) * 10)
    assert (sip.battery_dv, sip.flags, sip.temperature_deg) == (130, 0x1F, -127)


def test_sonars_are_clipped_to_their_limits_and_absent_while_off() -> None:
    session = open_session()
    ranges = np.array([-np.inf, 0.05, 1.2344, 7.0, np.inf])
    sip = Sip.decode(report(session, sonar=ranges)[0].data)
    assert sip.sonars == ((0, 100), (1, 100), (2, 1234), (3, 5000), (4, 5000))
    send_int(session, PioneerCommand.SONAR, 0)
    sip = Sip.decode(report(session, sonar=ranges)[0].data)
    assert (sip.sonars, sip.flags) == ((), 1)


def test_stall_and_bumpers_are_bits_of_one_word() -> None:
    sip = Sip.decode(report(open_session(), stalled=True, bumper_bits=1 << 9)[0].data)
    assert sip.stall == 0x0101 | 1 << 9


@pytest.mark.parametrize(
    ("command", "value", "field", "expected"),
    [
        (PioneerCommand.BATTEST, 112, "battery_dv", 112),
        (PioneerCommand.BATTEST, 0, "battery_dv", 130),
        (PioneerCommand.SPOOFANALOGTEMP, -5, "temperature_deg", -5),
        (PioneerCommand.SPOOFANALOGTEMP, -128, "temperature_deg", -127),
        (PioneerCommand.DIGTEMPTEST, 1, "faults", 2),
        (PioneerCommand.DIGOUT, 0x0F05, "digital_out", 0xF5),
    ],
)
def test_test_values_are_reported(command: int, value: int, field: str, expected: int) -> None:
    session = open_session()
    send_int(session, command, value)
    assert getattr(Sip.decode(report(session)[0].data), field) == expected


def test_simstat_is_sent_never_once_or_before_each_sip() -> None:
    session = open_session()
    seen = []
    for mode in (0, 1, 2, 0):
        send_int(session, PioneerCommand.SIM_STAT, mode)
        seen.append([[p.id for p in report(session)] for _ in range(2)])
    with_stat, without = [0x62, 0x32], [0x32]
    assert seen == [[without] * 2, [with_stat, without], [with_stat] * 2, [without] * 2]


@pytest.mark.parametrize("argument", [b"", b"\x3b\x01\x00"])
def test_a_request_for_gps_is_answered_by_a_simstat(argument: bytes) -> None:
    session = open_session()
    send(session, encode_packet(PioneerCommand.GPS, argument))
    place = GpsPosition(42.5, -71.25, 100.0, 1.0)
    answer, sip = report(session, gps=place)
    assert (answer.id, sip.id) == (SimStat.ID, Sip.ID)
    stat = SimStat.decode(answer.data)
    assert (stat.latitude_e7, stat.longitude_e7) == (425_000_000, -712_500_000)
    assert (stat.altitude_cm, stat.gps_quality) == (10_000, 100)
    assert [packet.id for packet in report(session)] == [Sip.ID]
    send_int(session, PioneerCommand.SIM_STAT, 2)
    send(session, encode_packet(PioneerCommand.GPS, argument))  # does not end a stream
    assert [[p.id for p in report(session)] for _ in range(2)] == [[SimStat.ID, Sip.ID]] * 2


def test_a_request_for_a_stream_of_gps_is_answered_in_every_cycle() -> None:
    session = open_session()
    send_int(session, PioneerCommand.GPS, 2)
    assert [[p.id for p in report(session)] for _ in range(2)] == [[SimStat.ID, Sip.ID]] * 2


def test_simstat_reports_the_truth_and_the_timing_of_the_run() -> None:
    session = open_session()
    send_int(session, PioneerCommand.SIM_STAT, 1)
    snapshot = RobotSnapshot(truth=(1.5, -2.25, math.pi), belief=(0.0, 0.0, 0.0))
    stat = SimStat.decode(
        replies(session.report_cycle(snapshot, CycleIntervals(100, 50, 49)))[0].data
    )
    assert (stat.x_mm, stat.y_mm, stat.z_mm, stat.heading_deg) == (1500, -2250, 0, 180)
    intervals = (stat.sim_interval_ms, stat.real_interval_ms, stat.last_interval_ms)
    assert intervals == (100, 50, 49)


def read_scan(
    session: Session, ranges: np.ndarray[Any, Any], kind: Any, max_range: float = 32.0
) -> list[int]:
    laser = LaserRanges(ranges, -math.pi / 2, math.pi / 180, max_range)
    parts = [kind.decode(p.data) for p in report(session, laser=laser)[1:]]
    assert all(part.total == sum(len(p.ranges) for p in parts) for part in parts)
    return [mm for part in parts for mm in part.ranges]


@pytest.mark.parametrize("first", [PioneerCommand.OLD_LASER_ENABLE, PioneerCommand.SIM_LRF_ENABLE])
def test_both_sets_of_laser_commands_choose_rays_and_packets(first: int) -> None:
    session = open_session()
    ranges = np.linspace(1.0, 10.0, 181)
    for command, value in ((first + 1, -45), (first + 2, 45), (first + 3, 200), (first, 2)):
        send_int(session, command, value)
    assert read_scan(session, ranges, ReflectanceLaserPacket) == [
        round(mm * 1000) for mm in ranges[45:136:2]
    ]
    send_int(session, first, 1)
    assert len(read_scan(session, ranges, PlainLaserPacket)) == 46
    send_int(session, first, 0)
    assert read_scan(session, ranges, ReflectanceLaserPacket) == []


def test_a_ray_without_a_hit_reads_the_largest_range_and_one_too_near_zero() -> None:
    session = open_session()
    send_int(session, PioneerCommand.OLD_LASER_ENABLE, 2)
    ranges = np.full(181, 3.0)
    ranges[0], ranges[1] = np.inf, -np.inf
    assert read_scan(session, ranges, ReflectanceLaserPacket)[:3] == [32000, 0, 3000]


@pytest.mark.parametrize(("asked", "kind"), [(1, PlainLaserPacket), (2, ReflectanceLaserPacket)])
def test_a_range_beyond_16_bits_is_sent_as_the_largest(asked: int, kind: Any) -> None:
    session = open_session()
    send_int(session, PioneerCommand.OLD_LASER_ENABLE, asked)
    ranges = np.full(181, 65.0)
    ranges[0], ranges[1] = np.inf, 80.0
    assert read_scan(session, ranges, kind, max_range=100.0)[:3] == [65535, 65535, 65000]
    assert read_scan(session, np.zeros(0), kind, max_range=100.0) == [65535] * 181


def test_rays_outside_the_field_of_view_read_the_largest_range() -> None:
    session = open_session()
    for command, value in ((36, -120), (37, 120), (38, 100), (35, 2)):
        send_int(session, command, value)
    found = read_scan(session, np.full(181, 3.0), ReflectanceLaserPacket)
    assert found == [32000] * 30 + [3000] * 181 + [32000] * 30


def test_the_first_scan_after_a_teleport_is_flagged() -> None:
    session = open_session()
    send_int(session, PioneerCommand.OLD_LASER_ENABLE, 2)
    send(session, commands.encode_empty(PioneerCommand.SIM_RESET))
    flags = [ReflectanceLaserPacket.decode(report(session)[1].data).flags for _ in range(2)]
    assert flags == [1, 0]


def test_config_siminfo_encoders_and_inputs_are_sent_on_request() -> None:
    session = open_session()
    (config,) = replies(send_int(session, PioneerCommand.CONFIG, 1))
    sent = Config.decode(config.data)
    assert (sent.subclass, sent.speed_max, sent.turn_max, sent.accel) == ("p3dx", 3000, 150, 300)
    (info,) = replies(send_int(session, PioneerCommand.SIM_CTRL, ControlCommand.INFO))
    names = [device.name for device in SimInfo.decode(info.data).devices]
    assert names == ["anna.pioneerSonar:0", "anna.sicklms200:0"]
    send_int(session, PioneerCommand.ENCODER, 1)
    send_int(session, PioneerCommand.IOREQUEST, 2)
    packets = report(session, encoder_ticks=(-5, 70_000))
    assert EncoderPacket.decode(packets[1].data) == EncoderPacket(-5, 70_000)
    assert InputOutputPacket.decode(packets[2].data).digital_in == (0xFF,)
    assert [packet.id for packet in report(session)] == [0x32, 0xF0]


# Requests that concern more than one robot.


def control(what: int, text: str = "") -> bytes:
    data = text.encode()
    return encode_packet(
        PioneerCommand.SIM_CTRL, struct.pack("<BhH", 0x2B, what, len(data)) + data + b"\0"
    )


def test_requests_are_passed_on() -> None:
    session = open_session()
    assert send(session, control(1, "a b.map")).requests == [LoadMap("a b.map")]
    assert send(session, control(2, "c.map")).requests == [LoadMap("c.map", master=True)]
    assert send(session, control(3)).requests == [ClearMaster()]
    assert send(session, commands.encode_text(PioneerCommand.SIM_MESSAGE, "hello")).requests == [
        LogText("hello")
    ]


def test_a_client_ends_the_simulator_only_where_that_is_allowed() -> None:
    (refused,) = send_int(open_session(), PioneerCommand.SIM_EXIT, 3).requests
    assert isinstance(refused, LogText)
    assert send_int(
        open_session(SessionOptions(allow_exit=True)), PioneerCommand.SIM_EXIT, 3
    ).requests == [ExitSimulator(3)]


@pytest.mark.parametrize("command", [62, 253, 255, 31, 66, 99, 200])
def test_commands_that_abort_mobilesim_and_unknown_ones_change_nothing(
    command: int,
) -> None:
    session = open_session(WATCHDOG)
    report(session)
    output = send_int(session, command, 1)
    assert output.requests == []
    assert [event.kind for event in output.events] == ["command"]  # it lives
    assert session.state is SessionState.OPEN


# Any input.


def is_valid(event: Event) -> bool:
    numbers = [v for v in event.values.values() if not isinstance(v, str)]
    return event.robots == (3,) and all(math.isfinite(v) and abs(v) < 1e6 for v in numbers)


@settings(max_examples=200)
@given(st.lists(st.builds(Packet, st.integers(0, 255), st.binary(max_size=20)), max_size=30))
def test_any_packets_give_valid_events_and_whole_replies(packets: list[Packet]) -> None:
    session = open_session(SessionOptions(allow_exit=True))
    output = session.receive(packets)
    output.reply += session.report_cycle(RobotSnapshot(), CycleIntervals()).reply
    assert all(is_valid(event) for event in output.events)
    framer = Framer()
    framer.feed(output.reply)
    assert (framer.dropped_bytes, framer.has_partial_packet) == (0, False)


def test_a_hundred_thousand_packets_of_noise_neither_crash_nor_grow() -> None:
    chance = random.Random(7)
    framer, session = Framer(), open_session()
    tracemalloc.start()
    before, fed = 0, 0
    for k in range(100_000):
        kind = chance.randrange(256)
        data = chance.randbytes(chance.randrange(8))
        piece = encode_packet(kind, data) if k % 3 else chance.randbytes(12)
        output = session.receive(framer.feed(piece))
        fed += len(output.events)
        assert all(is_valid(event) for event in output.events)
        if session.state is SessionState.CLOSED:
            session = open_session()
        if k % 100 == 0:
            session.report_cycle(RobotSnapshot(time=k / 1000), CycleIntervals())
        if k == 20_000:
            before = tracemalloc.get_traced_memory()[0]
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert fed > 1000
    assert grown < 100_000
