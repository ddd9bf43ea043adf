"""Navigation: plans over the known map, and the tracking of their paths."""

from astray.robot.autonomy.navigate.navigate import Navigate
from astray.robot.autonomy.navigate.plan_cache import goal_positions

__all__ = ["Navigate", "goal_positions"]
