import astray

robot = {"name": "rover", "autonomy": {"kind": "waypoints", "points": [[4, 0], [4, 3]]}}
sim = astray.load({"robots": [robot]})
sim.run(20)
print(sim.truth["x"], sim.truth["y"])
