"""Tracking: detections of other robots turned into tracks of their positions and velocities."""

from astray.robot.tracking.tracker import MultiTargetTracker

__all__ = ["MultiTargetTracker"]
