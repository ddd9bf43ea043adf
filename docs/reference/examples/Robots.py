import astray

sim = astray.load("remote", worlds=3)
rover = sim.robots["rover"]  # the group of this name, in all worlds
rover.drive([0.1, 0.2, 0.3], 0.1)  # m/s per row, rad/s
sim.run(5)
print(rover.truth["x"] - rover.belief["x"])  # m
