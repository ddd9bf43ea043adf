"""The engine of simulator-2d: reset, control, advance, look.

It is a simulation like any other, of one kind of robot, behind the calls of the document. Time is
counted in whole steps: what `advance` is asked for beyond them is kept for the next call. A truck
that runs into something stays there, and its time with it, until it is put somewhere else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Sized
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from astray.engine import Paths
from astray.errors import WrongInput
from astray.plugin import Reading
from astray.sim import load
from astray.tables import Array, Table
from astray.truck.model import Model, read_model
from astray.truck.state import TruckScan, TruckState
from astray.world import Map
from astray.world.maps import read_map

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "truck"
PICO = 1e12  # steps are counted in picoseconds, so that nothing is lost by rounding
Steps = Mapping[str, Any]


class Engine:
    """A truck in a map: one, or with `worlds` as many that are each alone in theirs.

    With one, every call takes and `state` tells plain numbers; with N, arrays of N, or one number
    for all. `estimator` gives the truck a belief, from `sensors` that a scenario would list.
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
        estimator: str | Steps | None = None,
        sensors: Sequence[Steps] = (),
        threads: int = 1,
    ) -> None:
        self.model = model if isinstance(model, Model) else read_model(model) if model else Model()
        robot = self.model.robot()
        lidar, imu = robot["sensors"]
        asked = [
            {**lidar, "rate": 0, "sigma": lidar_sigma, "robots": False},
            {**imu, "rate": 0, "sampling": "instant"}
            | {"gyro_density": gyro_density, "accel_density": accel_density},
        ]
        robot |= {"name": NAME, "autonomy": {"kind": "remote"}}
        if estimator is not None:
            sensors = sensors or [{"kind": "wheels", "rate": 50}]
            robot["estimator"] = {"kind": estimator} if isinstance(estimator, str) else estimator
        robot["sensors"] = [*asked, *sensors]
        collisions = {"kind": "collisions", "response": "remove"}
        scenario = {"dt": step, "robots": [robot], "interactions": [collisions]}
        self.single = worlds is None
        count = 1 if worlds is None else worlds
        self.sim = load(scenario, worlds=count, seed=seed, threads=threads, keep_events=False)
        """The simulation behind it, for all that the engine has no call for."""
        self._trucks = self.sim.robots[NAME]
        self._lidar = self._trucks.pipelines["lidar"]
        # Bytes are copied much faster than columns.
        self._bytes = self._trucks.truth.view(np.uint8), self._trucks.drives.view(np.uint8)
        n = len(self._trucks.truth)
        self._all = np.arange(n)
        self._step = round(step * PICO)
        self._left = 0  # picoseconds that were asked for and make no whole step yet
        self._home = np.zeros((n, 5))  # rear x, y and yaw, steering and speed of the last reset
        self._home[:, 0] = -self.model.wheel_base.base_to_rear
        self._target = np.zeros(n), np.zeros(n)
        self._since = np.zeros(n, np.int64)  # the step at which each truck was put somewhere
        self._ended = np.full(n, np.nan)  # s, when a truck ran into something
        if map is None:
            self._restart(self._all)
        else:
            self.reset_map(map)

    # Start over.

    def reset_base(
        self, pose: Sequence[Any], steering: Any = 0.0, velocity: Any = 0.0, *, worlds: Any = None
    ) -> None:
        """Put the base at (x, y, yaw), with a middle steering angle and a speed, and start over.

        Time is 0 again, no collision has been, and the truck keeps what it is given until it is
        told something else. `worlds` names those that are meant, by number or as a mask.
        """
        which = self._which(worlds)
        given = len(pose) if isinstance(pose, Sized) else 1
        if given != 3:
            raise WrongInput(f"a pose is x, y and yaw, not {given} numbers")
        names = ("x", "y", "yaw", "steering", "velocity")
        values = zip(names, (*pose, steering, velocity), strict=True)
        x, y, yaw, steer, speed = (self._numbers(name, value, which) for name, value in values)
        length, b = self.model.wheel_base.length, self.model.wheel_base.base_to_rear
        most = math.atan(self.model.max_curvature * length)
        self._refuse(np.abs(steer) > most * (1.0 + 1e-9), steer, "steering", f"±{most:.6g} rad")
        low, high = self.model.limits.velocity.min, self.model.limits.velocity.max
        self._refuse((speed < low) | (speed > high), speed, "velocity", f"{low} to {high} m/s")
        ratio = np.hypot(1.0, np.tan(steer) / length * b)
        rear = (x - b * np.cos(yaw), y - b * np.sin(yaw), yaw, steer, speed / ratio)
        self._home[which] = np.stack(rear, axis=-1)
        self._restart(which)

    def reset_map(self, map: Any) -> None:
        """Set the obstacles, a file of any format or what scenarios take, and start over.

        The trucks begin where they were last put by `reset_base`.
        """
        made = map if isinstance(map, Map) else read_map(map)  # first: it may be refused
        self.sim.replace_map(made)
        self._restart(self._all)

    def erase_map(self) -> None:
        """Take all obstacles away, and start over."""
        self.reset_map(Map())

    def _restart(self, which: Array) -> None:
        sim, trucks, home = self.sim, self._trucks, self._home
        sim.apply_due_events()
        ids = sim.worlds[which]
        sim.reset(worlds=ids)
        if len(which) == len(self._all):
            self._left = 0
        k = np.tan(home[:, 3]) / self.model.wheel_base.length
        start = {"x": home[:, 0], "y": home[:, 1], "yaw": home[:, 2], "vx": home[:, 4]}
        start |= {"wz": home[:, 4] * k, "steer": home[:, 3]}
        trucks.place(worlds=ids, **start)
        if trucks.estimator is not None:
            trucks.believe(worlds=ids, **start)
        self._command(which, home[:, 4], k, np.full(len(home), np.nan))
        sim.apply_due_events()
        self._since[which] = sim.steps
        sim.path_log.discard_present()
        sim.path_log.observe(sim)
        self._ended = self._ended.copy()  # states that were handed out keep theirs
        self._ended[which] = np.nan
        self._target = self._target[0].copy(), self._target[1].copy()
        self._target[0][which], self._target[1][which] = home[which, 4], k[which]
        met = which[trucks.scene.contacts["touching"][which]]
        if len(met):
            trucks.remove(worlds=sim.worlds[met])
            sim.apply_due_events()
            self._ended[met] = 0.0

    # Drive.

    def set_base_control(self, velocity: Any, curvature: Any, acceleration: Any = None) -> None:
        """Ask the base for a speed, m/s, and a curvature, 1/m, within the limits of the model.

        The speed is changed by the acceleration, m/s², at most; by as much as the truck can unless
        one is named.
        """
        v = self._numbers("velocity", velocity, self._all)
        k = self._numbers("curvature", curvature, self._all)
        limits, b = self.model.limits, self.model.wheel_base.base_to_rear
        most = self.model.max_base_curvature
        v = np.clip(v, limits.velocity.min, limits.velocity.max)
        k = np.clip(k, -most, most)
        share = np.sqrt(1.0 - (k * b) ** 2)  # of the base's speed that the rear axle has
        up, down = limits.max_acceleration * share, limits.max_deceleration * share
        if acceleration is not None:
            a = self._numbers("acceleration", acceleration, self._all)
            self._refuse(a < 0.0, a, "acceleration", "0 or more")
            up = np.minimum(a * share, limits.max_acceleration)
            down = np.minimum(a * share, limits.max_deceleration)
        self._command(self._all, v * share, k / share, up, down)
        self._target = v * share, k / share

    def _command(
        self, which: Array, v: Array, k: Array, up: Array, down: Array | None = None
    ) -> None:
        values = {"mode": "curvature", "vx": v, "curvature": k}
        if down is not None:
            values |= {"accel": up, "decel": down}
        whom = None if len(which) == len(self._all) else self.sim.worlds[which]
        self._trucks.command(values, worlds=whom)

    def advance(self, seconds: float = 1.0) -> None:
        """Let time pass. Trucks that ran into something stay as they are."""
        # The type first: what is asked of every number costs as much as a tick.
        if not (type(seconds) is float or isinstance(seconds, Real)) or not 0 <= seconds < math.inf:
            raise WrongInput(f"advance: {seconds} is not a length of time in seconds")
        if not len(self._trucks.rows):
            return
        ticks, self._left = divmod(round(seconds * PICO) + self._left, self._step)
        before = self._trucks.rows
        self.sim.step(ticks)
        if len(self._trucks.rows) < len(before):
            self._note_ends(np.setdiff1d(before, self._trucks.rows))

    def _note_ends(self, rows: Array) -> None:
        hits = self.sim.collisions
        self._ended = self._ended.copy()
        for row in rows:
            self._ended[row] = hits["stamp"][hits["row"] == row][-1]
        self.sim.environment.restore_collisions(hits[:0])
        if not len(self._trucks.rows):
            self._left = 0

    # Look.

    def state(self, *, lidar: bool = True) -> TruckState:
        """How things are now. Asking twice gives the same readings."""
        trucks, ranges = self._trucks, None
        truth, drive = self._bytes
        belief = None if trucks.estimator is None else trucks.belief.copy()
        if lidar:
            ranges = self._lidar.sample_out_of_turn(self._all, trucks.scene, trucks.time).arrays[
                "ranges"
            ]
        sight = TruckScan(
            truth.copy(),
            drive.copy(),
            belief,
            self._ended,
            self._target,
            ranges,
            self._feel,
            self.single,
        )
        return TruckState(self.model, sight)

    def plot(self, world: int = 0) -> Figure:
        """The truck of a world since it was last put somewhere, and what its lidar sees now."""
        from astray.truck.plot import plot_truck

        (path,) = self.sim.path_log.paths()
        if world >= path.truth.shape[1]:
            raise WrongInput(f"pictures are kept of the first {path.truth.shape[1]} worlds")
        since = path.time >= self._since[world] * self.sim.dt - 1e-9
        mine = Paths(
            path.group,
            path.time[since],
            path.truth[since][:, [world]],
            {who: belief[since][:, [world]] for who, belief in path.beliefs.items()},
            {},
        )
        scan = self._trucks.look("lidar", self._all)["ranges"][world]
        return plot_truck(self.model, mine, scan, self.sim.map())

    def _feel(self, truth: Table, drive: Table) -> Reading:
        ahead = truth.copy()
        self._trucks.motion.foresee(np.flatnonzero(truth["alive"]), ahead, drive, self.sim.dt)
        return self._trucks.look("imu", self._all, ahead)

    # What is given.

    def _which(self, worlds: Any) -> Array:
        if worlds is None:
            return self._all
        which = np.atleast_1d(np.asarray(worlds))
        if which.dtype == bool and len(which) != len(self._all):
            raise WrongInput(f"a mask of worlds has {len(self._all)} entries, not {len(which)}")
        which = np.flatnonzero(which) if which.dtype == bool else which
        if len(which) and not (which.min() >= 0 and which.max() < len(self._all)):
            raise WrongInput(f"worlds are numbered from 0 to {len(self._all) - 1}")
        return np.unique(which.astype(np.int64))

    def _numbers(self, name: str, value: Any, which: Array) -> Array:
        """One finite number for each of these worlds."""
        try:
            array = np.asarray(value, float)
            numbers = np.broadcast_to(array, (len(which),)).copy()
        except (TypeError, ValueError):
            raise WrongInput(
                f"{name}: one number is needed, or one for each of {len(which)} worlds, "
                f"not {value!r}"
            ) from None
        if not np.isfinite(numbers).all():
            raise WrongInput(f"{name} is {value}: it must be finite")
        return numbers

    def _refuse(self, wrong: Array, values: Array, name: str, right: str) -> None:
        if wrong.any():
            raise WrongInput(f"{name} is {values[wrong][0]}: it must be {right}")
