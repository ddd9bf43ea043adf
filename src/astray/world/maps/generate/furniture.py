"""Furniture of a room: desks with chairs and cabinets along the walls, a table in the middle.

Nothing stands within a metre of a door, and between two groups of furniture there is a way.
"""

from __future__ import annotations

from astray.world.maps.generate.base import Chance

DESK = (1.6, 0.8)  # m
CHAIR = 0.45  # m
CABINET = (1.0, 0.45)  # m
TABLE = (2.4, 1.1)  # m
FROM_DOOR = 1.1  # m
WAY = 0.75  # m between groups
FROM_WALL = 0.05  # m
TRIES = 6  # places tried per room where it is full

Box = tuple[float, float, float, float]  # west, south, east, north, m
Piece = tuple[float, float, float, float, float]  # x, y, length, width, yaw


def furnish(
    room: Box, doors: list[tuple[float, float]], share: float, clear: float, chance: Chance
) -> list[Piece]:
    """The furniture of a room, as boxes, given the middles of its doors and the free disc."""
    taken: list[Box] = []
    made: list[Piece] = []

    def put(box: Box, group: list[Piece]) -> None:
        if _fits(box, room, doors, clear, taken):
            taken.append(box)
            made.extend(group)

    if min(room[2] - room[0], room[3] - room[1]) > 4.2 and chance.share() < 0.5 * share:
        put(*_table(room, chance))
    for _ in range(TRIES):
        if chance.share() >= share:
            continue
        put(*(_desk if chance.share() < 0.6 else _cabinet)(room, chance))
    return made


def _fits(
    box: Box, room: Box, doors: list[tuple[float, float]], clear: float, taken: list[Box]
) -> bool:
    west, south, east, north = box
    if west < room[0] or south < room[1] or east > room[2] or north > room[3]:
        return False
    for x, y, far in [*((x, y, FROM_DOOR) for x, y in doors), (0.0, 0.0, clear + FROM_WALL)]:
        dx, dy = max(west - x, 0.0, x - east), max(south - y, 0.0, y - north)
        if dx * dx + dy * dy < far * far:
            return False
    return not any(
        west < e + WAY and w < east + WAY and south < n + WAY and s < north + WAY
        for w, s, e, n in taken
    )


def _desk(room: Box, chance: Chance) -> tuple[Box, list[Piece]]:
    """A desk along a side wall, with its chair on the side of the room."""
    west, south, east, north = room
    length, depth = DESK
    left = chance.share() < 0.5
    y = chance.between(south + 0.5 * length + FROM_WALL, north - 0.5 * length - FROM_WALL)
    inward = 1.0 if left else -1.0
    edge = west if left else east
    desk_x = edge + inward * (0.5 * depth + FROM_WALL)
    chair_x = desk_x + inward * (0.5 * depth + 0.5 * CHAIR + 0.1)
    chair_y, turn = y + chance.between(-0.2, 0.2), chance.between(-0.5, 0.5)
    ends = sorted((edge + inward * FROM_WALL, chair_x + inward * 0.7 * CHAIR))
    box = (ends[0], y - 0.5 * length, ends[1], y + 0.5 * length)
    return box, [(desk_x, y, depth, length, 0.0), (chair_x, chair_y, CHAIR, CHAIR, turn)]


def _cabinet(room: Box, chance: Chance) -> tuple[Box, list[Piece]]:
    """One to three cabinets side by side along an upper or lower wall."""
    west, south, east, north = room
    length, depth = CABINET[0] * (1 + chance.below(3)), CABINET[1]
    upper = chance.share() < 0.5
    x = chance.between(west + 0.5 * length + FROM_WALL, east - 0.5 * length - FROM_WALL)
    y = north - 0.5 * depth - FROM_WALL if upper else south + 0.5 * depth + FROM_WALL
    box = (x - 0.5 * length, y - 0.5 * depth, x + 0.5 * length, y + 0.5 * depth)
    return box, [(x, y, length, depth, 0.0)]


def _table(room: Box, chance: Chance) -> tuple[Box, list[Piece]]:
    """A table with three chairs on either long side, along the longer side of the room."""
    west, south, east, north = room
    x, y = 0.5 * (west + east), 0.5 * (south + north)
    length, depth = TABLE
    upright = east - west < north - south
    group: list[Piece] = [(x, y, depth, length, 0.0) if upright else (x, y, length, depth, 0.0)]
    for side in (-1.0, 1.0):
        for k in (-1.0, 0.0, 1.0):
            away = side * (0.5 * depth + 0.5 * CHAIR + chance.between(0.05, 0.2))
            dx, dy = (away, k * 0.75) if upright else (k * 0.75, away)
            group.append((x + dx, y + dy, CHAIR, CHAIR, chance.between(-0.4, 0.4)))
    half_length, half_depth = 0.5 * length, 0.5 * depth + CHAIR + 0.3
    dx, dy = (half_depth, half_length) if upright else (half_length, half_depth)
    return (x - dx, y - dy, x + dx, y + dy), group
