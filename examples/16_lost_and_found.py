"""Localisation: a robot that is told nothing finds itself on the map, and again when carried away.

The particle filter throws poses onto the floor where a scan fits. A rival reckons by wheels alone
and never learns that somebody has picked the robot up.
"""

import sys

import numpy as np

import astray

ROVER = {
    "name": "rover",
    "start": {"clearance": 0.3, "yaw_spread": 3.0},
    "footprint": {"radius": 0.17},
    "sensors": [
        {"kind": "wheels", "rate": 50, "slip_density": 0.01},
        {"kind": "lidar", "rate": 5, "rays": 180, "max_range": 10, "sigma": 0.02},
    ],
    "estimator": {"kind": "particle", "initial": "global"},
    "rivals": [{"kind": "odometry"}],
    "autonomy": {"kind": "wander"},
}


def tell(when: str) -> None:
    truth = sim.robots["rover"].truth
    apart = {
        who: np.median(np.hypot(b["x"] - truth["x"], b["y"] - truth["y"]))
        for who, b in sim.robots["rover"].beliefs().items()
    }
    print(f"{when:>15}: " + ", ".join(f"{who} off by {d:.3f} m" for who, d in apart.items()))


sim = astray.load({"seed": 1, "world": {"map": "office"}, "robots": [ROVER]}, worlds=5)
tell("at the start")
sim.run(20)
tell("after 20 s")
sim.robots["rover"].place(x=16.7, y=5.6, yaw=1.0)
sim.run(0.4)
tell("carried away")
sim.run(30)
tell("30 s later")
if len(sys.argv) > 1:
    sim.plot().savefig(f"{sys.argv[1]}/lost_and_found.png")
