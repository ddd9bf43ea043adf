// The WebSocket to the run. When it breaks, the page reconnects until the run responds.

import { decodeFrame } from "./frame.js";

const FIRST_DELAY = 500, LONGEST_DELAY = 4000; // ms before the page reconnects

export class Connection {
  constructor(model, notice) {
    this.model = model;
    this.notice = notice;
    this.connected = false;
    this.opened = 0;
    this.delay = FIRST_DELAY;
    this.subscription = null;
    this.connect();
  }

  connect() {
    const socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/ws${location.search}`);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.connected = true;
      this.opened += 1;
      this.delay = FIRST_DELAY;
      this.notice.hide();
      if (this.subscription) this.send(this.subscription);
    };
    socket.onmessage = ({ data }) => this.receive(data);
    socket.onclose = () => {
      this.connected = false;
      this.notice.show("The run does not respond. Trying again …", true);
      setTimeout(() => this.connect(), this.delay);
      this.delay = Math.min(LONGEST_DELAY, this.delay * 1.5);
    };
    this.socket = socket;
  }

  receive(data) {
    if (typeof data !== "string") return this.model.setFrame(decodeFrame(data));
    const message = JSON.parse(data);
    if (message.type === "scene") this.model.setScene(message);
    else if (message.type === "hits") this.model.setCollisions(message.hits);
    else if (message.type === "status") this.model.setStatus(message);
    else if (message.type === "refused") this.notice.show(message.text);
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  subscribe(subscription) {
    const text = JSON.stringify(subscription);
    if (this.subscription && text === JSON.stringify(this.subscription)) return;
    this.subscription = subscription;
    this.send(subscription);
  }

  // Requests to the run, as commands.py validates them.
  get live() { return true; }
  get playing() { return Boolean(this.model.frame) && !this.model.frame.paused; }
  play() { this.send({ do: "play" }); }
  pause() { this.send({ do: "pause" }); }
  step() { this.send({ do: "step", ticks: 1 }); }
  speed(value) { this.send({ do: "speed", value }); }
  reset(seed) { this.send({ do: "reset", seed }); }
  world(index) { this.send({ do: "world", place: index }); }
  place(robot, pose) { this.send({ do: "place", robot, ...pose }); }
  believe(robot, estimator, pose) { this.send({ do: "believe", robot, who: estimator, ...pose }); }
  drive(robot, forward, turn) { this.send({ do: "drive", robot, forward, turn }); }
}
