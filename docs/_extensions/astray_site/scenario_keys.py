"""The keys of a scenario, read from the schema that checks it."""

from __future__ import annotations

import json
from typing import Any

from astray.scenario import json_schema
from astray_site.markdown import join, literal, table

PARTS = (
    ("", "Scenario", "The keys at the top of a file."),
    ("robot", "Robots", "The keys of a group: an entry of the list `robots`."),
    ("start", "Start", "Where the robots of a group begin: the key `start` of a robot."),
    ("footprint", "Footprint", "The key `footprint` of a robot: a circle or a polygon."),
    ("world", "World", "The key `world`: what is around the robots."),
    ("ScriptStep", "Steps", "An entry of `steps` of the autonomy `scripted`."),
    ("Spells", "Spells", "The key `spells` of the sensor `wheels`."),
    ("Surface", "Surfaces", "An entry of `surfaces` of the sensor `wheels`."),
)
"""The definitions of the schema that are no kinds: their names, headings and what they are."""
WORDS = {
    "number": "number",
    "integer": "whole number",
    "string": "text",
    "boolean": "true or false",
}


def pages() -> dict[str, str]:
    """Make the page."""
    schema: dict[str, Any] = json_schema()
    parts = []
    for name, heading, about in PARTS:
        definition = schema["$defs"][name] if name else schema
        required = definition.get("required", [])
        rows = [
            (literal(key), type_text(value), default_text(key, value, required), meaning(value))
            for key, value in definition["properties"].items()
        ]
        parts += [f"## {heading}", about, table(("key", "value", "default", "meaning"), rows)]
    text = join(
        "# Keys of a scenario",
        "Made from the schema that checks scenarios; `astray check --schema` prints it, and "
        "editors complete and check files by it "
        "({download}`scenario.schema.json </scenario.schema.json>`). "
        "[Scenarios](/reference/scenarios.md) says what the keys mean together, and how presets "
        "and `--set` merge. The keys of a part with a `kind` are on the page of "
        "[that kind](/reference/kinds/index.md).",
        *parts,
    )
    return {"reference/schema/index": text}


def default_text(key: str, value: dict[str, Any], required: list[str]) -> str:
    """The default of a key."""
    if key in required:
        return "needed"
    default = value.get("default")
    return "–" if default is None else literal(json.dumps(default, ensure_ascii=False))


def meaning(value: dict[str, Any]) -> str:
    """What the schema says of a key."""
    found = value.get("description", "")
    choices = value.get("enum", ())
    named = ", ".join(literal(str(choice)) for choice in choices)
    return "; ".join(filter(None, (found, f"one of {named}" if named else "")))


def type_text(value: dict[str, Any]) -> str:
    """The type of a value in words."""
    if "$ref" in value:
        name = str(value["$ref"]).rpartition("/")[2]
        return {"quantity": "number with a unit"}.get(name, name)
    if "oneOf" in value:
        family = value["oneOf"][0]["$ref"].rpartition("/")[2].partition("_")[0]
        return f"{family} with its `kind`"
    if "anyOf" in value:
        parts = [type_text(part) for part in value["anyOf"]]
        kept = [p for p in dict.fromkeys(parts) if p and p != "null"]
        return ", ".join(kept[:-1]) + f" or {kept[-1]}" if len(kept) > 1 else kept[0]
    if "enum" in value:
        return "word"
    if value.get("type") == "array":
        items = value.get("items")
        return f"list of {type_text(items)}" if isinstance(items, dict) and items else "list"
    if value.get("type") == "object":
        return "distribution" if "normal" in value.get("properties", {}) else "mapping"
    return WORDS.get(value.get("type", ""), "word")
