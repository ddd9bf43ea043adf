"""Loading of maps for clients, only from a folder that was allowed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from astray.engine import Event, Run
from astray.errors import WrongInput
from astray.pioneer.commands import LoadMap
from astray.pioneer.connection import ClientConnection
from astray.pioneer.fleet import home_poses
from astray.pioneer.models import ServedRobot
from astray.pioneer.packets import MapChanged
from astray.world.maps import read_map


class MapLoader:
    """Loads maps in a thread, so that packets keep their cadence meanwhile."""

    def __init__(
        self,
        run: Run,
        robots: Sequence[ServedRobot],
        folder: Path | None,
        send: Callable[[bytes, ClientConnection | None], None],
    ) -> None:
        self.run, self.robots = run, robots
        self._send = send  # a packet, to one client or to all
        self.folder = folder.resolve() if folder else None
        self.master: ClientConnection | None = None
        """The only client that may load maps."""
        self._loaded: Path | None = None
        self._busy = threading.Lock()

    def load(self, connection: ClientConnection, request: LoadMap) -> None:
        """Load a map if that is allowed. The client gets MAP_CHANGED in any case."""
        master = self.master
        other_master = master is not None and master is not connection and not master.is_closed
        if other_master and not request.master:
            self._refuse(connection, request, "another client is the master of maps")
            return
        if request.master:
            self.master = connection
        file = self._find_allowed(request.file)
        if file is None:
            reason = "maps are loaded only from the folder of --allow-maps"
            self._refuse(connection, request, reason)
        elif not self._busy.acquire(blocking=False):
            self._refuse(connection, request, "another map is being loaded")
        else:
            arguments = (connection, request, file)
            threading.Thread(target=self._load, args=arguments, name="astray-map").start()

    def _find_allowed(self, name: str) -> Path | None:
        """The file of this name in the folder; None if it is elsewhere."""
        if self.folder is None:
            return None
        try:
            file = (self.folder / name).resolve()
        except (OSError, ValueError, RuntimeError):  # the file system refuses the name
            return None
        return file if file.is_relative_to(self.folder) else None

    def _load(self, connection: ClientConnection, request: LoadMap, file: Path) -> None:
        try:
            if file == self._loaded:
                self._send(MapChanged(loaded=0, file=request.file).encode(), None)
                return
            map = read_map(file)
            worlds = (connection.options.world,)
            self.run.post(Event("world", worlds=worlds, values={"map": map}))
            homes = home_poses(map, len(self.robots))
            for robot, home in zip(self.robots, homes, strict=True):
                robot.home = home
            self._loaded = file
            connection.log(f"loaded the map {file.name}")
            self._send(MapChanged(loaded=1, file=request.file).encode(), None)
        except WrongInput as problem:
            self._refuse(connection, request, str(problem))
        finally:
            self._busy.release()

    def _refuse(self, connection: ClientConnection, request: LoadMap, reason: str) -> None:
        connection.log(f"is refused the map {request.file!r}: {reason}")
        present = self._loaded.name if self._loaded else ""
        self._send(MapChanged(loaded=0, file=present).encode(), connection)
