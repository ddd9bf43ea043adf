"""Footprints, polygons, distances, and the grids that make them fast."""
