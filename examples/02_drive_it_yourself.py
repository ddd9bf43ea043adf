"""Drive it yourself: a loop of your own that follows a line by what the robot believes.

The controller sees the belief alone, as on a real robot. It holds the line there. The wheels slip,
and so the truth leaves the line without anyone noticing.
"""

import sys
import tempfile
from pathlib import Path

import astray

LINE = 1.0  # m, the y that the robot is to keep

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())

sim = astray.load("remote")
rover = sim.robots["rover"]
for time in sim.ticks(30):  # 30 simulated seconds, tick by tick
    x, y, yaw = (rover.belief[column][0] for column in ("x", "y", "yaw"))
    rover.drive(0.5, 0.8 * (LINE - y) - 1.5 * yaw)  # m/s and rad/s, from the next tick on
    if round(time / sim.dt) % 500 == 0:
        is_at = rover.truth["y"][0]
        print(f"t = {time:4.1f} s   x = {x:5.2f} m   believes y = {y:.2f} m, is at {is_at:.2f} m")

rover.go(-2.0)  # a straight move, closed on the belief by the robot's servo
sim.run(8)
print(f"after backing up 2 m it believes x = {rover.belief['x'][0]:.2f} m")
print(f"the encoders say {rover.readings['wheels']['angle'][0, :2].round(1)} rad")

sim.plot().savefig(folder / "line.png")
print(f"picture: {folder / 'line.png'}")
