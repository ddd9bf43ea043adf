"""One client: what it subscribes to, and how its messages are throttled and queued."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from astray.ros.rosbridge.compression import NONE
from astray.ros.rosbridge.json import to_json
from astray.ros.rosbridge.protocol import LEVELS, BadRequest, Fragments
from astray.server import Payload, SendChannel, SendQueue

MAX_WAITING = 100  # messages of one topic that wait, unless the client asks for less
MAX_BYTES = 32 << 20  # that wait for one client
MAX_TOPICS = 1000  # that one client may advertise, and subscriptions that it may have
MAX_PER_TOPIC = 100  # subscriptions of one client to one topic
CallLater = Callable[[float, Callable[[], None]], object]


@dataclass
class SubscribeOptions:
    """The options of a subscription."""

    throttle: float = 0.0  # s of real time between two messages
    queue_length: int = 0
    fragment_size: int = 0
    compression: str = NONE


@dataclass(eq=False)
class ClientSubscription:
    """A topic that a client subscribes to, maybe several times, under several ids."""

    options: dict[str, SubscribeOptions] = field(default_factory=dict)
    """Of each id."""
    channel: SendChannel = field(default_factory=SendChannel)
    """The messages that may be sent now."""
    throttled: deque[Payload] = field(default_factory=deque)
    """The messages that wait for `next_time`, because they come faster than asked for."""
    next_time: float = 0.0
    """When the next message may be sent, s of `time.monotonic`."""
    has_timer: bool = False
    """Whether a timer will release the next throttled message."""

    @property
    def throttle(self) -> float:
        """The shortest time between two messages that was asked for."""
        return min((one.throttle for one in self.options.values()), default=0.0)

    @property
    def queue_length(self) -> int:
        """The shortest queue that was asked for; 0 for none."""
        return min((one.queue_length for one in self.options.values()), default=0)

    @property
    def fragment_size(self) -> int:
        """The smallest fragments that were asked for; 0 for whole messages."""
        sizes = [one.fragment_size for one in self.options.values() if one.fragment_size]
        return min(sizes, default=0)

    @property
    def compression(self) -> str:
        """The newest compression that was asked for: the client understands it."""
        return next((one.compression for one in reversed(self.options.values())), NONE)


class RosbridgeClient:
    """The state of one client. `call_later` calls a function after some seconds."""

    def __init__(self, name: str, call_later: CallLater) -> None:
        self.name = name
        self.queue = SendQueue(MAX_BYTES)
        self.level = "error"
        self.subscriptions: dict[str, ClientSubscription] = {}
        self.advertised: dict[str, str] = {}
        """The types of the topics that it publishes on."""
        self.fragments = Fragments()
        self.pending_calls = 0
        """The services that it has called and that have not answered."""
        self.pending_latched: set[str] = set()
        """The topics of which it is about to be sent the latched messages."""
        self.has_left = False
        self._call_later = call_later
        self._subscription_count = self._fragmented_count = 0

    # Subscriptions.

    def subscribe(self, topic: str, id: str, options: SubscribeOptions) -> None:
        """Subscribe to a topic, or change the options of a subscription."""
        subscription = self.subscriptions.get(topic) or ClientSubscription()
        if id not in subscription.options:
            if self._subscription_count >= MAX_TOPICS:
                raise BadRequest(f"a client has at most {MAX_TOPICS} subscriptions")
            if len(subscription.options) >= MAX_PER_TOPIC:
                raise BadRequest(f"{topic} is subscribed to {MAX_PER_TOPIC} times already")
            self._subscription_count += 1
        self.subscriptions[topic] = subscription
        subscription.options[id] = options

    def unsubscribe(self, topic: str, id: str | None) -> None:
        """End one subscription to a topic, or all of them."""
        subscription = self.subscriptions.get(topic)
        if subscription is None:
            return
        ended = [one for one in subscription.options if id is None or one == id]
        for one in ended:
            del subscription.options[one]
        self._subscription_count -= len(ended)
        if not subscription.options:
            del self.subscriptions[topic]
            while subscription.throttled:
                self.queue.size -= len(subscription.throttled.popleft())

    # Messages to the client.

    def send_status(self, level: str, text: str, id: object = None) -> None:
        """Queue a status message, if the client's level includes it."""
        if LEVELS.index(level) <= LEVELS.index(self.level):
            with_id = {} if id is None else {"id": id}
            self.queue.reply(to_json({"op": "status", "level": level, "msg": text, **with_id}))

    def publish(self, topic: str, message: Payload) -> None:
        """Queue a message of a topic, if the client subscribes to it and it is not too soon."""
        subscription = self.subscriptions.get(topic)
        if subscription is None:
            return
        now = time.monotonic()
        if now < subscription.next_time or subscription.throttled:
            if subscription.queue_length:
                self._throttle(subscription, message)
                self._start_timer(topic, subscription, max(0.0, subscription.next_time - now))
            return
        subscription.next_time = now + subscription.throttle
        self._queue(subscription, message)

    def _throttle(self, subscription: ClientSubscription, message: Payload) -> None:
        """Keep a message for later; drop the oldest if too many or too many bytes wait."""
        throttled, limit = subscription.throttled, subscription.queue_length
        throttled.append(message)
        self.queue.size += len(message)
        while throttled and (len(throttled) > limit or self.queue.size > self.queue.max_bytes):
            self.queue.size -= len(throttled.popleft())
            self.queue.dropped += 1

    def _start_timer(self, topic: str, subscription: ClientSubscription, seconds: float) -> None:
        if subscription.throttled and not subscription.has_timer:
            subscription.has_timer = True
            self._call_later(seconds, lambda: self._release(topic, subscription))

    def _release(self, topic: str, subscription: ClientSubscription) -> None:
        """Queue the next throttled message."""
        subscription.has_timer = False
        if subscription.throttled and self.subscriptions.get(topic) is subscription:
            subscription.next_time = time.monotonic() + subscription.throttle
            message = subscription.throttled.popleft()
            self.queue.size -= len(message)
            self._queue(subscription, message)
            self._start_timer(topic, subscription, subscription.throttle)

    def _queue(self, subscription: ClientSubscription, message: Payload) -> None:
        limit = None  # the fragments of a message stay together
        if not subscription.fragment_size:
            limit = subscription.queue_length or MAX_WAITING
        for part in self._fragments_of(message, subscription.fragment_size):
            self.queue.publish(part, subscription.channel, limit)

    def _fragments_of(self, message: Payload, size: int) -> Sequence[Payload]:
        if not size or len(message) <= size or isinstance(message, bytes):
            return [message]
        self._fragmented_count += 1
        pieces = [message[at : at + size] for at in range(0, len(message), size)]
        head = {"op": "fragment", "id": str(self._fragmented_count), "total": len(pieces)}
        return [to_json({**head, "data": piece, "num": k}) for k, piece in enumerate(pieces)]
