from astray.numerics import kernel, sincos


@kernel
def endpoint(x, y, yaw, distance):
    """The point at a distance ahead: the same bytes on every machine."""
    s, c = sincos(yaw)
    return x + distance * c, y + distance * s


print(endpoint(1.0, 2.0, 0.5, 3.0))
