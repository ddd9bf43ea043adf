"""Autonomies: each file has one kind, which decides what a robot does from what it knows."""

from astray.robot.autonomy.follow import Follow
from astray.robot.autonomy.navigate import Navigate
from astray.robot.autonomy.remote import Idle, RemoteAutonomy
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
