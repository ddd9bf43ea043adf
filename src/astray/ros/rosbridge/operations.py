"""The operations of the protocol: what is done with each message of a client.

All of it happens in the thread of the server, except service calls, which may have to wait.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from astray.errors import AstrayError
from astray.ros.messages import full_name, is_known, make_message, to_bytes
from astray.ros.rosbridge.client import MAX_TOPICS, RosbridgeClient, SubscribeOptions
from astray.ros.rosbridge.compression import (
    COMPRESSIONS,
    NONE,
    Encode,
    message_encoder,
    publish_operation,
)
from astray.ros.rosbridge.json import to_json
from astray.ros.rosbridge.protocol import (
    LEVELS,
    MAX_BYTES,
    BadRequest,
    Message,
    name_of,
    number_of,
    parse,
    text_of,
)
from astray.ros.services import Service
from astray.server import Payload

MAX_CALLS = 32  # of services by one client that have not been answered
MAX_THROTTLE = 3_600_000.0  # ms


@dataclass
class TopicGraph:
    """The topics and services of a run."""

    published: dict[str, str] = field(default_factory=dict)
    """The type of each topic that the run publishes."""
    subscribed: dict[str, str] = field(default_factory=dict)
    """The usual type of each topic that the run subscribes to."""
    callbacks: dict[tuple[str, str], Callable[[Any], None]] = field(default_factory=dict)
    """The run's callback for a topic it subscribes to, by the topic's name and a type."""
    latched: dict[str, Callable[[], list[Encode]]] = field(default_factory=dict)
    """The messages of a topic that each new subscriber is sent."""
    services: dict[str, Service] = field(default_factory=dict)


Reply = Callable[[Any], None]
Start = Callable[[Callable[[], Any], Reply], None]
"""Starts a function that may wait in another thread; its result or exception goes to the reply."""


class Operations:
    """Carries out the operations of all clients on the topics and services of a run."""

    def __init__(self, graph: TopicGraph, start: Start, may_post: Callable[[], bool]) -> None:
        self.graph, self._start, self._may_post = graph, start, may_post
        self.start_long = start
        """Starts a function that may take minutes, so that it keeps no other one waiting."""
        self.now: Callable[[], float] = lambda: 0.0
        """The time of the run, s."""
        self.on_advertise: Callable[[str], None] = lambda topic: None
        """Called when a client begins to publish on a topic."""
        self.clients: list[RosbridgeClient] = []
        self.subscribed: frozenset[str] = frozenset()
        """The topics that clients subscribe to; another set whenever that changes."""
        self._operations: dict[str, Callable[[RosbridgeClient, Message], None]] = {
            "advertise": self._advertise,
            "unadvertise": self._unadvertise,
            "publish": self._publish,
            "subscribe": self._subscribe,
            "unsubscribe": self._unsubscribe,
            "call_service": self._call_service,
            "set_level": self._set_level,
            "fragment": self._fragment,
            "status": self._ignore,
            "service_response": self._ignore,
        }

    def add(self, client: RosbridgeClient) -> None:
        """Add a client that has connected."""
        self.clients.append(client)

    def remove(self, client: RosbridgeClient) -> None:
        """Remove a client that has disconnected."""
        self.clients.remove(client)
        client.has_left = True
        client.subscriptions.clear()
        self._update_subscribed()

    def execute(self, client: RosbridgeClient, text: str | bytes) -> None:
        """Carry out the operation in a text, or send a status with what is wrong with it."""
        message: Message = {}
        try:
            message = parse(text)
            operation = self._operations.get(message["op"])
            if operation is None:
                raise BadRequest(
                    f"unknown op {message['op'][:80]!r} ({', '.join(self._operations)})"
                )
            operation(client, message)
        except AstrayError as error:
            client.send_status("error", str(error)[:1000], message.get("id"))
        except Exception as error:  # noqa: BLE001 - no message is a reason to lose a client
            text = f"{type(error).__name__}: {error}"
            client.send_status("error", text[:1000], message.get("id"))

    def publish(self, topic: str, encode: Encode) -> None:
        """Send a message of a topic to all that subscribe to it, in the compression of each."""
        self._send([c for c in self.clients if topic in c.subscriptions], topic, encode)

    def _send(self, clients: Iterable[RosbridgeClient], topic: str, encode: Encode) -> None:
        encoded: dict[str, Payload] = {}
        for client in clients:
            subscription = client.subscriptions.get(topic)
            if subscription is not None:
                compression = subscription.compression
                if compression not in encoded:
                    encoded[compression] = publish_operation(topic, encode(compression))
                client.publish(topic, encoded[compression])

    # Topics.

    def _advertise(self, client: RosbridgeClient, message: Message) -> None:
        topic, type = name_of(message, "topic"), _type_of(message)
        self._check_publisher(topic, type)
        if topic not in client.advertised and len(client.advertised) >= MAX_TOPICS:
            raise BadRequest(f"a client advertises at most {MAX_TOPICS} topics")
        client.advertised[topic] = type
        self.on_advertise(topic)

    def _unadvertise(self, client: RosbridgeClient, message: Message) -> None:
        client.advertised.pop(name_of(message, "topic"), None)

    def _check_publisher(self, topic: str, type: str) -> None:
        """Refuse a client that would publish a topic of the run, or one with another type."""
        published, subscribed = self.graph.published.get(topic), self.graph.subscribed.get(topic)
        if published is not None and published != type:
            raise BadRequest(f"{topic} is of type {published}, not {type}")
        if published is not None and topic != "/tf":
            raise BadRequest(f"only the run publishes {topic}")
        if subscribed is not None and (topic, type) not in self.graph.callbacks:
            raise BadRequest(f"{topic} is of type {subscribed}, not {type}")

    def _publish(self, client: RosbridgeClient, message: Message) -> None:
        topic = name_of(message, "topic")
        type = client.advertised.get(topic)
        if type is None:
            type = _type_of(message) if message.get("type") else self.graph.subscribed.get(topic)
            if type is None:
                raise BadRequest(f"{topic} has to be advertised with its type first")
            self._check_publisher(topic, type)
            self.on_advertise(topic)
        values = message.get("msg")
        if not isinstance(values, dict):
            raise BadRequest("publish needs msg, an object")
        published = make_message(type, values)
        callback = self.graph.callbacks.get((topic, type))
        if callback is not None:
            if not self._may_post():
                raise BadRequest(f"{topic}: too many messages wait for the run to continue")
            callback(published)
        if topic in self.subscribed:
            self.publish(topic, message_encoder(type, to_bytes(published), self.now()))

    def _subscribe(self, client: RosbridgeClient, message: Message) -> None:
        topic = name_of(message, "topic")
        if message.get("type"):
            type = _type_of(message)
            known = self.graph.subscribed.get(topic) or self.graph.published.get(topic, type)
            if known != type and (topic, type) not in self.graph.callbacks:
                raise BadRequest(f"{topic} is of type {known}, not {type}")
        throttle = number_of(message, "throttle_rate", MAX_THROTTLE)
        queue_length = number_of(message, "queue_length", 1e9)
        fragment_size = number_of(message, "fragment_size", 1e9)
        fragment_size = max(int(fragment_size), 100) if fragment_size else 0
        compression = message.get("compression") or NONE
        if compression not in COMPRESSIONS:
            text = f"compression {str(compression)[:80]!r} is not offered"
            text = f"{text} ({', '.join(COMPRESSIONS)}): messages are plain JSON"
            client.send_status("warning", text, message.get("id"))
            compression = NONE
        options = SubscribeOptions(throttle / 1000.0, int(queue_length), fragment_size, compression)
        client.subscribe(topic, str(message.get("id")), options)
        self._update_subscribed()
        latched = self.graph.latched.get(topic)
        if latched is not None and topic not in client.pending_latched:  # once for all that wait
            client.pending_latched.add(topic)
            self._start(latched, lambda messages: self._send_latched(client, topic, messages))

    def _send_latched(self, client: RosbridgeClient, topic: str, messages: Any) -> None:
        client.pending_latched.discard(topic)
        if not isinstance(messages, Exception):
            for encode in messages:
                self._send([client], topic, encode)

    def _unsubscribe(self, client: RosbridgeClient, message: Message) -> None:
        id = message.get("id")
        client.unsubscribe(name_of(message, "topic"), None if id is None else str(id))
        self._update_subscribed()

    def _update_subscribed(self) -> None:
        subscribed = frozenset(t for client in self.clients for t in client.subscriptions)
        if subscribed != self.subscribed:  # the bridge compares by identity
            self.subscribed = subscribed

    # Services.

    def _call_service(self, client: RosbridgeClient, message: Message) -> None:
        name, id = name_of(message, "service"), message.get("id")
        try:
            service = self.graph.services.get(name)
            if service is None:
                raise BadRequest(f"no service {name}")
            if client.pending_calls >= MAX_CALLS:
                raise BadRequest(f"{MAX_CALLS} calls have not been answered yet")
            request = _arguments(service, message.get("args"))
        except AstrayError as error:
            self._respond(client, name, id, error)
            return
        client.pending_calls += 1
        more = {"still_wanted": lambda: not client.has_left} if service.is_long else {}

        def call() -> Any:
            return None if client.has_left else service.call(request, **more)

        def reply(outcome: Any) -> None:
            client.pending_calls -= 1
            if not client.has_left:
                self._respond(client, name, id, outcome)

        (self.start_long if service.is_long else self._start)(call, reply)

    def _respond(self, client: RosbridgeClient, service: str, id: object, outcome: Any) -> None:
        has_failed = isinstance(outcome, Exception)
        if has_failed and not isinstance(outcome, AstrayError):
            outcome = f"{type(outcome).__name__}: {outcome}"
        with_id = {} if id is None else {"id": id}
        values = str(outcome)[:1000] if has_failed else outcome
        response = {"service": service, "values": values, "result": not has_failed}
        client.queue.reply(to_json({"op": "service_response", **with_id, **response}))

    # The rest.

    def _set_level(self, client: RosbridgeClient, message: Message) -> None:
        level = text_of(message, "level")
        if level not in LEVELS:
            raise BadRequest(f"level is one of {', '.join(LEVELS)}")
        client.level = level

    def _fragment(self, client: RosbridgeClient, message: Message) -> None:
        whole = client.fragments.add(message)
        if whole is not None:
            if parse(whole)["op"] == "fragment" or len(whole) > MAX_BYTES:
                raise BadRequest("a fragmented message holds no fragments")
            self.execute(client, whole)

    def _ignore(self, client: RosbridgeClient, message: Message) -> None:
        """Do nothing: a client's own status, or a response to a call that the run never makes."""


def _type_of(message: Message) -> str:
    type = full_name(text_of(message, "type"))
    if not is_known(type):
        raise BadRequest(f"unknown message type {type[:80]!r}")
    return type


def _arguments(service: Service, arguments: Any) -> dict[str, Any]:
    """The fields of a request: by name, or in their order."""
    if arguments is None:
        return {}
    if isinstance(arguments, dict):
        return arguments
    if isinstance(arguments, list) and len(arguments) <= len(service.fields):
        return dict(zip(service.fields, arguments, strict=False))
    raise BadRequest(f"args are an object, or a list of {', '.join(service.fields) or 'nothing'}")
