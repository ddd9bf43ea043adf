"""The packets of the Pioneer protocol, read and written."""

from astray.pioneer.packets.config import CONFIG, Config
from astray.pioneer.packets.extras import BatteryPacket, EncoderPacket, InputOutputPacket
from astray.pioneer.packets.fields import BadPacket, fit, from_text, wrap16
from astray.pioneer.packets.framing import Framer, Packet, encode
from astray.pioneer.packets.laser import (
    PLAIN,
    WITH_REFLECTANCE,
    PlainScan,
    Scan,
    ScanLayout,
    plain_scan_packets,
    scan_packets,
)
from astray.pioneer.packets.simulator import (
    MAP_CHANGED,
    SIMINFO,
    SIMSTAT,
    Device,
    MapChanged,
    SimInfo,
    SimStat,
)
from astray.pioneer.packets.sip import FIRST_FRONT, FIRST_REAR, SIP, SIP_MOVING, STALLED, Sip

__all__ = [
    "CONFIG",
    "FIRST_FRONT",
    "FIRST_REAR",
    "MAP_CHANGED",
    "PLAIN",
    "SIMINFO",
    "SIMSTAT",
    "SIP",
    "SIP_MOVING",
    "STALLED",
    "WITH_REFLECTANCE",
    "BadPacket",
    "BatteryPacket",
    "Config",
    "Device",
    "EncoderPacket",
    "Framer",
    "InputOutputPacket",
    "MapChanged",
    "Packet",
    "PlainScan",
    "Scan",
    "ScanLayout",
    "SimInfo",
    "SimStat",
    "Sip",
    "encode",
    "fit",
    "from_text",
    "plain_scan_packets",
    "scan_packets",
    "wrap16",
]
