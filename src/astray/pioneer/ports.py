"""The ports that clients come to, and the robots behind them."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass, field

from astray.errors import WrongInput
from astray.pioneer.connection import Connection, Log
from astray.pioneer.serial_terminal import PseudoTerminal
from astray.pioneer.session import ServedRobot
from astray.server import Listener


@dataclass
class Port:
    """A port and the robots behind it: one, or several that come and go with their clients."""

    number: int
    robots: Sequence[ServedRobot]
    robot_per_client: bool = False
    lines: dict[int, Connection] = field(default_factory=dict)
    """By the robot's place in `robots`."""
    listener: socket.socket | None = None
    terminal: PseudoTerminal | None = None

    def vacant(self) -> int | None:
        """The first robot without a client."""
        return next((k for k in range(len(self.robots)) if k not in self.lines), None)


def listen(address: str, number: int, log: Log) -> Listener:
    """A door without a bound of its own: a port has no more clients than robots."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    door = Listener(family, most=None, log=log)
    try:
        door.open(address, number)
    except OSError as problem:
        door.close()
        why = problem.strerror or str(problem)
        raise WrongInput(
            f"port {number} of {address} cannot be used: {why}; "
            "choose another by --port, or another address by --bind-to-address"
        ) from None
    except OverflowError:
        door.close()
        raise WrongInput(f"{number} is no port: they go up to 65535") from None
    return door
