"""What robots want: decisions made on what they know."""

from astray.autonomy.follow import Follow as Follow
from astray.autonomy.idle import Idle as Idle
from astray.autonomy.navigate import Navigate as Navigate
from astray.autonomy.remote import Remote as Remote
from astray.autonomy.scripted import Scripted as Scripted
from astray.autonomy.scripted import Step as Step
from astray.autonomy.wander import Wander as Wander
from astray.autonomy.waypoints import Waypoints as Waypoints
