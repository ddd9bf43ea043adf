// The light or the dark theme: that of the system, until one is chosen. Colours are those of style.css.

const NAMES = ["ground", "floor", "ink", "soft", "faint", "wall", "solid", "grid", "grid-strong", "accent", "hit", "scan", "sonar", "halo"];

export class Theme {
  constructor() {
    this.onChange = () => {};
    this.system = matchMedia("(prefers-color-scheme: dark)");
    this.chosen = null;
    this.system.addEventListener("change", () => this.apply());
    this.apply();
  }

  get name() { return this.chosen ?? (this.system.matches ? "dark" : "light"); }

  toggle() {
    this.chosen = this.name === "dark" ? "light" : "dark";
    this.apply();
  }

  apply() {
    document.documentElement.dataset.theme = this.name;
    const style = getComputedStyle(document.documentElement);
    this.colours = Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    this.robots = Array.from({ length: 6 }, (_, k) => style.getPropertyValue(`--truth-${k}`).trim());
    this.onChange();
  }
}
