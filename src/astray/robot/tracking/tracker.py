"""From detections to tracks: who is around, where, how fast, and how sure the robot is of it.

    place      each detection in the map, from where the robot believes to be    polar.py
    coast      each track to the stamp of the reading                            moving.py
    pair       detections with tracks                                            pairing.py
    take in    correct the tracks that were seen, begin new ones                 keeping.py
    report     those that are there, with the covariance of the believer         polar.py

Tracks are in the map frame as the believer has it. Its own error is not averaged away by looking
again and again, as the noise of a sensor is: it is left out of the filter and added to the
covariance that is reported. What it changes by between looks lets tracks be less sure; see
wandering.py.
"""

from __future__ import annotations

import threading
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Le, Lt

from astray import plugin
from astray.errors import PluginError
from astray.numerics import TAU, exp, kernel, log
from astray.plugin import Datasheet, Datasheets, Known, NonNegative, Positive, Tracks
from astray.robot.tracking.association import NOBODY, choose, possible_pairs
from astray.robot.tracking.constant_velocity import FIELDS, IDENTITY, KEPT, TRACK, coast
from astray.robot.tracking.ego_drift import own, shake, wander
from astray.robot.tracking.ego_history import LENGTH, note, pose_at
from astray.robot.tracking.polar_conversion import Noise, Pose, mounted, place
from astray.robot.tracking.track_lifecycle import FREE, report, review, take_in
from astray.tables import CONTACTS, Array, Column, Row, Rows, Table, columns

OTHERS = 10.0  # whom one may be taken for instead, as the cost of an identity counts them
TINY = 1e-12  # m² of a field, and false alarms in one
LEAST_CONFUSED = 1e-3  # no one is never wrong
MEMORY = columns(
    Column("started", "", "?"),
    "stamp s",
    Column("used", "", "i8"),
    Column("numbered", "", "i8"),
    Column("noted", "", "i8"),
    "own_x m",
    "own_y m",
    Column("own", "m², m·rad, rad²", "f8", (6,)),
    Column("wander", "m², m·rad, rad²", "f8", (6,)),
)
"""Whether and when detections were last taken in, the slots from the first to the last one in use,
tracks that got a number, own poses noted; where the robot last believed to be, the covariance of
that, and of what its error changed by since the last look, as xx xy yy, x·yaw y·yaw, yaw²."""

Tables = tuple[Table, Table, Table, Table, Table, Table]
"""TRACKS and TRACK as told, tracks as kept, memory, parameters and the own belief."""
Found = tuple[Table, Array, Array, Array]
"""Readings, and range, bearing and identity beside them."""
Room = tuple[Array, Array, Array]
"""For the detections and the pairs of one robot, and the trails of all."""
How = tuple[Pose, Noise, float, float, int]
"""The mount, the noise of the sensor, the costs of another identity and of a false alarm, and the
sensor's number."""


@kernel
def place_all(found: Array, reading: Found, i: int, mount: Pose, noise: Noise) -> int:
    """Put the detections of one robot into the map; how many they are."""
    count = int(reading[0][i].count)
    for j in range(count):
        spot = place(reading[1][i, j], reading[2][i, j], mount, noise)
        for k in range(5):
            found[k, j] = spot[k]
        found[IDENTITY, j], found[TRACK, j] = reading[3][i, j], NOBODY
    return count


@kernel
def coast_all(mine: Table, m: Row, stamp: float, q: float, pose: Pose) -> None:
    """Let the tracks of one robot go on to a moment, at which it believes to be at this pose."""
    elapsed = stamp - m.stamp if m.started else 0.0
    m.started, m.stamp = True, stamp
    if elapsed > 0.0:
        for k in range(m.used):
            if mine[k].state != FREE:
                coast(mine[k], elapsed, q)
                shake(mine[k], m, pose)
        for k in range(6):
            m.wander[k] = 0.0


@kernel
def track_all(tables: Tables, reading: Found, room: Room, rows: Rows, how: How) -> None:
    """Take in what is fresh of these rows."""
    told, tracks, kept, memory, params, belief = tables
    found, pairs, trails = room
    for i in rows:
        o, m, p, b = reading[0][i], memory[i], params[i], belief[i]
        if not o.fresh or (m.started and o.stamp < m.stamp):
            continue  # what was seen before the tracks are is of no use to them
        pose = pose_at(trails[i], m, b, o.stamp)
        mount = mounted(pose, how[0])
        mine = kept[i]
        coast_all(mine, m, o.stamp, p.accel_density, pose)
        count = place_all(found, reading, i, mount, how[1])
        gate = -2.0 * log(1.0 - p.gate)  # of chi-square with two degrees of freedom
        n = possible_pairs(pairs, mine, m.used, found, count, (gate, how[2], how[3]))
        choose(pairs, n, found)
        look = (mount, o.stamp, how[4], gate)
        take_in(mine, m, p, found, count, look)
        review(mine, m, p, o, look)
        report(told[i], tracks[i], mine, m, b, pose)


@kernel
def note_all(trails: Array, memory: Table, belief: Table, rows: Rows, apart: float) -> None:
    """Note where these rows believe to be, and how sure they are."""
    for i in rows:
        b, m = belief[i], memory[i]
        if m.started:
            wander(m, b)
        else:
            own(m, b)
        if apart > 0.0:
            note(trails[i], m, b, apart)


class MultiTargetTracker(plugin.Tracker, kind="tracker"):
    """Tracks of others at nearly constant velocity, from range and bearing, with covariance."""

    remembers = MEMORY
    rows_per_thread = 256
    accel_density: NonNegative = 0.5  # m/s²/√Hz, white acceleration of the others
    speed_sd: Positive = 1.0  # m/s, of the velocity of who is seen for the first time, x and y
    gate: Annotated[float, Gt(0), Lt(1)] = 0.999  # probability that a track's own detection passes
    hits: Annotated[int, Ge(1), Le(1000)] = 3  # that confirm a track
    looks: Annotated[int, Ge(1), Le(1000)] = 5  # in which they have to come
    coast: Positive = 3.0  # s that a track is kept without being seen

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Find the sensors that detect others, and make room for the tracks."""
        if self.hits > self.looks:
            raise PluginError(f"{self.hits} hits cannot come in {self.looks} looks")
        self.sources = tuple(k for k, sheet in sheets.items() if sheet.measures == CONTACTS)
        if not self.sources:
            raise PluginError("tracker needs a sensor that detects others, and the robot has none")
        self.hows = [_how(sheets[name], k) for k, name in enumerate(self.sources)]
        most = max(int(sheets[name]["slots"]) for name in self.sources)
        self.latest = max(
            float(sheets[name]["latency"] + sheets[name]["jitter"]) for name in self.sources
        )
        self.arrays["kept"] = np.zeros((n, self.slots), KEPT)
        self.arrays["trail"] = np.zeros((n, LENGTH if self.latest else 0, 4))
        self.detections, self._room = most, threading.local()

    def track(self, rows: Rows, known: Known, contacts: Tracks) -> None:
        """Take in the fresh detections of these rows."""
        if not hasattr(self._room, "room"):  # one for each thread
            pairs = np.empty((self.detections * self.slots, 4))
            self._room.room = (np.empty((FIELDS, self.detections)), pairs)
        room = (*self._room.room, self.arrays["trail"])
        kept, belief = self.arrays["kept"], known.belief
        note_all(room[2], self.memory, belief, rows, 2.0 * self.latest / LENGTH)
        tables = (contacts.table, contacts.tracks, kept, self.memory, self.params, belief)
        for name, how in zip(self.sources, self.hows, strict=True):
            reading = known.readings[name]
            a = reading.arrays
            found = (reading.table, a["range"], a["bearing"], a["identity"])
            track_all(tables, found, room, rows, how)


def _how(sheet: Datasheet, number: int) -> How:
    """What a tracker has to know of a sensor."""
    confused = max(float(sheet["confusion"]), LEAST_CONFUSED)
    strange = -2.0 * log(confused / OTHERS)
    mount = (float(sheet["x"]), float(sheet["y"]), float(sheet["yaw"]))
    shrink = exp(-0.5 * float(sheet["bearing_sd"]) ** 2)
    noise = (float(sheet["range_sd"]), float(sheet["range_sd_per_m"]), 1.0 / shrink, shrink**4)
    field = 0.5 * float(sheet["field_of_view"])  # times the square of a range is an area
    area = field * (float(sheet["max_range"]) ** 2 - float(sheet["min_range"]) ** 2)
    alarms = float(sheet["false_alarms"]) / max(area, TINY)
    false = -2.0 * log(max(alarms, TINY)) - 2.0 * log(TAU)
    return mount, noise, strange, false, number
