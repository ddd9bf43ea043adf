"""A run on rosbridge or Foxglove from the command line: `astray run … --rosbridge --foxglove`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence

from astray.cli.run import Wiring
from astray.engine import Event
from astray.robot.autonomy import RemoteAutonomy
from astray.ros.subscriptions import make_drivable
from astray.scenario import Source
from astray.sim import Sim

TIMEOUT = 0.5  # s after which a robot that nobody commands any more stops
Say = Callable[[str], None]


def plan_bridges(
    scenario: Source,
    overrides: Sequence[str],
    *,
    rosbridge: int | None = None,
    foxglove: int | None = None,
    origins: Sequence[str] = (),
) -> tuple[list[str], list[Wiring]]:
    """What to set in a scenario so that it can be driven, and how to connect its run to others."""
    sets, wires = list(overrides), list[Wiring]()
    if rosbridge is not None:
        port = rosbridge
        sets = make_drivable(scenario, overrides, TIMEOUT)
        wires.append(lambda sim, say: on_rosbridge(sim, port, origins, say))
    if foxglove is not None:
        from astray.recording import check_package, on_foxglove

        check_package()
        other = foxglove
        wires.append(lambda sim, say: on_foxglove(sim, other, say))
    return sets, wires


@contextlib.contextmanager
def on_rosbridge(sim: Sim, port: int, origins: Sequence[str], say: Say) -> Iterator[object]:
    """A run that clients of rosbridge can reach as long as the with block lasts."""
    from astray.ros.rosbridge import RosbridgeBridge

    warm_up(sim)
    wire = RosbridgeBridge(sim, origins=origins, log=say)
    wire.open(port)
    try:
        say(f"rosbridge: ws://127.0.0.1:{wire.port}, {wire.describe()}")
        if wire.lockstep:
            say("Waiting for a client to advertise cmd_vel: the run is in lockstep.")
        yield wire
    finally:
        wire.close()


def warm_up(sim: Sim) -> None:
    """Run a twin through the events of a client: nobody shall wait for kernels to compile."""
    twin = Sim(sim.scenario, seed=sim.seed, keep_events=False)
    for name, group in twin.robots.items():
        twin.post(Event("place", name, values={"yaw": 0.0}))
        if isinstance(group.autonomy, RemoteAutonomy):
            twin.post(Event("command", name, values={"vx": 0.0}))
        if group.estimator is not None:
            twin.post(Event("believe", name, values={"x": 0.0}))
    twin.step()
