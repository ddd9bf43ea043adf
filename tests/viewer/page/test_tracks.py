"""The page has the tracks of the simulation: what robots believe of each other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import astray
from astray.engine.robots import Robots
from astray.sim import Sim
from astray.tables import Array
from astray.viewer.page.codec import encode_recording
from astray.viewer.page.frames import BELIEF, HEADER, ROBOT, TRACK
from astray.viewer.page.live import LiveSource, PageSubscription
from astray.viewer.page.replay import ReplayServer
from astray.viewer.page.sources.run_folder import read_folder
from astray.viewer.page.view import View
from support.chromium import Tab, until

SENSOR = {
    "kind": "contacts",
    "rate": 10,
    "max_range": 8,
    "detection": 0.9,
    "false_alarms": 0.2,
    "latency": 0.1,
}
WHEELS = {"kind": "wheels", "rate": 50, "slip_density": 0.004, "radius_sd": 0.01}
LOOKOUT: dict[str, Any] = {
    "name": "lookout",  # the first group on the page, and the last one by its name
    "count": 2,
    "start": {"x": 2.0, "y": 2.0, "spread": 1.0},
    "sensors": [WHEELS, SENSOR],
    "estimator": {"kind": "odometry"},
    "contacts": {"kind": "tracker"},
    "autonomy": {"kind": "waypoints", "points": [[4, 2], [4, 4], [2, 2]], "loop": True},
}
GUEST: dict[str, Any] = {
    "name": "guest",
    "count": 2,
    "start": {"x": 3.0, "y": 3.0, "spread": 2.0},
    "autonomy": {"kind": "waypoints", "points": [[5, 5], [1, 4]], "loop": True},
}
MEETING: dict[str, Any] = {"seed": 5, "dt": 0.01, "duration": 1000.0, "robots": [LOOKOUT, GUEST]}
IDENTITY = (2, 3, 0, 1)
"""Of the robots on the page: identities follow the order of the groups' names."""


def believed(group: Robots, row: int, time: float) -> list[list[float]]:
    """The tracks of one robot as a frame should have them, by their numbers."""
    found = []
    for t in group.contacts.of(row):
        cov = t["cov"]
        identity = t["identity"]
        taken_for = IDENTITY.index(identity) if identity >= 0 else -1
        moving = [t[c] for c in ("unseen", "x", "y", "map_vx", "map_vy")]
        spread = [cov[0, 0], cov[0, 1], cov[1, 1]]
        found.append([t["number"], taken_for, time - t["stamp"], *moving, *spread])
    return [[float(v) for v in track] for track in found]


def framed(source: LiveSource, subscription: PageSubscription) -> tuple[Array, int]:
    """The tracks of the present frame, and how many readings it has."""
    data = source.frame(subscription)
    head = np.frombuffer(data, "<f8", HEADER)
    body = np.frombuffer(data, "<f4", offset=8 * HEADER)
    at = int(head[7]) * ROBOT + int(head[8]) * BELIEF
    return body[at : at + int(head[9]) * TRACK].reshape(-1, TRACK), int(head[11])


def check_tracks(tracks: Array, group: Robots, row: int, observer: int, time: float) -> None:
    shown = tracks[tracks[:, 0] == observer]
    shown = shown[np.argsort(shown[:, 1])]
    wanted = np.array(believed(group, row, time), np.float32).reshape(-1, TRACK - 1)
    np.testing.assert_allclose(shown[:, 1:], wanted, rtol=1e-6, atol=1e-6)


# In the frame.


def test_a_frame_has_the_tracks_that_are_asked_for_and_no_others() -> None:
    sim = astray.load(MEETING, worlds=2)
    sim.run(6.0)
    lookouts, source = sim.robots["lookout"], LiveSource(sim)
    assert lookouts.contacts.table["count"].min() > 0
    nothing, readings = framed(source, PageSubscription(frozenset({0, 1}), readings=True))
    assert (len(nothing), readings) == (0, 2)
    one, readings = framed(source, PageSubscription(frozenset({1, 3}), contacts=True))
    assert (set(one[:, 0]), readings) == ({1}, 0)  # the other is a guest, and tracks no one
    check_tracks(one, lookouts, 1, 1, sim.time)
    for world in (0, 1):
        source.show(world)
        every, _ = framed(source, PageSubscription(all_robots=True, contacts=True))
        for robot in (0, 1):
            check_tracks(every, lookouts, 2 * world + robot, robot, sim.time)


def test_a_removed_robot_has_no_tracks() -> None:
    sim = astray.load(MEETING)
    sim.run(4.0)
    sim.robots["lookout"].remove(robots=[0])
    sim.run(0.02)
    every, _ = framed(LiveSource(sim), PageSubscription(all_robots=True, contacts=True))
    assert set(every[:, 0]) == {1}


def test_a_run_whose_tracks_are_shown_has_the_bytes_of_one_without_a_page() -> None:
    seen, alone = astray.load(MEETING), astray.load(MEETING)
    source = LiveSource(seen)
    for _ in range(40):
        seen.run(0.1)
        source.frame(PageSubscription(all_robots=True, readings=True, contacts=True))
    alone.run(4.0)
    assert seen.digest() == alone.digest()


# In the browser.


def check_page(sim: Sim, state: dict[str, Any], observers: set[int]) -> None:
    """The page has the tracks of these lookouts."""
    shown: dict[int, list[dict[str, Any]]] = {k: [] for k in observers}
    for track in state["contacts"]:
        shown[track["observer"]].append(track)
    for observer, tracks in shown.items():
        wanted = believed(sim.robots["lookout"], observer, sim.time)
        assert wanted
        names = ("number", "identity", "age", "unseen", "x", "y", "vx", "vy")
        found = [[*(t[n] for n in names), *t["cov"]] for t in tracks]
        np.testing.assert_allclose(sorted(found), sorted(wanted), rtol=1e-6, atol=1e-6)
        about = [t["of"] for t in tracks if t["of"] >= 0]
        assert len(about) == len(set(about)) > 0  # no two stand for one


@pytest.fixture
def view() -> Iterator[View]:
    sim = astray.load(MEETING)
    sim.run(6.0)
    with View(sim) as made:
        made.start(1e6, speed=1.0)
        yield made


def test_the_page_has_the_tracks_of_the_selected_robot_or_of_all(browser: Any, view: View) -> None:
    tab = Tab(browser, view.url)
    tab.page.select_option("#robot", "1")
    tab.wait("s.contacts.length && s.contacts.every((t) => t.observer === 1)")
    tab.pause()
    until(lambda: tab.read("step") == view.sim.steps)
    check_page(view.sim, tab.state, {1})
    tab.page.click("#show-everyone")
    tab.wait("new Set(s.contacts.map((t) => t.observer)).size === 2")
    check_page(view.sim, tab.state, {0, 1})
    tab.page.focus("#world")
    tab.page.keyboard.press("5")
    tab.wait("!s.shown.contacts && !s.contacts.length")
    assert tab.page.get_attribute("#show-contacts", "aria-pressed") == "false"
    assert tab.errors == []
    tab.context.close()


def test_a_track_is_drawn_where_it_is_believed_to_be(browser: Any, view: View) -> None:
    tab = Tab(browser, view.url)
    tab.wait("s.contacts.length")
    tab.pause()
    until(lambda: tab.read("step") == view.sim.steps)
    track = max(tab.state["contacts"], key=lambda t: t["number"])
    read_pixel = """([x, y]) => { const c = document.getElementById("world"), r = c.width / c.clientWidth;
        const { left, top } = c.getBoundingClientRect();
        return [...c.getContext("2d").getImageData((x - left) * r, (y - top) * r, 1, 1).data]; }"""
    with_it = tab.page.evaluate(read_pixel, list(tab.at(track["x"], track["y"])))
    drawn = tab.state["drawn"]
    tab.page.click("#show-contacts")
    tab.wait(f"s.drawn > {drawn} && !s.contacts.length")
    assert tab.page.evaluate(read_pixel, list(tab.at(track["x"], track["y"]))) != with_it
    tab.context.close()


def test_there_is_no_switch_without_a_tracker(browser: Any) -> None:
    with View(astray.load({"duration": 1.0, "robots": [GUEST]})) as alone:
        tab = Tab(browser, alone.url)
        assert not tab.page.locator("#show-contacts").is_visible()
        tab.page.focus("#world")
        tab.page.keyboard.press("5")  # is the next switch there
        tab.wait("s.shown.everyone")
        assert (tab.state["contacts"], tab.state["undetected"]) == ([], [])
        assert tab.errors == []
        tab.context.close()


WALL = {"map": {"walls": [[[-6.0, 2.0], [6.0, 2.0]]]}}
STILL: dict[str, Any] = {"autonomy": {"kind": "remote"}, "footprint": {"radius": 0.2}}


def still(name: str, x: float, y: float) -> dict[str, Any]:
    return {"name": name, "start": {"x": x, "y": y}, **STILL}


def test_a_robot_in_view_without_a_track_is_shown_as_undetected(browser: Any) -> None:
    sensor = {**SENSOR, "detection": 0.0, "false_alarms": 0.0, "max_range": 5.0}
    sensor |= {"field_of_view": 3.0, "yaw": 1.57}  # it looks to the left
    blind = {**still("blind", 0.0, 0.0), "sensors": [sensor], "contacts": {"kind": "tracker"}}
    others = {
        "near": (1.0, 1.0),
        "walled": (0.0, 3.0),  # behind the wall
        "far": (5.5, 1.0),
        "behind": (0.0, -2.0),
        "ghost": (-1.0, 1.0),
        "gone": (-2.0, 1.0),
    }
    robots = [blind, *(still(name, x, y) for name, (x, y) in others.items())]
    sim = astray.load({"dt": 0.01, "duration": 9.0, "world": WALL, "robots": robots})
    sim.robots["ghost"].set_ghost()
    sim.robots["gone"].remove()
    sim.run(1.0)
    with View(sim) as view:
        tab = Tab(browser, view.url)
        assert [tab.state["robots"][k]["name"] for k in tab.state["undetected"]] == ["near"]
        assert tab.state["contacts"] == []
        sim.robots["near"].place(x=0.0, y=4.0)
        sim.run(0.02)
        tab.wait("!s.undetected.length")
        tab.context.close()


def test_a_track_without_an_identity_is_of_the_robot_that_the_sensor_saw(browser: Any) -> None:
    sensor = {**SENSOR, "detection": 1.0, "false_alarms": 0.0, "identified": False}
    lost = {
        **still("lost", 0.0, 0.0),
        "sensors": [WHEELS, sensor],
        "estimator": {"kind": "odometry"},
        "contacts": {"kind": "tracker"},
    }
    robots = [lost, still("one", 2.0, 1.0), still("two", 3.5, -1.0), still("three", -2.0, 1.0)]
    sim = astray.load({"dt": 0.01, "duration": 99.0, "robots": robots})
    sim.robots["lost"].believe(x=3.0, y=-1.0, yaw=0.5)  # far more than the robots are apart
    sim.run(2.0)
    group = sim.robots["lost"]
    truth = group.scene.other_robots(0)
    turn = group.belief["yaw"][0]
    with View(sim) as view:
        tab = Tab(browser, view.url)
        tab.wait("s.contacts.length === 3")
        contacts, shown = tab.state["contacts"], tab.state["robots"]
        tab.context.close()
    assert sorted(t["of"] for t in contacts) == [1, 2, 3]
    for track in contacts:
        assert track["identity"] == -1
        dx, dy = track["x"] - group.belief["x"][0], track["y"] - group.belief["y"][0]
        x, y = dx * np.cos(turn) + dy * np.sin(turn), dy * np.cos(turn) - dx * np.sin(turn)
        nearest = truth[np.argmin(np.hypot(truth["x"] - x, truth["y"] - y))]
        assert shown[track["of"]]["x"] == pytest.approx(nearest["x"])


# Replay.


def test_a_folder_is_replayed_with_its_tracks(browser: Any, tmp_path: Path) -> None:
    sim = astray.load(MEETING)
    log = sim.run(6.0, log=0.1)
    sim.write(log, tmp_path / "out")
    server = ReplayServer(encode_recording(read_folder(tmp_path / "out")), log=print)
    server.open()
    try:
        tab = Tab(browser, server.url)
        tab.page.click("#show-everyone")
        logged = log["lookout"].contacts
        assert logged is not None
        for k in (60, 25):
            tab.page.fill("#scrub", str(round(10000 * k / 60)))
            tab.wait(f"s.step === {k}")
            shown = {(t["observer"], t["number"]): t for t in tab.state["contacts"]}
            wanted = [(r, t) for r in (0, 1) for t in logged[k, r][logged[k, r]["confirmed"]]]
            assert wanted
            assert set(shown) == {(r, t["number"]) for r, t in wanted}
            for r, t in wanted:
                here = shown[r, t["number"]]
                for name, column in (("x", "x"), ("y", "y"), ("vx", "map_vx"), ("vy", "map_vy")):
                    assert here[name] == pytest.approx(t[column], abs=6e-4)
                assert here["unseen"] == pytest.approx(t["unseen"], abs=6e-4)
                assert here["age"] == pytest.approx(0.1 * k - t["stamp"], abs=6e-4)
                assert here["cov"][0] == pytest.approx(t["cov"][0, 0], rel=1e-5)
                assert here["identity"] == IDENTITY.index(t["identity"])
        tab.page.click("#show-everyone")
        tab.wait("s.contacts.every((t) => t.observer === 0)")
        assert tab.errors == []
        tab.context.close()
    finally:
        server.close()
