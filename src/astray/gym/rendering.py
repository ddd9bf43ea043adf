"""A world as pixels: the map, robots where they are and where they believe to be, and goals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from astray.errors import WrongInput
from astray.gym.agents import Agents
from astray.gym.task import Reach
from astray.plots import BELIEF_COLOUR, COLOURS, draw_map
from astray.tables import Array, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIDE = 480  # pixels
MARGIN = 0.05  # of the map's size around it
AROUND = 6.0  # m around the robots, where there is no map


def checked_mode(asked: str | None, known: tuple[str, ...]) -> str | None:
    """How to render, if that is known."""
    if asked is not None and asked not in known:
        raise WrongInput(f"no render mode {asked!r} ({', '.join(known)})")
    return asked


class RenderFrame:
    """Draws the worlds of some agents, one at a time."""

    def __init__(self, agents: Agents) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self.agents = agents
        self._figure = Figure(figsize=(SIDE / 100, SIDE / 100), dpi=100)
        self._canvas: Any = FigureCanvasAgg(self._figure)
        self._axes: Axes = self._figure.add_axes((0.0, 0.0, 1.0, 1.0))
        self._map = ""
        self._moving: list[Any] = []

    def draw(self, world: int) -> Array:
        """The world at this place of the batch, (height, width, 3)."""
        self._draw_around(world)
        for artist in self._moving:
            artist.remove()
        self._moving = []
        for k, group in enumerate(self.agents.sim.robots.values()):
            colour, outline = COLOURS[k % len(COLOURS)], group.plan.footprint.outline()
            nose = np.array([[0.0, 0.0], [group.plan.footprint.reach, 0.0]])
            for row in group.rows_of(np.array([world])):
                truth, belief = group.truth[row], group.belief[row]
                if truth["alive"]:
                    self._put(_placed(outline, truth), facecolor=colour, alpha=0.8)
                    self._put(
                        _placed(outline, belief), fill=False, edgecolor=BELIEF_COLOUR, ls="--"
                    )
                    x, y = _placed(nose, truth).T
                    self._moving += self._axes.plot(x, y, color="white", lw=2.0, zorder=4)
        task = self.agents.task
        if isinstance(task, Reach):
            goals = task.goals[self.agents.robots.rows_of(np.array([world]))]
            self._moving += self._axes.plot(goals[:, 0], goals[:, 1], "*", color="#009e73", ms=12)
        self._canvas.draw()
        return np.asarray(self._canvas.buffer_rgba())[:, :, :3].copy()

    def _put(self, ring: Array, **look: Any) -> None:
        from matplotlib.patches import Polygon

        self._moving.append(self._axes.add_patch(Polygon(ring, zorder=3, **look)))

    def _draw_around(self, world: int) -> None:
        """Draw the map of a world, if it is another than the one before."""
        found = self.agents.sim.environment.scene.map.map(world)
        if found.digest() == self._map:
            return
        self._axes.clear()
        self._moving, self._map = [], found.digest()
        draw_map(self._axes, found, places=False)
        nowhere = (-AROUND, -AROUND, AROUND, AROUND)
        west, south, east, north = found.bounds if len(found) else nowhere
        edge = MARGIN * max(east - west, north - south)
        self._axes.set(xlim=(west - edge, east + edge), ylim=(south - edge, north + edge))
        self._axes.set_aspect("equal", adjustable="datalim")
        self._axes.set_axis_off()


def _placed(outline: Array, state: Row) -> Array:
    """The outline of a robot in the map, (n, 2) m."""
    c, s = np.cos(state["yaw"]), np.sin(state["yaw"])
    turned = outline @ np.array([[c, s], [-s, c]])
    return np.asarray(turned + np.array([state["x"], state["y"]]))
