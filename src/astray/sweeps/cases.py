"""The cases of a sweep: every combination of the varied values, each in the same worlds."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from astray.engine import is_whole
from astray.errors import Fault, Origin, ScenarioError, WrongInput
from astray.files import read_yaml
from astray.scenario import Scenario, Source, load_scenario
from astray.version import __version__

MAX_CASES = 10_000  # each is loaded and checked before anything runs
MAX_WORLDS = 2**31  # a world has a number of 32 bits
GIVEN_SEPARATELY = ("seed", "duration")  # arguments that would replace a varied value
Vary = Mapping[str, Sequence[Any]]
"""The values of each varied path of the scenario."""


@dataclass(frozen=True)
class SweepTask:
    """The unit of work: some consecutive worlds of one case."""

    case: int
    first: int
    count: int


@dataclass(frozen=True)
class SweepPlan:
    """A sweep whose cases were all checked. It is plain data, which the results database keeps.

    The case with index k has the k-th combination of the varied values; the last path varies
    fastest.
    """

    scenario: str
    """The name of the scenario."""
    vary: dict[str, list[Any]]
    """The values of each varied path."""
    worlds: int
    """The number of worlds of each case."""
    metrics: dict[str, dict[str, str]]
    """The unit of each metric, and whether it is averaged over time as "rms" or "mean"."""
    files: dict[str, str]
    """Digests of the plugins and maps that the cases read from files."""
    cases: list[dict[str, Any]]
    """The effective scenario of each case, with its seed and duration."""
    astray: str = __version__

    def case_values(self) -> list[dict[str, Any]]:
        """The value of every varied path, for each case."""
        return _combinations(self.vary)

    def case_names(self) -> list[str]:
        """The varied values of each case as text, as `--set` takes them."""
        return [_case_name(values) for values in self.case_values()]


def _combinations(vary: Vary) -> list[dict[str, Any]]:
    return [dict(zip(vary, values, strict=True)) for values in itertools.product(*vary.values())]


def _case_name(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{path}={yaml_text(value)}" for path, value in values.items())


def yaml_text(value: Any, nested: bool = False) -> str:
    """A value as YAML on one line.

    Args:
        value: Plain data.
        nested: Whether it stands in a list or a mapping. A text that stands alone is not quoted
            where YAML reads it back as the same text.

    Returns:
        Text that YAML reads back as the value.
    """
    if isinstance(value, str) and not nested:
        read = read_yaml(value, "", [])
        return value if read is not None and read.value == value else json.dumps(value)
    if isinstance(value, Mapping):
        entries = (f"{yaml_text(str(k), True)}: {yaml_text(v, True)}" for k, v in value.items())
        return f"{{{', '.join(entries)}}}"
    if isinstance(value, list):
        return f"[{', '.join(yaml_text(v, True) for v in value)}]"
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    return json.dumps(value, ensure_ascii=False)


def parse_vary(options: Sequence[str]) -> dict[str, list[Any]]:
    """Parse options of the form `PATH=V1,V2,V3`, whose values are a YAML list without brackets.

    Returns:
        The values of each path.

    Raises:
        WrongInput: An option has another form, or a path is given twice.
    """
    vary: dict[str, list[Any]] = {}
    for option in options:
        path, equals, values = option.partition("=")
        path = path.strip()
        read = read_yaml(f"[{values}]", "--vary", []) if equals and path else None
        if read is None or not read.value:
            raise WrongInput(f"--vary: {option!r} is not path=value,value,... with values in YAML")
        if path in vary:
            raise WrongInput(f"--vary: {path} stands twice; list all its values at once")
        vary[path] = read.plain()
    return vary


def make_plan(
    source: Source,
    vary: Vary | None = None,
    *,
    worlds: int = 100,
    seed: int | None = None,
    duration: float | None = None,
    set: Sequence[str] = (),
) -> SweepPlan:
    """Load and check every case of a sweep.

    Args:
        source: The scenario: a path, the name of a bundled one, or a mapping.
        vary: The values of each varied path.
        worlds: The number of worlds of each case.
        seed: The seed of all cases; that of the scenario unless given.
        duration: The simulated time of each world, s; that of the scenario unless given.
        set: Changes to the scenario, "path=value".

    Returns:
        The plan.

    Raises:
        ScenarioError: With every fault of every case.
        WrongInput: Another argument is wrong, or no case has a metric.
    """
    varied = {str(path): _value_list(str(path), values) for path, values in (vary or {}).items()}
    _check_arguments(varied, worlds, {"seed": seed, "duration": duration})
    given: dict[str, Any] = {"seed": seed, "duration": duration}
    given = {key: value for key, value in given.items() if value is not None}
    scenarios = _load_cases(source, varied, set)
    files: dict[str, str] = {}
    metrics: dict[str, dict[str, str]] = {}
    for scenario in scenarios:
        files |= _file_digests(scenario)
        for metric in scenario.metrics:
            average = getattr(metric, "average", "rms")
            metrics.setdefault(metric.name, {"unit": metric.unit, "average": average})
    if not metrics and not any(scenario.interactions for scenario in scenarios):
        raise WrongInput(
            f"{scenarios[0].name}: it has no metrics, so a sweep would measure nothing; add some, "
            "such as --set 'metrics=[{kind: position_error}]'"
        )
    cases = [{**scenario.effective, **given} for scenario in scenarios]
    plan = SweepPlan(scenarios[0].name, varied, worlds, metrics, files, cases)
    try:
        return SweepPlan(**json.loads(json.dumps(dataclasses.asdict(plan))))
    except TypeError as problem:
        raise WrongInput(f"a sweep needs a scenario that can be written down: {problem}") from None


def _check_arguments(vary: dict[str, list[Any]], worlds: int, given: Mapping[str, Any]) -> None:
    if not is_whole(worlds) or not 1 <= worlds <= MAX_WORLDS:
        raise WrongInput(f"a sweep has 1 world or more, not {worlds!r}")
    if (duration := given["duration"]) is not None and not 0.0 < duration < math.inf:
        raise WrongInput(f"{duration} s is not a length of time")
    if (count := math.prod(map(len, vary.values()))) > MAX_CASES:
        raise WrongInput(f"{count} cases are more than a sweep can have, {MAX_CASES}")
    for path in GIVEN_SEPARATELY:
        if path in vary and given[path] is not None:
            raise WrongInput(f"{path} is varied, so it cannot be given as well")


def _value_list(path: str, values: Any) -> list[Any]:
    """The values of a path as plain data."""
    plain = _plain(values)
    if not isinstance(plain, list) or not plain:
        raise WrongInput(f"vary: {path} needs a list of values, not {values!r}")
    for k, value in enumerate(plain):
        if value in plain[:k]:
            raise WrongInput(f"vary: {path}: {yaml_text(value)} stands twice")
    return plain


def _plain(value: Any) -> Any:
    """A value as plain data; arrays of NumPy, tuples and ranges become lists."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [_plain(v) for v in value]
    return str(value) if isinstance(value, Path) else value


def _load_cases(source: Source, vary: Vary, set: Sequence[str]) -> list[Scenario]:
    """Load the scenario of every case; ScenarioError has the faults of all of them."""
    scenarios: list[Scenario] = []
    faulty: dict[Fault, list[str]] = {}
    combinations = _combinations(vary)
    for values in combinations:
        varied = [f"{path}={yaml_text(value)}" for path, value in values.items()]
        try:
            scenarios.append(load_scenario(source, [*set, *varied]))
        except ScenarioError as problem:
            for fault in problem.faults:
                faulty.setdefault(_locate(fault, len(set)), []).append(_case_name(values))
    if faulty:
        raise ScenarioError(
            [
                fault if len(names) == len(combinations) else _with_case(fault, name)
                for fault, names in faulty.items()
                for name in names
            ]
        )
    return scenarios


def _locate(fault: Fault, sets: int) -> Fault:
    """A fault with its origin: the options after those of --set are those of --vary."""
    origin = fault.origin
    if origin.file != "--set" or origin.line <= sets:
        return fault
    return dataclasses.replace(fault, origin=Origin("--vary", origin.line - sets, origin.column))


def _with_case(fault: Fault, name: str) -> Fault:
    return dataclasses.replace(fault, message=f"{fault.message} (in the case {name})")


def _file_digests(scenario: Scenario) -> dict[str, str]:
    """Digests of the files of a scenario, of which its effective form has only the names."""
    digests = {}
    for name in scenario.effective.get("plugins", ()):
        if Path(name).is_file():
            digests[name] = hashlib.blake2b(Path(name).read_bytes(), digest_size=8).hexdigest()
    for plan in (scenario.map, *(group.map for group in scenario.robots)):
        if plan is not None and plan.loaded is not None:
            spec = plan.spec if isinstance(plan.spec, str) else yaml_text(plan.spec)
            digests[f"map {spec}"] = plan.loaded.digest()
    return digests
