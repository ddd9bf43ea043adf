"""Operations of rosbridge clients, without a socket: limits, queues and fuzzing."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import Any

import cbor2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astray.ros.messages.types import decode, to_plain
from astray.ros.publishers.publisher_set import PublisherSet
from astray.ros.rosbridge import client as client_module
from astray.ros.rosbridge import protocol
from astray.ros.rosbridge.cbor import encode_cbor
from astray.ros.rosbridge.client import (
    MAX_PER_TOPIC,
    MAX_TOPICS,
    RosbridgeClient,
    SubscribeOptions,
)
from astray.ros.rosbridge.json import JsonWriter, to_json
from astray.ros.rosbridge.operations import Operations, TopicGraph
from astray.ros.rosbridge.protocol import BadRequest, Fragments, parse
from astray.ros.services.simulation import Service
from support.rosbridge import load


class Timers:
    """Timers, and a clock that the test advances."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.waiting = 100.0, list[tuple[float, Callable[[], None]]]()
        monkeypatch.setattr(client_module.time, "monotonic", lambda: self.now)

    def call_later(self, seconds: float, function: Callable[[], None]) -> None:
        self.waiting.append((self.now + seconds, function))

    def advance(self, seconds: float) -> None:
        end = self.now + seconds
        while due := sorted((w for w in self.waiting if w[0] <= end), key=lambda w: w[0])[:1]:
            self.waiting.remove(due[0])
            self.now = due[0][0]
            due[0][1]()
        self.now = end


@pytest.fixture
def timers(monkeypatch: pytest.MonkeyPatch) -> Timers:
    return Timers(monkeypatch)


def client_of(timers: Timers | None = None) -> RosbridgeClient:
    return RosbridgeClient("test", timers.call_later if timers else lambda *call: None)


def sent(client: RosbridgeClient) -> list[Any]:
    return [
        cbor2.loads(message) if isinstance(message, bytes) else json.loads(message)
        for message in client.queue.take(10**6)
    ]


def operations_of(received: list[Any] | None = None) -> tuple[Operations, RosbridgeClient]:
    """Operations on a run that subscribes to one topic; services are called at once."""
    graph = TopicGraph(
        published={"/odom": "nav_msgs/msg/Odometry", "/tf": "tf2_msgs/msg/TFMessage"}
    )
    graph.subscribed["/cmd_vel"] = "geometry_msgs/msg/Twist"
    graph.callbacks["/cmd_vel", "geometry_msgs/msg/Twist"] = (
        [] if received is None else received
    ).append
    graph.services["/add"] = Service("x/srv/Add", lambda r: {"sum": r["a"] + r["b"]}, ("a", "b"))
    operations = Operations(graph, lambda function, reply: reply(_try(function)), lambda: True)
    client = client_of()
    operations.add(client)
    return operations, client


def _try(function: Callable[[], Any]) -> Any:
    try:
        return function()
    except Exception as problem:  # noqa: BLE001 - as the server does
        return problem


# Text.


def test_every_message_of_a_run_has_the_text_of_its_decoded_bytes() -> None:
    sim = load()
    publisher_set = PublisherSet(sim)
    sim.robots["rover"].drive(0.5, 0.2)
    seen = set()
    for _ in range(40):
        sim.step()
        for publisher, rows in publisher_set.due_publishers():
            messages = publisher.serialize(publisher.sample(rows))
            texts = JsonWriter(publisher.layout).write(messages.columns)
            for message, text in zip(messages.as_bytes(), texts, strict=True):
                plain = to_plain(decode(publisher.layout.type, message))
                assert text == to_json(plain)
                seen.add(publisher.layout.type)
    assert len(seen) >= 6


def test_nan_and_infinity_are_null() -> None:
    assert to_json({"a": [1.0, float("inf")], "b": float("nan")}) == '{"a":[1.0,null],"b":null}'


# Queues.


def test_a_throttled_topic_comes_no_faster_than_asked_for(timers: Timers) -> None:
    client = client_of(timers)
    client.subscribe("/odom", "1", SubscribeOptions(throttle=0.1))
    for k in range(100):
        client.publish("/odom", str(k))
        timers.advance(0.01)
    assert sent(client) == list(range(0, 100, 10))


def test_a_throttled_topic_with_a_queue_holds_the_newest(timers: Timers) -> None:
    client = client_of(timers)
    client.subscribe("/odom", "1", SubscribeOptions(throttle=1.0, queue_length=2))
    for k in range(10):
        client.publish("/odom", str(k))
    assert sent(client) == [0]
    timers.advance(5.0)
    assert sent(client) == [8, 9]


def test_a_client_that_reads_slowly_gets_the_newest_of_each_topic_in_order() -> None:
    client = client_of()
    client.subscribe("/odom", "1", SubscribeOptions(queue_length=3))
    client.subscribe("/tf", "2", SubscribeOptions())
    for k in range(1000):
        client.publish("/odom", str(k))
        client.publish("/tf", str(-k))
    got = sent(client)
    assert [k for k in got if k > 0] == [997, 998, 999]
    assert [k for k in got if k < 0] == list(range(-900, -1000, -1))


def test_the_bytes_that_wait_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "MAX_BYTES", 1000)
    client = client_of()
    client.subscribe("/odom", "1", SubscribeOptions())
    client.queue.reply('"answer"')
    for k in range(50):
        client.publish("/odom", f'"{k:098}"')
    assert client.queue.dropped == 41
    assert not client.queue.has_overflowed
    got = sent(client)
    assert got[0] == "answer"
    assert [int(text) for text in got[1:]] == list(range(41, 50))


def test_a_client_that_does_not_read_its_replies_overflows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "MAX_BYTES", 1000)
    client = client_of()
    for _ in range(11):
        client.queue.reply(" " * 100)
    assert client.queue.has_overflowed


def test_the_bytes_of_throttled_messages_are_limited(
    monkeypatch: pytest.MonkeyPatch, timers: Timers
) -> None:
    monkeypatch.setattr(client_module, "MAX_BYTES", 1000)
    client = client_of(timers)
    client.subscribe("/a", "1", SubscribeOptions(throttle=10.0, queue_length=10**9))
    for k in range(50):
        client.publish("/a", to_json({"op": "publish", "topic": "/a", "msg": f"{k:100}"}))
    assert len(timers.waiting) == 1
    assert client.queue.dropped > 40
    received = sent(client)
    timers.advance(1000.0)
    received += sent(client)
    assert [int(message["msg"]) for message in received] == [0, *range(50 - len(received) + 1, 50)]
    assert client.queue.size == 0


def test_a_client_has_a_bounded_number_of_subscriptions() -> None:
    operations, client = operations_of()
    for k in range(MAX_TOPICS + 50):
        operations.execute(client, f'{{"op": "subscribe", "topic": "/a{k % 500}", "id": "{k}"}}')
    statuses = sent(client)
    assert len(statuses) == 50
    assert {status["msg"] for status in statuses} == {
        f"a client has at most {MAX_TOPICS} subscriptions"
    }
    operations.execute(client, '{"op": "unsubscribe", "topic": "/a0"}')
    for k in range(MAX_PER_TOPIC + 1):
        operations.execute(client, '{"op": "unsubscribe", "topic": "/a1"}')
        operations.execute(client, f'{{"op": "unsubscribe", "topic": "/a{k + 2}"}}')
        operations.execute(client, f'{{"op": "subscribe", "topic": "/b", "id": "{k}"}}')
    assert "100 times already" in sent(client)[0]["msg"]


def test_many_subscriptions_at_once_send_the_map_once() -> None:
    operations, client = operations_of()
    started: list[tuple[Callable[[], Any], Callable[[Any], None]]] = []
    operations._start = lambda function, reply: started.append((function, reply))
    operations.graph.latched["/map"] = lambda: [lambda compression: "{}"]
    for k in range(50):
        operations.execute(client, f'{{"op": "subscribe", "topic": "/map", "id": "{k}"}}')
    for _ in range(2):
        (one,) = started
        one[1](one[0]())
        assert sent(client) == [{"op": "publish", "topic": "/map", "msg": {}}]
        started.clear()
        operations.execute(client, '{"op": "subscribe", "topic": "/map", "id": "again"}')


def test_calls_of_a_client_that_has_left_are_dropped() -> None:
    operations, client = operations_of()
    started: list[Callable[[], Any]] = []
    called: list[Any] = []
    operations._start = lambda function, reply: started.append(function)
    operations.graph.services["/add"] = Service("x/srv/Add", called.append)
    operations.execute(client, '{"op": "call_service", "service": "/add"}')
    operations.remove(client)
    assert started[0]() is None
    assert not called


def test_two_subscriptions_of_one_topic_are_one_message_each() -> None:
    client = client_of()
    client.subscribe("/odom", "1", SubscribeOptions())
    client.subscribe("/odom", "2", SubscribeOptions())
    client.publish("/odom", "1")
    client.unsubscribe("/odom", "1")
    client.publish("/odom", "2")
    client.unsubscribe("/odom", "2")
    client.publish("/odom", "3")
    assert sent(client) == [1, 2]


def test_a_long_message_is_sent_in_fragments_that_fit_together() -> None:
    client, fragments = client_of(), Fragments()
    client.subscribe("/odom", "1", SubscribeOptions(fragment_size=100))
    text = to_json({"op": "publish", "msg": {"data": "x" * 950}})
    client.publish("/odom", text)
    parts = sent(client)
    assert {part["op"] for part in parts} == {"fragment"}
    whole = [fragments.add(part) for part in parts]
    assert whole == [None] * (len(parts) - 1) + [text]


# Fragments.


def test_fragments_in_any_order_are_one_message() -> None:
    received: list[Any] = []
    operations, client = operations_of(received)
    message = json.dumps({"op": "publish", "topic": "/cmd_vel", "msg": {"linear": {"x": 1.5}}})
    for k in (2, 0, 1):
        data = message[30 * k : 30 * k + 30] if k < 2 else message[60:]
        operations.execute(
            client, json.dumps({"op": "fragment", "id": "a", "num": k, "total": 3, "data": data})
        )
    assert not sent(client)
    assert received[0].linear.x == 1.5


def test_fragments_are_bounded_in_size_number_and_time() -> None:
    now = [0.0]
    fragments = Fragments(lambda: now[0])

    def add(name: str, num: int, data: str, total: int = 3) -> str | None:
        return fragments.add(
            {"op": "fragment", "id": name, "num": num, "total": total, "data": data}
        )

    big = "x" * (protocol.MAX_BYTES // 2 + 1)
    assert add("a", 0, big) is None
    with pytest.raises(BadRequest, match="do not fit"):
        add("a", 1, big)
    for name in "bcdef":  # one more than may be open: the oldest is forgotten
        assert add(name, 0, "1", 2) is None
    assert add("b", 1, "2", 2) is None
    assert add("f", 1, "2", 2) == "12"
    now[0] += protocol.FRAGMENTS_TIMEOUT + 1
    assert add("e", 1, "2", 2) is None


# Messages.


def test_a_command_reaches_its_callback_whether_advertised_or_not() -> None:
    received: list[Any] = []
    operations, client = operations_of(received)
    command = {"op": "publish", "topic": "cmd_vel", "msg": {"angular": {"z": 0.5}}}
    operations.execute(client, json.dumps(command))
    operations.execute(
        client, '{"op": "advertise", "topic": "/cmd_vel", "type": "geometry_msgs/msg/Twist"}'
    )
    operations.execute(client, json.dumps(command))
    assert [message.angular.z for message in received] == [0.5, 0.5]
    assert not sent(client)


@pytest.mark.parametrize("args", [{"a": 2, "b": 3}, [2, 3]])
def test_arguments_come_by_name_or_in_order(args: Any) -> None:
    operations, client = operations_of()
    operations.execute(
        client, json.dumps({"op": "call_service", "id": "7", "service": "/add", "args": args})
    )
    response = {"op": "service_response", "id": "7", "service": "/add"}
    assert sent(client) == [{**response, "values": {"sum": 5}, "result": True}]


def test_a_call_that_fails_is_answered_with_the_reason() -> None:
    operations, client = operations_of()
    operations.execute(client, '{"op": "call_service", "id": "7", "service": "/add", "args": [1]}')
    answer = sent(client)[0]
    assert answer["result"] is False
    assert "KeyError" in answer["values"]
    operations.execute(client, '{"op": "call_service", "service": "/add", "args": [1, 2, 3]}')
    assert "a, b" in sent(client)[0]["values"]


def test_compression_that_is_not_offered_gives_a_warning_where_it_is_wanted() -> None:
    operations, client = operations_of()
    operations.execute(client, '{"op": "set_level", "level": "warning"}')
    operations.execute(client, '{"op": "subscribe", "topic": "/odom", "compression": "png"}')
    assert "png" in sent(client)[0]["msg"]
    operations.publish("/odom", lambda compression: "{}")
    assert sent(client) == [{"op": "publish", "topic": "/odom", "msg": {}}]


def test_an_internal_error_is_sent_and_loses_no_client() -> None:
    operations, client = operations_of()
    operations.graph.callbacks["/cmd_vel", "geometry_msgs/msg/Twist"] = lambda message: [][0]
    operations.execute(client, '{"op": "publish", "topic": "/cmd_vel", "msg": {}}')
    assert "IndexError" in sent(client)[0]["msg"]


def test_too_many_messages_to_a_paused_run_are_refused() -> None:
    operations, client = operations_of([])
    operations._may_post = lambda: False
    operations.execute(client, '{"op": "publish", "topic": "/cmd_vel", "msg": {}}')
    assert "too many messages wait" in sent(client)[0]["msg"]


# Fuzz.

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
OPS = [
    "advertise",
    "unadvertise",
    "publish",
    "subscribe",
    "unsubscribe",
    "call_service",
    "set_level",
    "fragment",
    "status",
]
names = st.sampled_from(["/cmd_vel", "cmd_vel", "/odom", "/add", "/x", "", "/tf"]) | st.text(
    max_size=9
)
fields = {
    "topic": names,
    "service": names,
    "id": values,
    "type": st.sampled_from(["geometry_msgs/Twist", "std_msgs/msg/String", "a"]) | values,
    "msg": values | st.just({"linear": {"x": 1}}),
    "args": values,
    "throttle_rate": values,
    "queue_length": values,
    "fragment_size": values,
    "compression": st.sampled_from(["none", "cbor", "cbor-raw"]) | values,
    "level": values,
    "num": values,
    "total": values,
    "data": values,
}


@given(
    st.lists(
        st.fixed_dictionaries({"op": st.sampled_from(OPS) | names}, optional=fields), max_size=5
    )
)
@settings(max_examples=150)
def test_no_message_breaks_the_operations(messages: list[dict[str, Any]]) -> None:
    operations, client = operations_of()
    for message in messages:
        operations.execute(client, json.dumps(message))
        operations.publish(
            "/odom",
            lambda compression: '{"a": 1}' if compression == "none" else encode_cbor({"a": 1}),
        )
    for message in sent(client):
        assert message["op"] in ("status", "service_response", "publish", "fragment")
    operations.remove(client)


@given(st.text() | st.binary())
@settings(max_examples=150)
def test_text_is_a_message_or_refused(text: str | bytes) -> None:
    with contextlib.suppress(BadRequest):
        assert isinstance(parse(text)["op"], str)
