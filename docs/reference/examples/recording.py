import astray
from astray.recording import read_recording

sim = astray.load("drift")
with astray.record(sim, "drift.mcap", overwrite=True):
    sim.run(5)
print(read_recording("drift.mcap").robots.keys())
