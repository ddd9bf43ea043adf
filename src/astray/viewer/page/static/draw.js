// Draws the world on its canvas: grid, map, goals, trails, readings, beliefs, robots, tracks, collisions.

import { BUMPED, OVERRIDDEN, STALLED, TOUCHING } from "./frame.js";
import { ellipseAxes } from "./model.js";
import { drawReading } from "./readings.js";
import { drawTracks } from "./tracks.js";

const SIGMA_95 = Math.sqrt(5.991); // of chi squared with two degrees of freedom
const DASHES = [[5, 4], [1.5, 3.5], [8, 3, 2, 3]]; // of the estimators of a robot, in pixels

export class Painter {
  constructor(canvas, model, camera, theme, shown) {
    Object.assign(this, { canvas, model, camera, theme, shown });
    this.context = canvas.getContext("2d");
    this.walls = this.solids = new Path2D();
    model.on("scene", () => this.readScene());
  }

  readScene() {
    const { segments: s, solid } = this.model.scene.map;
    this.walls = new Path2D();
    this.solids = new Path2D(); // closed rings, filled by their winding; holes wind the other way
    for (let k = 0; k < s.length; k += 4) {
      for (const path of k < 4 * solid ? [this.walls, this.solids] : [this.walls]) {
        if (!k || s[k] !== s[k - 2] || s[k + 1] !== s[k - 1]) path.moveTo(s[k], s[k + 1]);
        path.lineTo(s[k + 2], s[k + 3]);
      }
    }
  }

  resize() {
    const { canvas, camera } = this;
    this.ratio = Math.min(2, devicePixelRatio || 1);
    camera.width = canvas.clientWidth;
    camera.height = canvas.clientHeight;
    const width = Math.round(camera.width * this.ratio), height = Math.round(camera.height * this.ratio);
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  }

  draw(hover) {
    this.resize();
    const c = this.context, { colours } = this.theme;
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.fillStyle = colours.floor;
    c.fillRect(0, 0, this.canvas.width, this.canvas.height);
    this.camera.apply(c, this.ratio);
    this.pixel = 1 / this.camera.scale;
    this.hover = hover;
    if (this.shown.grid) this.drawGrid();
    if (!this.model.scene) return;
    this.drawMap();
    if (this.shown.waypoints) this.drawGoals();
    if (!this.model.frame) return;
    if (this.shown.trails) this.drawTrails();
    if (this.shown.readings) for (const reading of this.model.frame.readings) drawReading(this, reading);
    if (this.shown.beliefs) this.drawBeliefs();
    for (const robot of this.model.robots) if (this.model.alive(robot.index)) this.drawRobot(robot);
    if (this.shown.contacts && this.model.hasTrackers) drawTracks(this);
    if (this.shown.collisions) this.drawCollisions();
  }

  drawGrid() {
    const c = this.context, { camera, pixel } = this;
    const step = [0.1, 0.5, 1, 5, 10, 50, 100, 500, 1000].find((s) => s * camera.scale >= 14) ?? 5000;
    const [left, top] = camera.toWorld(0, 0), [right, bottom] = camera.toWorld(camera.width, camera.height);
    for (const isStrong of [false, true]) {
      c.beginPath();
      for (let k = Math.floor(left / step); k * step <= right; k++) if ((k % 5 === 0) === isStrong) {
        c.moveTo(k * step, bottom);
        c.lineTo(k * step, top);
      }
      for (let k = Math.floor(bottom / step); k * step <= top; k++) if ((k % 5 === 0) === isStrong) {
        c.moveTo(left, k * step);
        c.lineTo(right, k * step);
      }
      c.lineWidth = pixel;
      c.strokeStyle = this.theme.colours[isStrong ? "grid-strong" : "grid"];
      c.stroke();
    }
  }

  drawMap() {
    const c = this.context;
    c.lineWidth = 1.6 * this.pixel;
    c.lineCap = c.lineJoin = "round";
    c.fillStyle = this.theme.colours.solid;
    c.fill(this.solids);
    c.strokeStyle = this.theme.colours.wall;
    c.stroke(this.walls);
    if (!this.shown.waypoints) return;
    for (const place of this.model.scene.map.places) this.text(place.name || place.kind, place.x, place.y, 0, 15, this.theme.colours.soft, 0.8);
  }

  drawGoals() {
    const c = this.context, drawn = new Set();
    this.model.robots.forEach((robot) => {
      const { group } = robot;
      if (drawn.has(group.name) || !group.path.length) return;
      drawn.add(group.name);
      const isSelected = this.model.robots[this.model.selected]?.group === group;
      c.globalAlpha = isSelected ? 0.95 : 0.4;
      c.fillStyle = c.strokeStyle = this.colour(robot);
      group.path.forEach(([x, y], k) => {
        const r = 5.5 * this.pixel;
        c.beginPath();
        c.moveTo(x, y + r); c.lineTo(x + r, y); c.lineTo(x, y - r); c.lineTo(x - r, y);
        c.closePath();
        c.lineWidth = 1.6 * this.pixel;
        c.stroke();
        if (isSelected && group.path.length > 1) this.text(String(k + 1), x, y, 0, -14, this.theme.colours.soft, 0.9);
      });
    });
    c.globalAlpha = 1;
  }

  drawTrails() {
    const c = this.context, n = this.model.robots.length;
    c.lineJoin = "round";
    this.model.trails.forEach((trail, k) => {
      if (trail.points.length < 2) return;
      const belief = k >= n ? this.model.beliefs[k - n] : null;
      if (belief && !this.shown.beliefs) return;
      const robot = belief ? belief.robot : k;
      c.beginPath();
      let isNew = true;
      for (const point of trail.points) {
        if (!point) isNew = true;
        else if (isNew) { c.moveTo(point[0], point[1]); isNew = false; }
        else c.lineTo(point[0], point[1]);
      }
      c.strokeStyle = this.colour(this.model.robots[robot]);
      c.globalAlpha = (robot === this.model.selected ? 0.75 : 0.38) * (belief ? 0.8 : 1);
      c.lineWidth = (belief ? 1.2 : 1.8) * this.pixel;
      c.setLineDash(belief ? DASHES[belief.rank % 3].map((d) => d * this.pixel) : []);
      c.stroke();
    });
    c.setLineDash([]);
    c.globalAlpha = 1;
  }

  cross(x, y, colour) {
    const c = this.context, r = 5 * this.pixel;
    c.beginPath();
    c.moveTo(x - r, y - r); c.lineTo(x + r, y + r);
    c.moveTo(x - r, y + r); c.lineTo(x + r, y - r);
    c.strokeStyle = colour;
    c.lineWidth = 1.8 * this.pixel;
    c.stroke();
  }

  drawBeliefs() {
    const c = this.context, { model, pixel } = this;
    for (const belief of model.beliefs) {
      if (!model.alive(belief.robot)) continue;
      const robot = model.robots[belief.robot], t = model.truth(belief.robot), b = model.pose(belief);
      const isSelected = belief.robot === model.selected, colour = this.colour(robot), dash = DASHES[belief.rank % 3].map((d) => d * pixel);
      c.strokeStyle = c.fillStyle = colour;
      c.globalAlpha = isSelected ? 0.9 : 0.45;
      c.lineWidth = pixel;
      c.beginPath();
      c.moveTo(t.x, t.y);
      c.lineTo(b.x, b.y);
      c.stroke();
      const { long, short, angle } = ellipseAxes(b.cov);
      if (this.shown.ellipses && long > 0) {
        c.beginPath();
        c.ellipse(b.x, b.y, SIGMA_95 * Math.sqrt(long), SIGMA_95 * Math.sqrt(short), angle, 0, 2 * Math.PI);
        c.globalAlpha = isSelected ? 0.13 : 0.07;
        c.fill();
        c.globalAlpha = isSelected ? 0.8 : 0.4;
        c.setLineDash(dash);
        c.stroke();
      }
      c.save();
      c.translate(b.x, b.y);
      c.rotate(b.yaw);
      const shape = this.outline(robot);
      c.globalAlpha = isSelected ? 0.22 : 0.12;
      c.fill(shape.path);
      c.globalAlpha = isSelected ? 1 : 0.7;
      c.lineWidth = (this.hover === belief ? 2.6 : 1.6) * pixel;
      c.setLineDash(dash);
      c.stroke(shape.path);
      c.setLineDash([]);
      c.beginPath();
      c.moveTo(0, 0);
      c.lineTo(Math.max(shape.front, 0.05), 0);
      c.stroke();
      c.restore();
      if (isSelected && robot.beliefs.length > 1) this.text(belief.name, b.x, b.y, 0, 20 + shape.halfWidth * this.camera.scale, colour, 0.95);
      if (belief.rank === 0 && t.flags & BUMPED) this.ring(b.x, b.y, shape.radius + 7 * pixel, this.theme.colours.hit, [2, 3]);
    }
    c.globalAlpha = 1;
    c.setLineDash([]);
  }

  drawRobot(robot) {
    const c = this.context, { pixel } = this, t = this.model.truth(robot.index), shape = this.outline(robot);
    const isSelected = robot.index === this.model.selected;
    c.save();
    c.translate(t.x, t.y);
    c.rotate(t.yaw);
    if (isSelected) {
      c.beginPath();
      c.arc(0, 0, shape.radius + 10 * pixel, 0, 2 * Math.PI);
      c.fillStyle = this.theme.colours.halo;
      c.fill();
    }
    c.fillStyle = this.colour(robot);
    c.fill(shape.path);
    c.lineWidth = (this.hover === robot ? 2.6 : 1.4) * pixel;
    c.lineJoin = "round";
    c.strokeStyle = this.theme.colours[this.hover === robot || t.flags & OVERRIDDEN ? "ink" : "floor"];
    c.stroke(shape.path);
    const size = Math.min(shape.halfWidth, shape.front) * 0.55, nose = Math.max(0, shape.front - size * 1.25);
    c.beginPath(); // an arrowhead that points forward
    c.moveTo(nose + size, 0);
    c.lineTo(nose - size * 0.35, size * 0.8);
    c.lineTo(nose, 0);
    c.lineTo(nose - size * 0.35, -size * 0.8);
    c.closePath();
    c.fillStyle = this.theme.colours.floor;
    c.fill();
    if (isSelected && this.shown.handle) {
      const handle = shape.radius + 22 * pixel;
      c.beginPath();
      c.moveTo(shape.radius + 10 * pixel, 0);
      c.lineTo(handle - 5 * pixel, 0);
      c.strokeStyle = this.theme.colours.accent;
      c.lineWidth = 1.4 * pixel;
      c.stroke();
      c.beginPath();
      c.arc(handle, 0, 5 * pixel, 0, 2 * Math.PI);
      c.fillStyle = this.theme.colours.floor;
      c.fill();
      c.stroke();
    }
    c.restore();
    if (this.shown.names && this.model.robots.length <= 60) {
      this.text(robot.name, t.x, t.y, 0, -(shape.radius * this.camera.scale + (isSelected ? 22 : 13)), this.theme.colours.ink, isSelected ? 1 : 0.7);
    }
  }

  drawCollisions() {
    const c = this.context;
    for (const [time, , , x, y] of this.model.collisions) {
      const age = this.model.frame.time - time;
      if (age < 0) continue;
      c.globalAlpha = Math.max(0.25, 1 - age / 8);
      this.cross(x, y, this.theme.colours.hit);
      if (age < 0.8) this.ring(x, y, (6 + 26 * age) * this.pixel, this.theme.colours.hit, [], 1 - age / 0.8);
    }
    c.globalAlpha = 1;
    for (const robot of this.model.robots) {
      const t = this.model.truth(robot.index);
      if (!this.model.alive(robot.index) || !(t.flags & (TOUCHING | STALLED))) continue;
      this.ring(t.x, t.y, this.outline(robot).radius + 5 * this.pixel, this.theme.colours.hit, []);
      if (t.flags & TOUCHING) {
        c.beginPath();
        c.arc(t.contact[0], t.contact[1], 3.5 * this.pixel, 0, 2 * Math.PI);
        c.fillStyle = this.theme.colours.hit;
        c.fill();
      }
    }
  }

  ring(x, y, radius, colour, dash, alpha = 1) {
    const c = this.context, usual = c.globalAlpha;
    c.globalAlpha = alpha;
    c.beginPath();
    c.arc(x, y, radius, 0, 2 * Math.PI);
    c.lineWidth = 2 * this.pixel;
    c.strokeStyle = colour;
    c.setLineDash(dash.map((d) => d * this.pixel));
    c.stroke();
    c.setLineDash([]);
    c.globalAlpha = usual;
  }

  text(text, x, y, dx, dy, colour, alpha, align = "center") {
    const c = this.context, [px, py] = this.camera.toScreen(x, y);
    c.save();
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.font = "600 11px Inter, 'Segoe UI', system-ui, sans-serif";
    c.textAlign = align;
    c.textBaseline = "middle";
    c.globalAlpha = alpha;
    c.lineWidth = 3;
    c.lineJoin = "round";
    c.strokeStyle = this.theme.colours.floor;
    c.strokeText(text, px + dx, py + dy);
    c.fillStyle = colour;
    c.fillText(text, px + dx, py + dy);
    c.restore();
  }

  colour(robot) { return this.theme.robots[robot.colour]; }
  outline(robot) { return this.model.outlines[this.model.scene.groups.indexOf(robot.group)]; }
}

// The scale bar: the longest round length that is at most 150 pixels.
export function drawScale(canvas, camera, theme) {
  const ratio = Math.min(2, devicePixelRatio || 1), c = canvas.getContext("2d");
  canvas.width = 190 * ratio;
  canvas.height = 30 * ratio;
  c.scale(ratio, ratio);
  const longest = 150 / camera.scale, power = 10 ** Math.floor(Math.log10(longest));
  const length = [5, 2, 1].find((k) => k * power <= longest) * power, pixels = length * camera.scale;
  c.strokeStyle = c.fillStyle = theme.colours.soft;
  c.lineWidth = 1.6;
  c.beginPath();
  c.moveTo(2, 18); c.lineTo(2, 25); c.lineTo(2 + pixels, 25); c.lineTo(2 + pixels, 18);
  c.stroke();
  c.font = "600 11px Inter, 'Segoe UI', system-ui, sans-serif";
  c.fillText(length >= 1 ? `${length} m` : `${Math.round(length * 100)} cm`, 7, 20);
}
