"""The protocol of Pioneer robots, as ARIA programs and MobileSim speak it."""

from __future__ import annotations

from astray.pioneer.client import PioneerClient as PioneerClient
from astray.pioneer.client_connection import AnswerTimeout as AnswerTimeout
