"""What a ray costs: ranges per CPU-second on maps of 100 to 100 000 segments, beside peers.

The map is closed convex blocks on a jittered lattice in a square, 5 m² per segment; the poses are
uniform in it. Every scan is 1080 rays all round, 30 m. All run in one process, one thread, CPU
time; rounds are interleaved, the median is given with the least and the largest.

    python benchmarks/rays.py                 # with what of embreex and pymunk is installed
"""

from __future__ import annotations

import math
import platform
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import astray
from astray.world import Map, block, merge, wall
from astray.world.maps import MapSet
from astray.world.raycast import cast_bundles, copy_workspace, make_ray_bundle, make_raycast_scene

ROUNDS = 9
SCANS = 200
RAYS = 1080
FAR = 30.0
TAU = 2.0 * math.pi


def lattice_map(segments: int, seed: int = 0) -> tuple[Map, float]:
    """Blocks of four to eight sides on a jittered lattice in a square, and its side in m."""
    rng = np.random.default_rng(seed)
    side = math.sqrt(5.0 * segments)
    blocks = round((segments - 4) / 6.0)
    across = math.ceil(math.sqrt(blocks))
    cell = side / across
    parts = [wall([(0, 0), (0, side), (side, side), (side, 0)], closed=True)]
    for at in rng.permutation(across * across)[:blocks]:
        corners = int(rng.integers(4, 9))
        middle = (np.array([at % across, at // across]) + 0.5 + rng.uniform(-0.12, 0.12, 2)) * cell
        turn = np.arange(corners) + rng.uniform(-0.3, 0.3, corners)
        angle = np.sort(turn * TAU / corners) + rng.uniform(0, TAU)
        radius = rng.uniform(0.12, 0.32) * cell
        ring = middle + radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        parts.append(block(ring))
    return merge(parts), side


def poses(side: float, count: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    found = rng.uniform(1.0, side - 1.0, (count, 3))
    found[:, 2] = rng.uniform(-math.pi, math.pi, count)
    return found


def astray_rays(map_: Map, side: float) -> Callable[[], int]:
    """Scans into memory that is allocated already, as the lidar takes them."""
    workspace, bundle = make_ray_bundle(RAYS, 0.0, TAU / RAYS, FAR)
    scene, out = make_raycast_scene(MapSet([map_])), np.empty((SCANS, RAYS))
    where = np.zeros((SCANS, 5))
    where[:, :3], where[:, 4] = poses(side, SCANS), -1.0
    rows = np.arange(SCANS)

    def job() -> int:
        cast_bundles(workspace, bundle, scene, where, rows, out)
        return out.size

    return job


def with_noise(map_: Map, side: float) -> Callable[[], int]:
    """The lidar sensor itself, with noise on every range."""
    lidar = {"kind": "lidar", "rays": RAYS, "max_range": FAR, "sigma": 0.01, "robots": False}
    inline = {"walls": [s.reshape(2, 2).tolist() for s in map_.segments]}
    robot = {"name": "r", "count": SCANS, "sensors": [lidar]}
    sim = astray.load(
        {"dt": 0.1, "world": {"map": inline}, "robots": [robot], "interactions": []},
        keep_events=False,
    )
    x, y, yaw = poses(side, SCANS).T
    sim.robots["r"].place(x=x, y=y, yaw=yaw)

    def job() -> int:
        sim.step()
        return SCANS * RAYS

    return job


def embree(map_: Map, side: float) -> Callable[[], int]:
    """Walls as upright quads of two triangles each; ray origins and directions are made before."""
    from embreex import rtcore_scene
    from embreex.mesh_construction import TriangleMesh

    a, b = map_.segments[:, :2], map_.segments[:, 2:]
    low, high = np.full((len(a), 1), -1.0), np.full((len(a), 1), 1.0)
    corners = [np.hstack([p, z]) for p, z in ((a, low), (b, low), (b, high), (a, high))]
    triangles = np.stack(
        [np.stack([corners[i] for i in three], axis=1) for three in ((0, 1, 2), (0, 2, 3))], axis=1
    ).reshape(-1, 3, 3)
    scene = rtcore_scene.EmbreeScene()
    mesh = TriangleMesh(scene, triangles.astype(np.float32))
    where = poses(side, SCANS)
    angle = where[:, 2:] + np.arange(RAYS) * TAU / RAYS
    origins = np.repeat(np.hstack([where[:, :2], np.zeros((SCANS, 1))]), RAYS, axis=0)
    directions = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=2)
    origins = origins.astype(np.float32)
    directions = directions.reshape(-1, 3).astype(np.float32)
    far = np.full(len(origins), FAR, np.float32)

    def job() -> int:
        found = scene.run(origins, directions, dists=far, query="DISTANCE")
        assert mesh is not None
        return len(found)

    return job


def pymunk_rays(map_: Map, side: float) -> Callable[[], int]:
    """One call per ray: that is its interface."""
    import pymunk

    space = pymunk.Space()
    for ax, ay, bx, by in map_.segments.tolist():
        space.add(pymunk.Segment(space.static_body, (ax, ay), (bx, by), 0.0))
    scans = 4
    rays = []
    for x, y, yaw in poses(side, scans).tolist():
        for k in range(RAYS):
            angle = yaw + k * TAU / RAYS
            rays.append(((x, y), (x + FAR * math.cos(angle), y + FAR * math.sin(angle))))
    filter_ = pymunk.ShapeFilter()

    def job() -> int:
        for start, end in rays:
            space.segment_query_first(start, end, 0.0, filter_)
        return len(rays)

    return job


PEERS = {"embreex": embree, "pymunk": pymunk_rays}


def rate(job: Callable[[], int]) -> float:
    """Millions of rays per CPU-second."""
    before = time.process_time()
    done = job()
    return done / (time.process_time() - before) / 1e6


def spread(found: list[float]) -> str:
    return f"{statistics.median(found):8.2f} ({min(found):.2f}-{max(found):.2f})"


def threads(map_: Map, side: float) -> str:
    """How much faster two threads are than one, by the clock on the wall."""
    count = 8 * SCANS
    workspace, bundle = make_ray_bundle(RAYS, 0.0, TAU / RAYS, FAR)
    scene, out, rows = make_raycast_scene(MapSet([map_])), np.zeros((count, RAYS)), np.arange(count)
    where = np.zeros((count, 5))
    where[:, :3], where[:, 4] = poses(side, count), -1.0
    workspaces = [workspace, copy_workspace(workspace, bundle)]
    elapsed: dict[int, list[float]] = {1: [], 2: []}
    with ThreadPoolExecutor(2) as pool:
        for _ in range(3 * ROUNDS):
            for number, times in elapsed.items():
                before = time.perf_counter()
                jobs = [
                    pool.submit(cast_bundles, own, bundle, scene, where, part, out)
                    for own, part in zip(workspaces, np.array_split(rows, number), strict=False)
                ]
                for job in jobs:
                    job.result()
                times.append(time.perf_counter() - before)
    ratios = [one / two for one, two in zip(elapsed[1], elapsed[2], strict=True)]
    return spread(ratios)


def growth() -> str:
    """The throughput among a hundred thousand segments as a part of that among a thousand."""
    small, large = astray_rays(*lattice_map(1000)), astray_rays(*lattice_map(100_000))
    small(), large()
    return spread([rate(large) / rate(small) for _ in range(5 * ROUNDS)])


def main() -> None:
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    print(f"millions of rays per CPU-second, {RAYS} rays, {FAR:g} m: median (least-most)")
    for segments in (100, 1000, 10_000, 100_000):
        map_, side = lattice_map(segments)
        jobs = {"astray": astray_rays(map_, side)}
        if segments <= 10_000:
            jobs["with noise"] = with_noise(map_, side)
        for name, make in PEERS.items():
            try:
                jobs[name] = make(map_, side)
            except ImportError as problem:
                print(f"  {name} cannot be imported: {problem}")
        rates: dict[str, list[float]] = {name: [] for name in jobs}
        for job in jobs.values():
            job()
        for _ in range(ROUNDS):
            for name, job in jobs.items():
                rates[name].append(rate(job))
        print(f"{len(map_)} segments")
        for name, found in rates.items():
            ratios = [a / b for a, b in zip(rates["astray"], found, strict=True)]
            print(f"  {name:12} {spread(found)}   astray is {spread(ratios).strip()} times as fast")
    map_, side = lattice_map(1000)
    print(f"100 000 segments: {growth().strip()} of the throughput of 1000")
    print(f"two threads, wall clock: {threads(map_, side).strip()} times as fast as one")


if __name__ == "__main__":
    main()
