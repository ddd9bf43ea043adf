"""A run on rosbridge: a client drives a robot, steps time, and compares belief and truth.

Any client of rosbridge does the same (roslibpy, roslibjs, a page); here it is a plain WebSocket, to
show that there is nothing but JSON in it. The client pauses the run and steps it, so that the
program prints the same every time.
"""

import json
from typing import Any

from websockets.sync.client import ClientConnection, connect

import astray
from astray.ros.rosbridge import serving

PAUSED = 2  # of simulation_interfaces


def ask(line: ClientConnection, service: str, **args: Any) -> Any:
    """Call a service and wait for its answer."""
    line.send(json.dumps({"op": "call_service", "service": service, "args": args}))
    while (said := json.loads(line.recv()))["op"] != "service_response":
        pass
    return said["values"]


def next_x(line: ClientConnection) -> float:
    """How far the next message says that the robot is."""
    while (said := json.loads(line.recv()))["op"] != "publish":
        pass
    return float(said["msg"]["pose"]["pose"]["position"]["x"])


sim = astray.load("remote")
with serving(sim) as wire, connect(f"ws://127.0.0.1:{wire.port}") as line:
    topics = ask(line, "/rosapi/topics")["topics"]
    print(f"{len(topics)} topics, among them {', '.join(topics[:4])}")
    ask(line, "/set_simulation_state", state={"state": PAUSED})
    ask(line, "/reset_simulation")
    line.send(json.dumps({"op": "publish", "topic": "/cmd_vel", "msg": {"linear": {"x": 0.5}}}))
    ask(line, "/step_simulation", steps=round(10.0 / sim.dt))
    truth = ask(line, "/get_entity_state", entity="rover")["state"]["pose"]["position"]
    line.send(json.dumps({"op": "subscribe", "topic": "/belief/pose"}))
    soon = {"steps": round(0.02 / sim.dt)}  # poses are said 50 times a second
    line.send(json.dumps({"op": "call_service", "service": "/step_simulation", "args": soon}))
    print(f"after 10 s it has driven {truth['x']:.2f} m and believes {next_x(line):.2f} m")
