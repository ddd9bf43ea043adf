"""Messages as CBOR: an independent decoder reads the same values as from the text."""

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
from astray.ros.rosbridge import serving
from astray.ros.rosbridge.cbor import ARRAY_TAGS, CborWriter, encode_cbor
from astray.ros.rosbridge.compression import (
    CBOR,
    CBOR_RAW,
    COMPRESSIONS,
    NONE,
    MessageEncoder,
    message_encoder,
)
from astray.ros.rosbridge.json import JsonWriter
from support.rosbridge import connect_to, load

TYPES = {tag: np.dtype(kind) for kind, tag in ARRAY_TAGS.items()}


def read(data: bytes) -> Any:
    return cbor2.loads(data, tag_hook=lambda tag, *_: np.frombuffer(tag.value, TYPES[tag.tag]))


def as_lists(value: Any) -> Any:
    """Arrays and byte strings as lists, to compare with text; nan and infinity as None."""
    if isinstance(value, dict):
        return {key: as_lists(part) for key, part in value.items()}
    if isinstance(value, (np.ndarray, list, bytes)):
        return [as_lists(part) for part in (value.tolist() if hasattr(value, "tolist") else value)]
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
def test_an_independent_decoder_reads_what_was_encoded(value: Any) -> None:
    assert cbor2.loads(encode_cbor(value)) == value


@pytest.mark.parametrize("length", [0, 1, 23, 24, 255, 256, 65535, 65536])
def test_lengths_of_every_width_are_encoded(length: int) -> None:
    assert cbor2.loads(encode_cbor("x" * length)) == "x" * length
    assert cbor2.loads(encode_cbor([0] * length)) == [0] * length


@pytest.mark.parametrize("kind", [*ARRAY_TAGS, ">f8", ">i4"])
def test_arrays_are_typed_and_little_endian(kind: str) -> None:
    given = np.array([1, 2, 100], kind)
    found = read(encode_cbor(given))
    assert found.dtype == np.dtype(kind).newbyteorder("<")
    assert np.array_equal(found, given)
    assert read(encode_cbor(given[::2])).tolist() == [1, 100]


def test_bytes_are_a_byte_string_and_booleans_a_list() -> None:
    assert cbor2.loads(encode_cbor(np.array([1, 255], np.uint8))) == b"\x01\xff"
    assert cbor2.loads(encode_cbor(np.array([True, False]))) == [True, False]


def test_a_number_that_does_not_fit_is_refused() -> None:
    with pytest.raises(OverflowError, match="64 bits"):
        encode_cbor(2**64)


def test_every_message_of_a_run_is_the_same_as_json_and_as_cbor() -> None:
    sim = load()
    publishers = PublisherSet(sim).publishers
    sim.run(0.5)
    assert len(publishers) > 7
    for publisher in publishers:
        messages = publisher.serialize(publisher.sample(publisher.rows))
        texts = JsonWriter(publisher.layout).write(messages.columns)
        cbor = CborWriter(publisher.layout).write(messages.columns)
        for text, data, raw in zip(texts, cbor, messages.as_bytes(), strict=True):
            assert as_lists(read(data)) == json.loads(text)
            message = decode(publisher.layout.type, raw)
            assert read(data).keys() == to_plain(message).keys()
            assert as_lists(read(encode_cbor(to_plain(message, arrays=True)))) == json.loads(text)


def test_each_compression_is_encoded_once_for_all_messages() -> None:
    sim = load()
    publisher = PublisherSet(sim).publishers[0]
    messages = publisher.serialize(publisher.sample(publisher.rows))
    encode = MessageEncoder(publisher.layout).encoders(messages, 1.25)(0)
    assert encode(NONE) is encode(NONE)
    assert encode(CBOR) is encode(CBOR)
    raw = cbor2.loads(encode(CBOR_RAW))
    assert raw == {"secs": 1, "nsecs": 250_000_000, "bytes": messages.as_bytes()[0]}
    alone = message_encoder(publisher.layout.type, messages.as_bytes()[0], 1.25)
    assert alone(NONE) == encode(NONE)
    assert as_lists(read(alone(CBOR))) == as_lists(read(encode(CBOR)))
    assert alone(CBOR_RAW) == encode(CBOR_RAW)


def test_each_client_receives_a_topic_in_the_compression_that_it_wants() -> None:
    sim = load()
    with serving(sim) as bridge:
        received: dict[str, list[Any]] = {}
        for topic in ("/scan", "/map"):
            for compression in COMPRESSIONS:
                with connect_to(bridge) as socket:
                    request = {"op": "subscribe", "topic": topic, "compression": compression}
                    socket.send(json.dumps(request))
                    received.setdefault(topic, []).append(socket.recv(timeout=30))
    for topic, (text, cbor, raw) in received.items():
        plain, binary, whole = json.loads(text), read(cbor), read(raw)
        assert {message["topic"] for message in (plain, binary, whole)} == {topic}
        assert {message["op"] for message in (plain, binary, whole)} == {"publish"}
        assert as_lists(binary["msg"]).keys() == plain["msg"].keys()
        assert set(whole["msg"]) == {"secs", "nsecs", "bytes"}
    scans = [read(received["/scan"][1])["msg"], json.loads(received["/scan"][0])["msg"]]
    assert scans[0]["ranges"].dtype == np.float32
    assert len(scans[0]["ranges"]) == len(scans[1]["ranges"]) == 60
    grids = [read(received["/map"][1])["msg"], json.loads(received["/map"][0])["msg"]]
    assert grids[0]["data"].dtype == np.int8
    assert grids[0]["data"].tolist() == grids[1]["data"]
    raw = decode("nav_msgs/msg/OccupancyGrid", read(received["/map"][2])["msg"]["bytes"])
    assert raw.data.tolist() == grids[1]["data"]
