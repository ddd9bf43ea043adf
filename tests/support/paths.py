"""Where things are: the project, the material that tests read, other makers' programs."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
PEERS = Path(__file__).parent / "peers"
