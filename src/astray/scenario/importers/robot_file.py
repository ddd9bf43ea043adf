"""A robot that another program's file describes, and what such files leave unsaid."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from astray.errors import WrongInput

LARGEST = 4_000_000  # bytes: the files that come with the programs have some 100 000
WHEEL_RADIUS = 0.0975  # m, of a Pioneer 3-DX

LIDARS: dict[str, dict[str, Any]] = {
    "lms2": {"rays": 181, "field_of_view": 3.1416, "max_range": 32, "sweep": 0.0133},
    "lms1": {"rays": 541, "field_of_view": 4.7124, "max_range": 20, "sweep": 0.02},
    "lms5": {"rays": 381, "field_of_view": 3.3161, "max_range": 65, "sweep": 0.01},
    "s3": {"rays": 541, "field_of_view": 4.7124, "max_range": 30, "sweep": 0.03},
    "tim": {"rays": 271, "field_of_view": 4.7124, "max_range": 4, "sweep": 0.0667},
    "urg": {"rays": 683, "field_of_view": 4.1888, "max_range": 4, "sweep": 0.0667},
}
"""Laser scanners by how their names begin; commonly quoted figures, not checked."""

TYPES = {"lms2": "sicklms200", "lms1": "sicklms100", "s3": "sicks300", "tim": "sicktim510"}


@dataclass(frozen=True)
class RobotFile:
    """What a file says of a robot."""

    name: str
    """The subclass by which ARIA knows it, lower case."""
    robot: dict[str, Any]
    """The robot as scenarios take it."""
    figures: dict[str, Any]
    """How its numbers are written on the wire, by the names that a model has for them."""


def text_of(file: Path) -> str:
    """The text of a file that people wrote; WrongInput if it is none."""
    try:
        if file.stat().st_size > LARGEST:
            raise WrongInput(f"{file}: larger than any description of a robot")
        return file.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise WrongInput(f"{file}: not a text file in UTF-8") from None
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or str(problem)
        raise WrongInput(f"{file}: {why}") from None


def refuse(faults: list[tuple[int, str]], file: Path) -> None:
    """Say everything that is wrong with a file at once."""
    if faults:
        raise WrongInput("\n".join(f"{file}:{line}: {what}" for line, what in sorted(set(faults))))


def lidar(kind: str, x: float, y: float, yaw: float) -> dict[str, Any]:
    """A laser scanner by its name; an unknown one is a SICK LMS-200."""
    bare = kind.lower().removeprefix("sick")
    known = next((v for k, v in LIDARS.items() if bare.startswith(k)), LIDARS["lms2"])
    mount = {"x": x, "y": y, "yaw": yaw}
    return {"kind": "lidar", "rate": 10, **mount, **known, "sigma": 0.005, "resolution": 0.001}


def lidar_type(kind: str) -> str:
    """How MobileSim calls a laser scanner."""
    bare = kind.lower().removeprefix("sick")
    return next((v for k, v in TYPES.items() if bare.startswith(k)), kind)


def sonar(mounts: list[tuple[float, float, float]]) -> dict[str, Any]:
    """A ring of sonars of which an eighth fires at a time, as in a Pioneer's, where that fits."""
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


def baseline(factor: float, width: float) -> float:
    """The distance of the wheels, m, by the factor from mm/s of a wheel to rad/s of the body.

    Where firmware does without it the factor may be anything: then the width has to tell.
    """
    implied = 0.002 / factor
    return implied if 0.4 * width < implied < 1.5 * width else 0.85 * width


def wheels() -> dict[str, Any]:
    """Encoders that are as wrong as those of a Pioneer."""
    errors = {"radius_sd": 0.001, "baseline_sd": 0.003, "slip_density": 0.001}
    return {"kind": "wheels", "rate": 50, "ticks": 32768, **errors}


def corners(front: float, rear: float, width: float, flat: float) -> list[list[float]]:
    """A box whose corners are cut at 45 degrees, `flat` being half of what is left in front."""
    side = 0.5 * width
    cut = max(0.0, min(side - flat, 0.5 * (front + rear)))
    right = [[front, -side + cut], [front - cut, -side], [cut - rear, -side], [-rear, cut - side]]
    outline = right if cut > 0.0 else [[front, -side], [-rear, -side]]
    return [*outline, *([x, -y] for x, y in reversed(outline))]
