// The state of the page: the scene, the newest frame, trails, and the selected robot.

import { ALIVE, BELIEF, ROBOT } from "./frame.js";

const MAX_TRAIL = 400, MAX_TRAIL_POINTS = 24000; // points of one trail, and of all
const MIN_MOTION = 0.02, MAX_MOTION = 3.0; // m between two points: less is left out, more is no motion

export class Model {
  constructor() {
    this.scene = null;
    this.frame = null;
    this.collisions = [];
    this.status = null;
    this.selected = 0;
    this.robots = [];
    this.beliefs = [];
    this.trails = [];
    this.listeners = { scene: [], frame: [], select: [], status: [] };
  }

  on(event, callback) { this.listeners[event].push(callback); }
  emit(event) { for (const callback of this.listeners[event]) callback(this); }

  setScene(scene) {
    this.scene = scene;
    this.robots = [];
    this.beliefs = []; // of each: the name of its estimator, its robot, and its index in the frame
    const hasSeveralGroups = scene.groups.length > 1;
    let index = 0;
    scene.groups.forEach((group, g) => {
      const first = this.robots.length;
      for (let k = 0; k < group.count; k++) {
        const name = group.count > 1 ? `${group.name} ${k}` : group.name;
        this.robots.push({ name, group, colour: (hasSeveralGroups ? g : k) % 6, beliefs: [], index: first + k });
      }
      group.beliefs.forEach((name, rank) => {
        for (let k = 0; k < group.count; k++, index++) {
          const belief = { name, rank, robot: first + k, index };
          this.beliefs.push(belief);
          this.robots[first + k].beliefs.push(belief);
        }
      });
    });
    this.outlines = scene.groups.map((group) => outline(group.footprint));
    this.clearTrails();
    this.frame = null;
    if (this.selected >= this.robots.length) this.selected = 0;
    this.emit("scene");
  }

  setFrame(frame) {
    if (!this.scene || frame.serial !== this.scene.serial) return;
    if (this.frame && frame.step < this.frame.step) this.clearTrails();
    this.frame = frame;
    this.extendTrails();
    this.emit("frame");
  }

  setCollisions(collisions) { this.collisions = collisions; this.emit("status"); }
  setStatus(status) { this.status = status; this.emit("status"); }

  select(robot) {
    const count = this.robots.length;
    if (!count) return;
    this.selected = ((robot % count) + count) % count;
    this.emit("select");
  }

  get hasTrackers() { return Boolean(this.scene?.groups.some((group) => group.contacts)); }

  // Poses of a frame.

  truth(robot, frame = this.frame) {
    const a = frame.robots, k = robot * ROBOT;
    return { x: a[k], y: a[k + 1], yaw: a[k + 2], vx: a[k + 3], vy: a[k + 4], wz: a[k + 5], flags: a[k + 6], contact: [a[k + 7], a[k + 8]] };
  }

  alive(robot) { return (this.frame.robots[robot * ROBOT + 6] & ALIVE) > 0; }

  pose(belief, frame = this.frame) {
    const a = frame.beliefs, k = belief.index * BELIEF;
    return { x: a[k], y: a[k + 1], yaw: a[k + 2], age: a[k + 3], cov: a.subarray(k + 4, k + 10) };
  }

  // The error of a belief against the truth at its stamp: the present truth, moved back by its velocity.
  error(belief, frame = this.frame) {
    const t = this.truth(belief.robot, frame), b = this.pose(belief, frame);
    const c = Math.cos(t.yaw), s = Math.sin(t.yaw);
    const dx = b.x - (t.x - (c * t.vx - s * t.vy) * b.age), dy = b.y - (t.y - (s * t.vx + c * t.vy) * b.age);
    const yawError = wrapAngle(b.yaw - (t.yaw - t.wz * b.age));
    return { error: Math.hypot(dx, dy), yawError, sigma: Math.sqrt(ellipseAxes(b.cov).long), nees: nees(b.cov, dx, dy, yawError) };
  }

  // Trails.

  clearTrails() {
    const make = () => ({ points: [] });
    this.trails = [...this.robots.map(make), ...this.beliefs.map(make)];
    this.trailLength = Math.max(12, Math.min(MAX_TRAIL, Math.floor(MAX_TRAIL_POINTS / Math.max(1, this.trails.length))));
  }

  extendTrails(frame = this.frame) {
    for (const robot of this.robots) {
      const k = robot.index * ROBOT;
      this.extend(this.trails[robot.index], frame.robots[k], frame.robots[k + 1]);
    }
    for (const belief of this.beliefs) {
      const k = belief.index * BELIEF;
      this.extend(this.trails[this.robots.length + belief.index], frame.beliefs[k], frame.beliefs[k + 1]);
    }
  }

  extend(trail, x, y) {
    const last = trail.points.at(-1);
    if (last) {
      const distance = Math.hypot(x - last[0], y - last[1]);
      if (distance < MIN_MOTION) return;
      if (distance > MAX_MOTION) trail.points.push(null); // its pose was set: the line is interrupted
    }
    trail.points.push([x, y]);
    while (trail.points.length > this.trailLength) trail.points.shift();
  }
}

function outline(corners) {
  const path = new Path2D();
  corners.forEach(([x, y], k) => (k ? path.lineTo(x, y) : path.moveTo(x, y)));
  path.closePath();
  const xs = corners.map((c) => c[0]), ys = corners.map((c) => c[1]);
  const radius = Math.max(...corners.map(([x, y]) => Math.hypot(x, y)));
  return { path, radius, front: Math.max(...xs), halfWidth: Math.max(...ys.map(Math.abs)) };
}

export function wrapAngle(angle) { return Math.atan2(Math.sin(angle), Math.cos(angle)); }

// The axes of the covariance ellipse: the variances along both, and the angle of the longer one.
export function ellipseAxes(cov) {
  const [xx, xy, , yy] = cov;
  const mean = (xx + yy) / 2, deviation = Math.sqrt(((xx - yy) / 2) ** 2 + xy * xy);
  return { long: Math.max(0, mean + deviation), short: Math.max(0, mean - deviation), angle: 0.5 * Math.atan2(2 * xy, xx - yy) };
}

// eᵀ P⁻¹ e of a pose, by the adjugate of P; NaN where the covariance is singular.
export function nees(cov, x, y, yaw) {
  const [a, b, c, d, e, f] = cov;
  const A = d * f - e * e, B = c * e - b * f, C = b * e - c * d, D = a * f - c * c, E = b * c - a * e, F = a * d - b * b;
  const determinant = a * A + b * B + c * C;
  if (!(determinant > 1e-24)) return NaN;
  return (x * (A * x + B * y + C * yaw) + y * (B * x + D * y + E * yaw) + yaw * (C * x + E * y + F * yaw)) / determinant;
}
