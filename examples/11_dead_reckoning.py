"""Three ways to lose one's way: wheels, inertia and a navigation system on the same runs.

The wheels decide where the robot believes to be; the other two are rivals. All three are judged by
the same truth, and the rivals are compared with the wheels world by world.
"""

import sys
import tempfile

import astray

SCENARIO = {
    "seed": 5,
    "robots": [
        {
            "name": "rover",
            "sensors": [
                {"kind": "wheels", "rate": 50, "slip_density": 0.01, "radius_sd": 0.002},
                {"kind": "imu", "rate": 100, "accel_density": 0.002, "gyro_density": 0.0005},
                {"kind": "ins", "rate": 10, "position_walk": 0.03},
            ],
            "estimator": {"kind": "odometry"},
            "rivals": [{"kind": "inertial"}, {"kind": "trust"}],
            "autonomy": {"kind": "waypoints", "points": [[4, 0], [4, 3], [0, 3]], "loop": True},
        }
    ],
    "metrics": [{"kind": "position_error"}, {"kind": "nees"}],
}

sim = astray.load(SCENARIO, worlds=50)
log = sim.run(40, log=0.1)
metrics = astray.summary(sim)["robots"]["rover"]["metrics"]
for who, values in metrics["position_error"].items():
    line = f"{who:10} rms {values['rms']:.3f} m, {values['last']:.3f} m at the end"
    if versus := values.get("against_belief"):
        line += f"; {versus['rms_difference']:+.3f} m against the wheels"
        line += f" (95 %: {versus['low']:+.3f} to {versus['high']:+.3f})"
    print(line)
print(f"NEES of the wheels: {metrics['nees']['belief']['mean']:.2f}, 3 would be honest")

folder = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()
sim.plot().savefig(f"{folder}/dead_reckoning.png")
