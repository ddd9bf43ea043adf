"""Footprints, polygons, distances, and the grids that make them fast."""

from astray.world.geometry.cell_grid import in_reach
from astray.world.geometry.contours import outline_of_cells, outline_of_mask
from astray.world.geometry.distance import (
    Line,
    Piece,
    crossings,
    from_point,
    separation,
    squared_distance,
)
from astray.world.geometry.footprint import Footprint, Shapes, make_shapes
from astray.world.geometry.nearest_segments import (
    Disc,
    NearestSegments,
    list_near_segments,
    make_nearest_segments,
    nearest_segment_distance,
)
from astray.world.geometry.point_in_polygon import Solids, solids_of, winding_number
from astray.world.geometry.polylines import Polyline, polylines_of, with_holes
from astray.world.geometry.rasterize import cells_along, rasterise
from astray.world.geometry.robot_grid import (
    RobotGrid,
    build_robot_grid,
    fill_cells,
    lay_grids,
    make_robot_grid,
)
from astray.world.geometry.segment_index import SURELY, SegmentIndex, build_segment_index, padded

__all__ = [
    "SURELY",
    "Disc",
    "Footprint",
    "Line",
    "NearestSegments",
    "Piece",
    "Polyline",
    "RobotGrid",
    "SegmentIndex",
    "Shapes",
    "Solids",
    "build_robot_grid",
    "build_segment_index",
    "cells_along",
    "crossings",
    "fill_cells",
    "from_point",
    "in_reach",
    "lay_grids",
    "list_near_segments",
    "make_nearest_segments",
    "make_robot_grid",
    "make_shapes",
    "nearest_segment_distance",
    "outline_of_cells",
    "outline_of_mask",
    "padded",
    "polylines_of",
    "rasterise",
    "separation",
    "solids_of",
    "squared_distance",
    "winding_number",
    "with_holes",
]
