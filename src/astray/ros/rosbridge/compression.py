"""The forms in which a client may want the messages of a topic, its `compression`.

Text is what rosbridge is made of; `cbor` is smaller and sooner made; `cbor-raw` is the message as
ROS 2 has it, for who can take that apart.
"""

from __future__ import annotations

from collections.abc import Callable

from astray.ros.messages import MessageLayout, decode, to_plain
from astray.ros.publishers import Messages
from astray.ros.rosbridge.cbor import Packer, pack
from astray.ros.rosbridge.json import JsonWriter, to_text

PLAIN, CBOR, RAW = FORMS = ("none", "cbor", "cbor-raw")
Telling = Callable[[str], str | bytes]
"""Gives what a message says, in the form of this name."""


def whole(topic: str, said: str | bytes) -> str | bytes:
    """The message of rosbridge that tells what is said on a topic."""
    if isinstance(said, str):
        return f'{{"op":"publish","topic":{to_text(topic)},"msg":{said}}}'
    return b"\xa3" + pack("op") + pack("publish") + pack("topic") + pack(topic) + pack("msg") + said


def said_by(type: str, data: bytes, seconds: float) -> Telling:
    """One message, of which these are the bytes, said at some time of the run."""

    def said(form: str) -> str | bytes:
        if form == RAW:
            return _raw(data, seconds)
        message = decode(type, data)
        if form == CBOR:
            return pack(to_plain(message, arrays=True))
        return to_text(to_plain(message))

    return said


def _raw(data: bytes, seconds: float) -> bytes:
    sec, nanosec = divmod(round(seconds * 1e9), 1_000_000_000)
    return pack({"secs": sec, "nsecs": nanosec, "bytes": data})


class Forms:
    """Writes the messages of a speaker in each form that somebody wants."""

    def __init__(self, layout: MessageLayout) -> None:
        self._layout = layout
        self._writers: dict[str, JsonWriter | Packer] = {}

    def of(self, messages: Messages, seconds: float) -> Callable[[int], Telling]:
        """Some messages, said at some time of the run; all are put into a form at once."""
        made: dict[str, list[str] | list[bytes]] = {}

        def nth(k: int) -> Telling:
            def said(form: str) -> str | bytes:
                if form not in made:
                    made[form] = self._write(form, messages, seconds)
                return made[form][k]

            return said

        return nth

    def _write(self, form: str, messages: Messages, seconds: float) -> list[str] | list[bytes]:
        if form == RAW:
            return [_raw(data, seconds) for data in messages.as_bytes()]
        return self._writer(form).write(messages.columns)

    def _writer(self, form: str) -> JsonWriter | Packer:
        if form not in self._writers:
            self._writers[form] = (Packer if form == CBOR else JsonWriter)(self._layout)
        return self._writers[form]
