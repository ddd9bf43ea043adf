"""Maps that clients load: only below a folder that was allowed, since it is our files they read."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from astray.engine import Event, Run
from astray.errors import WrongInput
from astray.pioneer.connection import Connection
from astray.pioneer.packets import MapChanged
from astray.pioneer.requests import LoadMap
from astray.pioneer.session import ServedRobot
from astray.pioneer.snapshot import Pose
from astray.world import Map
from astray.world.maps import read_map

if TYPE_CHECKING:
    pass

APART = 1.0  # m from the home of one robot to that of the next
HOMES = ("home", "dock")


def home_of(map: Map) -> Pose:
    """Where robots start on a map: at its home, else at its dock, else in its middle."""
    for kind in HOMES:
        for place in map.places:
            if place.kind == kind:
                return place.x, place.y, place.yaw
    low_x, low_y, high_x, high_y = map.bounds
    return (low_x + high_x) / 2, (low_y + high_y) / 2, 0.0


def homes_of(map: Map, count: int) -> list[Pose]:
    """A home for each of some robots: each next one a metre lower."""
    x, y, yaw = home_of(map)
    return [(x, y - k * APART, yaw) for k in range(count)]


class MapLoader:
    """Loads maps for clients, in a thread, so that packets go on meanwhile."""

    def __init__(
        self,
        sim: Run,
        robots: Sequence[ServedRobot],
        folder: Path | None,
        announce: Callable[[bytes, Connection | None], None],
    ) -> None:
        self.sim, self.robots, self.announce = sim, robots, announce
        self.folder = folder.resolve() if folder else None
        self.master: Connection | None = None
        """The client that alone may load maps."""
        self._present: Path | None = None
        self._busy = threading.Lock()

    def load(self, line: Connection, request: LoadMap) -> None:
        """Load a map if that is allowed; the client is answered in any case."""
        if self.master not in (None, line) and not request.master and not self.master.gone:
            self._refuse(line, request, "another client is the master of maps")
            return
        if request.master:
            self.master = line
        file = self._allowed(request.file)
        if file is None:
            self._refuse(line, request, "maps are loaded only below the folder of --allow-maps")
        elif not self._busy.acquire(blocking=False):
            self._refuse(line, request, "another map is being loaded")
        else:
            name = "astray-map"
            threading.Thread(target=self._load, args=(line, request, file), name=name).start()

    def _allowed(self, name: str) -> Path | None:
        """The file that a client means; None if it is not below the folder."""
        if self.folder is None:
            return None
        try:
            file = (self.folder / name).resolve()
        except (OSError, ValueError, RuntimeError):  # a name may hold what no file system takes
            return None
        return file if file.is_relative_to(self.folder) else None

    def _load(self, line: Connection, request: LoadMap, file: Path) -> None:
        try:
            if file == self._present:
                self.announce(MapChanged(loaded=0, file=request.file).encode(), None)
                return
            map = read_map(file)
            self.sim.post(Event("world", worlds=(line.options.world,), values={"map": map}))
            for robot, home in zip(self.robots, homes_of(map, len(self.robots)), strict=True):
                robot.home = home
            self._present = file
            line.log(f"loaded the map {file.name}")
            self.announce(MapChanged(loaded=1, file=request.file).encode(), None)
        except WrongInput as problem:
            self._refuse(line, request, str(problem))
        finally:
            self._busy.release()

    def _refuse(self, line: Connection, request: LoadMap, why: str) -> None:
        line.log(f"does not get the map {request.file!r}: {why}")
        present = self._present.name if self._present else ""
        self.announce(MapChanged(loaded=0, file=present).encode(), line)
