"""A plot of a truck: the map, its path, its body, and the scan of its lidar."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from astray.plots import BELIEF_COLOUR, COLOURS, draw_map
from astray.tables import Array
from astray.truck.model import LIDAR_FRAME, Model
from astray.world import Map

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SCAN_COLOUR = "#d55e00"
MAX_RAYS = 120  # that are drawn as lines


def plot_truck(
    model: Model, truth: Array, beliefs: Mapping[str, Array], ranges: Array, map: Map
) -> Figure:
    """Draw the rear-axle poses of truth and beliefs, (n, 3), and a scan from the last one."""
    from matplotlib.figure import Figure

    path = _points_ahead(truth, model.wheel_base.base_to_rear)
    figure = Figure(figsize=(8.0, _figure_height(path, map)), layout="constrained")
    axes = figure.subplots()
    if len(map):
        draw_map(axes, map, places=False)
    _draw_scan(axes, model, truth[-1], ranges)
    axes.plot(path[:, 0], path[:, 1], color=COLOURS[0], lw=1.8, label="path of the base")
    for name, belief in beliefs.items():
        points = _points_ahead(belief, model.wheel_base.base_to_rear)
        axes.plot(points[:, 0], points[:, 1], "--", color=BELIEF_COLOUR, lw=1.1, label=name)
    _draw_body(axes, model, truth[-1])
    axes.set(xlabel="x in m", ylabel="y in m")
    axes.set_aspect("equal", adjustable="box")
    axes.grid(alpha=0.25)
    figure.legend(fontsize="small", loc="outside lower center", ncols=3)
    return figure


def _figure_height(path: Array, map: Map) -> float:
    """The height of a figure that is eight inches wide, inches."""
    points = np.vstack([path, map.segments.reshape(-1, 2)])
    width, height = np.ptp(points, axis=0) + 1.0
    return float(min(max(7.0 * height / width + 1.2, 3.0), 9.0))


def _points_ahead(poses: Array, distance: float) -> Array:
    """The point at a distance ahead of each pose, (n, 2)."""
    yaw = poses[:, 2]
    return np.asarray(poses[:, :2] + distance * np.stack([np.cos(yaw), np.sin(yaw)], axis=-1))


def _draw_scan(axes: Axes, model: Model, pose: Array, ranges: Array) -> None:
    from matplotlib.collections import LineCollection

    mount, hits = model.mount(LIDAR_FRAME), np.flatnonzero(np.isfinite(ranges))
    if not len(hits):
        return
    c, s = np.cos(pose[2]), np.sin(pose[2])
    x, y = c * mount.x - s * mount.y, s * mount.x + c * mount.y
    origin = np.array([pose[0] + x, pose[1] + y])
    degrees = model.lidar.angle_min + hits * model.lidar.angle_increment
    angles = pose[2] + mount.yaw + np.radians(degrees)
    points = origin + ranges[hits, None] * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    drawn = points[:: max(1, len(points) // MAX_RAYS)]
    rays = np.stack([np.broadcast_to(origin, drawn.shape), drawn], axis=1)
    axes.add_collection(LineCollection(list(rays), colors=SCAN_COLOUR, alpha=0.15, linewidths=0.6))
    axes.plot(points[:, 0], points[:, 1], ".", color=SCAN_COLOUR, ms=1.6, label="lidar")


def _draw_body(axes: Axes, model: Model, pose: Array) -> None:
    shape, base = model.shape, model.wheel_base.base_to_rear
    front, back = base + shape.length - shape.base_to_rear, base - shape.base_to_rear
    half = 0.5 * shape.width
    u = np.array([back, front, front, back, back])
    v = np.array([-half, -half, half, half, -half])
    c, s = np.cos(pose[2]), np.sin(pose[2])
    x, y = pose[0] + c * u - s * v, pose[1] + s * u + c * v
    axes.fill(x, y, color=COLOURS[0], alpha=0.35)
    axes.plot(x, y, color=COLOURS[0], lw=1.2)
    axes.plot(x[1:3], y[1:3], color=SCAN_COLOUR, lw=2.2)  # the front
