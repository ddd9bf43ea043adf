"""Whom a node looks for on the network, by the environment variables that ROS 2 users know.

    ROS_DOMAIN_ID                   the number of the bus, 0 unless given
    ROS_AUTOMATIC_DISCOVERY_RANGE   OFF, LOCALHOST, SUBNET or SYSTEM_DEFAULT
    ROS_LOCALHOST_ONLY              1 for LOCALHOST, 0 for SUBNET: the same as it was said before
    ROS_STATIC_PEERS                addresses to look at besides, with semicolons between
    CYCLONEDDS_URI                  the transport's own settings; then all but the number is its own

Unless told otherwise a node looks for others on this machine alone and tells nobody else of itself.
Cyclone DDS has no setting for where it listens: its sockets take what comes by any interface.
"""

from __future__ import annotations

import importlib.util
import os
import socket
import struct
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

from astray.errors import WrongInput, suggest

RANGES = ("OFF", "LOCALHOST", "SUBNET", "SYSTEM_DEFAULT")
HIGHEST_DOMAIN = 232
PARTICIPANTS = 32  # on one machine that find each other without multicast
ANNOUNCE = 2  # s of real time; who looks by multicast alone finds us only when we say so
GET_FLAGS, MULTICAST = 0x8913, 0x1000  # how Linux is asked for the flags of an interface; the one


def check_transport() -> None:
    """WrongInput, with what to do, where the transport is not installed."""
    if importlib.util.find_spec("cyclonedds") is None:
        raise WrongInput(
            "ROS 2 topics need the package cyclonedds: pip install 'astray[ros2]'; where there is "
            "none for this machine or Python, use --rosbridge instead"
        )


@dataclass(frozen=True)
class Discovery:
    """The bus that a node is on, and how far it looks."""

    domain: int = 0
    range: str = "LOCALHOST"
    peers: tuple[str, ...] = ()
    own_settings: bool = False
    """Whether the transport goes by settings of its own."""

    @classmethod
    def of(cls, environment: Mapping[str, str] = os.environ) -> Discovery:
        """What the environment asks for; WrongInput if it makes no sense."""
        return cls(
            _domain(environment.get("ROS_DOMAIN_ID", "")),
            _range(environment),
            tuple(p.strip() for p in environment.get("ROS_STATIC_PEERS", "").split(";") if p),
            bool(environment.get("CYCLONEDDS_URI")),
        )

    def config(self, multicast: bool | None = None) -> str | None:
        """Settings for the transport; None where it shall go by its own."""
        if self.own_settings or (self.range == "SYSTEM_DEFAULT" and not self.peers):
            return None
        local = self.range in ("OFF", "LOCALHOST") and not self.peers
        if multicast is None:
            multicast = has_multicast() if local else self.range != "LOCALHOST"
        multicast = multicast and self.range != "OFF"
        interface = f'<NetworkInterface address="127.0.0.1" multicast="{str(multicast).lower()}"/>'
        if not local:
            interface = '<NetworkInterface autodetermine="true"/>'
        return (
            "<CycloneDDS><Domain><General>"
            f"<Interfaces>{interface}</Interfaces>"
            f"<AllowMulticast>{str(multicast).lower()}</AllowMulticast>"
            f"</General><Discovery>{self._looking()}</Discovery></Domain></CycloneDDS>"
        )

    def _looking(self) -> str:
        at = [] if self.range == "OFF" else ["localhost", *self.peers]
        peers = "".join(f"<Peer address={quoteattr(peer)}/>" for peer in at)
        return (
            "<ParticipantIndex>auto</ParticipantIndex>"
            f"<MaxAutoParticipantIndex>{PARTICIPANTS}</MaxAutoParticipantIndex>"
            f"<SPDPInterval>{ANNOUNCE} s</SPDPInterval><Peers>{peers}</Peers>"
        )

    def describe(self) -> str:
        """In words."""
        if self.own_settings:
            return f"domain {self.domain}, as CYCLONEDDS_URI says"
        where = {
            "OFF": "nobody is looked for",
            "LOCALHOST": "others are looked for on this machine",
            "SUBNET": "others are looked for in this network",
            "SYSTEM_DEFAULT": "as the transport is set up",
        }[self.range]
        return f"domain {self.domain}, {', '.join([where, *self.peers])}"


def has_multicast() -> bool:
    """Whether a message to many can be sent on the loopback interface."""
    try:
        import fcntl
    except ImportError:  # Windows
        return False
    if not sys.platform.startswith("linux"):
        return True
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        answer = fcntl.ioctl(any_socket, GET_FLAGS, struct.pack("16sH14x", b"lo", 0))
    return bool(struct.unpack("16sH14x", answer)[1] & MULTICAST)


def _domain(text: str) -> int:
    try:
        domain = int(text or 0)
    except ValueError:
        domain = -1
    if not 0 <= domain <= HIGHEST_DOMAIN:
        raise WrongInput(f"ROS_DOMAIN_ID is {text!r}: it must be 0 to {HIGHEST_DOMAIN}")
    return domain


def _range(environment: Mapping[str, str]) -> str:
    only = environment.get("ROS_LOCALHOST_ONLY", "")
    if only in ("0", "1"):
        return "LOCALHOST" if only == "1" else "SUBNET"
    wanted = environment.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "") or "LOCALHOST"
    if wanted not in RANGES:
        raise WrongInput(
            f"ROS_AUTOMATIC_DISCOVERY_RANGE is {wanted!r}{suggest(wanted, RANGES)} "
            f"({', '.join(RANGES)})"
        )
    return wanted
