"""A program on RustDDS, by way of `rosless`: hears topics of a run and drives its robot.

    rosless_peer.py TOPIC=TYPE …     a line of JSON per topic: its third message, decoded

Then it publishes /cmd_vel until the truth moves, and prints its speed.
"""

import json
import sys
import time

import rosless

PATIENCE = 60.0


def main() -> None:
    node = rosless.Node(domain=0)
    topics = dict(text.split("=") for text in sys.argv[1:])
    hearing = {topic: node.subscribe(topic, type_name=type) for topic, type in topics.items()}
    for topic, subscription in hearing.items():
        for _ in range(2):
            assert subscription.read(timeout=PATIENCE) is not None, topic
        message = subscription.read(timeout=PATIENCE)
        print(json.dumps({"topic": topic, "message": message.to_dict()}), flush=True)
    wheel = node.advertise("/cmd_vel", "geometry_msgs/msg/Twist")
    command = {
        "linear": {"x": 0.25, "y": 0.0, "z": 0.0},
        "angular": {"x": 0.0, "y": 0.0, "z": 0.0},
    }
    truth = hearing["/ground_truth/odom"]
    deadline = time.monotonic() + PATIENCE
    speed = 0.0
    while speed < 0.2499:
        assert time.monotonic() < deadline
        wheel.send(command)
        heard = truth.read(timeout=0.05)
        if heard is not None:
            speed = heard.to_dict()["twist"]["twist"]["linear"]["x"]
    print(json.dumps({"speed": speed}), flush=True)


main()
