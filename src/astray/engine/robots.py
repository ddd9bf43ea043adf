"""A group of robots: the tables of all its rows, its plugins, and its commands.

A group has a row for each robot in each world, ordered by world. A row is active while its robot
takes part in the run. `Robots` is the state of the group; `GroupStepper` advances it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from astray.engine.clocks import Clocks, RowClocks
from astray.engine.environment import Environment
from astray.engine.evaluation import Evaluation, Subjects
from astray.engine.event_queue import Event, indices
from astray.engine.manual_override import ManualOverride
from astray.engine.sensor_pipeline import SensorPipeline
from astray.errors import NamedItems, PluginError, WrongInput, add_former_names, suggest
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
from astray.tables import COMMAND, DRIVE, STATE, STOP, Array, Rows, Table, read_only, table
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
    """Write the states, zero so far, in which these rows start."""
    for j in range(len(rows)):
        i = rows[j]
        s, a = state[i], address[i]
        s.world, s.robot, s.episode, s.tick = a.world, a.robot, a.episode, a.tick
        s.stamp, s.alive, s.footprint = time[i], True, footprint
        s.x, s.y, s.yaw = poses[j, 0], poses[j, 1], poses[j, 2]


class Robots:
    """A group of robots in all worlds: `robots.truth["x"]` has a value per row.

    Attributes:
        name: Of the group, as in the scenario.
        truth: STATE, (n,): where the robots are.
        belief: STATE, (n,): the believed state; the truth itself without an estimator.
        rivals: STATE, (n,), of each rival estimator, by name.
        readings: The newest reading of each sensor that has arrived, by name.
        contacts: The tracks of other robots.
        commands: COMMAND, (n,): the output of the autonomy.
        drives: DRIVE, (n,): the output of the control.
        rows: Indices of the active rows.
        address: ADDRESS, (n,): world, robot, episode and tick of each row.
        time: The time of each row, (n,) s.
    """

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
            plan: The group as the scenario describes it.
            first: The row of the first of these robots among all robots.
            environment: The scene of all robots.
            clocks: The clocks of the run.
            metrics: The metrics that evaluate the beliefs.
            beliefs: The beliefs of all groups, by name; this group adds its own.
            post: Posts the events of the commands below.
        """
        self.plan = plan
        self.name = plan.name
        self.seed = environment.seed
        self.dt = clocks.dt
        self.clocks = clocks
        own = slice(first, first + plan.capacity * len(clocks.ticks))
        self.scene = environment.of_group(own)
        self.truth = environment.truth[own]  # the scene has it, too, to read
        self.address = environment.address[own]
        self.ticks = self.address["tick"]  # a view
        self.time = clocks.time[own]
        self.world_of_row = self.scene.worlds
        self.footprint = environment.footprints.index(plan.name)
        n = len(self.truth)
        self.rows: Rows = np.arange(0)  # the active rows
        self.row_changes = 0  # how often rows were started or removed
        self.starts = np.zeros(n, np.int64)  # of each row in this episode
        self.start_counts = np.zeros(n, np.int64)  # of each row in all, for observers
        self._row_clocks = RowClocks(
            self.address, self.truth, self.time, self.starts, self.start_counts, self.world_of_row
        )
        self.commands = table(COMMAND, n)
        self.drives = table(DRIVE, n)
        self.commands_changed = True
        self.override: ManualOverride | None = None  # made at the first override
        self._post_event = post
        self._update_robot_grid = environment.update_robot_grid
        self._attach(plan, environment, beliefs)
        self._states = list({id(t): t for t in (self.truth, *self.beliefs().values())}.values())
        self._blank = RowInitializer(self._blanks())
        self._starting = [plugin for plugin in self.plugins if plugin.needs_reset]
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
            self._update_robot_grid,
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
        self.readings: dict[str, Reading] = NamedItems(
            "sensor", {name: pipeline.arrived for name, pipeline in self.pipelines.items()}
        )
        self.estimator = attach(plan.estimator) if plan.estimator else None
        # Without an estimator a robot believes the truth: the same memory, not a copy.
        self.belief = table(STATE, n) if self.estimator else self.truth
        beliefs[self.name] = read_only(self.belief)
        self.rivals: dict[str, Table] = NamedItems(
            "rival", {rival.name: table(STATE, n) for rival in plan.rivals}
        )
        self.tracker = attach(plan.contacts) if plan.contacts else None
        self.contacts = Tracks(n, self.tracker.slots if self.tracker else 0)
        self.scene.motion_params = read_only(self.motion.params)
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
            belief = self.rivals[rival.name]
            known = dataclasses.replace(self.known, belief=belief)
            self.estimators.append((attach(rival), belief, known))

    def _blanks(self) -> Iterator[InitialValue]:
        """Every table that is reset where a row starts, but for those of the evaluation."""
        stop = table(DRIVE, 1)
        stop["curvature"] = np.nan
        yield from ((self.commands, STOP), (self.drives, stop))
        yield from ((state, None) for state in self._states)
        for pipeline in self.pipelines.values():
            yield from pipeline.blanks()
        for plugin in self.plugins:
            yield from plugin.initial_values()

    def __repr__(self) -> str:
        """Its name, its active rows and its plugins, in one line."""
        sensors = ", ".join(self.pipelines) or "none"
        estimator = self.estimator.kind if self.estimator else "none: believes the truth"
        return (
            f"Robots({self.name!r}: {len(self.rows)} of {len(self.truth)} rows active; "
            f"motion {self.motion.kind}, autonomy {self.autonomy.kind}, sensors {sensors}, "
            f"estimator {estimator})"
        )

    def beliefs(self) -> dict[str, Table]:
        """The belief and the rivals' beliefs, by name."""
        return {"belief": self.belief, **self.rivals}

    @property
    def lockstep(self) -> int:
        """Ticks that the robots may be ahead of their commands; 0 without lockstep."""
        ahead = self.autonomy.lockstep if isinstance(self.autonomy, RemoteAutonomy) else None
        return 0 if ahead is None else max(1, ticks_in(ahead, self.dt))

    def look(self, sensor: str, rows: Rows | None = None, truth: Table | None = None) -> Reading:
        """Sample a sensor now, outside of its schedule and without an effect on the run.

        It is the reading of the sensor if it were due now; a second call gives the same.

        Args:
            sensor: The name of the sensor.
            rows: Indices of the rows to sample; all active rows by default.
            truth: STATE, (n,), to sample in place of the truth.

        Returns:
            The reading, with values in the requested rows.

        Raises:
            WrongInput: There is no such sensor; the text lists those there are.
        """
        if sensor not in self.pipelines:
            hint = suggest(sensor, self.pipelines)
            have = ", ".join(self.pipelines) or "none"
            raise WrongInput(f"robot {self.name!r} has no sensor {sensor!r}{hint} (it has {have})")
        pipeline = self.pipelines[sensor]
        if pipeline.sensor.sees_robots:
            self._update_robot_grid()
        scene = self.scene
        if truth is not None:
            scene = dataclasses.replace(scene, truth=read_only(truth))
        reading = pipeline.sample_out_of_turn(self.rows if rows is None else rows, scene, self.time)
        return reading.copy()

    # Commands: each posts an event, for all robots by default, or for some `worlds` and `robots`.

    def drive(
        self, vx: Any, wz: Any = 0.0, vy: Any = 0.0, hold: float | None = None, **selection: Any
    ) -> None:
        """Command a twist in the body frame; each value is one for all rows, or (n,).

        Args:
            vx: Speed forward, m/s.
            wz: Turn rate, rad/s.
            vy: Speed to the left, m/s, for robots that can move sideways.
            hold: Seconds for which the command overrides the autonomy, whatever it is.
            selection: `worlds` and `robots`, by number.

        Raises:
            EventError: The robots do not accept commands, or a value is no finite number.
        """
        held = {} if hold is None else {"hold": hold}
        self._post("command", {"vx": vx, "vy": vy, "wz": wz, **held}, **selection)

    def steer(self, vx: Any, curvature: Any, **selection: Any) -> None:
        """Command a speed, m/s, and a curvature, 1/m."""
        self._post("command", {"mode": "curvature", "vx": vx, "curvature": curvature}, **selection)

    def command(self, values: Mapping[str, Any], **selection: Any) -> None:
        """Command any columns of COMMAND, with limits; each value is one for all rows, or (n,)."""
        self._post("command", dict(values), **selection)

    def go(self, distance: Any, **selection: Any) -> None:
        """Command a straight move by some metres, backwards if negative."""
        self._post("command", {"mode": "move", "distance": distance}, **selection)

    def turn_to(self, heading: Any, **selection: Any) -> None:
        """Command a turn on the spot to a heading in the map, rad."""
        self._post("command", {"mode": "heading", "heading": heading}, **selection)

    def go_to(self, x: Any, y: Any, **selection: Any) -> None:
        """Send robots that navigate to a goal in the map, m, which replaces their other goals."""
        self._post("goal", {"x": x, "y": y}, **selection)

    def place(self, *, worlds: Any = None, robots: Any = None, **pose: Any) -> None:
        """Set columns of the truth: x, y, yaw, vx, vy, wz, steer. The belief stays as it is."""
        self._post("place", pose, worlds, robots)

    def believe(self, *, worlds: Any = None, robots: Any = None, **belief: Any) -> None:
        """Set columns of the belief: x, y, yaw, vx, vy, wz, cov … The truth stays as it is."""
        self._post("believe", belief, worlds, robots)

    def spawn(self, *, worlds: Any = None, robots: Any = None, **pose: Any) -> None:
        """Start the first inactive robot of each world, at its start or at this pose."""
        self._post("spawn", pose, worlds, robots)

    def remove(self, **selection: Any) -> None:
        """Remove robots from the run."""
        self._post("remove", {}, **selection)

    def set_ghost(self, ghostly: bool = True, **selection: Any) -> None:
        """Make robots ghosts, which no sensor detects and nothing stops, or solid again."""
        self._post("ghost", {"ghostly": ghostly}, **selection)

    def set(self, parameter: str, value: Any, **selection: Any) -> None:
        """Change a parameter of a plugin, "wheels.slip", until the next start of the row."""
        self._post("set", {"parameter": parameter, "value": value}, **selection)

    def _post(
        self, kind: str, values: dict[str, Any], worlds: Any = None, robots: Any = None
    ) -> None:
        some = indices(worlds, "worlds"), indices(robots, "robots")
        self._post_event(Event(kind, self.name, *some, values))

    # What the engine does with rows.

    def rows_of(self, worlds: Array) -> Rows:
        """The rows, active or not, of some worlds, given by their indices in the batch."""
        if self.plan.capacity == 1:
            return worlds
        each = np.arange(self.plan.capacity)
        return np.asarray((worlds[:, None] * self.plan.capacity + each).ravel())

    def start_rows(self, rows: Rows, taken: TakenPositions | None = None) -> bool:
        """Start these rows at the time of their worlds, in their initial state.

        Args:
            rows: Their indices.
            taken: Positions from which random starts keep their clearance as well.

        Returns:
            Whether some of them were inactive.
        """
        any_inactive = self.clocks.start_rows(self._row_clocks, rows)
        addresses, worlds = self.address.take(rows), self.world_of_row[rows]
        start, map = self.plan.start, self.scene.map
        poses = start.poses(addresses, self.seed, self.name, map, worlds, taken)
        self._blank.fill(rows)
        for state in self._states:
            initial_states(state, self.address, self.time, rows, poses, self.footprint)
        if self.override is not None:
            self.override.clear(rows)
            self.override = None if self.override.is_unused else self.override
        for pipeline in self.pipelines.values():
            pipeline.rows_started()
        if self.tracker is not None:
            self.contacts.clear(rows)
        self.evaluation.begin(rows)
        for plugin in self._starting:
            plugin.draw_and_reset(rows)
        for estimator, belief, _ in self.estimators:
            estimator.start(rows, belief)
        self.commands_changed = True
        self.row_changes += 1
        if any_inactive:
            self.find_active_rows()
        return any_inactive

    def remove_rows(self, rows: Rows) -> None:
        """Deactivate these rows."""
        for state in (self.truth, *self.beliefs().values()):
            state["alive"][rows] = False
        self.starts[rows] += 1
        self.find_active_rows()

    def restore(self) -> None:
        """Bring the rest up to date with tables that a checkpoint has filled."""
        self.find_active_rows()
        self.commands_changed = True
        for pipeline in self.pipelines.values():
            pipeline.restore()

    def find_active_rows(self) -> None:
        """Find the active rows."""
        rows = np.flatnonzero(self.truth["alive"])
        if not np.array_equal(rows, self.rows):  # otherwise plugins get the same array as before
            self.rows = rows
        self.row_changes += 1

    def override_commands(
        self, rows: Rows, command: Table, each: Mapping[str, Array], seconds: float
    ) -> None:
        """Override the autonomy of these rows for some seconds; 0 ends the override."""
        if self.override is None:
            self.override = ManualOverride(len(self.truth))
        columns = {"stamp": self.time[rows], **each}
        self.override.take(rows, command, columns, self.ticks[rows] + ticks_in(seconds, self.dt))
        self.commands_changed = True


add_former_names(Robots, RENAMED)


class RunState(Protocol):
    """The part of a run that its logs and its checkpoints read."""

    dt: float
    clocks: Clocks
    environment: Environment
    robots: dict[str, Robots]
