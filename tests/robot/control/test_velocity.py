"""The PID on believed speeds: what it adds, when, and that it forgets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import astray
from astray.plugin import Known
from astray.robot.control import VelocityControl
from astray.tables import ADDRESS, COMMAND, CURVATURE, DRIVE, HEADING, STATE, STOP, TWIST, table

ROWS = np.arange(1)


class Bench:
    """One robot's control, fed by hand with commands and beliefs."""

    def __init__(self, **gains: float) -> None:
        self.control = VelocityControl(**gains).attach(table(ADDRESS, 1), {}, 0.01, 0, "bench")
        self.control.begin(ROWS)
        self.belief, self.command, self.drive = table(STATE, 1), table(COMMAND, 1), table(DRIVE, 1)
        self.command[:] = STOP

    def ask(self, mode: int = TWIST, **values: float) -> Bench:
        self.command["mode"] = mode
        for name in ("vx", "vy", "wz", "curvature"):
            self.command[name] = values.get(name, 0.0)
        return self

    def steer(self, stamp: float, vx: float = 0.0, wz: float = 0.0) -> Any:
        """The drive after a call with this belief."""
        self.belief["stamp"], self.belief["vx"], self.belief["wz"] = stamp, vx, wz
        self.control.steer(ROWS, Known(self.belief), self.command, self.drive)
        return self.drive[0]


def test_the_proportional_part_adds_its_share_of_the_error() -> None:
    bench = Bench(kp=0.4, ki=0.0, kd=0.0).ask(vx=0.5, vy=0.2, wz=-1.0)
    d = bench.steer(1.0, vx=0.3, wz=-0.5)
    assert d.vx == pytest.approx(0.5 + 0.4 * 0.2)
    assert d.wz == pytest.approx(-1.0 - 0.4 * 0.5)
    assert d.vy == 0.2
    assert np.isnan(d.curvature)


def test_the_integral_goes_from_stamp_to_stamp_and_not_from_call_to_call() -> None:
    bench = Bench(kp=0.0, ki=2.0, kd=0.0, windup=10.0).ask(vx=0.5)
    bench.steer(1.0, vx=0.1)
    for _ in range(7):  # the belief stays as old as it is
        assert bench.steer(1.0, vx=0.1).vx == 0.5
    for _ in range(7):
        assert bench.steer(1.25, vx=0.2).vx == pytest.approx(0.5 + 2.0 * 0.3 * 0.25)
    assert bench.steer(1.5, vx=0.5).vx == pytest.approx(0.5 + 2.0 * 0.3 * 0.25)


def test_a_new_command_is_no_error_of_the_past() -> None:
    bench = Bench(kp=0.0, ki=1.0, kd=0.0, windup=10.0).ask(vx=0.2)
    bench.steer(0.0, vx=0.2)
    bench.ask(vx=0.8)
    assert bench.steer(1.0, vx=0.2).vx == 0.8
    assert bench.steer(2.0, vx=0.7).vx == pytest.approx(0.8 + 0.1)


def test_the_derivative_is_that_of_the_belief_so_a_command_gives_no_kick() -> None:
    bench = Bench(kp=0.0, ki=0.0, kd=0.5).ask(vx=0.2)
    bench.steer(0.0, vx=0.1)
    assert bench.steer(0.1, vx=0.12).vx == pytest.approx(0.2 - 0.5 * 0.2)
    assert bench.ask(vx=0.9).steer(0.2, vx=0.12).vx == pytest.approx(0.9)


def test_the_integral_does_not_wind_up() -> None:
    bench = Bench(kp=0.0, ki=0.5, kd=0.0, windup=0.1).ask(vx=1.0, wz=-1.0)
    for k in range(100):
        d = bench.steer(float(k))
    assert (d.vx, d.wz) == pytest.approx((1.1, -1.1))
    d = bench.steer(100.0, vx=1.2, wz=-1.2)  # and comes back at once
    assert d.vx == pytest.approx(1.1 - 0.5 * 0.2)


def test_a_curvature_becomes_a_turn_rate() -> None:
    bench = Bench(kp=0.5, ki=0.0, kd=0.0).ask(CURVATURE, vx=0.4, curvature=1.5)
    d = bench.steer(0.0, vx=0.4, wz=0.5)
    assert (d.vx, d.wz) == pytest.approx((0.4, 0.6 + 0.5 * 0.1))
    assert np.isnan(d.curvature)


def test_standing_still_is_passed_on_and_forgets() -> None:
    bench = Bench(kp=0.0, ki=1.0, kd=0.0, windup=1.0).ask(vx=0.5)
    bench.steer(0.0)
    assert bench.steer(1.0).vx == 1.0
    d = bench.ask().steer(2.0, vx=0.4)
    assert (d.vx, d.wz) == (0.0, 0.0)
    assert bench.ask(vx=0.5).steer(3.0).vx == 0.5
    d = bench.ask(CURVATURE, curvature=1.0).steer(4.0, vx=0.1)  # a car turns its wheels
    assert (d.vx, d.curvature) == (0.0, 1.0)
    assert bench.ask(HEADING).steer(5.0, vx=0.1).vx == 0.0


def test_a_belief_that_goes_back_in_time_is_taken_as_it_is() -> None:
    bench = Bench(kp=0.5, ki=1.0, kd=1.0, windup=1.0).ask(vx=0.5)
    bench.steer(5.0, vx=0.5)
    assert bench.steer(4.0, vx=0.3).vx == pytest.approx(0.5 + 0.5 * 0.2)


# In a scenario.


def robot(**control: float) -> dict[str, Any]:
    """A robot whose encoders show a tenth less than its wheels roll."""
    return {
        "name": "rover",
        "motion": {"kind": "differential"},
        "control": {"kind": "velocity", **control},
        "sensors": [{"kind": "wheels", "ticks": 0, "rate": 20, "slip": -0.1}],
        "estimator": {"kind": "odometry"},
        "autonomy": {"kind": "remote"},
    }


def test_the_believed_speed_becomes_the_commanded_one() -> None:
    sim = astray.load({"dt": 0.01, "robots": [robot()]})
    rover = sim.robots["rover"]
    rover.drive(0.4, 0.5)
    sim.run(40.0)
    assert float(rover.belief["vx"][0]) == pytest.approx(0.4, abs=1e-4)
    assert float(rover.belief["wz"][0]) == pytest.approx(0.5, abs=1e-4)
    assert float(rover.truth["vx"][0]) == pytest.approx(0.4 / 0.9, abs=1e-3)


def test_a_command_that_is_too_much_gives_no_more_than_windup() -> None:
    slow = {**robot(windup=0.05), "motion": {"kind": "differential", "max_speed": 0.2}}
    sim = astray.load({"dt": 0.01, "robots": [slow]})
    rover = sim.robots["rover"]
    rover.drive(0.4)
    sim.run(30.0)
    behind = 0.4 - float(rover.belief["vx"][0])
    assert float(rover.drives["vx"][0]) == pytest.approx(0.4 + 0.3 * behind + 0.05)


def test_a_new_start_begins_without_what_was_summed_up() -> None:
    sim = astray.load({"dt": 0.01, "robots": [robot()]}, worlds=2)
    rover = sim.robots["rover"]
    rover.drive(0.4)
    sim.run(5.0)
    assert (rover.control.memory["integral"][:, 0] != 0.0).all()
    sim.reset(worlds=[1])
    assert (rover.control.memory["integral"][:, 0] != 0.0).tolist() == [True, False]


def test_poses_are_refused() -> None:
    sim = astray.load({"robots": [robot()]})
    with pytest.raises(astray.EventError, match="'velocity' does not understand 'move'"):
        sim.robots["rover"].go(1.0)
