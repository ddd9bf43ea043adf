"""The topic `ros_discovery_info`: which nodes a participant has, and their endpoints.

`ros2 node list` and `ros2 topic info` read it. The address of an endpoint (gid) has 24 bytes up to
Humble and 16 since Iron, under the same type name, so publisher and reader must agree on it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cyclonedds.idl import make_idl_struct
from cyclonedds.idl import types as idl

from astray.ros.dds.idl import dds_type_name
from astray.ros.dds.participant import Participant
from astray.ros.dds.settings import gid_size
from astray.ros.messages import CDR_HEADER

TOPIC = "ros_discovery_info"
TYPE = "rmw_dds_common/msg/ParticipantEntitiesInfo"


class NodeGraph:
    """Publishes the node of a participant.

    Args:
        participant: The participant.
        distro: The distribution of ROS 2 whose tools read it.
    """

    def __init__(self, participant: Participant, distro: str = "jazzy") -> None:
        self._size = gid_size(distro)
        self._gid = participant.gid
        struct = _entities_info(self._size)
        self._writer = participant.writer(TOPIC, TYPE, latched=True, depth=1, struct=struct)

    def publish(
        self, namespace: str, name: str, readers: Iterable[bytes], writers: Iterable[bytes]
    ) -> None:
        """Publish that there is one node.

        Args:
            namespace: The namespace of the node.
            name: Its name.
            readers: The gids of its readers.
            writers: The gids of its writers.
        """
        out = bytearray(CDR_HEADER) + self._padded(self._gid)
        _append_length(out, 1)
        _append_text(out, namespace or "/")
        _append_text(out, name)
        for gids in (list(readers), list(writers)):
            _append_length(out, len(gids))
            for gid in gids:
                out += self._padded(gid)
        self._writer.write(bytes(out))

    def _padded(self, gid: bytes) -> bytes:
        return gid.ljust(self._size, b"\0")


def _append_length(out: bytearray, length: int) -> None:
    out += bytes(-(len(out) - len(CDR_HEADER)) % 4) + length.to_bytes(4, "little")


def _append_text(out: bytearray, text: str) -> None:
    _append_length(out, len(text.encode()) + 1)
    out += text.encode() + b"\0"


def _entities_info(gid_size: int) -> Any:
    """The type ParticipantEntitiesInfo, for gids of a size."""
    gid = make_idl_struct(
        "Gid",
        dds_type_name("rmw_dds_common/msg/Gid"),
        {"data": idl.array[idl.uint8, gid_size]},
    )
    gids = idl.sequence[gid]
    node = make_idl_struct(
        "NodeEntitiesInfo",
        dds_type_name("rmw_dds_common/msg/NodeEntitiesInfo"),
        {
            "node_namespace": idl.bounded_str[256],
            "node_name": idl.bounded_str[256],
            "reader_gid_seq": gids,
            "writer_gid_seq": gids,
        },
    )
    nodes = idl.sequence[node]
    fields = {"gid": gid, "node_entities_info_seq": nodes}
    return make_idl_struct("ParticipantEntitiesInfo", dds_type_name(TYPE), fields)
