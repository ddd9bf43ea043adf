"""What plugins are: eight families, declared by subclassing, and the two hands they are given.

`Scene` holds the truth; motion, sensors, interactions and metrics get it. `Known` holds the belief;
autonomy, control, estimators and trackers get that. A plugin is handed one of them, never both.

A plugin is a keyword dataclass. Its annotated fields are its keys in a scenario, with the unit in
the comment behind. What it keeps between ticks is a table of its own, laid out by `remembers`,
with a row per robot, so that it can be reset by rows, saved and resumed.
"""

from __future__ import annotations

import dataclasses
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, TypeVar, dataclass_transform

import numpy as np
from annotated_types import Ge, Gt, Le, Lt

from astray import noise
from astray.clock import NEVER as NEVER
from astray.clock import Beat, beat, ticks_in
from astray.draw import nominal
from astray.errors import PluginError
from astray.parameters import draw_parameters, given_parameters, parameter_columns
from astray.reading import Reading
from astray.table import ADDRESS, CONTACT, MODES, STATE, Array, Columns, Rows, Table, clear, table
from astray.tracks import Tracks
from astray.world.atlas import Atlas
from astray.world.crowd import Crowd, make_crowd
from astray.world.scan import View, make_view
from astray.world.shape import Footprint, Shapes, make_shapes

Positive = Annotated[float, Gt(0)]
NonNegative = Annotated[float, Ge(0)]

P = TypeVar("P", bound="Plugin")
E = TypeVar("E", bound="Estimator")
S = TypeVar("S", bound="Sensor")

KINDS: dict[str, dict[str, type[Plugin]]] = {}
"""Every concrete plugin class by family and kind; declaring the class puts it here."""


@dataclasses.dataclass
class Scene:
    """The truth of one group of robots, and of everyone."""

    truth: Table
    """STATE of this group's robots, (n,)."""
    body: Table
    """The motion's parameters as they really are, (n,)."""
    everyone: Table
    """STATE of all robots of all groups."""
    worlds: Array = dataclasses.field(default_factory=lambda: np.zeros(0, np.int64))
    """The place of each row's world in the batch, (n,)."""
    first: int = 0
    """The row of this group's first robot among everyone."""
    map: Atlas = dataclasses.field(default_factory=lambda: Atlas([]))
    """The obstacles of every world."""
    shapes: Shapes = dataclasses.field(default_factory=lambda: make_shapes([Footprint()]))
    """The footprints; a row's `footprint` is its number."""
    crowd: Crowd = dataclasses.field(default_factory=lambda: make_crowd(1, 1))
    """Everyone, sorted by place."""
    contacts: Table = dataclasses.field(default_factory=lambda: table(CONTACT, 0))
    """CONTACT of this group's robots, (n,)."""
    all_worlds: Array = dataclasses.field(default_factory=lambda: np.zeros(0, np.int64))
    """The place of the world of each row of everyone in the batch."""
    numbers: Array = dataclasses.field(default_factory=lambda: np.zeros(0, np.int64))
    """The number of each row of everyone in its world, over all groups by their names."""
    population: int = 0
    """How many such numbers there are."""
    _view: View | None = None
    _seen: tuple[Array, ...] = ()

    def contacts_truth(self, row: int) -> Table:
        """STATE of all others in the world of one of this group's robots, a copy.

        The truth of what `contacts` are believed to be, for those who are handed the truth.
        """
        me = self.everyone[self.first + row]
        there = self.everyone["alive"] & (self.everyone["world"] == me["world"])
        there[self.first + row] = False
        others: Table = self.everyone[there]
        return others

    @property
    def view(self) -> View:
        """All that rays can meet, as kernels read it; robots are there once `crowd` is gathered."""
        if self._view is None or self._view.ends is not self.map.index.ends:
            self._view = make_view(self.map, self.crowd, self.shapes)
            self._seen = tuple(self._view)
        return self._view

    @property
    def seen(self) -> tuple[Array, ...]:
        """The view without the names of its parts: a plain tuple gets into a kernel sooner."""
        if self._view is None or self._view.ends is not self.map.index.ends:
            return tuple(self.view)
        return self._seen


@dataclasses.dataclass
class Known:
    """What the robots of one group know: their belief and what has reached them."""

    belief: Table
    """STATE as believed, (n,)."""
    readings: Mapping[str, Reading] = dataclasses.field(default_factory=dict)
    """The newest reading of each sensor that has arrived, by the sensor's name."""
    time: Array = dataclasses.field(default_factory=lambda: np.zeros(0))
    """The time by each robot's clock, (n,) s."""
    map: Atlas = dataclasses.field(default_factory=lambda: Atlas([]))
    """The map that they were given, which may be old or shifted."""
    worlds: Array = dataclasses.field(default_factory=lambda: np.zeros(0, np.int64))
    """The place of each row's world in the batch, (n,)."""
    others: Mapping[str, Table] = dataclasses.field(default_factory=dict)
    """Where the robots of every group say they are: their beliefs, by the group's name."""
    contacts: Tracks = dataclasses.field(default_factory=lambda: Tracks(0, 0))
    """What each robot believes of the others that its sensors detect."""


@dataclasses.dataclass(frozen=True)
class Sheet:
    """The datasheet of a device: its kind, what it measures and its nominal parameters."""

    kind: str
    values: Mapping[str, Any]
    measures: Columns | None = None
    wheels: int = 0

    def __getitem__(self, parameter: str) -> Any:
        return self.values[parameter]


Sheets = Mapping[str, Sheet]
"""The datasheets of a robot: "motion", and its sensors by name."""


def sensor_that_measures(layout: Columns, sheets: Sheets, who: str) -> str:
    """The name of the first sensor that measures this; PluginError if the robot has none."""
    for name, sheet in sheets.items():
        if sheet.measures == layout:
            return name
    what = ", ".join(c for c in layout.names or () if c not in ("fresh", "stamp"))
    raise PluginError(f"{who} needs a sensor that measures {what}, and the robot has none")


def _file_of(cls: type) -> str:
    """The file that a class was declared in: the same class may be imported by two names."""
    module = sys.modules.get(cls.__module__)
    return str(getattr(module, "__file__", None) or cls.__module__)


@dataclass_transform(kw_only_default=True, eq_default=False)
@dataclasses.dataclass(kw_only=True, eq=False)
class Plugin(ABC):  # noqa: B024 - its families are the abstract ones
    """A part of a robot, or a judge of one; subclass a family, not this."""

    family: ClassVar[str] = ""
    kind: ClassVar[str] = ""
    remembers: ClassVar[Columns | None] = None
    """The layout of `self.memory`; zeroed when a row starts, saved with the run."""
    rows_per_thread: ClassVar[int] = 4096
    """Rows that are worth a thread of their own; fewer where a row is costly."""

    name: str = ""

    def __init_subclass__(cls, kind: str = "", family: str = "") -> None:
        about = cls.__dict__.get("__doc__")
        dataclasses.dataclass(kw_only=True, eq=False)(cls)
        cls.__doc__ = about  # and not the signature that dataclass puts in place of none
        if family:
            cls.family = family
            KINDS[family] = {}
        if kind:
            cls.kind = kind
            known = KINDS[cls.family].get(kind)
            if known and (_file_of(known), known.__qualname__) != (_file_of(cls), cls.__qualname__):
                raise PluginError(
                    f"{cls.family} kind {kind!r} is declared twice: in {known.__module__} and in "
                    f"{cls.__module__}"
                )
            KINDS[cls.family][kind] = cls

    def __post_init__(self) -> None:
        self.name = self.name or self.kind

    # What an author may override.

    def bind(self, n: int, sheets: Sheets) -> None:  # noqa: B027 - nothing to do is fine
        """Prepare for n rows, once; raise PluginError where the robot lacks what this needs."""

    def reset(self, rows: Rows) -> None:  # noqa: B027 - nothing to do is fine
        """Start these rows afresh; parameters are drawn and memory is zero already."""

    def next_due(self, tick: int) -> int:
        """First tick from this one on at which a call could change anything.

        A promise that lets a run skip calls, not a schedule: being called more often must
        change nothing.
        """
        return tick

    # What an author may use.

    params: Table = dataclasses.field(init=False, repr=False)
    """The numeric parameters as columns, (n,): as drawn for each row."""
    given: Table = dataclasses.field(init=False, repr=False)
    """What of them is the same for every row, one record."""
    memory: Table = dataclasses.field(init=False, repr=False)
    """What this plugin remembers, (n,), laid out by `remembers`."""
    arrays: dict[str, Array] = dataclasses.field(init=False, repr=False)
    """Memory too large for a column: arrays with a leading row axis, filled in `bind`."""
    key: np.uint64 = dataclasses.field(init=False, repr=False)
    """The key of this plugin's noise."""
    address: Table = dataclasses.field(init=False, repr=False)
    """Who the rows are, for noise: world, robot, life and tick, (n,)."""
    dt: float = dataclasses.field(init=False, repr=False)
    """The length of a tick, s; 0 for an estimator without a simulator."""
    _decks: threading.local = dataclasses.field(init=False, repr=False)

    def normals(self, rows: Rows, count: int) -> Array:
        """Standard normals, (len(rows), count): this tick's, the same in any batch."""
        out = np.empty((len(rows), count))
        noise.normals_all(out, self.address, rows, self.key)
        return out

    def lifelong_normals(self, rows: Rows, count: int) -> Array:
        """Standard normals, (len(rows), count), that stay the same for a row's whole life."""
        out = np.empty((len(rows), count))
        address = self.address.take(rows)
        address["tick"] = 0
        key = noise.key(int(self.key), "lifelong")
        noise.normals_all(out, address, np.arange(len(rows)), key)
        return out

    def deck(self, pairs: int) -> noise.Deck:
        """What `noise.deal_normals` needs in a kernel of this plugin; each thread has its own."""
        made: noise.Deck | None = getattr(self._decks, f"of_{pairs}", None)
        if made is None:
            made = noise.make_deck(self.key, pairs)
            setattr(self._decks, f"of_{pairs}", made)
        return made

    def uniforms(self, rows: Rows, count: int) -> Array:
        """Uniforms in [0, 1), (len(rows), count): this tick's, the same in any batch."""
        out = np.empty((len(rows), count))
        noise.uniforms_all(out, self.address, rows, self.key)
        return out

    # What the simulator calls.

    def attach(self: P, address: Table, sheets: Sheets, dt: float, seed: int, group: str) -> P:
        """A copy of this plugin with tables for the rows of an address table."""
        n = len(address)
        bound = dataclasses.replace(self)
        bound.address = address
        bound.dt = dt
        bound.key = noise.key(seed, group, self.family, self.name)
        bound.params = np.zeros(n, parameter_columns(type(self)))
        if self.remembers is not None:
            bound.memory = np.zeros(n, self.remembers)
        bound.arrays = {}
        bound._decks = threading.local()
        bound.bind(n, sheets)
        bound.given = given_parameters(bound)
        return bound

    def begin(self, rows: Rows) -> None:
        """Start these rows: draw their parameters, forget, reset."""
        draw_parameters(self, rows)
        if self.remembers is not None:
            clear(self.memory, rows)
        for array in self.arrays.values():
            array[rows] = 0
        self.reset(rows)

    def sheet(self) -> Sheet:
        """The nominal parameters, as estimators are told them."""
        fields = [f.name for f in dataclasses.fields(self) if f.init]
        values = {name: getattr(self, name) for name in fields}
        known = {k: nominal(v) if hasattr(v, "nominal") else v for k, v in values.items()}
        return Sheet(self.kind, known, getattr(self, "measures", None), getattr(self, "wheels", 0))


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

    def attach(self: S, address: Table, sheets: Sheets, dt: float, seed: int, group: str) -> S:
        """A copy for these rows; PluginError if its readings could overtake each other."""
        if dt > 0.0 and self.jitter > 0.0:
            apart = self.beat(dt).period
            if ticks_in(self.jitter, dt) >= apart:
                raise PluginError(
                    f"a jitter of {self.jitter:g} s lets readings overtake each other that are "
                    f"{apart * dt:g} s apart"
                )
        return super().attach(address, sheets, dt, seed, group)

    def beat(self, dt: float) -> Beat:
        """When it reads: by its rate, or about as often as is usual, or at every tick."""
        if self.rate is None and self.usual_rate is not None:
            return Beat(max(1, round(1.0 / (self.usual_rate * dt))), ticks_in(self.offset, dt))
        return beat(self.rate, self.offset, dt)

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

    def placed(self, rows: Rows, scene: Scene) -> None:
        """Take note that these rows were started or moved by hand, or the map changed."""

    def resumed(self) -> None:
        """Take note that memory, truth and maps were replaced by those of a saved run."""


class Estimator(Plugin, family="estimator"):
    """Turns readings into a belief. It knows stamps and datasheets, nothing of the simulator."""

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

    slots: Annotated[int, Ge(1), Le(1024)] = 16  # others that a robot can keep in mind

    @abstractmethod
    def track(self, rows: Rows, known: Known, contacts: Tracks) -> None:
        """Bring the tracks of these rows up to their fresh detections."""


class Metric(Plugin, family="metric"):
    """Judges a belief by the truth of its stamp."""

    unit: ClassVar[str] = ""
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
    rate: Positive | None = None  # Hz; whenever the tracks changed unless given
    offset: NonNegative = 0.0  # s after the start of the first call

    @abstractmethod
    def measure(self, rows: Rows, scene: Scene, contacts: Tracks, out: Array) -> None:
        """Write one value for each of these rows; the scene is that of the tracks' stamps."""
