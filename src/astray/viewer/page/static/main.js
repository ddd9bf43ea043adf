// The page: a model, a connection to the run or a player of a recording, a canvas, a panel, and input.

import { Camera, bounds } from "./camera.js";
import { Connection } from "./connection.js";
import { Painter, drawScale } from "./draw.js";
import { Input, attachJoystick } from "./input.js";
import { Model } from "./model.js";
import { Panel } from "./panel.js";
import { Player, attachTimeline, decodeRecording } from "./player.js";
import { Theme } from "./theme.js";
import { Toolbar } from "./toolbar.js";
import { readTracks, undetectedRobots } from "./tracks.js";

const element = (id) => document.getElementById(id);
const mode = document.documentElement.dataset.mode;

class Notice {
  show(text, isLasting = false) {
    clearTimeout(this.timer);
    element("notice").textContent = text;
    element("notice").classList.add("shown");
    if (!isLasting) this.timer = setTimeout(() => this.hide(), 4000);
  }
  hide() { element("notice").classList.remove("shown"); }
}

class View {
  constructor(model, theme) {
    this.model = model;
    this.theme = theme;
    this.camera = new Camera();
    this.shown = { grid: true, beliefs: true, ellipses: true, trails: true, readings: true, contacts: true, everyone: false, believed: false, waypoints: true, collisions: true, names: true, handle: mode === "live" };
    this.painter = new Painter(element("world"), model, this.camera, theme, this.shown);
    this.following = false;
    this.fitted = null; // the name of the scenario that the camera was fitted to
    this.drawn = 0;
    this.needsDrawing = true;
  }

  start(runner) {
    this.runner = runner;
    this.panel = new Panel(this.model, this.theme, runner, this.shown);
    this.input = new Input(element("world"), this.model, this.camera, runner, this);
    this.toolbar = new Toolbar(this.model, this.theme, runner, this);
    attachJoystick(element("joystick"), this.input);
    this.model.on("frame", () => { if (this.fitted !== this.model.scene.name) this.fit(); this.redraw(); });
    for (const event of ["select", "status"]) this.model.on(event, () => this.redraw());
    this.theme.onChange = () => { this.panel.legend(); this.redraw(); };
    new ResizeObserver(() => this.redraw()).observe(element("world"));
    const loop = () => { requestAnimationFrame(loop); if (this.needsDrawing) this.draw(); };
    requestAnimationFrame(loop);
  }

  redraw() { this.needsDrawing = true; }

  draw() {
    this.needsDrawing = false;
    if (this.following && this.model.frame) {
      const t = this.model.truth(this.model.selected);
      this.camera.x = t.x;
      this.camera.y = t.y;
    }
    this.painter.draw(this.input.hover);
    drawScale(element("scale"), this.camera, this.theme);
    if (!document.body.classList.contains("wide")) this.panel.draw();
    this.drawMarks?.();
    this.drawn += 1;
  }

  outline(robot) { return this.painter.outline(robot); }
  zoom(factor) { this.camera.zoom(factor); this.redraw(); }

  fit() {
    if (!this.model.scene) return;
    this.unfollow();
    this.painter.resize();
    const isWide = this.camera.width > 700;
    this.camera.fit(bounds(this.model), { left: isWide ? 150 : 20, right: 30, top: isWide ? 40 : 80, bottom: 90 });
    this.fitted = this.model.scene.name;
    this.redraw();
  }

  follow() {
    this.following = !this.following;
    element("follow").setAttribute("aria-pressed", String(this.following));
    this.redraw();
  }

  unfollow() { if (this.following) this.follow(); }

  subscribe() { this.panel.subscribe(); }

  saveImage() {
    this.draw();
    element("world").toBlob((blob) => {
      const link = document.createElement("a"), time = this.model.frame ? this.model.frame.time.toFixed(1) : "0";
      link.href = URL.createObjectURL(blob);
      link.download = `${this.model.scene?.name ?? "astray"}-${time}s.png`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }
}

// The state of the page as `astray.state`, for tests: a copy, which changes nothing.
function stateOf(view, runner) {
  const { model, camera } = view, { frame } = model;
  return {
    mode, connected: runner.connected, opened: runner.opened ?? 0, drawn: view.drawn, selected: model.selected,
    following: view.following, theme: view.theme.name, shown: { ...view.shown }, camera: { x: camera.x, y: camera.y, scale: camera.scale },
    scene: model.scene && { name: model.scene.name, serial: model.scene.serial, seed: model.scene.seed, world: model.scene.world, segments: model.scene.map.segments.length / 4 },
    step: frame?.step ?? -1, time: frame?.time ?? 0, paused: frame?.paused ?? false, speed: frame?.speed ?? 0, factor: frame?.factor ?? 0, idle: frame?.idle ?? true,
    collisions: model.collisions.length, samples: view.panel.series.t.length, status: model.status, playing: runner.playing,
    readings: (frame?.readings ?? []).map(({ robot, sensor, age, numbers }) => ({ robot, sensor, age, numbers: [...numbers] })),
    contacts: frame ? readTracks(model).map((track) => ({ ...track })) : [], undetected: frame && model.hasTrackers ? undetectedRobots(model, model.selected) : [],
    values: frame ? Object.fromEntries(frame.values) : {},
    robots: frame ? model.robots.map((robot) => ({
      ...model.truth(robot.index), name: robot.name, group: robot.group.name, alive: model.alive(robot.index), trail: model.trails[robot.index].points.length,
      beliefs: Object.fromEntries(robot.beliefs.map((belief) => {
        const b = model.pose(belief);
        return [belief.name, { ...b, cov: [...b.cov], ...model.error(belief) }];
      })),
    })) : [],
  };
}

async function loadRecording() {
  const inline = document.getElementById("recording");
  if (inline) return decodeRecording(Uint8Array.from(atob(inline.textContent.trim()), (c) => c.charCodeAt(0)));
  const response = await fetch(`recording${location.search}`);
  return decodeRecording(new Uint8Array(await response.arrayBuffer()));
}

async function start() {
  const model = new Model(), theme = new Theme(), notice = new Notice(), view = new View(model, theme);
  if (matchMedia("(pointer: coarse)").matches && mode === "live") document.body.classList.add("touch");
  let runner;
  if (mode === "live") {
    runner = new Connection(model, notice);
    view.start(runner);
  } else {
    runner = new Player(model, await loadRecording());
    view.start(runner);
    view.drawMarks = attachTimeline(runner, theme);
    view.panel.readScene();
    view.toolbar.readScene();
    view.painter.readScene();
    runner.seek(runner.start);
  }
  Object.defineProperty(window, "astray", { value: Object.freeze({
    get state() { return stateOf(view, runner); },
    toScreen: (x, y) => { const box = element("world").getBoundingClientRect(), [px, py] = view.camera.toScreen(x, y); return [px + box.left, py + box.top]; },
  }) });
}

start();
