"""What robots want: decisions made on what they know."""

from astray.robot.autonomy.follow import Follow as Follow
from astray.robot.autonomy.idle import Idle as Idle
from astray.robot.autonomy.navigate.navigate import Navigate as Navigate
from astray.robot.autonomy.remote import RemoteAutonomy as RemoteAutonomy
from astray.robot.autonomy.scripted import Scripted as Scripted
from astray.robot.autonomy.scripted import ScriptStep as ScriptStep
from astray.robot.autonomy.wander import Wander as Wander
from astray.robot.autonomy.waypoints import Waypoints as Waypoints
