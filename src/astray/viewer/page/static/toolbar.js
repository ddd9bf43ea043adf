// Buttons, switches and keys around the canvas.

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 100, null]; // null: as fast as possible
const OVERLAYS = [
  ["beliefs", "beliefs", "The poses that the robots believe"], ["ellipses", "95 % ellipses", "The covariances of the beliefs"],
  ["trails", "trails", "Where the robots were"], ["readings", "readings", "Readings of the selected robot's sensors"],
  ["contacts", "contacts", "The tracks of the selected robot, and the robots that it should have detected"],
  ["everyone", "of all robots", "Readings and tracks of all robots"], ["believed", "as believed", "Readings drawn from the believed pose"],
  ["waypoints", "goals", "The goals of the robots, and places of the map"], ["collisions", "collisions", "Where robots collided"],
  ["names", "names", "The names of the robots"], ["grid", "grid", "The grid"],
];
const KEYS = [
  ["space", "play, pause"], [".", "one step"], ["[  ]", "slower, faster"], ["r", "reset"],
  ["↑ ↓ ← → or w s a d", "drive the selected robot"], ["Tab, on the map", "next robot; Esc leaves the map"], ["drag a robot", "set its true pose"],
  ["drag its outline", "set its belief"], ["handle or shift + drag", "turn it"], ["drag the floor", "move the view"], ["wheel, + −", "zoom"], ["f", "follow"],
  ["0", "show all"], ["1 … 9", "overlays"], ["t", "light, dark"], ["p", "save an image"], ["b", "side panel"], ["?", "this list"],
];
// Paths on a grid of 16.
const ICONS = {
  play: '<path class="fill" d="M4 2.6 13 8 4 13.4Z"/>',
  pause: '<path class="fill" d="M3.5 2.5h3v11h-3zM9.5 2.5h3v11h-3z"/>',
  step: '<path class="fill" d="M3 3 9.5 8 3 13Z"/><path d="M12.5 3v10"/>',
  reset: '<path d="M3 8a5 5 0 1 0 1.6-3.7M3 2.5V5h2.6"/>',
  follow: '<circle cx="8" cy="8" r="4.5"/><path d="M8 1v3M8 12v3M1 8h3M12 8h3"/>',
  fit: '<path d="M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4"/>',
  shot: '<rect x="1.8" y="4" width="12.4" height="9" rx="2"/><circle cx="8" cy="8.5" r="2.4"/><path d="M6 4l.8-1.6h2.4L10 4"/>',
  theme: '<circle cx="8" cy="8" r="5.6"/><path class="fill" d="M8 2.4a5.6 5.6 0 0 1 0 11.2Z"/>',
  help: '<path d="M5.6 5.8a2.4 2.4 0 1 1 3.6 2.1c-.8.5-1.2.9-1.2 1.9M8 12.4v.2"/>',
  panel: '<rect x="2" y="3" width="12" height="10" rx="2"/><path d="M10 3v10"/>',
};
const element = (id) => document.getElementById(id);

export class Toolbar {
  constructor(model, theme, runner, view) {
    Object.assign(this, { model, theme, runner, view });
    for (const [id, name] of [["step", "step"], ["reset", "reset"], ["follow", "follow"], ["fit", "fit"], ["shot", "shot"], ["theme", "theme"], ["help-open", "help"], ["panel-toggle", "panel"]]) {
      element(id).append(icon(name));
    }
    element("play").onclick = () => this.togglePlaying();
    element("step").onclick = () => runner.step();
    element("speed").oninput = (event) => this.setSpeed(Number(event.target.value));
    element("reset-form").onsubmit = (event) => { event.preventDefault(); this.reset(); };
    element("follow").onclick = () => view.follow();
    element("fit").onclick = () => view.fit();
    element("shot").onclick = () => view.saveImage();
    element("theme").onclick = () => theme.toggle();
    element("help-open").onclick = () => element("help").showModal();
    element("panel-toggle").onclick = () => this.togglePanel();
    element("world-choice").onchange = (event) => runner.world(Number(event.target.value));
    this.addOverlays();
    this.addHelp();
    model.on("scene", () => this.readScene());
    model.on("frame", () => this.readFrame());
    addEventListener("keydown", (event) => this.keyDown(event));
    addEventListener("keyup", (event) => view.input.releaseKey(event.key.toLowerCase()));
  }

  addOverlays() {
    element("overlays").replaceChildren(...OVERLAYS.map(([name, label]) => {
      const button = document.createElement("button");
      button.id = `show-${name}`;
      button.append(document.createElement("i"), label);
      button.setAttribute("aria-pressed", String(this.view.shown[name]));
      button.onclick = () => this.toggleOverlay(name);
      return button;
    }));
  }

  // The overlays that this scene has, in the order of their keys.
  get overlays() { return OVERLAYS.filter(([name]) => name !== "contacts" || this.model.hasTrackers); }

  updateOverlays() {
    element("show-contacts").hidden = !this.model.hasTrackers;
    this.overlays.forEach(([name, , title], k) => { element(`show-${name}`).title = k < 9 ? `${title} (${k + 1})` : title; });
  }

  toggleOverlay(name) {
    this.view.shown[name] = !this.view.shown[name];
    element(`show-${name}`).setAttribute("aria-pressed", String(this.view.shown[name]));
    this.view.subscribe();
    this.view.redraw();
  }

  addHelp() {
    element("keys").replaceChildren(...KEYS.flatMap(([keys, what]) => {
      const key = document.createElement("kbd"), text = document.createElement("span");
      key.textContent = keys;
      text.textContent = what;
      return [key, text];
    }));
  }

  readScene() {
    const { scene } = this.model;
    this.updateOverlays();
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
    let k = SPEEDS.indexOf(speed);
    if (k < 0) k = SPEEDS.findLastIndex((s) => s !== null && s <= speed);
    element("speed").value = String(Math.max(0, k));
    element("speed-value").textContent = speed === null ? "max" : `${Number(speed.toPrecision(3))}×`;
  }

  togglePlaying() { if (this.runner.playing) this.runner.pause(); else this.runner.play(); }

  setSpeed(k) { this.runner.speed(SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, k))]); }

  reset() {
    const text = element("seed").value.trim();
    if (text && !/^[0-9]{1,15}$/.test(text)) return;
    this.runner.reset?.(text ? Number(text) : null);
  }

  togglePanel() {
    document.body.classList.toggle(innerWidth > 900 ? "wide" : "panel-open");
    this.view.redraw();
  }

  keyDown(event) {
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
    else if (this.view.input.pressKey(key)) { /* a driving key */ }
    else if (!this.runAction(key)) return;
    event.preventDefault();
  }

  runAction(key) {
    const speed = Number(element("speed").value);
    const actions = {
      " ": () => this.togglePlaying(), ".": () => this.runner.step(), "[": () => this.setSpeed(speed - 1), "]": () => this.setSpeed(speed + 1),
      r: () => this.reset(), f: () => this.view.follow(), 0: () => this.view.fit(), t: () => this.theme.toggle(),
      p: () => this.view.saveImage(), b: () => this.togglePanel(), "?": () => element("help").showModal(),
      "+": () => this.view.zoom(1.25), "=": () => this.view.zoom(1.25), "-": () => this.view.zoom(0.8),
    };
    if (/^[1-9]$/.test(key)) this.toggleOverlay(this.overlays[Number(key) - 1][0]);
    else if (actions[key]) actions[key]();
    else return false;
    return true;
  }
}

function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  svg.innerHTML = ICONS[name];
  return svg;
}
