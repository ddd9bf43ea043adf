"""A Pioneer on the wire: a client drives it by its odometer, and the odometer goes astray.

The same packets that an ARIA program would get come over a socket on this machine. In lockstep time
waits for the client, so that the program prints the same every time.
"""

import math
import sys

from astray.pioneer import Client, serving

HALL = {"walls": [[[-2, -2], [8, -2], [8, 6], [-2, 6], [-2, -2]]]}


def square(robot: Client, side: float) -> None:
    """Drive a square by moves and turns, as the robot believes."""
    for corner in range(1, 5):
        robot.move(side)
        robot.wait(1.0)
        robot.wait_for(lambda r: r.speed == 0.0)
        robot.turn_to(corner * math.pi / 2)
        robot.wait(6.0)


with serving("p3dx", map=HALL, start=(0.0, 0.0, 0.0), lockstep=True, speed=None, seed=2) as bridge:
    with Client(port=bridge.ports[0]) as robot:
        print(f"connected to a {robot.subclass} of {robot.siminfo().application}")
        robot.scan()
        square(robot, 3.0)
        x, y, _ = robot.odometry
        true_x, true_y, heading = robot.true_pose()
        print(f"after a square of 3 m it believes to be at ({x:.3f}, {y:.3f}) m")
        print(f"and is at ({true_x:.3f}, {true_y:.3f}) m, {math.degrees(heading):.0f} degrees")
        print(f"laser ahead {robot.laser[90]:.2f} m, sonars from {min(robot.sonar):.2f} m")
    if len(sys.argv) > 1:
        bridge.sim.plot().savefig(f"{sys.argv[1]}/pioneer.png")
