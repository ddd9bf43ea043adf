"""A robot on ROS 2, without ROS 2: a node of our own hears its odometry and drives it.

Any node of ROS 2 on this machine could do the same, by the same topics. In lockstep time waits for
the commands, so that the program prints the same every time.
"""

import importlib.util
import sys
import threading

import astray

if importlib.util.find_spec("cyclonedds") is None:
    print("This example needs the bus of ROS 2: pip install 'astray[ros2]'")
    sys.exit()

from astray.ros import Arguments
from astray.ros.dds import Discovery, Node, connected
from astray.ros.messages import encode

TWIST, ODOMETRY = "geometry_msgs/msg/Twist", "nav_msgs/msg/Odometry"
BUS = Discovery(domain=42)  # the number that ROS_DOMAIN_ID names
WHEELS = {"kind": "wheels", "rate": 50, "radius_sd": 0.01}
ROVER = {"name": "rover", "autonomy": {"kind": "remote", "lockstep": 0.1}, "sensors": [WHEELS]}
sim = astray.load({"dt": 0.02, "duration": 10, "seed": 3, "robots": [ROVER]})


def drive(odometry):
    """Go to where the wheels say that 2 m are done; answer every tenth of a second."""
    stamp, left = odometry.header.stamp, 2.0 - odometry.pose.pose.position.x
    if stamp.nanosec % 100_000_000 == 0 and stamp.sec + stamp.nanosec > 0:
        wheel.write(encode(TWIST, {"linear": {"x": min(0.5, 0.8 * left)}}))


with connected(sim, discovery=BUS, say=print):
    node = Node(Arguments("driver"), BUS)
    node.hear("/odom", ODOMETRY, drive)
    wheel = node.publish("/cmd_vel", TWIST)
    threading.Thread(target=node.spin, daemon=True).start()
    sim.run()
    node.stop()
print(f"{len(sim.events)} commands were heard; the robot is at x = {sim.truth['x'][0]:.3f} m")
