// The side panel: the pose of the selected robot, plots over time, and the time that each phase takes.

import { wrapAngle } from "./model.js";
import { drawPlot, formatNumber } from "./plots.js";

const MAX_SAMPLES = 600;
const NEES_LOW = 0.216, NEES_HIGH = 9.348; // 95 % of chi squared with three degrees of freedom
const PHASE_COLOURS = ["#999999", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
const element = (id) => document.getElementById(id);

export class Panel {
  constructor(model, theme, runner, shown) {
    Object.assign(this, { model, theme, runner, shown });
    this.signal = 0;
    this.clear();
    model.on("scene", () => this.readScene());
    model.on("select", () => { this.readSignals(); this.clear(); });
    model.on("frame", () => { if (runner.live) this.record(this.series, model.frame); });
    element("robot").onchange = (event) => model.select(Number(event.target.value));
    element("signal").onchange = (event) => { this.signal = Number(event.target.value); this.subscribe(); this.clear(); };
  }

  clear() {
    this.series = { t: [], error: [], sigma: [], rivals: [], nees: [], speed: [], signal: [] };
    if (this.runner.series) this.runner.series((frame) => this.record(this.series, frame));
  }

  readScene() {
    const choice = element("robot");
    choice.replaceChildren(...this.model.robots.map((robot) => new Option(robot.name, robot.index)));
    this.readSignals();
    this.clear();
  }

  readSignals() {
    element("robot").value = String(this.model.selected);
    const signals = this.model.robots[this.model.selected]?.group.signals ?? [];
    const present = this.names?.[this.signal];
    this.names = signals.map((signal) => signal.name);
    this.signal = Math.max(0, this.names.indexOf(present ?? this.names.find((name) => name.endsWith(".wz")) ?? ""));
    element("signal").replaceChildren(...signals.map((s, k) => new Option(s.unit ? `${s.name}  (${s.unit})` : s.name, k)));
    element("signal").value = String(this.signal);
    this.legend();
    this.subscribe();
  }

  legend() {
    const robot = this.model.robots[this.model.selected], box = element("legend");
    if (!robot) return;
    const colour = this.theme.robots[robot.colour], names = ["truth", ...robot.beliefs.map((belief) => belief.name)];
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
    if (!robot.beliefs.length) box.append("believes the truth");
  }

  subscribe() { this.runner.subscribe?.({ do: "look", ...this.subscription(), signals: [[this.model.selected, this.signal]] }); }
  subscription() {
    const { readings } = this.shown, contacts = this.shown.contacts && this.model.hasTrackers;
    return { robots: [this.model.selected], everyone: this.shown.everyone && (readings || contacts), readings, contacts };
  }

  record(series, frame) {
    const robot = this.model.robots[this.model.selected];
    if (!robot || !frame) return;
    if (frame.time < series.t.at(-1)) for (const name of Object.keys(series)) series[name].length = 0;
    if (frame.time === series.t.at(-1)) return;
    const t = this.model.truth(robot.index, frame), errors = robot.beliefs.map((belief) => this.model.error(belief, frame));
    series.t.push(frame.time);
    series.error.push(errors[0]?.error ?? NaN);
    series.sigma.push(3 * (errors[0]?.sigma ?? NaN));
    series.rivals.push(errors.slice(1).map((e) => e.error));
    series.nees.push(errors[0]?.nees ?? NaN);
    series.speed.push(t.vx);
    series.signal.push(frame.values.get(`${robot.index}/${this.signal}`) ?? NaN);
    if (this.runner.live) while (series.t.length > MAX_SAMPLES) for (const name of Object.keys(series)) series[name].shift?.();
  }

  draw() {
    const { model, theme, series } = this, robot = model.robots[model.selected], frame = model.frame;
    if (!robot || !frame) return;
    const colour = theme.robots[robot.colour], cursor = this.runner.live ? null : frame.time, times = series.t;
    const rivals = robot.beliefs.slice(1).map((_, k) => ({ values: series.rivals.map((r) => r[k]), colour: theme.colours.soft, thin: true, dash: [[2, 3], [6, 3]][k % 2] }));
    drawPlot(element("plot-error"), theme, { times, cursor, zero: true, band: { low: 0, high: series.sigma, colour }, lines: [...rivals, { values: series.error, colour }] });
    drawPlot(element("plot-nees"), theme, { times, cursor, zero: true, band: { low: NEES_LOW, high: NEES_HIGH, colour: theme.colours.sonar }, lines: [{ values: series.nees, colour }] });
    drawPlot(element("plot-speed"), theme, { times, cursor, lines: [{ values: series.speed, colour }] });
    drawPlot(element("plot-signal"), theme, { times, cursor, lines: [{ values: series.signal, colour }] });
    this.showValues(robot, frame);
  }

  showValues(robot, frame) {
    const t = this.model.truth(robot.index), error = robot.beliefs[0] ? this.model.error(robot.beliefs[0]) : null;
    const values = [["x", `${t.x.toFixed(2)} m`], ["y", `${t.y.toFixed(2)} m`], ["yaw", `${((wrapAngle(t.yaw) * 180) / Math.PI).toFixed(1)}°`], ["turn", `${t.wz.toFixed(2)} rad/s`]];
    const list = element("values");
    if (list.children.length !== 2 * values.length) {
      list.replaceChildren(...values.flatMap(() => [document.createElement("dt"), document.createElement("dd")]));
    }
    values.forEach(([name, value], k) => {
      list.children[2 * k].textContent = name;
      list.children[2 * k + 1].textContent = value;
    });
    const sigma = error && error.sigma > 0 ? `  ·  3σ ${formatNumber(3 * error.sigma)} m` : "";
    element("value-error").textContent = error ? `${formatNumber(error.error)} m${sigma}` : "believes the truth";
    element("value-nees").textContent = error && Number.isFinite(error.nees) ? formatNumber(error.nees) : "no covariance";
    element("value-speed").textContent = `${formatNumber(t.vx)} m/s`;
    const value = frame.values.get(`${robot.index}/${this.signal}`);
    element("value-signal").textContent = value === undefined ? "" : `${formatNumber(value)} ${robot.group.signals[this.signal]?.unit ?? ""}`;
    if (this.runner.live) this.showPhases(frame);
  }

  // The share of each phase in the time of the last half second.
  showPhases(frame) {
    element("factor").textContent = frame.idle ? "idle" : frame.paused ? "paused" : `${formatNumber(frame.factor)} ×`;
    const spent = this.model.status?.spent;
    if (!spent || spent === this.lastSpent) return;
    const recent = spent.map((s, k) => s - (this.lastSpent?.[k] ?? 0));
    this.lastSpent = spent;
    const sum = recent.reduce((a, b) => a + b, 0);
    if (!(sum > 0)) return;
    const bars = recent.map((s, k) => {
      const bar = document.createElement("i");
      bar.style.width = `${(100 * s) / sum}%`;
      bar.style.background = PHASE_COLOURS[k % 7];
      return bar;
    });
    element("phases").replaceChildren(...bars);
    element("phase-names").replaceChildren(...this.model.scene.phases.map((name, k) => {
      const item = document.createElement("li"), dot = document.createElement("i"), share = document.createElement("b");
      dot.style.background = PHASE_COLOURS[k % 7];
      share.textContent = `${Math.round((100 * recent[k]) / sum)} %`;
      item.append(dot, name, share);
      return item;
    }));
  }
}
