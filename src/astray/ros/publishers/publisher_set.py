"""All publishers of a run: what recordings hold and bridges publish."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from astray.engine import Robots, Run
from astray.errors import WrongInput
from astray.numerics import NEVER, Schedule, first_due
from astray.ros.names import BASE_FRAME, RosRobot, robots_of, ros_name, split_by_name_length
from astray.ros.publishers.dead_reckoning import DeadReckoning
from astray.ros.publishers.publisher import Publisher
from astray.ros.publishers.sensor_messages import ReadingPublisher, topics_of
from astray.ros.publishers.state_messages import (
    battery_publisher,
    belief_publisher,
    command_publisher,
    dead_reckoning_publisher,
    tracks_publisher,
    truth_publisher,
)
from astray.ros.publishers.transforms import MountPose, TransformPublisher, static_transforms
from astray.tables import Rows

MAX_CYCLE = 10_000  # ticks: due sets are kept if the periods of all publishers repeat within it
POSE_RATE = 50.0  # Hz at which poses are published, rounded to a whole number of ticks
Localization = Literal["belief", "truth", "external"]
"""What `map → odom` follows: the belief, the truth, or nothing, since another node publishes it."""

DueMessages: TypeAlias = list[tuple[Publisher, Rows]]
"""Publishers that have messages now, and for which rows."""


class DueSet:
    """The publishers whose schedules have a tick in common."""

    def __init__(self, publishers: Iterable[Publisher]) -> None:
        self._polled: list[tuple[Publisher, Callable[[Run], Rows]]] = []
        self._steady: dict[str, DueMessages] = {}
        """By group, the publishers that need no poll while all robots of the group are alive."""
        for publisher in publishers:
            if publisher.is_steady:
                group = publisher.robots[0].group
                self._steady.setdefault(group, []).append((publisher, publisher.rows))
            else:
                self._polled.append((publisher, publisher.fresh_rows))

    def messages(self, sim: Run) -> DueMessages:
        """The publishers that have messages, and for which rows."""
        due: DueMessages = []
        for name, steady in self._steady.items():
            group = sim.robots[name]
            if len(group.rows) == len(group.truth):
                due += steady
            else:
                due += [(p, rows) for p, _ in steady if len(rows := p.fresh_rows(sim))]
        for publisher, fresh_rows in self._polled:
            rows = fresh_rows(sim)
            if len(rows):
                due.append((publisher, rows))
        return due


class PublisherSet:
    """The publishers of a run, in the order in which they publish.

    Args:
        sim: The run.
        localization: What `map → odom` follows.
        rate: How often poses and transforms are published, Hz of simulated time.
    """

    def __init__(
        self, sim: Run, localization: Localization = "belief", rate: float = POSE_RATE
    ) -> None:
        self.sim = sim
        self.robots = robots_of(sim)
        """The robots of each group, as ROS 2 names them."""
        self._groups = sim.robots
        self.period = max(1, round(1.0 / (rate * sim.dt)))
        """Ticks from pose to pose."""
        self.publishers: list[Publisher] = []
        self.dead_reckonings = {name: DeadReckoning(group) for name, group in sim.robots.items()}
        for name, group in sim.robots.items():
            for robots in self.layout_groups(name):
                self.add(self._publishers(group, robots, localization))

    def add(self, publishers: Iterable[Publisher]) -> None:
        """Add publishers behind those that there are."""
        self.publishers += publishers
        for index, publisher in enumerate(self.publishers):
            publisher.index = index
        schedules = {publisher.schedule for publisher in self.publishers}
        self._schedules = sorted(schedules | {r.schedule for r in self.dead_reckonings.values()})
        self._is_always_due = Schedule() in self._schedules
        self._cycle = math.lcm(*(schedule.period for schedule in schedules))
        self._due_sets: dict[tuple[int, bool], DueSet] = {}

    def _publishers(
        self, group: Robots, robots: Sequence[RosRobot], localization: Localization
    ) -> Iterator[Publisher]:
        reckoning, period = self.dead_reckonings[group.name], self.period
        topics = topics_of(group.pipelines)
        for name, pipeline in group.pipelines.items():
            if pipeline.sample_schedule.offset < NEVER:
                yield ReadingPublisher(robots, pipeline, topics[name], frame_of(group, name))
        yield truth_publisher(robots, group.truth, period)
        yield dead_reckoning_publisher(robots, reckoning.state, period)
        for name, belief in group.beliefs().items():
            yield belief_publisher(robots, name, belief, period)
        if group.tracker is not None:
            yield tracks_publisher(robots, group.contacts, group.truth["alive"], period)
        yield command_publisher(robots, group.drives, group.truth, period)
        map_from = {"belief": group.belief, "truth": group.truth, "external": None}[localization]
        yield TransformPublisher(robots, reckoning, group.truth, map_from, period)
        yield battery_publisher(robots, group.truth, self.sim.dt)

    def layout_groups(self, group: str) -> list[list[RosRobot]]:
        """The robots of a group, by the lengths of their names: the messages of each list have one
        layout.
        """
        return split_by_name_length(self.robots[group])

    def next_due(self, step: int) -> int:
        """The first step from this one on at which messages may be due."""
        if self._is_always_due or self.sim.tick is None:
            return step
        ahead = self.sim.tick - self.sim.steps  # a reset sets the clocks of worlds back
        return first_due(self._schedules, step + ahead) - ahead

    def due_publishers(self) -> DueMessages:
        """Update dead reckoning, and find the publishers that have messages now.

        To be called at every due step.
        """
        self.update_dead_reckoning()
        return self._due_set().messages(self.sim)

    def update_dead_reckoning(self) -> None:
        """Update dead reckoning only: at due steps at which no publisher is polled.

        Raises:
            WrongInput: The run has been reset with another seed, and has other tables now.
        """
        if self.sim.robots is not self._groups:
            raise WrongInput("a run with a new seed needs new bridges: close the old ones first")
        for reckoning in self.dead_reckonings.values():
            reckoning.update()

    def _due_set(self) -> DueSet:
        """The publishers whose schedule has this tick."""
        sim = self.sim
        phase = (sim.steps if sim.tick is None else sim.tick) % self._cycle
        key = phase, sim.tick is None
        found = self._due_sets.get(key)
        if found is None:
            found = DueSet(publisher for publisher in self.publishers if publisher.is_due(sim))
            if self._cycle <= MAX_CYCLE:
                self._due_sets[key] = found
        return found

    def static_transforms(self) -> list[bytes]:
        """The messages of /tf_static, CDR bytes."""
        messages = []
        for name, group in self.sim.robots.items():
            for robots in self.layout_groups(name):
                messages += static_transforms(robots, mounts_of(group))
        return messages


def frame_of(group: Robots, sensor: str) -> str:
    """The frame of a sensor: a link of its own if the sensor has a mount, else the body's."""
    return f"{ros_name(sensor)}_link" if sensor in _mounts_by_sensor(group) else BASE_FRAME


def mounts_of(group: Robots) -> dict[str, MountPose]:
    """The pose of each sensor's frame in the body, by the datasheets."""
    return {frame_of(group, name): mount for name, mount in _mounts_by_sensor(group).items()}


def _mounts_by_sensor(group: Robots) -> dict[str, MountPose]:
    found: dict[str, MountPose] = {}
    for name, pipeline in group.pipelines.items():
        values = pipeline.sensor.datasheet().values
        if "x" in values and "y" in values and pipeline.sample_schedule.offset < NEVER:
            pose = (float(values.get(key, 0.0)) for key in MountPose._fields)
            found[name] = MountPose(*pose)
    return found
