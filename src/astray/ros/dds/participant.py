"""DDS participant, writers and readers on Cyclone DDS, with the quality of service of ROS 2.

Messages are written and read as CDR bytes, since the encoder of Cyclone DDS's Python package is
thirty times slower than ours. That needs private names of the package; where a version lacks them,
the public ones do the same, slowly.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from cyclonedds.core import (
    DDSException,
    GuardCondition,
    InstanceState,
    ReadCondition,
    SampleState,
    ViewState,
    WaitSet,
)
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.pub import DataWriter
from cyclonedds.qos import Policy, Qos
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

from astray.errors import AstrayError
from astray.ros.dds.discovery import Discovery
from astray.ros.dds.idl import dds_topic_name, idl_struct
from astray.ros.messages import type_hash as hash_of_type

try:
    from cyclonedds._clayer import ddspy_take, ddspy_write
except ImportError:  # pragma: no cover - another version of the package
    ddspy_take = ddspy_write = None

WRITER_DEPTH = 10  # messages kept for slow readers
READER_DEPTH = 256  # received messages kept until they are taken
MAX_TAKEN = 64  # messages taken at once
RELIABLE = Policy.Reliability.Reliable(duration(milliseconds=100))
ANY_STATE = SampleState.Any | ViewState.Any | InstanceState.Any
_domains: dict[int, Domain] = {}
"""The domains of this process: the first participant of a domain sets its configuration."""


class DdsError(AstrayError):
    """Cyclone DDS returned an error."""


@contextlib.contextmanager
def _named_errors(action: str) -> Iterator[None]:
    try:
        yield
    except DDSException as problem:
        raise DdsError(f"{action}: {problem}") from None


class DdsWriter:
    """Writes one topic."""

    def __init__(self, writer: DataWriter[Any]) -> None:
        self._writer, self._ref = writer, writer._ref
        self.gid: bytes = writer.guid.bytes
        """Its address, 16 bytes."""

    def write(self, message: bytes) -> None:
        """Write a message.

        Args:
            message: CDR bytes, header included.

        Raises:
            DdsError: A reliable reader does not keep up.
        """
        if ddspy_write is None:  # pragma: no cover - another version of the package
            self._write_by_public_names(message)
            return
        padding = -len(message) % 4
        problem = ddspy_write(self._ref, message + bytes(padding) if padding else message)
        if problem < 0:
            raise DdsError(str(DDSException(problem)))

    def _write_by_public_names(self, message: bytes) -> None:
        with _named_errors("publish"):
            self._writer.write(self._writer.data_type.deserialize(message))

    @property
    def readers(self) -> int:
        """How many readers it has."""
        return len(self._writer.get_matched_subscriptions())


class DdsReader:
    """Reads one topic."""

    def __init__(self, reader: DataReader[Any]) -> None:
        self._reader, self._ref = reader, reader._ref
        self.condition = ReadCondition(reader, ANY_STATE)
        """True while there are messages to take."""
        self.gid: bytes = reader.guid.bytes
        """Its address, 16 bytes."""

    def take(self) -> list[bytes]:
        """The messages that were received, CDR bytes."""
        if ddspy_take is None:  # pragma: no cover - another version of the package
            return self._take_by_public_names()
        taken = ddspy_take(self._ref, ANY_STATE, MAX_TAKEN)
        if isinstance(taken, int):
            raise DdsError(str(DDSException(taken)))
        # A sample without valid data only reports that a writer has left.
        return [bytes(data) for data, info in taken if info.valid_data]

    def _take_by_public_names(self) -> list[bytes]:
        with _named_errors("take"):
            taken = self._reader.take(MAX_TAKEN)
        kind = self._reader.topic.data_type
        return [s.serialize(use_version_2=False) for s in taken if isinstance(s, kind)]

    @property
    def writers(self) -> int:
        """How many writers it has."""
        return len(self._reader.get_matched_publications())


class Participant:
    """A participant of a DDS domain, with its writers and readers.

    Args:
        discovery: The domain, and how other participants are found.

    Raises:
        DdsError: The domain cannot be joined.
    """

    def __init__(self, discovery: Discovery) -> None:
        config = discovery.config()
        with _named_errors(f"join ROS 2 domain {discovery.domain}"):
            if config is not None and discovery.domain not in _domains:
                _domains[discovery.domain] = Domain(discovery.domain, config)
            qos = Qos(Policy.Userdata(b"enclave=/;"))
            self._participant: Any = DomainParticipant(discovery.domain, qos=qos)
            self._wait_set = WaitSet(self._participant)
            self._guard = GuardCondition(self._participant)
            self._wait_set.attach(self._guard)
        self.gid: bytes = self._participant.guid.bytes
        """Its address, 16 bytes."""
        self._topics: list[Any] = []

    def writer(
        self,
        topic: str,
        type: str,
        *,
        latched: bool = False,
        depth: int = WRITER_DEPTH,
        struct: Any = None,
        type_hash: str | None = None,
    ) -> DdsWriter:
        """A writer, always reliable: that matches reliable and best-effort readers.

        Args:
            topic: The ROS 2 topic, or without a slash a DDS topic.
            type: The message type.
            latched: Whether late readers get the last messages (transient local).
            depth: How many messages are kept.
            struct: The IDL of the type, if it is not that of the message type.
            type_hash: The hash of the type, if it is not that of the message type.

        Raises:
            DdsError: The writer cannot be made.
        """
        history = Policy.History.KeepLast(depth)
        qos = [RELIABLE, history]
        if latched:
            qos += [Policy.Durability.TransientLocal]
            qos += [Policy.DurabilityService(duration(seconds=0), history, -1, -1, -1)]
        dds_topic = self._topic(topic, type, struct)
        with _named_errors(f"publish {topic}"):
            profile = self._qos(type, type_hash, *qos)
            return DdsWriter(DataWriter(self._participant, dds_topic, qos=profile))

    def reader(self, topic: str, type: str, *, latched: bool = False) -> DdsReader:
        """A reader; best effort matches every writer.

        Args:
            topic: The ROS 2 topic, or without a slash a DDS topic.
            type: The message type.
            latched: Whether to get the last messages of latched writers; such a reader is reliable.

        Raises:
            DdsError: The reader cannot be made.
        """
        history = Policy.History.KeepLast(READER_DEPTH)
        qos = [Policy.Reliability.BestEffort, history]
        if latched:
            qos = [RELIABLE, history, Policy.Durability.TransientLocal]
        dds_topic = self._topic(topic, type, None)
        with _named_errors(f"subscribe to {topic}"):
            profile = self._qos(type, None, *qos)
            reader = DdsReader(DataReader(self._participant, dds_topic, qos=profile))
            self._wait_set.attach(reader.condition)
        return reader

    def _topic(self, topic: str, type: str, struct: Any) -> Any:
        name = dds_topic_name(topic) if topic.startswith("/") else topic
        with _named_errors(f"topic {topic}"):
            dds_topic = Topic(self._participant, name, struct or idl_struct(type))
        self._topics.append(dds_topic)
        return dds_topic

    def _qos(self, type: str, type_hash: str | None, *policies: Any) -> Qos:
        return Qos(
            *policies,
            Policy.DataRepresentation(use_cdrv0_representation=True),
            Policy.Userdata(f"typehash={type_hash or hash_of_type(type)};".encode()),
            Policy.IgnoreLocal.Participant,
        )

    def wait(self, seconds: float) -> None:
        """Wait until a reader has messages or `wake` is called, at most some seconds."""
        self._wait_set.wait(duration(seconds=seconds))

    def wake(self) -> None:
        """End the wait of now, or the next one."""
        self._guard.set(True)

    def close(self) -> None:
        """Leave the domain; its writers and readers cannot be used any more."""
        self._wait_set = self._guard = None
        participant, self._participant = self._participant, None
        if participant is not None:
            participant.__del__()
        self._topics.clear()
