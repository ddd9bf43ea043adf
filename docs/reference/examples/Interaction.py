import astray


class Fence(astray.Interaction, kind="fence"):
    """Removes robots that are more than 10 m from the origin."""

    def interact(self, rows, scene):
        truth = scene.truth
        return rows[truth["x"][rows] ** 2 + truth["y"][rows] ** 2 > 100.0]


print(Fence.kind, Fence.family)
