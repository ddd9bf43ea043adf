"""From a file to a scenario; start reading here.

`load_scenario` reads a file (`files.read_yaml`, where every value gets its line and column), merges
the layers preset < scenario < `--set` (`layers`), converts numbers with units (`quantities`), reads
the files that the scenario refers to (`references`), validates the whole against the schema
(`schema`, whose errors `faults` explains), builds the plan of each group of robots, and checks that
all parts fit together (`cross_checks`). Every step appends its faults to one list, so that all of
them are reported at once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

from pydantic import BaseModel, ValidationError

from astray.errors import Fault, Origin, ScenarioError, suggest
from astray.files import Marked, mark, read_yaml
from astray.plugin import KINDS
from astray.presets import SCENARIOS
from astray.scenario.blocked_starts import warn_of_blocked_starts
from astray.scenario.cross_checks import check_scenario, check_tree, choose_dt
from astray.scenario.export import effective_scenario
from astray.scenario.faults import NEEDED, explain_all
from astray.scenario.layers import with_overrides, with_presets
from astray.scenario.plugin_files import load_plugins
from astray.scenario.quantities import convert_quantities
from astray.scenario.references import read_map_references, read_signal_references
from astray.scenario.scenario import GroupPlan, Scenario
from astray.scenario.schema import scenario_model
from astray.scenario.start import Start
from astray.world.geometry import Footprint

SET_BEFORE_PRESETS = re.compile(r"(^|\.)(preset|plugins)$")

Source = str | Path | Mapping[str, Any]


def bundled() -> dict[str, Path]:
    """The files of the scenarios that come with astray, by name."""
    return {file.stem: file for file in sorted(SCENARIOS.glob("*.yaml"))}


def load_scenario(source: Source, overrides: str | Sequence[str] = ()) -> Scenario:
    """Load and check a scenario.

    Args:
        source: A file, the name of a bundled scenario, or a mapping.
        overrides: Texts `path=value`, as of `--set`; later ones win.

    Returns:
        The scenario.

    Raises:
        ScenarioError: With every fault, each with file, line and column.
    """
    faults: list[Fault] = []
    tree, folder, name = _read(source, faults)
    if tree is None:
        raise ScenarioError(faults)
    if not isinstance(tree.value, dict):
        raise ScenarioError([Fault(tree.origin, "", "a scenario is a mapping of keys to values")])
    tree = _merge_layers(tree, folder, overrides, faults)
    convert_quantities(tree, faults)
    read_signal_references(tree, faults)
    read_map_references(tree, faults)
    check_tree(tree, faults)
    dt = choose_dt(tree, faults)
    model = _validate(tree, faults)
    if model is None:
        raise ScenarioError(faults)
    scenario = _build(model, name, dt)
    check_scenario(scenario, tree, faults)
    if faults:
        raise ScenarioError(faults)
    warn_of_blocked_starts(scenario, tree)
    return scenario


def _read(source: Source, faults: list[Fault]) -> tuple[Marked | None, Path, str]:
    """The values of a scenario, the folder that its files are found from, and its name."""
    if isinstance(source, Mapping):
        return mark(source, "scenario"), Path.cwd(), "scenario"
    known = bundled()
    path = known.get(str(source), Path(source))
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        message = f"not a text file in UTF-8{_hint(path)}"
    except IsADirectoryError:
        message = "a folder, not a file"
    except FileNotFoundError:
        names = f"; bundled scenarios: {', '.join(known)}"
        hint = suggest(str(source), known)
        message = f"no such file, and no bundled scenario of that name{hint}{names}"
    except (OSError, ValueError) as problem:  # an impossible file name is a ValueError
        message = getattr(problem, "strerror", None) or str(problem)
    else:
        return read_yaml(text, str(path), faults), path.resolve().parent, path.stem
    faults.append(Fault(Origin(str(path)), "", message))
    return None, Path.cwd(), ""


def _hint(path: Path) -> str:
    """What to do with a file that is no scenario but another file of astray."""
    if is_zipfile(path):  # as archives of arrays are
        return f'; if it is a saved run, `astray.resume("{path}")` of Python goes on with it'
    if path.suffix == ".mcap":
        return f"; if it is a recording, `astray replay {path}` shows it"
    return ""


def _merge_layers(
    tree: Marked, folder: Path, overrides: str | Sequence[str], faults: list[Fault]
) -> Marked:
    """The scenario over its presets and under its overrides, with its plugins imported.

    An override of a preset or of the plugins comes before presets are merged, any other after.
    """
    numbered = dict(enumerate([overrides] if isinstance(overrides, str) else overrides, 1))
    early = {
        number: text
        for number, text in numbered.items()
        if SET_BEFORE_PRESETS.search(str(text).partition("=")[0])
    }
    late = {number: text for number, text in numbered.items() if number not in early}
    tree = with_overrides(tree, early, faults)
    load_plugins(tree, folder, faults)
    tree = with_presets(tree, folder, faults)
    return with_overrides(tree, late, faults)


def _validate(tree: Marked, faults: list[Fault]) -> BaseModel | None:
    try:
        return scenario_model().model_validate(tree.plain())
    except ValidationError as problem:
        known = [fault.path for fault in faults]
        found = explain_all(problem.errors(include_url=False), tree)
        faults.extend(fault for fault in found if not _is_known(fault, known))
        return None


def _is_known(fault: Fault, known: list[str]) -> bool:
    """Whether a fault only repeats that a value with a wrong unit is no number."""
    if NEEDED not in fault.message:
        return False
    return any(path == fault.path or path.startswith(f"{fault.path}.") for path in known)


def _build(model: Any, name: str, dt: float) -> Scenario:
    """The scenario of a validated model, with its plugins made."""
    scenario = Scenario(
        name=model.name or name,
        dt=dt,
        duration=model.duration,
        seed=model.seed,
        robots=[_build_group(robot) for robot in model.robots],
        metrics=[_build_plugin(metric, "metric") for metric in model.metrics],
        map=model.world.map if model.world else None,
        interactions=_build_interactions(model),
    )
    return replace(scenario, effective=effective_scenario(scenario, model.plugins))


def _build_group(robot: Any) -> GroupPlan:
    return GroupPlan(
        name=robot.name,
        count=robot.count,
        capacity=max(robot.count, robot.capacity or 0),
        start=Start(**dict(robot.start)),
        motion=_build_plugin(robot.motion, "motion"),
        control=_build_plugin(robot.control, "control"),
        autonomy=_build_plugin(robot.autonomy, "autonomy"),
        sensors=[_build_plugin(sensor, "sensor") for sensor in robot.sensors],
        estimator=_build_plugin(robot.estimator, "estimator") if robot.estimator else None,
        rivals=[_build_plugin(rival, "estimator") for rival in robot.rivals],
        contacts=_build_plugin(robot.contacts, "tracker") if robot.contacts else None,
        footprint=_build_footprint(robot.footprint),
        map=robot.map,
    )


def _build_plugin(model: BaseModel, family: str) -> Any:
    values = dict(model)
    return KINDS[family][values.pop("kind")](**values)


def _build_footprint(model: Any) -> Footprint:
    if model is None:
        return Footprint()
    if model.corners is not None:
        return Footprint.polygon(model.corners)
    if model.length is not None and model.width is not None:
        return Footprint.box(model.length, model.width, model.x, model.y)
    return Footprint(model.x, model.y, model.radius or Footprint.radius)


def _build_interactions(model: Any) -> list[Any]:
    """The interactions of a scenario; by default collisions, if there is a world."""
    if model.interactions is None:
        return [KINDS["interaction"]["collisions"]()] if model.world else []
    return [_build_plugin(interaction, "interaction") for interaction in model.interactions]
