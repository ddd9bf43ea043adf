"""What robots do to each other, and the world to them."""

from astray.interactions.collisions import Collisions

__all__ = ["Collisions"]
