"""The page in a real Chromium: it draws the state of the simulation, and every control works."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import astray
from astray.sim import Sim
from astray.viewer.page.codec import encode_recording
from astray.viewer.page.replay import ReplayServer, write_html
from astray.viewer.page.sources.run_folder import read_folder
from astray.viewer.page.view import View
from support.chromium import Tab, until

SCENARIO: dict[str, Any] = {
    "seed": 5,
    "dt": 0.01,
    "duration": 1000.0,
    "world": {"map": "office"},
    "metrics": [{"kind": "position_error"}],
    "robots": [
        {
            "name": "scout",
            "count": 2,
            "start": {"x": 4.0, "y": 7.5, "spread": 0.3},
            "footprint": {"radius": 0.12},
            "sensors": [
                {"kind": "wheels", "rate": 50, "radius_sd": 0.01, "slip_density": 0.004},
                {"kind": "lidar", "name": "scan", "rate": 10, "rays": 180, "sigma": 0.01},
                {"kind": "sonar", "ring": "p3dx", "rate": 10},
            ],
            "estimator": {"kind": "odometry"},
            "rivals": [{"kind": "odometry", "name": "other"}],
            "autonomy": {"kind": "remote"},
        },
        {
            "name": "rover",
            "start": {"x": 15.0, "y": 7.6},
            "sensors": [{"kind": "wheels", "rate": 50}],
            "estimator": {"kind": "odometry"},
            "autonomy": {"kind": "waypoints", "points": [[17, 7.6], [10, 7.6]], "loop": True},
        },
    ],
}


@pytest.fixture
def view() -> Iterator[View]:
    with View(astray.load(SCENARIO)) as made:
        made.start(1e6, speed=1.0)
        until(lambda: made.sim.steps > 20)
        yield made


@pytest.fixture
def tab(browser: Any, view: View) -> Iterator[Tab]:
    made = Tab(browser, view.url)
    yield made
    made.context.close()
    assert made.errors == []
    here = f"127.0.0.1:{view.server.port}/"
    assert [url for url in made.requests if here not in url and not url.startswith("blob:")] == []


def check_state(sim: Sim, state: dict[str, Any]) -> None:
    """The page has the state of the simulation, to the precision of a float32."""
    assert state["time"] == pytest.approx(sim.time)
    rows = [(g, k) for g in sim.robots.values() for k in range(len(g.truth))]
    assert len(state["robots"]) == len(rows)
    for shown, (group, k) in zip(state["robots"], rows, strict=True):
        for column in ("x", "y", "yaw", "vx", "wz"):
            assert shown[column] == pytest.approx(group.truth[column][k], rel=1e-6, abs=1e-6)
        assert set(shown["beliefs"]) == set(group.beliefs())
        for name, belief in group.beliefs().items():
            shown_belief = shown["beliefs"][name]
            for column in ("x", "y", "yaw"):
                assert shown_belief[column] == pytest.approx(belief[column][k], rel=1e-6, abs=1e-6)
            apart = math.hypot(
                belief["x"][k] - group.truth["x"][k], belief["y"][k] - group.truth["y"][k]
            )
            assert shown_belief["error"] == pytest.approx(apart, abs=2e-2)  # against its own stamp


# Drawing.


def test_it_shows_the_state_of_the_simulation(tab: Tab, view: View) -> None:
    tab.page.select_option("#robot", "1")
    tab.wait(
        "s.selected === 1 && s.readings.length === 2 && s.robots[2].trail > 3 && s.samples > 3"
    )
    tab.pause()
    until(lambda: tab.read("step") == view.sim.steps)
    state = tab.state
    check_state(view.sim, state)
    assert state["scene"] == {
        "name": state["scene"]["name"],
        "serial": 1,
        "seed": 5,
        "world": 0,
        "segments": len(view.sim.map()),
    }
    scan, sonar = state["readings"]
    ranges = view.sim.robots["scout"].readings["scan"]["ranges"][1]
    assert scan["numbers"] == pytest.approx([float(r) for r in ranges], rel=1e-6)
    assert (scan["robot"], len(sonar["numbers"])) == (1, 16)


def test_what_is_drawn_is_where_it_should_be(tab: Tab, view: View) -> None:
    tab.pause()
    for name in ("readings", "names", "trails", "grid"):
        if tab.state["shown"][name]:
            tab.page.click(f"#show-{name}")
    tab.page.select_option("#robot", "0")
    rover = view.sim.robots["rover"].truth
    px, py = tab.at(float(rover["x"][0]), float(rover["y"][0]))
    look = """([x, y]) => { const c = document.getElementById("world"), r = c.width / c.clientWidth;
        return [...c.getContext("2d").getImageData(x * r, y * r, 1, 1).data].slice(0, 3); }"""
    tab.page.wait_for_timeout(100)
    wanted = tab.page.evaluate(
        "getComputedStyle(document.documentElement).getPropertyValue('--truth-1').trim()"
    )
    inside = tab.page.evaluate(look, [px - 4, py + 5])
    # Its edge is smoothed, so that a pixel next to it is nearly of the colour.
    assert inside == pytest.approx([int(wanted[k : k + 2], 16) for k in (1, 3, 5)], abs=12)
    assert tab.page.evaluate(look, [px + 60, py + 14]) != inside


# Controls.


def test_play_pause_step_and_speed(tab: Tab, view: View) -> None:
    pace = view.sim.pace
    tab.page.keyboard.press("Space")
    tab.wait("s.paused && !s.playing")
    steps = view.sim.steps
    tab.page.click("#step")
    until(lambda: view.sim.steps == steps + 1)
    tab.page.keyboard.press(".")
    until(lambda: view.sim.steps == steps + 2)
    assert tab.page.get_attribute("#play", "aria-label") == "Play"
    for key, speed in (("]", 2.0), ("]", 5.0), ("[", 2.0)):
        tab.page.keyboard.press(key)
        until(lambda speed=speed: pace.speed == speed)  # type: ignore[misc]
        tab.wait(f"s.speed === {speed}")
    tab.page.fill("#speed", "9")
    until(lambda: pace.speed is None)
    tab.page.fill("#speed", "0")
    until(lambda: pace.speed == 0.1)
    tab.page.click("#play")
    until(lambda: not pace.paused)


def test_reset_with_a_seed(tab: Tab, view: View) -> None:
    until(lambda: view.sim.steps > 60)
    tab.page.fill("#seed", "42")
    tab.page.click("#reset")
    tab.wait("s.scene && s.scene.seed === 42 && s.step >= 0")
    assert view.sim.seed == 42
    tab.pause()
    until(lambda: tab.read("step") == view.sim.steps)
    check_state(view.sim, tab.state)


def test_dragging_a_robot_moves_its_truth_and_not_its_belief(tab: Tab, view: View) -> None:
    tab.pause()
    until(lambda: tab.read("step") == view.sim.steps)
    robot = tab.state["robots"][0]
    believed = dict(robot["beliefs"]["belief"])
    tab.page.keyboard.press("Tab")  # a robot can be dragged without being selected
    tab.drag(tab.at(robot["x"], robot["y"]), tab.at(6.0, 7.6))
    truth = view.sim.robots["scout"].truth
    until(lambda: math.hypot(truth["x"][0] - 6.0, truth["y"][0] - 7.6) < 0.06)
    tab.wait("Math.hypot(s.robots[0].x - 6.0, s.robots[0].y - 7.6) < 0.06 && s.selected === 0")
    assert tab.state["robots"][0]["beliefs"]["belief"]["x"] == believed["x"]
    assert {event.kind for event in view.sim.events} == {"place"}


def test_dragging_an_outline_sets_the_belief_and_not_the_truth(tab: Tab, view: View) -> None:
    tab.pause()
    group = view.sim.robots["scout"]
    group.place(robots=[0], x=6.0, y=7.6)
    view.sim.pace.request(lambda: None)
    tab.wait("s.robots[0].x === 6.0")
    belief = tab.state["robots"][0]["beliefs"]["belief"]
    tab.drag(tab.at(belief["x"], belief["y"]), tab.at(8.0, 7.4))
    tab.wait(
        "Math.hypot(s.robots[0].beliefs.belief.x - 8.0, s.robots[0].beliefs.belief.y - 7.4) < 0.1"
    )
    assert group.belief["x"][0] == pytest.approx(8.0, abs=0.1)
    assert group.truth["x"][0] == 6.0
    assert {event.kind for event in view.sim.events} == {"place", "believe"}


def test_the_handle_turns_a_robot(tab: Tab, view: View) -> None:
    tab.pause()
    until(lambda: tab.read("step") == view.sim.steps)
    tab.page.select_option("#robot", "1")
    robot, scale = tab.state["robots"][1], tab.state["camera"]["scale"]
    away = 0.12 + 22 / scale  # the radius of its footprint, and the handle's 22 pixels
    handle = tab.at(
        robot["x"] + away * math.cos(robot["yaw"]), robot["y"] + away * math.sin(robot["yaw"])
    )
    tab.drag(handle, tab.at(robot["x"], robot["y"] + 1.5))
    truth = view.sim.robots["scout"].truth
    until(lambda: abs(truth["yaw"][1] - math.pi / 2) < 0.05)
    assert truth["x"][1] == pytest.approx(robot["x"], abs=1e-5)


@pytest.mark.parametrize("robot", [0, 2], ids=["remote", "autonomous"])
def test_keys_drive_and_release_stops(tab: Tab, view: View, robot: int) -> None:
    tab.page.select_option("#robot", str(robot))
    tab.page.focus("#world")
    name, row = ("scout", 0) if robot == 0 else ("rover", 0)
    truth = view.sim.robots[name].truth
    tab.page.keyboard.down("ArrowDown")
    until(lambda: truth["vx"][row] < -0.1)
    began = view.sim.time
    until(lambda: view.sim.time > began + 1.2)  # far beyond the dead-man's time
    assert truth["vx"][row] < -0.1
    tab.page.keyboard.up("ArrowDown")
    until(lambda: truth["vx"][row] > -0.01)
    assert view.clients.commands.teleop.drives == {}


def test_leaving_the_window_stops_the_robot(tab: Tab, view: View) -> None:
    tab.page.focus("#world")
    truth = view.sim.robots["scout"].truth
    tab.page.keyboard.down("w")
    until(lambda: truth["vx"][0] > 0.1)
    tab.page.evaluate("window.dispatchEvent(new Event('blur'))")
    until(lambda: truth["vx"][0] == 0.0)


def test_a_finger_drives_by_the_joystick(browser: Any, view: View) -> None:
    tab = Tab(
        browser, view.url, has_touch=True, is_mobile=True, viewport={"width": 820, "height": 700}
    )
    box = tab.page.locator("#joystick").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    truth = view.sim.robots["scout"].truth
    tab.page.mouse.move(x, y)
    tab.page.mouse.down()
    tab.page.mouse.move(x, y - 40, steps=4)
    until(lambda: truth["vx"][0] > 0.1)
    tab.page.mouse.up()
    until(lambda: truth["vx"][0] == 0.0)
    tab.context.close()


def test_pan_zoom_follow_and_fit(tab: Tab, view: View) -> None:
    tab.pause()
    before = tab.state["camera"]
    floor = tab.at(2.0, 1.0)
    tab.page.mouse.move(*floor)
    tab.page.mouse.wheel(0, -400)
    tab.wait(f"s.camera.scale > {before['scale'] * 1.2}")
    assert tab.at(2.0, 1.0) == pytest.approx(floor, abs=1.0)  # the point at the cursor stays
    tab.drag(floor, (floor[0] + 80, floor[1] + 30))
    assert tab.at(2.0, 1.0) == pytest.approx((floor[0] + 80, floor[1] + 30), abs=1.0)
    tab.page.click("#follow")
    tab.wait("s.following && Math.abs(s.camera.x - s.robots[s.selected].x) < 1e-4")
    tab.page.keyboard.press("0")
    tab.wait(f"!s.following && Math.abs(s.camera.scale - {before['scale']}) < 1")
    assert view.sim.events == []


def test_select_by_click_tab_and_list(tab: Tab, view: View) -> None:
    tab.pause()
    until(lambda: tab.read("step") == view.sim.steps)
    robot = tab.state["robots"][2]
    tab.page.mouse.click(*tab.at(robot["x"], robot["y"]))
    tab.wait("s.selected === 2")
    assert tab.page.input_value("#robot") == "2"
    tab.page.keyboard.press("Tab")
    tab.wait("s.selected === 0")
    tab.page.keyboard.press("Shift+Tab")
    tab.wait("s.selected === 2")
    assert view.sim.events == []


def test_every_overlay_can_be_switched(tab: Tab) -> None:
    before = tab.state["shown"]
    names = [name for name in before if name not in ("handle", "contacts")]  # no one tracks here
    for name in names:
        tab.page.click(f"#show-{name}")
    after = tab.state["shown"]
    assert all(after[name] != before[name] for name in names)
    tab.page.focus("#world")
    tab.page.keyboard.press("1")
    assert tab.state["shown"]["beliefs"] == before["beliefs"]


def test_readings_of_all_robots_come_when_they_are_wanted(tab: Tab) -> None:
    tab.wait("s.readings.length === 2")
    tab.page.click("#show-everyone")
    tab.wait("new Set(s.readings.map((r) => r.robot)).size === 2")


def test_any_signal_can_be_plotted(tab: Tab, view: View) -> None:
    tab.page.select_option("#signal", label="scan.max_range  (m)")
    tab.wait("Object.values(s.values).includes(12)")
    tab.page.select_option("#signal", label="position_error  (m)")
    tab.wait("Object.values(s.values).some((v) => v >= 0 && v < 12)")


def test_theme_help_panel_and_picture(tab: Tab, tmp_path: Path) -> None:
    theme = tab.state["theme"]
    tab.page.click("#theme")
    assert tab.state["theme"] != theme
    tab.page.keyboard.press("?")
    assert tab.page.locator("#help").is_visible()
    tab.page.keyboard.press("Escape")
    assert not tab.page.locator("#help").is_visible()
    tab.page.focus("#world")
    tab.page.keyboard.press("b")
    assert not tab.page.locator("#panel").is_visible()
    tab.page.keyboard.press("b")
    with tab.page.expect_download() as download:
        tab.page.click("#shot")
    download.value.save_as(tmp_path / "shot.png")
    assert (tmp_path / "shot.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_every_control_has_a_name_and_can_be_reached_by_keys(tab: Tab) -> None:
    unnamed = """[...document.querySelectorAll("button, input, select, canvas[role]")].filter((e) =>
        !(e.getAttribute("aria-label") || e.textContent.trim() || e.labels?.length)).length"""
    assert tab.page.evaluate(unnamed) == 0
    tab.page.focus("#play")
    seen = set()
    for _ in range(30):
        tab.page.keyboard.press("Tab")
        seen.add(tab.page.evaluate("document.activeElement.id"))
    assert {"step", "speed", "reset", "seed", "robot", "follow", "signal"} <= seen


# Several pages, and reconnecting.


def test_two_browsers_see_the_same_and_each_can_act(browser: Any, view: View) -> None:
    with contextlib.ExitStack() as stack:
        one, two = (Tab(browser, view.url) for _ in range(2))
        stack.callback(one.context.close)
        stack.callback(two.context.close)
        one.pause()
        two.wait("s.paused")
        until(lambda: one.state["step"] == two.state["step"] == view.sim.steps)
        check_state(view.sim, one.state)
        check_state(view.sim, two.state)
        two.page.click("#play")
        one.wait("!s.paused")
        one.wait("s.status.pages === 2")


def test_it_reconnects_when_the_server_is_back(browser: Any) -> None:
    sim = astray.load(SCENARIO)
    first = View(sim, token="same")
    port = first.server.port
    tab = Tab(browser, first.url)
    first.close()
    tab.wait("!s.connected")
    assert "Trying again" in tab.page.inner_text("#notice")
    other = astray.load({**SCENARIO, "seed": 9})
    with View(other, port=port, token="same") as second:
        second.start(1e6, speed=1.0)
        tab.wait("s.connected && s.opened === 2 && s.scene && s.scene.seed === 9 && s.step > 0")
        tab.pause()
        until(lambda: tab.read("step") == other.steps)
        check_state(other, tab.state)
    tab.context.close()


def test_a_thousand_robots_are_drawn(browser: Any) -> None:
    robot = {**SCENARIO["robots"][1], "count": 1000, "start": {"spread": 20.0}}
    sim = astray.load({"robots": [robot], "seed": 1, "dt": 0.01, "duration": 1e3})
    with View(sim) as many:
        many.start(1e6, speed=1.0)
        tab = Tab(browser, many.url)
        tab.wait("s.robots.length === 1000 && s.drawn > 10 && s.step > 50")
        sim.pace.pause()  # a click would wait for several pictures
        tab.wait("s.paused")
        until(lambda: tab.read("step") == sim.steps)
        check_state(sim, tab.state)
        tab.context.close()


# Replay.


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    goal: Path = tmp_path_factory.mktemp("run") / "out"
    sim = astray.load(SCENARIO)
    sim.robots["scout"].drive(0.3, 0.2)
    log = sim.run(4.0, log=0.1)
    sim.write(log, goal)
    return goal


def check_replay(tab: Tab, folder: Path) -> None:
    recording = read_folder(folder)
    assert not tab.page.locator("#reset-form").is_visible()
    for k in (0, 17, 40, 5):
        tab.page.fill("#scrub", str(round(10000 * k / 40)))
        tab.wait(f"s.step === {k}")
        state = tab.state
        for robot, shown in enumerate(state["robots"]):
            wanted = recording.robots[k, robot]
            for c, name in enumerate(("x", "y", "yaw", "vx")):
                assert shown[name] == pytest.approx(float(wanted[c]), abs=6e-4)
        shown_belief = state["robots"][0]["beliefs"]["belief"]
        assert shown_belief["x"] == pytest.approx(float(recording.beliefs[k, 0, 0]), abs=6e-4)
        assert shown_belief["cov"] == pytest.approx(
            [float(v) for v in recording.beliefs[k, 0, 4:]], rel=1e-5
        )
        assert state["readings"][0]["numbers"] == pytest.approx(
            [float(v) for v in recording.readings[0].numbers[k]], abs=6e-4
        )
    tab.page.focus("#world")
    tab.page.keyboard.press(".")
    tab.wait("s.step === 6")
    tab.page.fill("#speed", "0")  # so slowly that it is seen to play, however busy the machine is
    tab.page.click("#play")
    tab.wait("s.playing && s.step > 6")
    tab.page.fill("#speed", "6")
    tab.wait("!s.playing && s.step === 40")  # it ends at the end
    assert tab.errors == []


def test_a_folder_is_replayed_in_the_same_page(browser: Any, folder: Path) -> None:
    server = ReplayServer(encode_recording(read_folder(folder)), log=print)
    server.open()
    try:
        tab = Tab(browser, server.url)
        check_replay(tab, folder)
        tab.context.close()
    finally:
        server.close()


def test_one_file_shows_itself_without_any_server(
    browser: Any, folder: Path, tmp_path: Path
) -> None:
    write_html(encode_recording(read_folder(folder)), tmp_path / "run.html")
    tab = Tab(browser, (tmp_path / "run.html").as_uri())
    check_replay(tab, folder)
    assert {url.partition(":")[0] for url in tab.requests} <= {"file", "blob", "data"}
    assert len([url for url in tab.requests if url.startswith("file")]) == 1
    tab.context.close()
