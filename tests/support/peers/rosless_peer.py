"""A program on RustDDS, with `rosless`: it subscribes to topics of a run and drives its robot.

    rosless_peer.py TOPIC=TYPE …     a line of JSON per topic: its third message, decoded

Then it publishes /cmd_vel until the truth moves, and prints its speed.
"""

import json
import sys
import time

import rosless

TIMEOUT = 60.0


def main() -> None:
    node = rosless.Node(domain=0)
    topics = dict(text.split("=") for text in sys.argv[1:])
    subscriptions = {topic: node.subscribe(topic, type_name=type) for topic, type in topics.items()}
    for topic, subscription in subscriptions.items():
        for _ in range(2):
            assert subscription.read(timeout=TIMEOUT) is not None, topic
        message = subscription.read(timeout=TIMEOUT)
        print(json.dumps({"topic": topic, "message": message.to_dict()}), flush=True)
    cmd_vel = node.advertise("/cmd_vel", "geometry_msgs/msg/Twist")
    command = {
        "linear": {"x": 0.25, "y": 0.0, "z": 0.0},
        "angular": {"x": 0.0, "y": 0.0, "z": 0.0},
    }
    truth = subscriptions["/ground_truth/odom"]
    deadline = time.monotonic() + TIMEOUT
    speed = 0.0
    while speed < 0.2499:
        assert time.monotonic() < deadline
        cmd_vel.send(command)
        received = truth.read(timeout=0.05)
        if received is not None:
            speed = received.to_dict()["twist"]["twist"]["linear"]["x"]
    print(json.dumps({"speed": speed}), flush=True)


main()
