import astray

robot = {"name": "rover", "control": {"kind": "velocity"}}
sim = astray.load({"robots": [robot]})
sim.robots["rover"].drive(0.5, 0.1)  # m/s, rad/s
sim.run(20)
print(sim.truth["x"], sim.truth["y"])
