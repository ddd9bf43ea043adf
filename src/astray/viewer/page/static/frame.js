// The binary frame of frames.py, as views into its buffer: nothing is copied.

const HEADER = 13, VALUE = 3, READING = 4;
export const ROBOT = 9;
export const BELIEF = 10;
export const TRACK = 12;
export const ALIVE = 1;
export const TOUCHING = 2;
export const STALLED = 4;
export const OVERRIDDEN = 8;
export const BUMPED = 16;
export const GHOST = 32;

export function decodeFrame(buffer) {
  const header = new Float64Array(buffer, 0, HEADER);
  const body = new Float32Array(buffer, HEADER * 8);
  const [version, serial, step, time, factor, speed, flags, robots, beliefs, tracks, values, readings] = header;
  if (version !== 2) throw new Error(`a frame of version ${version}`);
  let offset = 0;
  const take = (count) => body.subarray(offset, (offset += count));
  const frame = {
    serial, step, time, factor, speed, paused: (flags & 1) > 0, idle: (flags & 2) > 0,
    count: robots,
    robots: take(robots * ROBOT),
    beliefs: take(beliefs * BELIEF),
    tracks: take(tracks * TRACK),
    values: new Map(),
    readings: [],
  };
  const plotted = take(values * VALUE);
  for (let k = 0; k < plotted.length; k += VALUE) frame.values.set(`${plotted[k]}/${plotted[k + 1]}`, plotted[k + 2]);
  for (let k = 0; k < readings; k++) {
    const [robot, sensor, age, count] = take(READING);
    frame.readings.push({ robot, sensor, age, numbers: take(count) });
  }
  return frame;
}
