"""Rendering: a world as pixels, with the map, the true and the believed poses, and the goals."""

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

SIZE = 480  # pixels
MARGIN = 0.05  # of the map's size, on each side
HALF_WIDTH = 6.0  # m of the view without a map


def check_render_mode(given: str | None, known: tuple[str, ...]) -> str | None:
    """The render mode, or WrongInput with the known ones."""
    if given is not None and given not in known:
        raise WrongInput(f"unknown render mode {given!r} ({', '.join(known)})")
    return given


class WorldRenderer:
    """Draws the worlds of some agents, one at a time."""

    def __init__(self, agents: Agents) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self.agents = agents
        self._figure = Figure(figsize=(SIZE / 100, SIZE / 100), dpi=100)
        self._canvas: Any = FigureCanvasAgg(self._figure)
        self._axes: Axes = self._figure.add_axes((0.0, 0.0, 1.0, 1.0))
        self._map_digest = ""
        self._moving: list[Any] = []  # artists of the last frame

    def draw(self, world: int) -> Array:
        """The pixels of the world at an index of the batch, (height, width, 3) uint8."""
        self._draw_background(world)
        for artist in self._moving:
            artist.remove()
        self._moving = []
        for k, group in enumerate(self.agents.sim.robots.values()):
            colour, outline = COLOURS[k % len(COLOURS)], group.plan.footprint.outline()
            heading = np.array([[0.0, 0.0], [group.plan.footprint.reach, 0.0]])
            for row in group.rows_of(np.array([world])):
                truth, belief = group.truth[row], group.belief[row]
                if truth["alive"]:
                    self._draw_polygon(_to_map(outline, truth), facecolor=colour, alpha=0.8)
                    self._draw_polygon(
                        _to_map(outline, belief), fill=False, edgecolor=BELIEF_COLOUR, ls="--"
                    )
                    x, y = _to_map(heading, truth).T
                    self._moving += self._axes.plot(x, y, color="white", lw=2.0, zorder=4)
        task = self.agents.task
        if isinstance(task, Reach):
            goals = task.goals[self.agents.robots.rows_of(np.array([world]))]
            self._moving += self._axes.plot(goals[:, 0], goals[:, 1], "*", color="#009e73", ms=12)
        self._canvas.draw()
        return np.asarray(self._canvas.buffer_rgba())[:, :, :3].copy()

    def _draw_polygon(self, ring: Array, **style: Any) -> None:
        from matplotlib.patches import Polygon

        self._moving.append(self._axes.add_patch(Polygon(ring, zorder=3, **style)))

    def _draw_background(self, world: int) -> None:
        """Draw the map of a world, unless it is drawn already."""
        drawn = self.agents.sim.environment.scene.map.map(world)
        if drawn.digest() == self._map_digest:
            return
        self._axes.clear()
        self._moving, self._map_digest = [], drawn.digest()
        draw_map(self._axes, drawn, places=False)
        default = (-HALF_WIDTH, -HALF_WIDTH, HALF_WIDTH, HALF_WIDTH)
        west, south, east, north = drawn.bounds if len(drawn) else default
        margin = MARGIN * max(east - west, north - south)
        self._axes.set(xlim=(west - margin, east + margin), ylim=(south - margin, north + margin))
        self._axes.set_aspect("equal", adjustable="datalim")
        self._axes.set_axis_off()


def _to_map(points: Array, state: Row) -> Array:
    """Points in the frame of a robot, (n, 2) m, in that of the map."""
    c, s = np.cos(state["yaw"]), np.sin(state["yaw"])
    rotated = points @ np.array([[c, s], [-s, c]])
    return np.asarray(rotated + np.array([state["x"], state["y"]]))
