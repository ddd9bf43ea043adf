"""What robots believe of each other as messages: a type of our own, a sequence for each column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from astray.engine import Run
from astray.plugin import Tracks
from astray.ros.messages import OWN_PACKAGE, MessageLayout, declare
from astray.ros.names import MAP, RosRobot, world_frame
from astray.ros.publishers.generic import base_of
from astray.ros.publishers.poses import NewStamps, PeriodicPublisher
from astray.tables import TRACK, Array, Rows

TOPIC = "contacts/tracks"
FIELDS = {column: "seen" if column == "stamp" else column for column in TRACK.names or ()}
"""The field of each column; the stamp of the message is that of the whole belief."""


class TracksPublisher(PeriodicPublisher):
    """Says all slots of the tracks of each robot when they are of another time."""

    def __init__(
        self, robots: Sequence[RosRobot], tracks: Tracks, alive: Array, period: int
    ) -> None:
        slots = tracks.tracks.shape[1]
        sizes = {field: slots * _size(column) for column, field in FIELDS.items()}
        texts = {"header.frame_id": world_frame(robots[0], MAP)}
        layout, tables = MessageLayout(_type(), sizes, texts), [tracks.tracks, tracks.table]
        super().__init__(robots, TOPIC, layout, tables, period=period, alive=alive)
        self.words.text("header.frame_id", lambda robot: world_frame(robot, MAP))
        self.words.stamp(1)
        for column, field in FIELDS.items():
            self.words.column(field, 0, column)
        self._unsaid = NewStamps(tracks.stamp)

    def now(self, sim: Run) -> Rows:
        """Those who have learnt something."""
        return self._unsaid.among(super().now(sim))


def _size(column: str) -> int:
    return int(np.prod(TRACK[column].shape)) if TRACK[column].shape else 1


def _type() -> str:
    lines = [f"{base_of(TRACK[column])}[] {field}" for column, field in FIELDS.items()]
    return declare(f"{OWN_PACKAGE}/msg/Tracks", "\n".join(["std_msgs/Header header", *lines, ""]))
