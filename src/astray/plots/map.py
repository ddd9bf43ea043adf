"""The figure of a map: solids light, walls dark, places marked by their kind."""

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
MARKERS = {"home": ("*", "#009e73"), "dock": ("s", "#0072b2"), "goal": ("o", "#d55e00")}
OTHER_MARKER = ("D", "#cc79a7")
FORBIDDEN = "#c0392b"
MAX_LABELS = 40  # places with a label; more would cover the map
LONGER_SIDE = 11.0  # inches


def draw_map(axes: Axes, drawn: Map, places: bool = True) -> None:
    """Draw the obstacles of a map into given axes.

    Args:
        axes: Matplotlib axes in metres.
        drawn: The map.
        places: Whether to draw its places, too.
    """
    from matplotlib.collections import LineCollection, PathCollection, PolyCollection

    blocks = assign_holes([c for c in map_polylines(drawn) if c.solid and c.closed])
    plain = [ring.points for ring, holes in blocks if not holes]
    holed = [_compound_path(ring, holes) for ring, holes in blocks if holes]
    style: Any = {"facecolor": SOLID, "edgecolor": "none", "zorder": 0.5}
    axes.add_collection(PathCollection(holed, **style))
    axes.add_collection(PolyCollection(plain, **style))
    scale = _line_scale(drawn)
    lines = drawn.segments.reshape(-1, 2, 2)
    for solid, width in ((True, 0.8), (False, 1.6)):
        chosen = lines[drawn.solid == solid]
        if len(chosen):
            collection = LineCollection(
                list(chosen), colors=INK, linewidths=width * scale, capstyle="round", zorder=1.0
            )
            axes.add_collection(collection)
    axes.autoscale_view()
    if places:
        _draw_places(axes, drawn.places)


def plot_map(drawn: Map) -> Figure:
    """Plot a map with its places and a scale in metres on both axes.

    Args:
        drawn: The map.

    Returns:
        A matplotlib figure.
    """
    from matplotlib.figure import Figure

    west, south, east, north = _extent(drawn)
    width, height = max(east - west, 1e-3), max(north - south, 1e-3)
    inches_per_metre = LONGER_SIDE / max(width, height)
    size = (
        max(4.0, width * inches_per_metre) + 0.8,
        max(2.4, height * inches_per_metre) + 0.8,
    )
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    draw_map(axes, drawn)
    margin = 0.02 * max(width, height)
    axes.set(xlim=(west - margin, east + margin), ylim=(south - margin, north + margin))
    axes.set(xlabel="x in m", ylabel="y in m", title=f"{drawn.name}: {len(drawn)} segments")
    axes.set_aspect("equal", adjustable="box")
    axes.grid(alpha=0.2, lw=0.5)
    axes.set_axisbelow(True)
    return figure


def _extent(drawn: Map) -> tuple[float, float, float, float]:
    """The bounds of obstacles and places together: west, south, east, north, m."""
    points = [drawn.segments.reshape(-1, 2)]
    points += [np.array([(p.x, p.y), *p.points]) for p in drawn.places]
    stacked = np.vstack(points)
    if not len(stacked):
        return -1.0, -1.0, 1.0, 1.0
    low, high = stacked.min(axis=0), stacked.max(axis=0)
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])


def _line_scale(drawn: Map) -> float:
    """The factor of line widths: lines of a dense map are thin, or they would merge."""
    return float(np.clip(40.0 / math.sqrt(len(drawn) + 1.0), 0.2, 1.0))


def _compound_path(ring: Polyline, holes: Sequence[Polyline]) -> Path:
    from matplotlib.path import Path

    return Path.make_compound_path(*(Path(_closed(r), closed=True) for r in (ring, *holes)))


def _closed(ring: Polyline) -> Array:
    return np.vstack([ring.points, ring.points[:1]])


def _draw_places(axes: Axes, places: Sequence[Place]) -> None:
    labelled = len(places) <= MAX_LABELS
    for kind in dict.fromkeys(place.kind for place in places):
        marker, colour = MARKERS.get(kind, OTHER_MARKER)
        spots = [place for place in places if place.kind == kind and not place.points]
        size = 11 if marker == "*" else 6
        x, y = [p.x for p in spots], [p.y for p in spots]
        style: Any = {
            "color": colour,
            "ms": size if labelled else 0.5 * size,
            "mec": "white",
            "mew": 0.6,
        }
        axes.plot(x, y, marker, zorder=3.0, ls="none", **style)
        for place in spots if labelled else ():
            _draw_label(axes, place.name or place.kind, (place.x, place.y), colour)
    for place in places:
        if place.points:
            _draw_area(axes, place, labelled)


def _draw_area(axes: Axes, place: Place, labelled: bool) -> None:
    points = np.array(place.points)
    if len(points) > 2:
        axes.fill(*points.T, fc=FORBIDDEN, ec=FORBIDDEN, alpha=0.18, hatch="///", zorder=0.8)
    axes.plot(*np.vstack([points, points[:1]]).T, "--", color=FORBIDDEN, lw=1.2, zorder=2.0)
    if labelled:
        _draw_label(axes, place.name or place.kind, tuple(points.mean(axis=0)), FORBIDDEN)


def _draw_label(axes: Axes, text: str, at: tuple[float, float], colour: str) -> None:
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
