"""Navigation: robots find their way by belief, and a stale map leads one to a closed door.

Each robot is judged by what it reached. The third one was given a map on which the way is still
open; in the world somebody has put a shelf across it.
"""

import sys

import astray
from astray.world.maps import read_map, write_map

WALLS = [[[0, 0], [10, 0], [10, 6], [0, 6], [0, 0]], [[5, 0], [5, 2]], [[5, 4], [5, 6]]]
OPEN = {"walls": WALLS}
SHELF = {**OPEN, "boxes": [{"x": 6.5, "y": 3, "length": 0.4, "width": 5.8}]}


def robot(name: str, slip: float, known: object) -> dict[str, object]:
    return {
        "name": name,
        "start": {"x": 2, "y": 1.5},
        "sensors": [
            {"kind": "wheels", "rate": 50, "slip_density": slip},
            {"kind": "lidar", "rate": 10, "rays": 180, "max_range": 5, "robots": False},
        ],
        "estimator": {"kind": "odometry"},
        "autonomy": {"kind": "navigate", "rate": 10, "goals": [[8, 4], [2, 4.5]]},
        "map": known,
    }


def drive(world: object, one: dict[str, object]) -> astray.Sim:
    scenario = {"seed": 3, "world": {"map": world}, "robots": [one]}
    sim = astray.load({**scenario, "metrics": [{"kind": "position_error"}]})
    sim.run(60)
    memory, state = sim.robots[str(one["name"])].autonomy.memory[0], sim.truth[0]
    done = f"reached {memory['reached']} goals, skipped {memory['skipped']}"
    print(f"{one['name']:>9}: {done}, and stands at ({state.x:.1f}, {state.y:.1f})")
    return sim


drive(OPEN, robot("sound", 0.0, OPEN))
lost = drive(OPEN, robot("slippery", 0.03, OPEN))
drive(SHELF, robot("outdated", 0.0, OPEN))
if len(sys.argv) > 1:
    lost.plot().savefig(f"{sys.argv[1]}/navigate.png")
    write_map(read_map(SHELF), f"{sys.argv[1]}/shelf.geojson")
