"""A first run: three robots drive the same course and believe different things about it."""

import sys
import tempfile
from pathlib import Path

import astray

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())

sim = astray.load("drift")  # the name of a bundled scenario, or the path of your own
log = sim.run(60, log=0.1)  # 60 simulated seconds, as fast as possible, noted every 0.1 s

for name in sim.robots:
    robot = log[name]  # truth, belief, readings and metrics over time, each (times, rows)
    error = robot.metrics["position_error"]["belief"]
    x, believed = robot.truth["x"][-1, 0], robot.belief["x"][-1, 0]
    print(
        f"{name:>8}: after {log.time[-1]:g} s it is at x = {x:.3f} m and believes {believed:.3f} m;"
        f" at worst it was {error.max():.3f} m off"
    )

sim.plot().savefig(folder / "drift.png")  # an ordinary matplotlib figure
print(f"picture: {folder / 'drift.png'}")
