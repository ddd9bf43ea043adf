"""Interactions of robots with each other and with the world, after all have moved: collisions."""

from astray.interactions.collisions import Collisions

__all__ = ["Collisions"]
