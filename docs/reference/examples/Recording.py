import astray

sim = astray.load("drift")
with astray.record(sim, "drift.mcap", overwrite=True):
    sim.run(5)
recording = astray.read_recording("drift.mcap")
for name, robot in recording.robots.items():
    print(name, robot.belief["x"][-1] - robot.truth["x"][-1])  # m
