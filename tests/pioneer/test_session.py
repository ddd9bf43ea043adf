"""What becomes of a client's commands: events, answers, and nothing else, whatever it sends."""

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
from astray.pioneer.commands import ControlCommand, PioneerCommand
from astray.pioneer.model import find_model
from astray.pioneer.packets.config import Config
from astray.pioneer.packets.extras import EncoderPacket, InputOutputPacket
from astray.pioneer.packets.framing import Framer, Packet, encode
from astray.pioneer.packets.laser import PlainScan, Scan
from astray.pioneer.packets.simulator import SimInfo, SimStat
from astray.pioneer.packets.sip import Sip
from astray.pioneer.requests import ClearMaster, Exit, LoadMap, Say
from astray.pioneer.session import (
    HandshakeStage,
    ServedRobot,
    Session,
    SessionOptions,
    SessionOutput,
)
from astray.pioneer.snapshot import Beams, Intervals, RobotSnapshot

P3DX = find_model("p3dx")
SEEKUR = find_model("seekur")
DEGREE = math.pi / 180


def session(options: SessionOptions | None = None, model: Any = P3DX) -> Session:
    """A session that has not begun."""
    return Session(
        ServedRobot("anna", model, "p3dx", 3, home=(1.0, 2.0, 0.5)), options or SessionOptions()
    )


def opened(options: SessionOptions | None = None, model: Any = P3DX) -> Session:
    """A session that is open."""
    made = session(options, model)
    say(made, encode(0), encode(1), encode(2), commands.with_number(PioneerCommand.OPEN, 1))
    return made


def say(to: Session, *sent: bytes) -> SessionOutput:
    return to.feed(Framer().feed(b"".join(sent)))


def number(to: Session, command: int, value: float) -> SessionOutput:
    return say(to, commands.with_number(command, value))


def answers(outcome: SessionOutput) -> list[Packet]:
    return Framer().feed(outcome.answer)


def wanted(outcome: SessionOutput) -> dict[str, Any]:
    """The values of the one command that is posted."""
    (event,) = [event for event in outcome.events if event.kind == "command"]
    return dict(event.values)


def cycle(of: Session, **moment: Any) -> list[Packet]:
    return answers(of.tell(RobotSnapshot(**moment), Intervals()))


# The handshake.


def test_syncs_are_echoed_and_the_last_is_answered_by_name_class_and_subclass() -> None:
    made = session()
    echoed = [answers(say(made, encode(k)))[0] for k in range(3)]
    assert echoed == [Packet(0), Packet(1), Packet(2, b"MobileSim\0Pioneer\0p3dx\0")]
    assert made.stage is HandshakeStage.SYNCED


def test_a_handshake_may_start_over_and_repeat_itself() -> None:
    made = session()
    sent = [0, 1, 0, 0, 1, 1, 2, 2, 0, 1, 2]
    assert [answers(say(made, encode(k)))[0].id for k in sent] == sent


def test_no_standard_packet_comes_before_open_and_the_odometer_is_zero_after() -> None:
    made = session()
    say(made, encode(0), encode(1), encode(2))
    assert cycle(made) == []
    outcome = number(made, PioneerCommand.OPEN, 1)
    believed = Event("believe", "p3dx", (0,), (3,), {"x": 0.0, "y": 0.0, "yaw": 0.0})
    assert believed in outcome.events
    assert [packet.id for packet in cycle(made)] == [0x32]


def test_commands_before_open_are_ignored() -> None:
    made = session()
    outcome = say(made, encode(0), commands.with_number(PioneerCommand.VEL, 300))
    assert outcome.events == []


def test_close_stops_the_robot_and_ends_the_session() -> None:
    made = opened()
    number(made, PioneerCommand.VEL, 300)
    outcome = number(made, PioneerCommand.CLOSE, 1)
    assert wanted(outcome)["vx"] == 0.0
    assert made.stage is HandshakeStage.LEFT
    assert say(made, commands.with_number(PioneerCommand.VEL, 300)).events == []


def test_a_client_that_vanishes_leaves_a_robot_that_stops() -> None:
    made = opened()
    number(made, PioneerCommand.VEL, 300)
    (stop,) = made.end()
    assert (stop.values["vx"], stop.values["wz"], stop.robots) == (0.0, 0.0, (3,))
    assert session().end() == []


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
    values = wanted(number(opened(), command, value))
    assert values["mode"] == "servo"
    assert {key: values[key] for key in expected} == pytest.approx(expected)


def test_the_axes_are_independent_until_stop_clears_both() -> None:
    made = opened()
    number(made, PioneerCommand.VEL, 300)
    values = wanted(number(made, PioneerCommand.HEAD, 90))
    assert (values["vx"], values["heading"]) == (0.3, pytest.approx(math.pi / 2))
    values = wanted(number(made, PioneerCommand.MOVE, 1000))
    assert values["distance"] == 1.0
    assert "heading" in values
    values = wanted(number(made, PioneerCommand.RVEL, 10))
    assert "heading" not in values
    values = wanted(say(made, commands.bare(PioneerCommand.STOP)))
    assert (values["vx"], values["wz"]) == (0.0, 0.0)
    assert not {"distance", "heading"} & set(values)


def test_commands_that_come_together_are_one_event() -> None:
    made = opened()
    outcome = say(
        made,
        commands.with_number(PioneerCommand.VEL, 300),
        commands.with_number(PioneerCommand.RVEL, 9),
    )
    assert len(outcome.events) == 1
    assert wanted(outcome)["wz"] == pytest.approx(9 * DEGREE)


def test_a_move_that_is_kept_alive_does_not_start_again() -> None:
    made = opened()
    first = wanted(number(made, PioneerCommand.MOVE, 1000))["serial"]
    cycle(made)
    assert wanted(say(made, commands.bare(PioneerCommand.PULSE)))["serial"] == first
    assert wanted(number(made, PioneerCommand.MOVE, 1000))["serial"] == first + 1


def test_a_relative_heading_starts_from_what_the_odometer_reads() -> None:
    made = opened()
    cycle(made, belief=(0.0, 0.0, 1.0))
    assert wanted(number(made, PioneerCommand.DHEAD, 90))["heading"] == pytest.approx(
        1.0 + math.pi / 2
    )


def test_sideways_goes_only_who_can() -> None:
    assert wanted(number(opened(model=SEEKUR), PioneerCommand.LATVEL, 200))["vy"] == 0.2
    assert wanted(number(opened(), PioneerCommand.LATVEL, 200))["vy"] == 0.0


def test_motors_that_are_off_stop_and_ignore_motion() -> None:
    made = opened()
    number(made, PioneerCommand.VEL, 300)
    assert wanted(number(made, PioneerCommand.ENABLE, 0))["vx"] == 0.0
    assert not Sip.decode(cycle(made)[0].data).flags & 1
    assert wanted(number(made, PioneerCommand.VEL, 300))["vx"] == 0.0
    number(made, PioneerCommand.ENABLE, 1)
    assert wanted(number(made, PioneerCommand.VEL, 300))["vx"] == 0.3


def test_after_an_emergency_stop_motion_is_ignored_until_the_robot_stands() -> None:
    made = opened()
    values = wanted(say(made, commands.bare(PioneerCommand.ESTOP)))
    assert (values["vx"], values["decel"]) == (0.0, 9.999)
    cycle(made, vx=0.5)
    assert wanted(number(made, PioneerCommand.VEL, 300))["vx"] == 0.0
    cycle(made, vx=0.0)
    values = wanted(number(made, PioneerCommand.VEL, 300))
    assert (values["vx"], values["decel"]) == (0.3, P3DX.decel)


def test_a_pulse_keeps_a_robot_going_once_per_cycle() -> None:
    made = opened()
    number(made, PioneerCommand.VEL, 300)
    assert say(made, commands.bare(PioneerCommand.PULSE)).events == []
    cycle(made)
    assert wanted(say(made, commands.bare(PioneerCommand.PULSE)))["vx"] == 0.3
    assert say(made, commands.bare(PioneerCommand.PULSE)).events == []


def test_a_silent_client_is_warned_of_once_and_its_move_is_over() -> None:
    made = opened()
    number(made, PioneerCommand.MOVE, 5000)
    said = [
        made.tell(RobotSnapshot(time=t), Intervals()).requests for t in (50.0, 51.9, 52.1, 52.2)
    ]
    assert [len(one) for one in said] == [
        0,
        0,
        1,
        0,
    ]  # from when it came, not from the start of the run
    values = wanted(say(made, commands.bare(PioneerCommand.PULSE)))
    assert "distance" not in values


def test_like_mobilesim_a_silent_client_is_only_warned_of() -> None:
    made = opened(SessionOptions(like_mobilesim=True))
    number(made, PioneerCommand.MOVE, 5000)
    made.tell(RobotSnapshot(time=1.0), Intervals())
    (said,) = made.tell(RobotSnapshot(time=4.0), Intervals()).requests
    assert isinstance(said, Say)
    assert say(made, commands.bare(PioneerCommand.PULSE)).events == []
    assert wanted(number(made, PioneerCommand.RVEL, 1))["distance"] == 5.0


# Poses.


def test_set_pose_moves_the_truth_alone() -> None:
    made = opened()
    cycle(made)
    outcome = say(
        made, encode(PioneerCommand.SIM_SET_POSE, struct.pack("<Biii", 0, 2000, -2500, 90))
    )
    places = [event for event in outcome.events if event.kind != "command"]
    assert [event.kind for event in places] == ["place"]
    assert places[0].values == pytest.approx({"x": 2.0, "y": -2.5, "yaw": math.pi / 2})


@pytest.mark.parametrize("data", [b"", b"\0" * 12, struct.pack("<Biii", 0, 2**31 - 1, 0, 0)])
def test_a_pose_that_is_cut_off_or_off_the_earth_is_ignored(data: bytes) -> None:
    events = say(opened(), encode(PioneerCommand.SIM_SET_POSE, data)).events
    assert not [event for event in events if event.kind == "place"]


@pytest.mark.parametrize(
    ("options", "pose"),
    [(SessionOptions(), (1.0, 2.0, 0.5)), (SessionOptions(like_mobilesim=True), (0.0, 0.0, 0.0))],
)
def test_reset_brings_the_robot_home_and_the_odometer_to_zero(
    options: SessionOptions, pose: tuple[float, float, float]
) -> None:
    events = say(opened(options), commands.bare(PioneerCommand.SIM_RESET)).events
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
def test_seto_sets_the_odometer(data: bytes, expected: tuple[float, float, float]) -> None:
    events = say(opened(), encode(PioneerCommand.SETO, data)).events
    (believe,) = [event for event in events if event.kind == "believe"]
    assert tuple(believe.values.values()) == pytest.approx(expected)


def test_a_heading_to_come_to_stays_the_same_direction_when_the_odometer_is_set() -> None:
    made = opened()
    cycle(made, belief=(0.0, 0.0, 1.0))
    number(made, PioneerCommand.HEAD, 90)
    values = wanted(say(made, commands.bare(PioneerCommand.SETO)))
    assert values["heading"] == pytest.approx(math.pi / 2 - 1.0)


# What is told.


def test_a_standard_packet_tells_the_belief_in_the_robots_own_units() -> None:
    moment = {"truth": (9.0, 9.0, 9.0), "belief": (1.0, -2.0, -math.pi / 2), "vx": 0.3, "wz": 0.1}
    sip = Sip.decode(cycle(opened(), **moment)[0].data)
    assert (sip.x, sip.y) == (round(1000 / 0.485), round(-2000 / 0.485))
    assert sip.heading == round(-math.pi / 2 / 0.001534)
    assert sip.right_mm_s - sip.left_mm_s == pytest.approx(2 * 0.1 / 0.0056, abs=1)
    assert (sip.left_mm_s + sip.right_mm_s) / 2 == pytest.approx(300, abs=1)
    assert sip.turn_decideg_s == round(math.degrees(0.1) * 10)
    assert (sip.battery_dv, sip.flags, sip.temperature_deg) == (130, 0x1F, -127)


def test_sonars_read_within_their_reach_and_nothing_while_they_are_off() -> None:
    made = opened()
    ranges = np.array([-np.inf, 0.05, 1.2344, 7.0, np.inf])
    sip = Sip.decode(cycle(made, sonar=ranges)[0].data)
    assert sip.sonars == ((0, 100), (1, 100), (2, 1234), (3, 5000), (4, 5000))
    number(made, PioneerCommand.SONAR, 0)
    sip = Sip.decode(cycle(made, sonar=ranges)[0].data)
    assert (sip.sonars, sip.flags) == ((), 1)


def test_stall_and_bumpers_are_bits_of_one_word() -> None:
    sip = Sip.decode(cycle(opened(), stalled=True, bumped=1 << 9)[0].data)
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
def test_what_is_made_up_is_told(command: int, value: int, field: str, expected: int) -> None:
    made = opened()
    number(made, command, value)
    assert getattr(Sip.decode(cycle(made)[0].data), field) == expected


def test_simstat_comes_never_once_or_before_each_standard_packet() -> None:
    made = opened()
    seen = []
    for mode in (0, 1, 2, 0):
        number(made, PioneerCommand.SIM_STAT, mode)
        seen.append([[p.id for p in cycle(made)] for _ in range(2)])
    with_stat, without = [0x62, 0x32], [0x32]
    assert seen == [[without] * 2, [with_stat, without], [with_stat] * 2, [without] * 2]


def test_simstat_tells_the_truth_and_the_pace_of_the_run() -> None:
    made = opened()
    number(made, PioneerCommand.SIM_STAT, 1)
    moment = RobotSnapshot(truth=(1.5, -2.25, math.pi), belief=(0.0, 0.0, 0.0))
    stat = SimStat.decode(answers(made.tell(moment, Intervals(100, 50, 49)))[0].data)
    assert (stat.x_mm, stat.y_mm, stat.z_mm, stat.heading_deg) == (1500, -2250, 0, 180)
    intervals = (stat.sim_interval_ms, stat.real_interval_ms, stat.last_interval_ms)
    assert intervals == (100, 50, 49)


def scan_of(
    made: Session, ranges: np.ndarray[Any, Any], kind: Any, max_range: float = 32.0
) -> list[int]:
    beams = Beams(ranges, -math.pi / 2, math.pi / 180, max_range)
    parts = [kind.decode(p.data) for p in cycle(made, beams=beams)[1:]]
    assert all(part.total == sum(len(p.ranges) for p in parts) for part in parts)
    return [mm for part in parts for mm in part.ranges]


@pytest.mark.parametrize("first", [PioneerCommand.OLD_LASER_ENABLE, PioneerCommand.SIM_LRF_ENABLE])
def test_both_sets_of_laser_commands_choose_rays_and_packets(first: int) -> None:
    made = opened()
    ranges = np.linspace(1.0, 10.0, 181)
    for command, value in ((first + 1, -45), (first + 2, 45), (first + 3, 200), (first, 2)):
        number(made, command, value)
    assert scan_of(made, ranges, Scan) == [round(mm * 1000) for mm in ranges[45:136:2]]
    number(made, first, 1)
    assert len(scan_of(made, ranges, PlainScan)) == 46
    number(made, first, 0)
    assert scan_of(made, ranges, Scan) == []


def test_a_ray_without_a_hit_reads_the_longest_range_and_one_too_near_zero() -> None:
    made = opened()
    number(made, PioneerCommand.OLD_LASER_ENABLE, 2)
    ranges = np.full(181, 3.0)
    ranges[0], ranges[1] = np.inf, -np.inf
    assert scan_of(made, ranges, Scan)[:3] == [32000, 0, 3000]


@pytest.mark.parametrize(("asked", "kind"), [(1, PlainScan), (2, Scan)])
def test_a_laser_that_sees_farther_than_a_packet_can_tell_reads_the_most_it_can(
    asked: int, kind: Any
) -> None:
    made = opened()
    number(made, PioneerCommand.OLD_LASER_ENABLE, asked)
    ranges = np.full(181, 65.0)
    ranges[0], ranges[1] = np.inf, 80.0
    assert scan_of(made, ranges, kind, max_range=100.0)[:3] == [65535, 65535, 65000]
    assert scan_of(made, np.zeros(0), kind, max_range=100.0) == [65535] * 181


def test_rays_outside_the_view_read_the_longest_range() -> None:
    made = opened()
    for command, value in ((36, -120), (37, 120), (38, 100), (35, 2)):
        number(made, command, value)
    found = scan_of(made, np.full(181, 3.0), Scan)
    assert found == [32000] * 30 + [3000] * 181 + [32000] * 30


def test_the_first_scan_after_a_jump_says_so() -> None:
    made = opened()
    number(made, PioneerCommand.OLD_LASER_ENABLE, 2)
    say(made, commands.bare(PioneerCommand.SIM_RESET))
    flags = [Scan.decode(cycle(made)[1].data).flags for _ in range(2)]
    assert flags == [1, 0]


def test_config_info_encoders_and_inputs_are_told_when_asked_for() -> None:
    made = opened()
    (config,) = answers(number(made, PioneerCommand.CONFIG, 1))
    told = Config.decode(config.data)
    assert (told.subclass, told.speed_max, told.turn_max, told.accel) == ("p3dx", 3000, 150, 300)
    (info,) = answers(number(made, PioneerCommand.SIM_CTRL, ControlCommand.INFO))
    names = [device.name for device in SimInfo.decode(info.data).devices]
    assert names == ["anna.pioneerSonar:0", "anna.sicklms200:0"]
    number(made, PioneerCommand.ENCODER, 1)
    number(made, PioneerCommand.IOREQUEST, 2)
    packets = cycle(made, wheels=(-5, 70_000))
    assert EncoderPacket.decode(packets[1].data) == EncoderPacket(-5, 70_000)
    assert InputOutputPacket.decode(packets[2].data).digital_in == (0xFF,)
    assert [packet.id for packet in cycle(made)] == [0x32, 0xF0]


# What concerns more than one robot.


def control(what: int, text: str = "") -> bytes:
    data = text.encode()
    return encode(
        PioneerCommand.SIM_CTRL, struct.pack("<BhH", 0x2B, what, len(data)) + data + b"\0"
    )


def test_requests_are_passed_on() -> None:
    made = opened()
    assert say(made, control(1, "a b.map")).requests == [LoadMap("a b.map")]
    assert say(made, control(2, "c.map")).requests == [LoadMap("c.map", master=True)]
    assert say(made, control(3)).requests == [ClearMaster()]
    assert say(made, commands.with_text(PioneerCommand.SIM_MESSAGE, "hello")).requests == [
        Say("hello")
    ]


def test_a_client_ends_the_simulator_only_where_that_is_allowed() -> None:
    (refused,) = number(opened(), PioneerCommand.SIM_EXIT, 3).requests
    assert isinstance(refused, Say)
    assert number(opened(SessionOptions(allow_exit=True)), PioneerCommand.SIM_EXIT, 3).requests == [
        Exit(3)
    ]


@pytest.mark.parametrize("command", [62, 253, 255, 31, 66, 99, 200])
def test_what_would_end_or_abort_mobilesim_and_what_is_unknown_changes_nothing(
    command: int,
) -> None:
    made = opened()
    cycle(made)
    outcome = number(made, command, 1)
    assert outcome.requests == []
    assert [event.kind for event in outcome.events] == ["command"]  # it lives
    assert made.stage is HandshakeStage.OPEN


# Whatever comes.


def sound(event: Event) -> bool:
    numbers = [v for v in event.values.values() if not isinstance(v, str)]
    return event.robots == (3,) and all(math.isfinite(v) and abs(v) < 1e6 for v in numbers)


@settings(max_examples=200)
@given(st.lists(st.builds(Packet, st.integers(0, 255), st.binary(max_size=20)), max_size=30))
def test_any_packets_give_sound_events_and_whole_answers(packets: list[Packet]) -> None:
    made = opened(SessionOptions(allow_exit=True))
    outcome = made.feed(packets)
    outcome.answer += made.tell(RobotSnapshot(), Intervals()).answer
    assert all(sound(event) for event in outcome.events)
    framer = Framer()
    framer.feed(outcome.answer)
    assert (framer.dropped, framer.waiting) == (0, False)


def test_a_hundred_thousand_packets_of_noise_neither_crash_nor_grow() -> None:
    chance = random.Random(7)
    framer, made = Framer(), opened()
    tracemalloc.start()
    before, fed = 0, 0
    for k in range(100_000):
        kind = chance.randrange(256)
        data = chance.randbytes(chance.randrange(8))
        piece = encode(kind, data) if k % 3 else chance.randbytes(12)
        outcome = made.feed(framer.feed(piece))
        fed += len(outcome.events)
        assert all(sound(event) for event in outcome.events)
        if made.stage is HandshakeStage.LEFT:
            made = opened()
        if k % 100 == 0:
            made.tell(RobotSnapshot(time=k / 1000), Intervals())
        if k == 20_000:
            before = tracemalloc.get_traced_memory()[0]
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert fed > 1000
    assert grown < 100_000
