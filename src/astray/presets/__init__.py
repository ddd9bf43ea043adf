"""The bundled robots, scenarios and maps, as files."""

from pathlib import Path

__all__ = ["MAPS", "ROBOTS", "SCENARIOS"]

_HERE = Path(__file__).resolve().parent

ROBOTS = _HERE / "robots"
SCENARIOS = _HERE / "scenarios"
MAPS = _HERE / "maps"
