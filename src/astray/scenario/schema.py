"""The schema of scenarios, made from the plugin classes.

Each declared class becomes a pydantic model with its fields as keys. Each slot of a robot takes
any model of its family; `kind` decides which. A class that is declared before a scenario is read
is part of the schema.
"""

from __future__ import annotations

import dataclasses
import functools
import typing
from types import UnionType
from typing import Annotated, Any, Literal, Optional, Union

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, ConfigDict, Field, PlainValidator, WithJsonSchema, create_model
from pydantic_core import PydanticCustomError

from astray import interactions, metrics
from astray.numerics import MAX_DT, MAX_ROBOTS, MAX_TICK_RATE
from astray.plugin import (
    KINDS,
    TIMING,
    Parameter,
    Plugin,
    distributions,
    field_comments,
    out_of_bounds,
    parameters_of,
)
from astray.robot import autonomy, control, estimators, motion, sensors, tracking
from astray.scenario.start import Start
from astray.scenario.units import QUANTITY_PATTERN, units_of_comment

BUILT_IN_PACKAGES = (
    autonomy,
    control,
    estimators,
    interactions,
    metrics,
    motion,
    sensors,
    tracking,
)
"""The packages whose import declares the built-in kinds."""

STRICT = ConfigDict(extra="forbid", allow_inf_nan=False)
NAME = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]*$")]
SLOTS = {
    "motion": "motion",
    "control": "control",
    "autonomy": "autonomy",
    "sensors": "sensor",
    "estimator": "estimator",
    "rivals": "estimator",
    "contacts": "tracker",
    "metrics": "metric",
    "interactions": "interaction",
}
"""The family of plugins that each slot takes."""

MAP = Annotated[
    Any,
    PlainValidator(lambda map_plan: map_plan),  # `references` has checked it already
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object"}, {"type": "null"}]}),
]
QUANTITY = {"$ref": "#/$defs/quantity"}
_NUMBERS = {"type": "array", "items": {"type": "number"}, "minItems": 1}
DISTRIBUTION = {
    "type": "object",
    "description": "drawn per world, episode and robot",
    "properties": {"normal": _NUMBERS, "uniform": _NUMBERS, "choice": _NUMBERS},
    "additionalProperties": False,
    "minProperties": 1,
    "maxProperties": 1,
}


def _is_optional(hint: Any) -> bool:
    return typing.get_origin(hint) in (typing.Union, UnionType) and type(None) in typing.get_args(
        hint
    )


def _number_type(parameter: Parameter) -> Any:
    """A number within its bounds, or a distribution that stays within them."""
    hint, optional, fixed = parameter.type, _is_optional(parameter.type), parameter.name in TIMING

    def validate(spec: object) -> distributions.Number | None:
        if spec is None and optional:
            return None
        try:
            value = distributions.parse(spec)
        except ValueError as problem:
            raise PydanticCustomError("number", "{why}", {"why": str(problem)}) from None
        if isinstance(value, distributions.DrawnParameter):
            (low, high), drawn = value.range, True
        else:
            low, high, drawn = value, value, False
        if fixed and drawn:
            raise PydanticCustomError("number", "must be one number, not a distribution")
        if wrong := out_of_bounds(hint, low, high):
            got = f", but {low:g} to {high:g} can be drawn" if drawn else f", not {low:g}"
            raise PydanticCustomError("number", "{why}{got}", {"why": wrong, "got": got})
        return value

    schema: dict[str, Any] = {"type": "number"}
    for part in typing.get_args(hint) if optional else (hint,):
        for bound in getattr(part, "__metadata__", ()):
            if isinstance(bound, Gt):
                schema["exclusiveMinimum"] = bound.gt
            elif isinstance(bound, Ge):
                schema["minimum"] = bound.ge
            elif isinstance(bound, Lt):
                schema["exclusiveMaximum"] = bound.lt
            elif isinstance(bound, Le):
                schema["maximum"] = bound.le
    shapes = [schema, *([] if fixed else [DISTRIBUTION]), *([{"type": "null"}] if optional else [])]
    return Annotated[
        Any,
        PlainValidator(validate),
        WithJsonSchema(shapes[0] if len(shapes) == 1 else {"anyOf": shapes}),
    ]


def _field(parameter: Parameter) -> Any:
    kind: Any = parameter.type
    if parameter.number is float or parameter.name in TIMING:
        kind = _number_type(parameter)
    elif parameter.number in (int, bool):
        kind = Annotated[parameter.type, Field(strict=True)]
    if parameter.default is dataclasses.MISSING or _is_required(parameter):
        return kind, ...
    return kind, Field(default=parameter.default)


def _is_required(parameter: Parameter) -> bool:
    """Whether the default is an empty list where the list must not be empty."""
    least = [
        getattr(bound, "min_length", 0) for bound in getattr(parameter.type, "__metadata__", ())
    ]
    return parameter.default == [] and any(least)


@functools.cache
def plugin_model(cls: type[Plugin]) -> type[BaseModel]:
    """The model of one kind of plugin."""
    fields: dict[str, Any] = {p.name: _field(p) for p in parameters_of(cls)}
    return create_model(
        f"{cls.family}_{cls.kind}",
        __config__=STRICT,
        __doc__=(cls.__doc__ or "").strip().split("\n")[0],
        kind=(_literal(cls.kind), ...),
        name=(NAME, cls.kind),
        **fields,
    )


def _literal(name: str) -> Any:
    return Literal[name]


def _optional(kind: Any) -> Any:
    return Optional[kind]  # noqa: UP045 - built at run time


def _list_of(kind: Any) -> Any:
    return list[kind]


def _slot(family: str) -> Any:
    models = tuple(plugin_model(cls) for _, cls in sorted(KINDS[family].items()))
    return Annotated[Union[models], Field(discriminator="kind")]  # noqa: UP007 - built at run time


def start_model() -> type[BaseModel]:
    """The model of a start."""
    fields: dict[str, Any] = {p.name: _field(p) for p in parameters_of(Start)}
    return create_model("start", __config__=STRICT, __doc__=Start.__doc__, **fields)


def footprint_model() -> type[BaseModel]:
    """The model of a footprint: a circle, a box, or a polygon."""
    size = Annotated[float, Field(gt=0)] | None
    corners = Annotated[list[tuple[float, float]], Field(min_length=3)] | None
    return create_model(
        "footprint",
        __config__=STRICT,
        __doc__="The outline that is seen and collides: a circle, a box or a polygon.",
        radius=(size, Field(None, description="m, of a circle")),
        length=(size, Field(None, description="m, of a box along the body")),
        width=(size, Field(None, description="m, of a box across the body")),
        x=(float, Field(0.0, description="m, of the middle in the body frame")),
        y=(float, Field(0.0, description="m, of the middle in the body frame")),
        corners=(corners, Field(None, description="m, of a polygon in the body frame")),
    )


def world_model() -> type[BaseModel]:
    """The model of the world around the robots."""
    about = "a file, a bundled map, a generator, or walls, boxes, polygons and circles"
    return create_model("world", __config__=STRICT, map=(MAP, Field(None, description=about)))


def robot_model() -> type[BaseModel]:
    """The model of one group of robots, with the plugin classes that are declared now."""
    count = Annotated[int, Field(strict=True, ge=0, le=MAX_ROBOTS)]
    return create_model(
        "robot",
        __config__=STRICT,
        name=(NAME, ...),
        count=(count, Field(1, description="robots per world")),
        capacity=(count | None, Field(None, description="robots per world that there can be")),
        start=(start_model(), Field(default_factory=dict, validate_default=True)),
        motion=(_slot("motion"), Field({"kind": "differential"}, validate_default=True)),
        control=(_slot("control"), Field({"kind": "servo"}, validate_default=True)),
        autonomy=(_slot("autonomy"), Field({"kind": "remote"}, validate_default=True)),
        sensors=(_list_of(_slot("sensor")), Field([])),
        estimator=(_optional(_slot("estimator")), None),
        rivals=(_list_of(_slot("estimator")), Field([])),
        contacts=(
            _optional(_slot("tracker")),
            Field(None, description="the tracker of other robots"),
        ),
        footprint=(_optional(footprint_model()), Field(None, description="a circle of 0.2 m")),
        map=(MAP, Field(None, description="the map the robots are given; by default the world's")),
    )


def scenario_model() -> type[BaseModel]:
    """The model of a whole scenario, with the plugin classes that are declared now."""
    positive = Annotated[float, Field(gt=0, strict=True)]
    tick = Annotated[float, Field(ge=1 / MAX_TICK_RATE, le=MAX_DT, strict=True)]
    return create_model(
        "scenario",
        __config__=STRICT,
        name=(str | None, Field(None, description="by default the name of the file")),
        duration=(positive, Field(60.0, description="s")),
        dt=(tick | None, Field(None, description="s; by default the largest that fits all rates")),
        seed=(Annotated[int, Field(strict=True, ge=0, lt=2**63)], 0),
        plugins=(list[str], Field([], description="Python files beside this one, or modules")),
        robots=(_list_of(robot_model()), Field(min_length=1)),
        metrics=(_list_of(_slot("metric")), Field([])),
        world=(_optional(world_model()), Field(None, description="the world around the robots")),
        interactions=(
            _optional(_list_of(_slot("interaction"))),
            Field(None, description="by default collisions, if there is a world"),
        ),
    )


def _describe(schema: dict[str, Any], cls: type) -> None:
    """Put the comments of a class's fields into its schema."""
    for name, unit in field_comments(cls).items():
        if name in schema.get("properties", {}):
            schema["properties"][name]["description"] = unit


def _nested_classes(hint: Any) -> list[type]:
    """The dataclasses within the type of a parameter."""
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return [hint]
    return [cls for part in typing.get_args(hint) for cls in _nested_classes(part)]


def _accept_quantities(schema: dict[str, Any]) -> None:
    """Let numbers with a unit stand where a description begins with one."""
    for name, field in schema.get("properties", {}).items():
        if units_of_comment(field.get("description", "")):
            schema["properties"][name] = _with_quantities(field)


def _with_quantities(schema: Any) -> Any:
    """A schema whose numbers may have a unit."""
    if isinstance(schema, list):
        return [_with_quantities(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") == "number":
        about = {k: v for k, v in schema.items() if k in ("default", "description", "title")}
        number = {k: v for k, v in schema.items() if k not in about}
        return {**about, "anyOf": [number, QUANTITY]}
    made = {k: v if k == "default" else _with_quantities(v) for k, v in schema.items()}
    if "anyOf" in made:  # one list of types is easier to read than lists in lists
        made["anyOf"] = [one for part in made["anyOf"] for one in part.get("anyOf", [part])]
    return made


def json_schema() -> dict[str, Any]:
    """The JSON schema of scenario files, with the plugin classes that are declared now.

    Returns:
        The schema. A robot may have a `preset`, which is gone once layers are merged.
    """
    schema = scenario_model().model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "astray scenario"
    for family in KINDS.values():
        for cls in family.values():
            _describe(schema["$defs"].get(f"{cls.family}_{cls.kind}", {}), cls)
            for inner in (c for p in parameters_of(cls) for c in _nested_classes(p.type)):
                _describe(schema["$defs"].get(inner.__name__, {}), inner)
    _describe(schema["$defs"]["start"], Start)
    for part in (schema, *schema["$defs"].values()):
        _accept_quantities(part)
    schema["$defs"]["quantity"] = {
        "type": "string",
        "pattern": QUANTITY_PATTERN,
        "description": "a number with a unit, such as 90 deg",
    }
    robot = schema["$defs"]["robot"]
    robot["properties"]["preset"] = {"type": "string", "description": "robot to start from"}
    return schema
