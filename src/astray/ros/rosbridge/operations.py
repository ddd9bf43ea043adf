"""What is done with each message of a client: topics, services and what goes wrong with them.

All of it happens in the one thread of the server, but for services, which may have to wait.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from astray.errors import AstrayError
from astray.ros.messages import full_name, is_known, make_message, to_bytes
from astray.ros.rosbridge.client import MOST_TOPICS, RosbridgeClient, Wish
from astray.ros.rosbridge.compression import FORMS, PLAIN, Telling, said_by, whole
from astray.ros.rosbridge.json import to_text
from astray.ros.rosbridge.protocol import (
    LEVELS,
    MOST_BYTES,
    BadRequest,
    name_of,
    number_of,
    parse,
    text_of,
)
from astray.ros.services import Service

MOST_CALLS = 32  # of services by one client that have not been answered
LONGEST_THROTTLE = 3_600_000.0  # ms
Hear = Callable[[Any], None]


@dataclass
class TopicGraph:
    """What there is to talk to: topics that are said and heard, and services."""

    said: dict[str, str] = field(default_factory=dict)
    """The type of each topic that the run speaks on."""
    heard: dict[str, str] = field(default_factory=dict)
    """The usual type of each topic that it listens to."""
    ears: dict[tuple[str, str], Hear] = field(default_factory=dict)
    """Who listens to a topic, by its name and a type."""
    latched: dict[str, Callable[[], list[Telling]]] = field(default_factory=dict)
    """Messages that newcomers are told."""
    services: dict[str, Service] = field(default_factory=dict)


Reply = Callable[[Any], None]
Start = Callable[[Callable[[], Any], Reply], None]
"""Lets something that may wait be done elsewhere, and the outcome or exception be told here."""


class OperationHub:
    """The clients of a run."""

    def __init__(self, graph: TopicGraph, start: Start, may_post: Callable[[], bool]) -> None:
        self.graph, self._start, self._may_post = graph, start, may_post
        self.start_long = start
        """Lets calls be done that may take minutes, so that they keep nobody from the others."""
        self.now: Callable[[], float] = lambda: 0.0
        """The time of the run, s."""
        self.on_speaker: Callable[[str], None] = lambda topic: None
        """Told when somebody begins to speak on a topic."""
        self.clients: list[RosbridgeClient] = []
        self.wanted: frozenset[str] = frozenset()
        """The topics that someone hears; another set whenever that changes."""
        self._ops: dict[str, Callable[[RosbridgeClient, Mapping[str, Any]], None]] = {
            "advertise": self._advertise,
            "unadvertise": self._unadvertise,
            "publish": self._publish,
            "subscribe": self._subscribe,
            "unsubscribe": self._unsubscribe,
            "call_service": self._call,
            "set_level": self._set_level,
            "fragment": self._fragment,
            "status": self._ignore,
            "service_response": self._ignore,
        }

    def add(self, client: RosbridgeClient) -> None:
        """Someone has come."""
        self.clients.append(client)

    def remove(self, client: RosbridgeClient) -> None:
        """Someone has left."""
        self.clients.remove(client)
        client.has_left = True
        client.subscriptions.clear()
        self._note_wanted()

    def handle(self, client: RosbridgeClient, text: str | bytes) -> None:
        """Do what a message asks for, or tell what is wrong with it; nothing else comes of it."""
        message: Mapping[str, Any] = {}
        try:
            message = parse(text)
            op = self._ops.get(message["op"])
            if op is None:
                raise BadRequest(f"no op {message['op'][:80]!r} ({', '.join(self._ops)})")
            op(client, message)
        except AstrayError as problem:
            client.status("error", str(problem)[:1000], message.get("id"))
        except Exception as problem:  # noqa: BLE001 - no message is a reason to lose a client
            text = f"{type(problem).__name__}: {problem}"
            client.status("error", text[:1000], message.get("id"))

    def publish(self, topic: str, said: Telling) -> None:
        """Tell everyone who hears a topic a message of it, each in the form that it wants."""
        self._tell([c for c in self.clients if topic in c.subscriptions], topic, said)

    def _tell(self, listeners: Iterable[RosbridgeClient], topic: str, said: Telling) -> None:
        made: dict[str, str | bytes] = {}
        for client in listeners:
            subscription = client.subscriptions.get(topic)
            if subscription is not None:
                form = subscription.form
                if form not in made:
                    made[form] = whole(topic, said(form))
                client.publish(topic, made[form])

    # Topics.

    def _advertise(self, client: RosbridgeClient, message: Mapping[str, Any]) -> None:
        topic, type = name_of(message, "topic"), _type_of(message)
        self._check_speaker(topic, type)
        if topic not in client.advertised and len(client.advertised) >= MOST_TOPICS:
            raise BadRequest(f"a client speaks on at most {MOST_TOPICS} topics")
        client.advertised[topic] = type
        self.on_speaker(topic)

    def _unadvertise(self, client: RosbridgeClient, message: Mapping[str, Any]) -> None:
        client.advertised.pop(name_of(message, "topic"), None)

    def _check_speaker(self, topic: str, type: str) -> None:
        """Refuse those who would speak in the place of the run, or not be understood."""
        said, heard = self.graph.said.get(topic), self.graph.heard.get(topic)
        if said is not None and said != type:
            raise BadRequest(f"{topic} is of type {said}, not {type}")
        if said is not None and topic != "/tf":
            raise BadRequest(f"only the run speaks on {topic}")
        if heard is not None and (topic, type) not in self.graph.ears:
            raise BadRequest(f"{topic} is heard as {heard}, not as {type}")

    def _publish(self, client: RosbridgeClient, message: Mapping[str, Any]) -> None:
        topic = name_of(message, "topic")
        type = client.advertised.get(topic)
        if type is None:
            type = _type_of(message) if message.get("type") else self.graph.heard.get(topic)
            if type is None:
                raise BadRequest(f"{topic} has to be advertised with its type first")
            self._check_speaker(topic, type)
            self.on_speaker(topic)
        values = message.get("msg")
        if not isinstance(values, dict):
            raise BadRequest("publish needs msg, an object")
        made = make_message(type, values)
        hear = self.graph.ears.get((topic, type))
        if hear is not None:
            if not self._may_post():
                raise BadRequest(f"{topic}: too much waits already for the run to go on")
            hear(made)
        if topic in self.wanted:
            self.publish(topic, said_by(type, to_bytes(made), self.now()))

    def _subscribe(self, client: RosbridgeClient, message: Mapping[str, Any]) -> None:
        topic = name_of(message, "topic")
        if message.get("type"):
            type = _type_of(message)
            known = self.graph.heard.get(topic) or self.graph.said.get(topic, type)
            if known != type and (topic, type) not in self.graph.ears:
                raise BadRequest(f"{topic} is of type {known}, not {type}")
        throttle = number_of(message, "throttle_rate", LONGEST_THROTTLE)
        length = number_of(message, "queue_length", 1e9)
        fragment = number_of(message, "fragment_size", 1e9)
        size = max(int(fragment), 100) if fragment else 0
        form = message.get("compression") or PLAIN
        if form not in FORMS:
            text = f"compression {str(form)[:80]!r} is not offered ({', '.join(FORMS)})"
            client.status("warning", f"{text}: messages are plain JSON", message.get("id"))
            form = PLAIN
        wish = Wish(throttle / 1000.0, int(length), size, form)
        client.subscribe(topic, str(message.get("id")), wish)
        self._note_wanted()
        latched = self.graph.latched.get(topic)
        if latched is not None and topic not in client.awaited:  # once for all that ask meanwhile
            client.awaited.add(topic)
            self._start(latched, lambda all_: self._tell_latched(client, topic, all_))

    def _tell_latched(self, client: RosbridgeClient, topic: str, all_: Any) -> None:
        client.awaited.discard(topic)
        if not isinstance(all_, Exception):
            for said in all_:
                self._tell([client], topic, said)

    def _unsubscribe(self, client: RosbridgeClient, message: Mapping[str, Any]) -> None:
        id = message.get("id")
        client.unsubscribe(name_of(message, "topic"), None if id is None else str(id))
        self._note_wanted()

    def _note_wanted(self) -> None:
        wanted = frozenset(t for client in self.clients for t in client.subscriptions)
        if wanted != self.wanted:  # the run looks anew at another set
            self.wanted = wanted

    # Services.

    def _call(self, client: RosbridgeClient, message: Mapping[str, Any]) -> None:
        name, id = name_of(message, "service"), message.get("id")
        try:
            service = self.graph.services.get(name)
            if service is None:
                raise BadRequest(f"no service {name}")
            if client.calls >= MOST_CALLS:
                raise BadRequest(f"{MOST_CALLS} calls have not been answered yet")
            request = _arguments(service, message.get("args"))
        except AstrayError as problem:
            self._respond(client, name, id, problem)
            return
        client.calls += 1
        more = {"still_wanted": lambda: not client.has_left} if service.is_long else {}

        def answer() -> Any:
            return None if client.has_left else service.call(request, **more)

        def reply(outcome: Any) -> None:
            client.calls -= 1
            if not client.has_left:
                self._respond(client, name, id, outcome)

        (self.start_long if service.is_long else self._start)(answer, reply)

    def _respond(self, client: RosbridgeClient, service: str, id: object, outcome: Any) -> None:
        failed = isinstance(outcome, Exception)
        if failed and not isinstance(outcome, AstrayError):
            outcome = f"{type(outcome).__name__}: {outcome}"
        about = {} if id is None else {"id": id}
        values = str(outcome)[:1000] if failed else outcome
        response = {"service": service, "values": values, "result": not failed}
        client.say(to_text({"op": "service_response", **about, **response}))

    # The rest.

    def _set_level(self, client: RosbridgeClient, message: Mapping[str, Any]) -> None:
        level = text_of(message, "level")
        if level not in LEVELS:
            raise BadRequest(f"level is one of {', '.join(LEVELS)}")
        client.level = level

    def _fragment(self, client: RosbridgeClient, message: Mapping[str, Any]) -> None:
        whole = client.fragments.add(message)
        if whole is not None:
            inner = parse(whole)
            if inner["op"] == "fragment" or len(whole) > MOST_BYTES:
                raise BadRequest("a fragmented message holds no fragments")
            self.handle(client, whole)

    def _ignore(self, client: RosbridgeClient, message: Mapping[str, Any]) -> None:
        """What a client says of itself, and answers to what nobody asked."""


def _type_of(message: Mapping[str, Any]) -> str:
    type = full_name(text_of(message, "type"))
    if not is_known(type):
        raise BadRequest(f"no message type {type[:80]!r}")
    return type


def _arguments(service: Service, given: Any) -> dict[str, Any]:
    """The fields of a request: by name, or in their order."""
    if given is None:
        return {}
    if isinstance(given, dict):
        return given
    if isinstance(given, list) and len(given) <= len(service.fields):
        return dict(zip(service.fields, given, strict=False))
    raise BadRequest(f"args are an object, or a list of {', '.join(service.fields) or 'nothing'}")
