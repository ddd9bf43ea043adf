"""A robot in ROS 2 without ROS 2: a node subscribes to its odometry and drives it.

Any ROS 2 node on this machine could do the same with the same topics. In lockstep time waits for
the commands, so the program always prints the same.
"""

import importlib.util
import sys
import threading

import astray

if importlib.util.find_spec("cyclonedds") is None:
    print("This example needs DDS: pip install 'astray[ros2]'")
    sys.exit()

from astray.ros import Arguments
from astray.ros.dds import Discovery, Node, connected
from astray.ros.messages import encode

TWIST, ODOMETRY = "geometry_msgs/msg/Twist", "nav_msgs/msg/Odometry"
DOMAIN = Discovery(domain=42)  # ROS_DOMAIN_ID
WHEELS = {"kind": "wheels", "rate": 50, "radius_sd": 0.01}
ROVER = {"name": "rover", "autonomy": {"kind": "remote", "lockstep": 0.1}, "sensors": [WHEELS]}
sim = astray.load({"dt": 0.02, "duration": 10, "seed": 3, "robots": [ROVER]})


def drive(odometry):
    """Drive 2 m by the odometry; publish a command every tenth of a second."""
    stamp, left = odometry.header.stamp, 2.0 - odometry.pose.pose.position.x
    if stamp.nanosec % 100_000_000 == 0 and stamp.sec + stamp.nanosec > 0:
        cmd_vel.write(encode(TWIST, {"linear": {"x": min(0.5, 0.8 * left)}}))


with connected(sim, discovery=DOMAIN, report=print):
    node = Node(Arguments("driver"), DOMAIN)
    node.create_subscription(ODOMETRY, "/odom", drive)
    cmd_vel = node.create_publisher(TWIST, "/cmd_vel")
    threading.Thread(target=node.spin, daemon=True).start()
    sim.run()
    node.stop()
print(f"{len(sim.events)} commands were taken; the robot is at x = {sim.truth['x'][0]:.3f} m")
