"""Packets and commands: what MobileSim sent is decoded and encoded again byte for byte."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astray.pioneer import commands
from astray.pioneer.commands import PioneerCommand
from astray.pioneer.packets.fields import BadPacket, wrap_i16
from astray.pioneer.packets.framing import MAX_DATA, Framer, Packet, checksum, encode_packet
from astray.pioneer.packets.laser import (
    PlainLaserPacket,
    ReflectanceLaserPacket,
    ScanLayout,
    encode_plain_scan,
    encode_reflectance_scan,
)
from astray.pioneer.packets.robot import (
    BatteryPacket,
    Config,
    EncoderPacket,
    GyroPacket,
    InputOutputPacket,
    Sip,
)
from astray.pioneer.packets.simulator import Device, MapChanged, SimInfo, SimStat
from support.paths import DATA

RECORDED = DATA / "pioneer"
recorded = pytest.mark.skipif(not RECORDED.is_dir(), reason="needs the recordings of MobileSim")
KINDS: dict[int, Any] = {
    0x20: Config,
    0x32: Sip,
    0x60: PlainLaserPacket,
    0x61: ReflectanceLaserPacket,
    0x62: SimStat,
    0x63: SimInfo,
    0x66: MapChanged,
    0x90: EncoderPacket,
    0x98: GyroPacket,
    0xF0: InputOutputPacket,
    0xFA: BatteryPacket,
}
UNINITIALISED = ("lateral_max", "lateral_accel", "lateral_decel")
bodies = st.builds(Packet, st.integers(0, 255), st.binary(max_size=MAX_DATA))


def recording(name: str) -> Iterator[dict[str, Any]]:
    with (RECORDED / f"{name}.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def packets_of(name: str) -> list[tuple[bytes, Packet]]:
    raw = [bytes.fromhex(record["raw"]) for record in recording(name) if "raw" in record]
    return [(framed, Framer().feed(framed)[0]) for framed in raw]


# Framing.


@pytest.mark.parametrize(
    ("packet", "raw"),
    [
        (Packet(0), "fafb03000000"),
        (Packet(1), "fafb03010001"),
        (
            Packet(2, b"MobileSim\0Pioneer\0p3dx\0"),
            "fafb1a024d6f62696c6553696d0050696f6e6565720070336478009345",
        ),
        (Packet(1, b"\x3b\x01\x00"), "fafb06013b010002 3b".replace(" ", "")),
    ],
)
def test_packets_have_the_bytes_that_robots_send(packet: Packet, raw: str) -> None:
    assert packet.encode().hex() == raw
    assert Framer().feed(bytes.fromhex(raw)) == [packet]


def test_an_odd_last_byte_enters_the_checksum_by_exclusive_or() -> None:
    assert checksum(b"\x12\x34") == 0x1234
    assert checksum(b"\x12\x34\xff") == 0x1234 ^ 0xFF
    assert checksum(b"\xff\xff\x00\x02") == 0x0001


def test_more_data_than_a_packet_holds_are_refused() -> None:
    assert len(encode_packet(1, bytes(MAX_DATA))) == MAX_DATA + 6
    with pytest.raises(ValueError, match="252 bytes"):
        encode_packet(1, bytes(MAX_DATA + 1))


@given(st.lists(bodies, max_size=5), st.lists(st.integers(0, 400), max_size=8))
def test_a_stream_gives_the_same_packets_however_it_is_cut(
    packets: list[Packet], cuts: list[int]
) -> None:
    stream = b"".join(packet.encode() for packet in packets)
    framer, found, at = Framer(), [], 0
    for cut in sorted(cuts):
        found += framer.feed(stream[at:cut])
        at = max(at, min(cut, len(stream)))
    found += framer.feed(stream[at:])
    assert found == packets
    assert framer.dropped_bytes == 0


@given(st.binary(max_size=60).filter(lambda noise: b"\xfa" not in noise), bodies)
def test_noise_before_a_packet_is_dropped_alone(noise: bytes, packet: Packet) -> None:
    framer = Framer()
    assert framer.feed(noise + packet.encode()) == [packet]
    assert framer.dropped_bytes == len(noise)


@given(bodies, st.integers(0, 10_000), st.integers(1, 255))
def test_a_damaged_packet_is_dropped_and_the_next_is_found(
    packet: Packet, place: int, change: int
) -> None:
    damaged = bytearray(packet.encode())
    place = 3 + place % (len(damaged) - 3)  # neither its header nor its length
    damaged[place] ^= change
    framer = Framer()
    good = Packet(PioneerCommand.VEL, b"\x3b\x64\x00")
    found = framer.feed(
        bytes(damaged) + 50 * good.encode()
    )  # an apparent header may wait for more bytes
    assert found[-1] == good
    assert packet not in found or packet == good


@given(st.lists(st.binary(max_size=300), max_size=20))
def test_a_framer_buffers_less_than_one_packet(pieces: list[bytes]) -> None:
    framer = Framer()
    fed = sum(len(piece) for piece in pieces)
    found = [packet for piece in pieces for packet in framer.feed(piece)]
    assert len(framer._buffer) < MAX_DATA + 6
    assert fed == framer.dropped_bytes + len(framer._buffer) + sum(len(p.data) + 6 for p in found)


def test_a_partial_packet_can_be_discarded() -> None:
    framer = Framer()
    assert framer.feed(encode_packet(11, b"\x3b\x64\x00")[:5]) == []
    assert framer.has_partial_packet
    framer.discard_partial_packet()
    assert framer.feed(encode_packet(29)) == [Packet(29)]


# What MobileSim sent.


@recorded
@pytest.mark.parametrize("name", ["a_info", "b_vel400", "d_head90", "g_vel2", "i_laser_setpose"])
def test_every_recorded_packet_is_decoded_and_encoded_byte_for_byte(name: str) -> None:
    seen = set()
    for raw, packet in packets_of(name):
        assert packet.encode() == raw
        if packet.id in KINDS:
            assert KINDS[packet.id].decode(packet.data).encode() == raw
            seen.add(packet.id)
    assert {0x32, 0x62} <= seen


@recorded
def test_recorded_packets_decode_to_the_recorded_values() -> None:
    for record in recording("b_vel400"):
        if record.get("id") == 0x32:
            sip = Sip.decode(Framer().feed(bytes.fromhex(record["raw"]))[0].data)
            assert (sip.x, sip.y, sip.heading) == (record["x"], record["y"], record["th"])
            assert (sip.left_mm_s, sip.right_mm_s) == (record["lv"], record["rv"])
            assert [list(pair) for pair in sip.sonars] == record["son"]
        elif record.get("id") == 0x62:
            stat = SimStat.decode(Framer().feed(bytes.fromhex(record["raw"]))[0].data)
            assert [stat.x_mm, stat.y_mm, stat.z_mm, stat.heading_deg] == record["true"]
            assert stat.gps_quality == record["geo"][3]


@recorded
def test_our_default_configuration_is_mobilesims_but_for_what_it_did_not_initialise() -> None:
    (packet,) = [packet for _, packet in packets_of("a_info") if packet.id == 0x20]
    recorded_fields = vars(Config.decode(packet.data))
    defaults = vars(Config())
    assert {key for key in defaults if defaults[key] != recorded_fields[key]} == set(UNINITIALISED)


@recorded
def test_the_recorded_simulator_names_its_sonar_and_its_laser() -> None:
    (packet,) = [packet for _, packet in packets_of("a_info") if packet.id == 0x63]
    info = SimInfo.decode(packet.data)
    assert [device.type for device in info.devices] == ["pioneerSonar", "sicklms200"]


@recorded
def test_a_recorded_scan_is_complete_in_six_packets_and_encoded_again_from_its_ranges() -> None:
    packets = [(raw, p) for raw, p in packets_of("i_laser_setpose") if p.id == 0x61][:6]
    parts = [ReflectanceLaserPacket.decode(packet.data) for _, packet in packets]
    assert [part.first for part in parts] == [0, 32, 64, 96, 128, 160]
    ranges = [mm for part in parts for mm in part.ranges]
    assert len(ranges) == parts[0].total == ScanLayout(-90, 90, 100).count == 181
    assert encode_reflectance_scan(ranges) == b"".join(raw for raw, _ in packets)


# Encoding and decoding.

u8, u16 = st.integers(0, 255), st.integers(0, 65535)
i16, i32 = st.integers(-(2**15), 2**15 - 1), st.integers(-(2**31), 2**31 - 1)
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
ROBOT_PACKETS = st.one_of(
    st.builds(
        Sip,
        x=i16,
        y=i16,
        heading=i16,
        stall=u16,
        flags=u16,
        sonars=st.lists(st.tuples(u8, u16), max_size=16).map(tuple),
        temperature_deg=st.integers(-128, 127),
    ),
    st.builds(Config, robot_class=texts, subclass=texts, name=texts, watchdog_ms=u16, drift=i16),
    st.builds(SimStat, flags=st.integers(0, 2**32 - 1), x_mm=i32, y_mm=i32, heading_deg=i32),
    st.builds(
        SimInfo,
        texts,
        texts,
        devices=st.lists(st.builds(Device, texts, texts, u8, u16), max_size=2).map(tuple),
    ),
    st.builds(MapChanged, u8, u8, texts),
    st.builds(PlainLaserPacket, i16, i16, i16, u16, u16, st.lists(u16, max_size=32).map(tuple)),
    st.builds(
        ReflectanceLaserPacket,
        u16,
        u16,
        st.lists(st.tuples(u16, u8, u8, u8), max_size=32).map(tuple),
        u8,
        u8,
    ),
    st.builds(EncoderPacket, i32, i32),
    st.builds(
        InputOutputPacket,
        st.lists(u8, max_size=9).map(tuple),
        st.lists(u8, max_size=9).map(tuple),
        st.lists(u16, max_size=9).map(tuple),
    ),
    st.builds(BatteryPacket, relative_percent=u8),
    st.builds(GyroPacket, st.lists(st.tuples(u16, u8), max_size=20).map(tuple)),
)


@given(ROBOT_PACKETS)
def test_a_packet_decodes_to_what_was_encoded(robot_packet: Any) -> None:
    (packet,) = Framer().feed(robot_packet.encode())
    assert KINDS[packet.id] is type(robot_packet)
    assert KINDS[packet.id].decode(packet.data) == robot_packet


@settings(max_examples=300)
@given(st.sampled_from(sorted(KINDS)), st.binary(max_size=MAX_DATA))
def test_any_bytes_are_a_packet_or_a_bad_packet(kind: int, data: bytes) -> None:
    try:
        read = KINDS[kind].decode(data)
    except BadPacket:
        return
    assert isinstance(read, KINDS[kind])


def test_a_sip_of_old_firmware_is_decoded_without_its_end() -> None:
    whole = Sip(x=5, sonars=((0, 700),), digital_out=3)
    short = Framer().feed(whole.encode())[0].data[:22]
    assert Sip.decode(short) == Sip(x=5, sonars=((0, 700),))
    with pytest.raises(BadPacket):
        Sip.decode(short[:21])


def test_simstat_has_the_layout_of_the_document() -> None:
    stat = SimStat(
        flags=4,
        sim_interval_ms=100,
        real_interval_ms=50,
        last_interval_ms=49,
        x_mm=-1000,
        y_mm=70_000,
        heading_deg=185,
    )
    (packet,) = Framer().feed(stat.encode())
    assert packet.id == 0x62
    assert struct.unpack_from("<BBIHHHiiii", packet.data) == (
        0,
        0,
        4,
        100,
        50,
        49,
        -1000,
        70_000,
        0,
        185,
    )
    assert len(stat.encode()) == 62


def test_a_number_that_does_not_fit_is_sent_as_the_nearest_that_does() -> None:
    (packet,) = Framer().feed(Sip(left_mm_s=99_999, right_mm_s=-99_999).encode())
    sip = Sip.decode(packet.data)
    assert (sip.left_mm_s, sip.right_mm_s) == (32767, -32768)


@pytest.mark.parametrize(
    ("value", "wrapped"), [(0, 0), (32767, 32767), (32768, -32768), (-32769, 32767), (65536, 0)]
)
def test_odometers_wrap_around(value: int, wrapped: int) -> None:
    assert wrap_i16(value) == wrapped


def test_plain_laser_packets_hold_the_odometry_and_at_most_32_ranges() -> None:
    packets = Framer().feed(encode_plain_scan(range(1000, 1070), (5, -6, 7)))
    parts = [PlainLaserPacket.decode(packet.data) for packet in packets]
    assert [len(part.ranges) for part in parts] == [32, 32, 6]
    assert {(part.x_mm, part.y_mm, part.heading_deg, part.total) for part in parts} == {
        (5, -6, 7, 70)
    }


@pytest.mark.parametrize(
    ("layout", "count", "last"),
    [
        (ScanLayout(), 181, 90.0),
        (ScanLayout(-90, 90, 50), 361, 90.0),
        (ScanLayout(90, -90, 100), 181, -90.0),
        (ScanLayout(0, 0, 100), 1, 0.0),
    ],
)
def test_a_layout_has_a_ray_more_than_increments_and_may_run_clockwise(
    layout: ScanLayout, count: int, last: float
) -> None:
    angles = layout.angles_deg()
    assert (len(angles), angles[0], angles[-1]) == (count, layout.start_deg, last)


# Commands.


@given(st.integers(-32767, 32767))
def test_a_number_arrives_as_it_was_sent(value: int) -> None:
    (packet,) = Framer().feed(commands.encode_int(PioneerCommand.VEL, value))
    assert commands.read_int(packet) == commands.read_signed_int(packet) == value
    assert packet.data[0] == (0x1B if value < 0 else 0x3B)


@given(st.integers(-128, 127), st.integers(-128, 127))
def test_the_two_bytes_of_vel2_arrive_as_they_were_sent(left: int, right: int) -> None:
    (packet,) = Framer().feed(commands.encode_byte_pair(PioneerCommand.VEL2, left, right))
    word = commands.read_int(packet) & 0xFFFF
    assert struct.unpack(">bb", struct.pack(">H", word)) == (left, right)


def test_300_and_100_mm_per_second_are_the_word_that_was_recorded() -> None:
    assert commands.encode_byte_pair(PioneerCommand.VEL2, 15, 5) == commands.encode_int(
        PioneerCommand.VEL2, 3845
    )


def test_a_text_arrives_as_it_was_sent() -> None:
    (packet,) = Framer().feed(commands.encode_text(PioneerCommand.SIM_MESSAGE, "Grüße"))
    assert commands.read_text(packet) == "Grüße"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (commands.encode_empty(PioneerCommand.STOP), "STOP"),
        (commands.encode_int(PioneerCommand.VEL, -300), "VEL -300"),
        (commands.encode_int(77, 1), "77 1"),
        (encode_packet(224, bytes(13)), "SIM_SET_POSE " + "00" * 13),
    ],
)
def test_a_command_is_described_as_text(raw: bytes, text: str) -> None:
    assert commands.describe_command(Framer().feed(raw)[0]) == text


@given(st.builds(Packet, st.integers(0, 255), st.binary(max_size=20)))
def test_arguments_of_any_packet_are_decoded_without_an_error(packet: Packet) -> None:
    readers: list[Callable[[Packet], object]] = [
        commands.read_int,
        commands.read_signed_int,
        commands.read_text,
        commands.describe_command,
    ]
    for reader in readers:
        reader(packet)
    assert -65535 <= commands.read_int(packet) <= 65535
    assert commands.read_struct(packet, "iii") is None or len(packet.data) >= 13
