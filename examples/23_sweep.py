"""A sweep: how the error grows with slip, in the same worlds, on two cores, with intervals.

The slip of wheels is a density over the way, in m/√m. The error of odometry is proportional to it,
so each case should be ten times the one before. All cases run the same worlds with the same noise:
in pairs, even small differences show.
"""

import sys
import tempfile
from pathlib import Path

import astray

SLIP = "robots.slippery.sensors.wheels.slip_density"


def main(out: Path) -> None:
    """Sweep, read the figures, and run one of the rows again."""
    values = [0.0003, 0.003, 0.03]
    found = astray.sweep("drift", {SLIP: values}, worlds=60, duration=10, workers=2, out=out)
    for case in found.summary()["cases"]:
        about = case["robots"]["slippery"]["position_error"]["belief"]
        print(
            f"slip {case['values'][SLIP]:g}: rms error {about['mean']:.4f} m, "
            f"95 % of means from {about['low']:.4f} to {about['high']:.4f} m"
        )
    table = found.table[found.table["group"] == "slippery"]
    worst = table[table["rms"].argmax()]
    again = astray.load("drift", set=[f"{SLIP}={worst[SLIP]}"], worlds=[int(worst["world"])])
    again.run(10)
    last = again.robots["slippery"].evaluators[0].statistics["last"][0]
    print(f"the worst world is {worst['world']}; run again it ends {last:.3f} m off,", end=" ")
    print("the same to the bit" if last == worst["last"] else "which is not the same")
    print(f"summary.png, results.csv and summary.json are in {out}")


if __name__ == "__main__":  # the workers import this file
    chosen = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()
    main(Path(chosen) / "slip-sweep")
