"""What all plugins have in common: how they are declared, and what they are given to keep.

A plugin is a keyword dataclass. Its annotated fields are its keys in a scenario, with the unit in
the comment behind. What it keeps between ticks is a table of its own, laid out by `remembers`,
with a row per robot, so that it can be reset by rows, saved and resumed.
"""

from __future__ import annotations

import dataclasses
import sys
import threading
from abc import ABC
from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar, dataclass_transform

import numpy as np

from astray.errors import PluginError
from astray.numerics import CHUNK, random
from astray.plugin.declaration_checks import check_declared
from astray.plugin.distributions import nominal
from astray.plugin.parameters import (
    draw_parameters,
    drawn_parameters,
    given_parameters,
    parameter_columns,
)
from astray.plugin.row_initializer import InitialValue, RowInitializer
from astray.tables import Array, Columns, Rows, Table

P = TypeVar("P", bound="Plugin")

KINDS: dict[str, dict[str, type[Plugin]]] = {}
"""Every concrete plugin class by family and kind; declaring the class puts it here."""


@dataclasses.dataclass(frozen=True)
class Datasheet:
    """The datasheet of a device: its kind, what it measures and its nominal parameters."""

    kind: str
    values: Mapping[str, Any]
    measures: Columns | None = None
    wheels: int = 0

    def __getitem__(self, parameter: str) -> Any:
        return self.values[parameter]


Datasheets = Mapping[str, Datasheet]
"""The datasheets of a robot: "motion", and its sensors by name."""


def sensor_that_measures(layout: Columns, sheets: Datasheets, who: str) -> str:
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
    """The layout of `self.memory`; as `self.at_first` when a row starts, saved with the run."""
    fixed: ClassVar[tuple[str, ...]] = ()
    """Numbers that are read when it is bound or a row starts: no event can change them in a run."""
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
            known = KINDS.get(cls.family, {}).get(kind)
            if known and (_file_of(known), known.__qualname__) != (_file_of(cls), cls.__qualname__):
                raise PluginError(
                    f"{cls.family} kind {kind!r} is declared twice: in {known.__module__} and in "
                    f"{cls.__module__}"
                )
            check_declared(cls, kind)
            KINDS[cls.family][kind] = cls

    def __post_init__(self) -> None:
        self.name = self.name or self.kind

    # What an author may override.

    def bind(self, n: int, sheets: Datasheets) -> None:  # noqa: B027 - nothing to do is fine
        """Prepare for n rows, once; raise PluginError where the robot lacks what this needs."""

    def reset(self, rows: Rows) -> None:  # noqa: B027 - nothing to do is fine
        """Start these rows afresh; parameters are drawn and memory is as at first already."""

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
    drawn: list[str] = dataclasses.field(init=False, repr=False)
    """Those that are not: they are drawn for each row."""
    memory: Table = dataclasses.field(init=False, repr=False)
    """What this plugin remembers, (n,), laid out by `remembers`."""
    at_first: Table = dataclasses.field(init=False, repr=False)
    """What it remembers where a row starts, one record: zeros, unless `bind` fills something in."""
    arrays: dict[str, Array] = dataclasses.field(init=False, repr=False)
    """Memory too large for a column: arrays with a leading row axis, filled in `bind`."""
    key: np.uint64 = dataclasses.field(init=False, repr=False)
    """The key of this plugin's noise."""
    address: Table = dataclasses.field(init=False, repr=False)
    """Who the rows are, for noise: world, robot, life and tick, (n,)."""
    dt: float = dataclasses.field(init=False, repr=False)
    """The length of a tick, s; 0 for an estimator without a simulator."""
    _rooms: threading.local = dataclasses.field(init=False, repr=False)
    _blank: RowInitializer | None = dataclasses.field(init=False, repr=False)

    def normals(self, rows: Rows, count: int) -> Array:
        """Standard normals, (len(rows), count): this tick's, the same in any batch."""
        out = np.empty((len(rows), count))
        random.normals_all(out, self.address, rows, self.key)
        return out

    def lifelong_normals(self, rows: Rows, count: int) -> Array:
        """Standard normals, (len(rows), count), that stay the same for a row's whole life."""
        out = np.empty((len(rows), count))
        address = self.address.take(rows)
        address["tick"] = 0
        key = random.key(int(self.key), "lifelong")
        random.normals_all(out, address, np.arange(len(rows)), key)
        return out

    def deck(self, pairs: int) -> random.NoiseWorkspace:
        """What `noise.deal_normals` needs in a kernel of this plugin; each thread has its own."""
        made: random.NoiseWorkspace | None = getattr(self._rooms, f"of_{pairs}", None)
        if made is None:
            made = random.make_noise_workspace(self.key, pairs)
            setattr(self._rooms, f"of_{pairs}", made)
        return made

    def scratch(self, numbers: int) -> Array:
        """Room for some numbers of each of CHUNK rows, (numbers, CHUNK); each thread has its own.

        For kernels that go over rows in passes, so that what takes long, such as a sine, is worked
        out for several of them at a time.
        """
        made: Array | None = getattr(self._rooms, f"for_{numbers}", None)
        if made is None:
            made = np.empty((numbers, CHUNK))
            setattr(self._rooms, f"for_{numbers}", made)
        return made

    def uniforms(self, rows: Rows, count: int) -> Array:
        """Uniforms in [0, 1), (len(rows), count): this tick's, the same in any batch."""
        out = np.empty((len(rows), count))
        random.uniforms_all(out, self.address, rows, self.key)
        return out

    # What the simulator calls.

    def attach(self: P, address: Table, sheets: Datasheets, dt: float, seed: int, group: str) -> P:
        """A copy of this plugin with tables for the rows of an address table."""
        n = len(address)
        bound = dataclasses.replace(self)
        bound.address = address
        bound.dt = dt
        bound.key = random.key(seed, group, self.family, self.name)
        bound.params = np.zeros(n, parameter_columns(type(self)))
        if self.remembers is not None:
            bound.memory, bound.at_first = np.zeros(n, self.remembers), np.zeros(1, self.remembers)
        bound.arrays = {}
        bound._rooms, bound._blank = threading.local(), None
        bound.bind(n, sheets)
        for name, array in bound.arrays.items():
            if not array.flags.c_contiguous:
                raise PluginError(f"{self.kind}: the array {name!r} must be contiguous")
        bound.given, bound.drawn = given_parameters(bound), drawn_parameters(bound)
        return bound

    def blanks(self) -> list[InitialValue]:
        """All that is to be blank where a row starts."""
        memory = [] if self.remembers is None else [(self.memory, self.at_first)]
        return [(self.params, self.given), *memory, *((a, None) for a in self.arrays.values())]

    @property
    def starts_blank(self) -> bool:
        """Whether there is nothing to do where a row starts but to let it be blank."""
        return not self.drawn and type(self).reset is Plugin.reset

    def begin_blank(self, rows: Rows) -> None:
        """Start these rows, which are blank: draw their parameters, reset."""
        draw_parameters(self, rows)
        self.reset(rows)

    def begin(self, rows: Rows) -> None:
        """Start these rows: forget, draw their parameters, reset."""
        if self._blank is None:
            self._blank = RowInitializer(self.blanks())
        self._blank.fill(rows)
        self.begin_blank(rows)

    def sheet(self) -> Datasheet:
        """The nominal parameters, as estimators are told them."""
        fields = [f.name for f in dataclasses.fields(self) if f.init]
        values = {name: getattr(self, name) for name in fields}
        known = {k: nominal(v) if hasattr(v, "nominal") else v for k, v in values.items()}
        return Datasheet(
            self.kind, known, getattr(self, "measures", None), getattr(self, "wheels", 0)
        )
