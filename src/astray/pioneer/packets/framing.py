"""Packets on the wire: FA FB, a length, a number, data and a checksum.

    FA FB | N | id | data … | checksum high, low        N = 1 + len(data) + 2

Data is little-endian; the checksum is big-endian. A receiver hunts for FA FB, and drops what fails
its checksum without a word: bytes get lost on the radios that this was made for.
"""

from __future__ import annotations

from dataclasses import dataclass

HEAD = b"\xfa\xfb"
LONGEST = 252  # bytes of data: the length is one byte
SHORTEST = 3  # the least length: a number and its checksum


@dataclass(frozen=True)
class Packet:
    """A number, which says what the data mean, and the data."""

    id: int
    data: bytes = b""

    def encode(self) -> bytes:
        """The bytes on the wire."""
        return encode(self.id, self.data)


def checksum(body: bytes) -> int:
    """The sum of big-endian words modulo 2¹⁶; an odd last byte is put in by exclusive or."""
    even = len(body) & ~1
    total = (sum(body[0:even:2]) << 8) + sum(body[1:even:2])
    return (total ^ body[-1] if len(body) & 1 else total) & 0xFFFF


def encode(id: int, data: bytes = b"") -> bytes:
    """The bytes of a packet on the wire."""
    if len(data) > LONGEST:
        raise ValueError(f"a packet holds {LONGEST} bytes of data, not {len(data)}")
    body = bytes((id,)) + data
    return HEAD + bytes((len(body) + 2,)) + body + checksum(body).to_bytes(2, "big")


class Framer:
    """Finds the packets in a stream of bytes that comes in pieces. Keeps less than one packet."""

    def __init__(self) -> None:
        self._kept = b""
        self.dropped = 0
        """Bytes so far that belonged to no whole packet."""
        self.damaged = 0
        """Packets so far whose checksum was wrong."""

    @property
    def waiting(self) -> bool:
        """Whether a packet has begun and not ended."""
        return bool(self._kept)

    def feed(self, piece: bytes) -> list[Packet]:
        """The packets that are complete with this piece."""
        stream = self._kept + piece
        packets: list[Packet] = []
        at = 0
        while True:
            begin = stream.find(HEAD, at)
            if begin < 0:
                # The last byte may be the first half of a head.
                rest = len(stream) - (1 if stream[at:].endswith(HEAD[:1]) else 0)
                self.dropped += rest - at
                at = rest
                break
            self.dropped += begin - at
            at = begin
            if len(stream) < at + 3:
                break
            length = stream[at + 2]
            if length < SHORTEST:
                self.dropped += 2
                at += 2
                continue
            end = at + 3 + length
            if len(stream) < end:
                break
            body = stream[at + 3 : end - 2]
            if int.from_bytes(stream[end - 2 : end], "big") == checksum(body):
                packets.append(Packet(body[0], body[1:]))
                at = end
            else:
                # What looked like a head may have been data: the next one is looked for inside.
                self.damaged += 1
                self.dropped += 2
                at += 2
        self._kept = stream[at:]
        return packets

    def forget(self) -> None:
        """Drop a packet that was begun: the rest of it did not come in time."""
        self.dropped += len(self._kept)
        self._kept = b""
