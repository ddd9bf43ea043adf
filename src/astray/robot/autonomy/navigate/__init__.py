"""Driving to goals: a plan over the known map, and the tracking of its path."""

from astray.robot.autonomy.navigate.navigate import Navigate
from astray.robot.autonomy.navigate.plan_cache import spots_of

__all__ = ["Navigate", "spots_of"]
