"""Motions: one robot of each kind on the same course, and what its wheels make it believe.

The scenario `motions` has a differential drive, a car, a mecanum platform, a unicycle and a point.
The first three reckon by wheels whose radii are not quite what the datasheet says; the narrower the
axle, the more of that becomes heading. Then a car is told to drive a curve: it has to steer first.
"""

import sys

import numpy as np

import astray

sim = astray.load("motions", worlds=50)
log = sim.run(60, log=0.5)
for name, robot in sim.robots.items():
    way = np.hypot(*(np.diff(log[name].truth[c], axis=0) for c in ("x", "y"))).sum(axis=0).mean()
    error = log[name].metrics["position_error"]["belief"][-1]
    wheels = f"{robot.motion.wheels} wheels" if robot.motion.wheels else "no wheels"
    rms = np.sqrt((error**2).mean())
    print(f"{name:>12}: {wheels:>9}, {way:4.1f} m driven, rms error {rms:.2f} m")

car = astray.load({"dt": 0.01, "robots": [{"name": "car", "motion": {"kind": "ackermann"}}]})
car.robots["car"].steer(0.0, 1.5)  # at standstill: only the wheels turn
car.run(0.2)
state = car.truth[0]  # a view of the present
print(f"after {car.time} s it steers by {state.steer:.2f} rad and has moved {state.x:g} m")
car.robots["car"].steer(0.5, 1.5)
car.run(2.0)
print(f"then it drives a circle of radius {state.vx / state.wz:.3f} m at {state.vx:.1f} m/s")

if len(sys.argv) > 1:
    sim.plot().savefig(f"{sys.argv[1]}/motions.png")
