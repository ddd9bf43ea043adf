"""The parameters of astray as a ROS 2 node: `-p name:=value`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from astray.errors import WrongInput
from astray.ros.dds.distros import gid_size, usual_distro
from astray.ros.publishers import POSE_RATE

TOPICS = {"pose": "amcl_pose", "odometry": "odometry/filtered", "tf": "/tf"}
"""Where filters that people have say what they believe."""


@dataclass(frozen=True)
class DdsSettings:
    """How a run appears in ROS 2, and what it listens to."""

    localization: Literal["belief", "truth", "external"] = "belief"
    """Whose word `map → odom` is; in `external` it is left to others."""
    rate: float = POSE_RATE
    """Of poses and transforms, Hz of simulated time."""
    stamped_cmd_vel: bool = False
    """Whether `cmd_vel` is a TwistStamped."""
    timeout: float = 0.5
    """After which a robot that nobody commands stops, s; unless the scenario has one, or waits."""
    belief_from: Literal["pose", "odometry", "tf"] = "pose"
    """What a filter elsewhere, `estimator: {kind: remote}`, says its belief in."""
    belief_topic: str = ""
    """The topic of that; amcl_pose or odometry/filtered unless given."""
    own_types: bool = False
    """Whether readings that ROS 2 has no message for are said in messages of our own."""
    ros_distro: str = field(default_factory=usual_distro)
    """Which ROS 2 the others are: up to humble tools list nodes in another way."""

    def __post_init__(self) -> None:
        gid_size(self.ros_distro)
        for name in ("rate", "timeout"):
            if not getattr(self, name) > 0.0:
                raise WrongInput(f"-p {name}: it must be above 0, not {getattr(self, name):g}")

    @property
    def belief_heard_at(self) -> str:
        """The topic on which a filter elsewhere is heard."""
        return self.belief_topic or TOPICS[self.belief_from]
