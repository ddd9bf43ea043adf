"""A scenario that was found right: what a simulation is built from."""

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
from astray.scenario.maps import MapPlan
from astray.scenario.start import Start
from astray.world.geometry import Footprint


@dataclass(kw_only=True)
class GroupPlan:
    """Equal robots, as a scenario asks for them."""

    name: str
    count: int = 1
    capacity: int = 1
    start: Start = field(default_factory=Start)
    motion: Motion = field(default_factory=Differential)
    control: Control = field(default_factory=Servo)
    autonomy: Autonomy = field(default_factory=RemoteAutonomy)
    sensors: list[Sensor] = field(default_factory=list)
    estimator: Estimator | None = None
    rivals: list[Estimator] = field(default_factory=list)
    contacts: Tracker | None = None
    """What makes tracks of others of its detections."""
    footprint: Footprint = field(default_factory=Footprint)
    map: MapPlan | None = None
    """The map that it was given; that of the world, as it was at the start, unless named."""

    def sheets(self) -> dict[str, Datasheet]:
        """The datasheets of a robot: of its motion, its footprint, and its sensors by name."""
        body = Datasheet("footprint", asdict(self.footprint))
        named = {sensor.name: sensor.datasheet() for sensor in self.sensors}
        return {"motion": self.motion.datasheet(), "footprint": body, **named}


@dataclass(kw_only=True)
class Scenario:
    """A whole scenario: robots, judges, and time."""

    name: str
    dt: float
    duration: float
    seed: int
    robots: list[GroupPlan]
    metrics: list[Metric | ContactMetric]
    map: MapPlan | None = None
    interactions: list[Interaction] = field(default_factory=list)
    effective: dict[str, Any] = field(default_factory=dict)
    """The scenario with every preset, override and default written out."""
