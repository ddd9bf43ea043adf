"""What a robot tells of itself when it is asked (CONFIG): its class, limits, cycle and devices."""

from __future__ import annotations

from dataclasses import dataclass

from astray.pioneer.packets.fields import i16, more, pack, text, u8, u16, unpack
from astray.pioneer.packets.framing import encode

CONFIG = 0x20
SIMULATED = "SIM"  # the serial number by which ARIA knows a simulator


@dataclass(frozen=True)
class Config:
    """A robot's configuration, in the units of the wire: mm, degrees, ms."""

    robot_class: str = text("Pioneer")
    subclass: str = text("p3dx")
    serial: str = text(SIMULATED)
    has_four_motors: int = u8()
    turn_top: int = u16(9999)
    speed_top: int = u16(9999)
    turn_accel_top: int = u16(9999)
    accel_top: int = u16(9999)
    pwm_max: int = u16(400)
    name: str = text("MobileSim")
    cycle_ms: int = u8(100)
    host_baud: int = u8()
    aux1_baud: int = u8()
    gripper: int = u16()
    front_sonar: int = u16(1)
    rear_sonar: int = u8(1)
    low_battery: int = u16()
    rev_count: int = u16()
    watchdog_ms: int = u16(2000)
    normal_packets: int = u8()
    stall_value: int = u16()
    stall_count: int = u16()
    joystick_speed: int = u16()
    joystick_turn: int = u16()
    turn_max: int = u16(150)
    speed_max: int = u16(3000)
    turn_accel: int = u16(100)
    turn_decel: int = u16(100)
    turn_kp: int = u16()
    turn_kv: int = u16()
    turn_ki: int = u16()
    accel: int = u16(300)
    decel: int = u16(300)
    kp: int = u16()
    kv: int = u16()
    ki: int = u16()
    front_bumpers: int = u8()
    rear_bumpers: int = u8()
    charger: int = u8()
    sonar_cycle: int = u8()
    autobaud: int = u8(2)
    gyro: int = u8()
    drift: int = i16()
    aux2_baud: int = u8()
    aux3_baud: int = u8()
    ticks_per_mm: int = u16()
    shutdown_volts: int = u16()
    firmware: str = text("S.0")
    gyro_clockwise: int = u16()
    gyro_counter_clockwise: int = u16()
    kinematics_delay_ms: int = u8()
    lateral_top: int = u16(9999)
    lateral_accel_top: int = u16(9999)
    lateral_max: int = u16()
    lateral_accel: int = u16()
    lateral_decel: int = u16()
    charge_threshold: int = u16()
    later: bytes = more()

    def encode(self) -> bytes:
        """The whole packet as it is sent."""
        return encode(CONFIG, pack(self))

    @classmethod
    def decode(cls, data: bytes) -> Config:
        """Read the data of a packet."""
        return unpack(cls, data)
