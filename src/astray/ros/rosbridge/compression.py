"""How the messages of a topic are encoded: the `compression` that a client subscribes with.

"none" is JSON text; "cbor" is smaller and quicker to make; "cbor-raw" has the message as the CDR
bytes of ROS 2, for clients that can deserialise those.
"""

from __future__ import annotations

from collections.abc import Callable

from astray.ros.messages import MessageLayout, decode, to_plain
from astray.ros.publishers import Messages
from astray.ros.rosbridge.cbor import CborWriter, encode_cbor
from astray.ros.rosbridge.json import JsonWriter, to_json
from astray.server import Payload

NONE, CBOR, CBOR_RAW = COMPRESSIONS = ("none", "cbor", "cbor-raw")
Encode = Callable[[str], Payload]
"""Encodes one message, given the compression."""


def publish_operation(topic: str, message: Payload) -> Payload:
    """The operation "publish" with an encoded message of a topic."""
    if isinstance(message, str):
        return f'{{"op":"publish","topic":{to_json(topic)},"msg":{message}}}'
    fields = ("op", "publish", "topic", topic, "msg")
    return b"\xa3" + b"".join(map(encode_cbor, fields)) + message  # a map of three fields


def message_encoder(type: str, data: bytes, seconds: float) -> Encode:
    """Encodes the message with these CDR bytes, published at a time of the run."""

    def encode(compression: str) -> Payload:
        if compression == CBOR_RAW:
            return _encode_raw(data, seconds)
        message = decode(type, data)
        if compression == CBOR:
            return encode_cbor(to_plain(message, arrays=True))
        return to_json(to_plain(message))

    return encode


def _encode_raw(data: bytes, seconds: float) -> bytes:
    sec, nanosec = divmod(round(seconds * 1e9), 1_000_000_000)
    return encode_cbor({"secs": sec, "nsecs": nanosec, "bytes": data})


class MessageEncoder:
    """Encodes the messages of a publisher, in each compression that a client asks for.

    Args:
        layout: The layout of the publisher's messages.
    """

    def __init__(self, layout: MessageLayout) -> None:
        self._layout = layout
        self._writers: dict[str, JsonWriter | CborWriter] = {}

    def encoders(self, messages: Messages, seconds: float) -> Callable[[int], Encode]:
        """The encoders of messages that are published at one time; all are encoded at once.

        Args:
            messages: The serialised messages.
            seconds: The time of the run, s.

        Returns:
            A function from the index of a message to its encoder.
        """
        encoded: dict[str, list[str] | list[bytes]] = {}

        def encoder(k: int) -> Encode:
            def encode(compression: str) -> Payload:
                if compression not in encoded:
                    encoded[compression] = self._encode_all(compression, messages, seconds)
                return encoded[compression][k]

            return encode

        return encoder

    def _encode_all(
        self, compression: str, messages: Messages, seconds: float
    ) -> list[str] | list[bytes]:
        if compression == CBOR_RAW:
            return [_encode_raw(data, seconds) for data in messages.as_bytes()]
        if compression not in self._writers:
            writer = CborWriter if compression == CBOR else JsonWriter
            self._writers[compression] = writer(self._layout)
        return self._writers[compression].write(messages.columns)
