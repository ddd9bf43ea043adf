"""What the page asks of a run: events through `sim.post`, and the turns of its pace."""

from __future__ import annotations

from collections.abc import Mapping

from astray.engine import Event
from astray.errors import AstrayError, EventError
from astray.viewer.page import messages
from astray.viewer.page.live import LiveSource
from astray.viewer.page.teleop import Teleop

SURE = [[0.01, 0.0, 0.0], [0.0, 0.01, 0.0], [0.0, 0.0, 0.0025]]
"""The covariance of a pose that was set with a mouse: 10 cm, 3 degrees."""


class Commands:
    """Lets pages act on a run. Called in the thread of the server."""

    def __init__(self, source: LiveSource) -> None:
        self.source, self.sim = source, source.sim
        self.teleop = Teleop(self.sim.post, self.sim.pace)

    def do(self, owner: object, message: messages.Any) -> str | None:
        """Do what a page asks for; a sentence if it cannot be done."""
        try:
            self._do(owner, message)
        except (AstrayError, ValueError) as problem:
            return str(problem)
        return None

    def _do(self, owner: object, message: messages.Any) -> None:
        pace = self.sim.pace
        match message:
            case messages.Play():
                pace.play()
            case messages.Pause():
                pace.pause()
            case messages.StepMessage():
                pace.pause()
                pace.step(message.ticks)
            case messages.SpeedMessage():
                pace.set_speed(message.value)
            case messages.Reset():
                if not self.source.resets:
                    raise EventError("this run cannot be reset: its clients would lose it")
                if self.sim.is_idle and not pace.has_ended:
                    raise EventError("no one is running it: there is nothing to begin anew")
                pace.request_restart(message.seed)
            case messages.World():
                self.source.show(message.place)
            case messages.Drive():
                group, number = self.source.robot(message.robot)
                shares = (message.forward, message.turn, message.side)
                self.teleop.drive(owner, group, self._world, number, shares)
            case messages.PlaceMessage():
                self._post("place", message.robot, _pose(message))
            case messages.Believe():
                values = {**_pose(message), "cov": SURE, "estimator": message.who}
                self._post("believe", message.robot, values)
            case _:
                raise EventError(f"{message.do} is nothing to be done to a run")

    @property
    def _world(self) -> int:
        return int(self.sim.worlds[self.source.world])

    def _post(self, kind: str, robot: int, values: Mapping[str, object]) -> None:
        group, number = self.source.robot(robot)
        self.sim.post(Event(kind, group.name, (self._world,), (number,), values))


def _pose(message: messages.PlaceMessage | messages.Believe) -> dict[str, float]:
    return {"x": message.x, "y": message.y, "yaw": message.yaw}
