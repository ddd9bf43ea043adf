"""The types of `simulation_interfaces` 2.1, the ROS 2 standard interface of simulators.

Only those that astray serves. Fields are written as in a .msg file; the constants of the types are
the enumerations below.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache

from astray.ros.messages.types import declare_type

PACKAGE = "simulation_interfaces"


class ServiceResult(IntEnum):
    """Result codes of all services."""

    FEATURE_UNSUPPORTED = 0
    OK = 1
    NOT_FOUND = 2
    INCORRECT_STATE = 3
    OPERATION_FAILED = 4


class SpawnFault(IntEnum):
    """Result codes of SpawnEntity."""

    NAME_NOT_UNIQUE = 101
    NAME_INVALID = 102
    UNSUPPORTED_FORMAT = 103
    NO_RESOURCE = 104
    NAMESPACE_INVALID = 105
    RESOURCE_PARSE_ERROR = 106
    INVALID_POSE = 109


INVALID_POSE = 101  # result code of SetEntityState


class StateFault(IntEnum):
    """Result codes of SetSimulationState."""

    ALREADY_IN_TARGET_STATE = 101
    INCORRECT_TRANSITION = 103


class SimulationState(IntEnum):
    """States of a simulation."""

    STOPPED = 0
    PLAYING = 1
    PAUSED = 2
    QUITTING = 3


class Scope(IntEnum):
    """What ResetSimulation resets, as bits."""

    DEFAULT = 0
    TIME = 1
    STATE = 2
    SPAWNED = 4
    ALL = 255


class Feature(IntEnum):
    """The features of simulators that astray has."""

    SPAWNING = 0
    DELETING = 1
    ENTITY_CATEGORIES = 8
    ENTITY_STATE_GETTING = 10
    ENTITY_STATE_SETTING = 11
    ENTITY_INFO_GETTING = 12
    SPAWNABLES = 14
    SIMULATION_RESET = 20
    SIMULATION_RESET_SPAWNED = 23
    SIMULATION_STATE_GETTING = 24
    SIMULATION_STATE_SETTING = 25
    SIMULATION_STATE_PAUSE = 26
    STEP_SIMULATION_SINGLE = 31
    STEP_SIMULATION_MULTIPLE = 32
    WORLD_INFO_GETTING = 44


ROBOT_CATEGORY = 1  # EntityCategory

MESSAGES = {
    "Result": "uint8 result\nstring error_message",
    "Resource": "string uri\nstring resource_string",
    "Bounds": "uint8 type\ngeometry_msgs/Vector3[] points",
    "TagsFilter": "string[] tags\nuint8 filter_mode",
    "EntityCategory": "uint8 category",
    "EntityFilters": (
        "string filter\nsimulation_interfaces/EntityCategory[] categories\n"
        "simulation_interfaces/TagsFilter tags\nsimulation_interfaces/Bounds bounds"
    ),
    "EntityInfo": (
        "simulation_interfaces/EntityCategory category\nstring description\nstring[] tags"
    ),
    "EntityState": (
        "std_msgs/Header header\ngeometry_msgs/Pose pose\ngeometry_msgs/Twist twist\n"
        "geometry_msgs/Accel acceleration"
    ),
    "SimulationState": "uint8 state",
    "SimulatorFeatures": "uint16[] features\nstring[] spawn_formats\nstring custom_info",
    "Spawnable": (
        "simulation_interfaces/Resource entity_resource\nstring description\n"
        "simulation_interfaces/Bounds spawn_bounds"
    ),
    "WorldResource": (
        "string name\nsimulation_interfaces/Resource world_resource\n"
        "string description\nstring[] tags"
    ),
}
RESULT = "simulation_interfaces/Result result"
FILTERS = "simulation_interfaces/EntityFilters filters"
SERVICES = {
    "GetSimulatorFeatures": ("", "simulation_interfaces/SimulatorFeatures features"),
    "GetEntities": (FILTERS, f"{RESULT}\nstring[] entities"),
    "GetEntitiesStates": (
        FILTERS,
        f"{RESULT}\nstring[] entities\nsimulation_interfaces/EntityState[] states",
    ),
    "GetEntityState": ("string entity", f"{RESULT}\nsimulation_interfaces/EntityState state"),
    "GetEntityInfo": ("string entity", f"{RESULT}\nsimulation_interfaces/EntityInfo info"),
    "SetEntityState": (
        "string entity\nsimulation_interfaces/EntityState state\n"
        "bool set_pose\nbool set_twist\nbool set_acceleration",
        RESULT,
    ),
    "SpawnEntity": (
        "string name\nbool allow_renaming\nsimulation_interfaces/Resource entity_resource\n"
        "string entity_namespace\ngeometry_msgs/PoseStamped initial_pose",
        f"{RESULT}\nstring entity_name",
    ),
    "DeleteEntity": ("string entity", RESULT),
    "GetSpawnables": (
        "string[] sources",
        f"{RESULT}\nsimulation_interfaces/Spawnable[] spawnables",
    ),
    "ResetSimulation": ("uint8 scope", RESULT),
    "StepSimulation": ("uint64 steps", RESULT),
    "GetSimulationState": ("", f"simulation_interfaces/SimulationState state\n{RESULT}"),
    "SetSimulationState": ("simulation_interfaces/SimulationState state", RESULT),
    "GetCurrentWorld": ("", f"{RESULT}\nsimulation_interfaces/WorldResource world"),
}
"""The fields of each service's request and response."""


@cache
def declare_service_types() -> None:
    """Register the types of all services."""
    for name, fields in MESSAGES.items():
        declare_type(f"{PACKAGE}/msg/{name}", f"{fields}\n")
    for name, (request, response) in SERVICES.items():
        # DDS has no empty messages: ROS 2 adds this field to them.
        empty = "uint8 structure_needs_at_least_one_member"
        declare_type(request_of(name), f"{request or empty}\n")
        declare_type(response_of(name), f"{response}\n")


def request_of(service: str) -> str:
    """The message type of a service's requests, as it is registered here."""
    return f"{PACKAGE}/msg/{service}_Request"


def response_of(service: str) -> str:
    """The message type of a service's responses."""
    return f"{PACKAGE}/msg/{service}_Response"
