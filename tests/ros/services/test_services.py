"""The services of simulation_interfaces on a run in another thread, without a transport."""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import astray
from astray.ros.messages.simulation_interfaces import (
    Feature,
    Scope,
    ServiceResult,
    SimulationState,
    SpawnFault,
    StateFault,
)
from astray.ros.messages.types import BadMessage
from astray.ros.services.entities import BadFilter, name_pattern
from astray.ros.services.simulation import Services, service_name
from astray.sim import Sim
from support.rosbridge import load

OK = ServiceResult.OK


@contextlib.contextmanager
def running(sim: Sim, speed: float | None = 1.0) -> Iterator[Services]:
    """A run in the background, and its services."""
    thread = threading.Thread(target=lambda: sim.run(1e9, speed=speed), daemon=True)
    thread.start()
    services = Services(sim, timeout=20.0)
    try:
        yield services
    finally:
        while thread.is_alive():
            sim.pace.stop()
            thread.join(0.05)


@pytest.fixture
def services() -> Iterator[Services]:
    with running(load(count=2, capacity=4)) as services:
        yield services


def call(services: Services, service: str, /, **request: Any) -> dict[str, Any]:
    return services.table[service].call(request)


def code(response: dict[str, Any]) -> int:
    return int(response["result"]["result"])


def set_state(services: Services, state: SimulationState) -> int:
    return code(call(services, "/set_simulation_state", state={"state": int(state)}))


def x_of(services: Services, entity: str) -> float:
    found = call(services, "/get_entity_state", entity=entity)
    return float(found["state"]["pose"]["position"]["x"])


def test_services_are_named_after_their_types(services: Services) -> None:
    assert service_name("GetEntitiesStates") == "/get_entities_states"
    assert services.table["/spawn_entity"].type == "simulation_interfaces/srv/SpawnEntity"
    features = call(services, "/get_simulator_features")["features"]["features"]
    assert features == [int(feature) for feature in Feature]


# Entities.


def test_entities_are_found_by_pattern_and_category(services: Services) -> None:
    def find(**filters: Any) -> Any:
        return call(services, "/get_entities", filters=filters)

    assert find()["entities"] == ["rover_0", "rover_1"]
    assert find(filter="_1$")["entities"] == ["rover_1"]
    assert find(categories=[{"category": 2}])["entities"] == []
    assert find(categories=[{"category": 2}, {"category": 1}])["entities"] == ["rover_0", "rover_1"]
    assert code(find(filter="(")) == ServiceResult.OPERATION_FAILED
    assert code(find(tags={"tags": ["red"]})) == ServiceResult.FEATURE_UNSUPPORTED
    assert code(find(bounds={"type": 3})) == ServiceResult.FEATURE_UNSUPPORTED


@pytest.mark.parametrize("text", ["(a+)+b", "a*" * 4, "(a|b){9}", "x" * 201, "["])
def test_a_pattern_that_could_block_the_run_is_refused(text: str) -> None:
    with pytest.raises(BadFilter):
        name_pattern(text)


def test_states_are_the_truth_seen_from_the_world(services: Services) -> None:
    set_state(services, SimulationState.PAUSED)
    services.sim.robots["rover"].drive(0.5, 0.4)
    call(services, "/step_simulation", steps=40)
    found = call(services, "/get_entities_states")
    truth = services.sim.truth
    for k, state in enumerate(found["states"]):
        position, q = state["pose"]["position"], state["pose"]["orientation"]
        assert (position["x"], position["y"]) == (truth["x"][k], truth["y"][k])
        assert 2 * math.atan2(q["z"], q["w"]) == pytest.approx(truth["yaw"][k])
        speed, yaw = truth["vx"][k], truth["yaw"][k]
        assert state["twist"]["linear"]["x"] == pytest.approx(speed * math.cos(yaw))
        assert state["twist"]["linear"]["y"] == pytest.approx(speed * math.sin(yaw))
        assert state["twist"]["angular"]["z"] == truth["wz"][k]
        assert state["header"]["frame_id"] == "world"


def test_a_state_that_is_set_is_the_state_that_is_read(services: Services) -> None:
    set_state(services, SimulationState.PAUSED)
    yaw = 2.0
    pose = {
        "position": {"x": 4.0, "y": 1.5},
        "orientation": {"z": math.sin(yaw / 2), "w": math.cos(yaw / 2)},
    }
    twist = {"linear": {"x": 0.3 * math.cos(yaw), "y": 0.3 * math.sin(yaw)}, "angular": {"z": 0.2}}
    wanted = {"pose": pose, "twist": twist}
    response = call(services, "/set_entity_state", entity="rover_1", state=wanted)
    assert code(response) == OK  # without flags both are meant, as before version 2
    state = call(services, "/get_entity_state", entity="rover_1")["state"]
    assert state["pose"]["position"] == {"x": 4.0, "y": 1.5, "z": 0.0}
    assert services.sim.truth["vx"][1] == pytest.approx(0.3)
    assert services.sim.truth["vy"][1] == pytest.approx(0.0)
    assert state["twist"]["linear"]["x"] == pytest.approx(twist["linear"]["x"])
    only = {"pose": {"position": {"x": 1.0}}, "twist": twist}
    call(services, "/set_entity_state", entity="rover_1", state=only, set_twist=True)
    assert x_of(services, "rover_1") == 4.0


def test_a_quaternion_that_is_not_quite_of_length_1_has_its_yaw(
    services: Services,
) -> None:
    set_state(services, SimulationState.PAUSED)
    q = {"z": 1.008 * math.sin(1.0), "w": 1.008 * math.cos(1.0)}
    wanted = {"pose": {"position": {"x": 4.0, "y": 1.5}, "orientation": q}}
    call(services, "/set_entity_state", entity="rover_1", state=wanted)
    assert services.sim.truth["yaw"][1] == pytest.approx(2.0)


@pytest.mark.parametrize(
    "state",
    [
        {"pose": {"orientation": {"w": 3.0}}},
        {"pose": {"position": {"x": float("nan")}}},
        {"header": {"frame_id": "the_moon"}},
    ],
)
def test_an_invalid_pose_is_refused(services: Services, state: Any) -> None:
    assert code(call(services, "/set_entity_state", entity="rover_0", state=state)) == 101
    wanted = {"initial_pose": state, "allow_renaming": True, "entity_resource": {"uri": "rover"}}
    if "header" in state or "pose" in state:
        assert code(call(services, "/spawn_entity", **wanted)) == SpawnFault.INVALID_POSE


def test_a_robot_that_is_not_alive_is_not_found(services: Services) -> None:
    for name in ("/get_entity_state", "/get_entity_info", "/delete_entity", "/set_entity_state"):
        for entity in ("stranger", "rover_3", ""):
            assert code(call(services, name, entity=entity)) == ServiceResult.NOT_FOUND


def test_robots_are_spawned_until_all_of_the_scenario_are_alive(services: Services) -> None:
    def spawn(**more: Any) -> Any:
        return call(services, "/spawn_entity", **more)

    rover = {"entity_resource": {"uri": "rover"}}
    pose = {"pose": {"position": {"x": 6.0, "y": 3.0}}}
    assert code(spawn(name="rover_0", **rover)) == SpawnFault.NAME_NOT_UNIQUE
    assert code(spawn(name="fido", **rover)) == SpawnFault.NAME_INVALID
    assert code(spawn(name="fido")) == SpawnFault.NO_RESOURCE
    assert code(spawn(entity_resource={"uri": "tank"})) == SpawnFault.RESOURCE_PARSE_ERROR
    assert (
        code(spawn(entity_resource={"resource_string": "<sdf/>"})) == SpawnFault.UNSUPPORTED_FORMAT
    )
    assert code(spawn(entity_namespace="/ns", **rover)) == SpawnFault.NAMESPACE_INVALID
    listed = call(services, "/get_spawnables")["spawnables"]
    assert [found["entity_resource"]["uri"] for found in listed] == ["rover"]
    third = spawn(name="rover_3", initial_pose=pose, **rover)
    assert (code(third), third["entity_name"]) == (OK, "rover_3")
    assert x_of(services, "rover_3") == 6.0
    second = spawn(name="fido", allow_renaming=True, initial_pose=pose, **rover)
    assert second["entity_name"] == "rover_2"
    assert code(spawn(allow_renaming=True, **rover)) == ServiceResult.OPERATION_FAILED
    assert call(services, "/get_spawnables")["spawnables"] == []
    assert code(call(services, "/reset_simulation", scope=int(Scope.SPAWNED))) == OK
    assert call(services, "/get_entities")["entities"] == ["rover_0", "rover_1"]


def test_several_worlds_have_entities_of_their_own() -> None:
    sim = astray.load("remote", worlds=2)
    with running(sim) as services:
        assert call(services, "/get_entities")["entities"] == ["world_0/rover", "world_1/rover"]
        pose = {"pose": {"position": {"x": 9.0}}, "header": {"frame_id": "world_1/map"}}
        set_state(services, SimulationState.PAUSED)
        call(services, "/set_entity_state", entity="world_1/rover", state=pose)
        assert sim.truth["x"].tolist() == [0.0, 9.0]


# The simulation.


def test_a_run_is_paused_stepped_and_played(services: Services) -> None:
    sim = services.sim
    assert code(call(services, "/step_simulation", steps=1)) == ServiceResult.OPERATION_FAILED
    assert set_state(services, SimulationState.PAUSED) == OK
    assert set_state(services, SimulationState.PAUSED) == StateFault.ALREADY_IN_TARGET_STATE
    assert call(services, "/get_simulation_state")["state"]["state"] == SimulationState.PAUSED
    before = sim.steps
    assert code(call(services, "/step_simulation")) == OK
    assert sim.steps == before + 1
    assert code(call(services, "/step_simulation", steps=100)) == OK
    assert sim.steps == before + 101
    assert code(call(services, "/step_simulation", steps=2**63)) == ServiceResult.OPERATION_FAILED
    assert set_state(services, SimulationState.PLAYING) == OK
    assert call(services, "/get_simulation_state")["state"]["state"] == SimulationState.PLAYING


def test_a_run_that_is_stopped_is_at_its_start(services: Services) -> None:
    services.sim.robots["rover"].drive(0.5)
    assert set_state(services, SimulationState.STOPPED) == OK
    assert call(services, "/get_simulation_state")["state"]["state"] == SimulationState.STOPPED
    assert x_of(services, "rover_0") == 1.0
    assert set_state(services, SimulationState.PAUSED) == OK
    assert set_state(services, SimulationState.QUITTING) == ServiceResult.FEATURE_UNSUPPORTED
    assert set_state(services, 77) == StateFault.INCORRECT_TRANSITION  # type: ignore[arg-type]


def test_a_reset_gives_the_run_from_its_start_bit_for_bit() -> None:
    sim = load()
    with running(sim) as services:
        set_state(services, SimulationState.PAUSED)
        call(services, "/step_simulation", steps=50)
        assert code(call(services, "/reset_simulation")) == OK
        assert sim.tick == 0
        call(services, "/step_simulation", steps=20)
        again = sim.robots["rover"].readings["imu"].table.copy()
    fresh = load()
    fresh.step(20)
    assert (again["wz"] == fresh.robots["rover"].readings["imu"]["wz"]).all()
    assert (sim.truth["x"] == fresh.truth["x"]).all()


def test_time_alone_cannot_be_reset(services: Services) -> None:
    for scope in (Scope.TIME, Scope.STATE, Scope.TIME | Scope.SPAWNED):
        response = call(services, "/reset_simulation", scope=int(scope))
        assert code(response) == ServiceResult.FEATURE_UNSUPPORTED


def test_a_run_changed_by_services_replays_from_its_events() -> None:
    sim = load(count=1, capacity=2)
    with running(sim) as services:
        pose = {"pose": {"position": {"x": 4.0, "y": 3.0}}}
        call(
            services,
            "/spawn_entity",
            entity_resource={"uri": "rover"},
            name="rover_1",
            initial_pose=pose,
        )
        call(
            services,
            "/set_entity_state",
            entity="rover_0",
            state={"pose": {"position": {"x": 2.0}}},
        )
        call(services, "/delete_entity", entity="rover_1")
        set_state(services, SimulationState.PAUSED)
        steps = sim.steps
        digest = sim.digest()
    twin = load(count=1, capacity=2)
    twin.replay(sim.events)
    twin.step(steps)
    twin.apply_due_events()  # the last of them may have come while the run rested at its end
    assert twin.digest() == digest


def test_the_events_of_a_paused_run_replay_in_their_order() -> None:
    sim = load(count=2)
    with running(sim) as services:
        set_state(services, SimulationState.PAUSED)
        for entity, x in (("rover_1", 3.0), ("rover_0", 4.0)):
            moved = {"pose": {"position": {"x": x}}}
            call(services, "/set_entity_state", entity=entity, state=moved)
            call(services, "/reset_simulation")
        call(services, "/step_simulation", steps=10)
        steps, digest = sim.steps, sim.digest()
    twin = load(count=2)
    twin.replay(sim.events)
    twin.step(steps)
    assert twin.digest() == digest


def test_the_world_has_a_name_and_a_description(services: Services) -> None:
    world = call(services, "/get_current_world")["world"]
    assert world["name"]
    assert "seed 5" in world["description"]
    assert call(services, "/get_entity_info", entity="rover_0")["info"]["tags"] == ["rover"]


def test_a_call_to_a_run_that_does_not_step_times_out() -> None:
    response = call(Services(load(), timeout=0.05), "/get_entity_state", entity="rover")
    assert code(response) == ServiceResult.OPERATION_FAILED
    assert "did not answer" in response["result"]["error_message"]


def test_a_request_with_unknown_fields_is_refused(services: Services) -> None:
    with pytest.raises(BadMessage, match="no field 'robot'"):
        call(services, "/get_entity_state", robot="rover_0")


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of what brackets may once mean
@given(st.text(alphabet="ab_1.*+?[](){}|^$\\", max_size=12))
@settings(max_examples=200)
def test_a_pattern_is_valid_or_refused(text: str) -> None:
    with contextlib.suppress(BadFilter):
        name_pattern(text).search("world_12/rover_3")
