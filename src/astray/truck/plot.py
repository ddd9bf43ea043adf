"""A truck as a picture: where it drove, where it is, and what its lidar sees from there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from astray.engine import Paths
from astray.plots import BELIEF_COLOUR, COLOURS, draw_map
from astray.tables import Array
from astray.truck.model import LIDAR_FRAME, Model
from astray.world import Map

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SEEN = "#d55e00"


def plot_truck(model: Model, path: Paths, ranges: Array, around: Map) -> Figure:
    """The path of one truck, (moments, 1, 3) of its rear axle, and a scan from its last pose."""
    from matplotlib.figure import Figure

    true = _ahead(path.truth[:, 0], model.wheel_base.base_to_rear)
    figure = Figure(figsize=(8.0, _height(true, around)), layout="constrained")
    axes = figure.subplots()
    if len(around):
        draw_map(axes, around, places=False)
    _draw_scan(axes, model, path.truth[-1, 0], ranges)
    axes.plot(true[:, 0], true[:, 1], color=COLOURS[0], lw=1.8, label="path of the base")
    for who, belief in path.beliefs.items():
        believed = _ahead(belief[:, 0], model.wheel_base.base_to_rear)
        axes.plot(believed[:, 0], believed[:, 1], "--", color=BELIEF_COLOUR, lw=1.1, label=who)
    _draw_body(axes, model, path.truth[-1, 0])
    axes.set(xlabel="x in m", ylabel="y in m")
    axes.set_aspect("equal", adjustable="box")
    axes.grid(alpha=0.25)
    figure.legend(fontsize="small", loc="outside lower center", ncols=3)
    return figure


def _height(path: Array, around: Map) -> float:
    """The height of a picture that is eight inches wide."""
    points = np.vstack([path, around.segments.reshape(-1, 2)])
    wide, high = np.ptp(points, axis=0) + 1.0
    return float(min(max(7.0 * high / wide + 1.2, 3.0), 9.0))


def _ahead(poses: Array, way: float) -> Array:
    """Where the point is that lies some metres ahead of each pose, (n, 2)."""
    yaw = poses[:, 2]
    return np.asarray(poses[:, :2] + way * np.stack([np.cos(yaw), np.sin(yaw)], axis=-1))


def _draw_scan(axes: Axes, model: Model, pose: Array, ranges: Array) -> None:
    from matplotlib.collections import LineCollection

    eye, seen = model.mount(LIDAR_FRAME), np.flatnonzero(np.isfinite(ranges))
    if not len(seen):
        return
    c, s = np.cos(pose[2]), np.sin(pose[2])
    at = np.array([pose[0] + c * eye.x - s * eye.y, pose[1] + s * eye.x + c * eye.y])
    degrees = model.lidar.angle_min + seen * model.lidar.angle_increment
    angles = pose[2] + eye.yaw + np.radians(degrees)
    points = at + ranges[seen, None] * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    some = points[:: max(1, len(points) // 120)]
    rays = np.stack([np.broadcast_to(at, some.shape), some], axis=1)
    axes.add_collection(LineCollection(list(rays), colors=SEEN, alpha=0.15, linewidths=0.6))
    axes.plot(points[:, 0], points[:, 1], ".", color=SEEN, ms=1.6, label="lidar")


def _draw_body(axes: Axes, model: Model, pose: Array) -> None:
    shape, ahead = model.shape, model.wheel_base.base_to_rear
    front, back = ahead + shape.length - shape.base_to_rear, ahead - shape.base_to_rear
    half = 0.5 * shape.width
    u = np.array([back, front, front, back, back])
    v = np.array([-half, -half, half, half, -half])
    c, s = np.cos(pose[2]), np.sin(pose[2])
    x, y = pose[0] + c * u - s * v, pose[1] + s * u + c * v
    axes.fill(x, y, color=COLOURS[0], alpha=0.35)
    axes.plot(x, y, color=COLOURS[0], lw=1.2)
    axes.plot(x[1:3], y[1:3], color=SEEN, lw=2.2)  # the front
