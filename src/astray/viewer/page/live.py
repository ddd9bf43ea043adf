"""A live run as the page sees it: copies of what one moment of one world is like."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from astray.engine import Robots, Run
from astray.interactions.collisions import Collisions
from astray.plugin import Reading
from astray.tables import BUMP, Array, Table
from astray.viewer.page import frames
from astray.viewer.page.frames import (
    BELIEF,
    ROBOT,
    TRACK,
    UPPER,
    FrameMoment,
    FrameReading,
    encode_frame,
)
from astray.viewer.page.scene import (
    PlotSignal,
    drawn_numbers,
    estimators_of,
    scene_data,
    sensor_data,
    signals_of,
)
from astray.viewer.page.tracks import confirmed_tracks, page_numbers

MAX_COLLISIONS = 500  # that are drawn, the newest


@dataclass(frozen=True)
class PageSubscription:
    """What pages want to see of a run beyond the poses of its robots."""

    robots: frozenset[int] = frozenset()
    """The robots whose readings and tracks are drawn."""
    all_robots: bool = False
    """Whether those of all robots are."""
    readings: bool = False
    contacts: bool = False
    signals: frozenset[tuple[int, int]] = frozenset()
    """Robots, and the signals of theirs that are plotted."""


class DrawnSensor(NamedTuple):
    """A sensor of a group that can be drawn."""

    number: int
    drawn_as: str
    arrived: Reading


class GroupView(NamedTuple):
    """Views into the tables of a group, and where its robots are in a frame."""

    group: Robots
    first: int
    """The number on the page of its first robot."""
    rows: slice
    """Its rows in the world that is shown."""
    robots: Array
    """Its part of the frame's robots."""
    beliefs: list[tuple[Table, Array]]
    """The belief of each estimator, and its part of the frame's beliefs."""
    sensors: list[DrawnSensor]
    bumpers: list[Reading]
    signals: list[PlotSignal]

    @property
    def numbers(self) -> range:
        """The numbers on the page of its robots."""
        return range(self.first, self.first + len(self.robots))


class LiveSource:
    """One world of a run. The views that it keeps are made anew when the run's tables are."""

    def __init__(self, sim: Run, can_reset: bool = True) -> None:
        self.sim = sim
        self.can_reset = can_reset
        self.serial = 0
        """Of the scene: another one for each scene."""
        self.world = 0
        """The index of the world that is shown."""
        self._build()

    # For the page.

    def scene(self) -> dict[str, Any]:
        """The scene, which is sent once."""
        return self._scene

    def collisions(self) -> list[list[float]]:
        """The newest collisions of this world: time, robot, other robot or −1, x, y, speed."""
        return self._collisions

    def frame(self, subscription: PageSubscription) -> bytes:
        """The present moment as a frame, to be called between two ticks."""
        if self._is_outdated():
            self._build()
        self._record_collisions()
        sim = self.sim
        for view in self._groups:
            self._copy(view)
        paused = frames.PAUSED if sim.pace.paused else 0
        moment = FrameMoment(
            self.serial,
            int(sim.clock[self.world]),
            float(sim.clock[self.world] * sim.dt),
            round(sim.pace.factor, 3),
            sim.pace.speed,
            paused | (frames.IDLE if sim.is_idle else 0),
            self._robots,
            self._beliefs,
            self._tracks(subscription),
            self._values(subscription),
            self._readings(subscription),
        )
        return encode_frame(moment)

    def show(self, world: int) -> None:
        """Show another world, by its index in the batch."""
        if not 0 <= world < len(self.sim.worlds):
            raise ValueError(f"there is no world {world}")
        self.world = world

    def robot(self, number: int) -> tuple[Robots, int]:
        """The group of a robot by its number on the page, and its number in the group."""
        view = self._view_of(number)
        if view is None:
            raise ValueError("there is no such robot")
        return view.group, number - view.first

    # Building the views.

    def _is_outdated(self) -> bool:
        environment, map, world = self._built
        present = self.sim.environment
        return (
            present is not environment
            or present.scene.map.map(self.world) is not map
            or self.world != world
        )

    def _build(self) -> None:
        sim = self.sim
        serial = self.serial + 1
        self._built = sim.environment, sim.environment.scene.map.map(self.world), self.world
        self._collisions: list[list[float]] = []
        self._recorded_collisions = 0
        groups = list(sim.robots.values())
        count = sum(group.plan.capacity for group in groups)
        belief_count = sum(len(estimators_of(g.plan)) * g.plan.capacity for g in groups)
        self._robots = np.zeros((count, ROBOT), np.float32)
        self._beliefs = np.zeros((belief_count, BELIEF), np.float32)
        views: list[GroupView] = []
        first = first_belief = 0
        for group in groups:
            view = self._view(group, first, first_belief)
            views.append(view)
            first += len(view.robots)
            first_belief += len(view.beliefs) * len(view.robots)
        self._page_numbers = page_numbers([group.plan for group in groups])
        signals = {view.group.name: view.signals for view in views}
        # Last, since the thread of the server reads them at any time.
        self._groups = views
        self._scene = {
            "serial": serial,
            **scene_data(sim, self.world, signals, self.can_reset),
        }
        self.serial = serial

    def _view(self, group: Robots, first: int, first_belief: int) -> GroupView:
        n = group.plan.capacity
        rows = slice(self.world * n, (self.world + 1) * n)
        beliefs = []
        for k, name in enumerate(estimators_of(group.plan)):
            start = first_belief + k * n
            beliefs.append((group.beliefs()[name][rows], self._beliefs[start : start + n]))
        sensors, bumpers = [], []
        for k, pipeline in enumerate(group.pipelines.values()):
            drawn_as = sensor_data(pipeline.sensor)["draws"]
            if drawn_as:
                sensors.append(DrawnSensor(k, drawn_as, pipeline.arrived))
            if pipeline.sensor.measures == BUMP:
                bumpers.append(pipeline.arrived)
        robots = self._robots[first : first + n]
        return GroupView(group, first, rows, robots, beliefs, sensors, bumpers, signals_of(group))

    def _view_of(self, number: int) -> GroupView | None:
        return next((view for view in self._groups if number in view.numbers), None)

    # Copying a moment.

    def _copy(self, view: GroupView) -> None:
        """Copy the truth and the beliefs of a group."""
        group, rows, out = view.group, view.rows, view.robots
        truth, contacts = group.truth[rows], group.scene.collisions[rows]
        for k, column in enumerate(("x", "y", "yaw", "vx", "vy", "wz")):
            out[:, k] = truth[column]
        flags = frames.ALIVE * truth["alive"] + frames.TOUCHING * contacts["touching"]
        flags = flags + frames.STALLED * contacts["stalled"]
        ghosts = self.sim.environment.ghosts[group.scene.first_row :][rows]
        flags = flags + frames.GHOST * ghosts
        if group.override is not None:
            flags = flags + frames.OVERRIDDEN * group.override.table["held"][rows]
        for reading in view.bumpers:
            flags = flags | frames.BUMPED * reading["pressed"][rows]
        out[:, 6] = flags
        out[:, 7], out[:, 8] = contacts["x"], contacts["y"]
        for belief, belief_out in view.beliefs:
            for k, column in enumerate(("x", "y", "yaw")):
                belief_out[:, k] = belief[column]
            belief_out[:, 3] = truth["stamp"] - belief["stamp"]
            belief_out[:, 4:] = belief["cov"][:, UPPER[0], UPPER[1]]

    def _values(self, subscription: PageSubscription) -> list[tuple[int, int, float]]:
        """The plotted values: robot, signal, value."""
        values = []
        for robot, signal in subscription.signals:
            view = self._view_of(robot)
            if view is not None and signal < len(view.signals):
                row = view.rows.start + robot - view.first
                values.append((robot, signal, float(view.signals[signal].values[row])))
        return values

    def _tracks(self, subscription: PageSubscription) -> Array:
        tracks = [np.zeros((0, TRACK), np.float32)]
        for view in self._groups if subscription.contacts else ():
            group, start = view.group, view.rows.start
            if group.tracker is not None:
                numbers = [r for r in subscription.robots if r in view.numbers]
                if subscription.all_robots:
                    rows = start + np.arange(len(view.robots))
                else:
                    rows = start + np.array(numbers, int) - view.first
                rows = rows[group.truth["alive"][rows]]
                shift = view.first - start
                tracks.append(confirmed_tracks(group, rows, shift, self._page_numbers))
        return np.concatenate(tracks)

    def _readings(self, subscription: PageSubscription) -> list[FrameReading]:
        readings: list[FrameReading] = []
        for view in self._groups if subscription.readings else ():
            if not view.sensors:
                continue
            numbers: Iterable[int] = view.numbers
            if not subscription.all_robots:
                numbers = subscription.robots.intersection(numbers)
            alive, time = view.group.truth["alive"], view.group.time
            shift = view.rows.start - view.first
            for robot in numbers:
                row = robot + shift
                if not alive[row]:
                    continue
                for sensor, drawn_as, arrived in view.sensors:
                    drawn = drawn_numbers(drawn_as, arrived, row)
                    if drawn is not None:
                        age = float(time[row] - arrived.stamp[row])
                        readings.append(FrameReading(robot, sensor, age, drawn))
        return readings

    def _record_collisions(self) -> None:
        """Take in the collisions that began since the last frame."""
        for interaction in self.sim.environment.interactions:
            if not isinstance(interaction, Collisions):
                continue
            hits = interaction.log
            if hits.total < self._recorded_collisions:  # the run was reset
                self._recorded_collisions, self._collisions = 0, []
            new = hits.newest(min(hits.total - self._recorded_collisions, MAX_COLLISIONS))
            self._recorded_collisions = hits.total
            numbers = self._numbers_by_row() if len(new) else {}
            for hit in new:
                if int(hit["row"]) in numbers:
                    other = numbers.get(int(hit["other"]), -1)
                    point = [float(hit[column]) for column in ("x", "y", "speed")]
                    robot = numbers[int(hit["row"])]
                    self._collisions.append([float(hit["stamp"]), robot, other, *point])
            if len(self._collisions) > MAX_COLLISIONS:
                self._collisions = self._collisions[-MAX_COLLISIONS:]

    def _numbers_by_row(self) -> dict[int, int]:
        """The numbers on the page of robots, by their rows among all robots of the run."""
        return {
            view.group.scene.first_row + view.rows.start + k: view.first + k
            for view in self._groups
            for k in range(len(view.robots))
        }
