"""Lidar in a map: a scan against the walls, its noise, and what turning does to it.

A robot stands in a square room, where every range is known in closed form. Then it turns, with two
scanners: one that is done at once, and one that takes a fifth of a second and whose scan is bent.
"""

import sys

import numpy as np

import astray

ROOM = {"walls": [[[-3, -3], [3, -3], [3, 3], [-3, 3], [-3, -3]]]}
SCAN = {"kind": "lidar", "rate": 5, "rays": 180}

noise = {"sigma": 0.01, "sigma_per_m": 0.005, "dropout": 0.02}
robots = [{"name": "still", "sensors": [{**SCAN, **noise}]}]
sim = astray.load({"world": {"map": ROOM}, "robots": robots}, worlds=500)
scan = sim.robots["still"].readings["lidar"]
angles = scan["start"][0] + scan["step"][0] * np.arange(180)
true = 3 / np.maximum(np.abs(np.cos(angles)), np.abs(np.sin(angles)))
seen = np.isfinite(scan["ranges"])
error = np.where(seen, scan["ranges"] - true, np.nan)
print(f"{1 - seen.mean():.1%} of the rays came back with nothing")
for k in (90, 112):
    sd, law = np.nanstd(error[:, k]), 0.01 + 0.005 * true[k]
    print(f"at {true[k]:.2f} m the error has sd {sd * 1000:.1f} mm; asked for {law * 1000:.1f} mm")

sensors = [{**SCAN, "name": "flash"}, {**SCAN, "name": "turning", "sweep": 0.2}]
sim = astray.load({"world": {"map": ROOM}, "robots": [{"name": "rover", "sensors": sensors}]})
rover = sim.robots["rover"]
for turn in (0.0, 0.5, 1.5):
    rover.drive(0.0, turn)
    sim.run(2.0)
    flash, turning = (rover.readings[name]["ranges"][0] for name in ("flash", "turning"))
    print(f"turning at {turn} rad/s, a scan is bent by up to {np.abs(turning - flash).max():.2f} m")

if len(sys.argv) > 1:
    office = astray.load("office")
    office.run(10)
    office.plot().savefig(f"{sys.argv[1]}/office.png")
