"""The pipeline of a sensor: sampling, latency, jitter, loss, arrival.

A reading arrives `latency` seconds after it was sampled, or is lost. With a `jitter` it takes up to
that much longer, in whole ticks, all equally likely. Jitter is less than the time between two
readings, so no reading overtakes another; the stamp is the time at which it was sampled.

Each row counts its own readings, so that worlds whose clocks differ share one ring buffer: reading
number k of a row is in slot k modulo the depth until it arrives.
"""

from __future__ import annotations

import numpy as np

from astray.numerics import Schedule, random, ticks_in
from astray.plugin import InitialValue, Reading, Scene, Sensor
from astray.tables import CONTACTS, Array, Rows, write_records


class SensorPipeline:
    """One sensor of a group, its schedules, and its readings in transit."""

    def __init__(self, sensor: Sensor, n: int) -> None:
        self.sensor = sensor
        self.sample_schedule = sensor.schedule(sensor.dt)
        self.delay = ticks_in(sensor.latency, sensor.dt)
        self.jitter = ticks_in(sensor.jitter, sensor.dt)
        self.is_delayed = self.delay > 0 or self.jitter > 0 or sensor.loss > 0.0
        self.max_delay = self.delay + self.jitter  # ticks
        self.key = random.key(int(sensor.key), "channel")
        late = self.sample_schedule.delayed(self.delay)
        self.arrival_schedule = Schedule(1, late.offset) if self.jitter else late
        self.arrived = Reading(sensor.measures, n, sensor.array_shapes())
        self.sampled = (
            Reading(sensor.measures, n, sensor.array_shapes()) if self.is_delayed else self.arrived
        )
        depth = self.max_delay // self.sample_schedule.period + 1 if self.is_delayed else 0
        self.ring = [Reading(sensor.measures, n, sensor.array_shapes()) for _ in range(depth)]
        self.sees_robots = sensor.sees_robots
        self.detects_contacts = sensor.measures == CONTACTS
        self.any_fresh = self.all_fresh = False
        self.rows_per_thread = sensor.rows_per_thread
        self._out_of_turn: Reading | None = None

    def readings(self) -> list[Reading]:
        """Every table of readings of the pipeline."""
        return [self.arrived, *([self.sampled, *self.ring] if self.is_delayed else [])]

    def blanks(self) -> list[InitialValue]:
        """The initial values of all tables."""
        return [part for reading in self.readings() for part in reading.initial_values()]

    def rows_started(self) -> None:
        """Handle rows that have just started: they have no reading yet."""
        self.all_fresh = False

    def restore(self) -> None:
        """Bring the flags up to date with tables that a checkpoint has filled."""
        self.any_fresh = bool(self.arrived.fresh.any())
        self.all_fresh = bool(self.arrived.fresh.all())

    def clear_fresh(self) -> None:
        """Clear the fresh marks of the previous tick."""
        if self.any_fresh:
            self.arrived.fresh.fill(False)
            self.any_fresh = self.all_fresh = False

    def sense(self, rows: Rows, scene: Scene) -> None:
        """Sample the sensor for these rows."""
        self.sensor.sense(rows, scene, self.sampled)

    def send(self, rows: Rows, time: Array) -> None:
        """Stamp what was sampled for these rows and send it on its way."""
        if len(rows) == len(time):
            self.sampled.stamp[:] = time
        else:
            self.sampled.stamp[rows] = time[rows]
        if self.is_delayed:
            self._copy(rows, self._slots(rows, 0), into_ring=True)
        else:
            self._mark_fresh(rows)

    def rows_with_arrivals(self, rows: Rows) -> Rows | None:
        """The rows, of those due by `arrival_schedule`, whose reading arrives now; None if none."""
        if self.jitter or self.sensor.loss > 0.0:
            # The noise of a reading is keyed by the tick at which it was sampled.
            address, schedule = self.sensor.address.take(rows), self.sample_schedule
            age = (address["tick"] - self.delay - schedule.offset) % schedule.period
            address["tick"] -= self.delay + age
            noise = np.empty((len(rows), 2))
            random.uniforms_all(noise, address, np.arange(len(rows)), self.key)
            late = (noise[:, 0] * (self.jitter + 1)).astype(np.int64)
            rows = rows[(late == age) & (noise[:, 1] >= self.sensor.loss)]
        rows = rows[self._was_sampled(rows)]
        return rows if len(rows) else None

    def arrive(self, rows: Rows) -> None:
        """Deliver the readings of these rows that were sampled `latency` ago, or longer."""
        self._copy(rows, self._slots(rows, self.delay), into_ring=False)
        self._mark_fresh(rows)

    def sample_out_of_turn(self, rows: Rows, scene: Scene, time: Array) -> Reading:
        """What the sensor would read for these rows now; its state stays as it is.

        The table is valid until the next call; the arrays beside it are new.
        """
        if self._out_of_turn is None:
            self._out_of_turn = Reading(self.sensor.measures, len(time), self.sensor.array_shapes())
        sensor, out = self.sensor, self._out_of_turn
        for name, array in out.arrays.items():
            out.arrays[name] = np.empty(array.shape)
        if sensor.stateless and len(rows) == len(time):
            sensor.sense(rows, scene, out)
            out.stamp[:] = time
            return out
        self._sample_and_restore(rows, scene, out)
        out.stamp[rows] = time[rows]
        return out

    def _sample_and_restore(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Sample with the state that the sensor has, and restore that state."""
        sensor = self.sensor
        out.table[:] = self.sampled.table
        for name, array in self.sampled.arrays.items():
            out.arrays[name][:] = array
        memory = sensor.memory.copy() if sensor.remembers is not None else None
        arrays = {name: array.copy() for name, array in sensor.arrays.items()}
        sensor.sense(rows, scene, out)
        if memory is not None:
            sensor.memory[:] = memory
        for name, array in arrays.items():
            sensor.arrays[name][:] = array

    def _mark_fresh(self, rows: Rows) -> None:
        if len(rows) < len(self.arrived.fresh):
            self.arrived.fresh[rows] = True
        elif not self.all_fresh:
            self.arrived.fresh.fill(True)
            self.all_fresh = True
        self.any_fresh = True

    def _slots(self, rows: Rows, age: int) -> Array:
        """The slot of the newest reading of each row that is at least so many ticks old."""
        ticks = self.sensor.address["tick"][rows] - self.sample_schedule.offset - age
        return np.asarray(ticks // self.sample_schedule.period % len(self.ring))

    def _was_sampled(self, rows: Rows) -> Array:
        """Whether there is a reading to arrive: a row that started late has sampled none yet."""
        slots = self._slots(rows, self.delay)
        stamps = np.stack([slot.stamp[rows] for slot in self.ring])
        return np.asarray(~np.isnan(stamps[slots, np.arange(len(rows))]))

    def _copy(self, rows: Rows, slots: Array, into_ring: bool) -> None:
        for k, slot in enumerate(self.ring):
            rows_of_slot = rows[slots == k]
            if len(rows_of_slot):
                source, target = (self.sampled, slot) if into_ring else (slot, self.arrived)
                write_records(target.table, rows_of_slot, source.table.take(rows_of_slot))
                for name, array in target.arrays.items():
                    array[rows_of_slot] = source.arrays[name][rows_of_slot]
