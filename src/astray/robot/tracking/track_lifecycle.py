"""The lifecycle of tracks: tentative, confirmed, hidden, deleted.

A detection that belongs to no track starts a tentative one. It is confirmed, and gets a number for
life, once it was detected in `hits` of its first `looks` looks, and is deleted as soon as that is
impossible (M of N logic); most false alarms are. A look counts only if the track was in the
field of view of the sensor. A confirmed track that is not detected is predicted for `coast` seconds
and then deleted.

The gate of such a track widens until any false alarm may be inside. So a hidden track, which missed
some looks of the sensor that detected it last, is not updated by the first detection in its gate.
It is by the next one that follows from the first at the velocity of the track: noise seldom does.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from astray.numerics import Pose, atan2, inlined_kernel, kernel, wrap
from astray.robot.tracking.constant_velocity import (
    DET_X,
    DET_XX,
    DET_XY,
    DET_Y,
    DET_YY,
    IDENTITY,
    TRACK,
    UU,
    UV,
    VV,
    kalman_update,
    start_track,
)
from astray.robot.tracking.ego_pose import write_map_covariance
from astray.tables import Array, Row, Table

FREE, TENTATIVE, CONFIRMED = range(3)
"""The status of a slot."""
MAX_HITS = 10_000  # that are counted
MAX_VOTES = 10  # for an identity, so that a lasting change is noticed
HIDDEN = 3  # missed looks, from which on a track is hidden


class Look(NamedTuple):
    """One reading of a sensor of other robots."""

    mount: Pose
    """In the map, by the belief."""
    stamp: float
    source: int
    """The number of the sensor."""
    gate: float


@inlined_kernel
def vote_for_identity(track: Row, identity: int) -> None:
    """Count a detected identity: the track has the one that is detected most often."""
    if identity < 0:
        return
    if identity == track.identity:
        track.votes = min(track.votes + 1, MAX_VOTES)
    elif track.votes > 0:
        track.votes -= 1
    else:
        track.identity, track.votes = identity, 1


@kernel
def is_in_view(track: Row, reading: Row, mount: Pose) -> bool:
    """Whether a track is in the field of view of a sensor."""
    dx, dy = track.x - mount[0], track.y - mount[1]
    distance = math.sqrt(dx * dx + dy * dy)
    if distance > reading.max_range or distance < reading.min_range:
        return False
    return bool(abs(wrap(atan2(dy, dx) - mount[2])) <= 0.5 * reading.field_of_view)


@inlined_kernel
def is_reappearance(track: Row, detections: Array, j: int, look: Look) -> bool:
    """Whether a detection of a hidden track follows from its candidate, which it replaces."""
    stamp = look.stamp
    t = stamp - track.candidate_stamp
    dx = detections[DET_X, j] - track.candidate_x - t * track.map_vx
    dy = detections[DET_Y, j] - track.candidate_y - t * track.map_vy
    track.candidate_stamp = stamp
    track.candidate_x, track.candidate_y = detections[DET_X, j], detections[DET_Y, j]
    if not t < stamp - track.last_seen:  # there was no candidate since it was last seen
        return False
    sxx = 2.0 * detections[DET_XX, j] + t * t * track.cov[UU]
    sxy = 2.0 * detections[DET_XY, j] + t * t * track.cov[UV]
    syy = 2.0 * detections[DET_YY, j] + t * t * track.cov[VV]
    square = syy * dx * dx - 2.0 * sxy * dx * dy + sxx * dy * dy
    return bool(square <= look.gate * (sxx * syy - sxy * sxy))


@kernel
def find_slot(tracks: Table, memory: Row) -> int:
    """A free slot, else that of the newest tentative track; −1 if all are confirmed."""
    found = -1
    for k in range(memory.used):
        if tracks[k].status == FREE:
            return k
        if tracks[k].status == TENTATIVE and (
            found < 0 or tracks[k].first_seen > tracks[found].first_seen
        ):
            found = k
    if memory.used < len(tracks):
        memory.used += 1
        return int(memory.used - 1)
    return found


@kernel
def update_tracks(
    tracks: Table, memory: Row, p: Row, detections: Array, count: int, look: Look
) -> None:
    """Update the tracks that were detected, and start tracks by unassigned detections."""
    for j in range(count):
        slot = int(detections[TRACK, j])
        if slot >= 0:
            track = tracks[slot]
            is_hidden = track.status == CONFIRMED and track.missed >= HIDDEN
            if is_hidden and not is_reappearance(track, detections, j, look):
                continue
            kalman_update(track, detections, j)
            track.hits = min(track.hits + 1, MAX_HITS)
        else:
            slot = find_slot(tracks, memory)
            if slot < 0:
                continue
            track = tracks[slot]
            if track.status == TENTATIVE and track.first_seen == look.stamp:
                continue
            start_track(track, detections, j, p.speed_sd)
            track.status, track.number, track.identity, track.votes = TENTATIVE, 0, -1, 0
            track.first_seen, track.candidate_stamp = look.stamp, look.stamp
            track.hits, track.looks = 1, 0
        vote_for_identity(track, int(detections[IDENTITY, j]))
        track.last_seen, track.source, track.missed = look.stamp, look.source, -1


@kernel
def confirm_and_delete(tracks: Table, memory: Row, p: Row, reading: Row, look: Look) -> None:
    """Confirm and delete tracks after a look."""
    for j in range(memory.used):
        track = tracks[j]
        if track.source == look.source:
            track.missed += 1
        if track.status == TENTATIVE:
            if track.last_seen == look.stamp or is_in_view(track, reading, look.mount):
                track.looks += 1
            misses = track.looks - track.hits
            if track.hits >= p.hits:
                track.status = CONFIRMED
                memory.numbered += 1
                track.number = memory.numbered
            elif misses > p.looks - p.hits or look.stamp - track.last_seen > p.coast:
                track.status = FREE
        elif track.status == CONFIRMED and look.stamp - track.last_seen > p.coast:
            track.status = FREE


@kernel
def publish_tracks(
    summary: Row, out: Table, tracks: Table, memory: Row, belief: Row, pose: Pose
) -> None:
    """Write the TRACKS and TRACK rows of an observer at a pose."""
    stamp = memory.stamp
    summary.stamp, summary.count = stamp, 0
    for j in range(memory.used):
        track, t = tracks[j], out[j]
        if track.status == FREE:
            if t.stamp == t.stamp:
                clear_slot(t)
            continue
        t.number, t.identity, t.source = track.number, track.identity, track.source
        t.confirmed = track.status == CONFIRMED
        t.stamp, t.age, t.unseen = stamp, stamp - track.first_seen, stamp - track.last_seen
        t.x, t.y, t.map_vx, t.map_vy = track.x, track.y, track.map_vx, track.map_vy
        write_map_covariance(t, track, belief, pose)
        if t.confirmed:
            summary.count += 1
    while memory.used > 0 and tracks[memory.used - 1].status == FREE:
        memory.used -= 1


@kernel
def clear_slot(t: Row) -> None:
    """Clear a published slot."""
    t.number, t.identity, t.confirmed, t.source = 0, -1, False, 0
    t.stamp = t.age = t.unseen = t.x = t.y = t.map_vx = t.map_vy = math.nan
    for a in range(4):
        for c in range(4):
            t.cov[a, c] = math.nan
