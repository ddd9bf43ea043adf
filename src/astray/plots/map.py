"""A map as a picture: solids light, walls dark, places marked by their kind."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from astray.tables import Array
from astray.world import Map, Place
from astray.world.geometry import Polyline, assign_holes, map_polylines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.path import Path

INK = "#2b2b2b"
SOLID = "#d3d6da"
MARKS = {"home": ("*", "#009e73"), "dock": ("s", "#0072b2"), "goal": ("o", "#d55e00")}
OTHER = ("D", "#cc79a7")
FORBIDDEN = "#c0392b"
MOST_NAMES = 40  # places that are named; more would cover the map
LARGEST = 11.0  # inches of the longer side


def draw_map(axes: Axes, found: Map, places: bool = True) -> None:
    """Draw the obstacles and the places of a map into axes that others draw into, too."""
    from matplotlib.collections import LineCollection, PathCollection, PolyCollection

    blocks = assign_holes([c for c in map_polylines(found) if c.solid and c.closed])
    whole = [ring.points for ring, holes in blocks if not holes]
    pierced = [_path(ring, holes) for ring, holes in blocks if holes]
    light: Any = {"facecolor": SOLID, "edgecolor": "none", "zorder": 0.5}
    axes.add_collection(PathCollection(pierced, **light))
    axes.add_collection(PolyCollection(whole, **light))
    thin = _thinness(found)
    lines = found.segments.reshape(-1, 2, 2)
    for solid, width in ((True, 0.8), (False, 1.6)):
        chosen = lines[found.solid == solid]
        if len(chosen):
            drawn = LineCollection(
                list(chosen), colors=INK, linewidths=width * thin, capstyle="round", zorder=1.0
            )
            axes.add_collection(drawn)
    axes.autoscale_view()
    if places:
        _draw_places(axes, found.places)


def plot_map(found: Map) -> Figure:
    """A picture of a map, with a scale in metres on both sides."""
    from matplotlib.figure import Figure

    west, south, east, north = extent(found)
    width, height = max(east - west, 1e-3), max(north - south, 1e-3)
    inches = LARGEST / max(width, height)
    size = (max(4.0, width * inches) + 0.8, max(2.4, height * inches) + 0.8)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    draw_map(axes, found)
    edge = 0.02 * max(width, height)
    axes.set(xlim=(west - edge, east + edge), ylim=(south - edge, north + edge))
    axes.set(xlabel="x in m", ylabel="y in m", title=f"{found.name}: {len(found)} segments")
    axes.set_aspect("equal", adjustable="box")
    axes.grid(alpha=0.2, lw=0.5)
    axes.set_axisbelow(True)
    return figure


def extent(found: Map) -> tuple[float, float, float, float]:
    """The bounds of obstacles and places together: west, south, east, north, m."""
    ends = [found.segments.reshape(-1, 2)]
    ends += [np.array([(p.x, p.y), *p.points]) for p in found.places]
    every = np.vstack(ends)
    if not len(every):
        return -1.0, -1.0, 1.0, 1.0
    low, high = every.min(axis=0), every.max(axis=0)
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])


def _thinness(found: Map) -> float:
    """Lines of a dense map are thin, or they would run together."""
    return float(np.clip(40.0 / math.sqrt(len(found) + 1.0), 0.2, 1.0))


def _path(ring: Polyline, holes: Sequence[Polyline]) -> Path:
    from matplotlib.path import Path

    return Path.make_compound_path(*(Path(_closed(r), closed=True) for r in (ring, *holes)))


def _closed(ring: Polyline) -> Array:
    return np.vstack([ring.points, ring.points[:1]])


def _draw_places(axes: Axes, places: Sequence[Place]) -> None:
    named = len(places) <= MOST_NAMES
    for kind in dict.fromkeys(place.kind for place in places):
        mark, colour = MARKS.get(kind, OTHER)
        spots = [place for place in places if place.kind == kind and not place.points]
        size = 11 if mark == "*" else 6
        x, y = [p.x for p in spots], [p.y for p in spots]
        style: Any = {
            "color": colour,
            "ms": size if named else 0.5 * size,
            "mec": "white",
            "mew": 0.6,
        }
        axes.plot(x, y, mark, zorder=3.0, ls="none", **style)
        for place in spots if named else ():
            _name(axes, place.name or place.kind, (place.x, place.y), colour)
    for place in places:
        if place.points:
            _draw_area(axes, place, named)


def _draw_area(axes: Axes, place: Place, named: bool) -> None:
    points = np.array(place.points)
    if len(points) > 2:
        axes.fill(*points.T, fc=FORBIDDEN, ec=FORBIDDEN, alpha=0.18, hatch="///", zorder=0.8)
    axes.plot(*np.vstack([points, points[:1]]).T, "--", color=FORBIDDEN, lw=1.2, zorder=2.0)
    if named:
        _name(axes, place.name or place.kind, tuple(points.mean(axis=0)), FORBIDDEN)


def _name(axes: Axes, text: str, at: tuple[float, float], colour: str) -> None:
    from matplotlib.patheffects import withStroke

    effects = [withStroke(linewidth=2.0, foreground="white")]
    text = text.replace("$", r"\$")
    axes.annotate(
        text,
        at,
        (5, 4),
        textcoords="offset points",
        fontsize="x-small",
        color=colour,
        path_effects=effects,
        zorder=4.0,
        annotation_clip=True,
    )
