"""One client: what it wants to hear, and what waits to be sent to it.

What is published waits in bounds: of each topic the newest messages, and no more bytes than it may
have outstanding. Answers are never dropped; whoever lets them pile up is cut off.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from astray.ros.rosbridge.compression import PLAIN
from astray.ros.rosbridge.json import to_text
from astray.ros.rosbridge.protocol import LEVELS, BadRequest, Fragments

MOST_WAITING = 100  # messages of one topic, unless asked for less
MOST_BYTES = 32 << 20  # waiting for one client
MOST_TOPICS = 1000  # that one client may speak on, and subscriptions that it may have
MOST_WISHES = 100  # subscriptions of one client to one topic
Later = Callable[[float, Callable[[], None]], object]


@dataclass
class Wish:
    """How one subscription wants a topic; a client may have several of one topic."""

    throttle: float = 0.0  # s of real time between two messages
    queue_length: int = 0
    fragment_size: int = 0
    form: str = PLAIN


@dataclass(eq=False)
class Subscription:
    """A topic that a client hears."""

    wishes: dict[str, Wish] = field(default_factory=dict)
    ready: deque[str | bytes] = field(default_factory=deque)
    """What may be sent now."""
    held: deque[str | bytes] = field(default_factory=deque)
    """What has to wait for its turn, where it comes faster than wanted."""
    next_turn: float = 0.0
    is_timed: bool = False
    """Whether somebody will look at what is held."""

    @property
    def throttle(self) -> float:
        """The shortest time between two messages that some wish has."""
        return min((wish.throttle for wish in self.wishes.values()), default=0.0)

    @property
    def queue_length(self) -> int:
        """The shortest queue that some wish has; 0 for none."""
        return min((wish.queue_length for wish in self.wishes.values()), default=0)

    @property
    def fragment_size(self) -> int:
        """The smallest fragments that some wish has; 0 for whole messages."""
        wanted = [wish.fragment_size for wish in self.wishes.values() if wish.fragment_size]
        return min(wanted, default=0)

    @property
    def form(self) -> str:
        """The form in which the newest wish wants it: one that a client has, it understands."""
        return next((wish.form for wish in reversed(self.wishes.values())), PLAIN)


class RosbridgeClient:
    """What a server knows of one client."""

    def __init__(self, name: str, later: Later, wake: Callable[[], None]) -> None:
        self.name = name
        self.level = "error"
        self.subscriptions: dict[str, Subscription] = {}
        self.advertised: dict[str, str] = {}
        """The types of the topics that it speaks on."""
        self.fragments = Fragments()
        self.calls = 0
        """Services that it has called and that have not answered."""
        self.awaited: set[str] = set()
        """Topics of which it is about to be told what newcomers are told."""
        self.has_left = False
        self.dropped = 0
        self.is_cut = False
        self._outbox: deque[str | bytes | Subscription] = deque()
        self._wishes = self._bytes = 0
        self._sent = 0
        self._later, self._wake = later, wake

    # What it wants.

    def subscribe(self, topic: str, id: str, wish: Wish) -> None:
        """Hear a topic."""
        subscription = self.subscriptions.get(topic) or Subscription()
        if id not in subscription.wishes:
            if self._wishes >= MOST_TOPICS:
                raise BadRequest(f"a client has at most {MOST_TOPICS} subscriptions")
            if len(subscription.wishes) >= MOST_WISHES:
                raise BadRequest(f"{topic} is subscribed to {MOST_WISHES} times already")
            self._wishes += 1
        self.subscriptions[topic] = subscription
        subscription.wishes[id] = wish

    def unsubscribe(self, topic: str, id: str | None) -> None:
        """Hear it no more, or not by this subscription."""
        subscription = self.subscriptions.get(topic)
        if subscription is None:
            return
        gone = [k for k in subscription.wishes if id is None or k == id]
        for k in gone:
            del subscription.wishes[k]
        self._wishes -= len(gone)
        if not subscription.wishes:
            del self.subscriptions[topic]
            while subscription.held:
                self._bytes -= len(subscription.held.popleft())

    # What it is sent.

    def say(self, text: str) -> None:
        """Queue an answer."""
        self._outbox.append(text)
        self._account(len(text))

    def status(self, level: str, text: str, id: object = None) -> None:
        """Tell how something went, if it wants to know."""
        if LEVELS.index(level) <= LEVELS.index(self.level):
            about = {} if id is None else {"id": id}
            self.say(to_text({"op": "status", "level": level, "msg": text, **about}))

    def publish(self, topic: str, text: str | bytes) -> None:
        """Queue a message of a topic that it hears."""
        subscription = self.subscriptions.get(topic)
        if subscription is None:
            return
        now = time.monotonic()
        if now < subscription.next_turn or subscription.held:
            if not subscription.queue_length:
                return
            self._hold(subscription, text)
            self._time(topic, subscription, max(0.0, subscription.next_turn - now))
            return
        subscription.next_turn = now + subscription.throttle
        self._queue(subscription, text)

    def _hold(self, subscription: Subscription, text: str | bytes) -> None:
        """Keep a message until its turn, unless too many or too many bytes wait."""
        held, most = subscription.held, subscription.queue_length
        held.append(text)
        self._bytes += len(text)
        while held and (len(held) > most or self._bytes > MOST_BYTES):
            self._bytes -= len(held.popleft())
            self.dropped += 1

    def _time(self, topic: str, subscription: Subscription, wait: float) -> None:
        if subscription.held and not subscription.is_timed:
            subscription.is_timed = True
            self._later(wait, lambda: self._release(topic, subscription))

    def _release(self, topic: str, subscription: Subscription) -> None:
        """Send the next message that was held back."""
        subscription.is_timed = False
        if subscription.held and self.subscriptions.get(topic) is subscription:
            subscription.next_turn = time.monotonic() + subscription.throttle
            text = subscription.held.popleft()
            self._bytes -= len(text)
            self._queue(subscription, text)
            self._time(topic, subscription, subscription.throttle)

    def _queue(self, subscription: Subscription, text: str | bytes) -> None:
        for part in self._parts(subscription, text):
            subscription.ready.append(part)
            self._outbox.append(subscription)
            self._account(len(part))
        most = subscription.queue_length or MOST_WAITING
        if not subscription.fragment_size and len(subscription.ready) > most:
            self._bytes -= len(subscription.ready.popleft())
            self._outbox.remove(subscription)
            self.dropped += 1

    def _parts(self, subscription: Subscription, text: str | bytes) -> Sequence[str | bytes]:
        size = subscription.fragment_size
        if not size or len(text) <= size or isinstance(text, bytes):
            return [text]
        self._sent += 1
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        about = {"op": "fragment", "id": str(self._sent), "total": len(pieces)}
        return [to_text({**about, "data": piece, "num": k}) for k, piece in enumerate(pieces)]

    def _account(self, size: int) -> None:
        self._bytes += size
        while self._bytes > MOST_BYTES and self._drop():
            self.dropped += 1
        self.is_cut |= self._bytes > MOST_BYTES
        self._wake()

    def _drop(self) -> bool:
        """Drop the oldest message that may be dropped."""
        for k, waiting in enumerate(self._outbox):
            if isinstance(waiting, Subscription):
                del self._outbox[k]
                self._bytes -= len(waiting.ready.popleft())
                return True
        return False

    def next(self, most: int = 1) -> list[str | bytes]:
        """What to send next, oldest first; nothing if nothing waits."""
        texts: list[str | bytes] = []
        while self._outbox and len(texts) < most:
            first = self._outbox.popleft()
            texts.append(first.ready.popleft() if isinstance(first, Subscription) else first)
            self._bytes -= len(texts[-1])
        return texts
