"""The protocol of Pioneer robots, as ARIA programs and MobileSim speak it."""

from __future__ import annotations

from astray.pioneer.client import Client as Client
from astray.pioneer.client_connection import NoAnswer as NoAnswer
