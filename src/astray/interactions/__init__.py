"""Interactions: what robots do to each other and the world does to them, after all have moved."""

from astray.interactions.collisions import Collisions

__all__ = ["Collisions"]
