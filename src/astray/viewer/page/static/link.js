// The line to the run. When it breaks the page tries again until someone answers.

import { decodeFrame } from "./frame.js";

const SOON = 500, LATE = 4000; // ms

export class Link {
  constructor(model, notice) {
    this.model = model;
    this.notice = notice;
    this.connected = false;
    this.opened = 0;
    this.wait = SOON;
    this.wishes = null;
    this.connect();
  }

  connect() {
    const socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/ws${location.search}`);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.connected = true;
      this.opened += 1;
      this.wait = SOON;
      this.notice.hide();
      if (this.wishes) this.send(this.wishes);
    };
    socket.onmessage = ({ data }) => this.receive(data);
    socket.onclose = () => {
      this.connected = false;
      this.notice.show("The run does not answer. Trying again …", true);
      setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(LATE, this.wait * 1.5);
    };
    this.socket = socket;
  }

  receive(data) {
    if (typeof data !== "string") return this.model.takeFrame(decodeFrame(data));
    const message = JSON.parse(data);
    if (message.type === "scene") this.model.takeScene(message);
    else if (message.type === "hits") this.model.takeHits(message.hits);
    else if (message.type === "status") this.model.takeStatus(message);
    else if (message.type === "refused") this.notice.show(message.text);
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  look(wishes) {
    const text = JSON.stringify(wishes);
    if (this.wishes && text === JSON.stringify(this.wishes)) return;
    this.wishes = wishes;
    this.send(wishes);
  }

  // What the page may do to the run.
  get live() { return true; }
  get playing() { return Boolean(this.model.frame) && !this.model.frame.held; }
  play() { this.send({ do: "play" }); }
  pause() { this.send({ do: "pause" }); }
  step() { this.send({ do: "step", ticks: 1 }); }
  speed(value) { this.send({ do: "speed", value }); }
  reset(seed) { this.send({ do: "reset", seed }); }
  world(place) { this.send({ do: "world", place }); }
  place(robot, pose) { this.send({ do: "place", robot, ...pose }); }
  believe(robot, who, pose) { this.send({ do: "believe", robot, who, ...pose }); }
  drive(robot, forward, turn) { this.send({ do: "drive", robot, forward, turn }); }
}
