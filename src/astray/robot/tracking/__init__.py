"""What robots make of their detections of others: tracks."""

from astray.robot.tracking.tracker import MultiTargetTracker

__all__ = ["MultiTargetTracker"]
