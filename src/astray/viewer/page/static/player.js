// A recording, played in the page: it makes frames like those of a live run, for any time.

import { BELIEF, ROBOT, TRACK } from "./frame.js";

const INFINITE = 1 << 30; // quanta that stand for infinity
const MAX_SKIPPED = 30; // moments: a jump over more computes trails anew
const MAX_SERIES = 1500; // samples of a plot

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Decodes an array of codec.py: its numbers are in planes of bytes, quantised ones are differences over time.
function decodeArray(bytes, offset, { count, length, quantum }) {
  const size = count * length, planes = bytes.subarray(offset, offset + 4 * size), raw = new Uint8Array(4 * size);
  for (let p = 0; p < 4; p++) for (let k = 0, start = p * size; k < size; k++) raw[4 * k + p] = planes[start + k];
  if (!quantum) return new Float32Array(raw.buffer);
  const quanta = new Int32Array(raw.buffer), out = new Float32Array(size);
  for (let k = 0; k < size; k++) {
    if (k >= length) quanta[k] += quanta[k - length];
    out[k] = quanta[k] >= INFINITE ? Infinity : quanta[k] <= -INFINITE ? -Infinity : quanta[k] * quantum;
  }
  return out;
}

export async function decodeRecording(deflated) {
  const bytes = await inflate(deflated), size = new DataView(bytes.buffer).getUint32(0, true);
  const about = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
  let offset = 4 + size + 8 * about.moments;
  const times = new Float64Array(bytes.slice(4 + size, offset).buffer);
  const arrays = {};
  for (const array of about.arrays) {
    arrays[array.name] = decodeArray(bytes, offset, { count: about.moments, ...array });
    offset += 4 * about.moments * array.length;
  }
  return { ...about, times, arrays };
}

export class Player {
  constructor(model, recording) {
    Object.assign(this, { model, recording });
    this.times = recording.times;
    this.rate = 1;
    this.playing = false;
    this.connected = true;
    this.time = this.times[0];
    this.subscription = { robots: [0], everyone: false, readings: true, contacts: false };
    model.setScene(recording.scene);
    model.setCollisions(recording.hits);
    this.seek(this.time);
  }

  get live() { return false; }
  get start() { return this.times[0]; }
  get end() { return this.times.at(-1); }

  play() {
    if (this.time >= this.end) this.time = this.start;
    this.playing = true;
    this.last = performance.now();
    const advance = (now) => {
      if (!this.playing) return;
      const elapsed = ((now - this.last) / 1000) * (this.rate ?? 1000);
      this.last = now;
      this.seek(Math.min(this.end, this.time + elapsed));
      if (this.time >= this.end) this.pause();
      else requestAnimationFrame(advance);
    };
    requestAnimationFrame(advance);
  }

  pause() { this.playing = false; this.seek(this.time); }
  step() { this.playing = false; this.seek(this.times[Math.min(this.times.length - 1, this.index(this.time) + 1)]); }
  speed(rate) { this.rate = rate; this.seek(this.time); }
  subscribe(subscription) { this.subscription = subscription; if (this.model.frame) this.seek(this.time); }

  // The index of the last moment that is not after a time.
  index(time) {
    let low = 0, high = this.times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle] <= time + 1e-9) low = middle; else high = middle - 1;
    }
    return low;
  }

  seek(time) {
    const isBack = time < this.time, k = this.index(time), { model } = this;
    if (isBack || k > (this.shown ?? 0) + MAX_SKIPPED) {
      model.clearTrails();
      for (let j = Math.max(0, k - model.trailLength); j < k; j++) model.extendTrails(this.poses(j));
    } else for (let j = (this.shown ?? k) + 1; j < k; j++) model.extendTrails(this.poses(j));
    this.time = time;
    this.shown = k;
    const frame = this.frame(k);
    model.frame = null; // an earlier step is no reset
    model.setFrame(frame);
  }

  // Calls a function with frames of the whole recording.
  series(callback) {
    const stride = Math.max(1, Math.floor(this.times.length / MAX_SERIES));
    for (let k = 0; k < this.times.length; k += stride) callback(this.frame(k));
  }

  // The frame of a moment, with poses alone.
  poses(k) {
    return {
      serial: this.recording.scene.serial, step: k, time: this.times[k], factor: 1, speed: this.rate, paused: !this.playing, idle: false,
      count: this.model.robots.length,
      robots: this.table("robots", ROBOT, k, this.model.robots.length),
      beliefs: this.table("beliefs", BELIEF, k, this.model.beliefs.length),
      tracks: new Float32Array(0), values: new Map(), readings: [],
    };
  }

  // The frame of a moment, with the signals of the selected robot, and what is subscribed to.
  frame(k) {
    const { arrays, readings } = this.recording, { robots, contacts, everyone, readings: wantsReadings } = this.subscription;
    const frame = this.poses(k), selected = this.model.selected, group = this.model.robots[selected]?.group;
    group?.signals.forEach((signal, s) => {
      const values = arrays[`value/${group.name}/${signal.name}`], first = this.model.robots.findIndex((r) => r.group === group);
      if (values) frame.values.set(`${selected}/${s}`, values[k * group.count + selected - first]);
    });
    const isWanted = (robot) => everyone || robots.includes(robot);
    if (contacts) frame.tracks = this.tracks(k, isWanted);
    for (const { robot, sensor, length, name } of wantsReadings ? readings : []) {
      if (isWanted(robot)) frame.readings.push({ robot, sensor, age: 0, numbers: arrays[name].subarray(k * length, (k + 1) * length) });
    }
    return frame;
  }

  tracks(k, isWanted) {
    const all = this.table("tracks", TRACK, k, this.recording.tracks), kept = [];
    for (let j = 0; j < all.length; j += TRACK) if (all[j + 1] > 0 && isWanted(all[j])) kept.push(...all.subarray(j, j + TRACK));
    return Float32Array.from(kept);
  }

  // One moment of a table, by rows.
  table(name, columns, k, rows) {
    const out = new Float32Array(rows * columns), { arrays } = this.recording;
    for (let c = 0; c < columns; c++) {
      const values = arrays[`${name}/${c}`];
      if (values) for (let r = 0; r < rows; r++) out[r * columns + c] = values[k * rows + r];
    }
    return out;
  }
}

// The slider of the time, and the marks of events and collisions above it; returns what draws the marks.
export function attachTimeline(player, theme) {
  const timeline = document.getElementById("timeline"), slider = document.getElementById("scrub"), marks = document.getElementById("marks");
  timeline.hidden = false;
  const duration = Math.max(1e-9, player.end - player.start);
  slider.max = "10000";
  slider.oninput = () => player.seek(player.start + (Number(slider.value) / 10000) * duration);
  player.model.on("frame", () => {
    if (document.activeElement !== slider || player.playing) slider.value = String(Math.round(((player.time - player.start) / duration) * 10000));
    slider.setAttribute("aria-valuetext", `${player.time.toFixed(2)} seconds`);
  });
  return () => {
    const width = (marks.width = marks.clientWidth), c = marks.getContext("2d");
    marks.height = 12;
    const draw = (time, colour) => { c.fillStyle = colour; c.fillRect(8 + ((time - player.start) / duration) * (width - 16) - 1, 1, 2, 10); };
    for (const { time } of player.recording.events) draw(time, theme.colours.accent);
    for (const [time] of player.recording.hits) draw(time, theme.colours.hit);
  };
}
