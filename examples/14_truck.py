"""The truck engine: a slalom around pillars, driven by calls, with what the lidar sees.

The truck believes its wheels. Its state has the truth, the readings and that belief side by side.
"""

import math
import sys

from astray.truck import Engine

PILLARS = [{"x": 3.0 * k, "y": 0.0, "radius": 0.25} for k in range(1, 5)]
HALL = {"walls": [[[-2, -3], [17, -3], [17, 3], [-2, 3], [-2, -3]]], "circles": PILLARS}

wheels = {"kind": "wheels", "rate": 50, "radius_sd": 0.003, "slip_density": 0.005}
engine = Engine(map=HALL, lidar_sigma=0.01, estimator="odometry", sensors=[wheels], seed=1)
engine.reset_base((0.0, 0.9, 0.0))
state = engine.state()
while state.odom_base_pose.x < 13.5:
    x, y, yaw = state.odom_base_pose
    aside = 0.9 * math.cos(math.pi * (x + 0.6) / 3.0) - y  # around each pillar on the other side
    bend = 2.0 * math.sin(math.atan2(aside, 0.6) - yaw) / math.hypot(0.6, aside)
    engine.set_base_control(velocity=0.8, curvature=bend)
    engine.advance(0.05)
    state = engine.state()

believed = state.belief.odom_base_pose
off = math.hypot(believed.x - state.odom_base_pose.x, believed.y - state.odom_base_pose.y)
print(f"{state.status.value} after {state.time:.2f} s at {state.odom_base_pose.x:.2f} m")
print(f"it believes to be {off * 100:.0f} cm away from where it is")
print(f"front wheels at {math.degrees(state.current_steering.middle):.1f} degrees")
print(f"motor at {state.current_motor_rps:.1f} of {state.target_motor_rps:.1f} turns per second")
print(f"{len(state.lidar_ranges)} lidar points, the nearest {state.lidar_ranges.min():.2f} m away")
if len(sys.argv) > 1:
    engine.plot().savefig(f"{sys.argv[1]}/slalom.png", dpi=110)
