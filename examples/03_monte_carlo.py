"""Monte Carlo: a thousand worlds at once, and the error against its closed form.

Each world has a robot whose wheel radius r is drawn from a normal distribution. Odometry knows
only the nominal r0. Over a straight way d it therefore believes d · r0 / r, and is off by
d · |r0 / r − 1|, whose root mean square is close to d · sd / r0.
"""

import numpy as np

import astray

NOMINAL, SD = 0.1, 0.0005  # m
SCENARIO = {
    "duration": 20,
    "seed": 7,
    "robots": [
        {
            "name": "rover",
            "motion": {"kind": "differential", "radius": {"normal": [NOMINAL, SD]}},
            "sensors": [{"kind": "wheels", "rate": 50, "ticks": 0}],
            "estimator": {"kind": "odometry"},
            "autonomy": {"kind": "scripted", "steps": [{"lasts": 18, "vx": 0.5}]},
        }
    ],
    "metrics": [{"kind": "position_error"}],
}

sim = astray.load(SCENARIO, worlds=1000)
log = sim.run(log=1.0)

rover = sim.robots["rover"]
way = rover.truth["x"]  # (1000,) m
radius = rover.motion.params["radius"]  # (1000,) m, as drawn
error = log["rover"].metrics["position_error"]["belief"][-1]
closed_form = way * np.abs(NOMINAL / radius - 1)

print(f"{len(error)} worlds of {sim.time:g} s, {way[0]:.2f} m each")
print(f"rms error measured        {np.sqrt((error**2).mean()):.6f} m")
print(f"rms error, d sd / r0      {way[0] * SD / NOMINAL:.6f} m")
print(f"off the closed form, at most {abs(error - closed_form).max():.1e} m in any world")
