"""Relocalisation: decides between the track and a pose elsewhere.

The track is the set of particles that follows odometry and scans from the start. Some scans that do
not fit are no proof that it is wrong: floor that the map lacks, people and new furniture do the
same, and somewhere on a large map any scan fits better. So the track is kept, and a second set of
particles searches the map. A likelihood ratio over new ground decides:

    doubt        w_fast < doubt · w_slow, the averages of how well scans fit the track, as the mean
                 q of their beams (augmented MCL; Thrun, Burgard and Fox, Probabilistic Robotics,
                 2005, section 8.3). The search begins: all its particles are thrown from the scan.
    candidate    the best mode of the search. One that the motion does not lead to from the last
                 candidate is another one, and its evidence begins at 0.
    evidence     S = max(S + (l_candidate − l_track) ds, 0), a CUSUM test (Page, 1954). The mean log
                 likelihood l of the beams of a scan allows for things that the map lacks, which
                 cut beams short. The new ground ds, m, is the distance from the nearest place that
                 counted for this candidate: standing, turning and circling prove nothing.
    decision     for the candidate: scans fit it CONVINCING times as well as usual, along MIN_GROUND
                 or more, and S is at least DECISIVE, and RATIO per metre. For the track: scans fit
                 it TRUSTED times as well as usual.

Until then the belief is that of the track, with the covariance of both: the candidate's share has
the log odds of S, and of the prior that robots are carried away less often than maps are wrong.

A robot without a start has no track to protect. It injects particles into the one set that it has,
by a share 1 − w_fast / (doubt · w_slow), until its pose has been as convincing for as long.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from astray.numerics import Pose, compose, exp, kernel, wrap
from astray.robot.estimators.mcl.particle_set import MODE_RADIUS, MODE_YAW
from astray.tables import Column, Row, columns

FAST = 0.2  # weight of the newest scan in w_fast
SLOW_RISE, SLOW_FALL = 0.02, 0.002  # and in w_slow
MAX_INJECTED = 0.5  # of the particles at once
INJECTED_PER_M = 0.5  # of the particles of the search, over the path
EXPECTED_Q = 0.5  # mean q of a beam before any scan
TRUSTED = 0.8  # times w_slow: how well scans have to fit a track that is not doubted any more
CONVINCING = 0.7  # times w_slow: how well they have to fit a candidate
RATIO = 0.4  # mean log likelihood ratio of a beam that decides
DECISIVE = 2.0  # m: that ratio, summed over new ground
MIN_GROUND = 2.5  # m of new ground before a decision
SETTLED_GROUND = 5.0  # m of new ground that make the pose of a robot without a start its track
PLACES = 64  # that are remembered
SPACING, MAX_STRIDE = 0.4, 1.0  # m: new ground is so far from all places; one scan counts so much
PRIOR_LOG_ODDS = 2.2  # of the track against a candidate without evidence: 9 to 1

CANDIDATE = columns(
    "candidate_x m",
    "candidate_y m",
    "candidate_yaw rad",
    "candidate_fast",  # w_fast of the search
    "candidate_fit m",  # mean q, summed over the new ground
    "evidence m",  # S
    "ground m",  # new ground since there is evidence for this candidate
    Column("places", "m", "f8", (PLACES, 2)),  # where scans counted, by dead reckoning
    Column("place_count", "", "i8"),
)
"""What is known of the candidate."""


class UpdateMotion(NamedTuple):
    """Dead reckoning from one update to the next."""

    step: Pose
    x: float
    """Where it ends, m."""
    y: float
    path: float
    """m."""


@kernel
def average_fit(memory: Row, q: float) -> None:
    """Update the averages by a scan of mean q.

    The long average rises faster than it falls: a robot that is lost must not get used to it.
    """
    memory.w_fast += FAST * (q - memory.w_fast)
    memory.w_slow += (SLOW_RISE if q > memory.w_slow else SLOW_FALL) * (q - memory.w_slow)


@kernel
def injected_share(fit: float, usual: float, most: float) -> float:
    """The share of particles to inject where scans fit less well than usual."""
    return min(max(1.0 - fit / usual, 0.0), most)


@kernel
def new_ground(memory: Row, motion: UpdateMotion) -> float:
    """How far the robot is from the places that counted, m; 0 if it is near one.

    A place that is not near becomes one of them.
    """
    nearest = math.inf
    for k in range(min(memory.place_count, PLACES)):
        dx, dy = motion.x - memory.places[k, 0], motion.y - memory.places[k, 1]
        nearest = min(nearest, dx * dx + dy * dy)
    if nearest < SPACING * SPACING:
        return 0.0
    slot = memory.place_count % PLACES
    memory.places[slot, 0], memory.places[slot, 1] = motion.x, motion.y
    memory.place_count += 1
    return min(math.sqrt(nearest), MAX_STRIDE)


@kernel
def clear_evidence(memory: Row, motion: UpdateMotion) -> None:
    """Begin without evidence at this place."""
    memory.candidate_fit = memory.evidence = memory.ground = 0.0
    memory.place_count = 0
    new_ground(memory, motion)


@kernel
def follow_candidate(memory: Row, pose: Pose, motion: UpdateMotion) -> bool:
    """Whether the motion leads from the last candidate to a pose, which is the candidate now."""
    last = (memory.candidate_x, memory.candidate_y, memory.candidate_yaw)
    expected = compose(last, motion.step)
    dx, dy = pose[0] - expected[0], pose[1] - expected[1]
    turn = wrap(pose[2] - expected[2])
    memory.candidate_x, memory.candidate_y, memory.candidate_yaw = pose
    return bool(dx * dx + dy * dy < MODE_RADIUS * MODE_RADIUS and abs(turn) < MODE_YAW)


@kernel
def add_evidence(
    memory: Row, motion: UpdateMotion, visible: float, fit: float, ratio: float
) -> None:
    """Add a scan to the evidence for the candidate.

    Args:
        memory: The row.
        motion: The motion to the place of the scan.
        visible: The share of its beams that hit something.
        fit: The mean q of these beams from the candidate.
        ratio: The mean log q of these beams from the candidate, less that from the track.
    """
    ground = visible * new_ground(memory, motion)
    memory.ground += ground
    memory.candidate_fit += ground * fit
    memory.evidence += ground * ratio
    if memory.evidence < 0.0:
        clear_evidence(memory, motion)


@kernel
def is_convincing(memory: Row, ground: float) -> bool:
    """Whether the scans of so much new ground fit the candidate about as well as usual."""
    enough = CONVINCING * memory.w_slow * memory.ground
    return bool(memory.ground >= ground and memory.candidate_fit >= enough)


@kernel
def has_won(memory: Row) -> bool:
    """Whether the evidence decides for the candidate."""
    enough = max(DECISIVE, RATIO * memory.ground)
    return bool(is_convincing(memory, MIN_GROUND) and memory.evidence >= enough)


@kernel
def candidate_probability(memory: Row) -> float:
    """How likely it is that the robot is not where the track is."""
    share = min(memory.evidence / DECISIVE, 2.0)
    return 1.0 / (1.0 + exp(PRIOR_LOG_ODDS * (1.0 - share)))
