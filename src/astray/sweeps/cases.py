"""What a sweep is to run: every combination of the varied values, each in the same worlds."""

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

MOST_CASES = 10_000  # each is loaded and checked before anything runs
MOST_WORLDS = 2**31  # as many as have a number
LATER = ("seed", "duration")  # what is given beside a scenario and would undo a varied value
Vary = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class SweepTask:
    """Some worlds of one case."""

    case: int
    first: int
    count: int


@dataclass(frozen=True)
class SweepPlan:
    """A sweep that was found right; plain data, so that a ledger can keep and compare it."""

    scenario: str
    vary: dict[str, list[Any]]
    worlds: int
    metrics: dict[str, dict[str, str]]
    """The unit of each metric, and whether it is judged by its rms or its mean over time."""
    files: dict[str, str]
    """Digests of what the cases read from files: plugins and maps."""
    cases: list[dict[str, Any]]
    """The effective scenario of each case, with the seed and the duration that it is run with."""
    astray: str = __version__

    def values(self) -> list[dict[str, Any]]:
        """What is particular to each case: its value of every varied path."""
        return _combinations(self.vary)

    def names(self) -> list[str]:
        """The cases in words."""
        return [name_case(values) for values in self.values()]


def _combinations(vary: Vary) -> list[dict[str, Any]]:
    return [dict(zip(vary, case, strict=True)) for case in itertools.product(*vary.values())]


def name_case(values: Mapping[str, Any]) -> str:
    """A case in words, as `--set` takes them."""
    return ", ".join(f"{path}={as_text(value)}" for path, value in values.items())


def as_text(value: Any, inside: bool = False) -> str:
    """A value on one line of YAML, a word without quotes where it stays a word."""
    if isinstance(value, str) and not inside:
        read = read_yaml(value, "", [])
        return value if read is not None and read.value == value else json.dumps(value)
    if isinstance(value, Mapping):
        entries = (f"{as_text(str(k), True)}: {as_text(v, True)}" for k, v in value.items())
        return f"{{{', '.join(entries)}}}"
    if isinstance(value, list):
        return f"[{', '.join(as_text(v, True) for v in value)}]"
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    return json.dumps(value, ensure_ascii=False)


def read_vary(options: Sequence[str]) -> dict[str, list[Any]]:
    """The varied paths and their values in `PATH=V1,V2,V3`, which is YAML without its brackets."""
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
    """Load and check every case; ScenarioError has every fault of every case."""
    varied = {str(path): _plain_list(str(path), values) for path, values in (vary or {}).items()}
    _check(varied, worlds, {"seed": seed, "duration": duration})
    given: dict[str, Any] = {"seed": seed, "duration": duration}
    given = {key: value for key, value in given.items() if value is not None}
    found = _load_cases(source, varied, set)
    files: dict[str, str] = {}
    metrics: dict[str, dict[str, str]] = {}
    for scenario in found:
        files |= _files(scenario)
        for metric in scenario.metrics:
            average = getattr(metric, "average", "rms")
            metrics.setdefault(metric.name, {"unit": metric.unit, "average": average})
    if not metrics and not any(scenario.interactions for scenario in found):
        raise WrongInput(
            f"{found[0].name}: it has no metrics, so a sweep would find nothing; add some, "
            "such as --set 'metrics=[{kind: position_error}]'"
        )
    cases = [{**scenario.effective, **given} for scenario in found]
    plan = SweepPlan(found[0].name, varied, worlds, metrics, files, cases)
    try:
        return SweepPlan(**json.loads(json.dumps(dataclasses.asdict(plan))))
    except TypeError as problem:
        raise WrongInput(f"a sweep needs a scenario that can be written down: {problem}") from None


def _check(vary: dict[str, list[Any]], worlds: int, given: Mapping[str, Any]) -> None:
    if not is_whole(worlds) or not 1 <= worlds <= MOST_WORLDS:
        raise WrongInput(f"a sweep has 1 world or more, not {worlds!r}")
    if (length := given["duration"]) is not None and not 0.0 < length < math.inf:
        raise WrongInput(f"{length} s is not a length of time")
    if (count := math.prod(map(len, vary.values()))) > MOST_CASES:
        raise WrongInput(f"{count} cases are more than a sweep can have, {MOST_CASES}")
    for path in LATER:
        if path in vary and given[path] is not None:
            raise WrongInput(f"{path} is varied, so it cannot be given as well")


def _plain_list(path: str, values: Any) -> list[Any]:
    """Values as plain data, NumPy's and tuples included."""
    listed = _plain(values)
    if not isinstance(listed, list) or not listed:
        raise WrongInput(f"vary: {path} needs a list of values, not {values!r}")
    for k, value in enumerate(listed):
        if value in listed[:k]:
            raise WrongInput(f"vary: {path}: {as_text(value)} stands twice")
    return listed


def _plain(value: Any) -> Any:
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [_plain(v) for v in value]
    return str(value) if isinstance(value, Path) else value


def _load_cases(source: Source, vary: Vary, set: Sequence[str]) -> list[Scenario]:
    found: list[Scenario] = []
    wrong: dict[Fault, list[str]] = {}
    cases = _combinations(vary)
    for values in cases:
        varied = [f"{path}={as_text(value)}" for path, value in values.items()]
        try:
            found.append(load_scenario(source, [*set, *varied]))
        except ScenarioError as problem:
            for fault in problem.faults:
                wrong.setdefault(_of_vary(fault, len(set)), []).append(name_case(values))
    if wrong:
        raise ScenarioError(
            [
                fault if len(names) == len(cases) else _in_case(fault, name)
                for fault, names in wrong.items()
                for name in names
            ]
        )
    return found


def _of_vary(fault: Fault, sets: int) -> Fault:
    """A fault of a varied value stands in its option, not in one of --set."""
    origin = fault.origin
    if origin.file != "--set" or origin.line <= sets:
        return fault
    return dataclasses.replace(fault, origin=Origin("--vary", origin.line - sets, origin.column))


def _in_case(fault: Fault, name: str) -> Fault:
    return dataclasses.replace(fault, message=f"{fault.message} (in the case {name})")


def _files(scenario: Scenario) -> dict[str, str]:
    """Digests of what a scenario reads from files, which its effective form only names."""
    found = {}
    for name in scenario.effective.get("plugins", ()):
        if Path(name).is_file():
            found[name] = hashlib.blake2b(Path(name).read_bytes(), digest_size=8).hexdigest()
    for plan in (scenario.map, *(group.map for group in scenario.robots)):
        if plan is not None and plan.read is not None:
            spec = plan.spec if isinstance(plan.spec, str) else as_text(plan.spec)
            found[f"map {spec}"] = plan.read.digest()
    return found
