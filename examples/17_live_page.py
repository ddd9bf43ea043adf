"""Look at a run while it goes on, and drive one of its robots by hand.

`sim.view()` serves a page on this machine and opens it in the browser; here it opens none, so that
the program also runs where there is none, and acts as a page would. With --browser you look.
"""

import math
import sys

import astray

sim = astray.load("office")
with sim.view(browser="--browser" in sys.argv) as view:
    print(f"the page: {view.url}")

    # Paced, it can be watched; here faster than real time, so that it is over soon.
    sim.run(5, speed=1.0 if "--browser" in sys.argv else 10.0)

    # A hand takes a robot from its autonomy for a while, and gives it back: an event like others.
    sound = sim.robots["sound"]
    sound.drive(0.0, 1.0, hold=2.0)
    sim.run(1.5)
    print(f"by hand, sound turns at {sound.truth['wz'][0]:.1f} rad/s")
    sim.run(1.5)

    # Whoever drags a robot on the page moves its truth; its belief knows nothing of it.
    sound.place(x=3.0, y=7.5)
    sim.run(1)
    dx, dy = (float(sound.truth[k][0] - sound.belief[k][0]) for k in "xy")
    apart = math.hypot(dx, dy)
    print(f"carried away, it is {apart:.1f} m from where it believes to be")

print(f"{len(sim.events)} events make the run repeatable, touched as it was")
