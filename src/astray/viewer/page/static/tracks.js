// The tracks of what robots believe of each other, the robots that they are of, and undetected robots.

import { ALIVE, GHOST, ROBOT, TRACK } from "./frame.js";
import { ellipseAxes } from "./model.js";

const SIGMA_95 = Math.sqrt(5.991); // of chi squared with two degrees of freedom
const MAX_DISTANCE = 1.0; // m between a track without an identity and its robot
const ARROW_TIME = 1.0; // s of the velocity that an arrow shows
const MIN_SPEED = 0.04; // m/s that an arrow shows

// The tracks of a frame. `of` is the robot that a track is of, −1 where that is not known.
export function readTracks(model, frame = model.frame) {
  if (frame.contacts) return frame.contacts;
  const a = frame.tracks, tracks = [];
  for (let k = 0; k < a.length; k += TRACK) {
    const [observer, number, identity, age, unseen, x, y, vx, vy] = a.subarray(k, k + 9);
    tracks.push({ observer, number, identity, age, unseen, x, y, vx, vy, cov: [...a.subarray(k + 9, k + TRACK)], of: -1 });
  }
  const byObserver = new Map();
  for (const track of tracks) byObserver.set(track.observer, [...(byObserver.get(track.observer) ?? []), track]);
  for (const [observer, observed] of byObserver) assignRobots(model, frame, observer, observed);
  return (frame.contacts = tracks);
}

const canBeTracked = (frame, robot) => (frame.robots[robot * ROBOT + 6] & (ALIVE | GHOST)) === ALIVE;

// A track is of the robot with its identity; of several with one identity, only the one seen last. A
// track without an identity is of the nearest robot, once the observer's own error is corrected.
function assignRobots(model, frame, observer, tracks) {
  const assigned = new Set(), pairs = [];
  const unidentified = tracks.filter(({ identity }) => identity < 0 || identity === observer);
  for (const track of tracks.toSorted((one, other) => one.unseen - other.unseen)) {
    if (unidentified.includes(track) || assigned.has(track.identity) || !canBeTracked(frame, track.identity)) continue;
    track.of = track.identity;
    assigned.add(track.of);
  }
  if (!unidentified.length) return;
  const correct = correction(model, frame, observer);
  for (const track of unidentified) {
    const [x, y] = correct(track.x + track.vx * track.age, track.y + track.vy * track.age);
    for (let r = 0; r < frame.count; r++) {
      const dx = frame.robots[r * ROBOT] - x, dy = frame.robots[r * ROBOT + 1] - y, squared = dx * dx + dy * dy;
      if (squared < MAX_DISTANCE * MAX_DISTANCE && r !== observer && !assigned.has(r) && canBeTracked(frame, r)) pairs.push([squared, track, r]);
    }
  }
  for (const [, track, r] of pairs.sort((one, other) => one[0] - other[0])) if (track.of < 0 && !assigned.has(r)) {
    track.of = r;
    assigned.add(r);
  }
}

// Maps points as the observer believes them to where they are, by the error of the observer's belief.
function correction(model, frame, observer) {
  const belief = model.robots[observer].beliefs[0];
  if (!belief) return (x, y) => [x, y];
  const b = model.pose(belief, frame), t = model.truth(observer, frame), turn = t.yaw - t.wz * b.age - b.yaw;
  const sine = Math.sin(t.yaw), cosine = Math.cos(t.yaw), c = Math.cos(turn), s = Math.sin(turn);
  const trueX = t.x - (cosine * t.vx - sine * t.vy) * b.age, trueY = t.y - (sine * t.vx + cosine * t.vy) * b.age;
  return (x, y) => [trueX + c * (x - b.x) - s * (y - b.y), trueY + s * (x - b.x) + c * (y - b.y)];
}

// The robots in view of an observer's sensors of which it has no track.
export function undetectedRobots(model, observer, frame = model.frame) {
  const { group } = model.robots[observer];
  if (!group.contacts || !canBeTracked(frame, observer)) return [];
  const tracked = new Set(readTracks(model, frame).filter((track) => track.observer === observer).map((track) => track.of));
  const sensors = group.sensors.filter((sensor) => sensor.draws === "contacts"), found = [];
  for (let r = 0; r < frame.count; r++) {
    if (r !== observer && !tracked.has(r) && canBeTracked(frame, r) && sensors.some((sensor) => isInView(model, frame, sensor, observer, r))) found.push(r);
  }
  return found;
}

// Whether a robot is within the range and the field of view of a sensor, and no wall hides it.
function isInView(model, frame, sensor, observer, robot) {
  const t = model.truth(observer, frame), [mx, my, turn] = sensor.mounts[0], c = Math.cos(t.yaw), s = Math.sin(t.yaw);
  const from = [t.x + c * mx - s * my, t.y + s * mx + c * my], to = [frame.robots[robot * ROBOT], frame.robots[robot * ROBOT + 1]];
  const dx = to[0] - from[0], dy = to[1] - from[1], range = Math.hypot(dx, dy), yaw = t.yaw + turn;
  if (range > sensor.max_range || range < sensor.min_range) return false;
  const bearing = Math.atan2(Math.cos(yaw) * dy - Math.sin(yaw) * dx, Math.cos(yaw) * dx + Math.sin(yaw) * dy);
  return Math.abs(bearing) <= sensor.field_of_view / 2 && !(sensor.walls && intersectsWall(model.scene.map.segments, from, dx, dy));
}

// Whether the line from (x, y) to (x + dx, y + dy) intersects one of the segments.
function intersectsWall(segments, [x, y], dx, dy) {
  for (let k = 0; k < segments.length; k += 4) {
    const ax = segments[k] - x, ay = segments[k + 1] - y, ex = segments[k + 2] - segments[k], ey = segments[k + 3] - segments[k + 1];
    const cross = dx * ey - dy * ex, u = (ax * ey - ay * ex) / cross, v = (ax * dy - ay * dx) / cross;
    if (u > 0 && u < 1 && v >= 0 && v <= 1) return true;
  }
  return false;
}

// Drawing.

export function drawTracks(painter) {
  const { model, shown, context: c } = painter, { selected } = model;
  if (model.alive(selected)) for (const robot of undetectedRobots(model, selected)) drawUndetected(painter, model.robots[robot]);
  const tracks = readTracks(model).filter((track) => model.alive(track.observer) && Number.isFinite(track.x + track.y));
  for (const track of tracks) if (shown.everyone && track.observer !== selected) drawTrack(painter, track, false);
  for (const track of tracks) if (track.observer === selected) drawTrack(painter, track, true);
  c.globalAlpha = 1;
  c.setLineDash([]);
}

function drawUndetected(painter, robot) {
  const t = painter.model.truth(robot.index);
  painter.ring(t.x, t.y, painter.outline(robot).radius + 7 * painter.pixel, painter.theme.colours.soft, [1, 4], 0.75);
}

function drawTrack(painter, track, isSelected) {
  const { context: c, model, pixel } = painter, observer = model.robots[track.observer];
  const { coast } = observer.group.contacts, freshness = Math.max(0.3, 1 - (0.7 * (track.unseen + Math.max(0, track.age))) / coast);
  const alpha = freshness * (isSelected ? 1 : 0.5);
  c.strokeStyle = c.fillStyle = painter.colour(observer);
  c.lineWidth = pixel;
  if (track.of >= 0) { // a line from the robot to its track: the error
    const t = model.truth(track.of);
    c.globalAlpha = 0.75 * alpha;
    c.setLineDash([2 * pixel, 3 * pixel]);
    c.beginPath();
    c.moveTo(t.x, t.y);
    c.lineTo(track.x, track.y);
    c.stroke();
    c.setLineDash([]);
  }
  if (painter.shown.ellipses) drawEllipse(painter, track, alpha);
  c.globalAlpha = alpha;
  if (Math.hypot(track.vx, track.vy) > MIN_SPEED) drawArrow(painter, track);
  c.beginPath();
  c.arc(track.x, track.y, (isSelected ? 4.5 : 3) * pixel, 0, 2 * Math.PI);
  c.fill();
  c.lineWidth = 1.5 * pixel;
  c.strokeStyle = painter.theme.colours.floor;
  c.stroke();
  if (isSelected) { // the label is on the side where the robot is not
    const isLeft = track.of >= 0 && model.truth(track.of).x > track.x, dx = isLeft ? -9 : 9;
    painter.text(label(model, track), track.x, track.y, dx, 0, painter.colour(observer), Math.max(0.6, freshness), isLeft ? "right" : "left");
  }
}

function label(model, { number, identity }) { return identity >= 0 ? `${number} · ${model.robots[identity].name}` : `${number}`; }

function drawEllipse({ context: c, pixel }, { x, y, cov: [xx, xy, yy] }, alpha) {
  const { long, short, angle } = ellipseAxes([xx, xy, 0, yy]);
  if (!(long > 0)) return;
  c.beginPath();
  c.ellipse(x, y, SIGMA_95 * Math.sqrt(long), SIGMA_95 * Math.sqrt(short), angle, 0, 2 * Math.PI);
  c.globalAlpha = 0.1 * alpha * alpha; // fainter for old tracks, whose ellipses are large
  c.fill();
  c.globalAlpha = 0.65 * alpha;
  c.lineWidth = pixel;
  c.stroke();
}

function drawArrow({ context: c, pixel }, { x, y, vx, vy }) {
  const tipX = x + ARROW_TIME * vx, tipY = y + ARROW_TIME * vy, angle = Math.atan2(vy, vx), head = 6 * pixel;
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
