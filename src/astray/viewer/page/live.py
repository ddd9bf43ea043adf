"""A run that goes on, as the page sees it: copies of what a moment of one world is like."""

from __future__ import annotations

from typing import Any

import numpy as np

from astray.engine import Robots, Run
from astray.interactions.collisions import Collisions
from astray.plugin import Reading
from astray.tables import BUMP, Array, Table
from astray.viewer.page import frames
from astray.viewer.page.drawables import numbers, sight
from astray.viewer.page.frames import BELIEF, ROBOT, TRACK, FrameMoment, Shown, encode
from astray.viewer.page.plots import signals_of
from astray.viewer.page.scene import beliefs_of, scene_of
from astray.viewer.page.subscription import Wishes
from astray.viewer.page.tracks import confirmed_tracks, page_numbers

MOST_HITS = 500  # collisions that are drawn, the newest
UPPER = (0, 0, 0, 1, 1, 2), (0, 1, 2, 1, 2, 2)  # of a symmetric matrix


class LiveSource:
    """One world of a run. What it keeps are views into the tables, made anew when those are."""

    def __init__(self, sim: Run, resets: bool = True) -> None:
        self.sim = sim
        self.resets = resets
        self.serial = 0
        self.world = 0
        self._build()

    # For the page.

    def scene(self) -> dict[str, Any]:
        """What the page is told once."""
        return self._scene

    def hits(self) -> list[list[float]]:
        """The collisions so far of the world that is shown, the newest of them."""
        return self._hits

    def frame(self, wishes: Wishes) -> bytes:
        """The present moment, to be called between two ticks."""
        if self._outdated():
            self._build()
        self._note_hits()
        sim = self.sim
        for group, robots, beliefs in self._parts:
            self._copy(group, robots, beliefs)
        held = frames.HELD if sim.pace.paused else 0
        moment = FrameMoment(
            self.serial,
            int(sim.clock[self.world]),
            float(sim.clock[self.world] * sim.dt),
            round(sim.pace.factor, 3),
            sim.pace.speed,
            held | (frames.RESTING if sim.is_idle else 0),
            self._robots,
            self._beliefs,
            self._tracks(wishes),
            self._values(wishes),
            self._readings(wishes),
        )
        return encode(moment)

    def show(self, world: int) -> None:
        """Show another world, by its place in the batch."""
        if not 0 <= world < len(self.sim.worlds):
            raise ValueError(f"there is no world {world}")
        self.world = world

    def robot(self, number: int) -> tuple[Robots, int]:
        """The group of a robot by its number on the page, and which of the group it is."""
        for group, robots, _ in self._parts:
            if 0 <= number < len(robots):
                return group, number
            number -= len(robots)
        raise ValueError("there is no such robot")

    @property
    def count(self) -> int:
        """How many robots there are on the page."""
        return len(self._robots)

    # Inside.

    def _outdated(self) -> bool:
        scenery, around, world = self._built
        now = self.sim.environment
        return (
            now is not scenery
            or now.scene.map.map(self.world) is not around
            or (self.world != world)
        )

    def _build(self) -> None:
        sim = self.sim
        serial = self.serial + 1
        self._built = sim.environment, sim.environment.scene.map.map(self.world), self.world
        self._signals = {name: signals_of(group) for name, group in sim.robots.items()}
        about = scene_of(sim, self.world, self._signals, self.resets)
        self._hits: list[list[float]] = []
        self._noted = 0
        groups = list(sim.robots.values())
        self._robots = np.zeros((sum(g.plan.capacity for g in groups), ROBOT), np.float32)
        judged = [[g.beliefs()[who] for who in beliefs_of(g.plan)] for g in groups]
        count = sum(len(t) * g.plan.capacity for g, t in zip(groups, judged, strict=True))
        self._beliefs = np.zeros((count, BELIEF), np.float32)
        self._parts: list[tuple[Robots, Array, list[tuple[Table, Array]]]] = []
        robot = belief = 0
        for group, tables in zip(groups, judged, strict=True):
            n = group.plan.capacity
            parts = []
            for table in tables:
                parts.append((table[self._rows(group)], self._beliefs[belief : belief + n]))
                belief += n
            self._parts.append((group, self._robots[robot : robot + n], parts))
            robot += n
        self._drawn = {g.name: _drawn(g) for g in groups}
        self._numbers = page_numbers([g.plan for g in groups])
        self._bumpers = {
            g.name: [c.arrived for c in g.pipelines.values() if c.sensor.measures == BUMP]
            for g in groups
        }
        # Last, since the thread of the server reads them at any time.
        self._scene = {"serial": serial, **about}
        self.serial = serial

    def _rows(self, group: Robots) -> slice:
        n = group.plan.capacity
        return slice(self.world * n, (self.world + 1) * n)

    def _copy(self, group: Robots, out: Array, beliefs: list[tuple[Table, Array]]) -> None:
        rows = self._rows(group)
        truth, contacts = group.truth[rows], group.scene.contacts[rows]
        for k, column in enumerate(("x", "y", "yaw", "vx", "vy", "wz")):
            out[:, k] = truth[column]
        flags = frames.ALIVE * truth["alive"] + frames.TOUCHING * contacts["touching"]
        flags = flags + frames.STALLED * contacts["stalled"]
        ghosts = self.sim.environment.ghosts[group.scene.first :][rows]
        flags = flags + frames.GHOST * ghosts
        if group.override is not None:
            flags = flags + frames.IN_HAND * group.override.table["held"][rows]
        for reading in self._bumpers[group.name]:
            flags = flags | frames.BUMPED * reading["pressed"][rows]
        out[:, 6] = flags
        out[:, 7], out[:, 8] = contacts["x"], contacts["y"]
        for belief, goal in beliefs:
            for k, column in enumerate(("x", "y", "yaw")):
                goal[:, k] = belief[column]
            goal[:, 3] = truth["stamp"] - belief["stamp"]
            goal[:, 4:] = belief["cov"][:, UPPER[0], UPPER[1]]

    def _values(self, wishes: Wishes) -> list[tuple[int, int, float]]:
        found = []
        for robot, signal in wishes.signals:
            if robot < self.count:
                group, number = self.robot(robot)
                signals = self._signals[group.name]
                if signal < len(signals.all):
                    row = self._rows(group).start + number
                    found.append((robot, signal, signals.value(signal, row)))
        return found

    def _tracks(self, wishes: Wishes) -> Array:
        found, first = [np.zeros((0, TRACK), np.float32)], 0
        for group, robots, _ in self._parts if wishes.contacts else ():
            if group.tracker is not None:
                start = self._rows(group).start
                wanted = [r for r in wishes.robots if first <= r < first + len(robots)]
                some = np.arange(len(robots)) if wishes.everyone else np.array(wanted, int) - first
                rows = (start + some)[group.truth["alive"][start + some]]
                found.append(confirmed_tracks(group, rows, first - start, self._numbers))
            first += len(robots)
        return np.concatenate(found)

    def _readings(self, wishes: Wishes) -> list[Shown]:
        found: list[Shown] = []
        if not wishes.readings:
            return found
        first = 0
        for group, robots, _ in self._parts:
            numbers_of = range(first, first + len(robots))
            first += len(robots)
            drawn = self._drawn[group.name]
            if not drawn:
                continue
            for robot in numbers_of if wishes.everyone else wishes.robots.intersection(numbers_of):
                row = self._rows(group).start + robot - numbers_of.start
                if group.truth["alive"][row]:
                    found += self._readings_of(group, row, robot, drawn)
        return found

    def _readings_of(
        self, group: Robots, row: int, robot: int, drawn: list[tuple[int, str, Reading]]
    ) -> list[Shown]:
        found: list[Shown] = []
        for sensor, way, reading in drawn:
            values = numbers(way, reading, row)
            if values is not None:
                found.append((robot, sensor, float(group.time[row] - reading.stamp[row]), values))
        return found

    def _note_hits(self) -> None:
        """Take note of collisions that began since the last look."""
        for interaction in self.sim.environment.interactions:
            if not isinstance(interaction, Collisions):
                continue
            hits = interaction.log
            if hits.total < self._noted:  # the run was reset
                self._noted, self._hits = 0, []
            new = hits.newest(min(hits.total - self._noted, MOST_HITS))
            self._noted = hits.total
            shown = {row: robot for robot, row in enumerate(self._everyone())} if len(new) else {}
            for hit in new:
                if int(hit["row"]) in shown:
                    other = shown.get(int(hit["other"]), -1)
                    place = [float(hit[c]) for c in ("x", "y", "speed")]
                    self._hits.append([float(hit["stamp"]), shown[int(hit["row"])], other, *place])
            if len(self._hits) > MOST_HITS:
                self._hits = self._hits[-MOST_HITS:]

    def _everyone(self) -> list[int]:
        """The rows among everyone of the robots on the page."""
        rows: list[int] = []
        for group, _, _ in self._parts:
            part = self._rows(group)
            rows += range(group.scene.first + part.start, group.scene.first + part.stop)
        return rows


def _drawn(group: Robots) -> list[tuple[int, str, Reading]]:
    """The sensors of a group that can be drawn: which, how, and what has arrived of them."""
    ways = [sight(channel.sensor)["draws"] for channel in group.pipelines.values()]
    arrived = [channel.arrived for channel in group.pipelines.values()]
    return [(k, way, arrived[k]) for k, way in enumerate(ways) if way]
