import astray


class Rail(astray.Motion, kind="rail"):
    """A trolley on a rail along the x axis."""

    wheels = 0

    def move(self, rows, truth, drive, dt, steps):
        truth["vx"][rows] = drive["vx"][rows]
        truth["x"][rows] += drive["vx"][rows] * dt * steps


print(Rail.kind, Rail.family)
