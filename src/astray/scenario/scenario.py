"""A checked scenario: what a simulation is built from."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from astray.plugin import (
    Autonomy,
    ContactMetric,
    Control,
    Datasheet,
    Estimator,
    Interaction,
    Metric,
    Motion,
    Sensor,
    Tracker,
)
from astray.robot.autonomy import RemoteAutonomy
from astray.robot.control import Servo
from astray.robot.motion import Differential
from astray.scenario.references import MapPlan
from astray.scenario.start import Start
from astray.world.geometry import Footprint


@dataclass(kw_only=True)
class GroupPlan:
    """The plan of a group of equal robots."""

    name: str
    count: int = 1
    """Robots per world at the start."""
    capacity: int = 1
    """Robots per world that there can be."""
    start: Start = field(default_factory=Start)
    motion: Motion = field(default_factory=Differential)
    control: Control = field(default_factory=Servo)
    autonomy: Autonomy = field(default_factory=RemoteAutonomy)
    sensors: list[Sensor] = field(default_factory=list)
    estimator: Estimator | None = None
    rivals: list[Estimator] = field(default_factory=list)
    contacts: Tracker | None = None
    """The tracker of other robots."""
    footprint: Footprint = field(default_factory=Footprint)
    map: MapPlan | None = None
    """The map that the robots are given; by default that of the world, as it is at the start."""

    def sheets(self) -> dict[str, Datasheet]:
        """The datasheets of a robot.

        Returns:
            Those of its motion and its footprint, and of its sensors by name.
        """
        footprint = Datasheet("footprint", asdict(self.footprint))
        sensors = {sensor.name: sensor.datasheet() for sensor in self.sensors}
        return {"motion": self.motion.datasheet(), "footprint": footprint, **sensors}


@dataclass(kw_only=True)
class Scenario:
    """A scenario: robots, metrics, a world, and time."""

    name: str
    dt: float
    """The length of a tick, s."""
    duration: float
    """s."""
    seed: int
    robots: list[GroupPlan]
    metrics: list[Metric | ContactMetric]
    map: MapPlan | None = None
    interactions: list[Interaction] = field(default_factory=list)
    effective: dict[str, Any] = field(default_factory=dict)
    """The scenario as plain data, with every preset, override and default."""
