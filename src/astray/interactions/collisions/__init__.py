"""Collisions: broadphase, time of impact, response, the log of contacts."""

from astray.interactions.collisions.collision_log import HIT
from astray.interactions.collisions.collisions import Collisions

__all__ = ["HIT", "Collisions"]
