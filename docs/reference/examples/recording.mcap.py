from pathlib import Path

import astray
from astray.recording.mcap import is_mcap

sim = astray.load("drift")
with astray.record(sim, "drift.mcap", overwrite=True):
    sim.run(5)
print(is_mcap(Path("drift.mcap").read_bytes()))  # True
