import astray


class Nearest(astray.Tracker, kind="nearest_only"):
    """Believes the nearest detection, in the frame of the body."""

    def track(self, rows, known, contacts):
        reading = known.readings["contacts"]
        some = rows[reading.fresh[rows] & (reading["count"][rows] > 0)]
        first = contacts.tracks[:, 0]
        first["x"][some], first["stamp"][some] = reading["range"][some, 0], reading.stamp[some]
        first["confirmed"][some] = True
        contacts.stamp[some] = reading.stamp[some]


print(Nearest.kind, Nearest.family)
