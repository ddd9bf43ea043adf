"""The packets from a robot to its client, their framing and the encoding of their fields."""

from astray.pioneer.packets.fields import BadPacket, RobotPacket, clamp, decode_c_string, wrap_i16
from astray.pioneer.packets.framing import Framer, Packet, encode_packet
from astray.pioneer.packets.laser import (
    PlainLaserPacket,
    ReflectanceLaserPacket,
    ScanLayout,
    encode_plain_scan,
    encode_reflectance_scan,
)
from astray.pioneer.packets.robot import (
    ESTOP_FLAG,
    FIRST_FRONT_BUMPER,
    FIRST_REAR_BUMPER,
    MOTORS_FLAG,
    NO_TEMPERATURE,
    SIP_MOVING_ID,
    SONAR_FLAGS,
    STALL_BITS,
    TEMPERATURE_FAULT,
    BatteryPacket,
    Config,
    EncoderPacket,
    InputOutputPacket,
    Sip,
)
from astray.pioneer.packets.simulator import Device, MapChanged, SimInfo, SimStat

__all__ = [
    "ESTOP_FLAG",
    "FIRST_FRONT_BUMPER",
    "FIRST_REAR_BUMPER",
    "MOTORS_FLAG",
    "NO_TEMPERATURE",
    "SIP_MOVING_ID",
    "SONAR_FLAGS",
    "STALL_BITS",
    "TEMPERATURE_FAULT",
    "BadPacket",
    "BatteryPacket",
    "Config",
    "Device",
    "EncoderPacket",
    "Framer",
    "InputOutputPacket",
    "MapChanged",
    "Packet",
    "PlainLaserPacket",
    "ReflectanceLaserPacket",
    "RobotPacket",
    "ScanLayout",
    "SimInfo",
    "SimStat",
    "Sip",
    "clamp",
    "decode_c_string",
    "encode_packet",
    "encode_plain_scan",
    "encode_reflectance_scan",
    "wrap_i16",
]
