"""The protocol of Pioneer robots, as ARIA programs and MobileSim speak it."""

from __future__ import annotations

from astray.wires.pioneer.client import Client as Client
from astray.wires.pioneer.connection import NoAnswer as NoAnswer
