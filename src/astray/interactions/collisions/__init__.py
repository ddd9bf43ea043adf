"""Collisions of robots with walls and each other: broadphase, time of impact, response, log."""

from astray.interactions.collisions.collision_log import COLLISION
from astray.interactions.collisions.collisions import Collisions

__all__ = ["COLLISION", "Collisions"]
