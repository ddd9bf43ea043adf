"""Footprints, polygons, distances, and the grids that make them fast."""

from astray.world.geometry.cell_grid import cell_columns, cell_rows
from astray.world.geometry.contours import trace_cell_contours, trace_mask_contours
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
from astray.world.geometry.point_in_polygon import Solids, build_solids, winding_number
from astray.world.geometry.polylines import Polyline, assign_holes, map_polylines
from astray.world.geometry.rasterize import cells_crossed, rasterise
from astray.world.geometry.robot_grid import (
    RobotGrid,
    build_robot_grid,
    fill_cells,
    lay_grids,
    make_robot_grid,
)
from astray.world.geometry.segment_index import (
    ROUNDING_FACTOR,
    SegmentIndex,
    build_segment_index,
    padded,
)

__all__ = [
    "ROUNDING_FACTOR",
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
    "assign_holes",
    "build_robot_grid",
    "build_segment_index",
    "build_solids",
    "cell_columns",
    "cell_rows",
    "cells_crossed",
    "crossings",
    "fill_cells",
    "from_point",
    "lay_grids",
    "list_near_segments",
    "make_nearest_segments",
    "make_robot_grid",
    "make_shapes",
    "map_polylines",
    "nearest_segment_distance",
    "padded",
    "rasterise",
    "separation",
    "squared_distance",
    "trace_cell_contours",
    "trace_mask_contours",
    "winding_number",
]
