"""What plugins are: eight families, declared by subclassing.

Those that make the truth are handed a `Scene`, those of a robot's mind what is `Known` to it.
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
from astray.plugin.reading import Reading
from astray.plugin.tracks import Tracks
from astray.plugin.views import Known, Scene
from astray.tables import ADDRESS, MODES, STATE, Array, Columns, Rows, Table, table

Positive = Annotated[float, Gt(0)]
NonNegative = Annotated[float, Ge(0)]
MOST_ON_THE_WAY = 100_000  # readings of a sensor that were taken and have not arrived

E = TypeVar("E", bound="Estimator")
S = TypeVar("S", bound="Sensor")


class Autonomy(Plugin, family="autonomy"):
    """Decides what the robot should do, from what it knows."""

    rate: Positive | None = None  # Hz; every tick unless given
    offset: NonNegative = 0.0  # s after the start of the first call

    @abstractmethod
    def decide(self, rows: Rows, known: Known, command: Table) -> None:
        """Write COMMAND for these rows."""


class Control(Plugin, family="control"):
    """Turns what autonomy asks for into what the motion is asked for, on the belief."""

    modes: ClassVar[tuple[int, ...]] = tuple(range(len(MODES)))
    """The modes of COMMAND that it understands; others are refused where they come in."""
    rate: Positive | None = None  # Hz; every tick unless given
    offset: NonNegative = 0.0  # s after the start of the first call

    @abstractmethod
    def steer(self, rows: Rows, known: Known, command: Table, drive: Table) -> None:
        """Write DRIVE for these rows."""


class Motion(Plugin, family="motion"):
    """Moves the truth."""

    wheels: ClassVar[int] = 0

    def fastest(self) -> Array | float:
        """The speed, m/s, that no row exceeds from now on, whatever it is told; one, or one each.

        A row that is faster already only has to stay within its speed. Unless a motion knows it,
        collisions are looked for at every tick.
        """
        return np.inf

    @abstractmethod
    def move(self, rows: Rows, truth: Table, drive: Table, dt: float, steps: int) -> None:
        """Advance these rows by some ticks of dt seconds, the same bytes for any cut of them."""

    def foresee(self, rows: Rows, truth: Table, drive: Table, dt: float) -> None:
        """Write ax, ay, alpha and steer_rate with which these rows are about to go on.

        `move` leaves those with which the last tick ended; the two differ where a limit is reached.
        Unless a motion knows better, they stay as they are.
        """


class Sensor(Plugin, family="sensor"):
    """Measures the truth, wrongly."""

    measures: ClassVar[Columns]
    stateless: ClassVar[bool] = False
    """Whether a reading is made of the moment alone, and not of what was read before."""
    usual_rate: ClassVar[float | None] = None
    """Hz, to the nearest whole number of ticks, where none is given; every tick if None."""
    rate: NonNegative | None = None  # Hz; every tick unless given, 0 only when it is asked for
    offset: NonNegative = 0.0  # s after the start of the first reading
    latency: NonNegative = 0.0  # s from taking a reading to its arrival
    jitter: NonNegative = (
        0.0  # s by which it arrives later, uniform, less than from one to the next
    )
    loss: Annotated[float, Ge(0), Lt(1)] = 0.0  # probability that a reading never arrives

    def attach(self: S, address: Table, sheets: Datasheets, dt: float, seed: int, group: str) -> S:
        """A copy for these rows; PluginError if its readings could overtake each other.

        Nor may there be more on the way at once than anyone means, since each has its place.
        """
        if dt > 0.0 and self.latency > 0.0:
            held = ticks_in(self.latency, dt) // self.beat(dt).period
            if held > MOST_ON_THE_WAY:
                raise PluginError(
                    f"a latency of {self.latency:g} s keeps {held:g} readings on the way at once; "
                    f"{MOST_ON_THE_WAY} is the most"
                )
        if dt > 0.0 and self.jitter > 0.0:
            apart = self.beat(dt).period
            if ticks_in(self.jitter, dt) >= apart:
                raise PluginError(
                    f"a jitter of {self.jitter:g} s lets readings overtake each other that are "
                    f"{apart * dt:g} s apart"
                )
        return super().attach(address, sheets, dt, seed, group)

    def beat(self, dt: float) -> Schedule:
        """When it reads: by its rate, or about as often as is usual, or at every tick."""
        if self.rate is None and self.usual_rate is not None:
            return Schedule(max(1, round(1.0 / (self.usual_rate * dt))), ticks_in(self.offset, dt))
        return make_schedule(self.rate, self.offset, dt)

    def bulk(self) -> dict[str, tuple[int, ...]]:
        """Arrays of float that each reading has beside its columns: name and shape of a row."""
        return {}

    @property
    def sees_robots(self) -> bool:
        """Whether it looks at `scene.crowd`, which is then brought up to date before it senses."""
        return False

    @abstractmethod
    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Write a reading for these rows; its stamp is set by the simulator."""

    def placed(self, rows: Rows, scene: Scene) -> None:
        """Take note that the truth of these rows was moved by hand, not by motion."""


class Interaction(Plugin, family="interaction"):
    """Lets robots of all groups act on each other and on the world, after all have moved.

    It is handed the scene of everyone: `truth` and `everyone` are the same table.
    """

    def spare(self, rows: Rows, scene: Scene, fastest: Callable[[], Array]) -> int:
        """Ticks for which nothing can happen if no row is faster than `fastest` gives, m/s.

        So many may be moved in one go without `prepare` and `interact`. Rows that are faster now
        may keep their speed, and more of it to the side.
        """
        return 0

    def prepare(self, rows: Rows, scene: Scene) -> None:
        """Note what is needed of these rows before they move."""

    @abstractmethod
    def interact(self, rows: Rows, scene: Scene) -> Rows | None:
        """Change the truth of these rows; give back the rows that are to be removed, if any."""

    def placed(self, rows: Rows, scene: Scene, solid: Rows) -> None:
        """Take note that these rows were started or moved by hand, or the map changed.

        Solid are all rows that can be met, as `interact` gets them: ghosts cannot.
        """

    def resumed(self) -> None:
        """Take note that memory, truth and maps were replaced by those of a saved run."""


class Estimator(Plugin, family="estimator"):
    """Turns readings into a belief. It knows stamps and datasheets, nothing of the simulator."""

    needs_map: ClassVar[bool] = False
    """Whether it can do nothing without walls on the map that it is given."""

    @abstractmethod
    def estimate(self, rows: Rows, known: Known, belief: Table) -> None:
        """Bring the belief of these rows up to their fresh readings."""

    def start(self, rows: Rows, belief: Table) -> None:
        """Adjust the belief that these rows start with: the truth, with a covariance of zero."""

    def believe(self, rows: Rows, belief: Table) -> None:
        """Take note that the belief of these rows was set from outside."""

    def innovations(self) -> Array | None:
        """Normalised innovations squared of the last estimate and their degrees of freedom, (n, 2).

        None from an estimator that does not weigh its measurements.
        """
        return None

    def alone(self: E, motion: Motion, *sensors: Sensor, n: int = 1) -> tuple[E, Table]:
        """This estimator without a simulator, and the belief it owns: for logs and nodes."""
        sheets = {"motion": motion.sheet(), **{s.name: s.sheet() for s in sensors}}
        bound = self.attach(table(ADDRESS, n), sheets, 0.0, 0, "")
        belief = table(STATE, n)
        bound.begin(np.arange(n))
        bound.start(np.arange(n), belief)
        return bound, belief


class Tracker(Plugin, family="tracker"):
    """Turns detections of others into what is believed of them. It knows what an estimator does."""

    fixed = ("slots",)
    slots: Annotated[int, Ge(1), Le(1024)] = 16  # others that a robot can keep in mind

    @abstractmethod
    def track(self, rows: Rows, known: Known, contacts: Tracks) -> None:
        """Bring the tracks of these rows up to their fresh detections."""


class Metric(Plugin, family="metric"):
    """Judges a belief by the truth of its stamp."""

    unit: ClassVar[str] = ""
    average: ClassVar[Literal["rms", "mean"]] = "rms"  # over time, by which it is judged
    rate: Positive | None = None  # Hz; whenever a belief changed unless given
    offset: NonNegative = 0.0  # s after the start of the first call

    def watch(self, estimator: Estimator) -> None:
        """Take note whose belief is judged, once, before anything is measured."""

    @abstractmethod
    def measure(self, rows: Rows, truth: Table, belief: Table, out: Array) -> None:
        """Write one value for each of these rows; truth is that of the belief's stamp."""


class ContactMetric(Plugin):
    """Judges what robots believe of others by the truth of its stamp: a metric, too."""

    family: ClassVar[str] = "metric"
    unit: ClassVar[str] = ""
    average: ClassVar[Literal["rms", "mean"]] = "rms"  # over time, by which it is judged
    rate: Positive | None = None  # Hz; whenever the tracks changed unless given
    offset: NonNegative = 0.0  # s after the start of the first call

    @abstractmethod
    def measure(self, rows: Rows, scene: Scene, contacts: Tracks, out: Array) -> None:
        """Write one value for each of these rows; the scene is that of the tracks' stamps."""
