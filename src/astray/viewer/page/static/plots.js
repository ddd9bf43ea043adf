// A small plot: lines over time, and a band behind them.

const LEFT = 44, RIGHT = 8, TOP = 8, BOTTOM = 15;

export function drawPlot(canvas, theme, { times, lines, band = null, cursor = null, zero = false }) {
  const ratio = Math.min(2, devicePixelRatio || 1), c = canvas.getContext("2d");
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (!width) return;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
  }
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, width, height);
  c.font = "10px Inter, 'Segoe UI', system-ui, sans-serif";
  const { low, high } = limits(lines, band, zero);
  const first = times[0] ?? 0, last = Math.max(times.at(-1) ?? 1, first + 1e-9);
  const x = (t) => LEFT + ((t - first) / (last - first)) * (width - LEFT - RIGHT);
  const y = (v) => TOP + (1 - (Math.min(high, Math.max(low, v)) - low) / (high - low)) * (height - TOP - BOTTOM);
  drawAxes(c, theme, { low, high, first, last, x, y, width, height });
  if (times.length < 2) return;
  c.save();
  c.beginPath();
  c.rect(LEFT, TOP - 3, width - LEFT - RIGHT, height - TOP - BOTTOM + 6);
  c.clip();
  if (band) {
    c.beginPath();
    times.forEach((t, k) => c.lineTo(x(t), y(finite(band.high[k] ?? band.high, low))));
    for (let k = times.length - 1; k >= 0; k--) c.lineTo(x(times[k]), y(finite(band.low[k] ?? band.low, low)));
    c.closePath();
    c.globalAlpha = 0.16;
    c.fillStyle = band.colour;
    c.fill();
    c.globalAlpha = 1;
  }
  for (const line of lines) {
    c.beginPath();
    let isDrawing = false;
    times.forEach((t, k) => {
      const value = line.values[k];
      if (!Number.isFinite(value)) { isDrawing = false; return; }
      if (isDrawing) c.lineTo(x(t), y(value)); else c.moveTo(x(t), y(value));
      isDrawing = true;
    });
    c.strokeStyle = line.colour;
    c.lineWidth = line.thin ? 1 : 1.6;
    c.lineJoin = "round";
    c.setLineDash(line.dash ?? []);
    c.stroke();
    c.setLineDash([]);
  }
  if (cursor !== null) {
    c.fillStyle = theme.colours.accent;
    c.fillRect(x(cursor) - 0.75, TOP - 3, 1.5, height);
  }
  c.restore();
}

function finite(value, otherwise) { return Number.isFinite(value) ? value : otherwise; }

function limits(lines, band, zero) {
  let low = zero ? 0 : Infinity, high = zero ? 0 : -Infinity;
  const add = (value) => { if (Number.isFinite(value)) { low = Math.min(low, value); high = Math.max(high, value); } };
  for (const line of lines) for (const value of line.values) add(value);
  if (band) { if (Array.isArray(band.high)) band.high.forEach(add); else add(band.high); }
  if (low > high) return { low: 0, high: 1 };
  if (high - low < 1e-9) { high += Math.max(1e-3, Math.abs(high) * 0.1); if (!zero) low -= Math.max(1e-3, Math.abs(low) * 0.1); }
  const margin = 0.06 * (high - low);
  return { low: zero ? low : low - margin, high: high + margin };
}

function drawAxes(c, theme, { low, high, first, last, x, y, width, height }) {
  const step = roundStep((high - low) / 2.5);
  c.textAlign = "right";
  c.textBaseline = "middle";
  for (let k = Math.ceil(low / step); k * step <= high; k++) {
    const v = k * step;
    c.fillStyle = theme.colours["grid-strong"];
    c.fillRect(LEFT, y(v) - 0.5, width - LEFT - RIGHT, 1);
    c.fillStyle = theme.colours.soft;
    c.fillText(formatNumber(v), LEFT - 5, y(v));
  }
  c.textBaseline = "bottom";
  c.textAlign = "left";
  c.fillText(`${formatNumber(first)} s`, LEFT, height - 1);
  c.textAlign = "right";
  c.fillText(`${formatNumber(last)} s`, x(last), height - 1);
}

function roundStep(step) {
  const power = 10 ** Math.floor(Math.log10(Math.max(step, 1e-12)));
  return [1, 2, 5, 10].find((k) => k * power >= step) * power;
}

export function formatNumber(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size < 1e-12) return "0";
  if (size >= 1e5 || size < 1e-3) return value.toExponential(1);
  return String(Number(value.toPrecision(size >= 1000 ? 5 : 3)));
}
