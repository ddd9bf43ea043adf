"""What robots do to each other, and the world to them."""

from astray.interactions.collisions.collisions import Collisions as Collisions
