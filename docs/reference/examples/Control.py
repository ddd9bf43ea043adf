import astray


class Halved(astray.Control, kind="halved"):
    """Drives half as fast as it is told."""

    modes = ("twist",)

    def steer(self, rows, known, command, drive):
        for name in ("vx", "vy", "wz"):
            drive[name][rows] = 0.5 * command[name][rows]


print(Halved.kind, Halved.family)
