// Mouse, touch and driving keys: pan, zoom, select, drag a robot or its belief, drive.

const SEND_PERIOD = 50, DRIVE_PERIOD = 100; // ms between two poses of a drag, and two drive commands
const CLICK_DISTANCE = 4, PICK_RADIUS = 9; // pixels
const DRIVE_KEYS = { arrowup: [1, 0], w: [1, 0], arrowdown: [-1, 0], s: [-1, 0], arrowleft: [0, 1], a: [0, 1], arrowright: [0, -1], d: [0, -1] };

export class Input {
  constructor(canvas, model, camera, runner, view) {
    Object.assign(this, { canvas, model, camera, runner, view });
    this.hover = null;
    this.drag = null;
    this.keys = new Set();
    this.joystick = [0, 0];
    this.pointers = new Map();
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", (event) => this.up(event));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    addEventListener("blur", () => this.releaseAll());
    document.addEventListener("visibilitychange", () => { if (document.hidden) this.releaseAll(); });
    setInterval(() => this.repeatDrive(), DRIVE_PERIOD);
  }

  // What is at a point of the screen: the turning handle, a robot or a belief; the selected robot's first.
  pick(px, py) {
    const { model } = this;
    if (!model.frame) return null;
    if (this.runner.live && model.alive(model.selected)) {
      const [hx, hy] = this.handle();
      if (Math.hypot(px - hx, py - hy) < PICK_RADIUS) return { kind: "turn", robot: model.robots[model.selected] };
    }
    let best = null;
    const offer = (kind, thing, robot, pose, penalty) => {
      const [x, y] = this.camera.toScreen(pose.x, pose.y);
      const distance = Math.hypot(px - x, py - y), radius = Math.max(PICK_RADIUS, this.view.outline(robot).radius * this.camera.scale);
      const rank = distance / radius + penalty;
      if (distance <= radius && (!best || rank < best.rank)) best = { kind, thing, robot, rank };
    };
    for (const robot of model.robots) if (model.alive(robot.index)) offer("truth", robot, robot, model.truth(robot.index), robot.index === model.selected ? -0.1 : 0);
    if (this.view.shown.beliefs) for (const belief of model.beliefs) {
      const robot = model.robots[belief.robot];
      if (model.alive(belief.robot)) offer("belief", belief, robot, model.pose(belief), 0.05 + 0.01 * belief.rank);
    }
    return best;
  }

  // Where the handle that turns the selected robot is, in pixels.
  handle() {
    const { model, camera } = this, t = model.truth(model.selected);
    const distance = this.view.outline(model.robots[model.selected]).radius + 22 / camera.scale;
    return camera.toScreen(t.x + distance * Math.cos(t.yaw), t.y + distance * Math.sin(t.yaw));
  }

  down(event) {
    const [px, py] = this.point(event);
    this.canvas.setPointerCapture(event.pointerId);
    this.canvas.focus({ preventScroll: true });
    this.pointers.set(event.pointerId, [px, py]);
    if (this.pointers.size === 2) { this.drag = null; this.lastPinch = this.pinch(); return; }
    const picked = this.pick(px, py), live = this.runner.live;
    if (picked) {
      this.model.select(picked.robot.index);
      const pose = picked.kind === "belief" ? this.model.pose(picked.thing) : this.model.truth(picked.robot.index);
      const [x, y] = this.camera.toWorld(px, py);
      const turning = picked.kind === "turn" || event.shiftKey;
      this.drag = { ...picked, start: [px, py], offset: [pose.x - x, pose.y - y], pose, turning, moved: false, live, sent: 0 };
    } else this.drag = { kind: "pan", last: [px, py], start: [px, py] };
    this.canvas.classList.toggle("grabbing", true);
    this.view.redraw();
  }

  move(event) {
    const [px, py] = this.point(event);
    if (this.pointers.has(event.pointerId)) this.pointers.set(event.pointerId, [px, py]);
    if (this.pointers.size === 2) {
      const pinch = this.pinch();
      if (this.lastPinch) this.camera.zoom(pinch.length / this.lastPinch.length, ...pinch.middle);
      this.lastPinch = pinch;
      return this.view.redraw();
    }
    const { drag } = this;
    if (!drag) {
      const picked = this.pick(px, py), hover = picked?.thing ?? picked?.robot ?? null;
      this.canvas.classList.toggle("over", Boolean(picked));
      if (hover !== this.hover) { this.hover = hover; this.view.redraw(); }
      return;
    }
    if (drag.kind === "pan") {
      this.camera.pan(px - drag.last[0], py - drag.last[1]);
      this.view.unfollow();
      drag.last = [px, py];
      return this.view.redraw();
    }
    if (!drag.moved && Math.hypot(px - drag.start[0], py - drag.start[1]) < CLICK_DISTANCE) return;
    drag.moved = true;
    this.dragTo(drag, px, py, false);
  }

  // Sends the pose of what is dragged to a point; the last pose in any case, others not too often.
  dragTo(drag, px, py, isLast) {
    if (!drag.live) return;
    const now = performance.now();
    if (!isLast && now - drag.sent < SEND_PERIOD) return;
    drag.sent = now;
    const [x, y] = this.camera.toWorld(px, py);
    let pose = { x: x + drag.offset[0], y: y + drag.offset[1], yaw: drag.pose.yaw };
    if (drag.turning) pose = { x: drag.pose.x, y: drag.pose.y, yaw: Math.atan2(y - drag.pose.y, x - drag.pose.x) };
    if (drag.kind === "belief") this.runner.believe(drag.robot.index, drag.thing.name, pose);
    else this.runner.place(drag.robot.index, pose);
  }

  up(event) {
    const [px, py] = this.point(event);
    this.pointers.delete(event.pointerId);
    if (this.drag?.moved && event.type === "pointerup") this.dragTo(this.drag, px, py, true);
    this.drag = null;
    this.canvas.classList.remove("grabbing");
    this.view.redraw();
  }

  wheel(event) {
    event.preventDefault();
    this.camera.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.04 : 0.0016)), ...this.point(event));
    this.view.redraw();
  }

  // The position of an event on the canvas, in pixels.
  point(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  // The distance between two fingers, and the point between them.
  pinch() {
    const [a, b] = [...this.pointers.values()];
    return { length: Math.hypot(a[0] - b[0], a[1] - b[1]), middle: [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2] };
  }

  // Driving. A command is repeated while a key is down: without it, the run stops the robot.

  pressKey(key) {
    if (!(key in DRIVE_KEYS) || !this.runner.live) return false;
    if (!this.keys.has(key)) { this.keys.add(key); this.drive(); }
    return true;
  }

  releaseKey(key) { if (this.keys.delete(key)) this.drive(); }

  releaseAll() {
    if (!this.keys.size && !this.joystick.some(Boolean)) return;
    this.keys.clear();
    this.joystick = [0, 0];
    this.drive();
  }

  // The shares of the top speeds, forward and to the left, by all keys and the joystick.
  driveShares() {
    let [forward, turn] = this.joystick;
    for (const key of this.keys) { forward += DRIVE_KEYS[key][0]; turn += DRIVE_KEYS[key][1]; }
    const limit = (share) => Math.min(1, Math.max(-1, share));
    return [limit(forward), limit(turn)];
  }

  drive() {
    const [forward, turn] = this.driveShares(), robot = this.model.selected;
    if (this.driven !== undefined && this.driven !== robot) this.runner.drive(this.driven, 0, 0);
    this.driven = forward || turn ? robot : undefined;
    this.runner.drive(robot, forward, turn);
  }

  repeatDrive() { if (this.driven !== undefined) this.drive(); }
}

// A joystick for touch screens: up is forward, left turns left.
export function attachJoystick(pad, input) {
  const knob = pad.firstElementChild;
  const set = (x, y) => {
    knob.style.transform = `translate(${x * 34}px, ${-y * 34}px)`;
    input.joystick = [y, -x];
    input.drive();
  };
  const follow = (event) => {
    const box = pad.getBoundingClientRect();
    const x = (event.clientX - box.left - box.width / 2) / 40, y = -(event.clientY - box.top - box.height / 2) / 40;
    const length = Math.max(1, Math.hypot(x, y));
    set(Math.round((20 * x) / length) / 20, Math.round((20 * y) / length) / 20);
  };
  pad.addEventListener("pointerdown", (event) => { pad.setPointerCapture(event.pointerId); follow(event); });
  pad.addEventListener("pointermove", (event) => { if (pad.hasPointerCapture(event.pointerId)) follow(event); });
  for (const end of ["pointerup", "pointercancel"]) pad.addEventListener(end, () => set(0, 0));
}
