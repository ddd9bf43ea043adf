// The page: a model, a line to the run or a recording, a canvas, a panel, and a hand.

import { Camera, bounds } from "./camera.js";
import { missed, readTracks } from "./contacts.js";
import { Painter, drawScale } from "./draw.js";
import { Hand, attachJoystick } from "./hand.js";
import { Link } from "./link.js";
import { Model } from "./model.js";
import { Panel } from "./panel.js";
import { Player, attachScrubber, openRecording } from "./player.js";
import { Theme } from "./theme.js";
import { Toolbar } from "./toolbar.js";

const element = (id) => document.getElementById(id);
const mode = document.documentElement.dataset.mode;

class Notice {
  show(text, stays = false) {
    clearTimeout(this.timer);
    element("notice").textContent = text;
    element("notice").classList.add("shown");
    if (!stays) this.timer = setTimeout(() => this.hide(), 4000);
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
    this.fitted = null;
    this.drawn = 0;
    this.isDirty = true;
  }

  start(runner) {
    this.runner = runner;
    this.panel = new Panel(this.model, this.theme, runner, this.shown);
    this.hand = new Hand(element("world"), this.model, this.camera, runner, this);
    this.toolbar = new Toolbar(this.model, this.theme, runner, this);
    attachJoystick(element("joystick"), this.hand);
    this.model.on("frame", () => { if (this.fitted !== this.model.scene.name) this.fit(); this.dirty(); });
    for (const what of ["select", "status"]) this.model.on(what, () => this.dirty());
    this.theme.changed = () => { this.panel.legend(); this.dirty(); };
    new ResizeObserver(() => this.dirty()).observe(element("world"));
    const loop = () => { requestAnimationFrame(loop); if (this.isDirty) this.draw(); };
    requestAnimationFrame(loop);
  }

  dirty() { this.isDirty = true; }

  draw() {
    this.isDirty = false;
    if (this.following && this.model.frame) {
      const t = this.model.truth(this.model.selected);
      this.camera.x = t.x;
      this.camera.y = t.y;
    }
    this.painter.draw(this.hand.hover);
    drawScale(element("scale"), this.camera, this.theme);
    if (!document.body.classList.contains("wide")) this.panel.draw();
    this.marks?.();
    this.drawn += 1;
  }

  outline(robot) { return this.painter.outline(robot); }
  zoom(factor) { this.camera.zoom(factor); this.dirty(); }

  fit() {
    if (!this.model.scene) return;
    this.unfollow();
    this.painter.resize();
    const roomy = this.camera.width > 700;
    this.camera.fit(bounds(this.model), { left: roomy ? 150 : 20, right: 30, top: roomy ? 40 : 80, bottom: 90 });
    this.fitted = this.model.scene.name;
    this.dirty();
  }

  follow() {
    this.following = !this.following;
    element("follow").setAttribute("aria-pressed", String(this.following));
    this.dirty();
  }

  unfollow() { if (this.following) this.follow(); }

  wish() { this.panel.wish(); }

  shot() {
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

// A look from outside, for tests and the curious: a copy, and nothing that can be done with it.
function describe(view, runner) {
  const { model, camera } = view, { frame } = model;
  return {
    mode, connected: runner.connected, opened: runner.opened ?? 0, drawn: view.drawn, selected: model.selected,
    following: view.following, theme: view.theme.name, shown: { ...view.shown }, camera: { x: camera.x, y: camera.y, scale: camera.scale },
    scene: model.scene && { name: model.scene.name, serial: model.scene.serial, seed: model.scene.seed, world: model.scene.world, segments: model.scene.map.segments.length / 4 },
    step: frame?.step ?? -1, time: frame?.time ?? 0, held: frame?.held ?? false, speed: frame?.speed ?? 0, factor: frame?.factor ?? 0, resting: frame?.resting ?? true,
    hits: model.hits.length, samples: view.panel.series.t.length, status: model.status, playing: runner.playing,
    readings: (frame?.readings ?? []).map(({ robot, sensor, age, numbers }) => ({ robot, sensor, age, numbers: [...numbers] })),
    contacts: frame ? readTracks(model).map((track) => ({ ...track })) : [], missed: frame && model.tracking ? missed(model, model.selected) : [],
    values: frame ? Object.fromEntries(frame.values) : {},
    robots: frame ? model.robots.map((robot) => ({
      ...model.truth(robot.index), name: robot.name, group: robot.group.name, alive: model.alive(robot.index), trail: model.trails[robot.index].points.length,
      beliefs: Object.fromEntries(robot.ghosts.map((ghost) => {
        const b = model.belief(ghost), judged = model.judge(ghost);
        return [ghost.who, { ...b, cov: [...b.cov], ...judged }];
      })),
    })) : [],
  };
}

async function recording() {
  const inline = document.getElementById("recording");
  if (inline) return openRecording(Uint8Array.from(atob(inline.textContent.trim()), (c) => c.charCodeAt(0)));
  const answer = await fetch(`recording${location.search}`);
  return openRecording(new Uint8Array(await answer.arrayBuffer()));
}

async function begin() {
  const model = new Model(), theme = new Theme(), notice = new Notice(), view = new View(model, theme);
  if (matchMedia("(pointer: coarse)").matches && mode === "live") document.body.classList.add("touch");
  let runner;
  if (mode === "live") {
    runner = new Link(model, notice);
    view.start(runner);
  } else {
    const found = await recording();
    runner = new Player(model, found);
    view.start(runner);
    view.marks = attachScrubber(runner, theme);
    view.panel.readScene();
    view.toolbar.readScene();
    view.painter.readScene();
    runner.seek(runner.start);
  }
  Object.defineProperty(window, "astray", { value: Object.freeze({
    get state() { return describe(view, runner); },
    toScreen: (x, y) => { const box = element("world").getBoundingClientRect(), [px, py] = view.camera.toScreen(x, y); return [px + box.left, py + box.top]; },
  }) });
}

begin();
