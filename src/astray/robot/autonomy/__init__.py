"""What robots want: decisions made on what they know."""

from astray.robot.autonomy.follow import Follow
from astray.robot.autonomy.idle import Idle
from astray.robot.autonomy.navigate import Navigate
from astray.robot.autonomy.remote import RemoteAutonomy
from astray.robot.autonomy.scripted import Scripted, ScriptStep
from astray.robot.autonomy.wander import Wander
from astray.robot.autonomy.waypoints import Waypoints

__all__ = [
    "Follow",
    "Idle",
    "Navigate",
    "RemoteAutonomy",
    "ScriptStep",
    "Scripted",
    "Wander",
    "Waypoints",
]
