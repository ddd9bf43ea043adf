"""The bus of ROS 2, by way of Cyclone DDS: the only module that knows it.

Messages go in and out as the CDR bytes that they are; the transport's own encoder is thirty times
slower. The names for that are private, so there is a second way through public ones.
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
from astray.ros.dds.idl import struct_of, topic_name

try:
    from cyclonedds._clayer import ddspy_take, ddspy_write
except ImportError:  # pragma: no cover - another version of the transport
    ddspy_take = ddspy_write = None

DEPTH = 10  # messages kept for those who read slowly
BACKLOG = 256  # messages kept of what was received, should we be slow
MOST = 64  # messages taken at once
ANY = SampleState.Any | ViewState.Any | InstanceState.Any
_domains: dict[int, Domain] = {}
"""The buses that this process is on: settings are those of the first who joined."""


class DdsError(AstrayError):
    """The transport could not do what it was asked for."""


@contextlib.contextmanager
def _said(what: str) -> Iterator[None]:
    try:
        yield
    except DDSException as problem:
        raise DdsError(f"{what}: {problem}") from None


class DdsWriter:
    """Publishes one topic."""

    def __init__(self, writer: DataWriter[Any]) -> None:
        self._writer, self._ref = writer, writer._ref
        self.gid: bytes = writer.guid.bytes

    def write(self, message: bytes) -> None:
        """Publish CDR bytes, header included."""
        if ddspy_write is None:  # pragma: no cover - another version of the transport
            self.write_slowly(message)
            return
        spare = -len(message) % 4
        problem = ddspy_write(self._ref, message + bytes(spare) if spare else message)
        if problem < 0:
            raise DdsError(str(DDSException(problem)))

    def write_slowly(self, message: bytes) -> None:
        """The same by public names alone."""
        with _said("publish"):
            self._writer.write(self._writer.data_type.deserialize(message))

    @property
    def readers(self) -> int:
        """How many others read it."""
        return len(self._writer.get_matched_subscriptions())


class DdsReader:
    """Subscribes to one topic."""

    def __init__(self, reader: DataReader[Any]) -> None:
        self._reader, self._ref = reader, reader._ref
        self.condition = ReadCondition(reader, ANY)
        self.gid: bytes = reader.guid.bytes

    def take(self) -> list[bytes]:
        """The messages that have come, as CDR bytes; what tells only that someone left is none."""
        if ddspy_take is None:  # pragma: no cover - another version of the transport
            return self.take_slowly()
        taken = ddspy_take(self._ref, ANY, MOST)
        if isinstance(taken, int):
            raise DdsError(str(DDSException(taken)))
        return [bytes(data) for data, info in taken if info.valid_data]

    def take_slowly(self) -> list[bytes]:
        """The same by public names alone."""
        with _said("take"):
            taken = self._reader.take(MOST)
        kind = self._reader.topic.data_type
        return [s.serialize(use_version_2=False) for s in taken if isinstance(s, kind)]

    @property
    def writers(self) -> int:
        """How many others write it."""
        return len(self._reader.get_matched_publications())


class Participant:
    """One participant of a bus, and what it writes and reads."""

    def __init__(self, discovery: Discovery) -> None:
        config = discovery.config()
        with _said(f"join ROS 2 domain {discovery.domain}"):
            if config is not None and discovery.domain not in _domains:
                _domains[discovery.domain] = Domain(discovery.domain, config)
            about = Qos(Policy.Userdata(b"enclave=/;"))
            self._participant: Any = DomainParticipant(discovery.domain, qos=about)
            self._waking = WaitSet(self._participant)
            self._guard = GuardCondition(self._participant)
            self._waking.attach(self._guard)
        self.gid: bytes = self._participant.guid.bytes
        self._kept: list[Any] = []

    def writer(
        self,
        topic: str,
        type: str,
        *,
        latched: bool = False,
        depth: int = DEPTH,
        struct: Any = None,
        type_hash: str | None = None,
    ) -> DdsWriter:
        """Publish a topic; a latched one is told to those who come late as well.

        Always reliable: those who want less take that, too, and those who want it get it.
        """
        qos = [Policy.Reliability.Reliable(duration(milliseconds=100))]
        qos += [Policy.History.KeepLast(depth)]
        if latched:
            qos += [Policy.Durability.TransientLocal]
            history = Policy.History.KeepLast(depth)
            qos += [Policy.DurabilityService(duration(seconds=0), history, -1, -1, -1)]
        made = self._topic(topic, type, struct)
        with _said(f"publish {topic}"):
            return DdsWriter(
                DataWriter(self._participant, made, qos=self._qos(type, type_hash, *qos))
            )

    def reader(self, topic: str, type: str, *, latched: bool = False) -> DdsReader:
        """Subscribe to a topic as one who takes what comes: it fits every publisher."""
        kind = Policy.Reliability.BestEffort
        qos = [kind, Policy.History.KeepLast(BACKLOG)]
        if latched:
            qos = [Policy.Reliability.Reliable(duration(milliseconds=100)), *qos[1:]]
            qos += [Policy.Durability.TransientLocal]
        made = self._topic(topic, type, None)
        with _said(f"subscribe to {topic}"):
            reader = DdsReader(DataReader(self._participant, made, qos=self._qos(type, None, *qos)))
            self._waking.attach(reader.condition)
        return reader

    def _topic(self, topic: str, type: str, struct: Any) -> Any:
        name = topic_name(topic) if topic.startswith("/") else topic
        with _said(f"topic {topic}"):
            made = Topic(self._participant, name, struct or struct_of(type))
        self._kept.append(made)
        return made

    def _qos(self, type: str, type_hash: str | None, *policies: Any) -> Qos:
        from astray.ros.messages import types

        about = f"typehash={type_hash or types.type_hash(type)};".encode()
        return Qos(
            *policies,
            Policy.DataRepresentation(use_cdrv0_representation=True),
            Policy.Userdata(about),
            Policy.IgnoreLocal.Participant,
        )

    def wait(self, seconds: float) -> None:
        """Until a reader has something, or someone wakes it, or the time is over."""
        self._waking.wait(duration(seconds=seconds))

    def wake(self) -> None:
        """End a wait, also one that is yet to begin."""
        self._guard.set(True)

    def close(self) -> None:
        """Leave the bus; what it wrote and read is of no use any more."""
        self._waking = self._guard = None
        participant, self._participant = self._participant, None
        if participant is not None:
            participant.__del__()
        self._kept.clear()
