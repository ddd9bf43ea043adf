"""Collisions: broadphase, time of impact, response, the log of contacts."""

from astray.interactions.collisions.collision_log import COLLISION
from astray.interactions.collisions.collisions import Collisions

__all__ = ["COLLISION", "Collisions"]
