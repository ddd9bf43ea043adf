"""Georeferences: points of a map as latitude and longitude on the ellipsoid of WGS 84."""

from __future__ import annotations

import math

import pytest

from astray.errors import WrongInput
from astray.world import Georeference


def test_a_thousandth_of_a_degree_has_the_length_that_tables_of_wgs_84_give() -> None:
    equator, middle = Georeference(0.0, 0.0), Georeference(45.0, 10.0)
    assert equator.locate(111.3195, 110.5743) == pytest.approx((0.001, 0.001), abs=1e-8)
    assert middle.locate(78.8468, 111.1318) == pytest.approx((45.001, 10.001), abs=1e-8)


def test_a_point_that_is_moved_and_turned_with_its_map_keeps_its_place_on_earth() -> None:
    there = Georeference(45.0, 10.0).locate(3.0, 4.0)
    turned = Georeference(45.0, 10.0, x=1.0, y=2.0, yaw=math.pi / 2)
    assert turned.locate(1.0 - 4.0, 2.0 + 3.0) == pytest.approx(there, abs=1e-12)


def test_a_longitude_stays_within_180_degrees() -> None:
    assert Georeference(0.0, 180.0).locate(1000.0, 0.0)[1] == pytest.approx(-179.991, abs=1e-3)


@pytest.mark.parametrize(
    "values", [(90.0, 0.0), (0.0, 400.0), (math.nan, 0.0), (0.0, 0.0, math.inf)]
)
def test_what_is_no_place_on_earth_is_refused(values: tuple[float, ...]) -> None:
    with pytest.raises(WrongInput, match="is no georeference"):
        Georeference(*values)
