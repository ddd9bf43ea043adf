// The hand: pan, zoom, select, carry a robot or its ghost, and drive by keys or joystick.

const OFTEN = 50, REPEAT = 100, CLICK = 4, REACH = 9; // ms, ms, pixels, pixels
const DRIVES = { arrowup: [1, 0], w: [1, 0], arrowdown: [-1, 0], s: [-1, 0], arrowleft: [0, 1], a: [0, 1], arrowright: [0, -1], d: [0, -1] };

export class Hand {
  constructor(canvas, model, camera, runner, view) {
    Object.assign(this, { canvas, model, camera, runner, view });
    this.hover = null;
    this.drag = null;
    this.keys = new Set();
    this.stick = [0, 0];
    this.pointers = new Map();
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", (event) => this.up(event));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    addEventListener("blur", () => this.release());
    document.addEventListener("visibilitychange", () => { if (document.hidden) this.release(); });
    setInterval(() => this.repeat(), REPEAT);
  }

  // What is under a point of the screen: the handle, a robot, or a ghost; the selected robot's first.

  find(px, py) {
    const { model } = this;
    if (!model.frame) return null;
    if (this.runner.live && model.alive(model.selected)) {
      const [hx, hy] = this.handle();
      if (Math.hypot(px - hx, py - hy) < REACH) return { kind: "turn", robot: model.robots[model.selected] };
    }
    let best = null;
    const offer = (kind, thing, robot, pose, extra) => {
      const [x, y] = this.camera.toScreen(pose.x, pose.y);
      const away = Math.hypot(px - x, py - y), reach = Math.max(REACH, this.view.outline(robot).reach * this.camera.scale);
      const rank = away / reach + extra;
      if (away <= reach && (!best || rank < best.rank)) best = { kind, thing, robot, rank };
    };
    for (const robot of model.robots) if (model.alive(robot.index)) offer("truth", robot, robot, model.truth(robot.index), robot.index === model.selected ? -0.1 : 0);
    if (this.view.shown.beliefs) for (const ghost of model.ghosts) {
      const robot = model.robots[ghost.robot];
      if (model.alive(ghost.robot)) offer("ghost", ghost, robot, model.belief(ghost), 0.05 + 0.01 * ghost.rank);
    }
    return best;
  }

  handle() {
    const { model, camera } = this, t = model.truth(model.selected);
    const away = this.view.outline(model.robots[model.selected]).reach + 22 / camera.scale;
    return camera.toScreen(t.x + away * Math.cos(t.yaw), t.y + away * Math.sin(t.yaw));
  }

  down(event) {
    const [px, py] = this.at(event);
    this.canvas.setPointerCapture(event.pointerId);
    this.canvas.focus({ preventScroll: true });
    this.pointers.set(event.pointerId, [px, py]);
    if (this.pointers.size === 2) { this.drag = null; this.apart = this.spread(); return; }
    const found = this.find(px, py), live = this.runner.live;
    if (found) {
      this.model.select(found.robot.index);
      const pose = found.kind === "ghost" ? this.model.belief(found.thing) : this.model.truth(found.robot.index);
      const [x, y] = this.camera.toWorld(px, py);
      const turning = found.kind === "turn" || event.shiftKey;
      this.drag = { ...found, start: [px, py], offset: [pose.x - x, pose.y - y], pose, turning, moved: false, live, sent: 0 };
    } else this.drag = { kind: "pan", last: [px, py], start: [px, py] };
    this.canvas.classList.toggle("grabbing", true);
    this.view.dirty();
  }

  move(event) {
    const [px, py] = this.at(event);
    if (this.pointers.has(event.pointerId)) this.pointers.set(event.pointerId, [px, py]);
    if (this.pointers.size === 2) {
      const apart = this.spread();
      if (this.apart) this.camera.zoom(apart.length / this.apart.length, ...apart.middle);
      this.apart = apart;
      return this.view.dirty();
    }
    const { drag } = this;
    if (!drag) {
      const found = this.find(px, py), hover = found?.thing ?? found?.robot ?? null;
      this.canvas.classList.toggle("over", Boolean(found));
      if (hover !== this.hover) { this.hover = hover; this.view.dirty(); }
      return;
    }
    if (drag.kind === "pan") {
      this.camera.pan(px - drag.last[0], py - drag.last[1]);
      this.view.unfollow();
      drag.last = [px, py];
      return this.view.dirty();
    }
    if (!drag.moved && Math.hypot(px - drag.start[0], py - drag.start[1]) < CLICK) return;
    drag.moved = true;
    this.carry(drag, px, py, false);
  }

  carry(drag, px, py, last) {
    if (!drag.live) return;
    const now = performance.now();
    if (!last && now - drag.sent < OFTEN) return;
    drag.sent = now;
    const [x, y] = this.camera.toWorld(px, py);
    let pose = { x: x + drag.offset[0], y: y + drag.offset[1], yaw: drag.pose.yaw };
    if (drag.turning) pose = { x: drag.pose.x, y: drag.pose.y, yaw: Math.atan2(y - drag.pose.y, x - drag.pose.x) };
    if (drag.kind === "ghost") this.runner.believe(drag.robot.index, drag.thing.who, pose);
    else this.runner.place(drag.robot.index, pose);
  }

  up(event) {
    const [px, py] = this.at(event);
    this.pointers.delete(event.pointerId);
    if (this.drag?.moved && event.type === "pointerup") this.carry(this.drag, px, py, true);
    this.drag = null;
    this.canvas.classList.remove("grabbing");
    this.view.dirty();
  }

  wheel(event) {
    event.preventDefault();
    this.camera.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.04 : 0.0016)), ...this.at(event));
    this.view.dirty();
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  spread() {
    const [a, b] = [...this.pointers.values()];
    return { length: Math.hypot(a[0] - b[0], a[1] - b[1]), middle: [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2] };
  }

  // Driving: a key that is held is told again and again, so that silence means let go.

  press(key) {
    if (!(key in DRIVES) || !this.runner.live) return false;
    if (!this.keys.has(key)) { this.keys.add(key); this.drive(); }
    return true;
  }

  lift(key) { if (this.keys.delete(key)) this.drive(); }

  release() {
    if (!this.keys.size && !this.stick.some(Boolean)) return;
    this.keys.clear();
    this.stick = [0, 0];
    this.drive();
  }

  wanted() {
    let [forward, turn] = this.stick;
    for (const key of this.keys) { forward += DRIVES[key][0]; turn += DRIVES[key][1]; }
    const limit = (v) => Math.min(1, Math.max(-1, v));
    return [limit(forward), limit(turn)];
  }

  drive() {
    const [forward, turn] = this.wanted(), robot = this.model.selected;
    if (this.driven !== undefined && this.driven !== robot) this.runner.drive(this.driven, 0, 0);
    this.driven = forward || turn ? robot : undefined;
    this.runner.drive(robot, forward, turn);
  }

  repeat() { if (this.driven !== undefined) this.drive(); }
}

// A joystick for fingers: up is forward, left turns left.
export function attachJoystick(pad, hand) {
  const knob = pad.firstElementChild;
  const tell = (x, y) => {
    knob.style.transform = `translate(${x * 34}px, ${-y * 34}px)`;
    hand.stick = [y, -x];
    hand.drive();
  };
  const follow = (event) => {
    const box = pad.getBoundingClientRect();
    const x = (event.clientX - box.left - box.width / 2) / 40, y = -(event.clientY - box.top - box.height / 2) / 40;
    const length = Math.max(1, Math.hypot(x, y));
    tell(Math.round((20 * x) / length) / 20, Math.round((20 * y) / length) / 20);
  };
  pad.addEventListener("pointerdown", (event) => { pad.setPointerCapture(event.pointerId); follow(event); });
  pad.addEventListener("pointermove", (event) => { if (pad.hasPointerCapture(event.pointerId)) follow(event); });
  for (const end of ["pointerup", "pointercancel"]) pad.addEventListener(end, () => tell(0, 0));
}
