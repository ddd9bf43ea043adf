"""What of a sensor can be drawn, and how: by what it measures, so that foreign ones are, too."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from astray.plugin import Plugin, Reading, Sensor, nominal
from astray.robot.sensors import layout
from astray.tables import CONTACTS, FIX, LANDMARKS, RANGE, SCAN, SONAR, Array

DRAWN = {
    SCAN: "scan",
    SONAR: "sonar",
    RANGE: "range",
    LANDMARKS: "landmarks",
    CONTACTS: "contacts",
    FIX: "fix",
}


def sight(sensor: Sensor) -> dict[str, Any]:
    """How the page draws a sensor: its way of drawing, "" for none, and where it is mounted."""
    way = DRAWN.get(sensor.measures, "")
    found: dict[str, Any] = {"name": sensor.name, "kind": sensor.kind, "draws": way}
    if not way or way == "fix":
        return found
    mounts = getattr(sensor, "mounts", None) if way == "sonar" else None
    own = tuple(number_of(sensor, name, 0.0) for name in ("x", "y", "yaw"))
    found["mounts"] = [list(mount) for mount in (mounts or [own])]
    found["cone"] = number_of(sensor, "cone", 0.0)
    found["max_range"] = number_of(sensor, "max_range", 0.0)
    if way == "scan":
        found |= _fan(sensor)
    if way == "contacts":
        found["min_range"] = number_of(sensor, "min_range", 0.0)
        found["field_of_view"] = number_of(sensor, "field_of_view", math.tau)
        found["walls"] = bool(getattr(sensor, "walls", True))
    return found


def _fan(sensor: Sensor) -> dict[str, Any]:
    """The angles of a scan, over the field of view if it has one, and else all round."""
    rays = math.prod(sensor.bulk().get("ranges", (0,)))
    start, step = layout(rays, min(math.tau, number_of(sensor, "field_of_view", math.tau)))
    return {"rays": rays, "start": start, "step": step}


def number_of(plugin: Plugin, name: str, default: float) -> float:
    """A number that a plugin was given, or the middle of those it is drawn from."""
    value = getattr(plugin, name, default)
    value = nominal(value) if hasattr(value, "nominal") else value
    return float(value) if isinstance(value, (int, float)) else default


def numbers(way: str, reading: Reading, row: int) -> Array | None:
    """What is sent of one robot's reading; None if there is none yet."""
    if math.isnan(reading.stamp[row]):
        return None
    if way in ("scan", "sonar"):
        ranges = reading.arrays.get("ranges")
        return None if ranges is None else ranges[row].ravel()
    if way == "range":
        return np.asarray(reading["range"][row : row + 1])
    if way in ("landmarks", "contacts"):
        seen = reading["seen"][row] > 0
        return np.stack([reading["range"][row][seen], reading["bearing"][row][seen]], 1).ravel()
    if way == "fix" and not reading["lost"][row]:
        return np.array((reading["x"][row], reading["y"][row]))
    return None
