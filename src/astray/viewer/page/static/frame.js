// The binary frame of frames.py as views into its buffer: nothing is copied.

const HEADER = 13, VALUE = 3, READING = 4;
export const ROBOT = 9;
export const BELIEF = 10;
export const TRACK = 12;
export const ALIVE = 1;
export const TOUCHING = 2;
export const STALLED = 4;
export const IN_HAND = 8;
export const BUMPED = 16;
export const GHOST = 32;

export function decodeFrame(buffer) {
  const head = new Float64Array(buffer, 0, HEADER);
  const body = new Float32Array(buffer, HEADER * 8);
  const [version, serial, step, time, factor, speed, flags, robots, beliefs, tracks, values, readings] = head;
  if (version !== 2) throw new Error(`a frame of version ${version}`);
  let at = 0;
  const take = (count) => body.subarray(at, (at += count));
  const frame = {
    serial, step, time, factor, speed, held: (flags & 1) > 0, resting: (flags & 2) > 0,
    count: robots,
    robots: take(robots * ROBOT),
    beliefs: take(beliefs * BELIEF),
    tracks: take(tracks * TRACK),
    values: new Map(),
    readings: [],
  };
  const told = take(values * VALUE);
  for (let k = 0; k < told.length; k += VALUE) frame.values.set(`${told[k]}/${told[k + 1]}`, told[k + 2]);
  for (let k = 0; k < readings; k++) {
    const [robot, sensor, age, count] = take(READING);
    frame.readings.push({ robot, sensor, age, numbers: take(count) });
  }
  return frame;
}
