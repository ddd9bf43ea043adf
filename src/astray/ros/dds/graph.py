"""What tools know of nodes: a topic on which each participant says which nodes it has.

`ros2 node list` and `ros2 topic info` read it. Up to Humble an endpoint's address has 24 bytes,
since Iron 16, under one name of type: whoever reads must be told the same as whoever writes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from cyclonedds.idl import make_idl_struct
from cyclonedds.idl import types as idl

from astray.ros.dds.distros import gid_size
from astray.ros.dds.idl import bus_name
from astray.ros.messages import CDR_HEADER

if TYPE_CHECKING:
    from astray.ros.dds.participant import Participant

TOPIC = "ros_discovery_info"
TYPE = "rmw_dds_common/msg/ParticipantEntitiesInfo"


class NodeGraph:
    """Says which nodes a participant has."""

    def __init__(self, bus: Participant, distro: str = "jazzy") -> None:
        self._size = gid_size(distro)
        self._gid = bus.gid
        struct = _struct(self._size)
        self._writer = bus.writer(TOPIC, TYPE, latched=True, depth=1, struct=struct)

    def tell(
        self, namespace: str, name: str, readers: Iterable[bytes], writers: Iterable[bytes]
    ) -> None:
        """Say that there is one node, with these endpoints."""
        out = bytearray(CDR_HEADER) + self._address(self._gid)
        _count(out, 1)
        _text(out, namespace or "/")
        _text(out, name)
        for some in (list(readers), list(writers)):
            _count(out, len(some))
            for gid in some:
                out += self._address(gid)
        self._writer.write(bytes(out))

    def _address(self, gid: bytes) -> bytes:
        return gid.ljust(self._size, b"\0")


def _count(out: bytearray, number: int) -> None:
    out += bytes(-(len(out) - len(CDR_HEADER)) % 4) + number.to_bytes(4, "little")


def _text(out: bytearray, text: str) -> None:
    _count(out, len(text.encode()) + 1)
    out += text.encode() + b"\0"


def _struct(size: int) -> Any:
    gid = make_idl_struct(
        "Gid",
        bus_name("rmw_dds_common/msg/Gid"),
        {"data": idl.array[idl.uint8, size]},
    )
    gids = idl.sequence[gid]
    node = make_idl_struct(
        "NodeEntitiesInfo",
        bus_name("rmw_dds_common/msg/NodeEntitiesInfo"),
        {
            "node_namespace": idl.bounded_str[256],
            "node_name": idl.bounded_str[256],
            "reader_gid_seq": gids,
            "writer_gid_seq": gids,
        },
    )
    nodes = idl.sequence[node]
    return make_idl_struct(
        "ParticipantEntitiesInfo", bus_name(TYPE), {"gid": gid, "node_entities_info_seq": nodes}
    )
