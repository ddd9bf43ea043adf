"""The maps of a run, and which of them each world has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from astray.tables import Array
from astray.world.geometry import SegmentIndex, Solids, build_segment_index, build_solids
from astray.world.map import Map


class MapSet:
    """The maps of a batch of worlds, with the spatial indices that kernels read.

    Attributes:
        maps: The different maps.
        of_world: For each world of the batch, the index of its map in `maps`, (worlds,).
    """

    def __init__(self, maps: Sequence[Map], worlds: int = 1) -> None:
        """Make the set of one map that all worlds share, or of one map for each world."""
        self.maps = list(maps) or [Map()]
        indices = np.arange(worlds) if len(self.maps) > 1 else np.zeros(worlds, np.int64)
        self.of_world: Array = indices.astype(np.int64)
        self._index: SegmentIndex | None = None
        self._solids: Solids | None = None

    @property
    def index(self) -> SegmentIndex:
        """The segments of all maps with their grids; built on first use."""
        if self._index is None:
            self._index = build_segment_index(self.maps)
        return self._index

    @property
    def solids(self) -> Solids:
        """The rings of the solids of all maps; built on first use."""
        if self._solids is None:
            self._solids = build_solids(self.maps)
        return self._solids

    def map(self, world: int = 0) -> Map:
        """The map of a world, by its index in the batch."""
        return self.maps[int(self.of_world[world])]

    def replace(self, map: Map, worlds: Array) -> None:
        """Replace the map of these worlds, by their indices in the batch."""
        self.of_world[worlds] = len(self.maps)
        self.maps.append(map)
        used, self.of_world[:] = np.unique(self.of_world, return_inverse=True)
        self.maps = [self.maps[k] for k in used]
        self._index = self._solids = None

    def copy(self) -> MapSet:
        """A set of the same maps that does not change with this one."""
        duplicate = MapSet(self.maps, len(self.of_world))
        duplicate.assign(self)
        return duplicate

    def assign(self, source: MapSet) -> None:
        """Take over the maps of another set of as many worlds."""
        self.maps = list(source.maps)
        self.of_world[:] = source.of_world
        self._index, self._solids = source.index, source.solids

    @property
    def is_empty(self) -> bool:
        """Whether no world has an obstacle."""
        return not any(len(map) for map in self.maps)
