"""Collisions: broadphase, time of impact, response, the log of contacts."""
