"""The engine of simulator-2d: a truck that is driven by calls.

The engine is a simulation of one kind of robot behind the calls of the document: reset, control,
advance, state. Time advances in whole steps; the rest of a duration is kept for the next `advance`.
A truck that collides stays at the contact, and its time stands still, until it is reset.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Sized
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from astray.errors import WrongInput
from astray.plugin import Reading
from astray.sim import load
from astray.tables import Array, Table
from astray.truck.model import Model, read_model
from astray.truck.state import TruckSnapshot, TruckState
from astray.world import Map
from astray.world.maps import read_map

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TRUCK = "truck"  # name of the group of robots
PICOSECONDS = 1e12  # per second; durations are counted in them, so that rounding loses nothing
CONTROL_ORDER = {1: ("curvature",), 2: ("acceleration", "curvature")}
"""What follows the velocity in a control, by the number of further arguments."""
Description = Mapping[str, Any]  # of a sensor or an estimator, as scenarios have it


class Engine:
    """A truck in a map, or N trucks, each alone in a world of its own.

    With one truck, calls take and `state` returns plain numbers. With N trucks they are arrays of
    N; an argument may be one number for all.

    Args:
        model: The truck, or the path of its model file; the default truck without one.
        map: The obstacles, as for `reset_map`; none without a map.
        worlds: The number of trucks; None for one truck with plain numbers.
        seed: The random seed of the noise.
        step: The time step, s.
        lidar_sigma: The standard deviation of ranges, m.
        gyro_density: The noise density of the gyro, rad/s/√Hz.
        accel_density: The noise density of the accelerometer, m/s²/√Hz.
        estimator: The kind of an estimator, or its description; it gives the truck a belief.
        sensors: Descriptions of sensors for the estimator; wheels at 50 Hz by default.
        threads: The number of threads.

    Raises:
        ScenarioError: The model file, a sensor or the estimator is wrong.
        WrongInput: The map or another argument is wrong.
    """

    def __init__(
        self,
        model: Model | str | Path | None = None,
        map: Any = None,
        *,
        worlds: int | None = None,
        seed: int = 0,
        step: float = 0.001,
        lidar_sigma: float = 0.0,
        gyro_density: float = 0.0,
        accel_density: float = 0.0,
        estimator: str | Description | None = None,
        sensors: Sequence[Description] = (),
        threads: int = 1,
    ) -> None:
        self.model = model if isinstance(model, Model) else read_model(model) if model else Model()
        robot = self.model.robot()
        lidar, imu = robot["sensors"]
        lidar |= {"rate": 0, "sigma": lidar_sigma, "robots": False}
        imu |= {"rate": 0, "sampling": "instant"}
        imu |= {"gyro_density": gyro_density, "accel_density": accel_density}
        robot |= {"name": TRUCK, "autonomy": {"kind": "remote"}}
        if estimator is not None:
            sensors = sensors or [{"kind": "wheels", "rate": 50}]
            robot["estimator"] = {"kind": estimator} if isinstance(estimator, str) else estimator
        robot["sensors"] = [lidar, imu, *sensors]
        collisions = {"kind": "collisions", "response": "remove"}
        scenario = {"dt": step, "robots": [robot], "interactions": [collisions]}
        self.single = worlds is None
        """Whether the engine has one truck with plain numbers."""
        count = 1 if worlds is None else worlds
        self.sim = load(scenario, worlds=count, seed=seed, threads=threads, keep_events=False)
        """The simulation of the trucks, for all that the engine has no call for."""
        self._trucks = self.sim.robots[TRUCK]
        self._lidar = self._trucks.pipelines["lidar"]
        # Bytes are copied much faster than columns.
        self._bytes = self._trucks.truth.view(np.uint8), self._trucks.drives.view(np.uint8)
        n = len(self._trucks.truth)
        self._all = np.arange(n)
        self._step_ps = round(step * PICOSECONDS)
        self._remainder_ps = 0  # of the durations so far, less than a step
        self._start = np.zeros((n, 5))  # rear x, y and yaw, steering and speed of the last reset
        self._start[:, 0] = -self.model.wheel_base.base_to_rear
        self._target = np.zeros(n), np.zeros(n)  # speed and curvature of the rear axle
        self._reset_step = np.zeros(n, np.int64)  # step of the last reset
        self._collision_time = np.full(n, np.nan)  # s
        if map is None:
            self._restart(self._all)
        else:
            self.reset_map(map)

    # Reset.

    def reset_base(
        self, pose: Sequence[Any], steering: Any = 0.0, velocity: Any = 0.0, *, worlds: Any = None
    ) -> None:
        """Set the state of the truck and start over at time 0.

        The truck keeps its speed and its steering until the next `set_base_control`.

        Args:
            pose: x and y of the base, m, and its yaw, rad.
            steering: The middle steering angle, rad.
            velocity: The speed of the base, m/s.
            worlds: The indices of the worlds to reset, or a mask; all by default.

        Raises:
            WrongInput: A value is out of the limits of the model or not finite.
        """
        rows = self._world_rows(worlds)
        size = len(pose) if isinstance(pose, Sized) else 1
        if size != 3:
            raise WrongInput(f"a pose is x, y and yaw, not {size} numbers")
        names = ("x", "y", "yaw", "steering", "velocity")
        values = zip(names, (*pose, steering, velocity), strict=True)
        x, y, yaw, steer, speed = (self._as_array(name, value, rows) for name, value in values)
        length, b = self.model.wheel_base.length, self.model.wheel_base.base_to_rear
        max_steer = math.atan(self.model.max_curvature * length)
        exceeds = np.abs(steer) > max_steer * (1.0 + 1e-9)
        self._refuse(exceeds, steer, "steering", f"±{max_steer:.6g} rad")
        low, high = self.model.limits.velocity.min, self.model.limits.velocity.max
        self._refuse((speed < low) | (speed > high), speed, "velocity", f"{low} to {high} m/s")
        ratio = np.hypot(1.0, np.tan(steer) / length * b)
        rear = (x - b * np.cos(yaw), y - b * np.sin(yaw), yaw, steer, speed / ratio)
        self._start[rows] = np.stack(rear, axis=-1)
        self._restart(rows)

    def reset_map(self, map: Any) -> None:
        """Replace the obstacles and start over from the state of the last `reset_base`.

        Args:
            map: A map file of any format, the name of a bundled map, a mapping as scenarios have
                it, or a Map.

        Raises:
            WrongInput: The map is wrong.
        """
        new_map = map if isinstance(map, Map) else read_map(map)  # before anything changes
        self.sim.replace_map(new_map)
        self._restart(self._all)

    def erase_map(self) -> None:
        """Remove all obstacles and start over from the state of the last `reset_base`."""
        self.reset_map(Map())

    def _restart(self, rows: Array) -> None:
        """Start over from the start state. A truck that overlaps an obstacle has collided."""
        sim, trucks, start = self.sim, self._trucks, self._start
        sim.apply_due_events()
        worlds = sim.worlds[rows]
        sim.reset(worlds=worlds)
        if len(rows) == len(self._all):
            self._remainder_ps = 0
        k = np.tan(start[:, 3]) / self.model.wheel_base.length
        state = {"x": start[:, 0], "y": start[:, 1], "yaw": start[:, 2], "vx": start[:, 4]}
        state |= {"wz": start[:, 4] * k, "steer": start[:, 3]}
        trucks.place(worlds=worlds, **state)
        if trucks.estimator is not None:
            trucks.believe(worlds=worlds, **state)
        self._command(rows, {"vx": start[:, 4], "curvature": k})
        sim.apply_due_events()
        self._reset_step[rows] = sim.steps
        sim.path_log.discard_present()
        sim.path_log.observe(sim)
        self._collision_time = self._collision_time.copy()  # states returned before keep theirs
        self._collision_time[rows] = np.nan
        self._target = self._target[0].copy(), self._target[1].copy()
        self._target[0][rows], self._target[1][rows] = start[rows, 4], k[rows]
        touching = rows[trucks.scene.collisions["touching"][rows]]
        if len(touching):
            trucks.remove(worlds=sim.worlds[touching])
            sim.apply_due_events()
            self._collision_time[touching] = 0.0

    # Control.

    @overload
    def set_base_control(
        self, velocity: Any, curvature: Any, /, *, acceleration: Any = None
    ) -> None: ...
    @overload
    def set_base_control(self, velocity: Any, acceleration: Any, curvature: Any, /) -> None: ...
    @overload
    def set_base_control(
        self, velocity: Any, *, curvature: Any, acceleration: Any = None
    ) -> None: ...
    def set_base_control(
        self, velocity: Any, *others: Any, curvature: Any = None, acceleration: Any = None
    ) -> None:
        """Set the target speed and the target curvature of the base.

        The arguments are (velocity, curvature) or (velocity, acceleration, curvature), as in the
        document, or named. Targets are clipped to the limits of the model. Without an acceleration
        the truck reaches them as soon as the limits of its motor and its steering allow.

        Args:
            velocity: The speed, m/s; negative backwards.
            others: Curvature, or acceleration and curvature.
            curvature: The curvature, 1/m; positive to the left.
            acceleration: The acceleration and deceleration, m/s²; the largest possible by default.

        Raises:
            WrongInput: A value is not finite, the acceleration is negative, or an argument is
                missing or given twice.
        """
        given: dict[str, Any] = dict(zip(CONTROL_ORDER.get(len(others), ()), others, strict=False))
        named = {"curvature": curvature, "acceleration": acceleration}
        named = {name: value for name, value in named.items() if value is not None}
        if len(others) > 2 or given.keys() & named.keys() or "curvature" not in given | named:
            raise WrongInput(
                "set_base_control: its arguments are (velocity, curvature) or (velocity, "
                "acceleration, curvature)"
            )
        given |= named
        v = self._as_array("velocity", velocity, self._all)
        k = self._as_array("curvature", given["curvature"], self._all)
        limits, b = self.model.limits, self.model.wheel_base.base_to_rear
        max_curvature = self.model.max_base_curvature
        v = np.clip(v, limits.velocity.min, limits.velocity.max)
        k = np.clip(k, -max_curvature, max_curvature)
        ratio = np.sqrt(1.0 - (k * b) ** 2)  # speed of the rear axle over that of the base
        # The limits are those of the motor, which drives the rear axle.
        accel, decel = (
            np.full_like(v, limits.max_acceleration),
            np.full_like(v, limits.max_deceleration),
        )
        if given.get("acceleration") is not None:
            a = self._as_array("acceleration", given["acceleration"], self._all)
            self._refuse(a < 0.0, a, "acceleration", "0 or more")
            accel, decel = np.minimum(a * ratio, accel), np.minimum(a * ratio, decel)
        self._target = v * ratio, k / ratio
        v, k = self._target
        self._command(self._all, {"vx": v, "curvature": k, "accel": accel, "decel": decel})

    def _command(self, rows: Array, values: dict[str, Array]) -> None:
        worlds = None if len(rows) == len(self._all) else self.sim.worlds[rows]
        self._trucks.command({"mode": "curvature", **values}, worlds=worlds)

    def advance(self, seconds: float = 1.0) -> None:
        """Advance time. Trucks that have collided stay as they are.

        Args:
            seconds: The duration, s. What is left after whole steps is kept for the next call.

        Raises:
            WrongInput: The duration is negative or not finite.
        """
        # The type is checked first: the check of an abstract type costs as much as a tick.
        if not (type(seconds) is float or isinstance(seconds, Real)) or not 0 <= seconds < math.inf:
            raise WrongInput(f"advance: {seconds} is not a length of time in seconds")
        if not len(self._trucks.rows):
            return
        duration_ps = round(seconds * PICOSECONDS) + self._remainder_ps
        steps, self._remainder_ps = divmod(duration_ps, self._step_ps)
        before = self._trucks.rows
        self.sim.step(steps)
        if len(self._trucks.rows) < len(before):
            self._record_collisions(np.setdiff1d(before, self._trucks.rows))

    def _record_collisions(self, rows: Array) -> None:
        """Record when these trucks collided, and empty the collision log of the run."""
        collisions = self.sim.collisions
        self._collision_time = self._collision_time.copy()  # states returned before keep theirs
        for row in rows:
            self._collision_time[row] = collisions["stamp"][collisions["row"] == row][-1]
        self.sim.environment.restore_collisions(collisions[:0])
        if not len(self._trucks.rows):
            self._remainder_ps = 0

    # State.

    def state(self, *, lidar: bool = True) -> TruckState:
        """The present state. A second call returns the same readings.

        Args:
            lidar: Take a scan, which costs more than the rest of the state.

        Returns:
            A snapshot, which does not change when the engine advances.
        """
        trucks, ranges = self._trucks, None
        if lidar:
            scan = self._lidar.sample_out_of_turn(self._all, trucks.scene, trucks.time)
            ranges = scan.arrays["ranges"]
        truth, drive = self._bytes
        snapshot = TruckSnapshot(
            truth.copy(),
            drive.copy(),
            None if trucks.estimator is None else trucks.belief.copy(),
            self._collision_time,
            self._target,
            ranges,
            self._sample_imu,
            self.single,
        )
        return TruckState(self.model, snapshot)

    def plot(self, world: int = 0) -> Figure:
        """Draw the map, the path of a truck since its last reset, and its present scan.

        Args:
            world: The index of the world.

        Returns:
            A matplotlib figure.

        Raises:
            WrongInput: No path is kept of this world.
        """
        from astray.truck.plot import plot_truck

        (path,) = self.sim.path_log.paths()
        if world >= path.truth.shape[1]:
            raise WrongInput(f"paths are kept of the first {path.truth.shape[1]} worlds")
        since_reset = path.time >= self._reset_step[world] * self.sim.dt - 1e-9
        truth = path.truth[since_reset, world]
        beliefs = {name: poses[since_reset, world] for name, poses in path.beliefs.items()}
        ranges = self._trucks.look("lidar", self._all)["ranges"][world]
        return plot_truck(self.model, truth, beliefs, ranges, self.sim.map())

    def _sample_imu(self, truth: Table, drive: Table) -> Reading:
        """Sample the IMU with the accelerations of the step that follows."""
        next_truth = truth.copy()
        rows = np.flatnonzero(truth["alive"])
        self._trucks.motion.predict_accelerations(rows, next_truth, drive, self.sim.dt)
        return self._trucks.look("imu", self._all, next_truth)

    # Arguments.

    def _world_rows(self, worlds: Any) -> Array:
        """The row of each world that is given by its index or by a mask."""
        if worlds is None:
            return self._all
        rows = np.atleast_1d(np.asarray(worlds))
        if rows.dtype == bool and len(rows) != len(self._all):
            raise WrongInput(f"a mask of worlds has {len(self._all)} entries, not {len(rows)}")
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        if len(rows) and not (rows.min() >= 0 and rows.max() < len(self._all)):
            raise WrongInput(f"worlds are numbered from 0 to {len(self._all) - 1}")
        return np.unique(rows.astype(np.int64))

    def _as_array(self, name: str, value: Any, rows: Array) -> Array:
        """One finite number for each of these rows."""
        try:
            numbers = np.broadcast_to(np.asarray(value, float), (len(rows),)).copy()
        except (TypeError, ValueError):
            raise WrongInput(
                f"{name}: one number is needed, or one for each of {len(rows)} worlds, "
                f"not {value!r}"
            ) from None
        if not np.isfinite(numbers).all():
            raise WrongInput(f"{name} is {value}: it must be finite")
        return numbers

    def _refuse(self, wrong: Array, values: Array, name: str, right: str) -> None:
        """Refuse the first value that is wrong."""
        if wrong.any():
            raise WrongInput(f"{name} is {values[wrong][0]}: it must be {right}")
