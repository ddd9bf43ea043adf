"""What all plugins have in common: how they are declared, and what they are given.

A plugin is a keyword dataclass. Its annotated fields are its keys in a scenario, with the unit in
the comment behind. What it keeps between ticks is a table of its own, laid out by `remembers`,
with a row per robot, so that rows can be reset and runs can be saved and resumed.
"""

from __future__ import annotations

import dataclasses
import sys
import threading
from abc import ABC
from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar, dataclass_transform

import numpy as np

from astray.errors import PluginError, add_former_names
from astray.numerics import CHUNK, WorkspaceFields, make_noise_workspace, random
from astray.plugin.declaration_checks import check_declared
from astray.plugin.distributions import nominal
from astray.plugin.parameters import (
    draw_parameters,
    drawn_parameters,
    parameter_columns,
    shared_parameters,
)
from astray.plugin.row_initializer import InitialValue, RowInitializer
from astray.tables import Array, Columns, Rows, Table, read_only

P = TypeVar("P", bound="Plugin")

KINDS: dict[str, dict[str, type[Plugin]]] = {}
"""Every concrete plugin class by family and kind; declaring the class registers it here."""

RENAMED = {
    "at_first": "initial_memory",
    "deck": "noise_workspace",
    "given": "shared_params",
    "lifelong_normals": "episode_normals",
    "sheet": "datasheet",
}
"""Attributes of a plugin that have another name now."""


@dataclasses.dataclass(frozen=True)
class Datasheet:
    """The datasheet of a device: its nominal parameters, not the true ones of a robot.

    Attributes:
        kind: The kind of the plugin, such as "wheels".
        values: The nominal parameters by name; `sheet["radius"]` reads one.
        measures: The columns of a sensor's readings; None if it is no sensor.
        wheels: How many wheels a motion has.
    """

    kind: str
    values: Mapping[str, Any]
    measures: Columns | None = None
    wheels: int = 0

    def __getitem__(self, parameter: str) -> Any:
        return self.values[parameter]


Datasheets = Mapping[str, Datasheet]
"""The datasheets of a robot: "motion", "footprint", and its sensors by name."""


def find_sensor(layout: Columns, sheets: Datasheets, plugin: str) -> str:
    """Find the first sensor of a robot that measures what a plugin needs.

    Args:
        layout: The columns that are needed, such as `tables.WHEELS`.
        sheets: The robot's datasheets.
        plugin: The plugin that needs the sensor, for the error message.

    Returns:
        The name of the sensor.

    Raises:
        PluginError: The robot has no such sensor.
    """
    for name, sheet in sheets.items():
        if sheet.measures == layout:
            return name
    needed = ", ".join(c for c in layout.names or () if c not in ("fresh", "stamp"))
    raise PluginError(f"{plugin} needs a sensor that measures {needed}, and the robot has none")


def _file_of(cls: type) -> str:
    """The file that a class was declared in: the same class may be imported by two names."""
    module = sys.modules.get(cls.__module__)
    return str(getattr(module, "__file__", None) or cls.__module__)


class PluginWorkspaces(threading.local):
    """The workspaces of a plugin by their size; each thread has its own."""

    def __init__(self) -> None:
        self.noise: dict[int, WorkspaceFields] = {}
        self.scratch: dict[int, Array] = {}


@dataclass_transform(kw_only_default=True, eq_default=False)
@dataclasses.dataclass(kw_only=True, eq=False)
class Plugin(ABC):  # noqa: B024 - its families are the abstract ones
    """A part of a robot, or a metric of one. Subclass a family, not this.

    `class Dice(Sensor, kind="dice")` registers the kind. Its fields are its keys in a scenario:
    `sd: NonNegative = 0.1  # m, white`. Any number may be a distribution there, so a plugin reads
    `self.params["sd"][rows]`, not `self.sd`.
    """

    family: ClassVar[str] = ""
    kind: ClassVar[str] = ""
    remembers: ClassVar[Columns | None] = None
    """The layout of `self.memory`, which is saved with a run."""
    fixed: ClassVar[tuple[str, ...]] = ()
    """Parameters that are read in `bind` or `reset`: no event can change them during a run."""
    rows_per_thread: ClassVar[int] = 4096
    """Rows that are worth a thread of their own; fewer where a row is expensive."""

    name: str = ""

    def __init_subclass__(cls, kind: str = "", family: str = "") -> None:
        docstring = cls.__dict__.get("__doc__")
        dataclasses.dataclass(kw_only=True, eq=False)(cls)
        cls.__doc__ = docstring  # and not the signature that dataclass puts in place of none
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
        """Prepare for n rows, once, before the first episode.

        Args:
            n: How many rows there are.
            sheets: The datasheets of the robot.

        Raises:
            PluginError: The robot lacks something that this plugin needs.
        """

    def reset(self, rows: Rows) -> None:  # noqa: B027 - nothing to do is fine
        """Start an episode of these rows; parameters are drawn and memory is initial already.

        Args:
            rows: Indices, (k,).
        """

    def next_due(self, tick: int) -> int:
        """The first tick from this one on at which a call could change anything.

        It lets a run skip calls. It is no schedule: more calls must change nothing.

        Args:
            tick: A tick of the run.

        Returns:
            A tick, `NEVER` if there is none.
        """
        return tick

    # What an author may use, once the plugin is attached.

    params: Table = dataclasses.field(init=False, repr=False)
    """The numeric parameters as columns, (n,), as drawn for each row."""
    shared_params: Table = dataclasses.field(init=False, repr=False)
    """The parameters that all rows have in common, one record; nan where they are drawn."""
    drawn_params: list[str] = dataclasses.field(init=False, repr=False)
    """The names of the parameters that are drawn for each row."""
    memory: Table = dataclasses.field(init=False, repr=False)
    """What this plugin remembers, (n,), laid out by `remembers`."""
    initial_memory: Table = dataclasses.field(init=False, repr=False)
    """What it remembers when a row starts, one record: zeros, unless `bind` fills something in."""
    arrays: dict[str, Array] = dataclasses.field(init=False, repr=False)
    """Memory too large for a column: arrays with a leading row axis, made in `bind`."""
    key: np.uint64 = dataclasses.field(init=False, repr=False)
    """The key of this plugin's noise, see `numerics.random`."""
    address: Table = dataclasses.field(init=False, repr=False)
    """ADDRESS, (n,), to read: world, robot, episode and tick of each row, the counter of noise."""
    dt: float = dataclasses.field(init=False, repr=False)
    """The length of a tick, s; 0 for an estimator without a simulator."""
    _writable_address: Table = dataclasses.field(init=False, repr=False)
    _workspaces: PluginWorkspaces = dataclasses.field(init=False, repr=False)
    _initializer: RowInitializer | None = dataclasses.field(init=False, repr=False)

    def normals(self, rows: Rows, count: int) -> Array:
        """Draw standard normals that are new at every tick.

        Args:
            rows: Indices, (k,).
            count: How many each row gets.

        Returns:
            (k, count): for a row the same in any batch.
        """
        out = np.empty((len(rows), count))
        random.normals_all(out, self._writable_address, rows, self.key)
        return out

    def uniforms(self, rows: Rows, count: int) -> Array:
        """Draw uniforms in [0, 1) that are new at every tick, independent of `normals`.

        Args:
            rows: Indices, (k,).
            count: How many each row gets.

        Returns:
            (k, count): for a row the same in any batch.
        """
        out = np.empty((len(rows), count))
        key = random.key(int(self.key), "uniforms")  # of their own: normals are made of uniforms
        random.uniforms_all(out, self._writable_address, rows, key)
        return out

    def episode_normals(self, rows: Rows, count: int) -> Array:
        """Draw standard normals that stay the same during an episode, such as a turn-on bias.

        Args:
            rows: Indices, (k,).
            count: How many each row gets.

        Returns:
            (k, count): for a row the same in any batch.
        """
        out = np.empty((len(rows), count))
        address = self.address.take(rows)
        address["tick"] = 0
        key = random.key(int(self.key), "lifelong")
        random.normals_all(out, address, np.arange(len(rows)), key)
        return out

    def noise_workspace(self, pairs: int) -> WorkspaceFields:
        """The workspace for `numerics.draw_normals` in a kernel of this plugin.

        Args:
            pairs: How many pairs of normals a row needs at most.

        Returns:
            A workspace of the calling thread.
        """
        found = self._workspaces.noise.get(pairs)
        if found is None:
            found = self._workspaces.noise[pairs] = make_noise_workspace(self.key, pairs)
        return found

    def scratch(self, numbers: int) -> Array:
        """Scratch memory for kernels that process CHUNK rows in passes.

        A pass that only computes a sine, say, can be vectorised.

        Args:
            numbers: How many numbers each of the rows needs.

        Returns:
            (numbers, CHUNK), of the calling thread.
        """
        found = self._workspaces.scratch.get(numbers)
        if found is None:
            found = self._workspaces.scratch[numbers] = np.empty((numbers, CHUNK))
        return found

    # What the simulator calls.

    def attach(self: P, address: Table, sheets: Datasheets, dt: float, seed: int, group: str) -> P:
        """Make a copy of this plugin that has tables for some rows.

        Args:
            address: ADDRESS, (n,), of the rows; the simulator keeps it up to date.
            sheets: The datasheets of the robot.
            dt: The length of a tick, s.
            seed: The seed of the run.
            group: The name of the robots, which the key of the noise contains.

        Returns:
            The copy, bound.

        Raises:
            PluginError: The robot lacks something, or a parameter makes no sense.
        """
        n = len(address)
        bound = dataclasses.replace(self)
        bound._writable_address, bound.address = address, read_only(address)
        bound.dt = dt
        bound.key = random.key(seed, group, self.family, self.name)
        bound.params = np.zeros(n, parameter_columns(type(self)))
        if self.remembers is not None:
            bound.memory = np.zeros(n, self.remembers)
            bound.initial_memory = np.zeros(1, self.remembers)
        bound.arrays = {}
        bound._workspaces, bound._initializer = PluginWorkspaces(), None
        bound.bind(n, sheets)
        for name, array in bound.arrays.items():
            if not array.flags.c_contiguous:
                raise PluginError(f"{self.kind}: the array {name!r} must be contiguous")
        bound.shared_params, bound.drawn_params = shared_parameters(bound), drawn_parameters(bound)
        return bound

    def initial_values(self) -> list[InitialValue]:
        """The tables of this plugin, and what fills a row of each when an episode starts."""
        memory = [] if self.remembers is None else [(self.memory, self.initial_memory)]
        arrays = [(array, None) for array in self.arrays.values()]
        return [(self.params, self.shared_params), *memory, *arrays]

    @property
    def needs_reset(self) -> bool:
        """Whether there is more to do when a row starts than to fill in its initial values."""
        return bool(self.drawn_params) or type(self).reset is not Plugin.reset

    def draw_and_reset(self, rows: Rows) -> None:
        """Start an episode of rows that hold their initial values: draw parameters, reset.

        Args:
            rows: Indices, (k,).
        """
        draw_parameters(self, rows)
        self.reset(rows)

    def begin(self, rows: Rows) -> None:
        """Start an episode of these rows: fill in initial values, draw parameters, reset.

        Args:
            rows: Indices, (k,).
        """
        if self._initializer is None:
            self._initializer = RowInitializer(self.initial_values())
        self._initializer.fill(rows)
        self.draw_and_reset(rows)

    def datasheet(self) -> Datasheet:
        """The nominal parameters, which is all that estimators are given.

        Returns:
            The datasheet; of a distribution it has the nominal value.
        """
        fields = [f.name for f in dataclasses.fields(self) if f.init]
        values = {name: nominal(getattr(self, name)) for name in fields}
        return Datasheet(
            self.kind, values, getattr(self, "measures", None), getattr(self, "wheels", 0)
        )


add_former_names(Plugin, RENAMED)
