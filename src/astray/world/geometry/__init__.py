"""Footprints, segments and polygons, rasters, and the grids that make searches among them fast."""

from astray.world.geometry.footprint import Footprint, Shapes, make_shapes
from astray.world.geometry.grids import (
    RobotGrid,
    build_robot_grid,
    cell_columns,
    cell_rows,
    fill_robot_grid,
    make_robot_grid,
)
from astray.world.geometry.polygons import (
    Polyline,
    Solids,
    assign_holes,
    build_solids,
    crosses_right_of,
    map_polylines,
    winding_number,
)
from astray.world.geometry.raster import (
    cells_crossed,
    rasterise,
    trace_cell_contours,
    trace_mask_contours,
)
from astray.world.geometry.segment_index import (
    ROUNDING_FACTOR,
    NearestSegments,
    NearQuery,
    SegmentIndex,
    build_segment_index,
    list_near_segments,
    make_nearest_segments,
    nearest_segment_distance,
    padded_count,
)
from astray.world.geometry.segments import (
    Capsule,
    Segment,
    Separation,
    point_segment_separation,
    segment_separation,
    squared_distance,
)

__all__ = [
    "ROUNDING_FACTOR",
    "Capsule",
    "Footprint",
    "NearQuery",
    "NearestSegments",
    "Polyline",
    "RobotGrid",
    "Segment",
    "SegmentIndex",
    "Separation",
    "Shapes",
    "Solids",
    "assign_holes",
    "build_robot_grid",
    "build_segment_index",
    "build_solids",
    "cell_columns",
    "cell_rows",
    "cells_crossed",
    "crosses_right_of",
    "fill_robot_grid",
    "list_near_segments",
    "make_nearest_segments",
    "make_robot_grid",
    "make_shapes",
    "map_polylines",
    "nearest_segment_distance",
    "padded_count",
    "point_segment_separation",
    "rasterise",
    "segment_separation",
    "squared_distance",
    "trace_cell_contours",
    "trace_mask_contours",
    "winding_number",
]
