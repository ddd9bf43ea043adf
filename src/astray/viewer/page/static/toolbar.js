// Buttons, switches and keys around the canvas.

import { icon } from "./icons.js";

export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 100, null]; // null: as fast as it can
const OVERLAYS = [
  ["beliefs", "beliefs", "Where the robots believe to be"], ["ellipses", "95 % ellipses", "How sure they are"],
  ["trails", "trails", "Where they were"], ["readings", "readings", "What the selected robot's sensors see"],
  ["contacts", "contacts", "What the selected robot believes of others, and who there is unknown to it"],
  ["everyone", "of all robots", "Readings and contacts of all robots"], ["believed", "as believed", "Readings drawn from the belief"],
  ["waypoints", "goals", "Where the robots want to go, and places of the map"], ["collisions", "collisions", "Who ran into what"],
  ["names", "names", "Names of the robots"], ["grid", "grid", "Grid"],
];
const KEYS = [
  ["space", "play, pause"], [".", "one step"], ["[  ]", "slower, faster"], ["r", "begin anew"],
  ["↑ ↓ ← → or w s a d", "drive the selected robot"], ["Tab, on the map", "next robot; Esc leaves the map"], ["drag a robot", "carry its truth"],
  ["drag its outline", "set its belief"], ["handle or shift + drag", "turn it"], ["drag the floor", "move the view"], ["wheel, + −", "zoom"], ["f", "follow"],
  ["0", "show everything"], ["1 … 9", "overlays"], ["t", "light, dark"], ["p", "save a picture"], ["b", "side panel"], ["?", "this list"],
];
const element = (id) => document.getElementById(id);

export class Toolbar {
  constructor(model, theme, runner, view) {
    Object.assign(this, { model, theme, runner, view });
    for (const [id, name] of [["step", "step"], ["reset", "reset"], ["follow", "follow"], ["fit", "fit"], ["shot", "shot"], ["theme", "theme"], ["help-open", "help"], ["panel-toggle", "panel"]]) {
      element(id).append(icon(name));
    }
    element("play").onclick = () => this.toggle();
    element("step").onclick = () => runner.step();
    element("speed").oninput = (event) => this.setSpeed(Number(event.target.value));
    element("reset-form").onsubmit = (event) => { event.preventDefault(); this.reset(); };
    element("follow").onclick = () => view.follow();
    element("fit").onclick = () => view.fit();
    element("shot").onclick = () => view.shot();
    element("theme").onclick = () => theme.toggle();
    element("help-open").onclick = () => element("help").showModal();
    element("panel-toggle").onclick = () => this.panel();
    element("world-choice").onchange = (event) => runner.world(Number(event.target.value));
    this.makeOverlays();
    this.makeHelp();
    model.on("scene", () => this.readScene());
    model.on("frame", () => this.readFrame());
    addEventListener("keydown", (event) => this.down(event));
    addEventListener("keyup", (event) => view.hand.lift(event.key.toLowerCase()));
  }

  makeOverlays() {
    element("overlays").replaceChildren(...OVERLAYS.map(([name, label]) => {
      const button = document.createElement("button");
      button.id = `show-${name}`;
      button.append(document.createElement("i"), label);
      button.setAttribute("aria-pressed", String(this.view.shown[name]));
      button.onclick = () => this.overlay(name);
      return button;
    }));
  }

  // The switches there are, in their order: keys count just them.
  get overlays() { return OVERLAYS.filter(([name]) => name !== "contacts" || this.model.tracking); }

  tellOverlays() {
    element("show-contacts").hidden = !this.model.tracking;
    this.overlays.forEach(([name, , title], k) => { element(`show-${name}`).title = k < 9 ? `${title} (${k + 1})` : title; });
  }

  overlay(name) {
    this.view.shown[name] = !this.view.shown[name];
    element(`show-${name}`).setAttribute("aria-pressed", String(this.view.shown[name]));
    this.view.wish();
    this.view.dirty();
  }

  makeHelp() {
    element("keys").replaceChildren(...KEYS.flatMap(([keys, what]) => {
      const key = document.createElement("kbd"), text = document.createElement("span");
      key.textContent = keys;
      text.textContent = what;
      return [key, text];
    }));
  }

  readScene() {
    const { scene } = this.model;
    this.tellOverlays();
    element("scenario").textContent = scene.name;
    document.title = `${scene.name} · astray`;
    element("seed").value = String(scene.seed);
    element("reset-form").hidden = !scene.resets;
    element("worlds").hidden = scene.worlds.length < 2;
    element("world-choice").replaceChildren(...scene.worlds.map((world, k) => new Option(String(world), k)));
    element("world-choice").value = String(scene.world);
  }

  readFrame() {
    const { frame } = this.model, playing = this.runner.playing;
    element("clock").textContent = `${frame.time.toFixed(2)} s`;
    const button = element("play"), label = playing ? "Pause" : "Play";
    if (button.getAttribute("aria-label") !== label || !button.firstChild) {
      button.replaceChildren(icon(playing ? "pause" : "play"));
      button.setAttribute("aria-label", label);
    }
    const speed = this.runner.live ? frame.speed || null : this.runner.rate;
    if (document.activeElement !== element("speed") || !this.touched) {
      let near = SPEEDS.indexOf(speed);
      if (near < 0) near = SPEEDS.findLastIndex((s) => s !== null && s <= speed);
      element("speed").value = String(Math.max(0, near));
    }
    element("speed-told").textContent = speed === null ? "max" : `${Number(speed.toPrecision(3))}×`;
  }

  toggle() { if (this.runner.playing) this.runner.pause(); else this.runner.play(); }

  setSpeed(k) { this.runner.speed(SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, k))]); }

  reset() {
    const text = element("seed").value.trim();
    if (text && !/^[0-9]{1,15}$/.test(text)) return;
    this.runner.reset?.(text ? Number(text) : null);
  }

  panel() {
    document.body.classList.toggle(innerWidth > 900 ? "wide" : "panel-open");
    this.view.dirty();
  }

  down(event) {
    const { target } = event;
    if (element("help").open || event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.matches?.("input:not([type=range]), select, textarea")) return;
    if (target.matches?.("input[type=range]") && event.key.startsWith("Arrow")) return;
    if (target.matches?.("button") && (event.key === " " || event.key === "Enter")) return;
    const key = event.key.toLowerCase(), onMap = target === element("world");
    if (key === "tab") {
      if (!onMap) return;
      this.model.select(this.model.selected + (event.shiftKey ? -1 : 1));
    } else if (key === "escape") element("play").focus();
    else if (this.view.hand.press(key)) { /* it drives */ }
    else if (!this.act(key)) return;
    event.preventDefault();
  }

  act(key) {
    const speed = Number(element("speed").value);
    const acts = {
      " ": () => this.toggle(), ".": () => this.runner.step(), "[": () => this.setSpeed(speed - 1), "]": () => this.setSpeed(speed + 1),
      r: () => this.reset(), f: () => this.view.follow(), 0: () => this.view.fit(), t: () => this.theme.toggle(),
      p: () => this.view.shot(), b: () => this.panel(), "?": () => element("help").showModal(),
      "+": () => this.view.zoom(1.25), "=": () => this.view.zoom(1.25), "-": () => this.view.zoom(0.8),
    };
    if (/^[1-9]$/.test(key)) this.overlay(this.overlays[Number(key) - 1][0]);
    else if (acts[key]) acts[key]();
    else return false;
    return true;
  }
}
