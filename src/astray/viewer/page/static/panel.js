// The side panel: facts of the selected robot, plots over time, and where the time of the run goes.

import { wrapped } from "./model.js";
import { drawPlot, told } from "./plots.js";

const SAMPLES = 600;
const NEES_LOW = 0.216, NEES_HIGH = 9.348; // 95 % of chi squared with three degrees of freedom
const PHASE_COLOURS = ["#999999", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
const element = (id) => document.getElementById(id);

export class Panel {
  constructor(model, theme, runner, shown) {
    Object.assign(this, { model, theme, runner, shown });
    this.signal = 0;
    this.forget();
    model.on("scene", () => this.readScene());
    model.on("select", () => { this.readSignals(); this.forget(); });
    model.on("frame", () => { if (runner.live) this.note(this.series, model.frame); });
    element("robot").onchange = (event) => model.select(Number(event.target.value));
    element("signal").onchange = (event) => { this.signal = Number(event.target.value); this.wish(); this.forget(); };
  }

  forget() {
    this.series = { t: [], error: [], sigma: [], rivals: [], nees: [], speed: [], believed: [], signal: [] };
    if (this.runner.series) this.runner.series((frame) => this.note(this.series, frame));
    this.stale = true;
  }

  readScene() {
    const choice = element("robot");
    choice.replaceChildren(...this.model.robots.map((robot) => new Option(robot.name, robot.index)));
    this.readSignals();
    this.forget();
  }

  readSignals() {
    element("robot").value = String(this.model.selected);
    const signals = this.model.robots[this.model.selected]?.group.signals ?? [];
    const before = this.names?.[this.signal];
    this.names = signals.map((signal) => signal.name);
    this.signal = Math.max(0, this.names.indexOf(before ?? this.names.find((name) => name.endsWith(".wz")) ?? ""));
    element("signal").replaceChildren(...signals.map((s, k) => new Option(s.unit ? `${s.name}  (${s.unit})` : s.name, k)));
    element("signal").value = String(this.signal);
    this.legend();
    this.wish();
  }

  legend() {
    const robot = this.model.robots[this.model.selected], box = element("legend");
    if (!robot) return;
    const colour = this.theme.robots[robot.colour], names = ["truth", ...robot.ghosts.map((ghost) => ghost.who)];
    box.replaceChildren(...names.map((name, k) => {
      const item = document.createElement("span"), line = document.createElement("canvas"), c = line.getContext("2d");
      Object.assign(line, { width: 40, height: 20 });
      c.strokeStyle = colour;
      c.lineWidth = 4;
      c.setLineDash(k ? [[8, 6], [3, 5], [12, 4, 3, 4]][(k - 1) % 3] : []);
      c.beginPath(); c.moveTo(0, 10); c.lineTo(40, 10); c.stroke();
      const kind = robot.group.estimators[name];
      item.append(line, kind && kind !== name ? `${name}: ${kind}` : name);
      return item;
    }));
    if (!robot.ghosts.length) box.append("it believes the truth");
  }

  wish() { this.runner.look?.({ do: "look", ...this.whose(), signals: [[this.model.selected, this.signal]] }); }
  whose() {
    const { readings } = this.shown, contacts = this.shown.contacts && this.model.tracking;
    return { robots: [this.model.selected], everyone: this.shown.everyone && (readings || contacts), readings, contacts };
  }

  note(series, frame) {
    const robot = this.model.robots[this.model.selected];
    if (!robot || !frame) return;
    if (frame.time < series.t.at(-1)) for (const name of Object.keys(series)) series[name].length = 0;
    if (frame.time === series.t.at(-1)) return;
    const t = this.model.truth(robot.index, frame), judged = robot.ghosts.map((ghost) => this.model.judge(ghost, frame));
    series.t.push(frame.time);
    series.error.push(judged[0]?.error ?? NaN);
    series.sigma.push(3 * (judged[0]?.sigma ?? NaN));
    series.rivals.push(judged.slice(1).map((j) => j.error));
    series.nees.push(judged[0]?.nees ?? NaN);
    series.speed.push(t.vx);
    series.signal.push(frame.values.get(`${robot.index}/${this.signal}`) ?? NaN);
    if (this.runner.live) while (series.t.length > SAMPLES) for (const name of Object.keys(series)) series[name].shift?.();
  }

  draw() {
    const { model, theme, series } = this, robot = model.robots[model.selected], frame = model.frame;
    if (!robot || !frame) return;
    const colour = theme.robots[robot.colour], cursor = this.runner.live ? null : frame.time, times = series.t;
    const rivals = robot.ghosts.slice(1).map((_, k) => ({ values: series.rivals.map((r) => r[k]), colour: theme.colours.soft, thin: true, dash: [[2, 3], [6, 3]][k % 2] }));
    drawPlot(element("plot-error"), theme, { times, cursor, zero: true, band: { low: 0, high: series.sigma, colour }, lines: [...rivals, { values: series.error, colour }] });
    drawPlot(element("plot-nees"), theme, { times, cursor, zero: true, band: { low: NEES_LOW, high: NEES_HIGH, colour: theme.colours.sonar }, lines: [{ values: series.nees, colour }] });
    drawPlot(element("plot-speed"), theme, { times, cursor, lines: [{ values: series.speed, colour }] });
    drawPlot(element("plot-signal"), theme, { times, cursor, lines: [{ values: series.signal, colour }] });
    this.tell(robot, frame);
  }

  tell(robot, frame) {
    const t = this.model.truth(robot.index), judged = robot.ghosts[0] ? this.model.judge(robot.ghosts[0]) : null;
    const facts = [["x", `${t.x.toFixed(2)} m`], ["y", `${t.y.toFixed(2)} m`], ["yaw", `${((wrapped(t.yaw) * 180) / Math.PI).toFixed(1)}°`], ["turn", `${t.wz.toFixed(2)} rad/s`]];
    const list = element("facts");
    if (list.children.length !== 2 * facts.length) {
      list.replaceChildren(...facts.flatMap(() => [document.createElement("dt"), document.createElement("dd")]));
    }
    facts.forEach(([name, value], k) => {
      list.children[2 * k].textContent = name;
      list.children[2 * k + 1].textContent = value;
    });
    const sigma = judged && judged.sigma > 0 ? `  ·  3σ ${told(3 * judged.sigma)} m` : "";
    element("told-error").textContent = judged ? `${told(judged.error)} m${sigma}` : "believes the truth";
    element("told-nees").textContent = judged && Number.isFinite(judged.nees) ? told(judged.nees) : "no covariance";
    element("told-speed").textContent = `${told(t.vx)} m/s`;
    const value = frame.values.get(`${robot.index}/${this.signal}`);
    element("told-signal").textContent = value === undefined ? "" : `${told(value)} ${robot.group.signals[this.signal]?.unit ?? ""}`;
    if (this.runner.live) this.effort(frame);
  }

  // Where the time of the last half second went.
  effort(frame) {
    element("factor").textContent = frame.resting ? "at rest" : frame.held ? "held" : `${told(frame.factor)} ×`;
    const spent = this.model.status?.spent;
    if (!spent || spent === this.told) return;
    const since = spent.map((s, k) => s - (this.told?.[k] ?? 0));
    this.told = spent;
    const all = since.reduce((a, b) => a + b, 0);
    if (!(all > 0)) return;
    const bars = since.map((s, k) => {
      const bar = document.createElement("i");
      bar.style.width = `${(100 * s) / all}%`;
      bar.style.background = PHASE_COLOURS[k % 7];
      return bar;
    });
    element("phases").replaceChildren(...bars);
    element("phase-names").replaceChildren(...this.model.scene.phases.map((name, k) => {
      const item = document.createElement("li"), dot = document.createElement("i"), share = document.createElement("b");
      dot.style.background = PHASE_COLOURS[k % 7];
      share.textContent = `${Math.round((100 * since[k]) / all)} %`;
      item.append(dot, name, share);
      return item;
    }));
  }
}
