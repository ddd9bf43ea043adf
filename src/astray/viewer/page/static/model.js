// What is known of the run: its scene, the newest frame, where everyone was, and who is selected.

import { ALIVE, BELIEF, ROBOT } from "./frame.js";

const MOST_TRAIL = 400, TRAIL_POINTS = 24000, NEAR = 0.02, JUMP = 3.0;

export class Model {
  constructor() {
    this.scene = null;
    this.frame = null;
    this.hits = [];
    this.status = null;
    this.selected = 0;
    this.robots = [];
    this.ghosts = [];
    this.trails = [];
    this.listeners = { scene: [], frame: [], select: [], status: [] };
  }

  on(what, call) { this.listeners[what].push(call); }
  tell(what) { for (const call of this.listeners[what]) call(this); }

  takeScene(scene) {
    this.scene = scene;
    this.robots = [];
    this.ghosts = []; // every belief: whose, of which robot, and which of the frame's beliefs it is
    const several = scene.groups.length > 1;
    let belief = 0;
    scene.groups.forEach((group, g) => {
      const first = this.robots.length;
      for (let k = 0; k < group.count; k++) {
        const name = group.count > 1 ? `${group.name} ${k}` : group.name;
        this.robots.push({ name, group, colour: (several ? g : k) % 6, ghosts: [], index: first + k });
      }
      group.beliefs.forEach((who, rank) => {
        for (let k = 0; k < group.count; k++, belief++) {
          const ghost = { who, rank, robot: first + k, index: belief };
          this.ghosts.push(ghost);
          this.robots[first + k].ghosts.push(ghost);
        }
      });
    });
    this.outlines = scene.groups.map((group) => outline(group.footprint));
    this.forgetTrails();
    this.frame = null;
    if (this.selected >= this.robots.length) this.selected = 0;
    this.tell("scene");
  }

  takeFrame(frame) {
    if (!this.scene || frame.serial !== this.scene.serial) return;
    if (this.frame && frame.step < this.frame.step) this.forgetTrails();
    this.frame = frame;
    this.extendTrails();
    this.tell("frame");
  }

  takeHits(hits) { this.hits = hits; this.tell("status"); }
  takeStatus(status) { this.status = status; this.tell("status"); }

  select(robot) {
    const count = this.robots.length;
    if (!count) return;
    this.selected = ((robot % count) + count) % count;
    this.tell("select");
  }

  get tracking() { return Boolean(this.scene?.groups.some((group) => group.contacts)); }

  // Poses, as the frame has them.

  truth(robot, frame = this.frame) {
    const a = frame.robots, k = robot * ROBOT;
    return { x: a[k], y: a[k + 1], yaw: a[k + 2], vx: a[k + 3], vy: a[k + 4], wz: a[k + 5], flags: a[k + 6], at: [a[k + 7], a[k + 8]] };
  }

  alive(robot) { return (this.frame.robots[robot * ROBOT + 6] & ALIVE) > 0; }

  belief(ghost, frame = this.frame) {
    const a = frame.beliefs, k = ghost.index * BELIEF;
    return { x: a[k], y: a[k + 1], yaw: a[k + 2], age: a[k + 3], cov: a.subarray(k + 4, k + 10) };
  }

  // How wrong a belief is, against the truth of its stamp: the truth of now, taken back by its speed.
  judge(ghost, frame = this.frame) {
    const t = this.truth(ghost.robot, frame), b = this.belief(ghost, frame);
    const c = Math.cos(t.yaw), s = Math.sin(t.yaw);
    const dx = b.x - (t.x - (c * t.vx - s * t.vy) * b.age), dy = b.y - (t.y - (s * t.vx + c * t.vy) * b.age);
    const turn = wrapped(b.yaw - (t.yaw - t.wz * b.age));
    return { error: Math.hypot(dx, dy), turn, sigma: Math.sqrt(axes(b.cov).long), nees: nees(b.cov, dx, dy, turn) };
  }

  // Trails.

  forgetTrails() {
    const make = () => ({ points: [] });
    this.trails = [...this.robots.map(make), ...this.ghosts.map(make)];
    this.longest = Math.max(12, Math.min(MOST_TRAIL, Math.floor(TRAIL_POINTS / Math.max(1, this.trails.length))));
  }

  extendTrails(frame = this.frame) {
    for (const robot of this.robots) {
      const k = robot.index * ROBOT;
      this.extend(this.trails[robot.index], frame.robots[k], frame.robots[k + 1]);
    }
    for (const ghost of this.ghosts) {
      const k = ghost.index * BELIEF;
      this.extend(this.trails[this.robots.length + ghost.index], frame.beliefs[k], frame.beliefs[k + 1]);
    }
  }

  extend(trail, x, y) {
    const last = trail.points.at(-1);
    if (last) {
      const away = Math.hypot(x - last[0], y - last[1]);
      if (away < NEAR) return;
      if (away > JUMP) trail.points.push(null); // it was carried: no line leads there
    }
    trail.points.push([x, y]);
    while (trail.points.length > this.longest) trail.points.shift();
  }
}

function outline(corners) {
  const path = new Path2D();
  corners.forEach(([x, y], k) => (k ? path.lineTo(x, y) : path.moveTo(x, y)));
  path.closePath();
  const xs = corners.map((c) => c[0]), ys = corners.map((c) => c[1]);
  const reach = Math.max(...corners.map(([x, y]) => Math.hypot(x, y)));
  return { path, reach, front: Math.max(...xs), back: Math.min(...xs), half: Math.max(...ys.map(Math.abs)) };
}

export function wrapped(angle) { return Math.atan2(Math.sin(angle), Math.cos(angle)); }

// Axes of the ellipse of one standard deviation: variances along both, and the angle of the longer.
export function axes(cov) {
  const [xx, xy, , yy] = cov;
  const middle = (xx + yy) / 2, spread = Math.sqrt(((xx - yy) / 2) ** 2 + xy * xy);
  return { long: Math.max(0, middle + spread), short: Math.max(0, middle - spread), angle: 0.5 * Math.atan2(2 * xy, xx - yy) };
}

// eᵀ P⁻¹ e of a pose, by the adjugate; not a number where the covariance cannot be inverted.
export function nees(cov, x, y, t) {
  const [a, b, c, d, e, f] = cov;
  const A = d * f - e * e, B = c * e - b * f, C = b * e - c * d, D = a * f - c * c, E = b * c - a * e, F = a * d - b * b;
  const whole = a * A + b * B + c * C;
  if (!(whole > 1e-24)) return NaN;
  return (x * (A * x + B * y + C * t) + y * (B * x + D * y + E * t) + t * (C * x + E * y + F * t)) / whole;
}
