// A recording, played in the page itself: it gives frames as the live link does, at any time.

import { BELIEF, ROBOT, TRACK } from "./frame.js";

const FAR = 1 << 30; // stands for infinity among quantised numbers

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Numbers were sorted into planes of bytes, and quantised ones are differences over time.
function readArray(bytes, at, { count, length, quantum }) {
  const size = count * length, planes = bytes.subarray(at, at + 4 * size), raw = new Uint8Array(4 * size);
  for (let p = 0; p < 4; p++) for (let k = 0, from = p * size; k < size; k++) raw[4 * k + p] = planes[from + k];
  if (!quantum) return new Float32Array(raw.buffer);
  const whole = new Int32Array(raw.buffer), out = new Float32Array(size);
  for (let k = 0; k < size; k++) {
    if (k >= length) whole[k] += whole[k - length];
    out[k] = whole[k] >= FAR ? Infinity : whole[k] <= -FAR ? -Infinity : whole[k] * quantum;
  }
  return out;
}

export async function openRecording(deflated) {
  const bytes = await inflate(deflated), size = new DataView(bytes.buffer).getUint32(0, true);
  const about = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
  const times = new Float64Array(bytes.slice(4 + size, 4 + size + 8 * about.moments).buffer);
  let at = 4 + size + 8 * about.moments;
  const arrays = {};
  for (const array of about.arrays) {
    arrays[array.name] = readArray(bytes, at, { count: about.moments, ...array });
    at += 4 * about.moments * array.length;
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
    this.at = this.times[0];
    this.wishes = { robots: [0], everyone: false, readings: true, contacts: false };
    this.signals = new Set(recording.arrays ? Object.keys(recording.arrays).filter((name) => name.startsWith("value/")) : []);
    model.takeScene(recording.scene);
    model.takeHits(recording.hits);
    this.seek(this.at);
  }

  get live() { return false; }
  get start() { return this.times[0]; }
  get end() { return this.times.at(-1); }

  play() {
    if (this.at >= this.end) this.at = this.start;
    this.playing = true;
    this.last = performance.now();
    const tick = (now) => {
      if (!this.playing) return;
      const passed = ((now - this.last) / 1000) * (this.rate ?? 1000);
      this.last = now;
      this.seek(Math.min(this.end, this.at + passed));
      if (this.at >= this.end) this.pause();
      else requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  pause() { this.playing = false; this.seek(this.at); }
  step() { this.playing = false; this.seek(this.times[Math.min(this.times.length - 1, this.index(this.at) + 1)]); }
  speed(rate) { this.rate = rate; this.seek(this.at); }
  look(wishes) { this.wishes = wishes; if (this.model.frame) this.seek(this.at); }

  index(time) { // of the last moment that is not after it
    let low = 0, high = this.times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle] <= time + 1e-9) low = middle; else high = middle - 1;
    }
    return low;
  }

  seek(time) {
    const back = time < this.at, k = this.index(time), { model } = this;
    if (back || k > (this.shown ?? 0) + 30) { // where they had been is told anew
      model.forgetTrails();
      for (let j = Math.max(0, k - model.longest); j < k; j++) model.extendTrails(this.frame(j, false));
    } else for (let j = (this.shown ?? k) + 1; j < k; j++) model.extendTrails(this.frame(j, false));
    this.at = time;
    this.shown = k;
    const frame = this.frame(k, true);
    model.frame = null; // a step back is no reset
    model.takeFrame(frame);
  }

  series(note) {
    const all = this.times.length, stride = Math.max(1, Math.floor(all / 1500));
    for (let k = 0; k < all; k += stride) note(this.frame(k, true));
  }

  frame(k, whole) {
    const { scene, arrays } = this.recording, robots = this.table("robots", ROBOT, k, this.model.robots.length);
    const beliefs = this.table("beliefs", BELIEF, k, this.model.ghosts.length);
    const frame = { serial: scene.serial, step: k, time: this.times[k], factor: 1, speed: this.rate, held: !this.playing, resting: false, count: this.model.robots.length, robots, beliefs, tracks: new Float32Array(0), values: new Map(), readings: [] };
    if (!whole) return frame;
    const robot = this.model.selected, group = this.model.robots[robot]?.group;
    group?.signals.forEach((signal, s) => {
      const values = arrays[`value/${group.name}/${signal.name}`], first = this.model.robots.findIndex((r) => r.group === group);
      if (values) frame.values.set(`${robot}/${s}`, values[k * group.count + robot - first]);
    });
    const wanted = (whose) => this.wishes.everyone || this.wishes.robots.includes(whose);
    if (this.wishes.contacts) frame.tracks = this.tracks(k, wanted);
    for (const { robot: whose, sensor, length, name } of this.wishes.readings ? this.recording.readings : []) {
      if (wanted(whose)) frame.readings.push({ robot: whose, sensor, age: 0, numbers: arrays[name].subarray(k * length, (k + 1) * length) });
    }
    return frame;
  }

  tracks(k, wanted) {
    const all = this.table("tracks", TRACK, k, this.recording.tracks), kept = [];
    for (let j = 0; j < all.length; j += TRACK) if (all[j + 1] > 0 && wanted(all[j])) kept.push(...all.subarray(j, j + TRACK));
    return Float32Array.from(kept);
  }

  table(name, columns, k, rows) {
    const out = new Float32Array(rows * columns), { arrays } = this.recording;
    for (let c = 0; c < columns; c++) {
      const values = arrays[`${name}/${c}`];
      if (values) for (let r = 0; r < rows; r++) out[r * columns + c] = values[k * rows + r];
    }
    return out;
  }
}

// The scrubber, and marks above it: events and collisions.
export function attachScrubber(player, theme) {
  const box = document.getElementById("timeline"), scrub = document.getElementById("scrub"), marks = document.getElementById("marks");
  box.hidden = false;
  const span = Math.max(1e-9, player.end - player.start);
  scrub.max = "10000";
  scrub.oninput = () => player.seek(player.start + (Number(scrub.value) / 10000) * span);
  player.model.on("frame", () => {
    if (document.activeElement !== scrub || player.playing) scrub.value = String(Math.round(((player.at - player.start) / span) * 10000));
    scrub.setAttribute("aria-valuetext", `${player.at.toFixed(2)} seconds`);
  });
  return () => {
    const width = (marks.width = marks.clientWidth), c = marks.getContext("2d");
    marks.height = 12;
    const put = (time, colour) => { c.fillStyle = colour; c.fillRect(8 + ((time - player.start) / span) * (width - 16) - 1, 1, 2, 10); };
    for (const { time } of player.recording.events) put(time, theme.colours.accent);
    for (const [time] of player.recording.hits) put(time, theme.colours.hit);
  };
}
