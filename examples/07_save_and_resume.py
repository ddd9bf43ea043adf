"""Save and resume: a run that was interrupted goes on bit for bit."""

import sys
import tempfile
from pathlib import Path

import astray

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
file = folder / "halfway.npz"

whole = astray.load("drift", worlds=10)
whole.run(20)

half = astray.load("drift", worlds=10)
half.run(10)
half.save(file)  # scenario, seed, events and every table: all that a run is
print(f"saved at t = {half.time:g} s: {file.stat().st_size} bytes")

rest = astray.resume(file)  # in another process, or tomorrow
rest.run(10)

print(f"in one go:         {whole.digest()}")
print(f"saved and resumed: {rest.digest()}")
assert whole.digest() == rest.digest()
