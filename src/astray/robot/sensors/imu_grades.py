"""Typical errors of inertial units, by grade and parameter.

They are of the order that datasheets of such devices give, not those of any one device:

    consumer     phones and toys             0.005 °/s/√Hz, 150 µg/√Hz
    industrial   robots and drones           0.004 °/s/√Hz, 50 µg/√Hz, calibrated over temperature
    tactical     guided vehicles             0.06 °/√h, 20 µg/√Hz
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from astray.numerics import PI

DEGREE = PI / 180.0
G = 9.80665
MILLI_G, MICRO_G = 1e-3 * G, 1e-6 * G
PER_ROOT_HOUR = 1.0 / 60.0  # of a density per √h in one per √s
PER_HOUR = 1.0 / 3600.0

GRADES: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "consumer": {
            "gyro_density": 0.005 * DEGREE,  # rad/s/√Hz
            "gyro_walk": 2e-5,  # rad/s²/√Hz
            "gyro_bias_sd": 1.0 * DEGREE,  # rad/s
            "gyro_drift_sd": 10.0 * DEGREE * PER_HOUR,  # rad/s
            "gyro_scale_sd": 0.01,
            "gyro_range": 2000.0 * DEGREE,  # rad/s
            "gyro_resolution": DEGREE / 16.4,  # rad/s
            "accel_density": 150.0 * MICRO_G,  # m/s²/√Hz
            "accel_walk": 2e-4,  # m/s³/√Hz
            "accel_bias_sd": 40.0 * MILLI_G,  # m/s²
            "accel_drift_sd": 0.1 * MILLI_G,  # m/s²
            "accel_scale_sd": 0.01,
            "accel_range": 8.0 * G,  # m/s²
            "accel_resolution": G / 4096.0,  # m/s²
            "misalignment_sd": 0.01,  # rad
        },
        "industrial": {
            "gyro_density": 0.004 * DEGREE,
            "gyro_walk": 2e-6,
            "gyro_bias_sd": 0.1 * DEGREE,
            "gyro_drift_sd": 5.0 * DEGREE * PER_HOUR,
            "gyro_scale_sd": 0.001,
            "gyro_range": 2000.0 * DEGREE,
            "gyro_resolution": 0.0,
            "accel_density": 50.0 * MICRO_G,
            "accel_walk": 2e-5,
            "accel_bias_sd": 3.0 * MILLI_G,
            "accel_drift_sd": 0.04 * MILLI_G,
            "accel_scale_sd": 0.001,
            "accel_range": 16.0 * G,
            "accel_resolution": 0.0,
            "misalignment_sd": 0.001,
        },
        "tactical": {
            "gyro_density": 0.06 * DEGREE * PER_ROOT_HOUR,
            "gyro_walk": 1e-7,
            "gyro_bias_sd": 10.0 * DEGREE * PER_HOUR,
            "gyro_drift_sd": 0.5 * DEGREE * PER_HOUR,
            "gyro_scale_sd": 0.0003,
            "gyro_range": 500.0 * DEGREE,
            "gyro_resolution": 0.0,
            "accel_density": 20.0 * MICRO_G,
            "accel_walk": 2e-6,
            "accel_bias_sd": 1.0 * MILLI_G,
            "accel_drift_sd": 0.015 * MILLI_G,
            "accel_scale_sd": 0.0003,
            "accel_range": 30.0 * G,
            "accel_resolution": 0.0,
            "misalignment_sd": 0.0003,
        },
    }
)
