import astray

sim = astray.load("remote")
sim.post(astray.Event("place", "rover", values={"y": 2.0}, step=500))  # m, at this step
sim.run(10)
print(sim.events[0].kind, sim.truth["y"])
