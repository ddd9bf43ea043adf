"""Messages as CBOR: another maker's reader finds in them what the text says."""

from __future__ import annotations

import json
import math
from typing import Any

import cbor2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from astray.ros.messages.types import decode, to_plain
from astray.ros.publishers.publisher_set import PublisherSet
from astray.ros.rosbridge.background import serving
from astray.ros.rosbridge.cbor import TAGS, Packer, pack
from astray.ros.rosbridge.compression import CBOR, FORMS, PLAIN, RAW, Forms, said_by
from astray.ros.rosbridge.json import JsonWriter
from support.rosbridge import load, talking

TYPES = {tag: np.dtype(kind) for kind, tag in TAGS.items()}


def read(data: bytes) -> Any:
    return cbor2.loads(data, tag_hook=lambda tag, *_: np.frombuffer(tag.value, TYPES[tag.tag]))


def listed(value: Any) -> Any:
    """Arrays and byte strings as lists, to be compared with text; what is no number is None."""
    if isinstance(value, dict):
        return {key: listed(part) for key, part in value.items()}
    if isinstance(value, (np.ndarray, list, bytes)):
        return [listed(part) for part in (value.tolist() if hasattr(value, "tolist") else value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**64), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(max_size=300),
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.text(), inner, max_size=30),
    max_leaves=60,
)


@given(values)
def test_another_reader_finds_what_was_packed(value: Any) -> None:
    assert cbor2.loads(pack(value)) == value


@pytest.mark.parametrize("length", [0, 1, 23, 24, 255, 256, 65535, 65536])
def test_lengths_of_every_width_are_told(length: int) -> None:
    assert cbor2.loads(pack("x" * length)) == "x" * length
    assert cbor2.loads(pack([0] * length)) == [0] * length


@pytest.mark.parametrize("kind", [*TAGS, ">f8", ">i4"])
def test_arrays_are_typed_and_little_endian(kind: str) -> None:
    given = np.array([1, 2, 100], kind)
    found = read(pack(given))
    assert found.dtype == np.dtype(kind).newbyteorder("<")
    assert np.array_equal(found, given)
    assert read(pack(given[::2])).tolist() == [1, 100]


def test_bytes_are_a_byte_string_and_truth_values_a_list() -> None:
    assert cbor2.loads(pack(np.array([1, 255], np.uint8))) == b"\x01\xff"
    assert cbor2.loads(pack(np.array([True, False]))) == [True, False]


def test_a_number_that_does_not_fit_is_refused() -> None:
    with pytest.raises(OverflowError, match="64 bits"):
        pack(2**64)


def test_all_that_a_run_says_is_the_same_as_text_and_packed() -> None:
    sim = load()
    feed = PublisherSet(sim)
    sim.run(0.5)
    assert len(feed.publishers) > 7
    for speaker in feed.publishers:
        messages = speaker.serialize(speaker.sample(speaker.rows))
        texts = JsonWriter(speaker.layout).write(messages.columns)
        packed = Packer(speaker.layout).write(messages.columns)
        for text, data, raw in zip(texts, packed, messages.as_bytes(), strict=True):
            assert listed(read(data)) == json.loads(text)
            message = decode(speaker.layout.type, raw)
            assert read(data).keys() == to_plain(message).keys()
            assert listed(read(pack(to_plain(message, arrays=True)))) == json.loads(text)


def test_each_form_is_made_once_and_of_all_messages_at_once() -> None:
    sim = load()
    speaker = PublisherSet(sim).publishers[0]
    messages = speaker.serialize(speaker.sample(speaker.rows))
    said = Forms(speaker.layout).of(messages, 1.25)(0)
    assert said(PLAIN) is said(PLAIN)
    assert said(CBOR) is said(CBOR)
    raw = cbor2.loads(said(RAW))
    assert raw == {"secs": 1, "nsecs": 250_000_000, "bytes": messages.as_bytes()[0]}
    alone = said_by(speaker.layout.type, messages.as_bytes()[0], 1.25)
    assert alone(PLAIN) == said(PLAIN)
    assert listed(read(alone(CBOR))) == listed(read(said(CBOR)))
    assert alone(RAW) == said(RAW)


def test_clients_hear_one_topic_each_in_the_form_that_it_asks_for() -> None:
    sim = load()
    with serving(sim) as wire:
        heard: dict[str, list[Any]] = {}
        for topic in ("/scan", "/map"):
            for form in FORMS:
                with talking(wire) as socket:
                    wish = {"op": "subscribe", "topic": topic, "compression": form}
                    socket.send(json.dumps(wish))
                    heard.setdefault(topic, []).append(socket.recv(timeout=30))
    for topic, (text, packed, raw) in heard.items():
        plain, binary, whole = json.loads(text), read(packed), read(raw)
        assert {said["topic"] for said in (plain, binary, whole)} == {topic}
        assert {said["op"] for said in (plain, binary, whole)} == {"publish"}
        assert listed(binary["msg"]).keys() == plain["msg"].keys()
        assert set(whole["msg"]) == {"secs", "nsecs", "bytes"}
    scans = [read(heard["/scan"][1])["msg"], json.loads(heard["/scan"][0])["msg"]]
    assert scans[0]["ranges"].dtype == np.float32
    assert len(scans[0]["ranges"]) == len(scans[1]["ranges"]) == 60
    grids = [read(heard["/map"][1])["msg"], json.loads(heard["/map"][0])["msg"]]
    assert grids[0]["data"].dtype == np.int8
    assert grids[0]["data"].tolist() == grids[1]["data"]
    raw = decode("nav_msgs/msg/OccupancyGrid", read(heard["/map"][2])["msg"]["bytes"])
    assert raw.data.tolist() == grids[1]["data"]
