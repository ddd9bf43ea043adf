"""What robots make of their detections of others: tracks."""

from astray.trackers.tracker import Tracker as Tracker
