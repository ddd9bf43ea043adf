"""Which events are refused, while their senders still listen: those that could not take effect."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from astray.engine.episodes import LIVES
from astray.engine.event_queue import KINDS, Event, is_whole
from astray.engine.events.selectors import group_of, parameter_of, rows_of, worlds_of
from astray.engine.robots import Group
from astray.errors import EventError
from astray.plugin.parameters import out_of_bounds, parameters
from astray.robot.autonomy import Navigate, Remote
from astray.tables import COMMAND, MODES, Array
from astray.world.maps.faults import short

if TYPE_CHECKING:
    from astray.sim import Sim

PLACED = ("x", "y", "yaw", "vx", "vy", "wz", "steer")
BELIEVED = (*PLACED, "z", "vz", "ax", "ay", "alpha", "stamp", "cov")
BEYOND = 100.0  # m from a map that a goal may lie at most: the way to it is planned cell by cell
LONGEST_HOLD = 1e6  # s that a hand may stay on a robot
ROUNDING, TINY = 1e-9, 1e-15  # by which a covariance may be negative
ASKEW = 1e-6  # of its largest entry, by which it may differ from its transpose
COMMANDED = tuple(c for c in COMMAND.names or () if c not in ("mode", "stamp"))


def check(sim: Sim, event: Event) -> None:
    """Refuse an event that could not take effect, while its sender still listens."""
    if event.kind not in KINDS:
        raise EventError(f"no event kind {event.kind!r} ({', '.join(KINDS)})")
    if event.step is not None and not is_whole(event.step):
        raise EventError(f"{event.kind}: step is {event.step!r}: it must be a whole number")
    if event.kind == "reset":
        _check_reset(event.values)
    if event.kind in ("reset", "world"):
        if event.worlds is not None:
            worlds_of(sim, event)  # which says what is wrong
        return
    group = group_of(sim, event)
    if event.worlds is not None or event.robots is not None:
        rows_of(sim, group, event)
    CHECKS[event.kind](group, event.values)


def _check_reset(values: Mapping[str, Any]) -> None:
    life = values.get("life")
    unknown = set(values) - {"life"}
    if unknown:
        raise EventError(f"reset: no value {min(unknown)!r} (life)")
    if life is not None and not (is_whole(life) and 0 <= life < LIVES):
        raise EventError(
            f"reset: life is {life!r}: it must be a whole number from 0 to {LIVES - 1}"
        )


def _numbers(group: Group, value: Any, kind: str, name: str, one: tuple[int, ...] = ()) -> Array:
    """A value as numbers, one of this shape for all rows of a group or one for each."""
    rows = len(group.truth)
    try:
        array = np.asarray(value, float)
    except (ValueError, TypeError, OverflowError):
        raise EventError(f"{kind}: {name} is {short(value)}: it must be a number") from None
    if (array.ndim or one) and array.shape not in (one, (rows, *one)):
        what = f"matrix of {' x '.join(map(str, one))} numbers" if one else "number"
        raise EventError(
            f"{kind}: {name} needs one {what}, or one for each of the {rows} rows "
            f"of {group.name!r}, not {array.size}"
        )
    return array


def _columns(group: Group, values: Mapping[str, Any], known: tuple[str, ...], kind: str) -> None:
    for name, value in values.items():
        if name not in known:
            raise EventError(f"{kind}: no value {name!r} ({', '.join(known)})")
        if isinstance(value, float) and math.isfinite(value) and name != "cov":
            continue  # most are, and wires post them a thousand times a second
        array = _numbers(group, value, kind, name, (3, 3) if name == "cov" else ())
        if not np.isfinite(array).all():
            raise EventError(f"{kind}: {name} is {value}: it must be finite")
        if name == "cov" and (wrong := _no_covariance(array)):
            raise EventError(f"{kind}: cov is {value}: {wrong}")


def _no_covariance(found: Array) -> str:
    """What keeps matrices, (..., 3, 3), from being covariances; empty if nothing does."""
    askew = np.abs(found - np.swapaxes(found, -1, -2)).max()
    if askew > ASKEW * np.abs(found).max():
        return "a covariance must be symmetric"
    return "a covariance must not be negative in any direction" if is_negative(found) else ""


def is_negative(found: Array) -> bool:
    """Whether a symmetric matrix, or any of several, is negative in some direction."""
    spread = np.linalg.eigvalsh(found)
    return bool((spread[..., 0] < -ROUNDING * np.maximum(spread[..., -1], 0.0) - TINY).any())


def _check_command(group: Group, values: Mapping[str, Any]) -> None:
    hold = values.get("hold")
    if hold is None and not isinstance(group.autonomy, Remote):
        raise EventError(
            f"{group.name!r} is driven by its autonomy {group.autonomy.kind!r}: "
            "give it {kind: remote} to drive it from outside, or hold it for a while"
        )
    if hold is not None and not (isinstance(hold, (int, float)) and 0.0 <= hold < LONGEST_HOLD):
        raise EventError(f"command: hold is {hold}: it must be a length of time in s")
    mode = values.get("mode", "twist")
    if mode not in MODES:
        raise EventError(f"command: no mode {mode!r} ({', '.join(MODES)})")
    if MODES.index(mode) not in group.control.modes:
        raise EventError(f"command: control {group.control.kind!r} does not understand {mode!r}")
    rest = {k: v for k, v in values.items() if k not in ("mode", "hold")}
    _columns(group, rest, COMMANDED, "command")


def _check_goal(group: Group, values: Mapping[str, Any]) -> None:
    if not isinstance(group.autonomy, Navigate):
        raise EventError(
            f"{group.name!r} is driven by its autonomy {group.autonomy.kind!r}: "
            "give it {kind: navigate} to send it to goals"
        )
    if set(values) != {"x", "y"}:
        raise EventError(f"goal: x and y are needed, and nothing else, not {', '.join(values)}")
    _columns(group, values, ("x", "y"), "goal")
    goals = np.stack(np.broadcast_arrays(values["x"], values["y"]), axis=-1).astype(float)
    for found in group.known.map.maps:
        if len(found):
            corners = found.segments.reshape(-1, 2)
            away = float(np.maximum(corners.min(0) - goals, goals - corners.max(0)).max())
            if away > BEYOND:
                raise EventError(f"goal: it lies {away:g} m beyond the map; {BEYOND:g} m is most")


def _check_pose(group: Group, values: Mapping[str, Any]) -> None:
    _columns(group, values, PLACED, "place")


def _check_believe(group: Group, values: Mapping[str, Any]) -> None:
    who = values.get("estimator", "belief")
    if who == "belief" and group.estimator is None:
        raise EventError(f"{group.name!r} has no estimator: it believes the truth")
    if not isinstance(who, str) or who not in group.beliefs():
        raise EventError(f"believe: no estimator {who!r} ({', '.join(group.beliefs())})")
    _columns(group, {k: v for k, v in values.items() if k != "estimator"}, BELIEVED, "believe")


def _check_ghost(group: Group, values: Mapping[str, Any]) -> None:
    wrong = [name for name in values if name != "ghostly"]
    if wrong or not isinstance(values.get("ghostly", True), bool):
        raise EventError(f"ghost: ghostly is true or false, and all that is needed, not {values}")


def _check_set(group: Group, values: Mapping[str, Any]) -> None:
    plugin, name = parameter_of(group, values)
    if name in plugin.fixed:
        raise EventError(
            f"set: {values['parameter']} cannot be changed in a run, only in its scenario"
        )
    value = _numbers(group, values.get("value", np.nan), "set", str(values["parameter"]))
    hint = next(p.type for p in parameters(type(plugin)) if p.name == name)
    wrong = out_of_bounds(hint, float(value.min()), float(value.max()))
    if wrong or not np.all(np.isfinite(value)):
        raise EventError(
            f"set: {values['parameter']} is {values.get('value')}: {wrong or 'not finite'}"
        )


def _check_nothing(group: Group, values: Mapping[str, Any]) -> None:
    if values:
        raise EventError(f"no value {next(iter(values))!r} is needed here")


CHECKS: dict[str, Callable[[Group, Mapping[str, Any]], None]] = {
    "command": _check_command,
    "goal": _check_goal,
    "place": _check_pose,
    "believe": _check_believe,
    "spawn": _check_pose,
    "remove": _check_nothing,
    "ghost": _check_ghost,
    "set": _check_set,
}
