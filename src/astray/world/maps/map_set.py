"""An atlas: the maps of a run, and which world has which."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from astray.tables import Array
from astray.world.geometry import SegmentIndex, Solids, build_segment_index, build_solids
from astray.world.map import Map


class MapSet:
    """Maps with their index; `of_world` is the number of the map of each world of the batch."""

    def __init__(self, maps: Sequence[Map], worlds: int = 1) -> None:
        """One map for all worlds, or one for each."""
        self.maps = list(maps) or [Map()]
        numbers = np.arange(worlds) if len(self.maps) > 1 else np.zeros(worlds, np.int64)
        self.of_world: Array = numbers.astype(np.int64)
        self._index: SegmentIndex | None = None
        self._solids: Solids | None = None

    @property
    def index(self) -> SegmentIndex:
        """What kernels read, made when it is first asked for."""
        if self._index is None:
            self._index = build_segment_index(self.maps)
        return self._index

    @property
    def solids(self) -> Solids:
        """The rings of what is solid, made when they are first asked for."""
        if self._solids is None:
            self._solids = build_solids(self.maps)
        return self._solids

    def map(self, world: int = 0) -> Map:
        """The map of a world, by its place in the batch."""
        return self.maps[int(self.of_world[world])]

    def replace(self, map: Map, worlds: Array) -> None:
        """Give these worlds, by their places in the batch, another map."""
        self.of_world[worlds] = len(self.maps)
        self.maps.append(map)
        used, self.of_world[:] = np.unique(self.of_world, return_inverse=True)
        self.maps = [self.maps[k] for k in used]
        self._index = self._solids = None

    def copy(self) -> MapSet:
        """The same maps, which stay when this atlas gets others."""
        made = MapSet(self.maps, len(self.of_world))
        made.assign(self)
        return made

    def assign(self, other: MapSet) -> None:
        """Take over the maps of another atlas for as many worlds."""
        self.maps = list(other.maps)
        self.of_world[:] = other.of_world
        self._index, self._solids = other.index, other.solids

    @property
    def is_empty(self) -> bool:
        """Whether there is no obstacle in any world."""
        return not any(len(map) for map in self.maps)
