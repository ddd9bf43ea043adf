"""Discovery: the DDS domain of a node and where it looks for others, by the variables of ROS 2.

    ROS_DOMAIN_ID                   the DDS domain, 0 unless given
    ROS_AUTOMATIC_DISCOVERY_RANGE   OFF, LOCALHOST, SUBNET or SYSTEM_DEFAULT
    ROS_LOCALHOST_ONLY              1 for LOCALHOST, 0 for SUBNET: the variable of older ROS 2
    ROS_STATIC_PEERS                further addresses, separated by semicolons
    CYCLONEDDS_URI                  Cyclone DDS's own configuration: replaces all but the domain

By default a node looks for others on this machine only, and announces itself nowhere else. Cyclone
DDS has no setting for where it listens: its sockets receive from all interfaces.
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
MAX_PARTICIPANTS = 32  # on one machine, that find each other without multicast
ANNOUNCEMENT_PERIOD = 2  # s of real time; nodes that only listen to multicast need it
SIOCGIFFLAGS, IFF_MULTICAST = 0x8913, 0x1000  # Linux: get the flags of an interface; the flag


def check_transport() -> None:
    """Check that Cyclone DDS is installed.

    Raises:
        WrongInput: It is not; the message names what to install.
    """
    if importlib.util.find_spec("cyclonedds") is None:
        raise WrongInput(
            "ROS 2 topics need the package cyclonedds: pip install 'astray[ros2]'; where there is "
            "none for this machine or Python, use --rosbridge instead"
        )


@dataclass(frozen=True)
class Discovery:
    """The DDS domain of a node, and where it looks for others.

    Args:
        domain: The number of the domain, 0 to 232.
        range: OFF, LOCALHOST, SUBNET or SYSTEM_DEFAULT.
        peers: Further addresses of other nodes.
        own_settings: Whether Cyclone DDS has a configuration of its own, CYCLONEDDS_URI.
    """

    domain: int = 0
    range: str = "LOCALHOST"
    peers: tuple[str, ...] = ()
    own_settings: bool = False

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Discovery:
        """What the environment variables ask for.

        Args:
            environment: The variables.

        Raises:
            WrongInput: A variable has a value that is not valid.
        """
        return cls(
            _domain(environment.get("ROS_DOMAIN_ID", "")),
            _range(environment),
            tuple(p.strip() for p in environment.get("ROS_STATIC_PEERS", "").split(";") if p),
            bool(environment.get("CYCLONEDDS_URI")),
        )

    def config(self, multicast: bool | None = None) -> str | None:
        """The XML configuration of Cyclone DDS; None for CYCLONEDDS_URI or its defaults."""
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
            f"</General><Discovery>{self._discovery_xml()}</Discovery></Domain></CycloneDDS>"
        )

    def _discovery_xml(self) -> str:
        addresses = [] if self.range == "OFF" else ["localhost", *self.peers]
        peers = "".join(f"<Peer address={quoteattr(peer)}/>" for peer in addresses)
        return (
            "<ParticipantIndex>auto</ParticipantIndex>"
            f"<MaxAutoParticipantIndex>{MAX_PARTICIPANTS}</MaxAutoParticipantIndex>"
            f"<SPDPInterval>{ANNOUNCEMENT_PERIOD} s</SPDPInterval><Peers>{peers}</Peers>"
        )

    def describe(self) -> str:
        """A text for users: the domain and where it looks."""
        if self.own_settings:
            return f"domain {self.domain}, configured by CYCLONEDDS_URI"
        text = {
            "OFF": "no discovery",
            "LOCALHOST": "discovery on this machine",
            "SUBNET": "discovery in this network",
            "SYSTEM_DEFAULT": "discovery as Cyclone DDS is set up",
        }[self.range]
        return f"domain {self.domain}, {', '.join([text, *self.peers])}"


def has_multicast() -> bool:
    """Whether the loopback interface has multicast."""
    try:
        import fcntl
    except ImportError:  # Windows
        return False
    if not sys.platform.startswith("linux"):
        return True
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp_socket:
        answer = fcntl.ioctl(udp_socket, SIOCGIFFLAGS, struct.pack("16sH14x", b"lo", 0))
    return bool(struct.unpack("16sH14x", answer)[1] & IFF_MULTICAST)


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
    value = environment.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "") or "LOCALHOST"
    if value not in RANGES:
        raise WrongInput(
            f"ROS_AUTOMATIC_DISCOVERY_RANGE is {value!r}{suggest(value, RANGES)} "
            f"({', '.join(RANGES)})"
        )
    return value
