// Converts between metres of the world, where y points up, and pixels of the screen, where y points down.

export class Camera {
  constructor() { this.x = 0; this.y = 0; this.scale = 40; this.width = 1; this.height = 1; }

  toScreen(x, y) { return [(x - this.x) * this.scale + this.width / 2, this.height / 2 - (y - this.y) * this.scale]; }
  toWorld(px, py) { return [(px - this.width / 2) / this.scale + this.x, (this.height / 2 - py) / this.scale + this.y]; }

  zoom(factor, px = this.width / 2, py = this.height / 2) {
    const [x, y] = this.toWorld(px, py);
    this.scale = Math.min(4000, Math.max(0.2, this.scale * factor));
    const [x2, y2] = this.toWorld(px, py);
    this.x += x - x2;
    this.y += y - y2;
  }

  pan(dx, dy) { this.x -= dx / this.scale; this.y += dy / this.scale; }

  fit([left, bottom, right, top], margin) {
    const width = Math.max(1, this.width - margin.left - margin.right), height = Math.max(1, this.height - margin.top - margin.bottom);
    this.scale = Math.min(240, Math.max(0.2, Math.min(width / Math.max(0.5, right - left), height / Math.max(0.5, top - bottom))));
    this.x = (left + right) / 2 + (margin.right - margin.left) / 2 / this.scale;
    this.y = (bottom + top) / 2 + (margin.top - margin.bottom) / 2 / this.scale;
  }

  apply(context, ratio) {
    const s = this.scale * ratio;
    context.setTransform(s, 0, 0, -s, (this.width / 2 - this.x * this.scale) * ratio, (this.height / 2 + this.y * this.scale) * ratio);
  }
}

export function bounds(model) {
  const s = model.scene.map.segments;
  let left = Infinity, bottom = Infinity, right = -Infinity, top = -Infinity;
  const add = (x, y, r = 0) => {
    left = Math.min(left, x - r); right = Math.max(right, x + r);
    bottom = Math.min(bottom, y - r); top = Math.max(top, y + r);
  };
  for (let k = 0; k < s.length; k += 2) add(s[k], s[k + 1]);
  for (const group of model.scene.groups) for (const [x, y] of group.path) add(x, y, 0.3);
  if (model.frame) for (const robot of model.robots) if (model.alive(robot.index)) {
    const t = model.truth(robot.index);
    add(t.x, t.y, s.length ? 0.5 : 1.5);
  }
  return left > right ? [-5, -5, 5, 5] : [left, bottom, right, top];
}
