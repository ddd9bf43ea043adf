"""The parameters of a run as a ROS 2 node, `-p name:=value`, and the distributions of ROS 2."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Literal

from astray.errors import WrongInput, suggest
from astray.ros.publishers import POSE_RATE

WITH_LONG_GIDS = ("foxy", "galactic", "humble")
DISTROS = (*WITH_LONG_GIDS, "iron", "jazzy", "kilted", "lyrical", "rolling")
BELIEF_TOPICS = {"pose": "amcl_pose", "odometry": "odometry/filtered", "tf": "/tf"}
"""The usual topic of an external filter, by the messages in which it publishes its belief."""


def gid_size(distro: str) -> int:
    """Bytes of an endpoint's address (gid) in ros_discovery_info.

    Args:
        distro: A distribution of ROS 2, such as "jazzy".

    Raises:
        WrongInput: There is no such distribution.
    """
    if distro not in DISTROS:
        known = ", ".join(DISTROS)
        raise WrongInput(f"ros_distro: no {distro!r}{suggest(distro, DISTROS)} ({known})")
    return 24 if distro in WITH_LONG_GIDS else 16


def default_distro() -> str:
    """The distribution that is set up in this shell, else jazzy."""
    distro = os.environ.get("ROS_DISTRO", "")
    return distro if distro in DISTROS else "jazzy"


@dataclass(frozen=True)
class DdsSettings:
    """The ROS 2 node of a run, and its subscriptions.

    Args:
        localization: What `map → odom` follows: the belief, the truth, or nothing (external), since
            another node publishes it.
        rate: How often poses and transforms are published, Hz of simulated time.
        stamped_cmd_vel: Whether `cmd_vel` is a TwistStamped.
        timeout: The time without a command after which a robot stops, s; unless the scenario gives
            one or the robot runs in lockstep.
        belief_from: The messages in which an external filter (`estimator: {kind: remote}`)
            publishes its belief.
        belief_topic: Their topic; `amcl_pose` or `odometry/filtered` unless given.
        own_types: Whether readings without a ROS 2 message type are published as types of our own.
        ros_distro: The distribution of the other nodes: up to humble, tools list nodes differently.

    Raises:
        WrongInput: A value is out of range.
    """

    localization: Literal["belief", "truth", "external"] = "belief"
    rate: float = POSE_RATE
    stamped_cmd_vel: bool = False
    timeout: float = 0.5
    belief_from: Literal["pose", "odometry", "tf"] = "pose"
    belief_topic: str = ""
    own_types: bool = False
    ros_distro: str = field(default_factory=default_distro)

    def __post_init__(self) -> None:
        gid_size(self.ros_distro)
        for name in ("rate", "timeout"):
            if not getattr(self, name) > 0.0:
                raise WrongInput(f"-p {name}: it must be above 0, not {getattr(self, name):g}")

    @property
    def filter_topic(self) -> str:
        """The topic on which an external filter publishes its belief."""
        return self.belief_topic or BELIEF_TOPICS[self.belief_from]
