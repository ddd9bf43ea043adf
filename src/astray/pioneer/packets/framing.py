"""Framing of packets in the byte stream of a robot, the same in both directions.

    FA FB | N | id | data … | checksum high, low        N = 1 + len(data) + 2

Data is little-endian, the checksum big-endian. A receiver searches for FA FB and silently drops a
packet whose checksum is wrong: the protocol was made for lossy radio links.
"""

from __future__ import annotations

from dataclasses import dataclass

HEADER = b"\xfa\xfb"
MAX_DATA = 252  # bytes of data in a packet: N is one byte
MIN_LENGTH = 3  # the smallest N: an id and a checksum


@dataclass(frozen=True)
class Packet:
    """A packet as it was framed: its id and its data, not yet decoded."""

    id: int
    data: bytes = b""

    def encode(self) -> bytes:
        """The framed bytes of the packet."""
        return encode_packet(self.id, self.data)


def checksum(body: bytes) -> int:
    """The sum of big-endian words modulo 2¹⁶; an odd last byte is added by exclusive or."""
    even = len(body) & ~1
    total = (sum(body[0:even:2]) << 8) + sum(body[1:even:2])
    return (total ^ body[-1] if len(body) & 1 else total) & 0xFFFF


def encode_packet(id: int, data: bytes = b"") -> bytes:
    """Frame the data of a packet."""
    if len(data) > MAX_DATA:
        raise ValueError(f"a packet holds {MAX_DATA} bytes of data, not {len(data)}")
    body = bytes((id,)) + data
    return HEADER + bytes((len(body) + 2,)) + body + checksum(body).to_bytes(2, "big")


class Framer:
    """Splits a byte stream into packets. Buffers less than one packet."""

    def __init__(self) -> None:
        self._buffer = b""
        self.dropped_bytes = 0
        """Bytes so far that belonged to no complete packet."""
        self.checksum_errors = 0
        """Packets so far with a wrong checksum."""

    @property
    def has_partial_packet(self) -> bool:
        """Whether a packet has begun and is not complete yet."""
        return bool(self._buffer)

    def feed(self, received: bytes) -> list[Packet]:
        """Add received bytes; the packets that they complete."""
        stream = self._buffer + received
        packets: list[Packet] = []
        position = 0
        while True:
            start = stream.find(HEADER, position)
            if start < 0:
                # The last byte may be the first half of a header.
                end = len(stream) - (1 if stream[position:].endswith(HEADER[:1]) else 0)
                self.dropped_bytes += end - position
                position = end
                break
            self.dropped_bytes += start - position
            position = start
            if len(stream) < position + 3:
                break
            length = stream[position + 2]
            if length < MIN_LENGTH:
                self.dropped_bytes += 2
                position += 2
                continue
            end = position + 3 + length
            if len(stream) < end:
                break
            body = stream[position + 3 : end - 2]
            if int.from_bytes(stream[end - 2 : end], "big") == checksum(body):
                packets.append(Packet(body[0], body[1:]))
                position = end
            else:
                # These header bytes may have been data: search for the next header behind them.
                self.checksum_errors += 1
                self.dropped_bytes += 2
                position += 2
        self._buffer = stream[position:]
        return packets

    def discard_partial_packet(self) -> None:
        """Drop a packet that has begun: the rest of it did not arrive in time."""
        self.dropped_bytes += len(self._buffer)
        self._buffer = b""
