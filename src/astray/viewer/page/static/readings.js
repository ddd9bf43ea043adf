// Draws readings by what they measure: scans, sonar cones, landmarks, detections of robots, fixes.

const rayDirections = new Map(); // (cos, sin) of each ray of a scan, computed once

// Readings are in the body frame. They are drawn from the true pose, or from the believed one.
export function drawReading(painter, { robot, sensor: index, age, numbers }) {
  if (!painter.model.alive(robot)) return;
  const sensor = painter.model.robots[robot].group.sensors[index];
  const t = painter.model.truth(robot), c = painter.context;
  let pose = { x: t.x - (Math.cos(t.yaw) * t.vx - Math.sin(t.yaw) * t.vy) * age, y: t.y - (Math.sin(t.yaw) * t.vx + Math.cos(t.yaw) * t.vy) * age, yaw: t.yaw - t.wz * age };
  const belief = painter.model.robots[robot].beliefs[0];
  if (painter.shown.believed && belief) {
    const b = painter.model.pose(belief), dt = age - b.age;
    pose = { x: b.x - Math.cos(b.yaw) * t.vx * dt, y: b.y - Math.sin(b.yaw) * t.vx * dt, yaw: b.yaw - t.wz * dt };
  }
  if (sensor.draws === "fix") return painter.cross(numbers[0], numbers[1], painter.colour(painter.model.robots[robot]));
  c.save();
  c.translate(pose.x, pose.y);
  c.rotate(pose.yaw);
  if (sensor.draws === "scan") drawScan(painter, sensor, numbers, robot === painter.model.selected);
  else if (sensor.draws === "landmarks") drawLandmarks(painter, sensor, numbers);
  else if (sensor.draws === "contacts") drawDetections(painter, sensor, numbers);
  else drawCones(painter, sensor, numbers);
  c.restore();
}

function drawScan(painter, sensor, ranges, isSelected) {
  const key = `${sensor.start}/${sensor.step}/${ranges.length}/${sensor.mounts[0]}`;
  if (!rayDirections.has(key)) {
    const directions = new Float64Array(2 * ranges.length), yaw = sensor.mounts[0][2];
    for (let k = 0; k < ranges.length; k++) {
      directions[2 * k] = Math.cos(yaw + sensor.start + k * sensor.step);
      directions[2 * k + 1] = Math.sin(yaw + sensor.start + k * sensor.step);
    }
    rayDirections.set(key, directions);
  }
  const c = painter.context, directions = rayDirections.get(key), [mx, my] = sensor.mounts[0], size = 2.6 * painter.pixel, half = size / 2;
  if (isSelected) { // the free space that was seen, faintly
    c.beginPath();
    c.moveTo(mx, my);
    for (let k = 0; k < ranges.length; k++) {
      const r = Math.min(Math.max(0, ranges[k]), sensor.max_range);
      c.lineTo(mx + r * directions[2 * k], my + r * directions[2 * k + 1]);
    }
    c.closePath();
    c.globalAlpha = 0.07;
    c.fillStyle = painter.theme.colours.scan;
    c.fill();
  }
  c.globalAlpha = isSelected ? 1 : 0.5;
  c.fillStyle = painter.theme.colours.scan;
  c.beginPath();
  for (let k = 0; k < ranges.length; k++) {
    const r = ranges[k];
    if (r > 0 && r < Infinity) c.rect(mx + r * directions[2 * k] - half, my + r * directions[2 * k + 1] - half, size, size);
  }
  c.fill();
  c.globalAlpha = 1;
}

function drawCones(painter, sensor, ranges) {
  const c = painter.context;
  c.fillStyle = c.strokeStyle = painter.theme.colours.sonar;
  sensor.mounts.forEach(([x, y, yaw], k) => {
    const r = ranges[k];
    if (!(r > 0)) return;
    const isEcho = r < sensor.max_range, range = Math.min(r, sensor.max_range), angle = Math.max(sensor.cone, 0.01);
    c.beginPath();
    c.moveTo(x, y);
    c.arc(x, y, range, yaw - angle, yaw + angle);
    c.closePath();
    c.globalAlpha = isEcho ? 0.14 : 0.04;
    c.fill();
    if (!isEcho) return;
    c.globalAlpha = 0.9;
    c.beginPath();
    c.arc(x, y, range, yaw - angle, yaw + angle);
    c.lineWidth = 2 * painter.pixel;
    c.stroke();
  });
  c.globalAlpha = 1;
}

function drawDetections(painter, sensor, numbers) {
  const c = painter.context, [mx, my, yaw] = sensor.mounts[0], r = 2.5 * painter.pixel;
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

function drawLandmarks(painter, sensor, numbers) {
  const c = painter.context, [mx, my, yaw] = sensor.mounts[0];
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
