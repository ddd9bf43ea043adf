"""A robot from the file of another program, and defaults for what such files leave out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from astray.errors import WrongInput

MAX_BYTES = 4_000_000  # the files that come with the programs have some 100 000
MAX_SONARS = 64
WHEEL_RADIUS = 0.0975  # m, of a Pioneer 3-DX

LIDARS: dict[str, dict[str, Any]] = {
    "lms2": {"rays": 181, "field_of_view": 3.1416, "max_range": 32, "sweep": 0.0133},
    "lms1": {"rays": 541, "field_of_view": 4.7124, "max_range": 20, "sweep": 0.02},
    "lms5": {"rays": 381, "field_of_view": 3.3161, "max_range": 65, "sweep": 0.01},
    "s3": {"rays": 541, "field_of_view": 4.7124, "max_range": 30, "sweep": 0.03},
    "tim": {"rays": 271, "field_of_view": 4.7124, "max_range": 4, "sweep": 0.0667},
    "urg": {"rays": 683, "field_of_view": 4.1888, "max_range": 4, "sweep": 0.0667},
}
"""Parameters of laser scanners by the beginnings of their names; commonly quoted, not checked."""

MOBILESIM_TYPES = {
    "lms2": "sicklms200",
    "lms1": "sicklms100",
    "s3": "sicks300",
    "tim": "sicktim510",
}
"""MobileSim's names of laser scanners by the beginnings of their names."""


@dataclass(frozen=True)
class RobotFile:
    """A robot that was read from a file."""

    name: str
    """The subclass by which ARIA knows the robot, lower case."""
    robot: dict[str, Any]
    """The robot as plain data, as in a scenario."""
    model_parameters: dict[str, Any]
    """Conversion factors and session defaults, by the fields of `pioneer.RobotModel`."""


def read_text(file: Path) -> str:
    """The text of a file; WrongInput if it cannot be read or is too large."""
    try:
        if file.stat().st_size > MAX_BYTES:
            raise WrongInput(f"{file}: larger than any description of a robot")
        return file.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise WrongInput(f"{file}: not a text file in UTF-8") from None
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or str(problem)
        raise WrongInput(f"{file}: {why}") from None


def raise_faults(faults: list[tuple[int, str]], file: Path) -> None:
    """Raise all faults, each a line number and a message, as one WrongInput."""
    if faults:
        raise WrongInput("\n".join(f"{file}:{line}: {what}" for line, what in sorted(set(faults))))


def lidar(name: str, x: float, y: float, yaw: float) -> dict[str, Any]:
    """A laser scanner by its name; an unknown one is a SICK LMS-200."""
    bare = name.lower().removeprefix("sick")
    known = next((v for k, v in LIDARS.items() if bare.startswith(k)), LIDARS["lms2"])
    mount = {"x": x, "y": y, "yaw": yaw}
    return {"kind": "lidar", "rate": 10, **mount, **known, "sigma": 0.005, "resolution": 0.001}


def mobilesim_lidar_type(name: str) -> str:
    """MobileSim's name of a laser scanner."""
    bare = name.lower().removeprefix("sick")
    return next((v for k, v in MOBILESIM_TYPES.items() if bare.startswith(k)), name)


def sonar(mounts: list[tuple[float, float, float]]) -> dict[str, Any]:
    """A ring of sonars; if their number allows it, an eighth fires at a time, as on a Pioneer."""
    count = len(mounts)
    return {
        "kind": "sonar",
        "rate": 25,
        "mounts": [list(mount) for mount in mounts],
        "at_once": next(k for k in (count // 8, 2, 1) if k and count % k == 0),
        "sigma": 0.005,
        "resolution": 0.001,
        "crosstalk": 0.01,
    }


def wheel_baseline(wheel_factor: float, width: float) -> float:
    """The distance between the wheels, m.

    The factor converts mm/s of a wheel to rad/s of the body, so baseline = 0.002 / factor. Where
    the firmware does not use it, it may be anything: then the baseline is 85 % of the width.
    """
    implied = 0.002 / wheel_factor
    return implied if 0.4 * width < implied < 1.5 * width else 0.85 * width


def pioneer_encoders() -> dict[str, Any]:
    """A sensor `wheels` with the errors of a Pioneer's encoders, as plain data."""
    errors = {"radius_sd": 0.001, "baseline_sd": 0.003, "slip_density": 0.001}
    return {"kind": "wheels", "rate": 50, "ticks": 32768, **errors}


def chamfered_box(front: float, rear: float, width: float, half_front: float) -> list[list[float]]:
    """The corners of a box with its own corners cut at 45 degrees, counter-clockwise, m.

    `front` and `rear` are from the origin to the edges, `half_front` is half of the uncut front.
    """
    side = 0.5 * width
    cut = max(0.0, min(side - half_front, 0.5 * (front + rear)))
    right = [[front, -side + cut], [front - cut, -side], [cut - rear, -side], [-rear, cut - side]]
    half = right if cut > 0.0 else [[front, -side], [-rear, -side]]
    return [*half, *([x, -y] for x, y in reversed(half))]
