"""Range and bearing as a place: the unbiased conversion, and its covariance.

The mean of cos(b + e) over a normal error e is λ cos b with λ = e^(−bearing_sd² / 2), so that the
plain conversion is too short. Divided by λ it is right on average. Its covariance given what was
measured, r at b, is diagonal along and across the line of sight (Mo et al., 1998),

    along  = (λ⁻² − 2) r² + ½ (r² + range_sd²) (1 + λ⁴)
    across = ½ (r² + range_sd²) (1 − λ⁴)

which is range_sd² and (r bearing_sd)² where the bearing is good.
"""

from __future__ import annotations

from astray.numerics import inlined_kernel, kernel, sincos
from astray.tables import Row

Pose = tuple[float, float, float]
Spot = tuple[float, float, float, float, float]
"""x and y in the map, m, and the variances xx, xy and yy, m²."""
Noise = tuple[float, float, float, float]
"""range_sd and range_sd_per_m as a datasheet has them, 1 / λ and λ⁴ of its bearing_sd."""
TRIFLE = 1e-4  # share of a variance that is not worth adding
LEAST = (
    1e-8  # m²; a sensor that claims to be perfect is not believed beyond a tenth of a millimetre
)


@inlined_kernel
def place(far: float, aside: float, mount: Pose, noise: Noise) -> Spot:
    """Where something is that was measured from a mount in the map."""
    range_sd, per, double = noise[0] + noise[1] * far, noise[2], noise[3]
    square, spread = far * far, far * far + range_sd * range_sd
    along = (per * per - 2.0) * square + 0.5 * spread * (1.0 + double) + LEAST
    across = 0.5 * spread * (1.0 - double) + LEAST
    s, c = sincos(mount[2] + aside)
    x, y = mount[0] + far * per * c, mount[1] + far * per * s
    xx, yy = c * c * along + s * s * across, s * s * along + c * c * across
    return x, y, xx, c * s * (along - across), yy


@kernel
def mounted(pose: Pose, mount: Pose) -> Pose:
    """Where a mount is in the map if the robot is at this pose."""
    s, c = sincos(pose[2])
    x, y = pose[0] + c * mount[0] - s * mount[1], pose[1] + s * mount[0] + c * mount[1]
    return x, y, pose[2] + mount[2]


@inlined_kernel
def report_cov(t: Row, k: Row, b: Row, pose: Pose) -> None:
    """The covariance of a track in the map: its own, and that of who believes it.

    An error e of the believer's pose shifts and turns all that it believes of others alike: it is
    J e with the rows (1, 0, −dy), (0, 1, dx), (0, 0, −v), (0, 0, u) for a track at (dx, dy) from
    the believer with the velocity (u, v).

    An error of the heading also draws tracks nearer, by (1 − cos e) of where they are, of the mean
    square ¾ var(e)². That is no more than a trifle of what it moves them aside, but along the line
    of sight it may be more than all else.
    """
    p, cov = k.p, t.cov
    dx, dy, u, v = k.x - pose[0], k.y - pose[1], k.map_vx, k.map_vy
    xx, xy, yy = b.cov[0, 0], b.cov[0, 1], b.cov[1, 1]
    xa, ya, aa = b.cov[0, 2], b.cov[1, 2], b.cov[2, 2]
    cov[0, 0] = p[0] + xx - 2.0 * dy * xa + dy * dy * aa
    cov[0, 1] = cov[1, 0] = p[1] + xy + dx * xa - dy * ya - dx * dy * aa
    cov[1, 1] = p[2] + yy + 2.0 * dx * ya + dx * dx * aa
    along, across = xa - dy * aa, ya + dx * aa  # of the place with the heading
    cov[0, 2] = cov[2, 0] = p[3] - v * along
    cov[0, 3] = cov[3, 0] = p[4] + u * along
    cov[1, 2] = cov[2, 1] = p[5] - v * across
    cov[1, 3] = cov[3, 1] = p[6] + u * across
    cov[2, 2] = p[7] + v * v * aa
    cov[2, 3] = cov[3, 2] = p[8] - u * v * aa
    cov[3, 3] = p[9] + u * u * aa
    nearer = 0.75 * aa * aa
    if nearer * (dx * dx + dy * dy) > TRIFLE * p[0]:
        place = (dx, dy, u, v)
        for i in range(4):
            for j in range(4):
                cov[i, j] += nearer * place[i] * place[j]
