"""Packets of a real robot: SIP, CONFIG, and what clients ask for (encoders, I/O, battery, gyro).

    id     packet              sent
    0x20   Config              as the answer to CONFIG (18)
    0x32   Sip                 every 100 ms
    0x90   EncoderPacket       behind the SIP, after ENCODER (19)
    0x98   GyroPacket          never by us; decoded for clients of real robots
    0xF0   InputOutputPacket   behind the SIP, after IOREQUEST (40)
    0xFA   BatteryPacket       as the answer to BATTERYINFO (62)

The fields of each class stand in the order of their bytes. Offsets count from the byte behind the
id. A firmware unit of length is `distance_factor` mm, one of angle `angle_factor` rad; see
`RobotModel`.
"""

from __future__ import annotations

from dataclasses import dataclass

from astray.pioneer.packets.fields import (
    RobotPacket,
    c_string,
    counted_list,
    i8,
    i16,
    i32,
    trailing_bytes,
    u8,
    u16,
)

SIP_MOVING_ID = 0x33  # of a SIP, by which some firmware reports that the robot moves
SIMULATOR_SERIAL = "SIM"  # serial number by which ARIA recognises a simulator
NO_TEMPERATURE = -127  # temperature of a robot without a thermometer

MOTORS_FLAG, ESTOP_FLAG = 1 << 0, 1 << 5  # bits of Sip.flags
SONAR_FLAGS = 0b11110  # of Sip.flags: four sonar arrays are on
STALL_BITS = 1 << 0 | 1 << 8  # of Sip.stall: left and right motor
FIRST_REAR_BUMPER, FIRST_FRONT_BUMPER = 1, 9  # bit numbers of Sip.stall
TEMPERATURE_FAULT = 1 << 1  # bit of Sip.faults


@dataclass(frozen=True)
class Sip(RobotPacket):
    """Server information packet: pose by odometry, wheel speeds, sonars and switches.

    With n sonars the fields behind them begin at the offset T = 19 + 3 n. They came with later
    firmware, so that old robots leave them out.
    """

    ID = 0x32
    MIN_BYTES = 19

    x: int = i16()  # 0: odometry, firmware units, wraps around
    y: int = i16()  # 2
    heading: int = i16()  # 4: firmware units, −2047 to 2047
    left_mm_s: int = i16()  # 6: wheel speed, units of speed_factor mm/s
    right_mm_s: int = i16()  # 8
    battery_dv: int = u8()  # 10: 0.1 V
    stall: int = u16()  # 11: STALL_BITS; bits 1 to 7 rear bumpers, 9 to 15 front bumpers
    control: int = i16()  # 13
    flags: int = u16()  # 15: MOTORS_FLAG, SONAR_FLAGS, ESTOP_FLAG
    compass_half_deg: int = u8()  # 17: 2°
    sonars: tuple[tuple[int, int], ...] = counted_list("B", "BH")  # 18: index and range of each
    gripper: int = u8()  # T
    analog_port: int = u8()  # T + 1
    analog: int = u8()  # T + 2
    digital_in: int = u8(0xFF)  # T + 3
    digital_out: int = u8(0xFF)  # T + 4
    wide_battery_dv: int = u16()  # T + 5: 0.1 V, in two bytes
    charge_state: int = u8()  # T + 7: 1 bulk, 2 overcharge, 3 float
    turn_decideg_s: int = i16()  # T + 8: turn rate, 0.1 °/s
    faults: int = u16()  # T + 10: TEMPERATURE_FAULT
    lateral_mm_s: int = i16()  # T + 12: lateral speed
    temperature_deg: int = i8(NO_TEMPERATURE)  # T + 14: °C
    charge_percent: int = u8()  # T + 15
    trailing: bytes = trailing_bytes()  # T + 16


@dataclass(frozen=True)
class Config(RobotPacket):
    """Configuration: class, limits, cycle time and devices of the robot.

    ARIA takes non-zero limits over as its own and commands them at the start of a session.
    """

    ID = 0x20

    robot_class: str = c_string("Pioneer")
    subclass: str = c_string("p3dx")
    serial: str = c_string(SIMULATOR_SERIAL)
    has_four_motors: int = u8()
    turn_top: int = u16(9999)  # °/s; each "top" is the largest value that a client may set
    speed_top: int = u16(9999)  # mm/s
    turn_accel_top: int = u16(9999)  # °/s²
    accel_top: int = u16(9999)  # mm/s²
    pwm_max: int = u16(400)
    name: str = c_string("MobileSim")
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
    turn_max: int = u16(150)  # °/s
    speed_max: int = u16(3000)  # mm/s
    turn_accel: int = u16(100)  # °/s²
    turn_decel: int = u16(100)  # °/s²
    turn_kp: int = u16()
    turn_kv: int = u16()
    turn_ki: int = u16()
    accel: int = u16(300)  # mm/s²
    decel: int = u16(300)  # mm/s²
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
    firmware: str = c_string("S.0")
    gyro_clockwise: int = u16()
    gyro_counter_clockwise: int = u16()
    kinematics_delay_ms: int = u8()
    lateral_top: int = u16(9999)  # mm/s
    lateral_accel_top: int = u16(9999)  # mm/s²
    lateral_max: int = u16()  # mm/s
    lateral_accel: int = u16()  # mm/s²
    lateral_decel: int = u16()  # mm/s²
    charge_threshold: int = u16()
    trailing: bytes = trailing_bytes()


@dataclass(frozen=True)
class EncoderPacket(RobotPacket):
    """Encoder counts of the wheels, ticks."""

    ID = 0x90
    MIN_BYTES = 8

    left: int = i32()  # 0
    right: int = i32()  # 4


@dataclass(frozen=True)
class InputOutputPacket(RobotPacket):
    """Bytes of digital inputs and outputs, and analog inputs."""

    ID = 0xF0
    MIN_BYTES = 3

    digital_in: tuple[int, ...] = counted_list("B", "B")
    digital_out: tuple[int, ...] = counted_list("B", "B")
    analog: tuple[int, ...] = counted_list("B", "H")


@dataclass(frozen=True)
class BatteryPacket(RobotPacket):
    """The state of charge of one battery."""

    ID = 0xFA
    MIN_BYTES = 7

    count: int = u8(1)  # 0: batteries
    size: int = u8(5)  # 1: bytes of each battery
    flags_1: int = u8()  # 2
    flags_2: int = u8()  # 3
    flags_3: int = u8()  # 4
    relative_percent: int = u8(100)  # 5
    absolute_percent: int = u8(100)  # 6


@dataclass(frozen=True)
class GyroPacket(RobotPacket):
    """Gyro readings since the last packet: a raw rate of ten bits and a temperature each."""

    ID = 0x98
    MIN_BYTES = 1

    readings: tuple[tuple[int, int], ...] = counted_list("B", "HB")
