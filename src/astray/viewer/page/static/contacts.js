// What robots believe of each other: their tracks, whom those stand for, and who has none.

import { ALIVE, GHOST, ROBOT, TRACK } from "./frame.js";
import { axes } from "./model.js";

const SIGMA_95 = Math.sqrt(5.991); // of two dimensions
const NEAR = 1.0; // m, within which a track without an identity stands for a robot
const AHEAD = 1.0; // s of its velocity that an arrow shows
const SLOW = 0.04; // m/s that are no arrow

// The tracks of a frame, with `of`: the robot that each stands for, −1 where that is not known.
export function readTracks(model, frame = model.frame) {
  if (frame.contacts) return frame.contacts;
  const a = frame.tracks, found = [];
  for (let k = 0; k < a.length; k += TRACK) {
    const [observer, number, identity, age, unseen, x, y, vx, vy] = a.subarray(k, k + 9);
    found.push({ observer, number, identity, age, unseen, x, y, vx, vy, cov: [...a.subarray(k + 9, k + TRACK)], of: -1 });
  }
  const observers = new Map();
  for (const track of found) observers.set(track.observer, [...(observers.get(track.observer) ?? []), track]);
  for (const [observer, mine] of observers) pairUp(model, frame, observer, mine);
  return (frame.contacts = found);
}

const there = (frame, robot) => (frame.robots[robot * ROBOT + 6] & (ALIVE | GHOST)) === ALIVE;

// A track stands for the robot that it is taken for; of several that are taken for one, the one seen
// last does, and the others are about nobody. A track of no identity stands for the robot next to it,
// once the observer's own error is taken from it.
function pairUp(model, frame, observer, mine) {
  const taken = new Set(), pairs = [];
  const nameless = mine.filter(({ identity }) => identity < 0 || identity === observer);
  for (const track of mine.toSorted((one, other) => one.unseen - other.unseen)) {
    if (nameless.includes(track) || taken.has(track.identity) || !there(frame, track.identity)) continue;
    track.of = track.identity;
    taken.add(track.of);
  }
  if (!nameless.length) return;
  const right = corrected(model, frame, observer);
  for (const track of nameless) {
    const [x, y] = right(track.x + track.vx * track.age, track.y + track.vy * track.age);
    for (let r = 0; r < frame.count; r++) {
      const dx = frame.robots[r * ROBOT] - x, dy = frame.robots[r * ROBOT + 1] - y, away = dx * dx + dy * dy;
      if (away < NEAR * NEAR && r !== observer && !taken.has(r) && there(frame, r)) pairs.push([away, track, r]);
    }
  }
  for (const [, track, r] of pairs.sort((one, other) => one[0] - other[0])) if (track.of < 0 && !taken.has(r)) {
    track.of = r;
    taken.add(r);
  }
}

// From the map as the observer has it to the map: by how far its belief is from its truth.
function corrected(model, frame, observer) {
  const ghost = model.robots[observer].ghosts[0];
  if (!ghost) return (x, y) => [x, y];
  const b = model.belief(ghost, frame), t = model.truth(observer, frame), turn = t.yaw - t.wz * b.age - b.yaw;
  const sine = Math.sin(t.yaw), cosine = Math.cos(t.yaw), c = Math.cos(turn), s = Math.sin(turn);
  const atX = t.x - (cosine * t.vx - sine * t.vy) * b.age, atY = t.y - (sine * t.vx + cosine * t.vy) * b.age;
  return (x, y) => [atX + c * (x - b.x) - s * (y - b.y), atY + s * (x - b.x) + c * (y - b.y)];
}

// The robots that an observer could see, by the range, the field and the walls of its sensors, and of which it has no track.
export function missed(model, observer, frame = model.frame) {
  const { group } = model.robots[observer];
  if (!group.contacts || !there(frame, observer)) return [];
  const known = new Set(readTracks(model, frame).filter((track) => track.observer === observer).map((track) => track.of));
  const sensors = group.sensors.filter((sensor) => sensor.draws === "contacts"), found = [];
  for (let r = 0; r < frame.count; r++) {
    if (r !== observer && !known.has(r) && there(frame, r) && sensors.some((sensor) => inSight(model, frame, sensor, observer, r))) found.push(r);
  }
  return found;
}

function inSight(model, frame, sensor, observer, robot) {
  const t = model.truth(observer, frame), [mx, my, turn] = sensor.mounts[0], c = Math.cos(t.yaw), s = Math.sin(t.yaw);
  const from = [t.x + c * mx - s * my, t.y + s * mx + c * my], to = [frame.robots[robot * ROBOT], frame.robots[robot * ROBOT + 1]];
  const dx = to[0] - from[0], dy = to[1] - from[1], far = Math.hypot(dx, dy), yaw = t.yaw + turn;
  if (far > sensor.max_range || far < sensor.min_range) return false;
  const aside = Math.atan2(Math.cos(yaw) * dy - Math.sin(yaw) * dx, Math.cos(yaw) * dx + Math.sin(yaw) * dy);
  return Math.abs(aside) <= sensor.field_of_view / 2 && !(sensor.walls && crosses(model.scene.map.segments, from, dx, dy));
}

function crosses(segments, [x, y], dx, dy) {
  for (let k = 0; k < segments.length; k += 4) {
    const ax = segments[k] - x, ay = segments[k + 1] - y, ex = segments[k + 2] - segments[k], ey = segments[k + 3] - segments[k + 1];
    const whole = dx * ey - dy * ex, along = (ax * ey - ay * ex) / whole, aside = (ax * dy - ay * dx) / whole;
    if (along > 0 && along < 1 && aside >= 0 && aside <= 1) return true;
  }
  return false;
}

// Drawing.

export function drawContacts(painter) {
  const { model, shown, context: c } = painter, { selected } = model;
  if (model.alive(selected)) for (const robot of missed(model, selected)) unknown(painter, model.robots[robot]);
  const tracks = readTracks(model).filter((track) => model.alive(track.observer) && Number.isFinite(track.x + track.y));
  for (const track of tracks) if (shown.everyone && track.observer !== selected) drawTrack(painter, track, false);
  for (const track of tracks) if (track.observer === selected) drawTrack(painter, track, true);
  c.globalAlpha = 1;
  c.setLineDash([]);
}

function unknown(painter, robot) {
  const t = painter.model.truth(robot.index);
  painter.ring(t.x, t.y, painter.outline(robot).reach + 7 * painter.pixel, painter.theme.colours.soft, [1, 4], 0.75);
}

function drawTrack(painter, track, chosen) {
  const { context: c, model, pixel } = painter, observer = model.robots[track.observer];
  const { coast } = observer.group.contacts, fresh = Math.max(0.3, 1 - (0.7 * (track.unseen + Math.max(0, track.age))) / coast);
  const alpha = fresh * (chosen ? 1 : 0.5);
  c.strokeStyle = c.fillStyle = painter.colour(observer);
  c.lineWidth = pixel;
  if (track.of >= 0) { // how wrong it is about whom it is about
    const t = model.truth(track.of);
    c.globalAlpha = 0.75 * alpha;
    c.setLineDash([2 * pixel, 3 * pixel]);
    c.beginPath();
    c.moveTo(t.x, t.y);
    c.lineTo(track.x, track.y);
    c.stroke();
    c.setLineDash([]);
  }
  if (painter.shown.ellipses) ellipse(painter, track, alpha);
  c.globalAlpha = alpha;
  if (Math.hypot(track.vx, track.vy) > SLOW) arrow(painter, track);
  c.beginPath();
  c.arc(track.x, track.y, (chosen ? 4.5 : 3) * pixel, 0, 2 * Math.PI);
  c.fill();
  c.lineWidth = 1.5 * pixel;
  c.strokeStyle = painter.theme.colours.floor;
  c.stroke();
  if (chosen) { // on the side where the true one is not
    const left = track.of >= 0 && model.truth(track.of).x > track.x, dx = left ? -9 : 9;
    painter.text(label(model, track), track.x, track.y, dx, 0, painter.colour(observer), Math.max(0.6, fresh), left ? "right" : "left");
  }
}

function label(model, { number, identity }) { return identity >= 0 ? `${number} · ${model.robots[identity].name}` : `${number}`; }

function ellipse({ context: c, pixel }, { x, y, cov: [xx, xy, yy] }, alpha) {
  const { long, short, angle } = axes([xx, xy, 0, yy]);
  if (!(long > 0)) return;
  c.beginPath();
  c.ellipse(x, y, SIGMA_95 * Math.sqrt(long), SIGMA_95 * Math.sqrt(short), angle, 0, 2 * Math.PI);
  c.globalAlpha = 0.1 * alpha * alpha; // what is old is large, too
  c.fill();
  c.globalAlpha = 0.65 * alpha;
  c.lineWidth = pixel;
  c.stroke();
}

function arrow({ context: c, pixel }, { x, y, vx, vy }) {
  const tipX = x + AHEAD * vx, tipY = y + AHEAD * vy, angle = Math.atan2(vy, vx), head = 6 * pixel;
  c.lineWidth = 1.6 * pixel;
  c.beginPath();
  c.moveTo(x, y);
  c.lineTo(tipX, tipY);
  for (const side of [-0.45, 0.45]) {
    c.moveTo(tipX, tipY);
    c.lineTo(tipX - head * Math.cos(angle + side), tipY - head * Math.sin(angle + side));
  }
  c.stroke();
}
