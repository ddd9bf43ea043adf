"""What the robots of a group can be told: each order is an event, posted to the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from astray.engine.event_queue import Event
from astray.errors import WrongInput


class Orders:
    """Orders to robots of one name: to all of them, unless worlds or robots are named."""

    name: str
    post: Callable[[Event], None]

    def drive(
        self, vx: Any, wz: Any = 0.0, vy: Any = 0.0, hold: float | None = None, **whom: Any
    ) -> None:
        """Command a speed, m/s, and a turn rate, rad/s: one for all, or one per row.

        With `hold` a hand drives for so many seconds, whatever the robots' autonomy is.
        """
        held = {} if hold is None else {"hold": hold}
        self._post("command", {"vx": vx, "vy": vy, "wz": wz, **held}, **whom)

    def steer(self, vx: Any, curvature: Any, **whom: Any) -> None:
        """Command a speed, m/s, and a curvature, 1/m."""
        self._post("command", {"mode": "curvature", "vx": vx, "curvature": curvature}, **whom)

    def command(self, values: Mapping[str, Any], **whom: Any) -> None:
        """Command whatever COMMAND has columns for, with limits: one for all, or one per row."""
        self._post("command", dict(values), **whom)

    def go(self, distance: Any, **whom: Any) -> None:
        """Command a straight move by some metres, backwards if negative."""
        self._post("command", {"mode": "move", "distance": distance}, **whom)

    def turn_to(self, heading: Any, **whom: Any) -> None:
        """Command a turn on the spot to a heading in the map, rad."""
        self._post("command", {"mode": "heading", "heading": heading}, **whom)

    def go_to(self, x: Any, y: Any, **whom: Any) -> None:
        """Send robots that navigate to a goal on the map, m, in place of all that they had."""
        self._post("goal", {"x": x, "y": y}, **whom)

    def place(self, *, worlds: Any = None, robots: Any = None, **pose: Any) -> None:
        """Move the truth; the belief knows nothing of it."""
        self._post("place", pose, worlds, robots)

    def believe(self, *, worlds: Any = None, robots: Any = None, **belief: Any) -> None:
        """Set the belief; the truth stays where it is."""
        self._post("believe", belief, worlds, robots)

    def spawn(self, *, worlds: Any = None, robots: Any = None, **pose: Any) -> None:
        """Wake the first sleeping robot of each world."""
        self._post("spawn", pose, worlds, robots)

    def remove(self, **whom: Any) -> None:
        """Take robots out of the run."""
        self._post("remove", {}, **whom)

    def haunt(self, ghostly: bool = True, **whom: Any) -> None:
        """Let robots be ghosts, which no one sees and nothing stops, or make them solid again."""
        self._post("ghost", {"ghostly": ghostly}, **whom)

    def set(self, parameter: str, value: Any, **whom: Any) -> None:
        """Change a parameter of a plugin, "wheels.slip", until the next start."""
        self._post("set", {"parameter": parameter, "value": value}, **whom)

    def _post(
        self, kind: str, values: dict[str, Any], worlds: Any = None, robots: Any = None
    ) -> None:
        some = indices(worlds, "worlds"), indices(robots, "robots")
        self.post(Event(kind, self.name, *some, values))


def indices(which: Any, of: str) -> tuple[int, ...] | None:
    """Numbers of worlds or robots, one or several."""
    if which is None:
        return None
    given = np.atleast_1d(which)
    if given.size and not np.issubdtype(given.dtype, np.integer):
        hint = "; np.flatnonzero(mask) has those of a mask" if given.dtype == bool else ""
        raise WrongInput(f"{of} are whole numbers, not {which!r}{hint}")
    return tuple(given.ravel().tolist())
