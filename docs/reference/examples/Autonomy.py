import astray


class Circle(astray.Autonomy, kind="circle"):
    """Drives in a circle."""

    speed: float = 0.5  # m/s
    turn: float = 0.3  # rad/s

    def decide(self, rows, known, command):
        command["vx"][rows] = self.params["speed"][rows]
        command["wz"][rows] = self.params["turn"][rows]


astray.check_plugin(Circle)
