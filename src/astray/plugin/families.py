"""The eight families of plugins: what each is handed, and what it writes.

The parts of the physical robot and its environment are handed a `Scene`: motion, sensors,
interactions. The parts of its software are handed what is `Known`: autonomy, control, estimators,
trackers. A metric compares the two.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Annotated, ClassVar, Literal, TypeVar

import numpy as np
from annotated_types import Ge, Gt, Le, Lt

from astray.errors import PluginError
from astray.numerics import Schedule, make_schedule, ticks_in
from astray.plugin.plugin import Datasheets, Plugin
from astray.plugin.views import Known, Reading, Scene, Tracks
from astray.tables import ADDRESS, MODES, STATE, Array, Columns, Rows, Table, table

Positive = Annotated[float, Gt(0)]
NonNegative = Annotated[float, Ge(0)]
MAX_IN_FLIGHT = 100_000  # readings of a sensor that were taken and have not arrived

OUTPUTS = {
    "autonomy": "`command`",
    "control": "`drive`",
    "motion": "`truth`",
    "sensor": "`out`",
    "interaction": "`scene.truth`",
    "estimator": "`belief`",
    "tracker": "`contacts`",
    "metric": "`out`",
}
"""What the plugins of each family write to. Everything else that they are handed is read-only."""

E = TypeVar("E", bound="Estimator")
S = TypeVar("S", bound="Sensor")


class Autonomy(Plugin, family="autonomy"):
    """Decides what the robot should do, from what it knows."""

    rate: Positive | None = None  # Hz; every tick by default
    offset: NonNegative = 0.0  # s from the start to the first call

    @abstractmethod
    def decide(self, rows: Rows, known: Known, command: Table) -> None:
        """Choose the commands of these rows.

        Args:
            rows: Indices, (k,).
            known: What the robots know, to read.
            command: COMMAND, (n,), to write in these rows; they hold the previous command.
        """


class Control(Plugin, family="control"):
    """Turns commands of the autonomy into drives for the motion, by feedback of the belief."""

    modes: ClassVar[tuple[int, ...]] = tuple(range(len(MODES)))
    """The modes of COMMAND that it understands; commands of other modes are refused."""
    rate: Positive | None = None  # Hz; every tick by default
    offset: NonNegative = 0.0  # s from the start to the first call

    @abstractmethod
    def steer(self, rows: Rows, known: Known, command: Table, drive: Table) -> None:
        """Write the drives of these rows.

        Args:
            rows: Indices, (k,).
            known: What the robots know, to read.
            command: COMMAND, (n,), to read.
            drive: DRIVE, (n,), to write in these rows.
        """


class Motion(Plugin, family="motion"):
    """Moves the truth."""

    wheels: ClassVar[int] = 0
    """How many columns of `wheel` and `wheel_rate` it moves: 0, 2 or 4."""

    def speed_bound(self) -> Array | float:
        """An upper bound of the speed of all rows, for any command.

        A row that is faster already only has to stay within its speed. Without a bound, collisions
        are checked at every tick.

        Returns:
            m/s: one for all rows, or (n,).
        """
        return np.inf

    @abstractmethod
    def move(self, rows: Rows, truth: Table, drive: Table, dt: float, steps: int) -> None:
        """Advance these rows; the division of ticks into calls must not change the result.

        Args:
            rows: Indices, (k,).
            truth: STATE, (n,), to write in these rows.
            drive: DRIVE, (n,), to read.
            dt: The length of a tick, s.
            steps: How many ticks.
        """

    def predict_accelerations(self, rows: Rows, truth: Table, drive: Table, dt: float) -> None:
        """Write ax, ay, alpha and steer_rate with which these rows begin the next tick.

        `move` leaves those with which the last tick ended. The two differ where a limit is reached.
        Without this method they stay as they are.

        Args:
            rows: Indices, (k,).
            truth: STATE, (n,), to write in these rows.
            drive: DRIVE, (n,), to read.
            dt: The length of a tick, s.
        """


class Sensor(Plugin, family="sensor"):
    """Measures the truth, with errors."""

    measures: ClassVar[Columns]
    """The columns of its readings: `columns(READING, "range m")`."""
    stateless: ClassVar[bool] = False
    """Whether a reading depends on the present alone, and not on earlier readings."""
    default_rate: ClassVar[float | None] = None
    """Hz, to the nearest whole number of ticks, where no rate is given; every tick if None."""
    rate: NonNegative | None = None  # Hz; every tick by default; 0: sampled by `look` only
    offset: NonNegative = 0.0  # s from the start to the first reading
    latency: NonNegative = 0.0  # s from the sampling of a reading to its arrival
    jitter: NonNegative = 0.0  # s, largest additional delay, uniform; below the period
    loss: Annotated[float, Ge(0), Lt(1)] = 0.0  # probability that a reading never arrives

    def attach(self: S, address: Table, sheets: Datasheets, dt: float, seed: int, group: str) -> S:
        """Make a copy of this sensor for some rows, as `Plugin.attach` does.

        Raises:
            PluginError: Readings could overtake each other, or too many would be in flight.
        """
        if dt > 0.0 and self.latency > 0.0:
            in_flight = ticks_in(self.latency, dt) // self.schedule(dt).period
            if in_flight > MAX_IN_FLIGHT:
                raise PluginError(
                    f"a latency of {self.latency:g} s keeps {in_flight:g} readings in flight; "
                    f"at most {MAX_IN_FLIGHT} are possible"
                )
        if dt > 0.0 and self.jitter > 0.0:
            period = self.schedule(dt).period
            if ticks_in(self.jitter, dt) >= period:
                raise PluginError(
                    f"with a jitter of {self.jitter:g} s a reading could overtake the next one, "
                    f"{period * dt:g} s later: jitter must be shorter than that"
                )
        return super().attach(address, sheets, dt, seed, group)

    def schedule(self, dt: float) -> Schedule:
        """When it takes readings: by its rate, its default rate, or at every tick.

        Args:
            dt: The length of a tick, s.

        Returns:
            Period and offset in ticks.
        """
        if self.rate is None and self.default_rate is not None:
            period = max(1, round(1.0 / (self.default_rate * dt)))
            return Schedule(period, ticks_in(self.offset, dt))
        return make_schedule(self.rate, self.offset, dt)

    def array_shapes(self) -> dict[str, tuple[int, ...]]:
        """The arrays that each reading has beside its columns.

        Returns:
            The shape of one row of each, by name; floats.
        """
        return {}

    @property
    def sees_robots(self) -> bool:
        """Whether it reads `scene.robot_grid`, which is then up to date when it senses."""
        return False

    @abstractmethod
    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Take a reading for these rows.

        Args:
            rows: Indices, (k,).
            scene: The truth, to read.
            out: The readings, to write in these rows; the simulator sets stamp and fresh.
        """

    def placed(self, rows: Rows, scene: Scene) -> None:
        """Called when the truth of these rows was set by an event and not moved by motion.

        Args:
            rows: Indices, (k,).
            scene: The truth, to read.
        """


class Interaction(Plugin, family="interaction"):
    """Changes the truth of robots of all groups after all have moved, as collisions do.

    It gets the scene of all groups: there `truth` and `all_truth` are the same table.
    """

    def quiet_ticks(self, rows: Rows, scene: Scene, speed_bound: Callable[[], Array]) -> int:
        """The number of ticks in which nothing can happen.

        So many are moved in one call without `prepare` and `interact`. Rows that exceed their
        bound now may keep their speed, and turn it sideways.

        Args:
            rows: Indices of all rows that can be met, (k,).
            scene: The truth.
            speed_bound: Gives the speed that no row exceeds, m/s, (all,).

        Returns:
            Ticks; 0 if something may happen in the next one.
        """
        return 0

    def prepare(self, rows: Rows, scene: Scene) -> None:
        """Keep what is needed of these rows before they move.

        Args:
            rows: Indices of all rows that can be met, (k,).
            scene: The truth.
        """

    @abstractmethod
    def interact(self, rows: Rows, scene: Scene) -> Rows | None:
        """Change the truth of these rows after they moved.

        Args:
            rows: Indices of all rows that can be met, (k,).
            scene: The truth, to write in these rows.

        Returns:
            The rows that are removed from the run, if any.
        """

    def placed(self, rows: Rows, scene: Scene, solid: Rows) -> None:
        """Called when rows were started or set by an event, or when the map changed.

        Args:
            rows: Indices of these rows, (k,).
            scene: The truth.
            solid: Indices of all rows that can be met, as in `interact`: ghosts are not.
        """

    def resumed(self) -> None:
        """Called when memory, truth and maps were replaced by those of a saved run."""


class Estimator(Plugin, family="estimator"):
    """Turns readings into a belief. It knows stamps and datasheets, nothing of the simulator."""

    needs_map: ClassVar[bool] = False
    """Whether it can do nothing without walls on the map that it is given."""

    @abstractmethod
    def estimate(self, rows: Rows, known: Known, belief: Table) -> None:
        """Update the belief of these rows with their fresh readings.

        Args:
            rows: Indices, (k,).
            known: What the robots know, to read.
            belief: STATE, (n,), to write in these rows.
        """

    def start(self, rows: Rows, belief: Table) -> None:
        """Adjust the belief that these rows start with: the truth, with a covariance of zero.

        Args:
            rows: Indices, (k,).
            belief: STATE, (n,), to write in these rows.
        """

    def believe(self, rows: Rows, belief: Table) -> None:
        """Called when the belief of these rows was set from outside.

        Args:
            rows: Indices, (k,).
            belief: STATE, (n,), as it was set.
        """

    def innovations(self) -> Array | None:
        """The normalised innovations of the last estimate.

        Returns:
            (n, 2): normalised innovations squared and their degrees of freedom; None from an
            estimator that does not compute them.
        """
        return None

    def alone(self: E, motion: Motion, *sensors: Sensor, n: int = 1) -> tuple[E, Table]:
        """Make this estimator usable without a simulator, for logs and nodes.

        Args:
            motion: The motion of the robot, for its datasheet.
            *sensors: The sensors of the robot, for their datasheets.
            n: How many rows.

        Returns:
            The estimator, attached and started, and the belief that it owns: STATE, (n,).
        """
        sheets = {"motion": motion.datasheet(), **{s.name: s.datasheet() for s in sensors}}
        bound = self.attach(table(ADDRESS, n), sheets, 0.0, 0, "")
        belief = table(STATE, n)
        bound.begin(np.arange(n))
        bound.start(np.arange(n), belief)
        return bound, belief


class Tracker(Plugin, family="tracker"):
    """Turns detections of other robots into tracks. It knows what an estimator knows."""

    fixed = ("slots",)
    slots: Annotated[int, Ge(1), Le(1024)] = 16  # tracks that a robot keeps at most

    @abstractmethod
    def track(self, rows: Rows, known: Known, contacts: Tracks) -> None:
        """Update the tracks of these rows with their fresh detections.

        Args:
            rows: Indices, (k,).
            known: What the robots know, to read.
            contacts: The tracks, to write in these rows.
        """


class Metric(Plugin, family="metric"):
    """Compares a belief with the truth at its stamp."""

    unit: ClassVar[str] = ""
    average: ClassVar[Literal["rms", "mean"]] = "rms"
    """How values are averaged over time."""
    rate: Positive | None = None  # Hz; by default whenever a belief changes
    offset: NonNegative = 0.0  # s from the start to the first call

    def watch(self, estimator: Estimator) -> None:
        """Called once, before the first `measure`.

        Args:
            estimator: The owner of the belief.
        """

    @abstractmethod
    def measure(self, rows: Rows, truth: Table, belief: Table, out: Array) -> None:
        """Compute one value for each of these rows.

        Args:
            rows: Indices, (k,).
            truth: STATE, (n,), at the stamp of the belief, to read.
            belief: STATE, (n,), to read.
            out: (n,), to write in these rows.
        """


class ContactMetric(Plugin):
    """A metric of tracks: compares them with the true states of other robots at their stamp."""

    family: ClassVar[str] = "metric"
    unit: ClassVar[str] = ""
    average: ClassVar[Literal["rms", "mean"]] = "rms"
    """How values are averaged over time."""
    rate: Positive | None = None  # Hz; by default whenever the tracks change
    offset: NonNegative = 0.0  # s from the start to the first call

    @abstractmethod
    def measure(self, rows: Rows, scene: Scene, contacts: Tracks, out: Array) -> None:
        """Compute one value for each of these rows.

        Args:
            rows: Indices, (k,).
            scene: The truth at the stamps of the tracks, to read.
            contacts: The tracks, to read.
            out: (n,), to write in these rows.
        """
