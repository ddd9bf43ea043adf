"""A sensor and what of it has arrived: readings travel for `latency` seconds, or are lost.

With a `jitter` each takes up to so much longer, in whole ticks, all as likely. It is less than the
time from one reading to the next, so none overtakes another, and the stamp is that of the reading.

Each row counts its own readings, so worlds whose clocks differ share one ring: reading number k
of a row lies in slot k modulo the depth until it arrives.
"""

from __future__ import annotations

import numpy as np

from astray.numerics import Schedule, random, ticks_in
from astray.plugin import InitialValue, Reading, Scene, Sensor
from astray.tables import Array, Rows, put


class SensorPipeline:
    """One sensor of a group, its beat, and its readings on the way."""

    def __init__(self, sensor: Sensor, n: int) -> None:
        self.sensor = sensor
        self.taking = sensor.beat(sensor.dt)
        self.delay = ticks_in(sensor.latency, sensor.dt)
        self.jitter = ticks_in(sensor.jitter, sensor.dt)
        self.on_the_way = self.delay > 0 or self.jitter > 0 or sensor.loss > 0.0
        self.key = random.key(int(sensor.key), "channel")
        late = self.taking.delayed(self.delay)
        self.arriving = Schedule(1, late.offset) if self.jitter else late
        self.arrived = Reading(sensor.measures, n, sensor.bulk())
        self.taken = Reading(sensor.measures, n, sensor.bulk()) if self.on_the_way else self.arrived
        self.latest = self.delay + self.jitter  # ticks after which a reading arrives at most
        depth = self.latest // self.taking.period + 1 if self.on_the_way else 0
        self.ring = [Reading(sensor.measures, n, sensor.bulk()) for _ in range(depth)]
        self._looked: Reading | None = None
        self.any_fresh = self.all_fresh = False
        self.rows_per_thread = sensor.rows_per_thread

    def readings(self) -> list[Reading]:
        """Every table of readings that there is."""
        return [self.arrived, *([self.taken, *self.ring] if self.on_the_way else [])]

    def blanks(self) -> list[InitialValue]:
        """All that is to be blank where nothing was taken and nothing has arrived."""
        return [part for reading in self.readings() for part in reading.blanks()]

    def some_began(self) -> None:
        """Take note that there are rows for which nothing has arrived."""
        self.all_fresh = False

    def recount(self) -> None:
        """Note what is fresh after the tables were written from outside."""
        self.any_fresh = bool(self.arrived.fresh.any())
        self.all_fresh = bool(self.arrived.fresh.all())

    def stale(self) -> None:
        """What arrived in the last tick is no longer fresh."""
        if self.any_fresh:
            self.arrived.fresh.fill(False)
            self.any_fresh = self.all_fresh = False

    def stamp(self, rows: Rows, time: Array) -> None:
        """Send what was just sensed for these rows on its way."""
        if len(rows) == len(time):
            self.taken.stamp[:] = time
        else:
            self.taken.stamp[rows] = time[rows]
        if self.on_the_way:
            self._copy(rows, self._slots(rows, 0), into_ring=True)
        else:
            self._deliver(rows)

    def arrivals(self, rows: Rows) -> Rows | None:
        """Those of these rows, whose beat it is, for which a reading arrives now; None if none."""
        if self.jitter or self.sensor.loss > 0.0:
            # What becomes of a reading is dealt by the tick at which it was taken.
            address, beat = self.sensor.address.take(rows), self.taking
            ago = (address["tick"] - self.delay - beat.offset) % beat.period
            address["tick"] -= self.delay + ago
            luck = np.empty((len(rows), 2))
            random.uniforms_all(luck, address, np.arange(len(rows)), self.key)
            late = (luck[:, 0] * (self.jitter + 1)).astype(np.int64)
            rows = rows[(late == ago) & (luck[:, 1] >= self.sensor.loss)]
        rows = rows[self._taken(rows)]
        return rows if len(rows) else None

    def arrive(self, rows: Rows) -> None:
        """Let the readings of these rows arrive that were taken `latency` ago, or longer."""
        self._copy(rows, self._slots(rows, self.delay), into_ring=False)
        self._deliver(rows)

    def sense(self, rows: Rows, scene: Scene) -> None:
        """Take a reading for these rows."""
        self.sensor.sense(rows, scene, self.taken)

    def look(self, rows: Rows, scene: Scene, time: Array) -> Reading:
        """What these rows would read now: nothing is sent, and the sensor remembers nothing.

        The table is good until the next look; the arrays beside it are new.
        """
        if self._looked is None:
            self._looked = Reading(self.sensor.measures, len(time), self.sensor.bulk())
        sensor, out = self.sensor, self._looked
        for name, array in out.arrays.items():
            out.arrays[name] = np.empty(array.shape)
        if sensor.stateless and len(rows) == len(time):
            sensor.sense(rows, scene, out)
            out.stamp[:] = time
            return out
        self._look_back(rows, scene, out)
        out.stamp[rows] = time[rows]
        return out

    def _look_back(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Sense with what was read and remembered so far, and leave that as it is."""
        sensor = self.sensor
        out.table[:] = self.taken.table
        for name, array in self.taken.arrays.items():
            out.arrays[name][:] = array
        memory = sensor.memory.copy() if sensor.remembers is not None else None
        arrays = {name: array.copy() for name, array in sensor.arrays.items()}
        sensor.sense(rows, scene, out)
        if memory is not None:
            sensor.memory[:] = memory
        for name, array in arrays.items():
            sensor.arrays[name][:] = array

    def _deliver(self, rows: Rows) -> None:
        if len(rows) < len(self.arrived.fresh):
            self.arrived.fresh[rows] = True
        elif not self.all_fresh:
            self.arrived.fresh.fill(True)
            self.all_fresh = True
        self.any_fresh = True

    def _slots(self, rows: Rows, ago: int) -> Array:
        ticks = self.sensor.address["tick"][rows] - self.taking.offset - ago
        return np.asarray(ticks // self.taking.period % len(self.ring))

    def _taken(self, rows: Rows) -> Array:
        """Whether there is a reading to arrive: who came into the run later has taken none yet."""
        slots = self._slots(rows, self.delay)
        stamps = np.stack([slot.stamp[rows] for slot in self.ring])
        return np.asarray(~np.isnan(stamps[slots, np.arange(len(rows))]))

    def _copy(self, rows: Rows, slots: Array, into_ring: bool) -> None:
        for k, slot in enumerate(self.ring):
            some = rows[slots == k]
            if len(some):
                source, goal = (self.taken, slot) if into_ring else (slot, self.arrived)
                put(goal.table, some, source.table.take(some))
                for name, array in goal.arrays.items():
                    array[some] = source.arrays[name][some]
