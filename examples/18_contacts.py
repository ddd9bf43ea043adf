"""Contacts: what each robot believes of the others, and how sure it is of that.

Three robots wander through an arena, see each other when no wall is between them, and keep tracks
of each other. None of them knows quite where it is, and none believes the same as the next.
"""

import sys

import numpy as np

import astray

ROVER = {
    "name": "rover",
    "count": 3,
    "start": {"clearance": 0.3, "yaw_spread": 3.0},
    "sensors": [
        {"kind": "wheels", "rate": 50, "slip_density": 0.002},
        {"kind": "lidar", "rate": 10, "rays": 90},  # to wander by
        {"kind": "contacts", "rate": 10, "max_range": 8, "detection": 0.9, "false_alarms": 0.2},
    ],
    "estimator": {"kind": "odometry"},
    "contacts": {"kind": "tracker"},
    "autonomy": {"kind": "wander"},
}

metrics = [{"kind": "gospa", "within": 7}, {"kind": "contacts_nees", "within": 7}]
sim = astray.load({"seed": 2, "world": {"map": "arena"}, "robots": [ROVER], "metrics": metrics})
log = sim.run(30, log=0.1)
rovers = sim.robots["rover"]
for observer in range(3):
    for track in rovers.contacts.of(observer):
        other = rovers.truth[track["identity"]]
        off = np.hypot(track["x"] - other["x"], track["y"] - other["y"])
        sd = np.sqrt(track["cov"][0, 0] + track["cov"][1, 1])
        print(
            f"{observer} believes {track['identity']} at ({track['x']:.2f}, {track['y']:.2f}), "
            f"seen {track['unseen']:.1f} s ago: off by {off:.2f} m, and sure to {sd:.2f} m"
        )
found = log["rover"].metrics["gospa"]["contacts"]
print(f"GOSPA after 3 s and later: {np.nanmean(found[30:]):.2f} m on average")
if len(sys.argv) > 1:
    sim.plot().savefig(f"{sys.argv[1]}/contacts.png")
