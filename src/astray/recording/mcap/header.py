"""What a recording begins with: what is run, where, and what stays as it is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from astray.engine import Robots, Run
from astray.files import dump_yaml
from astray.plugin import NEVER
from astray.ros import MAP_FRAME, RosRobot, world_frame
from astray.ros.publishers import (
    OCCUPANCY_GRID,
    TF,
    PublisherSet,
    Topic,
    belief_topic,
    make_occupancy_grid,
    topics_of,
)
from astray.scenario import bundle_maps
from astray.version import __version__
from astray.world.maps import geojson_text

if TYPE_CHECKING:
    pass

STATIC = Topic("/tf_static", TF, latched=True)
SCENARIO, RUN, MAP_FILE = "scenario.yaml", "run.json", "map.geojson"
GEOJSON = "application/geo+json"


def attachments(sim: Run, feed: PublisherSet) -> Iterator[tuple[str, str, str]]:
    """Name, media type and text of what belongs to the run: no time of day, no machine."""
    scenario, files = bundle_maps(sim.scenario)
    yield SCENARIO, "application/yaml", dump_yaml({**scenario, "seed": sim.seed})
    for name, data in files.items():
        yield name, "application/json", data.decode()
    about = {
        "astray": __version__,
        "scenario": sim.scenario.name,
        "seed": sim.seed,
        "worlds": sim.worlds.tolist(),
        "dt": sim.dt,
        "first_step": sim.steps,
        "robots": {name: _group(group, feed.robots[name]) for name, group in sim.robots.items()},
    }
    yield RUN, "application/json", json.dumps(about, indent=2) + "\n"
    yield from _maps(sim)


def _maps(sim: Run) -> Iterator[tuple[str, str, str]]:
    """The map of the first world, and those of worlds that have another."""
    first, *others = sim.worlds.tolist()
    usual = sim.map(first)
    if len(usual):
        yield MAP_FILE, GEOJSON, geojson_text(usual)
    for world in others:
        found = sim.map(world)
        if found.digest() != usual.digest():
            yield own_map_file(world), GEOJSON, geojson_text(found)


def own_map_file(world: int) -> str:
    """The name of the map of a world that has another than the first one."""
    return f"world_{world}/{MAP_FILE}"


def _group(group: Robots, robots: Sequence[RosRobot]) -> dict[str, Any]:
    """Who is who among the topics, so that a reader need not guess."""
    topics = topics_of(group.pipelines)
    return {
        "estimator": group.estimator.kind if group.estimator else None,
        "beliefs": {name: belief_topic(name) for name in group.beliefs()},
        "sensors": {
            name: {"kind": channel.sensor.kind, "topic": topics[name]}
            for name, channel in group.pipelines.items()
            if channel.sample_schedule.offset < NEVER
        },
        "robots": [
            {"world": r.world, "number": r.number, "name": r.name, "namespace": r.namespace}
            for r in robots
        ],
    }


class Maps:
    """The topics of maps: one for each world, that of the only one without its name."""

    def __init__(self, sim: Run, feed: PublisherSet) -> None:
        self.sim = sim
        robots = [robot for group in feed.robots.values() for robot in group]
        first: dict[int, RosRobot] = {}
        for robot in robots:
            first.setdefault(robot.world, robot)
        self.frames = {world: world_frame(robot, MAP_FRAME) for world, robot in first.items()}
        self.topics = {
            world: Topic(f"/{frame}", OCCUPANCY_GRID, latched=True)
            for world, frame in self.frames.items()
        }
        self._told: dict[int, str] = {world: "" for world in self.frames}

    def news(self) -> Iterator[tuple[Topic, bytes]]:
        """The maps that are others than those that were told last; empty ones not at first."""
        for world, topic in self.topics.items():
            found = self.sim.map(world)
            digest = found.digest()
            if digest != self._told[world] and (len(found) or self._told[world]):
                self._told[world] = digest
                yield topic, make_occupancy_grid(found, self.frames[world], self.sim.time)
