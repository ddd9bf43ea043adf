"""All that a run says, as topics: what recordings hold and wires publish."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from astray.engine import Robots, Run
from astray.errors import WrongInput
from astray.numerics import Schedule, first_due
from astray.plugin import NEVER
from astray.ros.names import BASE, RosRobot, alike, robots_of, ros_name
from astray.ros.publishers.battery import BatteryPublisher
from astray.ros.publishers.dead_reckoning import DeadReckoning
from astray.ros.publishers.due import DueSet, Said
from astray.ros.publishers.poses import BeliefPublisher, CommandPublisher, reckoning_of, truth_of
from astray.ros.publishers.publisher import Publisher
from astray.ros.publishers.readings import report_of, topics_of
from astray.ros.publishers.tracks import TracksPublisher
from astray.ros.publishers.transforms import Mount, TransformPublisher, static_transforms

if TYPE_CHECKING:
    pass

LONGEST_CYCLE = 10_000  # ticks after which all periods are whole again, to be remembered
POSE_RATE = 50.0  # Hz at which poses are said, or the next whole number of ticks
Localization = Literal["belief", "truth", "external"]
"""Whose word `map → odom` is: what the robot believes, the truth, or somebody else's."""


class PublisherSet:
    """The speakers of a run, in the order in which they speak."""

    def __init__(
        self, sim: Run, localization: Localization = "belief", rate: float = POSE_RATE
    ) -> None:
        self.sim = sim
        self.robots = robots_of(sim)
        self._groups = sim.robots
        self.period = max(1, round(1.0 / (rate * sim.dt)))
        self.publishers: list[Publisher] = []
        self.dead_reckonings = {name: DeadReckoning(group) for name, group in sim.robots.items()}
        for name, group in sim.robots.items():
            for robots in self.layout_groups(name):
                self.add(self._speakers(group, robots, localization))

    def add(self, speakers: Iterable[Publisher]) -> None:
        """Let others speak behind those that do."""
        self.publishers += speakers
        for number, speaker in enumerate(self.publishers):
            speaker.index = number
        beats = {speaker.schedule for speaker in self.publishers}
        self._beats = sorted(beats | {r.schedule for r in self.dead_reckonings.values()})
        self._is_always_due = Schedule() in self._beats
        self._cycle = math.lcm(*(beat.period for beat in beats))
        self._rounds: dict[tuple[int, bool], DueSet] = {}

    def _speakers(
        self, group: Robots, robots: Sequence[RosRobot], localization: Localization
    ) -> Iterator[Publisher]:
        reckoning, period = self.dead_reckonings[group.name], self.period
        topics = topics_of(group.pipelines)
        for name, channel in group.pipelines.items():
            if channel.sample_schedule.offset < NEVER:
                report = report_of(channel.sensor.measures)
                yield report(robots, channel, topics[name], frame_of(group, name))
        yield truth_of(robots, group.truth, period)
        yield reckoning_of(robots, reckoning.state, period)
        for name, belief in group.beliefs().items():
            yield BeliefPublisher(robots, belief_topic(name), belief, period)
        if group.tracker is not None:
            yield TracksPublisher(robots, group.contacts, group.truth["alive"], period)
        yield CommandPublisher(robots, "command", group.drives, group.truth, period)
        map_from = {"belief": group.belief, "truth": group.truth, "external": None}[localization]
        yield TransformPublisher(robots, reckoning, group.truth, map_from, period)
        yield BatteryPublisher(robots, group.truth, self.sim.dt)

    def layout_groups(self, group: str) -> list[list[RosRobot]]:
        """The robots of a group by the lengths of their names: their messages have one layout."""
        return alike(self.robots[group])

    def next_due(self, step: int) -> int:
        """The first step from this one on at which there may be something to say."""
        if self._is_always_due or self.sim.tick is None:
            return step
        ahead = self.sim.tick - self.sim.steps  # a reset sets the clocks of worlds back
        return first_due(self._beats, step + ahead) - ahead

    def due_publishers(self) -> Said:
        """Who has something to say now, and for which rows; to be asked at every due step."""
        self.update_dead_reckoning()
        return self._round().ask(self.sim)

    def update_dead_reckoning(self) -> None:
        """Go on with dead reckoning; to be done at every due step, if no one is asked to speak."""
        if self.sim.robots is not self._groups:  # all speakers have the tables of the old ones
            raise WrongInput("a run with a new seed needs new wires: close these, and open others")
        for reckoning in self.dead_reckonings.values():
            reckoning.update()

    def _round(self) -> DueSet:
        """Those who may have something to say now."""
        sim = self.sim
        place = (sim.steps if sim.tick is None else sim.tick) % self._cycle
        key = place, sim.tick is None
        found = self._rounds.get(key)
        if found is None:
            found = DueSet(speaker for speaker in self.publishers if speaker.is_due(sim))
            if self._cycle <= LONGEST_CYCLE:
                self._rounds[key] = found
        return found

    def static_transforms(self) -> list[bytes]:
        """Messages that say where frames are for good."""
        said = []
        for name, group in self.sim.robots.items():
            for robots in self.layout_groups(name):
                said += static_transforms(robots, mounts_of(group))
        return said


def belief_topic(name: str) -> str:
    """The topic of a belief: the robot's own, or a rival's by its name."""
    return "belief/pose" if name == "belief" else f"rivals/{ros_name(name)}/pose"


def frame_of(group: Robots, sensor: str) -> str:
    """The frame of a sensor: a link of its own if it sits somewhere, else the body's."""
    return f"{ros_name(sensor)}_link" if sensor in _mounted(group) else BASE


def mounts_of(group: Robots) -> dict[str, Mount]:
    """Where the frames of a robot's sensors sit, as the datasheets have it."""
    return {frame_of(group, name): mount for name, mount in _mounted(group).items()}


def _mounted(group: Robots) -> dict[str, Mount]:
    found: dict[str, Mount] = {}
    for name, channel in group.pipelines.items():
        values = channel.sensor.sheet().values
        if "x" in values and "y" in values and channel.sample_schedule.offset < NEVER:
            x, y, roll, pitch, yaw = (
                float(values.get(key, 0.0)) for key in ("x", "y", "roll", "pitch", "yaw")
            )
            found[name] = x, y, roll, pitch, yaw
    return found
