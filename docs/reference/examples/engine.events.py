import astray

sim = astray.load("remote")
try:
    sim.post(astray.Event("place", "nobody", values={"x": 1.0}))
except astray.EventError as problem:
    print(problem)  # refused at once, with the names that there are
