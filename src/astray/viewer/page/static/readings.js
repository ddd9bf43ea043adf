// What sensors see, by what they measure: points of a scan, cones of sound, sightings, a fix.

const fans = new Map(); // directions of the rays of a scan, made once

// Readings are taken in the body frame: drawn from the truth, or from where the robot believes to be.
export function drawReading(painter, { robot, sensor, age, numbers }) {
  if (!painter.model.alive(robot)) return;
  const about = painter.model.robots[robot].group.sensors[sensor];
  const t = painter.model.truth(robot), c = painter.context;
  let pose = { x: t.x - (Math.cos(t.yaw) * t.vx - Math.sin(t.yaw) * t.vy) * age, y: t.y - (Math.sin(t.yaw) * t.vx + Math.cos(t.yaw) * t.vy) * age, yaw: t.yaw - t.wz * age };
  const ghost = painter.model.robots[robot].ghosts[0];
  if (painter.shown.believed && ghost) {
    const b = painter.model.belief(ghost), back = age - b.age;
    pose = { x: b.x - Math.cos(b.yaw) * t.vx * back, y: b.y - Math.sin(b.yaw) * t.vx * back, yaw: b.yaw - t.wz * back };
  }
  if (about.draws === "fix") return painter.cross(numbers[0], numbers[1], painter.colour(painter.model.robots[robot]));
  c.save();
  c.translate(pose.x, pose.y);
  c.rotate(pose.yaw);
  if (about.draws === "scan") scan(painter, about, numbers, robot === painter.model.selected);
  else if (about.draws === "landmarks") sightings(painter, about, numbers);
  else if (about.draws === "contacts") detections(painter, about, numbers);
  else cones(painter, about, numbers);
  c.restore();
}

function scan(painter, about, ranges, chosen) {
  const key = `${about.start}/${about.step}/${ranges.length}/${about.mounts[0]}`;
  if (!fans.has(key)) {
    const fan = new Float64Array(2 * ranges.length), yaw = about.mounts[0][2];
    for (let k = 0; k < ranges.length; k++) {
      fan[2 * k] = Math.cos(yaw + about.start + k * about.step);
      fan[2 * k + 1] = Math.sin(yaw + about.start + k * about.step);
    }
    fans.set(key, fan);
  }
  const c = painter.context, fan = fans.get(key), [mx, my] = about.mounts[0], size = 2.6 * painter.pixel, half = size / 2;
  if (chosen) { // what was seen to be free, in a breath of colour
    c.beginPath();
    c.moveTo(mx, my);
    for (let k = 0; k < ranges.length; k++) {
      const r = Math.min(Math.max(0, ranges[k]), about.max_range);
      c.lineTo(mx + r * fan[2 * k], my + r * fan[2 * k + 1]);
    }
    c.closePath();
    c.globalAlpha = 0.07;
    c.fillStyle = painter.theme.colours.scan;
    c.fill();
  }
  c.globalAlpha = chosen ? 1 : 0.5;
  c.fillStyle = painter.theme.colours.scan;
  c.beginPath();
  for (let k = 0; k < ranges.length; k++) {
    const r = ranges[k];
    if (r > 0 && r < Infinity) c.rect(mx + r * fan[2 * k] - half, my + r * fan[2 * k + 1] - half, size, size);
  }
  c.fill();
  c.globalAlpha = 1;
}

function cones(painter, about, ranges) {
  const c = painter.context;
  c.fillStyle = c.strokeStyle = painter.theme.colours.sonar;
  about.mounts.forEach(([x, y, yaw], k) => {
    const r = ranges[k];
    if (!(r > 0)) return;
    const heard = r < about.max_range, far = Math.min(r, about.max_range), open = Math.max(about.cone, 0.01);
    c.beginPath();
    c.moveTo(x, y);
    c.arc(x, y, far, yaw - open, yaw + open);
    c.closePath();
    c.globalAlpha = heard ? 0.14 : 0.04;
    c.fill();
    if (!heard) return;
    c.globalAlpha = 0.9;
    c.beginPath();
    c.arc(x, y, far, yaw - open, yaw + open);
    c.lineWidth = 2 * painter.pixel;
    c.stroke();
  });
  c.globalAlpha = 1;
}

function detections(painter, about, numbers) {
  const c = painter.context, [mx, my, yaw] = about.mounts[0], r = 2.5 * painter.pixel;
  c.strokeStyle = painter.theme.colours.scan;
  c.lineWidth = 1.3 * painter.pixel;
  c.globalAlpha = 0.9;
  for (let k = 0; k < numbers.length; k += 2) {
    c.beginPath();
    c.arc(mx + numbers[k] * Math.cos(yaw + numbers[k + 1]), my + numbers[k] * Math.sin(yaw + numbers[k + 1]), r, 0, 2 * Math.PI);
    c.stroke();
  }
  c.globalAlpha = 1;
}

function sightings(painter, about, numbers) {
  const c = painter.context, [mx, my, yaw] = about.mounts[0];
  c.strokeStyle = painter.theme.colours.sonar;
  c.lineWidth = 1.2 * painter.pixel;
  for (let k = 0; k < numbers.length; k += 2) {
    const x = mx + numbers[k] * Math.cos(yaw + numbers[k + 1]), y = my + numbers[k] * Math.sin(yaw + numbers[k + 1]);
    c.beginPath();
    c.moveTo(mx, my);
    c.lineTo(x, y);
    c.stroke();
    painter.cross(x, y, painter.theme.colours.sonar);
  }
}
