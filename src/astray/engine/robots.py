"""The robots of one name in all worlds: their tables, the plugins that work on them, commands.

A group has a row for each robot in each world, ordered by world. `Robots` is its state, complete
when it is made; `GroupStepper` lets it decide, move, sense and estimate.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import numpy as np

from astray.engine.clocks import Clocks, RowClocks
from astray.engine.environment import Environment
from astray.engine.evaluation import Evaluation, Subjects
from astray.engine.event_queue import Event, indices
from astray.engine.manual_override import ManualOverride
from astray.engine.sensor_pipeline import SensorPipeline
from astray.errors import PluginError, WrongInput, suggest, unknown_attribute
from astray.numerics import kernel, make_schedule, ticks_in
from astray.plugin import (
    ContactMetric,
    InitialValue,
    Known,
    Metric,
    Plugin,
    Reading,
    RowInitializer,
    Tracks,
)
from astray.robot.autonomy import RemoteAutonomy
from astray.scenario import GroupPlan
from astray.tables import COMMAND, DRIVE, STATE, STOP, Array, Rows, Table, table
from astray.world.planning import TakenPositions

RENAMED = {
    "haunt": "set_ghost",
    "channels": "pipelines",
    "judges": "evaluators",
    "judging": "evaluation",
    "hands": "override",
}


@kernel
def initial_states(
    state: Table, address: Table, time: Array, rows: Rows, poses: Array, footprint: int
) -> None:
    """Fill in the states, zero so far, in which these rows start."""
    for j in range(len(rows)):
        i = rows[j]
        s, a = state[i], address[i]
        s.world, s.robot, s.episode, s.tick = a.world, a.robot, a.episode, a.tick
        s.stamp, s.alive, s.footprint = time[i], True, footprint
        s.x, s.y, s.yaw = poses[j, 0], poses[j, 1], poses[j, 2]


class Robots:
    """Equal robots in all worlds: `robots.truth["x"]` has a value per row."""

    def __init__(
        self,
        plan: GroupPlan,
        first: int,
        environment: Environment,
        clocks: Clocks,
        metrics: Iterable[Metric | ContactMetric],
        beliefs: dict[str, Table],
        post: Callable[[Event], None],
    ) -> None:
        """Make the tables and attach the plugins.

        Args:
            plan: What the scenario asks for.
            first: The row of the first of these robots among all robots.
            environment: What is around all robots.
            clocks: The clocks of the run.
            metrics: By which the beliefs are evaluated.
            beliefs: The beliefs of all groups, by name; this group adds its own.
            post: Takes the events that the commands below make.
        """
        self.plan = plan
        self.name = plan.name
        self.seed = environment.seed
        self.dt = clocks.dt
        self.clocks = clocks
        mine = slice(first, first + plan.capacity * len(clocks.ticks))
        self.scene = environment.of_group(mine)
        self.truth = self.scene.truth
        self.address = environment.address[mine]
        self.ticks = self.address["tick"]  # a view
        self.time = clocks.time[mine]
        self.world_of_row = self.scene.worlds
        self.footprint = environment.footprints.index(plan.name)
        n = len(self.truth)
        self.rows: Rows = np.arange(0)  # of the robots that are there
        self.row_changes = 0  # how often rows came or went
        self.starts = np.zeros(n, np.int64)
        self.start_counts = np.zeros(n, np.int64)  # how often each row was started, for observers
        self._row_clocks = RowClocks(
            self.address, self.truth, self.time, self.starts, self.start_counts, self.world_of_row
        )
        self.commands = table(COMMAND, n)
        self.drives = table(DRIVE, n)
        self.commands_changed = True
        self.override: ManualOverride | None = None  # of those that were ever overridden
        self._post_event = post
        self._gather = environment.gather
        self._attach(plan, environment, beliefs)
        self._states = list({id(t): t for t in (self.truth, *self.beliefs().values())}.values())
        self._blank = RowInitializer(self._blanks())
        self._starting = [plugin for plugin in self.plugins if not plugin.starts_blank]
        contacts = self.contacts if self.tracker is not None else None
        subjects = Subjects(
            self.name,
            self.seed,
            self.dt,
            self.address,
            self.scene,
            self.beliefs(),
            self.estimators,
            self.pipelines,
            contacts,
            self._gather,
        )
        self.evaluation = Evaluation(subjects, metrics)
        self.evaluators = self.evaluation.evaluators

    def _attach(self, plan: GroupPlan, environment: Environment, beliefs: dict[str, Table]) -> None:
        n = len(self.truth)
        sheets = plan.sheets()
        self.plugins: list[Plugin] = []

        def attach(plugin: Any) -> Any:
            try:
                bound = plugin.attach(self.address, sheets, self.dt, self.seed, self.name)
            except PluginError as problem:
                raise PluginError(f"robot {self.name!r}: {problem}") from None
            self.plugins.append(bound)
            return bound

        self.motion = attach(plan.motion)
        self.autonomy = attach(plan.autonomy)
        self.control = attach(plan.control)
        self.decide_schedule = make_schedule(plan.autonomy.rate, plan.autonomy.offset, self.dt)
        self.steer_schedule = make_schedule(plan.control.rate, plan.control.offset, self.dt)
        self.pipelines = {s.name: SensorPipeline(attach(s), n) for s in plan.sensors}
        self.readings: dict[str, Reading] = {k: p.arrived for k, p in self.pipelines.items()}
        self.estimator = attach(plan.estimator) if plan.estimator else None
        # Without an estimator a robot believes the truth: the same memory, not a copy.
        self.belief = table(STATE, n) if self.estimator else self.truth
        beliefs[self.name] = self.belief
        self.rivals = {r.name: table(STATE, n) for r in plan.rivals}
        self.tracker = attach(plan.contacts) if plan.contacts else None
        self.contacts = Tracks(n, self.tracker.slots if self.tracker else 0)
        self.scene.body = self.motion.params
        self.known = Known(
            self.belief,
            self.readings,
            self.time,
            environment.map_given_to(plan),
            self.world_of_row,
            beliefs,
            self.contacts,
        )
        self.estimators = [(self.estimator, self.belief, self.known)] if self.estimator else []
        for rival in plan.rivals:
            mine = self.rivals[rival.name]
            known = dataclasses.replace(self.known, belief=mine)
            self.estimators.append((attach(rival), mine, known))

    def _blanks(self) -> Iterator[InitialValue]:
        """Every table that is reset where a row starts, but for those of the evaluation."""
        standing = table(DRIVE, 1)
        standing["curvature"] = np.nan
        yield from ((self.commands, STOP), (self.drives, standing))
        yield from ((state, None) for state in self._states)
        for pipeline in self.pipelines.values():
            yield from pipeline.blanks()
        for plugin in self.plugins:
            yield from plugin.blanks()

    def __repr__(self) -> str:
        """What the group has, in one line."""
        sensors = ", ".join(self.pipelines) or "none"
        estimator = self.estimator.kind if self.estimator else "none: believes the truth"
        return (
            f"Robots({self.name!r}: {len(self.rows)} of {len(self.truth)} rows alive; "
            f"motion {self.motion.kind}, autonomy {self.autonomy.kind}, sensors {sensors}, "
            f"estimator {estimator})"
        )

    if not TYPE_CHECKING:  # which would take every name for an attribute

        def __getattr__(self, name: str) -> NoReturn:
            raise unknown_attribute(self, name, RENAMED)

    def beliefs(self) -> dict[str, Table]:
        """The belief and the rivals' beliefs, by name."""
        return {"belief": self.belief, **self.rivals}

    @property
    def lockstep(self) -> int:
        """Ticks that the robots may run ahead of their commands; 0 if they need not wait."""
        ahead = self.autonomy.lockstep if isinstance(self.autonomy, RemoteAutonomy) else None
        return 0 if ahead is None else max(1, ticks_in(ahead, self.dt))

    def look(self, sensor: str, rows: Rows | None = None, truth: Table | None = None) -> Reading:
        """Take a reading now, out of turn and without a trace in the run.

        It is what the sensor would read if it were due now, so asking twice gives the same.

        Args:
            sensor: The name of the sensor.
            rows: The rows to read for; all robots that are there unless named.
            truth: STATE, (n,), to be read in place of the truth.

        Returns:
            The reading, with values in the rows that were asked for.

        Raises:
            WrongInput: There is no such sensor.
        """
        if sensor not in self.pipelines:
            hint = suggest(sensor, self.pipelines)
            have = ", ".join(self.pipelines) or "none"
            raise WrongInput(f"robot {self.name!r} has no sensor {sensor!r}{hint} (it has {have})")
        pipeline = self.pipelines[sensor]
        if pipeline.sensor.sees_robots:
            self._gather()
        scene = self.scene if truth is None else dataclasses.replace(self.scene, truth=truth)
        return pipeline.look(self.rows if rows is None else rows, scene, self.time).copy()

    # Commands: each posts an event, for all robots unless worlds or robots are named.

    def drive(
        self, vx: Any, wz: Any = 0.0, vy: Any = 0.0, hold: float | None = None, **whom: Any
    ) -> None:
        """Command a speed, m/s, and a turn rate, rad/s: one for all, or one per row.

        With `hold` the command overrides the autonomy for so many seconds, whatever it is.
        """
        held = {} if hold is None else {"hold": hold}
        self._post("command", {"vx": vx, "vy": vy, "wz": wz, **held}, **whom)

    def steer(self, vx: Any, curvature: Any, **whom: Any) -> None:
        """Command a speed, m/s, and a curvature, 1/m."""
        self._post("command", {"mode": "curvature", "vx": vx, "curvature": curvature}, **whom)

    def command(self, values: Mapping[str, Any], **whom: Any) -> None:
        """Command any columns of COMMAND, with limits: one value for all, or one per row."""
        self._post("command", dict(values), **whom)

    def go(self, distance: Any, **whom: Any) -> None:
        """Command a straight move by some metres, backwards if negative."""
        self._post("command", {"mode": "move", "distance": distance}, **whom)

    def turn_to(self, heading: Any, **whom: Any) -> None:
        """Command a turn on the spot to a heading in the map, rad."""
        self._post("command", {"mode": "heading", "heading": heading}, **whom)

    def go_to(self, x: Any, y: Any, **whom: Any) -> None:
        """Send robots that navigate to a goal on the map, m, in place of all that they had."""
        self._post("goal", {"x": x, "y": y}, **whom)

    def place(self, *, worlds: Any = None, robots: Any = None, **pose: Any) -> None:
        """Move the truth; the belief is not told."""
        self._post("place", pose, worlds, robots)

    def believe(self, *, worlds: Any = None, robots: Any = None, **belief: Any) -> None:
        """Set the belief; the truth stays where it is."""
        self._post("believe", belief, worlds, robots)

    def spawn(self, *, worlds: Any = None, robots: Any = None, **pose: Any) -> None:
        """Start the first sleeping robot of each world."""
        self._post("spawn", pose, worlds, robots)

    def remove(self, **whom: Any) -> None:
        """Take robots out of the run."""
        self._post("remove", {}, **whom)

    def set_ghost(self, ghostly: bool = True, **whom: Any) -> None:
        """Make robots ghosts, which no sensor sees and nothing stops, or solid again."""
        self._post("ghost", {"ghostly": ghostly}, **whom)

    def set(self, parameter: str, value: Any, **whom: Any) -> None:
        """Change a parameter of a plugin, "wheels.slip", until the next start."""
        self._post("set", {"parameter": parameter, "value": value}, **whom)

    def _post(
        self, kind: str, values: dict[str, Any], worlds: Any = None, robots: Any = None
    ) -> None:
        some = indices(worlds, "worlds"), indices(robots, "robots")
        self._post_event(Event(kind, self.name, *some, values))

    # What the engine does with rows.

    def rows_of(self, worlds: Array) -> Rows:
        """The rows of some worlds, by their places in the batch, asleep or not."""
        if self.plan.capacity == 1:
            return worlds
        each = np.arange(self.plan.capacity)
        return np.asarray((worlds[:, None] * self.plan.capacity + each).ravel())

    def begin(self, rows: Rows, taken: TakenPositions | None = None) -> bool:
        """Start these rows by the clocks of their worlds; whether some of them were asleep.

        Those that start anywhere with a clearance keep it from the spots that are taken as well.
        """
        slept = self.clocks.start_rows(self._row_clocks, rows)
        who, where = self.address.take(rows), self.world_of_row[rows]
        start, map = self.plan.start, self.scene.map
        poses = start.poses(who, self.seed, self.name, map, where, taken)
        self._blank.fill(rows)
        for state in self._states:
            initial_states(state, self.address, self.time, rows, poses, self.footprint)
        if self.override is not None:
            self.override.begin(rows)
            self.override = None if self.override.is_unused else self.override
        for pipeline in self.pipelines.values():
            pipeline.some_began()
        if self.tracker is not None:
            self.contacts.forget(rows)
        self.evaluation.begin(rows)
        for plugin in self._starting:
            plugin.begin_blank(rows)
        for estimator, belief, _ in self.estimators:
            estimator.start(rows, belief)
        self.commands_changed = True
        self.row_changes += 1
        if slept:
            self.find_rows()
        return slept

    def end(self, rows: Rows) -> None:
        """Put these rows to sleep."""
        for state in (self.truth, *self.beliefs().values()):
            state["alive"][rows] = False
        self.starts[rows] += 1
        self.find_rows()

    def resume(self) -> None:
        """Go on with tables that were filled in from a saved run."""
        self.find_rows()
        self.commands_changed = True
        for pipeline in self.pipelines.values():
            pipeline.recount()

    def find_rows(self) -> None:
        """Find the rows of the robots that are there."""
        rows = np.flatnonzero(self.truth["alive"])
        if not np.array_equal(rows, self.rows):  # else plugins are handed the same array as before
            self.rows = rows
        self.row_changes += 1

    def override_commands(
        self, rows: Rows, command: Table, each: Mapping[str, Array], seconds: float
    ) -> None:
        """Override the autonomy of these rows for some seconds; 0 releases them."""
        if self.override is None:
            self.override = ManualOverride(len(self.truth))
        told = {"stamp": self.time[rows], **each}
        self.override.take(rows, command, told, self.ticks[rows] + ticks_in(seconds, self.dt))
        self.commands_changed = True


class RunState(Protocol):
    """What of a run its logs and its checkpoints read."""

    dt: float
    clocks: Clocks
    environment: Environment
    robots: dict[str, Robots]
